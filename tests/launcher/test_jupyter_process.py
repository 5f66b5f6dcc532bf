"""What the JupyterLab process leaves out, and that nothing asks for it."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

ASKED = re.compile(r"""\bformat["']?\s*:\s*["']?iri\b""")
IMPORTS = """
import sys
import helpers.slow_imports
import jupyterlab.labapp
import jsonschema
assert jsonschema.FormatChecker().conforms("not an address", "email") is False, "other formats are checked"
print(sys.modules["rfc3987_syntax"], [name for name in sys.modules if name.partition(".")[0] == "lark"])
"""


def test_jupyterlab_starts_without_the_parser_of_international_addresses() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True)
    assert done.stdout.split(maxsplit=1) == ["None", "[]\n"]


def test_no_schema_asks_for_such_addresses() -> None:
    folders = [Path(sys.prefix, "share/jupyter")]
    for name in ("nbformat", "jupyter_server", "jupyter_events", "jupyterlab_server"):
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        folders.append(Path(spec.origin).parent)
    texts = {
        path: path.read_text(encoding="utf-8", errors="replace")
        for folder in folders
        for kind in ("*.json", "*.yaml", "*.yml")
        for path in folder.rglob(kind)
    }
    assert [str(path) for path in texts if path.name == "nbformat.v4.5.schema.json"], "the schemas are looked at"
    assert [str(path) for path, text in texts.items() if ASKED.search(text)] == []
