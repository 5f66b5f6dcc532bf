from __future__ import annotations

from typing import Any

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from helpers.course.outputs import clean, unfit

WIDGET = "application/vnd.jupyter.widget-view+json"


def stream(text: str, name: str = "stdout") -> NotebookNode:
    return new_output("stream", name=name, text=text)


def shown(**data: Any) -> NotebookNode:
    kinds = {"plain": "text/plain", "html": "text/html", "widget": WIDGET, "json": "application/json"}
    return new_output("display_data", data={kinds[name]: value for name, value in data.items()})


def found(*outputs: NotebookNode, language: str = "fr", tags: tuple[str, ...] = (), **more: Any) -> str:
    cell = new_code_cell("x", outputs=list(outputs), metadata={"tags": list(tags)})
    return "; ".join(what for what, _ in unfit(cell, language, **more))


def test_streams_in_pieces_become_one() -> None:
    cell = new_code_cell("x", outputs=[stream("a"), stream("b"), stream("c", "stderr"), shown(plain="d"), stream("e")])
    clean(new_notebook(cells=[cell]))
    assert [output.get("text", "-") for output in cell.outputs] == ["ab", "c", "-", "e"]


def test_widgets_timing_and_counts_are_put_in_order() -> None:
    result = new_output("execute_result", data={"text/plain": "1"}, execution_count=9)
    cells = [
        new_markdown_cell("words"),
        new_code_cell("x", execution_count=7, outputs=[shown(plain="p", html="h", widget={"model_id": "1"})]),
        new_code_cell(""),
        new_code_cell("y", execution_count=9, outputs=[result], metadata={"execution": {"started": "now"}}),
    ]
    notebook = new_notebook(cells=cells, metadata={"widgets": {"state": {}}})
    notebook.metadata["language_info"] = {"name": "python", "version": "3.14.1"}
    clean(notebook)
    assert notebook.metadata == {"language_info": {"name": "python"}}
    assert set(cells[1].outputs[0].data) == {"text/plain", "text/html"}
    assert [cell.execution_count for cell in cells[1:]] == [1, None, 2]
    assert cells[3].outputs[0].execution_count == 2
    assert "execution" not in cells[3].metadata


@pytest.mark.parametrize(
    "text",
    [
        "RESULT 4",
        "arn:aws:sqs:us-east-1:123456789012:q05-jobs",
        "/aws/lambda/q05-worker",
        '"Version": "2012-10-17"',
        "pJ9qQ1Zl0m1Jm3x1bqY0n1o5rTtq0Jm1b0p4sVq3Zg4=",
        "1100 cents, 10 000",
        "2 runs / 4",
        "1:30 h",
    ],
)
def test_what_is_always_the_same_may_be_stored(text: str) -> None:
    assert found(stream(text), shown(plain=text), shown(html=f"<b>{text}</b>"), shown(json={"a": text})) == ""


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("/home/ana/x.py", "a path"),
        ("in '/tmp/once-1/app.py'", "a path"),
        ("C:\\Users\\ana", "a path"),
        ("at 12:35:04", "a clock time"),
        ("2026-11-29T12:35", "a clock time"),
        ("1764419704", "a time stamp"),
        ("1764419704123", "a time stamp"),
        ("1764419704.5", "a time stamp"),
        ("0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0", "a random id"),
        ("d41d8cd98f00b204e9800998ecf8427e", "a random id"),
        ("<x object at 0x7f3c2a1b>", "an address"),
        ("http://127.0.0.1:40123", "a port"),
        ("localhost:8888", "a port"),
    ],
)
def test_what_changes_may_not(text: str, what: str) -> None:
    assert what in found(stream(text))
    assert what in found(shown(plain="x", html=f"<b>{text}</b>"))
    assert what in found(shown(json={"a": [text]}))


def test_errors_need_their_tag() -> None:
    error = new_output("error", ename="ValueError", evalue="no", traceback=["no"])
    assert "ValueError: no" in found(error)
    assert found(error, tags=("raises-exception",)) == ""


def test_stderr_is_never_stored() -> None:
    assert "stderr" in found(stream("warning", "stderr"))


def test_a_widget_needs_html_beside_it() -> None:
    assert "without text/html" in found(shown(widget={"model_id": "x"}))
    assert "without text/html" in found(shown(plain="VBox(children=(Button(),))"))
    assert found(shown(plain="VBox(children=())", html="<p>")) == ""


def test_a_text_that_has_a_translation_is_not_shown_in_english() -> None:
    english = ["The queue is empty."]
    assert "English: The queue is empty." in found(stream("> The queue is empty.\n"), english=english)
    assert found(stream("La file est vide."), english=english) == ""
    assert found(stream("The queue is empty."), language="en", english=english) == ""


def test_an_english_sentence_is_not_shown_unless_allowed() -> None:
    sentence = "There was the end of it"
    assert "English" in found(shown(html=f"<p>{sentence}</p>"))
    assert found(stream(sentence), allowed=[sentence]) == ""
    assert found(stream(f"Erreur : `{sentence}`"), shown(html=f"<p>Erreur : <code>{sentence}</code></p>")) == ""
    assert "English" in found(shown(html="<p>There <b>was</b> the end</p>"))
    assert found(stream("status of q05-jobs"), shown(html="<style>the of is was</style><p>oui</p>")) == ""


def test_names_that_no_browser_translates_are_no_words() -> None:
    name = new_output("display_data", {"text/html": '<text translate="no">the state is here</text>'})
    words = new_output("display_data", {"text/html": '<text translate="yes">the state is here</text>'})
    assert not list(unfit(new_code_cell(outputs=[name]), "fr"))
    assert list(unfit(new_code_cell(outputs=[words]), "fr"))
