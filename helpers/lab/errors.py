"""What can go wrong for a learner, said in three sentences: what happened, what it means, what to do.

The sentences are already in the reader's language when an error is made. helpers.show prints them instead
of a traceback; everywhere else `str(error)` holds the three lines.
"""

from __future__ import annotations


class LabError(Exception):
    """Base of all errors that a lesson raises. `what`, `meaning` and `advice` are whole sentences."""

    def __init__(self, what: str, meaning: str = "", advice: str = "") -> None:
        super().__init__(what, meaning, advice)
        self.what = what
        self.meaning = meaning
        self.advice = advice

    def __str__(self) -> str:
        return "\n".join(line for line in (self.what, self.meaning, self.advice) if line)


class UnknownLesson(LabError):
    """There is no lesson of that name."""


class NotInLesson(LabError):
    """What was called belongs to another lesson."""


class NoSuchLanguage(LabError):
    """There is no catalog for the language that was asked for."""


class BadParameter(LabError, ValueError):
    """A value is not one that the lesson can work with."""


class AccountNotStarted(LabError):
    """The emulated account could not start."""


class PortTaken(AccountNotStarted):
    """Another program listens on the port that was asked for."""


class NoScratchFolder(LabError):
    """No folder for temporary files can be written to."""


class LabClosed(LabError):
    """The lab was closed: by its own `close`, or because a newer one took its place."""


class StepMissing(LabError):
    """A cell was run before a step that it needs. `step` is that step."""

    def __init__(self, step: str, what: str, meaning: str = "", advice: str = "") -> None:
        super().__init__(what, meaning, advice)
        self.step = step


class StillBusy(LabError, TimeoutError):
    """The account did not come to rest within the time given."""


class NothingSent(LabError):
    """A fault needs a job that was sent before, and there is none."""


class NoSuchExecution(LabError):
    """No execution of that name was started."""


class ExperimentFailed(LabError):
    """An experiment did not reach its end, so it has no result."""
