"""The steps of a history and the properties, told in the reader's language."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from helpers.lab.history import Step
from helpers.lab.language import _


def tell(steps: Iterable[Step]) -> tuple[str, ...]:
    """One sentence for each step, with `code` marks as in Markdown."""
    return tuple(_SENTENCES[step.kind](step) for step in steps)


def worker(run: int) -> str:
    """The name of a run: A for the first, B for the second, … and its number when there are no letters left."""
    return chr(ord("A") + run - 1) if 1 <= run <= 26 else str(run)


def sentence_of(name: str) -> str:
    """What a property says."""
    return {
        "charged-once": _("Each order is charged at most once."),
        "stored-first": _("No message is acknowledged before its order is stored with its details."),
        "nothing-lost": _("No message is lost."),
        "unchanged": _("A stored order never changes."),
        "first-details": _("Once an order is stored, no other details are stored for it, under any key."),
        "failure-returns": _("A failed run acknowledges nothing."),
    }[name]


def short_name_of(name: str) -> str:
    """A property as the head of a column."""
    return {
        "charged-once": _("Charged once"),
        "stored-first": _("Stored first"),
        "nothing-lost": _("Nothing lost"),
        "unchanged": _("Unchanged"),
        "first-details": _("First details"),
        "failure-returns": _("No silent failure"),
    }[name]


def outcome_of(outcome: str) -> str:
    """An outcome in a word, with a sign."""
    return {"holds": _("✓ kept"), "broken": _("✗ broken"), "cannot-tell": "? " + _("cannot tell")}[outcome]


def _sent(step: Step) -> str:
    if step.order is None:
        return _("Message {message} is sent. Its body is not a valid job.").format(message=step.message)
    sentence = _("Message {message} is sent: order `{order}`, quantity {quantity}.")
    return sentence.format(message=step.message, order=step.order, quantity=step.quantity)


def _received(step: Step) -> str:
    about = {"message": step.message, "delivery": step.delivery, "worker": worker(step.run)}
    if not step.run:
        return _("Message {message} is received: delivery {delivery}.").format(**about)
    return _("Worker {worker} receives message {message}, delivery {delivery}.").format(**about)


def _read(step: Step) -> str:
    if step.known is None:
        return _("Worker {worker} reads the table.").format(worker=worker(step.run))
    found = _("Worker {worker} reads the table: the order is there.")
    absent = _("Worker {worker} reads the table: the order is not there.")
    return (found if step.known else absent).format(worker=worker(step.run))


def _stored(step: Step) -> str:
    if not step.valid:
        sentence = _("Worker {worker} stores an order for message {message}, which is not a valid job.")
    elif step.changed and step.before != step.quantity:
        sentence = _("Worker {worker} overwrites the order `{order}`: its quantity was {before} and is now {quantity}.")
    elif step.changed:
        sentence = _("Worker {worker} changes the order `{order}`. Its quantity is still {quantity}.")
    elif step.known:
        sentence = _(
            "Worker {worker} stores the order `{order}` with the quantity {quantity} again, over the one that is there."
        )
    else:
        sentence = _("Worker {worker} stores the order `{order}` with the quantity {quantity}.")
    return sentence.format(
        worker=worker(step.run),
        message=step.message,
        order=step.order,
        quantity=step.quantity,
        before=step.before,
    )


def _written(step: Step) -> str:
    if step.changed:
        return _("Worker {worker} removes the order `{order}` or its details.").format(
            worker=worker(step.run), order=step.order
        )
    return _("Worker {worker} writes an item that is no order.").format(worker=worker(step.run))


def _refused(step: Step) -> str:
    return _("Worker {worker} tries to store the order `{order}`. DynamoDB refuses the write.").format(
        worker=worker(step.run), order=step.order
    )


def _acknowledged(step: Step) -> str:
    if step.order is None:
        return _("Message {message} is acknowledged. Its body is not a valid job.").format(message=step.message)
    return _("Message {message} is acknowledged: order `{order}`, quantity {quantity}.").format(
        message=step.message, order=step.order, quantity=step.quantity
    )


def _returned(step: Step) -> str:
    return _("Message {message} stays in the queue: it was not acknowledged.").format(message=step.message)


def _dead_lettered(step: Step) -> str:
    return _("Message {message} is moved to the dead-letter queue.").format(message=step.message)


def _failed(step: Step) -> str:
    return _("The run of worker {worker} fails.").format(worker=worker(step.run))


def _timed_out(step: Step) -> str:
    return _("The run of worker {worker} is stopped: its time is over.").format(worker=worker(step.run))


def _crashed(step: Step) -> str:
    return _("Worker {worker} crashes.").format(worker=worker(step.run))


def _removed(step: Step) -> str:
    return _("The queue is deleted or emptied while a message is in it.")


_SENTENCES: dict[str, Callable[[Step], str]] = {
    "sent": _sent,
    "received": _received,
    "read": _read,
    "stored": _stored,
    "written": _written,
    "refused": _refused,
    "acknowledged": _acknowledged,
    "returned": _returned,
    "dead-lettered": _dead_lettered,
    "failed": _failed,
    "timeout": _timed_out,
    "crash": _crashed,
    "removed": _removed,
}
