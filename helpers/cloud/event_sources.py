"""Event source mappings: their control plane, in place of moto's.

moto must not know of a mapping: it would deliver inside SendMessage. The routes here keep the mappings and
answer as Lambda does; `poller.Poller` delivers. Codes and sentences are recorded answers of AWS and those of
the Lambda API Reference. Only queues are emulated as sources.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from collections.abc import Mapping as Members
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from moto.moto_api._internal import mock_random

from . import event_filter, permissions, sqs_queue
from .exchange import Exchange
from .mapping import REPORT, TRANSITIONS, Mapping, Settings, find_function, function_arn
from .poller import Lane, Poller
from .responses import Refused, Response
from .work import Busy

if TYPE_CHECKING:
    from .account import Cloud

DEFAULT_BATCH_SIZE = 10

# Seconds that a call waits for a transition that the call before it began. AWS refuses at once with
# ResourceInUseException; here a transition lasts milliseconds, and a call should not depend on them.
_PATIENCE = 2.0

_NOT_FOUND = "The resource you requested does not exist."

# Members of the request that belong to other kinds of sources.
_FOREIGN = (
    "AmazonManagedKafkaEventSourceConfig",
    "BisectBatchOnFunctionError",
    "DestinationConfig",
    "DocumentDBEventSourceConfig",
    "MaximumRecordAgeInSeconds",
    "MaximumRetryAttempts",
    "ParallelizationFactor",
    "Queues",
    "SelfManagedEventSource",
    "SelfManagedKafkaEventSourceConfig",
    "SourceAccessConfigurations",
    "Topics",
    "TumblingWindowInSeconds",
)
_NOT_EMULATED = ("KMSKeyArn", "ProvisionedPollerConfig", "LoggingConfig")

# Inclusive limits of the API's shapes, by the path that AWS's sentence names.
_LIMITS = {
    "batchSize": (1, 10_000),
    "maximumBatchingWindowInSeconds": (0, 300),
    "scalingConfig.maximumConcurrency": (2, 1000),
}
_PARAMETER = "InvalidParameterValueException"


class EventSources:
    """The mappings of an account (see the module's text). They deliver until `close`."""

    def __init__(self, account: Cloud) -> None:
        self._boundary = account.boundary
        self._clock = account.clock
        self._poller = Poller(
            account.boundary, account.journal, account.clock, account.runtime, account.faults.loses_acknowledgement
        )
        for action, answer in (
            ("CreateEventSourceMapping", self._create),
            ("GetEventSourceMapping", self._get),
            ("ListEventSourceMappings", self._list),
            ("UpdateEventSourceMapping", self._update),
            ("DeleteEventSourceMapping", self._delete),
        ):
            self._boundary.route("lambda", action, _refusing(answer))

    def close(self) -> None:
        """Deliver nothing more. May be called again."""
        self._poller.close()

    def look(self) -> None:
        """Say that a queue got a message without a call to SQS."""
        self._poller.look()

    def mappings(self) -> list[dict[str, Any]]:
        """All mappings, each as GetEventSourceMapping describes it."""
        with self._boundary.lock:
            return [lane.mapping.configuration() for lane in self._lanes()]

    def busy(self) -> list[Busy]:
        """Batches under way or gathered, messages that a mapping is about to take, mappings in transition.

        A message that is hidden or delayed, or waits behind a hidden one of its group, is at rest.
        """
        busy: list[Busy] = []
        with self._boundary.lock:
            for lane in self._lanes():
                mapping = lane.mapping
                if mapping.state in TRANSITIONS or lane.running:
                    busy.append(Busy("mapping", mapping.uuid, max(1, lane.running)))
                waiting = self._poller.waiting(lane) + self._poller.gathered(lane)
                if waiting:
                    busy.append(Busy("queue", mapping.queue, waiting))
        return busy

    def _create(self, exchange: Exchange) -> Response:
        asked = exchange.parameters
        source = str(asked.get("EventSourceArn") or "")
        arn = function_arn(str(asked.get("FunctionName") or ""))
        self._wait_until(lambda: not any(lane.mapping.state == "Deleting" for lane in self._same(source, arn)))
        with self._boundary.lock:
            _check_source(asked, source)
            fresh = Settings("", DEFAULT_BATCH_SIZE, 0)
            settings = _with_changes(asked, fresh, source.endswith(".fifo"))
            _check_usable(settings, source)
            self._check_free(settings, source, "")
            enabled = asked.get("Enabled") is not False
            mapping = Mapping(
                uuid=str(mock_random.uuid4()),
                queue_arn=source,
                settings=settings,
                enabled=enabled,
                state="Creating" if enabled else "Disabled",
                last_modified=self._now(),
            )
            self._poller.lanes[mapping.uuid] = Lane(mapping)
            return self._changed(mapping)

    def _get(self, exchange: Exchange) -> Response:
        with self._boundary.lock:
            return _answer(self._lane(exchange).mapping.configuration())

    def _list(self, exchange: Exchange) -> Response:
        asked = exchange.parameters
        source, function = asked.get("EventSourceArn"), asked.get("FunctionName")
        with self._boundary.lock:
            found = [lane.mapping for lane in self._lanes()]
        if source:
            found = [mapping for mapping in found if mapping.queue_arn == source]
        if function:
            found = [mapping for mapping in found if _is_of(mapping, function_arn(str(function)))]
        start, wanted = _page(asked)
        shown = [mapping.configuration() for mapping in found[start : start + wanted]]
        answer: dict[str, Any] = {"EventSourceMappings": shown}
        if start + wanted < len(found):
            answer["NextMarker"] = str(start + wanted)
        return _answer(answer)

    def _update(self, exchange: Exchange) -> Response:
        self._wait_until(lambda: self._lane(exchange).mapping.state not in TRANSITIONS)
        asked = exchange.parameters
        with self._boundary.lock:
            mapping = self._lane(exchange).mapping
            if mapping.state in TRANSITIONS:
                raise _in_use("update")
            settings = _with_changes(asked, mapping.settings, mapping.fifo)
            enabled = mapping.enabled if asked.get("Enabled") is None else bool(asked["Enabled"])
            if enabled or settings != mapping.settings:
                # Switching off must stay possible when the queue or the function is gone.
                _check_usable(settings, mapping.queue_arn)
            self._check_free(settings, mapping.queue_arn, mapping.uuid)
            mapping.state = "Updating" if enabled == mapping.enabled else "Enabling" if enabled else "Disabling"
            mapping.settings, mapping.enabled, mapping.last_modified = settings, enabled, self._now()
            return self._changed(mapping)

    def _delete(self, exchange: Exchange) -> Response:
        self._wait_until(lambda: self._lane(exchange).mapping.state not in {"Creating", "Enabling", "Updating"})
        with self._boundary.lock:
            mapping = self._lane(exchange).mapping
            if mapping.state in TRANSITIONS - {"Disabling"}:
                raise _in_use("delete")
            mapping.state, mapping.last_modified = "Deleting", self._now()
            return self._changed(mapping)

    def _lanes(self) -> list[Lane]:
        return list(self._poller.lanes.values())

    def _lane(self, exchange: Exchange) -> Lane:
        lane = self._poller.lanes.get(str(exchange.parameters.get("UUID", "")))
        if lane is None:
            raise Refused("ResourceNotFoundException", _NOT_FOUND, 404)
        return lane

    def _same(self, source: str, arn: str) -> list[Lane]:
        """The mappings from a queue to a function."""
        lanes = self._lanes()
        return [
            each for each in lanes if each.mapping.queue_arn == source and each.mapping.settings.function_arn == arn
        ]

    def _wait_until(self, done: Callable[[], bool]) -> None:
        """Give a transition that is under way a moment to end. Call it without the lock."""
        end = time.monotonic() + _PATIENCE
        while True:
            seen = self._boundary.changed.count
            with self._boundary.lock:
                if done():
                    return
            left = end - time.monotonic()
            if left <= 0:
                return
            self._boundary.changed.wait(seen, left)

    def _check_free(self, settings: Settings, source: str, uuid: str) -> None:
        for lane in self._same(source, settings.function_arn):
            if lane.mapping.uuid == uuid:
                continue
            name = settings.function.partition(":")[0]
            raise Refused(
                "ResourceConflictException",
                f'An event source mapping with SQS arn (" {source} ") and function (" {name} ") already '
                f"exists. Please update or delete the existing mapping with UUID {lane.mapping.uuid}",
                409,
            )

    def _changed(self, mapping: Mapping) -> Response:
        answer = _answer(mapping.configuration(), 202)
        self._poller.look()
        return answer

    def _now(self) -> float:
        return round(self._clock.now(), 3)


def _refusing(answer: Callable[[Exchange], Response]) -> Callable[[Exchange], Response]:
    def route(exchange: Exchange) -> Response:
        try:
            return answer(exchange)
        except Refused as refused:
            return refused.answer(exchange)

    return route


def _in_use(what: str) -> Refused:
    return Refused("ResourceInUseException", f"Cannot {what} the event source mapping because it is in use.")


def _answer(members: Members[str, Any], status: int = 200) -> Response:
    return Response(status, json.dumps(members).encode(), {"Content-Type": "application/json"})


def _is_of(mapping: Mapping, arn: str) -> bool:
    known = mapping.settings.function_arn
    return known == arn or (arn.count(":") == 6 and known.startswith(arn + ":"))


def _page(asked: Members[str, Any]) -> tuple[int, int]:
    marker, wanted = str(asked.get("Marker") or "0"), str(asked.get("MaxItems") or "100")
    if not marker.isdigit() or not wanted.isdigit():
        raise Refused(_PARAMETER, "Invalid pagination token or MaxItems.")
    return int(marker), max(1, min(100, int(wanted)))


def _check_source(asked: Members[str, Any], source: str) -> None:
    if asked.get("StartingPosition") not in (None, "LATEST", "AT_TIMESTAMP", "TRIM_HORIZON"):
        allowed = "Member must satisfy enum value set: [LATEST, AT_TIMESTAMP, TRIM_HORIZON]"
        raise _invalid("startingPosition", asked["StartingPosition"], allowed)
    service = source.split(":")[2] if source.count(":") >= 5 else ""
    if not service:
        raise Refused(_PARAMETER, "Unrecognized event source.")
    if service != "sqs":
        raise Refused(_PARAMETER, f"Event sources of {service} are not emulated, only queues are.")
    if asked.get("StartingPosition") or asked.get("StartingPositionTimestamp"):
        raise Refused(_PARAMETER, "StartingPosition is not valid for SQS event sources.")


def _invalid(path: str, value: object, constraint: str) -> Refused:
    sentence = f"1 validation error detected: Value '{value}' at '{path}' failed to satisfy constraint: {constraint}"
    return Refused("ValidationException", sentence)


def _within_limits(path: str, value: Any) -> int:
    least, most = _LIMITS[path]
    if isinstance(value, bool) or not isinstance(value, int):
        raise Refused("SerializationException", f"{path} must be an integer.")
    if value < least:
        raise _invalid(path, value, f"Member must have value greater than or equal to {least}")
    if value > most:
        raise _invalid(path, value, f"Member must have value less than or equal to {most}")
    return value


def _with_changes(asked: Members[str, Any], before: Settings, fifo: bool) -> Settings:
    """The settings with what a request changes. Raises Refused for what AWS refuses."""
    for name in _FOREIGN:
        if asked.get(name) is not None:
            raise Refused(_PARAMETER, f"Unsupported {name} parameter for given event source mapping type.")
    for name in _NOT_EMULATED:
        if asked.get(name):
            raise Refused(_PARAMETER, f"{name} is not emulated.")
    settings = before
    if asked.get("FunctionName"):
        settings = replace(settings, function_arn=function_arn(str(asked["FunctionName"])))
    if asked.get("BatchSize") is not None:
        settings = replace(settings, batch_size=_within_limits("batchSize", asked["BatchSize"]))
    if asked.get("MaximumBatchingWindowInSeconds") is not None:
        window = _within_limits("maximumBatchingWindowInSeconds", asked["MaximumBatchingWindowInSeconds"])
        settings = replace(settings, window=window)
    if fifo and settings.window:
        raise Refused(_PARAMETER, "Batching window is not supported for FIFO queues")
    if settings.batch_size > 10 and not settings.window:
        sentence = "Maximum batch window in seconds must be greater than 0 if maximum batch size is greater than 10"
        raise Refused(_PARAMETER, sentence)
    if asked.get("ScalingConfig") is not None:
        limit = asked["ScalingConfig"].get("MaximumConcurrency")
        limit = None if limit is None else _within_limits("scalingConfig.maximumConcurrency", limit)
        settings = replace(settings, maximum_concurrency=limit)
    if asked.get("FunctionResponseTypes") is not None:
        settings = replace(settings, response_types=_response_types(asked["FunctionResponseTypes"]))
    if asked.get("FilterCriteria") is not None:
        settings = replace(settings, **_filters(asked["FilterCriteria"]))
    if asked.get("MetricsConfig") is not None:
        settings = replace(settings, metrics=asked["MetricsConfig"])
    return settings


def _response_types(asked: Any) -> tuple[str, ...]:
    kinds = asked if isinstance(asked, list) else [asked]
    shown = f"[{', '.join(map(str, kinds))}]"
    if any(kind != REPORT for kind in kinds):
        constraint = f"Member must satisfy constraint: [Member must satisfy enum value set: [{REPORT}]]"
        raise _invalid("functionResponseTypes", shown, constraint)
    if len(kinds) > 1:
        raise _invalid("functionResponseTypes", shown, "Member must have length less than or equal to 1")
    return tuple(kinds)


def _filters(criteria: Members[str, Any]) -> dict[str, Any]:
    filters = criteria.get("Filters") or []
    if len(filters) > event_filter.MAXIMUM_FILTERS:
        raise Refused(_PARAMETER, f"At most {event_filter.MAXIMUM_FILTERS} filters are allowed.")
    try:
        patterns = tuple(event_filter.parse_pattern(each.get("Pattern")) for each in filters)
    except event_filter.InvalidPattern:
        raise Refused(_PARAMETER, "Invalid filter pattern definition.") from None
    return {"criteria": {"Filters": filters} if filters else None, "patterns": patterns}


def _check_usable(settings: Settings, source: str) -> None:
    """What AWS checks when a mapping is created or updated. Later changes of queue and function are free."""
    function = find_function(settings.function_arn)
    if function is None:
        raise Refused(_PARAMETER, "Function does not exist")
    queue = sqs_queue.find(source)
    if queue is None:
        raise Refused(
            _PARAMETER,
            "Error occurred while ReceiveMessage. SQS Error Code: AWS.SimpleQueueService.NonExistentQueue. "
            "SQS Error Message: The specified queue does not exist.",
        )
    for action in ("ReceiveMessage", "DeleteMessage", "GetQueueAttributes"):
        if permissions.decide(function.role, f"sqs:{action}", source) != "allowed":
            sentence = f"The function execution role does not have permissions to call {action} on SQS"
            raise Refused(_PARAMETER, sentence)
    visibility = sqs_queue.number(queue, "visibility_timeout")
    if visibility < function.timeout:
        raise Refused(
            _PARAMETER,
            f"Queue visibility timeout: {visibility} seconds is less than Function timeout: {function.timeout} seconds",
        )
