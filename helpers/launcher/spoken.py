"""What the launcher says once JupyterLab runs; as a program, the same in a reader's language, as JSON.

The program runs with the environment's Python, which reads the catalogs. The launcher itself starts on a Python
that has nothing yet, and what it says before is English.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable


def sentences(_: Callable[[str], str]) -> dict[str, str]:
    """The sentences, each passed through `_`."""
    return {
        "opened": _("JupyterLab is open in your browser: {address}"),
        "open": _("Open this address in a browser: {address}"),
        "end": _("Press Ctrl-C here to end JupyterLab."),
        "ending": _("JupyterLab and its kernels are ending. Your answers are kept."),
    }


ENGLISH = sentences(str)


def main() -> None:
    """Print the sentences in the language that is named on the command line."""
    from helpers.lab import language

    language.use(sys.argv[1])
    print(json.dumps(sentences(language._)))  # ASCII: no terminal's encoding can spoil it


if __name__ == "__main__":
    main()
