"""Outputs that may be stored: cleaned of what differs from run to run, judged for what must not be there."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from html import unescape
from pathlib import Path

from nbformat import NotebookNode

from helpers.course.fidelity import Finding
from helpers.course.inline import OBJECT

_WIDGET = "application/vnd.jupyter.widget-view+json"

# A word that is in almost every English sentence and is no word of French, Russian or Spanish.
_ENGLISH = re.compile(
    r"(?<![\w-])(the|of|is|was|were|with|has|have|not|this|that|from|when|by|and|are|will|you|your)(?![\w-])",
    re.IGNORECASE,
)

_CHANGES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "a path of this machine",
        re.compile(r"(?<![\w.])/(?:home|Users|root|tmp|private|opt|usr|work|mnt)/[^\s<]*"),
    ),
    ("a path of this machine", re.compile(r"\b[A-Za-z]:\\+\w[^\s<]*")),
    ("a clock time", re.compile(r"\b\d{1,2}:\d{2}:\d{2}\b|\b\d{4}-\d{2}-\d{2}[T ]\d{1,2}:\d{2}")),
    ("a time stamp", re.compile(r"(?<![\w.])1[6-9]\d{8}(?:\d{3})?(?:\.\d+)?(?![\w.])")),
    ("a random id", re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE)),
    ("a random id", re.compile(r"(?<![\w/+])(?=\d*[a-f])[0-9a-f]{24,}(?![\w/+=])", re.IGNORECASE)),
    ("an address of an object in memory", re.compile(r"\bat 0x[0-9a-f]{6,}", re.IGNORECASE)),
    ("a port of this run", re.compile(r"(?:127\.0\.0\.1|localhost):\d+")),
)
_ADVICE = "Show something that is the same on each run and each machine"


def clean(notebook: NotebookNode) -> None:
    """Leave only what is stored: no widgets, no times, no version of Python, streams in one piece, counts from 1."""
    notebook.metadata.pop("widgets", None)
    notebook.metadata.get("language_info", {}).pop("version", None)
    count = 0
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        cell.metadata.pop("execution", None)
        count += bool(cell.source.strip())
        cell.execution_count = count if cell.source.strip() else None
        cell.outputs = list(_merged(cell.outputs))
        for output in cell.outputs:
            output.pop("transient", None)
            if output.output_type == "execute_result":
                output.execution_count = cell.execution_count
            if "data" in output and len(output.data) > 1:
                output.data.pop(_WIDGET, None)


def _merged(outputs: Iterable[NotebookNode]) -> Iterator[NotebookNode]:
    """Consecutive pieces of one stream as one: how often a kernel flushes is chance."""
    last: NotebookNode | None = None
    for output in outputs:
        if output.output_type != "stream":
            if last is not None:
                yield last
            last = None
            yield output
        elif last is not None and last.name == output.name:
            last.text += output.text
        else:
            if last is not None:
                yield last
            last = output
    if last is not None:
        yield last


def unfit(
    cell: NotebookNode, language: str, english: Sequence[str] = (), allowed: Sequence[str] = ()
) -> Iterator[Finding]:
    """Why the outputs of a code cell may not be stored.

    `english`: texts that have a translation, so that their English must not appear; `allowed`: sentences that
    a service answers in English.
    """
    expected_error = "raises-exception" in cell.metadata.get("tags", [])
    for output in cell.outputs:
        if output.output_type == "error" and not expected_error:
            yield (
                f"{output.ename}: {output.evalue}",
                "Correct the cell, or give it the tag raises-exception",
            )
        if output.get("name") == "stderr":
            yield (f"output on stderr: {_short(output.text)}", "Show it on stdout, or avoid it")
        if _WIDGET in output.get("data", {}) or _bare_widget(output):
            yield ("a widget without text/html beside it", "Give its MIME bundle a text/html")
        for text in _texts(output):
            yield from _changing(text)
            if language != "en" and output.output_type != "error":
                yield from _untranslated(text, english, allowed)


def _bare_widget(output: NotebookNode) -> bool:
    """The widget view is gone, and what is left is the repr of the widget: "VBox(children=(…))"."""
    data = output.get("data", {})
    shown = data.get("text/plain", "")
    return "text/html" not in data and re.match(r"\w+\((?:children|value|layout)=", shown) is not None


def _texts(output: NotebookNode) -> Iterator[str]:
    if output.output_type == "stream":
        yield output.text
    elif output.output_type == "error":
        yield "\n".join([output.evalue, *output.traceback])
    for kind, value in output.get("data", {}).items():
        if kind.startswith("text/") or kind.endswith("xml"):
            yield value
        elif kind.endswith("json") and kind != _WIDGET:
            yield json.dumps(value, ensure_ascii=False)


def _changing(text: str) -> Iterator[Finding]:
    for what, pattern in _CHANGES:
        if found := pattern.search(text):
            yield (f"{what}: {_short(found[0])}", _ADVICE)
    for place in {str(Path.home()), tempfile.gettempdir(), str(Path(__file__).resolve().parents[2])}:
        if len(place) > 1 and place in text:
            yield (f"a path of this machine: {place}", _ADVICE)


def _untranslated(text: str, english: Sequence[str], allowed: Sequence[str]) -> Iterator[Finding]:
    for line in words_shown(text).split("\n"):
        for sentence in english:
            if sentence in line:
                yield (f"English: {_short(sentence)}", "Let it pass through the catalog")
        rest = line
        for sentence in allowed:
            rest = rest.replace(sentence, " ")
        if len({word.lower() for word in _ENGLISH.findall(rest)}) >= 2:
            advice = "Let it pass through the catalog, or allow it in exceptions.toml, [outputs]"
            yield (f"English: {_short(line)}", advice)


def words_shown(text: str) -> str:
    """What a reader sees of HTML or plain text, without code and names; each element on a line of its own."""
    text = re.sub(r"<(style|script|code|kbd)\b.*?</\1>", " ", text, flags=re.DOTALL)
    text = re.sub(r"<(\w+)\b[^>]*\btranslate=\"no\"[^>]*>.*?</\1>", " ", text, flags=re.DOTALL)
    text = re.sub(r"</?(?:b|i|em|strong|span|small)\b[^>]*>", "", text)
    text = unescape(re.sub(r"<[^>]*>", "\n", text))
    return re.sub(r"`[^`\n]*`", OBJECT, text)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 120 else f"{text[:119]}…"
