"""`%%writefile` as in IPython, with the same result on each system and a message in the reader's language.

The built-in magic names the whole path (a random scratch folder) in English, and on Windows it writes other
line ends and stops at a space in the path.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from helpers.lab.errors import LabError
from helpers.lab.language import _

_APPEND = ("-a", "--append")


def write(line: str, cell: str) -> None:
    """Write the cell to the file that `line` names; `-a` or `--append` adds to it. Prints the file's name."""
    words = line.strip().split(maxsplit=1)
    append = bool(words) and words[0] in _APPEND
    name = (words[1] if len(words) == 2 else "") if append else line.strip()
    for option in _APPEND:
        if not append and name.endswith(f" {option}"):
            append, name = True, name.removesuffix(option).strip()
    if len(name) >= 2 and name[0] == name[-1] and name[0] in "\"'":
        name = name[1:-1]
    if not name:
        raise LabError(
            _("The cell was not written: there is no file name."),
            _("%%writefile needs a name on the same line."),
            _("Write the name after %%writefile, for example: %%writefile {example}").format(
                example="{lab.folder}/app.py"
            ),
        )
    path = Path(os.path.expanduser(name))
    try:
        with path.open("a" if append else "w", encoding="utf-8", newline="\n") as file:
            file.write(cell)
    except OSError as error:
        raise LabError(
            _("The file {name} was not written.").format(name=path.name),
            error.strerror or type(error).__name__,
            _("Run the first cell of the lesson again: it makes the folder. Then run this cell again."),
        ) from error
    print((_("Added to {name}.") if append else _("Saved: {name}")).format(name=path.name))


def install(shell: Any) -> None:
    """Put this magic in the place of the built-in one."""
    shell.register_magic_function(write, magic_kind="cell", magic_name="writefile")
