"""A lesson in front of a class: JupyterLab with one document, letters for the last row, and notes on another screen."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from helpers.launcher.environment import Environment
from helpers.launcher.jupyter import View, open_lab
from helpers.launcher.terminal import say
from helpers.launcher.words import _

PAGE = Path(__file__).with_name("projector_page")
CONFIG = "projector-config"

SETTINGS: dict[str, object] = {
    # A projector in a lit room: dark letters on a light ground, whatever the computer is set to.
    "@jupyterlab/apputils-extension:themes": {"theme": "JupyterLab Light", "adaptive-theme": False},
    # All cells are in the page, so that a heading can be brought to its place at once.
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
}


def project(environment: Environment, lesson: str | None, language: str | None, browser: bool = True) -> int:
    """Open a lesson for the projector; stay until it ends. Returns the exit code.

    The class sees a copy without answers, in work/projection; what a teacher typed into an earlier copy is kept.

    :raises helpers.launcher.terminal.Trouble: JupyterLab did not start.
    """
    given = {"--lesson": lesson, "--language": language}
    # In one word each: a value that begins with "-" would be an option.
    wanted = [f"{name}={value}" for name, value in given.items() if value]
    done = subprocess.run(
        [environment.python, "-m", "helpers.classroom", "project", *wanted],
        cwd=environment.root,
        env=environment.variables(),
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode != 0:
        return done.returncode
    places = dict(line.split("\t", 1) for line in done.stdout.splitlines() if "\t" in line)
    for kept in places.get("kept", "").split(", "):
        if kept:
            say(_("An earlier class left something. It is kept in {place}.").format(place=kept))
    # Not opened by itself: it would come up on the screen that the class sees.
    address = Path(places["notes"]).as_uri()
    say(_("Your notes, for your own screen: {address}").format(address=address))
    return open_lab(environment, language, browser, view(environment, places["notebook"], Path(places["answers"])))


def view(environment: Environment, notebook: str, answers: Path) -> View:
    """One document with large letters; what a class answers is kept apart from the teacher's own answers."""
    config = environment.folder / "once-jupyter" / CONFIG
    (config / "custom").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(PAGE / "custom.css", config / "custom" / "custom.css")
    return View(
        page=notebook,
        mode="doc",
        config=CONFIG,
        settings=SETTINGS,
        variables={"JUPYTER_CONFIG_DIR": str(config), "ONCE_HOME": str(answers)},
        # The folder of an extension for the presenter's keys.
        options=("--LabApp.custom_css=True", f"--LabApp.extra_labextensions_path={PAGE}"),
    )
