"""The lock files: every package with its version and its hashes, for all systems and Pythons at once.

They name no index: each machine takes the packages from where its own pip is set up to look, and the hashes
make sure that they are the same.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from helpers.launcher.environment import LOCKS, Environment
from helpers.launcher.terminal import Trouble, command, say

# The course needs what sets it up, too. "wheels" holds choices of versions that spare newcomers a compiler.
_GROUPS = {"course": ("setup", "wheels"), "test": ("setup", "wheels", "test")}


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
    say(f"wrote {' and '.join(LOCKS.values())}; `{command('test')}` installs and tests them.")
    return 0


def _compile(environment: Environment, uv: Path, name: str, upgrade: bool, *more: str) -> None:
    lock = environment.root / LOCKS[name]  # type: ignore[index]
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
