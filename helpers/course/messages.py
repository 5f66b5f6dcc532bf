"""The texts of the helpers: every `_("…")` and `ngettext("…", "…", n)` in helpers/, by the syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from helpers.course.entries import Entry
from helpers.course.source import SourceError
from helpers.course.syllabus import Folders

_ARGUMENTS = {"_": 1, "ngettext": 2}
_REMARK = "# Translators:"


def helper_entries(folders: Folders) -> list[Entry]:
    """The entries of helpers/locale/<language>.po, by file and line; a text that is used twice is one entry.

    A comment `# Translators: …` on the line above a call is shown to translators.

    :raises SourceError: a text is not a literal (an f-string, a variable), one text has two plurals, or one has a
        plural in one place and none in another: the catalog then holds forms for a count that `_` does not know.
    """
    found: dict[str, Entry] = {}
    modules = folders.helpers.rglob("*.py")
    for path in sorted(modules, key=lambda path: path.relative_to(folders.helpers).parts):
        for line, texts, remark in _calls(path):
            text, plural = texts[0], texts[1] if len(texts) == 2 else ""
            before = found.get(text)
            if before and plural and before.plural and plural != before.plural:
                raise SourceError(path, line, f"{text!r} has another plural in {before.places[0]}")
            if before and bool(plural) != bool(before.plural):
                raise SourceError(path, line, f"{text!r} is used with and without a plural: use ngettext() in both")
            place = folders.shown(path)
            places = before.places if before else ()
            found[text] = Entry(
                context=None,
                text=text,
                plural=plural,
                remark=(before.remark if before else "") or remark,
                places=places if place in places else (*places, place),
            )
    return list(found.values())


def _calls(path: Path) -> Iterator[tuple[int, list[str], str]]:
    source = path.read_text(encoding="utf-8")
    if not any(f"{name}(" in source for name in _ARGUMENTS):
        return
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise SourceError(path, error.lineno or 1, f"not valid Python: {error.msg}") from error
    lines = source.splitlines()
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name not in _ARGUMENTS:
            continue
        texts: list[str] = []
        for argument in call.args[: _ARGUMENTS[name]]:
            if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
                if path.name == "language.py":  # defines the functions
                    break
                what = f"{name}() takes a literal; fill in values with .format()"
                raise SourceError(path, call.lineno, what)
            texts.append(argument.value)
        if texts:
            above = lines[call.lineno - 2].strip() if call.lineno > 1 else ""
            remark = above.removeprefix(_REMARK).strip() if above.startswith(_REMARK) else ""
            yield call.lineno, texts, remark
