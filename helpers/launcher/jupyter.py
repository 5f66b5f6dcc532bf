"""JupyterLab for the course: on 127.0.0.1 only, with a configuration of its own, ended with the terminal.

Nothing of the reader's own Jupyter or IPython set-up is read or written: settings, workspaces and history lie
in ``.venv/once-jupyter``, connection files in a folder that ends with the session.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
import webbrowser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from urllib.parse import quote, urlsplit

from helpers.copies.learner import Copies
from helpers.launcher.environment import Environment
from helpers.launcher.terminal import Trouble, command, say
from helpers.launcher.troubles import missing_file, no_such_language
from helpers.launcher.words import _

FIRST_PAGE = "notebooks/index.ipynb"
FIRST_PORT = 8888
START_SECONDS = 120.0
STOP_SECONDS = 20.0

# jupyter_core, "Jupyter's common directories"; ipython, "IPython options".
_OWN_FOLDERS = {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "IPYTHONDIR": "ipython"}
_NOT_INHERITED = (
    "JUPYTER_CONFIG_PATH",
    "JUPYTER_PATH",
    "JUPYTER_RUNTIME_DIR",
    "JUPYTERLAB_DIR",
    "JUPYTERLAB_SETTINGS_DIR",
    "JUPYTERLAB_WORKSPACES_DIR",
    "JUPYTER_PORT",
    "JPY_SESSION_NAME",
)


@dataclass(frozen=True, slots=True)
class View:
    """What JupyterLab shows first, and how: the whole application ("lab") or one document ("doc").

    `config` is the folder of its settings in .venv/once-jupyter. `settings`, `variables` and `options` are added to
    those that every view has.
    """

    page: str = FIRST_PAGE
    mode: str = "lab"
    config: str = "config"
    settings: Mapping[str, object] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The part of its address after the server's."""
        return f"/{self.mode}/tree/{quote(self.page)}"


COURSE = View()


