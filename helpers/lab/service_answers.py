"""What an error of a service means, for the errors that a learner of a lesson is most likely to meet."""

from __future__ import annotations

import re

from helpers.lab.checks import error_code
from helpers.lab.language import _


def explained(error: BaseException) -> list[str]:
    """Sentences in the reader's language: what happened and what to do; none for an error that is not known here."""
    code = error_code(error) if isinstance(error, Exception) else ""
    message = getattr(error, "response", {}).get("Error", {}).get("Message", "") if code else ""
    if code == "ExecutionAlreadyExists":
        return [
            _("The execution name `{name}` is already used.").format(name=_last(message)),
            _("A name can be used again 90 days after its execution closed. Nothing was started, nothing was changed."),
            _("Choose another name. To start over, run `lab.reset()`."),
        ]
    if code == "StateMachineAlreadyExists":
        return [
            _("A state machine of this name exists, with another definition."),
            _("Call `update_state_machine`, or delete the state machine first."),
        ]
    if code == "InvalidDefinition":
        missing = re.search(r"target: (\S+) at (\S+?)'?$", message)
        what = _("Step Functions refuses the definition. No state machine was created or changed.")
        if missing:
            where, state = missing.group(2), missing.group(1)
            return [
                what,
                _("`{where}` names the state `{state}`, and there is none. Look for a typo.").format(
                    where=where, state=state
                ),
            ]
        return [what, _("The message above says which place of the definition is wrong.")]
    if code == "StateMachineDoesNotExist":
        return [_("There is no such state machine."), _("Run the cell with `create_state_machine` again.")]
    return []


def _last(message: str) -> str:
    """The name at the end of an ARN in a message."""
    found = re.search(r":([^:'\s]+)'", message)
    return found.group(1) if found else "?"
