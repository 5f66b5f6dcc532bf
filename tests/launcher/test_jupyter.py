"""JupyterLab as `make lab` starts it: on loopback, with settings of its own, never outliving its launcher."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from helpers.launcher import command, jupyter
from helpers.launcher.environment import ROOT, Environment
from helpers.launcher.terminal import Trouble

START = """
import sys
from pathlib import Path
from helpers.launcher.environment import Environment
from helpers.launcher.jupyter import open_lab
class Here(Environment):
    python = Path(sys.executable)
environment = Here()
environment.folder = Path(sys.argv[1])
raise SystemExit(open_lab(environment, browser=False))
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with a first page and an empty .venv."""
    (tmp_path / "notebooks").mkdir()
    page = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "notebooks/index.ipynb").write_text(json.dumps(page), encoding="utf-8")
    (tmp_path / ".venv").mkdir()
    return tmp_path


@pytest.fixture
def launcher(clone: Path) -> Iterator[subprocess.Popen[str]]:
    """`open_lab` in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-c", START, str(clone / ".venv")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={name: value for name, value in os.environ.items() if name != "DISPLAY"},
    )
    yield process
    process.kill()
    process.wait()


def read_address(launcher: subprocess.Popen[str]) -> str:
    """The address that the launcher prints."""
    assert launcher.stdout is not None
    seen = ""
    for line in launcher.stdout:
        seen += line
        if found := re.search(r"http://\S+", line):
            return found.group(0)
    raise AssertionError(seen)


def connections(process: psutil.Process) -> list[Any]:
    """What it has open; a program that the server only asked for something may have ended already."""
    try:
        return list(process.net_connections("inet"))
    except psutil.NoSuchProcess:
        return []


def wait_until_gone(processes: list[psutil.Process], seconds: float) -> list[psutil.Process]:
    return psutil.wait_procs(processes, timeout=seconds)[1]


