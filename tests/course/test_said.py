"""What the program says to learners and teachers passes through a catalog: no bare sentence goes to a terminal."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.course.syllabus import HERE

PARTS = ("classroom", "copies", "grid", "lab", "launcher", "show")
# They speak to maintainers, who read English beside git and pytest.
FOR_MAINTAINERS = {"launcher/locks.py", "launcher/suite.py"}
SPEAK = {
    "Finding", "FaultNotice", "Trouble", "Unknown", "NoCluster", "BadParameter", "NothingSent", "StepMissing",
    "not_yet", "right", "cannot_tell", "not_attempted", "print", "printed", "say", "_say", "complain",
}  # fmt: skip
_WORDS = re.compile(r"[A-Za-z]{2,} [a-z]{2,}")


def bare(source: str) -> Iterator[tuple[int, str]]:
    """(line, text) of each sentence that is given to one of `SPEAK` and is no argument of `_` or `ngettext`."""
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and _name(call) in SPEAK:
            for argument in call.args:
                yield from _bare(argument)


def _bare(node: ast.AST) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Call) and _name(node) in ("_", "ngettext"):
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        yield from _bare(node.func.value)  # what is filled in is a name, a number or a command
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and _WORDS.search(node.value):
        yield node.lineno, node.value
    for child in ast.iter_child_nodes(node):
        yield from _bare(child)


def _name(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", None) or getattr(call.func, "id", ""))


@pytest.mark.parametrize("part", PARTS)
def test_no_sentence_is_said_that_translators_never_saw(part: str) -> None:
    found = [
        f"{HERE.shown(path)}:{line}: {text}"
        for path in sorted((HERE.helpers / part).rglob("*.py"))
        if path.relative_to(HERE.helpers).as_posix() not in FOR_MAINTAINERS
        for line, text in bare(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_a_bare_sentence_is_found() -> None:
    said = (
        'say(_("all is well").format(a="b c") + f"and {x} runs on")\nsay(f"`{x}`")\nraise Trouble("It is bad.", _("x"))'
    )
    assert [text for _line, text in bare(said)] == [" runs on", "It is bad."]


def test_the_exempt_modules_exist() -> None:
    assert all((Path(HERE.helpers) / name).exists() for name in FOR_MAINTAINERS)
