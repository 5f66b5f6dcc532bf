"""Demonstrations: a named sequence of faults and of work for the deployed worker, for a teacher in front of a class.

Each step is done when the presenter asks for it, and says what it did. `arm` begins and waits for nothing; `go_on`
does the next step; `play` does them all and waits in between. What came out is counted from the journal.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from helpers.lab.armed import FaultNotice
from helpers.lab.errors import BadParameter, NothingSent, StepMissing
from helpers.lab.evidence import key_of, refused_by_condition
from helpers.lab.language import _, ngettext
from helpers.lab.parameters import listed, shown
from helpers.lab.rest import wait_until_rest

if TYPE_CHECKING:
    from helpers.lab.experiments import ExperimentResult
    from helpers.lab.faults import LabFaults

Do = Callable[[str], object]
"""What a step does; it is given the id of the order."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step: the sentence that says what it does, and the doing."""

    text: str
    do: Do


def redeliveries(come_back: Callable[[], object]) -> tuple[Step, Step]:
    """The steps that let a hidden message come back: to be received again, and to move to the dead-letter queue."""

    def do(_order: str) -> None:
        come_back()

    return (
        Step(_("Skip the visibility timeout: the message comes back."), do),
        Step(_("Skip the visibility timeout a last time: the message moves to the dead-letter queue."), do),
    )


@dataclass(frozen=True, slots=True)
class Script:
    """What a lesson says about one demonstration. `watch` says what to look at in the live view, `proof` what shows
    that the guard is right; `needs` is the step of the lesson without which nothing would happen. `bare` names a guard,
    a fault and a number of copies of `lab.experiment`: the same fault for a worker without a guard."""

    name: str
    title: str
    watch: str
    proof: str
    needs: str
    steps: tuple[Step, ...]
    bare: tuple[str, str, int] | None = None


@dataclass(frozen=True, slots=True)
class Counted:
    """What became of the order of a demonstration, counted from the journal. `without_guard` is how often a worker
    without a guard had the effect under the same fault, None when that was not tried. `unfired` are the faults of the
    demonstration that never fired, because somebody disarmed them, for example: then the counts prove nothing."""

    order: str
    runs: int
    accepted: int
    refused: int
    stored: bool
    without_guard: int | None = None
    unfired: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join(self.sentences())

    def sentences(self) -> list[str]:
        runs = ngettext("{count} run.", "{count} runs.", self.runs).format(count=self.runs)
        accepted = ngettext("{count} accepted write.", "{count} accepted writes.", self.accepted)
        refused = ngettext("{count} refused write.", "{count} refused writes.", self.refused)
        said = [
            _("Order `{order}`:").format(order=self.order)
            + " "
            + " ".join([runs, accepted.format(count=self.accepted), refused.format(count=self.refused)])
        ]
        said += [_("This fault did not fire: {fault}.").format(fault=fault) for fault in self.unfired]
        if self.without_guard is not None:
            text = ngettext(
                "The same fault without a guard: {count} accepted write.",
                "The same fault without a guard: {count} accepted writes.",
                self.without_guard,
            )
            said.append(text.format(count=self.without_guard))
        return said


