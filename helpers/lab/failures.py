"""Why a run failed, as a sentence for a learner."""

from __future__ import annotations

import re
from collections.abc import Sequence

from helpers.lab.evidence import Run
from helpers.lab.language import _

_LONGEST = 160


def last_failure(runs: Sequence[Run]) -> str:
    """What went wrong in the last of these runs that ended; empty when it succeeded or none has ended."""
    ended = [run for run in runs if run.ended]
    return why(ended[-1]) if ended else ""


def why(run: Run) -> str:
    """Why this run failed; empty when it did not fail."""
    if run.outcome in {"succeeded", "running"}:
        return ""
    message = _message(run)
    if run.outcome == "timeout":
        return _(
            "The last run was stopped by the timeout of the function. Look for a loop or a wait in "
            "`app.py` that does not end."
        )
    if run.outcome == "crash":
        return _("The process of the last run ended before its result arrived.")
    if run.error_type == "Runtime.UserCodeSyntaxError":
        return _("The code is not valid Python: `{error}`.").format(error=message)
    if run.error_type == "Runtime.HandlerNotFound":
        return _("The file has no function with the name of the handler: `{error}`.").format(error=message)
    if run.error_type == "Runtime.ImportModuleError":
        return _("The file of the handler cannot be imported: `{error}`.").format(error=message)
    line = _line(run)
    if line:
        return _("The last run failed in line {line} of `app.py`: `{error}`.").format(
            line=line, error=f"{run.error_type}: {message}"
        )
    return _("The last run failed: `{error}`.").format(error=f"{run.error_type}: {message}")


def _message(run: Run) -> str:
    message = run.result.get("errorMessage", "") if isinstance(run.result, dict) else ""
    first = " ".join(str(message).replace("`", "'").split())
    return first if len(first) <= _LONGEST else first[: _LONGEST - 1] + "…"


def _line(run: Run) -> str | None:
    """The number of the innermost line of app.py in the stack trace."""
    trace = run.result.get("stackTrace") if isinstance(run.result, dict) else None
    found = [re.search(r'app\.py", line (\d+)', str(frame)) for frame in trace or ()]
    numbers = [match.group(1) for match in found if match]
    return numbers[-1] if numbers else None
