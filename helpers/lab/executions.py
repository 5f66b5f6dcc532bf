"""State machines and their executions as a reader needs them: read back from Step Functions, as plain data.

`read_definition` turns a definition (Amazon States Language) into states and arrows, `story` a history of events
into the way that an execution took: which states, how many attempts, which errors.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from helpers.lab.language import _

ArrowKind = Literal["next", "choice", "default", "catch"]
AttemptOutcome = Literal["succeeded", "failed", "running"]
VisitOutcome = Literal["passed", "caught", "failed", "running", "waiting"]

_SHORTEN_AFTER = 110
_SHORTEN_ERRORS_AFTER = 260

_COMPARISONS = {"Equals": "=", "GreaterThanEquals": "≥", "LessThanEquals": "≤", "GreaterThan": ">", "LessThan": "<"}
_KINDS = ("String", "Numeric", "Boolean", "Timestamp")


@dataclass(frozen=True, slots=True)
class RetryRule:
    """One entry of a task's Retry; the values that it leaves out are those of the States Language."""

    errors: tuple[str, ...]
    most: int


@dataclass(frozen=True, slots=True)
class State:
    """One state of a definition. `ends`: the execution ends here."""

    name: str
    type: str
    retries: tuple[RetryRule, ...] = ()
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Arrow:
    """One way from a state to another. `label` is a condition or error names, empty for the usual way on."""

    source: str
    target: str
    kind: ArrowKind
    label: str = ""


