"""The world of one lesson: an account with what the lesson provides, and everything that a notebook asks of
it."""

from __future__ import annotations

import atexit
import contextlib
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.lab import language as languages
from helpers.lab.errors import (
    AccountNotStarted,
    BadParameter,
    LabClosed,
    NoScratchFolder,
    NoSuchExecution,
    NoSuchLanguage,
    NotInLesson,
    PortTaken,
    StepMissing,
)
from helpers.lab.interrupts import to_the_end
from helpers.lab.language import _
from helpers.lab.lesson_texts import LessonTexts
from helpers.lab.lesson_world import LessonWorld, world_of
from helpers.lab.parameters import seconds as checked_seconds
from helpers.lab.parameters import shown, whole

if TYPE_CHECKING:
    from helpers.cloud import Cloud
    from helpers.lab.checks import CheckReport
    from helpers.lab.comparison import Comparison
    from helpers.lab.evidence import Order
    from helpers.lab.executions import Execution, StateMachine
    from helpers.lab.experiments import BatchResult, ExperimentResult
    from helpers.lab.explorer import Exploration, GuardTable
    from helpers.lab.faults import FaultNotice, LabFaults
    from helpers.lab.properties import Report
    from helpers.lab.rest import Rest
    from helpers.lab.terminal import Terminal
    from helpers.lab.view import View

_open: Lab | None = None


class Outcome(dict[str, Any]):
    """What happened, as plain counts that JSON can hold."""

    def as_dict(self) -> dict[str, Any]:
        return dict(self)


