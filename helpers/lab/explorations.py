"""Explorations of whole workers: the lesson's guards and the learner's own worker, each with resources of its own."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from helpers.lab import explorer
from helpers.lab.bench import Bench, code_of
from helpers.lab.errors import BadParameter
from helpers.lab.experiments import FILES
from helpers.lab.explorer import Exploration, GuardTable
from helpers.lab.idempotent_consumer import FUNCTION, ORDERS
from helpers.lab.language import _
from helpers.lab.parameters import listed, shown
from helpers.lab.services import Services

if TYPE_CHECKING:
    from helpers.cloud.journal import Journal
    from helpers.cloud.schedules import Conductor

GUARDS = ("none", "read-then-write", "message-id", "condition-only", "conditional-write")
"""The guards of the table, from none to the best."""

_AT_ONCE = 2
"""Guards explored side by side: a schedule is one process working while another waits, so two fill two cores."""


@dataclass(frozen=True, slots=True)
class _Worker:
    name: str
    code: bytes
    handler: str = "app.handler"
    variables: Mapping[str, str] | None = None


def explore_guard(services: Services, guard: str) -> Exploration:
    """All schedules of a worker with this guard. Raises BadParameter, ExperimentFailed."""
    if not isinstance(guard, str) or guard not in FILES:
        raise BadParameter(
            _("`{name}` is `{value}`, and there is no such choice.").format(name="guard", value=shown(guard)),
            _("A guard is called by its name. Without a name, your own worker is explored."),
            _("Choose one of these: {choices}.").format(choices=listed(tuple(FILES))),
        )
    [exploration] = _explore(services, [_Worker(guard, code_of(FILES[guard]))])
    return exploration


def explore_guards(services: Services) -> GuardTable:
    """All schedules of each guard of the lesson. Raises ExperimentFailed."""
    return GuardTable(_explore(services, [_Worker(guard, code_of(FILES[guard])) for guard in GUARDS]))


def explore_worker(services: Services) -> Exploration:
    """All schedules of the learner's worker as it is deployed now. Raises BadParameter, ExperimentFailed.

    Its code runs in a function of its own. Where a variable of its environment names the table of the orders, it
    names the exploration's table there.
    """
    settings = services.function(FUNCTION)
    if settings is None:
        raise BadParameter(
            _("There is no function `{name}`.").format(name=FUNCTION),
            _("The exploration runs the code that is deployed in your worker."),
            _("Run `lab.reset()`, then start again with step 2."),
        )
    variables = settings.get("Environment", {}).get("Variables", {})
    worker = _Worker(FUNCTION, services.cloud.deployed_code(FUNCTION), settings["Handler"], variables)
    [exploration] = _explore(services, [worker])
    return exploration


def _explore(services: Services, workers: list[_Worker]) -> tuple[Exploration, ...]:
    stopped = threading.Event()
    with contextlib.ExitStack() as stack:
        benches = [stack.enter_context(_bench(services, worker)) for worker in workers]
        benches[-1].settle()
        pool = stack.enter_context(ThreadPoolExecutor(_AT_ONCE, "once-explorer"))
        # Also when the learner interrupts the cell: each schedule asks before it begins.
        stack.callback(stopped.set)
        pairs = zip(benches, workers, strict=True)
        futures = [pool.submit(_explore_one, services, bench, worker.name, stopped.is_set) for bench, worker in pairs]
        return tuple(future.result() for future in futures)


def _explore_one(services: Services, bench: Bench, name: str, stop: Callable[[], bool]) -> Exploration:
    with _driven(services, bench) as (conductor, journal):
        exploration = explorer.explore(bench, conductor, journal, name, stop=stop)
    # Its warm processes are not needed any more, and the next guard starts some of its own.
    services.cloud.runtime.forget(bench.function)
    return exploration


@contextlib.contextmanager
def _driven(services: Services, bench: Bench) -> Iterator[tuple[Conductor, Journal]]:
    from helpers.cloud.schedules import Conductor

    names = {bench.function, bench.queue, bench.table}
    cloud = services.cloud
    with cloud.journal.aside(names) as journal, Conductor(cloud, bench.queue, bench.function) as conductor:
        yield conductor, journal


@contextlib.contextmanager
def _bench(services: Services, worker: _Worker) -> Iterator[Bench]:
    bench = Bench(services, f"explore-{worker.name}")
    try:
        # An exploration that was interrupted may have left something behind.
        bench.remove()
        variables = worker.variables
        if variables is not None:
            variables = {name: bench.table if value == ORDERS else value for name, value in variables.items()}
        bench.make(worker.code, variables=variables, handler=worker.handler)
        yield bench
    finally:
        bench.remove()
