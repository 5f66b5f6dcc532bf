"""The course in a notebook service that has a Python of its own, such as Google Colab: one call in the first cell.

Only what the lessons import and what is missing there gets installed, in the versions of requirements.lock. IPython,
ipykernel and ipywidgets stay as they are: the service's page is made for its own versions of them
(manzt/anywidget#48), and changing them would ask for a new start of the kernel.
"""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from helpers.launcher.environment import LOCKS, OLDEST, ROOT
from helpers.launcher.terminal import Trouble, complain, say
from helpers.launcher.words import _, choose

# What helpers.cloud, helpers.lab and helpers.show import (a test compares), with the oldest release that will do.
# The service may have any of them.
NEEDED = {
    "anywidget": "0.9",
    "babel": "2.12",
    "boto3": "1.42",
    "botocore": "1.42",
    "flask-cors": "6.0",
    "flask": "3.0",
    "moto": "5.2.5",
    "platformdirs": "3.0",
    "psutil": "5.9",
    "werkzeug": "3.0",
    "xmltodict": "0.13",
}
STAYING = ("ipython", "ipywidgets", "traitlets")
_WIDGET = "application/vnd.jupyter.widget-view+json"
_EXTRAS = {"moto": "[dynamodb,s3,stepfunctions]"}


def prepare(language: str, home: str | None = None, root: Path = ROOT) -> None:
    """Make this kernel ready for the lessons in `language`, "fr" for example; say so, or say what is wrong.

    :param home: a folder that stays when the service takes the machine away, for answers and progress.
    """
    choose(["--language", language])
    try:
        _prepare(language, home, root)
    except Trouble as trouble:
        complain(trouble)
        return
    say(_("The course is ready. Run the cells below, one after the other."))


def _prepare(language: str, home: str | None, root: Path) -> None:
    folder = root / "notebooks" / language
    known = sorted(page.parent.name for page in (root / "notebooks").glob("*/index.ipynb"))
    if language not in known:
        raise Trouble(
            _("The course does not speak the language `{language}`.").format(language=language),
            _("Choose one of these: {choices}.").format(choices=", ".join(known)),
        )
    if sys.version_info < OLDEST:
        raise Trouble(
            _("This is Python {here}. The course needs Python {oldest} or newer.").format(
                here="{}.{}".format(*sys.version_info[:2]), oldest="{}.{}".format(*OLDEST)
            ),
            _("Choose a newer runtime in the menu of the service. Then run this cell again."),
        )
    if wanted := missing((root / LOCKS["course"]).read_text(encoding="utf-8")):
        _install(wanted)
    os.environ["ONCE_LANGUAGE"] = language
    if home is not None:
        os.environ["ONCE_HOME"] = home
    os.chdir(folder)
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    _allow_own_widgets()


def missing(lock: str) -> list[str]:
    """The requirements that are not met here, with the versions of the lock file's text."""
    result = []
    for name, oldest in NEEDED.items():
        try:
            good = _numbers(version(name)) >= _numbers(oldest)
        except PackageNotFoundError:
            good = False
        if not good:
            found = re.search(rf"^{re.escape(name)}==(\S+)", lock, re.MULTILINE)
            result.append(f"{name}{_EXTRAS.get(name, '')}" + (f"=={found.group(1)}" if found else f">={oldest}"))
    return result


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


def _install(wanted: Sequence[str]) -> None:
    say(_("Installing packages: {names}.").format(names=", ".join(wanted)))
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode:
        last = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), _("no output"))
        raise Trouble(
            _("The packages could not be installed: {reason}").format(reason=last.strip()), _("Run this cell again.")
        )
    importlib.invalidate_caches()


def _allow_own_widgets() -> None:
    """Have Colab show widgets that are not ipywidgets' own.

    Its page asks for the address of a widget manager beside each widget. Colab itself adds it to what is displayed, and
    not to the result of a cell (manzt/anywidget#63, the comment of 2023-02-12).
    """
    try:
        output = importlib.import_module("google.colab.output")
    except ImportError:
        return
    from IPython import get_ipython

    output.enable_custom_widget_manager()
    address = getattr(getattr(output, "_widgets", None), "_installed_url", None)
    shell = get_ipython()
    if address is None or shell is None:
        return
    formatter = shell.display_formatter
    made = formatter.format

    def formatted(shown: Any, include: Any = None, exclude: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        data, metadata = made(shown, include, exclude)
        if _WIDGET in data:
            metadata.setdefault(_WIDGET, {})["colab"] = {"custom_widget_manager": {"url": address}}
        return data, metadata

    formatter.format = formatted
