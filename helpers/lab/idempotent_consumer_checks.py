"""What the checks of the lesson *idempotent-consumer* look at: the live account and the journal, never the cells."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from helpers.lab.checks import Finding, Probe, not_attempted, not_yet, right
from helpers.lab.deployed_code import deployed_code
from helpers.lab.evidence import (
    Job,
    Order,
    Run,
    first_details,
    key_of,
    refused_by_condition,
    runs_for,
    total_cents,
)
from helpers.lab.failures import last_failure
from helpers.lab.idempotent_consumer import (
    BATCH_SIZE,
    DEAD_LETTER_QUEUE,
    FIRST_ORDER,
    FUNCTION,
    INDEPENDENT_ORDER,
    LOG_GROUP,
    MAX_RECEIVE_COUNT,
    PREFIX,
    QUEUE,
    VISIBILITY_TIMEOUT,
)
from helpers.lab.language import _, ngettext
from helpers.lab.queue_checks import QueueLook, listed

if TYPE_CHECKING:
    from helpers.lab.idempotent_consumer import IdempotentConsumer


class Look(QueueLook):
    """One look at the account of this lesson."""

    def __init__(self, lesson: IdempotentConsumer) -> None:
        super().__init__(lesson)
        self._lesson = lesson
        self._jobs = self._evidence.jobs(QUEUE)
        self._first = first_details(self._jobs)

    def probes(self, step: str) -> dict[str, Probe]:
        """The questions of a step's check by the ids of lesson.toml."""
        return {
            "connect": {
                "queue": self.queue,
                "mapping": self.mapping,
                "batch-size": self.batch_size,
                "enabled": self.enabled,
                "no-early-job": self.no_early_job,
            },
            "deploy": {
                "code": self.code,
                "condition": self.condition,
                "order": self.first_order,
                "drained": self.drained,
            },
            "repeat": {
                "runs": self.runs,
                "decisions": self.decisions,
                "results": self.results,
                "orders": self.orders,
                "drained": self.drained,
            },
            "break": {
                "redrive": self.redrive,
                "conflict": self.conflict,
                "crash": self.crash,
                "slow": self.slow,
            },
            "clean-up": {
                "mapping": self.no_mapping,
                "queues": self.no_queues,
                "orders": self.no_orders,
                "log-group": self.no_log_group,
                "kept": self.kept,
                "reference": self.reference,
            },
        }[step]

    # --- connect --------------------------------------------------------------------------------------

    def queue(self) -> Finding:
        attributes = self._services.queue_attributes(QUEUE)
        if attributes is None:
            others = [name for name in self._services.queue_names(PREFIX) if name != DEAD_LETTER_QUEUE]
            if f"{QUEUE}.fifo" in others:
                return not_yet(
                    _("`{queue}` is a FIFO queue. The lesson needs a standard queue.").format(queue=f"{QUEUE}.fifo")
                )
            if others:
                return not_yet(
                    _("There is a queue `{found}`, but no queue `{wanted}`.").format(found=others[0], wanted=QUEUE)
                )
            return not_attempted()
        timeout = attributes["VisibilityTimeout"]
        if timeout != str(VISIBILITY_TIMEOUT):
            return not_yet(
                _("The visibility timeout is {found} seconds, not {wanted}.").format(
                    found=timeout, wanted=VISIBILITY_TIMEOUT
                )
            )
        return right()

    def batch_size(self) -> Finding:
        mapping = self._mapping()
        if isinstance(mapping, Finding):
            return not_attempted()
        if mapping["BatchSize"] != BATCH_SIZE:
            return not_yet(
                _("The batch size is {found}, not {wanted}.").format(found=mapping["BatchSize"], wanted=BATCH_SIZE)
            )
        return right()

    def no_early_job(self) -> Finding:
        if not self._jobs and self._services.queue_url(QUEUE) is None:
            return not_attempted()
        # The deployment of the provided code may be recorded a moment after the lesson began.
        provided = self._lesson.provided_code
        deployed = [one for one in self._evidence.deployments(FUNCTION) if one.code_sha256 != provided]
        early = [job for job in self._jobs if not deployed or job.number < deployed[0].number]
        if early:
            return not_yet(
                ngettext(
                    "{count} job was sent before you deployed the guard.",
                    "{count} jobs were sent before you deployed the guard.",
                    len(early),
                ).format(count=len(early))
            )
        return right()

    # --- deploy ---------------------------------------------------------------------------------------

    def code(self) -> Finding:
        return deployed_code(self._services, FUNCTION, self._lesson.provided_code, self._lesson.folder)

    def condition(self) -> Finding:
        missing = self._no_first_job() or self._foreign_key()
        if missing:
            return missing
        accepted = [d for d in self._decisions if key_of(d) == FIRST_ORDER and d.accepted]
        if not accepted:
            return not_yet(self._no_write(FIRST_ORDER))
        if accepted[-1].condition is None:
            return not_yet(
                _("The write of `{order}` was accepted without a condition: it writes again at each delivery.").format(
                    order=FIRST_ORDER
                )
                + self._keeps_old_write(FIRST_ORDER)
            )
        return right(_("The condition was `{condition}`.").format(condition=accepted[-1].condition))

    def first_order(self) -> Finding:
        missing = self._no_first_job()
        if missing:
            return missing
        stored = {one.id: one for one in self._lesson.stored_orders()}
        if FIRST_ORDER not in stored:
            return self._foreign_key() or not_yet(self._no_write(FIRST_ORDER))
        return self._differs(stored[FIRST_ORDER]) or right()

    def drained(self) -> Finding:
        attributes = self._services.queue_attributes(QUEUE)
        if attributes is None or not self._jobs:
            return not_attempted()
        visible = int(attributes["ApproximateNumberOfMessages"])
        in_flight = int(attributes["ApproximateNumberOfMessagesNotVisible"])
        delayed = int(attributes["ApproximateNumberOfMessagesDelayed"])
        if not visible + in_flight + delayed:
            return right()
        counts = _("Visible: {visible}. In flight: {in_flight}. Delayed: {delayed}.").format(
            visible=visible, in_flight=in_flight, delayed=delayed
        )
        mapping = self._mapping()
        if visible and isinstance(mapping, Finding):
            return not_yet(counts + " " + _("No mapping delivers the messages of this queue."))
        if visible and not isinstance(mapping, Finding) and mapping["State"] == "Disabled":
            return not_yet(counts + " " + _("The mapping is disabled, so nothing is delivered."))
        failure = last_failure(self._runs)
        return not_yet(f"{counts} {failure}" if failure else counts)

    def _no_first_job(self) -> Finding | None:
        """What is to be said when the job of step 3 was not sent, or None."""
        if not self._jobs:
            return not_attempted()
        order = self._first_order()
        if order is None:
            return not_yet(self._no_valid_job())
        return None if order == FIRST_ORDER else not_yet(self._no_write(FIRST_ORDER))

    def _first_order(self) -> str | None:
        """The order of step 3; as long as no job names it, the first one that a job names."""
        return FIRST_ORDER if FIRST_ORDER in self._first else next(iter(self._first), None)

    def _no_valid_job(self) -> str:
        body = self._jobs[-1].body.replace("`", "'")[:80]
        return _("No message holds a job with exactly `id` and `quantity`. The last body was `{body}`.").format(
            body=body
        )

    def _no_write(self, order: str) -> str:
        """Why there is no accepted write for an order."""
        runs = runs_for(order, self._jobs, self._runs)
        failure = last_failure(runs)
        if failure:
            return failure
        if not runs:
            return _("No run has handled a job for `{order}` so far.").format(order=order)
        return _("The runs for `{order}` ended without an accepted write.").format(order=order)

    def _keeps_old_write(self, order: str) -> str:
        """A sentence for those who repaired the handler: the write of the earlier code is still there."""
        last = [d for d in self._decisions if key_of(d) == order][-1]
        if not refused_by_condition(last):
            return ""
        return " " + _("Your new code has a guard. Delete the item `{order}`, then send the job again.").format(
            order=order
        )

    def _foreign_key(self) -> Finding | None:
        """Whether the worker uses the message id as key."""
        messages = {job.message_id for job in self._jobs}
        if any(key_of(d) in messages for d in self._decisions if d.accepted):
            return not_yet(
                _(
                    "The key of the item is the message id. Another copy of the job has another "
                    "message id: use the order id."
                )
            )
        return None

    def _differs(self, stored: Order) -> Finding | None:
        wanted = self._first[stored.id].quantity
        assert wanted is not None
        if stored.quantity != wanted:
            return not_yet(
                _("`{order}` has the quantity {found}. Its first job said {wanted}.").format(
                    order=stored.id, found=_number(stored.quantity), wanted=wanted
                )
            )
        if stored.total_cents != total_cents(wanted):
            return not_yet(
                _("`{order}` has the total {found}, not {wanted}.").format(
                    order=stored.id, found=_number(stored.total_cents), wanted=total_cents(wanted)
                )
            )
        return None

    # --- repeat ---------------------------------------------------------------------------------------

    def runs(self) -> Finding:
        order = self._first_order()
        copies = sum(job.order == order for job in self._jobs) if order else 0
        if order is None or (copies < 2 and len(self._first) < 2):
            return not_attempted()
        wanted = self._lesson.parameters.duplicates + 1
        if copies < wanted:
            return not_yet(
                _("Copies of the job for `{order}` that were sent: {found} of {wanted}.").format(
                    order=order, found=copies, wanted=wanted
                )
            )
        if len(self._first) < 2:
            return not_yet(_("The independent order is missing: send `{order}`.").format(order=INDEPENDENT_ORDER))
        handled = {message for run in self._runs if run.ended for message in run.message_ids}
        waiting = sum(job.message_id not in handled for job in self._jobs)
        if waiting:
            return not_yet(
                ngettext(
                    "{count} message has no finished run yet.",
                    "{count} messages have no finished run yet.",
                    waiting,
                ).format(count=waiting)
            )
        sent = ngettext("{count} message", "{count} messages", len(self._jobs)).format(count=len(self._jobs))
        ran = ngettext("{count} run", "{count} runs", len(self._runs)).format(count=len(self._runs))
        return right(f"{sent}, {ran}.")

    def decisions(self) -> Finding:
        if not self._repeated():
            return not_attempted()
        foreign = self._foreign_key()
        if foreign:
            return foreign
        for order in self._first:
            finding = self._decisions_for(order)
            if finding:
                return finding
        return right(
            _("Accepted: {accepted}. Refused: {refused}.").format(
                accepted=sum(d.accepted for d in self._decisions),
                refused=sum(refused_by_condition(d) for d in self._decisions),
            )
        )

    def _decisions_for(self, order: str) -> Finding | None:
        decisions = [d for d in self._decisions if key_of(d) == order]
        accepted = [d for d in decisions if d.accepted]
        if not accepted:
            return not_yet(self._no_write(order))
        if len(accepted) > 1:
            overwritten = len(accepted) - 1
            return not_yet(
                ngettext(
                    "`{order}` was overwritten {count} time: a repeated write was accepted.",
                    "`{order}` was overwritten {count} times: the repeated writes were accepted.",
                    overwritten,
                ).format(order=order, count=overwritten)
            )
        if accepted[0].condition is None:
            return not_yet(_("The write of `{order}` was accepted without a condition.").format(order=order))
        silent = [
            run
            for run in runs_for(order, self._jobs, self._runs)
            if run.outcome == "succeeded" and not any(d.caller.request_id == run.request_id for d in decisions)
        ]
        if silent:
            return not_yet(
                _(
                    "A run for `{order}` ended without any write. A read before the write is not a guard: it races."
                ).format(order=order)
            )
        return None

    def results(self) -> Finding:
        if not self._repeated():
            return not_attempted()
        # An accepted write over a stored order is an overwrite: that job was a duplicate, whatever its run says.
        created = {d.caller.request_id for d in self._decisions if d.accepted and d.before is None}
        finished = 0
        for job in self._jobs:
            if job.order is None:
                continue
            conflict = job.quantity != self._first[job.order].quantity
            runs = [run for run in self._runs if job.message_id in run.message_ids and run.ended]
            for run in runs:
                finished += run.outcome == "succeeded"
                finding = _result_of(run, job, conflict, run.request_id in created)
                if finding:
                    return finding
            if not conflict and runs and not any(run.outcome == "succeeded" for run in runs):
                return not_yet(last_failure(runs))
        lines = self._services.log_lines(LOG_GROUP, "RESULT")
        if lines is None or len(lines) < finished:
            return not_yet(
                _("Lines with `RESULT` in the log: {found}. Runs that succeeded: {wanted}.").format(
                    found=len(lines or ()), wanted=finished
                )
            )
        return right()

    def orders(self) -> Finding:
        if not self._repeated():
            return not_attempted()
        stored = {one.id: one for one in self._lesson.stored_orders()}
        foreign = self._foreign_key()
        if foreign:
            return foreign
        unknown = sorted(set(stored) - set(self._first))
        if unknown:
            return not_yet(_("The table holds {orders}, which no job asked for.").format(orders=listed(unknown)))
        for order in self._first:
            if order not in stored:
                return not_yet(self._gone(order))
            finding = self._differs(stored[order])
            if finding:
                return finding
        return right()

    def _repeated(self) -> bool:
        return bool(self._first) and (len(self._first) > 1 or len([job for job in self._jobs if job.order]) > 1)

    def _gone(self, order: str) -> str:
        written = any(d.accepted for d in self._decisions if key_of(d) == order)
        if written:
            return _("`{order}` was written, but it is not in the table any more.").format(order=order)
        return self._no_write(order)

    # --- break ----------------------------------------------------------------------------------------

    def redrive(self) -> Finding:
        attributes = self._services.queue_attributes(QUEUE)
        dead_lettered = self._evidence.dead_lettered(QUEUE)
        if attributes is None:
            return right() if dead_lettered else not_attempted()
        if "RedrivePolicy" not in attributes:
            return not_attempted()
        policy = json.loads(attributes["RedrivePolicy"])
        target = str(policy.get("deadLetterTargetArn", "")).rpartition(":")[2]
        count = int(policy.get("maxReceiveCount", 0))
        if target != DEAD_LETTER_QUEUE:
            return not_yet(_("The redrive policy names the queue `{queue}`.").format(queue=target))
        if self._services.queue_url(DEAD_LETTER_QUEUE) is None:
            return not_yet(_("The queue `{queue}` does not exist.").format(queue=DEAD_LETTER_QUEUE))
        if count != MAX_RECEIVE_COUNT:
            return not_yet(
                _("`maxReceiveCount` is {found}, not {wanted}.").format(found=count, wanted=MAX_RECEIVE_COUNT)
            )
        return right()

    def conflict(self) -> Finding:
        conflicts = [job for job in self._jobs if job.order and job.quantity != self._first[job.order].quantity]
        if not conflicts:
            return not_attempted()
        dead = {event.message_id for event in self._evidence.dead_lettered(QUEUE)}
        stored = {one.id: one for one in self._lesson.stored_orders()}
        for job in conflicts:
            order = job.order or ""
            runs = [run for run in self._runs if job.message_id in run.message_ids]
            if any(run.outcome == "succeeded" for run in runs):
                return not_yet(
                    _(
                        "A run for `{order}` with other details succeeded, so its message was acknowledged silently."
                    ).format(order=order)
                )
            changed = self._differs(stored[order]) if order in stored else None
            if changed:
                return changed
            if job.message_id not in dead:
                received = sum(event.message_id == job.message_id for event in self._evidence.received(QUEUE))
                return not_yet(
                    _("Receives of the job so far: {found} of {wanted}.").format(
                        found=received, wanted=MAX_RECEIVE_COUNT
                    )
                )
        return right()

    def crash(self) -> Finding:
        killed = [run for run in self._runs if run.outcome == "crash"]
        if not killed:
            return not_attempted()
        finding = not_yet("")
        for run in killed:
            finding = self._after_crash(run)
            if finding.outcome == "right":
                break
        return finding

    def _after_crash(self, killed: Run) -> Finding:
        if not any(d.accepted and d.caller.request_id == killed.request_id for d in self._decisions):
            return not_yet(
                _("The run was killed, but its write was not accepted. Send an order that is not stored yet.")
            )
        later = [run for run in self._runs if run.number > killed.number and run.message_ids & killed.message_ids]
        if not later:
            return not_yet(_("The message is hidden. Nothing has handled it a second time so far."))
        if not any(_is_duplicate(run) for run in later):
            return not_yet(last_failure(later) or _("The later run did not report a duplicate."))
        return right()

    def slow(self) -> Finding:
        finding = not_attempted()
        for first in self._runs:
            for second in self._runs:
                overlap = first.number < second.number < (first.ended or second.number + 1)
                if not overlap or not first.message_ids & second.message_ids:
                    continue
                finding = self._after_overlap(first, second)
                if finding.outcome == "right":
                    return finding
        return finding

    def _after_overlap(self, first: Run, second: Run) -> Finding:
        if not (first.ended and second.ended):
            return not_yet(_("A run is still under way."))
        pair = {first.request_id, second.request_id}
        accepted = sum(d.accepted for d in self._decisions if d.caller.request_id in pair)
        if accepted != 1:
            return not_yet(_("Accepted writes of the two runs: {count}. Expected: 1.").format(count=accepted))
        return right()


def _result_of(run: Run, job: Job, conflict: bool, created: bool) -> Finding | None:
    """What is wrong with the result of one run, or None."""
    if run.outcome == "succeeded":
        if conflict:
            return not_yet(
                _("A run for `{order}` with other details succeeded, so its message was acknowledged silently.").format(
                    order=job.order
                )
            )
        wanted = {"processed": created, "duplicate": not created}
        result = run.result if isinstance(run.result, dict) else {}
        if any(result.get(name) is not value for name, value in wanted.items()):
            return not_yet(
                _("A run for `{order}` returned `{found}`. Expected in it: `{wanted}`.").format(
                    order=job.order, found=_json(run.result), wanted=_json(wanted)
                )
            )
    elif run.error_type == "ConditionalCheckFailedException" and not conflict:
        return not_yet(
            _(
                "A repeated job for `{order}` failed with `{error}`. The stored order is equal, so this is a success."
            ).format(order=job.order, error=run.error_type)
        )
    return None


def _is_duplicate(run: Run) -> bool:
    return run.outcome == "succeeded" and isinstance(run.result, dict) and run.result.get("duplicate") is True


def _number(value: int | None) -> str:
    return "?" if value is None else str(value)


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str).replace("`", "'")[:120]
