"""Faults around the worker's write: before it, on its way to the table, after it.

They fit each lesson with a worker. They act at the API boundary and on the worker's process (helpers.cloud.faults), so
the worker under test stays byte for byte the deployed one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from helpers.cloud.fault_targets import ANY
from helpers.lab.armed import ArmedList, FaultNotice
from helpers.lab.errors import NothingSent
from helpers.lab.language import _, ngettext
from helpers.lab.parameters import whole

if TYPE_CHECKING:
    from helpers.cloud import Cloud
    from helpers.lab.lesson_world import LessonWorld

MOST_REFUSALS = 2
"""Calls. After a refused call boto3 waits up to 1, 2, 4 s (botocore's mode "standard"): three refusals can last longer
than the worker may run."""

MOST_CRASHES = 5
FEWEST_PERCENT = 1
USUAL_PERCENT = 30
MOST_PERCENT = 100

WRITES = ("PutItem", "UpdateItem", "TransactWriteItems")
"""The actions with which the role lets the worker write: a guard may stand in any of them."""

_TOO_LATE = 1
"""Seconds by which an answer comes too late."""


class TableFaults(ArmedList):
    """The faults of a worker that writes orders into a table."""

    def __init__(self, cloud: Cloud, lesson: LessonWorld) -> None:
        super().__init__(cloud)
        self._lesson = lesson
        self._function = lesson.function

    # --- before the write -----------------------------------------------------------------------------

    def crash_at_start(self) -> FaultNotice:
        """Kill the worker's process when it gets its next job: the handler makes no call."""
        self._worker()
        self._arm("crash-at-start", self._cloud.faults.crash_run(self._function, "start"))
        text = _("The process of `{function}` will be killed at the start of its next run.")
        return FaultNotice("crash-at-start", f"{text.format(function=self._function)} {self._after_a_crash()}")

    def crash_before_write(self, n: int = 1) -> FaultNotice:
        """Kill the worker's process right before each of its next `n` (1 to 5) writes: nothing is stored."""
        times = whole("n", n, 1, MOST_CRASHES)
        self._arm(
            "crash-before-write",
            self._cloud.faults.crash(action=WRITES, when="before", times=times, **self._writing()),
        )
        text = ngettext(
            "The process of `{function}` will be killed right before its next write.",
            "The process of `{function}` will be killed right before each of its next {count} writes.",
            times,
        ).format(function=self._function, count=times)
        return FaultNotice("crash-before-write", f"{text} {self._after_a_crash()}")

    def two_at_once(self) -> FaultNotice:
        """Hold the worker's next write until another run has written: two runs for one order meet.

        Without a second run, the function's own timeout ends the held one.
        """
        fault = self._cloud.faults.hold("dynamodb", WRITES, until=("dynamodb", WRITES), **self._writing())
        self._arm("two-at-once", fault)
        return FaultNotice(
            "two-at-once",
            _("The next write of `{function}` will be held until another run has written.").format(
                function=self._function
            )
            + " "
            + _("Send the same job twice now."),
        )

    # --- on the way -----------------------------------------------------------------------------------

    def throttle(self, n: int = MOST_REFUSALS) -> FaultNotice:
        """Let DynamoDB refuse the next `n` (1 or 2) calls of the worker: too many requests. Raises BadParameter."""
        calls = whole("n", n, 1, MOST_REFUSALS)
        self._worker()
        self._arm("throttle", self._cloud.faults.throttle("dynamodb", ANY, times=calls, function=self._function))
        return FaultNotice(
            "throttle",
            ngettext(
                "DynamoDB will refuse the next {count} call of `{function}`: too many requests.",
                "DynamoDB will refuse the next {count} calls of `{function}`: too many requests.",
                calls,
            ).format(count=calls, function=self._function)
            + " "
            + _("The SDK waits and tries again by itself."),
        )

    def server_error(self) -> FaultNotice:
        """Let the worker's next write fail inside DynamoDB (HTTP status 500): nothing is stored."""
        self._arm("server-error", self._cloud.faults.server_error("dynamodb", WRITES, **self._writing()))
        return FaultNotice(
            "server-error",
            _("The next write of `{function}` will fail inside DynamoDB. That attempt will store nothing.").format(
                function=self._function
            )
            + " "
            + _("The SDK waits and tries again by itself."),
        )

    def refuse_write(self) -> FaultNotice:
        """Refuse the worker's next write with AccessDeniedException: the SDK does not try again, the run fails."""
        self._arm(
            "refuse-write",
            self._cloud.faults.refuse(
                "dynamodb", WRITES, "AccessDeniedException", "The permission is missing.", **self._writing()
            ),
        )
        return FaultNotice(
            "refuse-write",
            _("The next write of `{function}` will be refused with `AccessDeniedException`.").format(
                function=self._function
            )
            + " "
            + _("The SDK does not try again, so the run fails."),
        )

    def lose_request(self) -> FaultNotice:
        """Lose the worker's next write before it reaches the table: the SDK sends it again."""
        self._arm("lose-request", self._cloud.faults.lose_request("dynamodb", WRITES, **self._writing()))
        return FaultNotice(
            "lose-request",
            _("The next write of `{function}` will be lost on its way, and nothing is stored.").format(
                function=self._function
            )
            + " "
            + _("The SDK sends the same write again by itself."),
        )

    def lose_answer(self) -> FaultNotice:
        """Do the worker's next write, and lose its answer: the SDK sends the write again."""
        self._arm("lose-answer", self._cloud.faults.lose_answer("dynamodb", WRITES, **self._writing()))
        return FaultNotice(
            "lose-answer",
            _("The next write of `{function}` will be done, and its answer will be lost.").format(
                function=self._function
            )
            + " "
            + _("The SDK sends the same write again by itself."),
        )

    def lose_some_answers(self, percent: int = USUAL_PERCENT, seed: int = 1) -> FaultNotice:
        """Lose the answers of a share of the worker's writes (1 to 100 percent), until it is disarmed.

        The same `seed` (any whole number) loses the same answers again. Raises BadParameter.
        """
        share = whole("percent", percent, FEWEST_PERCENT, MOST_PERCENT)
        chosen = whole("seed", seed, 0, 1_000_000)
        limits = self._writing()
        self._cloud.faults.seed(chosen)
        fault = self._cloud.faults.lose_answer("dynamodb", WRITES, rate=share / 100, **limits)
        self._arm("lose-some-answers", fault)
        return FaultNotice(
            "lose-some-answers",
            _(
                "About {percent} of 100 writes of `{function}` will be done without an answer, until you disarm it."
            ).format(percent=share, function=self._function)
            + " "
            + _("The SDK sends the same write again by itself."),
        )

    def late_answer(self) -> FaultNotice:
        """Do the worker's next write, and let its answer come after the function's timeout: the run ends by it."""
        limits = self._writing()
        found = self._lesson.services.function(self._function) or {}
        seconds = int(found.get("Timeout", 3))
        fault = self._cloud.faults.delay(seconds + _TOO_LATE, "dynamodb", WRITES, when="after", **limits)
        self._arm("late-answer", fault)
        text = ngettext(
            "The next write of `{function}` will be done, and its answer will take longer than {seconds} second.",
            "The next write of `{function}` will be done, and its answer will take longer than {seconds} seconds.",
            seconds,
        ).format(function=self._function, seconds=seconds)
        return FaultNotice("late-answer", f"{text} {_('So the timeout of the function ends the run.')}")

    # --- after the write ------------------------------------------------------------------------------

    def crash_after_write(self, n: int = 1) -> FaultNotice:
        """Kill the worker's process right after each of its next `n` (1 to 5) accepted writes, before the message is
        acknowledged."""
        times = whole("n", n, 1, MOST_CRASHES)
        self._arm(
            "crash-after-write",
            self._cloud.faults.crash(action=WRITES, accepted=True, times=times, **self._writing()),
        )
        text = ngettext(
            "The process of `{function}` will be killed right after its next accepted write.",
            "The process of `{function}` will be killed right after each of its next {count} accepted writes.",
            times,
        ).format(function=self._function, count=times)
        return FaultNotice("crash-after-write", f"{text} {self._after_a_crash()}")

    def crash_at_end(self) -> FaultNotice:
        """Kill the worker's process when its next run has returned: all is done, and nobody learns of it."""
        self._worker()
        self._arm("crash-at-end", self._cloud.faults.crash_run(self._function, "end"))
        text = _("The process of `{function}` will be killed at the end of its next run, when all its work is done.")
        return FaultNotice("crash-at-end", f"{text.format(function=self._function)} {self._after_a_crash()}")

    # --- inside ---------------------------------------------------------------------------------------

    def _after_a_crash(self) -> str:
        """What becomes of the work when a run has crashed, as a sentence."""
        return _("Its message comes back when the visibility timeout ends.")

    def _writing(self) -> dict[str, Any]:
        """The limits of a fault on a write of an order: by the worker, into the table of the orders."""
        self._worker()
        table = self._lesson.orders
        # A fault on a table that does not exist could not be armed: the worker's write then fails by itself.
        known = self._lesson.services.items(table) is not None
        return {"function": self._function, **({"resource": table} if known else {})}

    def _worker(self) -> None:
        if self._lesson.services.function(self._function) is None:
            raise self._no_worker()

    def _no_worker(self) -> NothingSent:
        return NothingSent(
            _("There is no function `{function}`.").format(function=self._function),
            _("This fault works on the worker of the lesson. It was deleted."),
            _("Run `lab.reset()`. Then run the cells of step 2 and step 3 again."),
        )
