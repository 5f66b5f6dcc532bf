"""What keeps a file from being a handler, found by reading it, never by running it."""

from __future__ import annotations

import ast

from helpers.lab.language import _


def problem_in(source: bytes, file: str, handler: str) -> str | None:
    """What keeps a module from being a handler, in the reader's language: found without running it."""
    try:
        tree = ast.parse(source, filename=file)
    except SyntaxError as error:
        text = (error.text or "").strip().replace("`", "'")
        return _("Line {line} of `{file}` is not valid Python: `{text}`.").format(
            line=error.lineno or 1, file=file, text=text
        )
    except ValueError:
        return _("`{file}` is not a text file in UTF-8.").format(file=file)
    if handler not in _names_in(tree):
        return _("`{file}` defines nothing with the name `{handler}`.").format(file=file, handler=handler)
    return None


def _names_in(tree: ast.Module) -> set[str]:
    """The names that a module binds at its top level, also inside `if`, `try` and `with`."""
    names: set[str] = set()
    todo: list[ast.AST] = [*tree.body]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        else:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            todo += ast.iter_child_nodes(node)
    return names