class Preset:
    """One demonstration, on the worker that is deployed now. It can be played again: each time with a new order."""

    def __init__(self, faults: LabFaults, script: Script) -> None:
        self._faults = faults
        self._script = script
        self.order = ""
        self.done = 0
        self._armed: set[int] = set()

    name = property(lambda self: self._script.name)
    title = property(lambda self: self._script.title)
    watch = property(lambda self: self._script.watch)
    proof = property(lambda self: self._script.proof)

    @property
    def call(self) -> str:
        """The call that plays it, as a presenter would type it."""
        return f'lab.faults.preset("{self.name}").play()'

    @property
    def steps(self) -> tuple[str, ...]:
        """What each step does, in its order."""
        return tuple(step.text for step in self._script.steps)

    @property
    def left(self) -> int:
        """How many steps of this time are still to come; 0 when it did not begin, and when it is over."""
        return len(self.steps) - self.done if self.done else 0

    @property
    def has_bare(self) -> bool:
        """Whether the same fault can be tried with a worker without a guard."""
        return self._script.bare is not None

    def arm(self) -> FaultNotice:
        """Begin: disarm what was armed, arm the faults, and send the work of a new order. Waits for nothing.

        Raises StepMissing when the lesson has not come so far that this can work.
        """
        self._require()
        others = self._faults.armed()
        if others:
            self._faults.clear()
        for other in self._faults.presets():
            other.done = 0  # its faults are gone, so it cannot go on
        self.order = self._faults.fresh_order(self.name)
        self._armed.clear()
        notice = self._step()
        if others:
            cleared = _("The faults that were armed before were disarmed.")
            return FaultNotice(self.name, f"{notice.text} {cleared}")
        return notice

    def go_on(self) -> FaultNotice:
        """Do the next step. Raises NothingSent when there is none."""
        if not self.left:
            raise NothingSent(
                _("This demonstration has no step left."),
                _("It has not begun, or all its steps were done."),
                _("Begin it again: `lab.faults.preset({name}).arm()`.").format(name=f'"{self.name}"'),
            )
        return self._step()

    def play(self) -> Counted:
        """All steps, with the waits in between, and then the counts. Raises StepMissing, StillBusy."""
        self.arm()
        self.settle()
        while self.left:
            self.go_on()
            self.settle()
        return self.count(bare=self.has_bare)

    def settle(self) -> None:
        """Wait until nothing happens any more; skips no time. Raises StillBusy."""
        self._faults.wait_for_rest()

    def count(self, bare: bool = False) -> Counted:
        """What became of the order so far. With `bare`, the same fault is tried without a guard as well."""
        lesson = self._faults.lesson
        decisions = [one for one in lesson.decisions(lesson.evidence()) if key_of(one) == self.order]
        return Counted(
            order=self.order,
            runs=self._faults.runs_of(self.order),
            accepted=sum(one.accepted for one in decisions),
            refused=sum(refused_by_condition(one) for one in decisions),
            stored=any(order.id == self.order for order in lesson.stored_orders()),
            without_guard=self.without_guard().effects if bare and self.has_bare else None,
            unfired=self._unfired(),
        )

    def without_guard(self) -> ExperimentResult:
        """The same fault for a worker without a guard, with resources of its own. Raises ExperimentFailed."""
        from helpers.lab.experiments import experiment

        if self._script.bare is None:
            raise NothingSent(
                _("This demonstration has no worker without a guard."),
                _("Only some demonstrations of the lesson can be tried with such a worker."),
                _("Play it with your own worker: `{call}`.").format(call=self.call),
            )
        guard, fault, copies = self._script.bare
        return experiment(self._faults.lesson.services, guard, fault, copies)

    def __repr__(self) -> str:
        return f"<{self.name}: {self.title}>"

    def __str__(self) -> str:
        numbered = [f"{number}. {text}" for number, text in enumerate(self.steps, 1)]
        return "\n".join([self.title, *numbered, self.watch, self.proof])

    def _step(self) -> FaultNotice:
        step = self._script.steps[self.done]
        before = {one.number for one in self._faults.history()}
        step.do(self.order)
        self._armed |= {one.number for one in self._faults.history()} - before
        self.done += 1
        return FaultNotice(self.name, step.text)

    def _unfired(self) -> tuple[str, ...]:
        """The faults of this time that did not fire, and will not as long as it lasts."""
        waiting = {one.number for one in self._faults.armed()} if self.left else set()
        return tuple(
            one.description for one in self._faults.history() if one.number in self._armed - waiting and not one.fired
        )

    def _require(self) -> None:
        from helpers.lab.checks import ask
        from helpers.lab.lesson_texts import LessonTexts

        lesson, step = self._faults.lesson, self._script.needs
        probes = lesson.probes(step)
        findings = [ask(probes[point]) for point in lesson.needed[step]]
        missing = [one for one in findings if one.outcome in {"not-attempted", "not-yet"}]
        if missing:
            title = LessonTexts(lesson.slug).title(step) or step
            raise StepMissing(
                step,
                _("This demonstration needs the step “{step}”, and that step is not done.").format(step=title),
                next((one.detail for one in missing if one.detail), _("Each step uses what the step before it made.")),
                _("Run the cells up to the end of “{step}”. Then try again.").format(step=title),
            )


def chosen(presets: Iterable[Preset], name: object) -> Preset:
    """The demonstration of this name. Raises BadParameter."""
    known = {preset.name: preset for preset in presets}
    if not isinstance(name, str) or name not in known:
        raise BadParameter(
            _("The lesson has no demonstration `{name}`.").format(name=shown(name).strip("'\"")),
            _("A demonstration is called by its name."),
            _("Choose one of these: {choices}.").format(choices=listed(tuple(known))),
        )
    return known[name]


class Orders:
    """Fresh order ids: `double-charge-1`, `double-charge-2`, … The same ones in each account."""

    def __init__(self) -> None:
        self._numbers: dict[str, itertools.count[int]] = {}

    def fresh(self, base: str, taken: Iterable[str], form: str = "{base}-{number}") -> str:
        """The next id that is not taken."""
        known = set(taken)
        numbers = self._numbers.setdefault(base, itertools.count(1))
        return next(one for one in (form.format(base=base, number=n) for n in numbers) if one not in known)


def wait_for_rest(faults: LabFaults) -> None:
    """Wait until nothing happens any more, with the faults that need the clock moved on."""
    wait_until_rest(faults.cloud, faults.advance, lambda: 0)
