"""The account of a lesson in a terminal: a file, and the one line that makes a shell read it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from helpers.cloud import environment_file
from helpers.lab.language import _

if TYPE_CHECKING:
    from helpers.cloud import Cloud


@dataclass(frozen=True, slots=True)
class Terminal:
    """`line` is typed once in a terminal. The file that it reads is gone when the account ends."""

    line: str

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the reader does; code stands between backticks. The first one ends where the line begins."""
        return (
            _("Open a terminal (menu File, New, Terminal) and type this line:"),
            _("From then on, `aws` uses the account of this notebook in that terminal."),
            _("In a cell, write `!` before a command, for example `!aws sqs list-queues`."),
            _("For a command of more than one line, begin the cell with the line `%%sh`."),
        )

    def __str__(self) -> str:
        first, *more = self.sentences
        return "\n".join([first, "", f"  {self.line}", "", *more])

    __repr__ = __str__


def write_files(cloud: Cloud, folder: Path, windows: bool = os.name == "nt") -> Terminal:
    """Write aws.sh, and for Windows aws.ps1 and aws.cmd, into `folder`."""
    file = folder / "aws.sh"
    cloud.write_environment_file(file)
    if not windows:
        return Terminal(environment_file.line(file))
    cloud.write_environment_file(folder / "aws.cmd")
    file = folder / "aws.ps1"
    cloud.write_environment_file(file)
    return Terminal(environment_file.line(file))
