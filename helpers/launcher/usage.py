"""Command lines in the reader's language: what argparse says of its own, and a wrong line as one message.

argparse takes its texts from `gettext` by the name `_` in its module, which has no catalog of the course. Here this
name leads to the launcher's catalogs, so that nothing but the standard library is needed. A text that argparse words
differently in another Python stays English.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from helpers.launcher.terminal import Trouble, complain
from helpers.launcher.words import _

WRONG_LINE = 2
"""Exit code, as argparse has it."""


class Parser(argparse.ArgumentParser):
    """An ArgumentParser whose errors are a `Trouble`. `words.choose` goes first."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("formatter_class", _wide)
        # "--no" would be "--no-browser", until a second option begins so.
        options.setdefault("allow_abbrev", False)
        super().__init__(**options)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """As it is in argparse, but each command names what it does not know itself: it knows its own help."""
        known, rest = super().parse_known_args(args, namespace)
        if rest:
            self.error(_unknown(rest))
        return known, rest

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and how to see what is right; end with the exit code 2."""
        step = _("To see what can be typed: `{command}`.").format(command=f"{self.prog} --help")
        complain(Trouble(message, step))
        raise SystemExit(WRONG_LINE)


def program(module: str) -> str:
    """How this Python is asked to run a module: on Windows with its launcher, elsewhere by its own name."""
    return f"{'py' if os.name == 'nt' else Path(sys.executable).name or 'python3'} -m {module}"


def heading(words: str) -> str:
    """The heading of a part of the help. argparse puts a colon behind it; in French a space comes before that."""
    return _("{label}: {text}").format(label=words, text="").rstrip().removesuffix(":")


def _wide(prog: str) -> argparse.HelpFormatter:
    return argparse.HelpFormatter(prog, max_help_position=14, width=100)


def _unknown(arguments: Sequence[str]) -> str:
    return _("This command does not know this option or value: {given}").format(given=" ".join(arguments))


def _text(message: str) -> str:
    """What argparse says, in the reader's language. What comes in between is filled in by argparse."""
    label = _("{label}: {text}")
    texts = {
        "usage: ": label.format(label=_("usage"), text=""),
        "options": heading(_("options")),
        "positional arguments": heading(_("values")),
        "show this help message and exit": _("show this help"),
        "argument %(argument_name)s: %(message)s": label.format(label="%(argument_name)s", text="%(message)s"),
        "expected one argument": _("a value is missing."),
        "the following arguments are required: %s": _("This is missing: {names}").format(names="%s"),
        "invalid choice: %(value)r (choose from %(choices)s)": _(
            "{value} is not possible. Choose among: {known}"
        ).format(value="%(value)r", known="%(choices)s"),
        "ignored explicit argument %r": _("this option takes no value, but {value} was given.").format(value="%r"),
    }
    return texts.get(message, message)


setattr(argparse, "_", _text)  # noqa: B010  # no part of its documented interface, so no type checker knows it
