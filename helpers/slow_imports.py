"""Programs start without a parser that nothing here asks for. To import this module is enough, before nbformat.

jsonschema imports rfc3987_syntax, if it is there, for the formats "iri" and "iri-reference"
(python-jsonschema/jsonschema#1428). No schema of Jupyter has one of them. To build the parser takes a second of each
process that imports nbformat, and two thirds of JupyterLab's imports.
"""

from __future__ import annotations

import sys

sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
