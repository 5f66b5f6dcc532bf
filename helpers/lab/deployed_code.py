"""Whether the code that a function has is the code that the learner wrote."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from helpers.lab.checks import Finding, not_attempted, not_yet, right
from helpers.lab.handler_code import problem_in
from helpers.lab.language import _
from helpers.lab.services import Services


def deployed_code(services: Services, name: str, provided: str, folder: Path) -> Finding:
    """A finding about the function `name`. `provided`: the hash of the lesson's own code."""
    function = services.function(name)
    if function is None:
        return not_yet(_("The function `{name}` does not exist any more.").format(name=name))
    if function.get("LastUpdateStatus") == "InProgress":
        return not_yet(_("The update of the function is still in progress."))
    if function["CodeSha256"] == provided:
        return not_attempted(_("The function still has the code that the lesson provides."))
    module, _dot, handler = function["Handler"].rpartition(".")
    file = f"{module.replace('.', '/')}.py"
    files = services.code(name)
    if file not in files:
        return not_yet(
            _("The archive holds {files}, but no `{wanted}` at its root.").format(files=_listed(files), wanted=file)
        )
    problem = problem_in(files[file], file, handler)
    if problem:
        return not_yet(problem)
    written = folder / file
    if written.exists() and _lines(written.read_bytes()) != _lines(files[file]):
        return not_yet(_("`{file}` was changed after it was deployed. Pack and deploy it again.").format(file=file))
    return right()


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _lines(source: bytes) -> list[bytes]:
    return source.rstrip().splitlines()
