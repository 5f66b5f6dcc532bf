"""The faults that a lesson armed: what each says of itself, how often it can still fire, how it is taken away."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from helpers.cloud.journal import RunEnded
from helpers.lab.errors import BadParameter
from helpers.lab.language import _, ngettext
from helpers.lab.parameters import shown

if TYPE_CHECKING:
    from helpers.cloud import Cloud
    from helpers.cloud.faults import Fault

_KEPT = 200
"""How many faults are remembered."""

_HOLDING = frozenset({"slow-worker", "two-at-once", "hold-worker"})
"""The faults that let a call wait: they are at work after they fired."""


@dataclass(frozen=True, slots=True)
class FaultNotice:
    """What a fault did or will do; `text` is in the reader's language."""

    fault: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class ArmedFault:
    """A fault that was armed.

    `remaining`: how often it can still fire, None when it fires until it is disarmed; `fired`: how often it did.
    `number` is what `lab.faults.cancel` takes. `holding`: a call stands there and waits.
    """

    fault: str
    description: str
    remaining: int | None
    fired: int = 0
    number: int = 0
    holding: bool = False

    @property
    def count(self) -> str:
        """How often it fires and fired, in words."""
        if self.holding:
            return _("a call is held now")
        if self.remaining is None:
            return _("fires until you disarm it; fired so far: {fired}").format(fired=self.fired)
        return _("still to come: {left}; fired so far: {fired}").format(left=self.remaining, fired=self.fired)


def describe(fault: str) -> str:
    """An armed fault in a few words."""
    return {
        "deliver-again": _("The next acknowledgement is lost"),
        "late-message": _("The next message arrives late"),
        "crash-at-start": _("The process is killed at the start of its next run"),
        "crash-before-write": _("The process is killed before its next write"),
        "crash-after-write": _("The process is killed after its next accepted write"),
        "crash-at-end": _("The process is killed at the end of its next run"),
        "throttle": _("DynamoDB refuses the next calls: too many requests"),
        "server-error": _("The next write fails inside DynamoDB"),
        "refuse-write": _("DynamoDB refuses the next write: access denied"),
        "lose-request": _("The next write is lost on its way"),
        "lose-answer": _("The answer of the next write is lost"),
        "late-answer": _("The answer of the next write comes too late"),
        "lose-some-answers": _("Some answers of writes are lost"),
        "slow-worker": _("The next write is held while the visibility timeout ends"),
        "two-at-once": _("The next write is held until another run has written"),
        "hold-worker": _("The next run is held until the faults are cleared"),
        "throttle-worker": _("Lambda refuses the next call of the workflow: too many requests"),
        "lose-result": _("The next result of the worker is lost on its way to the workflow"),
    }[fault]


class ArmedList:
    """The faults that were armed through one lab. `changed` is called when the list is another one."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._mine: deque[tuple[str, Fault]] = deque(maxlen=_KEPT)
        self.changed: Callable[[], object] = lambda: None

    def armed(self) -> list[ArmedFault]:
        """The faults that can still fire, and those that hold a call now."""
        live = self._cloud.faults.armed()
        mine = list(self._mine)
        return [
            _as_armed(name, fault, holding)
            for name, fault in mine
            if (holding := self._holds(name, fault)) or fault in live
        ]

    def history(self) -> list[ArmedFault]:
        """All faults that were armed in this account, oldest first, with how often each fired."""
        return [_as_armed(name, fault, self._holds(name, fault)) for name, fault in list(self._mine)]

    def cancel(self, number: int) -> FaultNotice:
        """Disarm one fault of `armed()`, by its number there; a call that it holds goes on. Raises BadParameter."""
        waiting = {one.number: one for one in self.armed()}
        if type(number) is not int or number not in waiting:
            raise BadParameter(
                _("No armed fault has the number `{number}`.").format(number=shown(number)),
                _("A fault that has fired as often as it should is not armed any more."),
                _("Choose one of these: {choices}.").format(choices=", ".join(f"`{one}`" for one in waiting))
                if waiting
                else _("Nothing is left to do: no fault is armed."),
            )
        for _name, fault in list(self._mine):
            if fault.id == number:
                self._disarm(fault)
        self.changed()
        return FaultNotice("none", _("This fault was disarmed: {fault}.").format(fault=waiting[number].description))

    def clear(self) -> FaultNotice:
        """Disarm all faults. A call that is held goes on."""
        count = len(self._cloud.faults.armed())
        # By itself too, and not only among those that wait: a call that arrives at this moment does not wait yet.
        for _name, fault in list(self._mine):
            self._disarm(fault)
        self._cloud.faults.clear()
        self.changed()
        if not count:
            return FaultNotice("none", _("No fault was armed."))
        return FaultNotice(
            "none",
            ngettext("{count} fault was disarmed.", "{count} faults were disarmed.", count).format(count=count),
        )

    def _arm(self, name: str, fault: Fault) -> None:
        self._mine.append((name, fault))
        self.changed()

    def _disarm(self, fault: Fault) -> None:
        """Take one fault away; what it holds goes on."""
        self._cloud.faults.cancel(fault)

    def _holds(self, name: str, fault: Fault) -> bool:
        """Whether a call stands at this fault: it fired, nobody let it go, and the run of the call has not ended."""
        if name not in _HOLDING or not fault.fired or fault.last is None or fault.released.is_set():
            return False
        run = fault.last.request_id
        return not any(ended.request_id == run for ended in self._cloud.journal.events(RunEnded))


def _as_armed(name: str, fault: Fault, holding: bool) -> ArmedFault:
    return ArmedFault(name, describe(name), fault.remaining, fault.fired, fault.id, holding)
