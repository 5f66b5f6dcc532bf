"""A notebook as one HTML page that asks nothing of any network: `jupyter nbconvert --to <this class> notebook.ipynb`.

nbconvert's own page loads scripts from elsewhere: require.js for widgets, MathJax for formulas, Mermaid for charts. The
lessons have no formula, widgets show the static form that is stored beside them, and their charts are drawn here.
"""

from __future__ import annotations

import copy
import re
from typing import Any

from nbconvert import HTMLExporter
from nbformat import NotebookNode
from traitlets import default

from helpers.classroom.flowchart import UnknownChart, flowchart

_WITHOUT_SCRIPTS = """{%- extends 'index.html.j2' -%}
{%- block html_head_js_requirejs -%}{%- endblock -%}
{%- block html_head_js_mathjax -%}{%- endblock -%}
{%- block html_head_js_mermaidjs -%}
<style>
.once-chain {display: flex; flex-wrap: wrap; align-items: center; list-style: none; padding: 0}
.once-chain li {border: .15em solid; border-radius: .4em; padding: .4em .8em; margin: .3em 0}
.once-chain li + li {margin-left: 2.6em; position: relative}
.once-chain li + li::before {content: "→"; position: absolute; left: -1.9em}
.once-chain .once-store {border-radius: 50% / .8em; border-top-width: .4em}
</style>
{%- endblock -%}
"""
_CHART = re.compile(r"^```mermaid\n(.*?)^```$", re.DOTALL | re.MULTILINE)


class HtmlPage(HTMLExporter):
    """The exporter. A chart that cannot be drawn is shown as its text."""

    @default("raw_template")
    def _without_scripts(self) -> str:
        return _WITHOUT_SCRIPTS

    def from_notebook_node(  # type: ignore[override]  # as nbconvert's own exporters: the base says NotebookNode
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **options: Any
    ) -> tuple[str, dict[str, Any]]:
        notebook = copy.deepcopy(nb)
        # With the state of its widgets in it, the page would draw them by a script from the network.
        notebook.metadata.pop("widgets", None)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = _CHART.sub(_drawn, cell.source)
        return super().from_notebook_node(notebook, resources, **options)


def _drawn(fence: re.Match[str]) -> str:
    try:
        return flowchart(fence[1])
    except UnknownChart:
        return f"```text\n{fence[1]}```"
