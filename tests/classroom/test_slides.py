"""What is in a file of slides before a browser fills its pages."""

from __future__ import annotations

import hashlib
import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from helpers.classroom.flowchart import UnknownChart, flowchart
from helpers.classroom.html_page import HtmlPage
from helpers.classroom.slides import REVEAL, markdown, slides
from helpers.course.syllabus import HERE, languages, read_course

# npm, reveal.js 4.6.1, dist/ and LICENSE.
VENDORED = {
    "LICENSE": "b7cb6bd5ddfd103bf1795467346d95f2a20eb027db0c3fc96255e8a3434dbdb5",
    "reveal.css": "fa4713396db8274bc0f1def50767464b6d98e61f4f83d17f4de6417210b25901",
    "reveal.js": "73d4b64d59eded6de6a49500e7b709eb8d92c0d1d88d911319ce551c31341e9f",
}


def test_the_vendored_files_are_those_that_were_released() -> None:
    assert {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in REVEAL.iterdir()} == VENDORED


@pytest.mark.parametrize("language", languages(HERE))
def test_each_flow_chart_of_the_lessons_can_be_drawn(language: str) -> None:
    charts = 0
    for lesson in read_course(HERE).lessons:
        for cell in nbformat.read(HERE.notebooks / language / lesson.notebook, 4).cells:
            for chart in re.findall(r"```mermaid\n(.*?)```", cell.source, re.DOTALL):
                assert 'class="once-chain"' in flowchart(chart)
                charts += 1
    assert charts >= 3


def test_a_flow_chart_is_boxes_and_another_chart_is_an_error() -> None:
    drawn = flowchart("flowchart LR\n  a --> b[two <b>] --> c[(store)]\n")
    assert drawn == '<ol class="once-chain"><li>a</li><li>two &lt;b&gt;</li><li class=once-store>store</li></ol>'
    assert "mermaid" not in markdown("```mermaid\nflowchart LR\n  a --> b\n```")
    with pytest.raises(UnknownChart):
        flowchart("sequenceDiagram\n  a->>b: hello")
    with pytest.raises(UnknownChart, match="cannot be drawn"):
        flowchart("flowchart LR\n  a -->|label| b")


def test_a_page_of_nbconvert_asks_for_no_script() -> None:
    fences = ["flowchart LR\n  a --> b", "sequenceDiagram\n  a->>b: hello"]
    cells = [new_markdown_cell(f"Before.\n\n```mermaid\n{fence}\n```\n\nAfter.") for fence in fences]
    page, _resources = HtmlPage().from_notebook_node(new_notebook(cells=cells, metadata={"widgets": {}}))
    assert "<script" not in page
    assert "<li>a</li><li>b</li></ol>" in page
    assert "sequenceDiagram" in page
    assert cells[0].source.startswith("Before.\n\n```mermaid"), "the notebook is left as it was"


def test_the_slide_types_make_the_pages_and_a_question_hides_its_code() -> None:
    def marked(cell: nbformat.NotebookNode, kind: str) -> nbformat.NotebookNode:
        cell.metadata["slideshow"] = {"slide_type": kind}
        return cell

    shown = [new_output("display_data", {"text/plain": "plain", "text/html": "<p>rich</p>"})]
    page = slides(
        new_notebook(
            cells=[
                marked(new_markdown_cell("# First"), "slide"),
                marked(new_code_cell('lab.predict("a")', outputs=shown), "-"),
                marked(new_markdown_cell("hidden"), "skip"),
                marked(new_markdown_cell("below"), "subslide"),
                marked(new_code_cell("1 + 1", outputs=shown), "-"),
                marked(new_markdown_cell("## Second"), "slide"),
            ]
        ),
        "T",
        [],
    )
    source = page.split('id="once-source" hidden>')[1].split("<script")[0]
    assert re.findall(r'data-title="(\w+)"', source) == ["First", "Second"]
    first, second = source.split("</section>")[:2]
    assert first.count("</div><div>") == 1
    assert "predict" not in source
    assert "hidden" not in source
    assert 'class="once-output once-question"><p>rich' in first
    assert 'class="once-output fragment"><p>rich' in first
    assert "plain" not in source
    assert "Second" in second
