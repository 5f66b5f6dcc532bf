"""HTML as PDF, through a Chromium that is on this machine. Without one there is no PDF: any browser prints the HTML."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from helpers.lab.language import _

LONGEST = 120
"""Seconds for one file."""

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge", "microsoft-edge")
_APPLICATIONS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)
_ON_WINDOWS = (r"Google\Chrome\Application\chrome.exe", r"Microsoft\Edge\Application\msedge.exe")


class NotPrinted(RuntimeError):
    """The browser wrote no PDF; the text has its last words."""


def browser() -> str | None:
    """The path of Chromium, Chrome or Edge; None if there is none."""
    for name in _NAMES:
        if found := shutil.which(name):
            return found
    places = [Path(path) for path in _APPLICATIONS] if sys.platform == "darwin" else []
    if sys.platform == "win32":
        roots = [os.environ.get(name, "") for name in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")]
        places = [Path(root) / path for root in roots if root for path in _ON_WINDOWS]
    return next((str(path) for path in places if path.exists()), None)


def to_pdf(program: str, page: Path, pdf: Path) -> None:
    """Print one HTML file. The browser gets a profile of its own and is gone afterwards.

    :raises NotPrinted: there is no PDF afterwards.
    """
    with tempfile.TemporaryDirectory(prefix="once-paper-", ignore_cleanup_errors=True) as profile:
        arguments = [
            program,
            "--headless",
            "--disable-gpu",
            # Chromium refuses its sandbox to root, as in a container. The page is ours and asks no network.
            *(["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []),
            "--no-first-run",
            "--no-pdf-header-footer",
            f"--user-data-dir={profile}",
            f"--print-to-pdf={pdf.resolve()}",
            page.resolve().as_uri(),
        ]
        pdf.unlink(missing_ok=True)
        try:
            done = subprocess.run(arguments, capture_output=True, timeout=LONGEST, check=False)
            said = done.stderr.decode("utf-8", "replace").strip()
        except (OSError, subprocess.TimeoutExpired) as error:
            said = str(error)
    if not pdf.exists() or not pdf.stat().st_size:
        raise NotPrinted(said.splitlines()[-1] if said else _("no output"))
