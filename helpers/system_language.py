"""Which language a computer is set to, and which of the course's languages a name of one means.

Keeps to Python 3.7 and the standard library: the launcher needs it before anything is installed, also in a Python
that is too old for the course.
"""

from __future__ import annotations

import locale
import re
import sys
from collections.abc import Mapping, Sequence


def match(wanted: str, known: Sequence[str]) -> str | None:
    """The known language that "fr", "fr_FR.UTF-8" or "fr-FR" means."""
    name = re.split(r"[.@]", wanted.strip())[0].replace("-", "_")
    for candidate in (name, name.split("_")[0]):
        for language in known:
            if language.lower() == candidate.lower():
                return language
    return None


def system_language(environ: Mapping[str, str]) -> str:
    """What the system is set to, as it writes it ("fr_FR.UTF-8"); "" when it says nothing."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environ.get(name):
            return environ[name]
    if sys.platform == "win32":
        import ctypes

        return locale.windows_locale.get(ctypes.windll.kernel32.GetUserDefaultUILanguage(), "")
    return locale.getlocale()[0] or ""
