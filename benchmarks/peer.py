"""The peer beside which the account is measured: ministack, in an environment of its own, pinned.

It is no dependency of the course and in no lock file. It and its boto3, of the version that the course uses, go into
``.cache/``; the first time this needs the network.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from .engines import ROOT, Engine

NAME, VERSION = "ministack", "1.4.21"


class NoPeer(RuntimeError):
    """The peer could not be installed. The text says what to do."""


def ministack(program: str | None = None) -> Engine:
    """The engine; installs it if `program` (a path) is not given. Raises NoPeer."""
    found = Path(program).resolve() if program else _installed()
    if not found.exists():
        raise NoPeer(f"There is no program {found}.")
    # What it stores and logs would be written to disk: both are off by default or cost it time.
    variables = {"GATEWAY_PORT": "{port}", "BIND_HOST": "127.0.0.1", "LOG_LEVEL": "ERROR"}
    return Engine(NAME, (str(found),), variables)


def _installed() -> Path:
    boto3 = version("boto3")
    folder = ROOT / ".cache" / f"{NAME}-{VERSION}-boto3-{boto3}"
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    program = scripts / (f"{NAME}.exe" if os.name == "nt" else NAME)
    if program.exists():
        return program
    python = scripts / ("python.exe" if os.name == "nt" else "python")
    for arguments in (
        [sys.executable, "-m", "venv", "--clear", str(folder)],
        [str(python), "-m", "pip", "install", "--quiet", f"{NAME}=={VERSION}", f"boto3=={boto3}"],
    ):
        done = subprocess.run(
            arguments, capture_output=True, text=True, encoding="utf-8", errors="replace", check=False
        )
        if done.returncode:
            reason = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no reason given"]
            raise NoPeer(
                f"{NAME} {VERSION} could not be installed ({reason[0]}). The first time this needs the network. "
                "Without it: --peer none measures this account alone, --peer PATH uses a ministack that is installed."
            )
    return program
