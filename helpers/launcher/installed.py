"""The environment in which the launcher itself runs, where it has the course's packages: conda's, or one's own.

Such an environment is used as it is. Nothing is installed into it, and no second one is made beside it.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from helpers.launcher.environment import Environment, Set
from helpers.launcher.terminal import Trouble, command
from helpers.launcher.words import _

OLDEST_JUPYTERLAB = (4, 5)

_NEEDED = ("anywidget", "babel", "ipywidgets", "jupyterlab", "moto", "papermill")


class Installed(Environment):
    """What runs this program. Settings and logs of a session lie in .cache of the clone."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.folder = root / ".cache" / "once"

    @property
    def python(self) -> Path:
        return Path(sys.executable)

    @property
    def packages(self) -> Path:
        return Path(sysconfig.get_path("purelib"))

    def jupyterlab_version(self) -> str | None:
        try:
            return importlib.metadata.version("jupyterlab")
        except importlib.metadata.PackageNotFoundError:
            return None

    def ready(self, name: Set) -> bool:
        return name == "course" or importlib.util.find_spec("pytest") is not None

    def prepare(self, name: Set) -> Path:
        """:raises Trouble: the packages of the tests are missing."""
        if not self.ready(name):
            raise Trouble(
                _("The environment {folder} lacks the packages that the tests need.").format(folder=sys.prefix),
                _("Leave it (`deactivate` or `conda deactivate`). Then type `{command}` again.").format(
                    command=command("test")
                ),
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.python

    def variables(self, base: Mapping[str, str] | None = None) -> dict[str, str]:
        result = dict(os.environ if base is None else base)
        result.pop("PYTHONDONTWRITEBYTECODE", None)
        # The notebooks import the helpers of this clone, whether or not they are installed.
        result["PYTHONPATH"] = os.pathsep.join(filter(None, [str(self.root), result.get("PYTHONPATH", "")]))
        result["PATH"] = os.pathsep.join([str(self.python.parent), result.get("PATH", "")])
        result["PYTHONUTF8"] = "1"
        return result


def chosen(root: Path) -> Environment:
    """The environment for a clone: its .venv; where there is none, the one that runs, if it has what is needed."""
    own = Environment(root)
    inside = sys.prefix != sys.base_prefix or bool(os.environ.get("CONDA_PREFIX"))
    if not own.folder.exists() and inside and all(importlib.util.find_spec(name) for name in _NEEDED):
        return Installed(root)
    return own


def too_old(version: str) -> bool:
    """Whether the course's controls do not work in this version of JupyterLab."""
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit()) < OLDEST_JUPYTERLAB


def old_jupyterlab(environment: Environment, version: str) -> Trouble:
    """What to say about a version that is too old."""
    oldest = ".".join(str(part) for part in OLDEST_JUPYTERLAB)
    if isinstance(environment, Installed):
        step = _(
            "With conda: `{update}`. Without: leave this environment, and `{command}` makes one with the right version."
        ).format(update="conda env update --file environment.yml", command=command("lab"))
    else:
        step = _("Repair .venv: `{command}`.").format(command=command("setup"))
    what = _("JupyterLab {version} is too old. The course needs {oldest} or newer.")
    return Trouble(what.format(version=version, oldest=oldest), step)
