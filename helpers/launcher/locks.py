"""The lock files: every package with its version and its hashes, for all systems and Pythons at once.

They name no index: each machine takes the packages from where its own pip is set up to look, and the hashes
make sure that they are the same. conda takes the same versions from environment.yml, without the hashes: pip wants a
hash of everything or of nothing, and the course itself has none.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from helpers.launcher.environment import LOCKS, Environment, Set
from helpers.launcher.jupyter import overrides
from helpers.launcher.terminal import Trouble, command, say

# The course needs what sets it up, too. "wheels" holds choices of versions that spare newcomers a compiler.
CONDA = "environment.yml"
SETTINGS = "deploy/settings"
_CONDA_PYTHON = "3.13"
_GROUPS: dict[Set, tuple[str, ...]] = {"course": ("setup", "wheels"), "test": ("setup", "wheels", "test")}


def write_locks(environment: Environment, upgrade: bool = True) -> int:
    """Write both lock files from pyproject.toml; return the exit code.

    The test lock comes first and binds the other, so that they never name two versions of one package.

    :param upgrade: take the newest versions; otherwise keep those that pyproject.toml still allows.
    :raises Trouble: uv is missing or found no versions that fit together.
    """
    uv = environment.python.with_name("uv.exe" if environment.python.suffix else "uv")
    if not uv.exists():
        raise Trouble("uv, which writes the lock files, has no release for this system.", "Use another system.")
    _compile(environment, uv, "test", upgrade)
    _compile(environment, uv, "course", upgrade, "--constraints", LOCKS["test"])
    lock = (environment.root / LOCKS["course"]).read_text(encoding="utf-8")
    for name, text in {CONDA: conda_text(lock), **settings_texts(lock)}.items():
        path = environment.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    say(f"wrote {', '.join(LOCKS.values())} and {CONDA}; `{command('test')}` installs and tests them.")
    return 0


def pins(lock: str) -> list[str]:
    """The requirements of a lock file's text, each with its version and marker, without hashes."""
    return [line.removesuffix("\\").rstrip() for line in lock.splitlines() if line[:1].isalnum()]


def conda_text(lock: str) -> str:
    """The text of environment.yml for the text of a lock file.

    One Python, named with "=": repo2docker (Binder) reads the version from such a line only.
    """
    head = f"""\
# Written by `make lock`: for conda, Binder and JupyterHub, the versions of requirements.lock.
# pip checks no hashes here; `make lab`, which does not need this file, has them checked.
name: once
channels:
  - conda-forge
  - nodefaults
dependencies:
  - python={_CONDA_PYTHON}
  - pip
  - pip:
"""
    return head + "".join(f"      - {line}\n" for line in [*pins(lock), "--editable ."])


def settings_texts(lock: str) -> dict[str, str]:
    """JupyterLab's defaults for those who start it without the launcher, by file: in English and by language.

    Such a folder belongs into JUPYTER_CONFIG_PATH. The languages are those of the language packs in the lock file.
    """
    packs = re.findall(r"^jupyterlab-language-pack-([a-z]+)-([a-z]+)==", lock, re.MULTILINE)
    locales = {"en": None, **{language: f"{language}_{country.upper()}" for language, country in packs}}
    return {
        f"{SETTINGS}/{language}/labconfig/default_setting_overrides.json": (
            json.dumps(overrides(locale), indent=1, sort_keys=True) + "\n"
        )
        for language, locale in locales.items()
    }


def _compile(environment: Environment, uv: Path, name: Set, upgrade: bool, *more: str) -> None:
    lock = environment.root / LOCKS[name]
    groups = [part for group in _GROUPS[name] for part in ("--group", group)]
    options = [
        "--extra=course",
        "--universal",
        "--generate-hashes",
        "--no-annotate",
        "--no-header",
        "--no-emit-index-url",
        "--no-config",
    ]
    if upgrade:
        options.append("--upgrade")
    done = subprocess.run(
        [uv, "pip", "compile", "pyproject.toml", *groups, *options, *more, "--quiet", "--output-file", lock],
        cwd=environment.root,
        env=environment.variables(),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode != 0:
        raise Trouble(f"{lock.name} could not be written: {done.stderr.strip()}", "Loosen pyproject.toml, then again.")
    text = lock.read_text(encoding="utf-8")
    header = f"# Written by `make lock` from pyproject.toml: the set {name!r} for every system.\n"
    lock.write_text(header + text.removeprefix(header), encoding="utf-8", newline="\n")
