"""Each CLI form does what its cell does: the lessons are run with the forms in place of the cells' calls."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from IPython.lib.pretty import pretty

from helpers.course.source import read_lesson
from helpers.lab import Lab
from helpers.lab.language import LESSONS
from tests.lessons.cli_answers import CliAnswers, Form
from tests.lessons.executed import NOTEBOOKS

pytestmark = [
    pytest.mark.early,
    pytest.mark.skipif(sys.platform == "win32", reason="the forms are for a POSIX shell"),
]

# Pictures and questions, and experiments in accounts of their own: no cell with a form depends on them.
_LEFT_OUT = re.compile(
    r"start|live|vocabulary|outcome|.*-(predict|panel|view|picture|history|timeline)"
    r"|break-(counter|message-id|race|batch|schedules|compare)(-.*)?"
)

# Where the last command prints, as JSON, just what the cell shows. (The other cells print in another form.)
_SAME = {
    "order_file": """
        batch-dead-read batch-delete batch-orders batch-redrive batch-return batch-upload break-broken break-orders
        connect-bucket connect-queue connect-read write-read
    """,
    "idempotent_consumer": """
        break-conflict-order break-conflict-redrive break-conflict-runs connect-arn connect-queue connect-read
        deploy-read deploy-update provided-worker repeat-counters
    """,
    "protected_workflow": """
        break-conflict-order clean-up-roles connect-empty connect-policy connect-role deploy-update provided-worker
        run-runs
    """,
}


@pytest.mark.parametrize("folder", _SAME)
def test_a_lesson_passes_its_checks_with_the_cli_in_place_of_boto3(folder: str, tmp_path: Path) -> None:
    source = read_lesson(LESSONS / folder)
    stored = stored_results(folder)
    checked, same = [], set()
    with Lab(folder.replace("_", "-"), "fr") as lab, contextlib.closing(CliAnswers(tmp_path)) as answers:
        names: dict[str, Any] = {"lab": lab}
        for cell in source.cells:
            if cell.kind != "code" or _LEFT_OUT.fullmatch(cell.id):
                continue
            if cell.id in source.forms:
                answers.begin(source.forms[cell.id])
            value, printed = run(cell.source, names)
            if cell.id in source.forms and printed_json(answers.end()) == [as_json(value)]:
                same.add(cell.id)
            if cell.id == "deploy-update":  # the form packed the code by itself
                names["archive"] = io.BytesIO((lab.folder / "app.zip").read_bytes())
            if cell.id.endswith("-check"):
                assert value.passed, str(value)
                checked.append(cell.id)
            elif value is None or type(value) in (bool, str, int, dict, list):
                shown = printed + (pretty(value) if value is not None else "")
                assert shown.strip() == stored[cell.id].strip(), cell.id
    assert checked == [cell.id for cell in source.cells if cell.id.endswith("-check")]
    assert same == {*_SAME[folder].split()}


def printed_json(done: Form) -> list[Any]:
    """What the last command of a form printed, if that is JSON."""
    with contextlib.suppress(ValueError):
        return [json.loads(done.commands[-1].output)]
    return []


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(value, default=repr))


def run(source: str, names: dict[str, Any]) -> tuple[Any, str]:
    """Run a cell; returns the value of its last line and what it printed."""
    first, _line, rest = source.partition("\n")
    if first.startswith("%%writefile"):
        (names["lab"].folder / "app.py").write_text(rest, encoding="utf-8", newline="\n")
        return ..., ""
    body = ast.parse(source).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(ast.Module(body, []), "cell", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None
    return value, printed.getvalue()


def stored_results(folder: str) -> dict[str, str]:
    """What the cells show in the stored notebook, where boto3 made the calls."""
    (path,) = (NOTEBOOKS / "fr").glob(f"*_{folder}.ipynb")
    return {cell.id: "".join(texts(cell)) for cell in nbformat.read(str(path), as_version=4).cells}


def texts(cell: nbformat.NotebookNode) -> Iterator[str]:
    for output in cell.get("outputs", []):
        yield output.text if output.output_type == "stream" else output.data.get("text/plain", "")