@dataclass(frozen=True, slots=True)
class StateMachine:
    """A definition: its states in the order in which they are written, and the ways between them."""

    name: str
    start: str
    states: tuple[State, ...]
    arrows: tuple[Arrow, ...]

    def __getitem__(self, state: str) -> State:
        return next(one for one in self.states if one.name == state)

    def arrows_from(self, state: str) -> tuple[Arrow, ...]:
        return tuple(arrow for arrow in self.arrows if arrow.source == state)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt of a task. `result` is what it returned, `error` the error's name, `message` what the error said."""

    outcome: AttemptOutcome
    result: Any = None
    error: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Visit:
    """One stay in a state. *waiting*: the last attempt failed, and a retry is to come."""

    state: str
    type: str
    attempts: tuple[Attempt, ...]
    outcome: VisitOutcome
    error: str = ""

    @property
    def retries(self) -> int:
        return max(0, len(self.attempts) - 1)


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One event: `mark` says if something succeeded or failed, `detail` is an error or a value, cut short."""

    number: int
    event: str
    state: str
    mark: Literal["", "succeeded", "failed"]
    detail: str


@dataclass(frozen=True, slots=True)
class Execution:
    """One execution: the definition that it followed, its way, and its history."""

    name: str
    status: str
    machine: StateMachine
    visits: tuple[Visit, ...]
    rows: tuple[HistoryRow, ...]
    input: Any = None
    output: Any = None
    error: str = ""

    @property
    def path(self) -> tuple[Arrow, ...]:
        """The arrows that the execution took, in their order."""
        return tuple(_taken(self.machine, self.visits))

    def visit(self, state: str) -> Visit | None:
        """The last stay in a state."""
        return next((one for one in reversed(self.visits) if one.state == state), None)

    def attempts(self, state: str) -> tuple[Attempt, ...]:
        return tuple(attempt for visit in self.visits if visit.state == state for attempt in visit.attempts)


def read_definition(name: str, definition: str) -> StateMachine:
    """The states and arrows of a definition that Step Functions has accepted."""
    document = json.loads(definition)
    members: Mapping[str, Mapping[str, Any]] = document["States"]
    states = tuple(_state(key, member) for key, member in members.items())
    arrows = tuple(arrow for key, member in members.items() for arrow in _arrows(key, member))
    return StateMachine(name, document["StartAt"], states, arrows)


def story(
    name: str, machine: StateMachine, described: Mapping[str, Any], events: Sequence[Mapping[str, Any]]
) -> Execution:
    """An execution from the answers of DescribeExecution and GetExecutionHistory (in the order of the events)."""
    return Execution(
        name=name,
        status=described["status"],
        machine=machine,
        visits=tuple(_visits(machine, described, events)),
        rows=tuple(_rows(events)),
        input=_json(described.get("input")),
        output=_json(described.get("output")),
        error=described.get("error", ""),
    )


# --- the definition -----------------------------------------------------------------------------------------


def _state(name: str, member: Mapping[str, Any]) -> State:
    kind = member["Type"]
    # Amazon States Language, "Retrying After Error": three attempts where MaxAttempts is not given.
    rules = (RetryRule(tuple(rule["ErrorEquals"]), rule.get("MaxAttempts", 3)) for rule in member.get("Retry", ()))
    return State(name, kind, tuple(rules), bool(member.get("End")) or kind in {"Fail", "Succeed"})


def _arrows(name: str, member: Mapping[str, Any]) -> Iterator[Arrow]:
    if "Next" in member:
        yield Arrow(name, member["Next"], "next")
    for rule in member.get("Choices", ()):
        yield Arrow(name, rule["Next"], "choice", condition_of(rule))
    if "Default" in member:
        yield Arrow(name, member["Default"], "default")
    for rule in member.get("Catch", ()):
        yield Arrow(name, rule["Next"], "catch", ", ".join(rule["ErrorEquals"]))


def condition_of(rule: Mapping[str, Any]) -> str:
    """A rule of a choice in a short form: `quantity > 0`."""
    for word, sign in (("And", " ∧ "), ("Or", " ∨ ")):
        if word in rule:
            return sign.join(condition_of(part) for part in rule[word])
    if "Not" in rule:
        return f"¬ ({condition_of(rule['Not'])})"
    if "Condition" in rule:
        return str(rule["Condition"]).strip("{}% ")
    variable = str(rule.get("Variable", "")).removeprefix("$.")
    for key, value in rule.items():
        bare = key.removesuffix("Path")
        kind = next((one for one in _KINDS if bare.startswith(one)), None)
        if kind and bare.removeprefix(kind) in _COMPARISONS:
            shown = str(value).removeprefix("$.") if key.endswith("Path") else json.dumps(value, ensure_ascii=False)
            return f"{variable} {_COMPARISONS[bare.removeprefix(kind)]} {shown}"
        if key.startswith("Is") or key == "StringMatches":
            return f"{variable} {key} {json.dumps(value, ensure_ascii=False)}"
    return variable


# --- the history --------------------------------------------------------------------------------------------


def _visits(
    machine: StateMachine, described: Mapping[str, Any], events: Sequence[Mapping[str, Any]]
) -> Iterator[Visit]:
    known = {state.name for state in machine.states}
    name, kind = "", ""
    attempts: list[Attempt] = []
    for event in events:
        what = event["type"]
        details = _details(event)
        if what.endswith("StateEntered") and details.get("name") in known:
            if name:
                yield _left(name, kind, attempts, described)
            name, kind, attempts = details["name"], what.removesuffix("StateEntered"), []
        elif what.endswith("StateExited") and details.get("name") == name and name:
            failed = attempts and attempts[-1].outcome == "failed"
            error = attempts[-1].error if failed else ""
            yield Visit(name, kind, tuple(attempts), "caught" if failed else "passed", error)
            name = ""
        elif name and _is_schedule(what):
            attempts.append(Attempt("running"))
        elif name and attempts and (outcome := _outcome(what)):
            attempts[-1] = _ended(outcome, details)
    if name:
        yield _left(name, kind, attempts, described)


def _left(name: str, kind: str, attempts: Sequence[Attempt], described: Mapping[str, Any]) -> Visit:
    """A state that was entered and not left: it runs, or the execution ended there."""
    error = attempts[-1].error if attempts else str(described.get("error", ""))
    if described["status"] != "RUNNING":
        return Visit(name, kind, tuple(attempts), "passed" if kind == "Succeed" else "failed", error)
    waits = bool(attempts) and attempts[-1].outcome == "failed"
    return Visit(name, kind, tuple(attempts), "waiting" if waits else "running", error)


def _is_schedule(event: str) -> bool:
    return event.endswith("Scheduled")


def _outcome(event: str) -> Literal["succeeded", "failed"] | None:
    if event.startswith("Execution"):
        return None
    if event.endswith(("Failed", "TimedOut")):
        return "failed"
    return "succeeded" if event in {"TaskSucceeded", "LambdaFunctionSucceeded", "ActivitySucceeded"} else None


def _ended(outcome: Literal["succeeded", "failed"], details: Mapping[str, Any]) -> Attempt:
    if outcome == "failed":
        return Attempt("failed", error=details.get("error", ""), message=_message(details.get("cause", "")))
    return Attempt("succeeded", result=_payload(details.get("output")))


def _rows(events: Sequence[Mapping[str, Any]]) -> Iterator[HistoryRow]:
    state = ""
    for event in events:
        what, details = event["type"], _details(event)
        state = details.get("name", state) if what.endswith(("StateEntered", "StateExited")) else state
        if what.startswith("Execution"):
            state = ""
        mark: Literal["", "succeeded", "failed"] = ""
        if what.endswith(("Failed", "TimedOut", "Aborted")):
            mark = "failed"
        elif what.endswith("Succeeded"):
            mark = "succeeded"
        yield HistoryRow(event["id"], what, state, mark, _detail(details))


def _detail(details: Mapping[str, Any]) -> str:
    if "error" in details:
        message = _message(details.get("cause", ""))
        return short(f"{details['error']}: {message}" if message else details["error"], _SHORTEN_ERRORS_AFTER)
    for member in ("output", "input"):
        if member in details:
            value = _payload(details[member])
            return short(json.dumps(value, ensure_ascii=False))
    if "parameters" in details:
        parameters = _json(details["parameters"])
        value = parameters.get("Payload", parameters) if isinstance(parameters, dict) else parameters
        return short(json.dumps(value, ensure_ascii=False))
    return ""


def _details(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """The one member of an event that depends on its type."""
    return next((value for key, value in event.items() if key.endswith("EventDetails")), {})


def _payload(text: str | None) -> Any:
    """What a function returned. Status, headers and request ids beside it differ from run to run."""
    value = _json(text)
    return value["Payload"] if isinstance(value, dict) and {"Payload", "StatusCode"} <= set(value) else value


def _message(cause: str) -> str:
    """What an error said, without request ids, session names and traces."""
    value = _json(cause)
    text = value.get("errorMessage", "") if isinstance(value, dict) else str(value or "")
    text = re.sub(r"(:assumed-role/[^/\s]+/)\S+", r"\1…", str(text))
    return text.partition(" (Service:")[0].partition("RequestId:")[0].strip()


def _json(text: str | None) -> Any:
    try:
        return json.loads(text or "null")
    except ValueError:
        return text


def short(text: str, most: int = _SHORTEN_AFTER) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _taken(machine: StateMachine, visits: Sequence[Visit]) -> Iterator[Arrow]:
    for here, there in itertools.pairwise(visits):
        ways = [arrow for arrow in machine.arrows_from(here.state) if arrow.target == there.state]
        caught = [arrow for arrow in ways if arrow.kind == "catch"]
        found = caught if here.outcome == "caught" else [arrow for arrow in ways if arrow.kind != "catch"]
        yield from found[:1]


def in_words(outcome: VisitOutcome) -> str:
    """How a stay in a state ended, in the reader's language."""
    return {
        "passed": _("passed"),
        "caught": _("error caught"),
        "failed": _("failed"),
        "running": _("running"),
        "waiting": _("waits for a retry"),
    }[outcome]