@pytest.mark.skipif(sys.platform == "win32", reason="sends POSIX signals")
@pytest.mark.parametrize("end", ["interrupt", "kill"])
def test_opens_on_loopback_and_ends_with_its_launcher(launcher: subprocess.Popen[str], end: str) -> None:
    import signal

    where = read_address(launcher)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/lab/tree/notebooks/index\.ipynb\?token=[0-9a-f]{48}", where)
    assert b"JupyterLab" in urllib.request.urlopen(where, timeout=30).read()
    base, token = where.split("/lab/")[0], where.split("token=")[1]
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{base}/api/kernels", timeout=30)
    assert refused.value.code == 403
    start = urllib.request.Request(f"{base}/api/kernels?token={token}", data=b'{"name": "python3"}', method="POST")
    assert urllib.request.urlopen(start, timeout=30).status == 201

    family = psutil.Process(launcher.pid).children(recursive=True)
    assert len(family) >= 2, "the server and its kernel"
    listening = {
        connection.laddr.ip
        for process in family
        for connection in connections(process)
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening == {"127.0.0.1"}
    launcher.send_signal(signal.SIGINT if end == "interrupt" else signal.SIGKILL)
    assert wait_until_gone(family, 20) == []
    if end == "interrupt":
        assert launcher.wait(20) == 0


def test_takes_the_next_port_when_the_first_is_in_use(launcher: subprocess.Popen[str], clone: Path) -> None:
    first = read_address(launcher)
    second = subprocess.Popen(
        [sys.executable, "-c", START, str(clone / ".venv")], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        other = read_address(second)
        assert other.split("/lab/")[0] != first.split("/lab/")[0]
    finally:
        second.terminate()
        second.wait(30)


def test_a_server_that_fails_is_explained(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jupyter, "arguments", lambda *_: [sys.executable, "-c", "raise SystemExit('[C] no')"])
    with pytest.raises(Trouble) as trouble:
        jupyter.open_lab(Environment(clone), browser=False)
    assert "JupyterLab did not start: [C] no" in trouble.value.what


def test_a_missing_first_page_is_explained(tmp_path: Path) -> None:
    with pytest.raises(Trouble) as trouble:
        jupyter.open_lab(Environment(tmp_path))
    assert "take from it: notebooks/index.ipynb" in trouble.value.next_step
    (tmp_path / ".git").mkdir()
    with pytest.raises(Trouble) as trouble:
        jupyter.open_lab(Environment(tmp_path))
    assert "git checkout -- notebooks/index.ipynb" in trouble.value.next_step


def test_settings_stay_in_the_environment(clone: Path, tmp_path: Path) -> None:
    environment = Environment(clone)
    result = jupyter.variables(environment, tmp_path / "runtime")
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR"):
        assert Path(result[name]).is_relative_to(environment.folder)
    assert "JUPYTER_PATH" not in result


def test_no_news_no_updates_and_no_state_of_widgets(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    environment = Environment(clone)
    jupyter.write_overrides(environment, None)
    path = environment.folder / "once-jupyter/config/labconfig/default_setting_overrides.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    assert settings["@jupyterlab/apputils-extension:notification"] == {"fetchNews": "false", "checkForUpdates": False}
    assert "@jupyter-widgets/jupyterlab-manager:plugin" not in settings, "helpers/show/kept.py says why"
    assert "@jupyterlab/translation-extension:plugin" not in settings


def test_the_language_of_the_menus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    environment = Environment(tmp_path)
    pack = environment.folder / "lib/python3.11/site-packages/jupyterlab_language_pack_fr_FR"
    pack.mkdir(parents=True)
    (pack / "__init__.py").write_text("", encoding="utf-8")
    path = environment.folder / "once-jupyter/config/labconfig/default_setting_overrides.json"
    jupyter.write_overrides(environment, "fr")
    settings = json.loads(path.read_text(encoding="utf-8"))
    assert settings["@jupyterlab/translation-extension:plugin"] == {"locale": "fr_FR"}
    jupyter.write_overrides(environment, "ru")
    assert "@jupyterlab/translation-extension:plugin" not in json.loads(path.read_text(encoding="utf-8"))
    assert "“ru”" in capsys.readouterr().out


@pytest.mark.parametrize("wanted", ["fr", "FR", "fr_FR", "fr-CA", " fr "])
def test_a_language_may_be_written_in_many_ways(wanted: str) -> None:
    assert jupyter.chosen_language(Environment(ROOT), wanted) == "fr"


@pytest.mark.parametrize("wanted", ["de", "french", "../fr", "f"])
def test_another_language_is_refused_before_the_set_up(
    clone: Path, wanted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for language in ("es", "fr"):
        (clone / "notebooks" / language).mkdir()
        (clone / "notebooks" / language / "01_order_file.ipynb").touch()
    (clone / "notebooks" / ".ipynb_checkpoints").mkdir()
    (clone / "notebooks" / ".ipynb_checkpoints" / "index-checkpoint.ipynb").touch()
    assert command.run(["lab", "--language", wanted], clone) == 1
    said = capsys.readouterr()
    assert f"“{wanted}”. It is in these: es, fr.\n" in said.err
    assert "lab" in said.err.splitlines()[1]
    assert said.out == ""
    assert list((clone / ".venv").iterdir()) == []


def test_the_page_that_opens_is_named_to_the_server(clone: Path) -> None:
    given = jupyter.arguments(Environment(clone), "work/fr/index.ipynb")
    assert "--LabApp.default_url=/lab/tree/work/fr/index.ipynb" in given


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_has_a_target_for_each_language() -> None:
    done = subprocess.run(
        ["make", "--no-print-directory", "-n", "lab-fr"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith('-m helpers lab --language "fr"\n')


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="these always have a screen")
@pytest.mark.parametrize(
    ("environ", "seen"),
    [
        ({}, False),
        ({"DISPLAY": ":0"}, True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, True),
        ({"SSH_CONNECTION": "1"}, False),
        ({"SSH_CONNECTION": "1", "DISPLAY": "localhost:10"}, True),
    ],
)
def test_whether_a_browser_would_be_seen(environ: dict[str, str], seen: bool) -> None:
    assert jupyter.has_display(environ) is seen


def test_the_address_waits_for_a_whole_file(tmp_path: Path) -> None:
    assert jupyter.address(tmp_path) is None
    file = tmp_path / f"jpserver-{time.monotonic_ns()}.json"
    file.write_text('{"port": 88', encoding="utf-8")
    assert jupyter.address(tmp_path) is None
    file.write_text('{"port": 8889, "token": "a b"}', encoding="utf-8")
    assert jupyter.address(tmp_path) == "http://127.0.0.1:8889/lab/tree/notebooks/index.ipynb?token=a%20b"