def overrides(language_pack: str | None = None) -> dict[str, object]:
    """Defaults of JupyterLab's settings; the reader can still change them on the settings page.

    :param language_pack: locale of the interface, "fr_FR"; with a hyphen it silently stays English.
    """
    result: dict[str, object] = {
        # The news question is a string, not a boolean.
        "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    }
    if language_pack is not None:
        result["@jupyterlab/translation-extension:plugin"] = {"locale": language_pack}
    return result


def known_languages(environment: Environment) -> tuple[str, ...]:
    """The languages of the course: those that have notebooks."""
    return Copies(environment.root).languages


def chosen_language(environment: Environment, wanted: str, target: str = "lab", **options: str) -> str:
    """The language that "fr", "FR" or "fr_FR" means. `target` and `options` are the command that asks for it.

    :raises Trouble: the course is not in this language.
    """
    known = known_languages(environment)
    name = wanted.strip().lower().replace("-", "_")
    for language in (name, name.partition("_")[0]):
        if language in known:
            return language
    if not known:
        raise missing_file(environment.root, FIRST_PAGE)
    raise no_such_language(wanted, known, target, **options)


def language_pack(environment: Environment, language: str) -> str | None:
    """The locale of the installed language pack for a language ("fr" gives "fr_FR"), or None."""
    name = f"jupyterlab_language_pack_{language}_*/__init__.py"
    found = sorted([*environment.packages.glob(name), *environment.packages.glob(f"[Ll]ib/**/site-packages/{name}")])
    return found[0].parent.name.removeprefix("jupyterlab_language_pack_") if found else None


def variables(environment: Environment, runtime: Path) -> dict[str, str]:
    """The variables of the JupyterLab process and, through it, of its kernels and terminals."""
    result = environment.variables()
    for name in _NOT_INHERITED:
        result.pop(name, None)
    own = environment.folder / "once-jupyter"
    for name, folder in _OWN_FOLDERS.items():
        (own / folder).mkdir(parents=True, exist_ok=True)
        result[name] = str(own / folder)
    result["JUPYTER_RUNTIME_DIR"] = str(runtime)
    result["JUPYTER_PREFER_ENV_PATH"] = "1"  # before a python3 kernel in the home folder
    result["JUPYTER_PLATFORM_DIRS"] = "1"
    return result


def write_overrides(environment: Environment, language: str | None, view: View = COURSE) -> None:
    """Write the defaults of the settings into labconfig, where JupyterLab looks for them."""
    pack = None
    if language is not None:
        pack = language_pack(environment, language)
        if pack is None:
            text = _("There is no JupyterLab language pack for “{language}” here. Its menus stay in English.")
            say(text.format(language=language))
    folder = environment.folder / "once-jupyter" / view.config / "labconfig"
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({**overrides(pack), **view.settings}, indent=1, sort_keys=True) + "\n"
    (folder / "default_setting_overrides.json").write_text(text, encoding="utf-8", newline="\n")


def arguments(environment: Environment, page: str = FIRST_PAGE, port: int = FIRST_PORT) -> list[str]:
    """The command line of the server process that opens `page`. The port is the first to be tried."""
    return [
        str(environment.python),
        "-m",
        "helpers.launcher.jupyter_process",
        "--no-browser",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=100",
        f"--ServerApp.root_dir={environment.root}",
        f"--LabApp.default_url=/lab/tree/{page}",
        *(["--allow-root"] if getattr(os, "geteuid", lambda: 1)() == 0 else []),  # containers have only root
    ]


def has_display(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether a browser opened here would be seen: not over SSH, and on Linux only with a screen."""
    if "SSH_CONNECTION" in environ and "DISPLAY" not in environ:
        return False
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


def address(runtime: Path, view: View = COURSE) -> str | None:
    """The address of the first page with its token, once the server has written it down; else None."""
    for path in runtime.glob("jpserver-*.json"):
        try:
            server = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # being written
            continue
        return f"http://127.0.0.1:{server['port']}{view.path}?token={quote(server['token'])}"
    return None


def open_lab(environment: Environment, language: str | None = None, browser: bool = True, view: View = COURSE) -> int:
    """Start JupyterLab, show its first page, stay until it ends or Ctrl-C is pressed; return the exit code.

    :raises Trouble: JupyterLab did not start.
    """
    if not (environment.root / view.page).is_file():
        raise missing_file(environment.root, view.page)
    write_overrides(environment, language, view)
    log = environment.folder / "once-jupyter" / "jupyterlab.log"
    say(_("JupyterLab starts."))
    with (
        _stopped_like_ctrl_c(),
        tempfile.TemporaryDirectory(prefix="once-", ignore_cleanup_errors=True) as folder,
    ):
        runtime = Path(folder)
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*arguments(environment, view.page), *view.options],
                cwd=environment.root,
                env={**variables(environment, runtime), **view.variables},
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                # Its end comes through the pipe, so that it always ends its kernels first.
                start_new_session=os.name != "nt",
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
            try:
                where = _wait_for_address(process, runtime, log, view)
                shown = browser and has_display() and _open(where)
                text = _("JupyterLab is open in your browser: {address}")
                say((text if shown else _("Open this address in a browser: {address}")).format(address=where))
                say(_("Press Ctrl-C here to end JupyterLab."))
                return process.wait()
            except KeyboardInterrupt:
                say(_("JupyterLab and its kernels are ending. Your answers are kept."))
                return 0
            finally:
                _stop(process)


def _wait_for_address(process: subprocess.Popen[bytes], runtime: Path, log: Path, view: View) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if (where := address(runtime, view)) and _answers(where):
            return where
        time.sleep(0.05)
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
    worst = [line for line in lines if line.startswith(("[C ", "[E "))] or [line for line in lines if line]
    raise Trouble(
        _("JupyterLab did not start: {line}").format(line=worst[-1] if worst else _("no output")),
        _("Repair .venv: `{repair}`. Then type `{command}` again. Details: {log}").format(
            repair=command("setup"), command=command("lab"), log=log
        ),
    )


def _answers(where: str) -> bool:
    """Whether the server takes its token: it writes its address down shortly before it listens."""
    parts = urlsplit(where)
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        return bool(direct.open(f"http://{parts.netloc}/api/status?{parts.query}", timeout=10).status == 200)
    except OSError:
        return False


def _open(where: str) -> bool:
    try:
        return webbrowser.open(where)
    except webbrowser.Error:
        return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Close the pipe, which asks the server to end its kernels and itself; use force when it does not."""
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    try:
        process.wait(STOP_SECONDS)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        process.kill()
        process.wait()


@contextmanager
def _stopped_like_ctrl_c() -> Iterator[None]:
    """Treat a closed terminal and `kill` as Ctrl-C for a while."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    names = [name for name in ("SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), interrupt) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)