class Lab:
    """Start an account, lead boto3 to it, and provide what the lesson needs.

    `lesson` is a slug such as "idempotent-consumer"; `language` a code such as "fr" (default: found by
    `helpers.lab.language.detect`). `parameters` are those of the lesson, for example `quantity` and `fault`. A
    lab that is open in this process is closed first, and the new one keeps its address. All errors are
    LabError, in the reader's language: UnknownLesson, NoSuchLanguage, BadParameter, NoScratchFolder,
    PortTaken, AccountNotStarted.
    """

    _fault_at_work: bool
    """Whether a fault was armed or done since the last `settle`."""

    def __init__(
        self,
        lesson: str,
        language: str | None = None,
        *,
        port: int = 0,
        **parameters: Any,
    ) -> None:
        global _open
        self.language = _use(language)
        self._world = world_of(lesson)
        self.lesson = lesson
        self.parameters = self._world.choose(parameters)
        port = whole("port", port, 0, 65_535)
        self.texts = LessonTexts(lesson)
        self.replaced = _open is not None
        if _open is not None:
            port = port or _open.cloud.port
            _open.close()
        self._closing = contextlib.ExitStack()
        self._alone = threading.RLock()
        """Held while an experiment runs: a control on the page can start one beside the cells, and a cell that skips
        time meanwhile would let the experiment's messages come back."""
        self.closed = False
        try:
            to_the_end(lambda: self._begin(port))
        except BaseException:
            to_the_end(self._closing.close)
            raise
        _open = self
        atexit.register(self.close)
        self._announce()

    # --- what there is --------------------------------------------------------------------------------

    @property
    def ready(self) -> str:
        """One sentence that says that the lesson is ready, without anything that differs between two runs of it."""
        line = _("The lesson is ready: the emulated account runs inside this notebook.")
        if self.replaced:
            line += " " + self._lesson.fresh()
        return line

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps that `check` and `require` know."""
        return self._lesson.steps

    @property
    def faults(self) -> LabFaults:
        """What can be broken here. Raises LabClosed: buttons on the page outlive the account."""
        self._check_open()
        return self._faults

    # --- what a lesson asks ---------------------------------------------------------------------------

    def check(self, step: str) -> CheckReport:
        """What is right, what is missing and where to look, for one step. Changes nothing in the account."""
        from helpers.lab.checks import judge

        self._check_usable(step)
        report = judge(step, self.texts.title(step), self.texts.checks(step), self._lesson.probes(step))
        if step == self._lesson.counted[0]:
            self._remember(report)
        return report

    def require(self, step: str) -> None:
        """Go on only when `step`, and each step before it, has been done.

        Raises StepMissing, which names the first step that is missing. An answer that proves nothing
        stops nobody.
        """
        from helpers.lab.checks import ask

        self._check_usable(step)
        for earlier in self.steps[: self.steps.index(step) + 1]:
            if earlier not in self._lesson.needed or (earlier in self._lesson.optional and earlier != step):
                continue
            probes = self._lesson.probes(earlier)
            findings = [ask(probes[point]) for point in self._lesson.needed[earlier]]
            if any(finding.outcome in {"not-attempted", "not-yet"} for finding in findings):
                details = [finding.detail for finding in findings if finding.detail]
                title = self.texts.title(earlier) or earlier
                raise StepMissing(
                    earlier,
                    _("This cell needs the step “{step}”, and that step is not done.").format(step=title),
                    details[0] if details else _("Each step uses what the step before it made."),
                    _("Run the cells of “{step}” from top to bottom. Then run this cell again.").format(step=title),
                )

    def settle(self, timeout: float = 30.0, *, skip_waits: bool | None = None) -> Rest:
        """Wait until nothing happens any more, at most `timeout` seconds, and say what waits.

        A message whose run failed stays hidden until its visibility timeout ends; that counts as rest. With
        `skip_waits` the clock skips these waits until nothing comes back; by default it does so after
        `apply(fault)`, until the queue has drained. Raises StillBusy, and BadParameter for a `timeout` that is
        no number from 0 to 600.
        """
        from helpers.lab import rest

        self._check_open()
        timeout = checked_seconds(timeout, _TEN_MINUTES)
        skipping = self._fault_at_work if skip_waits is None else skip_waits
        rest.wait_until_rest(
            self.cloud, self.faults.advance, self._lesson.skip_waits if skipping else lambda: 0, timeout
        )
        self._fault_at_work = False
        return self._lesson.rest()

    def skip(self, seconds: float) -> None:
        """Let the account's clock jump forward: visibility timeouts, delays and retention move on at once.

        Raises BadParameter for anything but a number from 0 to 1,209,600 (14 days, the longest retention
        of SQS).
        """
        self._check_open()
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds <= _FOURTEEN_DAYS:
            raise BadParameter(
                _("`{value}` is not a number of seconds that can be skipped.").format(value=shown(seconds)),
                _("The clock of the account only moves forward, by at most 14 days."),
                _("Choose a number from 0 to {highest}, for example `lab.skip(30)`.").format(highest=_FOURTEEN_DAYS),
            )
        with self._alone:
            self.cloud.skip(seconds)

    def apply(self, fault: str) -> FaultNotice | None:
        """Arm or do the fault that a parameter names; the next `settle` then passes the waits that it causes."""
        self._check_open()
        notice = self.faults.apply(fault)
        self._fault_at_work = notice is not None
        return notice

    def compare(self, ours: Any, theirs: Any) -> Comparison:
        """Two values field by field: what plain Python made, and what a service answered."""
        from helpers.lab import comparison

        return comparison.compare(ours, theirs)

    def use_guard(self, guard: str) -> Path:
        """Write a worker with this guard into `folder`/app.py, in the place of your own; pack and deploy it as usual.

        `outcome` then names the guard. Returns the file. Raises BadParameter, and NotInLesson where the lesson has no
        guards.
        """
        self._check_open()
        if not self._lesson.guards:
            raise self._not_in_lesson("use_guard")
        path = self._lesson.use_guard(guard)
        self._guard = guard
        return path

    def experiment(self, guard: str, fault: str = "none", copies: int = 2) -> ExperimentResult:
        """One worker with one kind of guard under one fault, with resources of its own (see
        helpers.lab.experiments)."""
        from helpers.lab import experiments

        self._check_experiments("experiment")
        with self._alone:
            return experiments.experiment(self._lesson.services, guard, fault, copies)

    def compare_guards(
        self,
        faults: Iterable[str] | None = None,
        guards: Iterable[str] | None = None,
        copies: int = 3,
        told: Callable[[int, int], None] | None = None,
    ) -> Any:
        """How often the business effect happened against how often the job was delivered: a GuardComparison.

        helpers.show gives it a face. Without `faults` these are the four that deliver a job again, without `guards`
        the four that can be compared by their writes. `copies` (2 to 8) are what the producer sends under the
        faults "producer-copy" and "interleaved". `told` hears how many faults are done, and of how many. Raises
        BadParameter, ExperimentFailed.
        """
        from helpers.lab import guard_comparison

        self._check_experiments("compare_guards")
        with self._alone:
            return guard_comparison.compare(self._lesson.services, faults, guards, copies, told)

    def batch_experiment(self, partial: bool) -> BatchResult:
        """Ten messages in one batch, the last one bad, with or without partial batch responses."""
        from helpers.lab import experiments

        self._check_experiments("batch_experiment")
        with self._alone:
            return experiments.batch_experiment(self._lesson.services, partial)

    def verify(self) -> Report:
        """What the history of the lesson's queue says about each property, with a proof where one is broken."""
        from helpers.lab import properties
        from helpers.lab.idempotent_consumer import IdempotentConsumer

        self._check_experiments("verify")
        assert isinstance(self._lesson, IdempotentConsumer)
        return properties.judge(self._lesson.history())

    def explore(self, guard: str | None = None) -> Exploration:
        """All schedules of two deliveries (see helpers.lab.explorer) for the learner's worker, or for one guard."""
        from helpers.lab import explorations

        self._check_experiments("explore")
        services = self._lesson.services
        return explorations.explore_worker(services) if guard is None else explorations.explore_guard(services, guard)

    def explore_guards(self) -> GuardTable:
        """All schedules of two deliveries for each of the lesson's guards."""
        from helpers.lab import explorations

        self._check_experiments("explore_guards")
        return explorations.explore_guards(self._lesson.services)

    def state_machine(self) -> StateMachine:
        """The lesson's state machine, read back from Step Functions. Raises NoSuchExecution when there is none."""
        self._check_workflow("state_machine")
        found = self._lesson.state_machine()
        if found is None:
            raise NoSuchExecution(
                _("There is no state machine `{machine}`.").format(machine=self._lesson.machine),
                _("It was not created yet, or it was deleted."),
                _("Run the cell with `create_state_machine`. Then run this cell again."),
            )
        return found

    def execution(self, name: str) -> Execution:
        """One execution with its way and its history, read back from Step Functions. Raises NoSuchExecution."""
        self._check_workflow("execution")
        found = self._lesson.execution(name) if isinstance(name, str) else None
        if found is None:
            started = self._lesson.started()
            raise NoSuchExecution(
                _("There is no execution `{name}`.").format(name=shown(name).strip("'\"")),
                _("An execution is called by the name with which it was started."),
                _("Started so far: {names}.").format(names=", ".join(f"`{one}`" for one in started))
                if started
                else _("No execution was started so far. Run the cells of step 4 first."),
            )
        return found

    def terminal(self) -> Terminal:
        """How to use this account in a terminal: a line to type there, and what works in a cell."""
        from helpers.lab.terminal import write_files

        self._check_open()
        return write_files(self.cloud, self.folder)

    def snapshot(self) -> View:
        """Queues, orders, decisions, runs and messages as they are now, as plain data."""
        self._check_open()
        return self._lesson.view()

    def view(self) -> Any:
        """The snapshot; helpers.show gives it a face."""
        return self.snapshot()

    def outcome(self) -> Outcome:
        """What happened up to the end of the lesson's counted step, as plain counts.

        The end is the last check of that step; until then, it is now.
        """
        self._check_open()
        until, orders = self._end_of_repeat or (None, None)
        counts = self._lesson.counts(until, self._lesson.stored_orders() if orders is None else orders)
        return Outcome({**counts, "guard": self._guard} if self._guard else counts)

    def reset(self) -> Lab:
        """A fresh account with fresh resources at the same address, in the same kernel. Answers stay untouched."""
        self._check_open()
        port = self.cloud.port

        def again() -> None:
            self._closing.close()
            self._closing = contextlib.ExitStack()
            self.replaced = True
            self._begin(port)

        # Half an account would neither answer nor make room for a new one.
        with self._alone:
            to_the_end(again)
        self._announce()
        return self

    def close(self) -> None:
        """Stop the account and remove the scratch folder. May be called again."""
        global _open
        if self.closed:
            return
        self.closed = True
        if _open is self:
            _open = None
        atexit.unregister(self.close)
        to_the_end(self._closing.close)

    def __enter__(self) -> Lab:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Lab({self.lesson!r})"

    # --- inside ---------------------------------------------------------------------------------------

    def _announce(self) -> None:
        """Say that the lesson is ready. helpers.show shows it in another way."""
        print(self.ready)

    def _begin(self, port: int) -> None:
        self._open_folder()
        self._open_account(port)

    def _open_folder(self) -> None:
        try:
            self.folder = Path(tempfile.mkdtemp(prefix="once-"))
        except OSError as error:
            raise NoScratchFolder(
                _("The lesson found no folder for temporary files: {reason}.").format(reason=error.strerror or "?"),
                _("Your code is written into a temporary folder before it is deployed."),
                _("Free some space, or set the environment variable `TMPDIR` to a folder that you can write to."),
            ) from error
        self._closing.callback(shutil.rmtree, self.folder, ignore_errors=True)

    def _open_account(self, port: int) -> None:
        self.cloud = self._start(port)
        self._closing.callback(self.cloud.close)
        self.cloud.install({FOLDER_VARIABLE: str(self.folder)})
        self.cloud.tables.creating_seconds = _TABLE_TAKES
        self._lesson: LessonWorld = self._world(self.cloud, self.folder, self.parameters)
        self._lesson.provide()
        self._faults: LabFaults = self._lesson.make_faults()
        self._closing.callback(self._faults.close)
        self._fault_at_work = False
        self._guard = ""
        self._end_of_repeat: tuple[int, tuple[Order, ...]] | None = None
        self._repeat_passed = False

    def _start(self, port: int) -> Cloud:
        from helpers.cloud import AccountOpen, Cloud, PortInUse

        try:
            return Cloud(port=port)
        except OSError as error:
            if self.replaced:
                # The earlier account's port was only wanted so that clients made earlier go on working.
                return Cloud()
            if isinstance(error, PortInUse):
                raise PortTaken(
                    _("Another program uses the port {port} of this computer.").format(port=port),
                    _("The emulated account needs a port of its own, so it did not start."),
                    _("Choose another port, or leave `port` out: then a free one is found."),
                ) from error
            raise AccountNotStarted(
                _("The emulated account did not start: {reason}.").format(
                    reason=error.strerror or type(error).__name__
                ),
                _("The account listens on this computer only, on the address 127.0.0.1."),
                _("Look for a security program that forbids this. Then restart the kernel and run the cell again."),
            ) from error
        except AccountOpen as error:
            raise AccountNotStarted(
                _("This process has an emulated account already."),
                _("Two accounts cannot live in one process."),
                _("Close the other account with its `close()` method, or restart the kernel."),
            ) from error

    def _remember(self, report: CheckReport) -> None:
        """Keep where the counted step ended: its first check that passed, or else its last one that knew the orders."""
        if not self._repeat_passed and report[self._lesson.counted[1]].outcome in {"right", "not-yet"}:
            self._repeat_passed = report.passed
            self._end_of_repeat = (self.cloud.journal.last, self._lesson.stored_orders())

    def _check_open(self) -> None:
        if self.closed:
            raise LabClosed(
                _("This lab is closed."),
                _("Its account does not exist any more."),
                _("Run the first cells of the notebook again: they open a fresh one."),
            )

    def _check_experiments(self, call: str) -> None:
        self._check_open()
        if not self._lesson.experiments:
            raise self._not_in_lesson(call)

    def _check_workflow(self, call: str) -> None:
        self._check_open()
        if not self._lesson.machine:
            raise self._not_in_lesson(call)

    @staticmethod
    def _not_in_lesson(call: str) -> NotInLesson:
        return NotInLesson(
            _("This lesson has no `lab.{name}`.").format(name=call),
            _("That call belongs to another lesson of the course."),
            _("Go on with the cells of this notebook."),
        )

    def _check_usable(self, step: str) -> None:
        self._check_open()
        if step not in self.steps:
            raise BadParameter(
                _("The lesson has no step `{step}`.").format(step=str(step)[:40]),
                _("Checks and cells call a step by its name."),
                _("Choose one of these: {choices}.").format(choices=", ".join(f"`{name}`" for name in self.steps)),
            )


FOLDER_VARIABLE = "ONCE_FOLDER"
"""Names `Lab.folder` to the shells that a cell or a terminal starts: there they find the code of a function."""

_TABLE_TAKES = 5.0
"""Seconds in which a new table is CREATING, unless a waiter asks: who writes at once meets the refusal of AWS."""

_TEN_MINUTES = 600
_FOURTEEN_DAYS = 14 * 24 * 3600


def _use(language: str | None) -> str:
    try:
        return languages.use(language)
    except languages.UnknownLanguage as error:
        raise NoSuchLanguage(
            _("The course does not speak the language `{language}`.").format(language=error.language),
            _("A language is known when its catalog is there."),
            _("Choose one of these: {choices}.").format(choices=", ".join(f"`{name}`" for name in error.known)),
        ) from error
