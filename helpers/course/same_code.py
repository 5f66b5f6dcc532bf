"""Code without its comments, to compare the languages; and prose that hides in code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from helpers.course.comments import split_magic

_NOT_PYTHON = re.compile(r"^[ \t]*[%!]|\?[ \t]*$", re.MULTILINE)
_PROSE_WORD = re.compile(r"(?<!\S)[A-Za-z]{2,}[.,:;!?]?(?!\S)")


class CodeError(Exception):
    """A code cell that is not Python. `args[0]` says why."""


def shape(source: str) -> str:
    """What a code cell does: the syntax tree, for Python and the body of `%%writefile x.py`; or its lines.

    :raises CodeError: the code is not valid.
    """
    magic = split_magic(source)
    if magic.language == "python":
        return magic.line + ast.dump(_tree(magic.body))
    if magic.language == "shell":
        lines = magic.body.split("\n")
        return magic.line + "\n".join(line for line in lines if not re.match(r"\s*#(?!!)", line))
    return source


def prose_in(source: str) -> Iterator[str]:
    """String literals of a code cell that read like a sentence: three words or more; also docstrings."""
    magic = split_magic(source)
    if magic.language != "python":
        return
    for node in ast.walk(_tree(magic.body)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = " ".join(node.value.split())
            if len(_PROSE_WORD.findall(text)) >= 3:
                yield text


def _tree(code: str) -> ast.AST:
    if _NOT_PYTHON.search(code):
        from IPython.core.inputtransformer2 import TransformerManager

        code = TransformerManager().transform_cell(code)
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        tree: ast.AST = compile(code, "<cell>", "exec", flags, dont_inherit=True)
    except SyntaxError as error:
        raise CodeError(f"line {error.lineno}: {error.msg}") from error
    return tree
