"""What a learner can break in the lesson *order-file*."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from helpers.lab.errors import NothingSent
from helpers.lab.evidence import key_of
from helpers.lab.faults import FaultNotice, LabFaults
from helpers.lab.language import _
from helpers.lab.order_file import BUCKET, FOLDER, order_of_key, read_event, runs_for_order, uploads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helpers.lab.presets import Script


class OrderFileFaults(LabFaults):
    """The faults of this lesson."""

    offered: ClassVar[tuple[str, ...]] = (
        "upload_again",
        "send_twice",
        "broken_message",
        "crash_before_write",
        "slow_worker",
        "crash_after_write",
        "clear",
    )
    """Few and clear: the lesson is for beginners."""

    opened: ClassVar[frozenset[str]] = frozenset({"in-bucket", "in-queue", "before-write", "after-write"})

    def upload_again(self) -> FaultNotice:
        """Put the last good file into the bucket again: S3 sends another event. Raises NothingSent.

        A file is good when its order was stored; when there is none, it is the last file.
        """
        keys = [str(call.parameters["Key"]) for call in uploads(self._lesson.evidence())]
        done = [key for key in keys if order_of_key(key) in self._once_stored()] or keys
        s3 = self._lesson.services.client("s3")
        names = {bucket["Name"] for bucket in s3.list_buckets()["Buckets"]}
        if not done or BUCKET not in names:
            raise self._nothing_uploaded()
        key = done[-1]
        found = [one for one in s3.list_objects_v2(Bucket=BUCKET, Prefix=key).get("Contents", ()) if one["Key"] == key]
        if not found:
            raise self._nothing_uploaded()
        body = s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()
        s3.put_object(Bucket=BUCKET, Key=key, Body=body)
        return FaultNotice(
            "upload-again",
            _("The file `{key}` was uploaded again. S3 sends a new message for it.").format(key=key.replace("`", "'")),
        )

    def send_twice(self) -> FaultNotice:
        """Send the last message of S3 about a good file once more. Raises NothingSent."""
        about = [(job, read_event(job.body)[1]) for job in self._jobs()]
        once_stored = self._once_stored()
        events = [job for job, keys in about if keys and {order_of_key(key) for key in keys} <= once_stored]
        events = events or [job for job, keys in about if keys]
        if not events:
            raise self._nothing_sent()
        self._lesson.services.send(self._queue, events[-1].body)
        return FaultNotice("send-twice", _("The last message of S3 was sent again. It is about the same file."))

    def broken_message(self) -> FaultNotice:
        """Send a message that is not JSON, so that the worker cannot read it. Raises NothingSent without a queue."""
        self._queue_url()
        self._cloud.faults.send_poison(self._queue)
        text = _("A message that is not JSON was sent. The worker cannot read it.")
        return FaultNotice("broken-message", text + self._where_it_ends())

    # --- for demonstrations ---------------------------------------------------------------------------

    def upload(self, order: str, quantity: int) -> None:
        """Upload the file of an order, as a customer does. Raises NothingSent when there is no bucket."""
        s3 = self._lesson.services.client("s3")
        if BUCKET not in {bucket["Name"] for bucket in s3.list_buckets()["Buckets"]}:
            raise self._nothing_uploaded()
        s3.put_object(Bucket=BUCKET, Key=f"{FOLDER}/{order}", Body=json.dumps({"id": order, "quantity": quantity}))

    def fresh_order(self, base: str) -> str:
        known = {str(order_of_key(str(call.parameters["Key"]))) for call in uploads(self._lesson.evidence())}
        return self._orders.fresh(base, known, "{base}/{number}")

    def runs_of(self, order: str) -> int:
        evidence = self._lesson.evidence()
        return len(runs_for_order(order, self._jobs(), evidence.runs(self._function)))

    def _scripts(self) -> Sequence[Script]:
        from helpers.lab.order_file_presets import scripts

        return scripts(self)

    # --- for Lab and papermill ------------------------------------------------------------------------

    def apply(self, name: str) -> FaultNotice | None:
        self._lesson.choose({"fault": name})
        if name == "upload-again":
            return self.upload_again()
        if name == "send-twice":
            return self.send_twice()
        if name == "broken-message":
            return self.broken_message()
        return self.slow_worker() if name == "slow-worker" else None

    def _once_stored(self) -> set[str | None]:
        """The ids of the orders that were stored, even if they were deleted later."""
        decisions = self._lesson.decisions(self._lesson.evidence())
        return {key_of(decision) for decision in decisions if decision.accepted}

    def _where_it_ends(self) -> str:
        attributes = self._lesson.services.queue_attributes(self._queue) or {}
        if "RedrivePolicy" in attributes:
            return ""
        return " " + _("`{queue}` has no dead-letter queue, so the message comes back again and again.").format(
            queue=self._queue
        )

    def _no_queue(self) -> NothingSent:
        return NothingSent(
            _("There is no queue `{queue}`.").format(queue=self._queue),
            _("This fault works on the queue of the lesson. It was not created yet, or it was deleted."),
            _("Run the cells from the top up to this one."),
        )

    def _no_worker(self) -> NothingSent:
        return NothingSent(
            _("There is no function `{function}`.").format(function=self._function),
            _("This fault works on the worker of the lesson. It was deleted."),
            _("Run `lab.reset()`. Then run the cells from the top."),
        )

    def _nothing_sent(self) -> NothingSent:
        return NothingSent(
            _("S3 has sent no message about a file so far."),
            _("This fault sends a message again, so it needs one that was sent before."),
            _("Run the cells from the top up to this one."),
        )

    def _nothing_uploaded(self) -> NothingSent:
        return NothingSent(
            _("There is no uploaded file in the bucket `{bucket}`.").format(bucket=BUCKET),
            _("This fault uploads the last file again, so it needs one."),
            _("Run the cells from the top up to this one."),
        )
