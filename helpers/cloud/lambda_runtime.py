"""The Lambda runtime of the account: deployed functions run in worker processes, never in the kernel.

Workers are kept warm, take one run at a time and are replaced when code or settings change. `Runtime.invoke`
blocks until the run is over; the calling thread serves the worker meanwhile, so a run costs no further thread.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from . import leftover_processes
from .deployment import CodeStore, FunctionSpec, remove_leftovers
from .dispatch import new_request_id
from .journal import Caller, RunEnded, RunStarted
from .sandbox import Invocation, RunResult, Sandbox, Surroundings, WorkerGone
from .work import Busy
from .worker_process import Spares

if TYPE_CHECKING:
    from .account import Cloud

__all__ = [
    "Closed",
    "FunctionMissing",
    "RunResult",
    "Runtime",
    "Throttled",
    "UnsupportedRuntime",
]

MOST_WORKERS = 10
"""Worker processes of one function at once; further runs wait for one of them. AWS has 1,000 for an account."""

_PATIENCE = 0.05
"""Seconds that a run waits for a busy worker before another process is started: most runs are over sooner."""

_IDLE_KEPT = 1
"""Idle workers of one function that stay; further ones end after `_IDLE_SECONDS`."""

_IDLE_SECONDS = 5.0


class FunctionMissing(LookupError):
    """There is no such function, version or alias. `arn` is the one that was asked for."""

    def __init__(self, arn: str) -> None:
        super().__init__(f"Function not found: {arn}")
        self.arn = arn


class UnsupportedRuntime(RuntimeError):
    """The function is not for Python. The text says which runtime it asks for."""


class Throttled(RuntimeError):
    """All of the function's reserved concurrency is in use."""


class Closed(RuntimeError):
    """The account was closed."""


class _Pool:
    """The workers of one function (and version)."""

    def __init__(self) -> None:
        self.idle: list[tuple[float, Sandbox]] = []
        self.count = 0
        self.running = 0
        self.revision = ""


class Runtime:
    """Runs functions. `client` names the program in a worker: the bundled one, or (in tests) ``awslambdaric``."""

    def __init__(self, account: Cloud, client: Literal["bundled", "awslambdaric"] = "bundled") -> None:
        self.code = CodeStore()
        self.resolve: Callable[[str], tuple[FunctionSpec, str]] = _nothing_deployed
        self.reserved: Callable[[str], int | None] = lambda name: None
        self.dies: Callable[[FunctionSpec, Invocation, Literal["start", "end"]], bool] = lambda spec, run, when: False
        self._account = account
        self.client = client
        self._around = Surroundings(
            account.environment,
            self.code,
            account.clock.now,
            account.boundary.lock,
            lambda spec, run, when: self.dies(spec, run, when),
        )
        self._changed = threading.Condition()
        self._pools: dict[tuple[str, str], _Pool] = {}
        self._runs: dict[str, Sandbox] = {}
        self._entered: list[FunctionSpec] = []
        self._closed = False
        self._ended: list[str] = []
        self._closing: list[Callable[[], None]] = []
        self._left_at = 0.0
        self._spares = Spares(
            1 if client == "bundled" else 0, self._is_running, str(self.code.folder), lambda: self.code.wants_sdk
        )
        self._surplus = threading.Event()
        self._stopped = threading.Event()
        self._keeper = threading.Thread(target=self._end_idle, name="once-workers", daemon=True)
        self._keeper.start()

    # --- runs --------------------------------------------------------------------------------------------------

    def invoke(
        self,
        function_name: str,
        payload: bytes,
        source: str = "invoke",
        request_id: str | None = None,
        client_context: str = "",
        execution: str = "",
    ) -> RunResult:
        """Run a function (name, ARN, each with or without a qualifier) once and wait for its end.

        `payload` is the event as JSON, `execution` the ARN of the workflow's execution that invokes. Raises
        FunctionMissing, UnsupportedRuntime, Throttled or Closed when nothing ran; what the handler does wrong is in
        the result.
        """
        spec, arn = self.resolve(function_name)
        if not spec.runtime.startswith("python"):
            asked = spec.runtime or "of a container image"
            raise UnsupportedRuntime(f"The runtime {asked} is not supported: this account runs Python functions only.")
        invocation = Invocation(request_id or new_request_id(), payload or b"{}", arn, client_context)
        journal = self._account.journal
        self._enter(spec)
        try:
            journal.record(
                RunStarted,
                function=spec.name,
                request_id=invocation.request_id,
                payload=invocation.payload.decode("utf-8", "replace"),
                source=source,
                execution=execution,
            )
            result = self._run(spec, invocation)
            journal.record(
                RunEnded,
                function=spec.name,
                request_id=invocation.request_id,
                outcome=result.outcome,
                payload=result.payload.decode("utf-8", "replace"),
                error_type=result.error_type,
                duration_ms=result.duration_ms,
                log=tuple(result.log),
            )
        finally:
            self._leave(spec)
            self._account.boundary.changed.notify()
        return result

    def expect_runs(self) -> None:
        """Say that a function was created: a worker gets ready for it."""
        self._spares.expect_runs()

    def kill_run(self, request_id: str) -> bool:
        """End the worker process of a run at once, as a crash does. Returns whether there was such a run."""
        with self._changed:
            sandbox = self._runs.get(request_id)
            if sandbox is not None:
                sandbox.crashing = request_id
                sandbox.kill()
        return sandbox is not None

    def running(self, function_name: str | None = None) -> int:
        """How many runs are under way, of all functions or of one."""
        with self._changed:
            return sum(pool.running for (name, _), pool in self._pools.items() if function_name in {None, name})

    def busy(self) -> list[Busy]:
        """The functions that have runs under way."""
        with self._changed:
            counts: dict[str, int] = {}
            for (name, _), pool in self._pools.items():
                if pool.running:
                    counts[name] = counts.get(name, 0) + pool.running
        return [Busy("run", name, count) for name, count in counts.items()]

    # --- deployments -------------------------------------------------------------------------------------------

    def forget(self, function_name: str, version: str | None = None) -> None:
        """End the workers of a deleted function; what runs may finish."""
        self._retire(lambda key: key[0] == function_name and version in {None, key[1]}, "")

    def replace(self, spec: FunctionSpec) -> None:
        """End the idle workers of older deployments of a function; what runs may finish."""
        self._retire(lambda key: key == spec.key, spec.revision)

    def code_in_use(self) -> set[str]:
        """The folders of idle workers and of runs, also of those that have no worker yet."""
        with self._changed:
            idle = [sandbox.spec for pool in self._pools.values() for _, sandbox in pool.idle]
            return {folder for spec in (*idle, *self._entered) for folder in (spec.code, *spec.layers)}

    def on_close(self, end: Callable[[], None]) -> None:
        """Call `end` when the runtime closes, before the workers end."""
        self._closing.append(end)

    def close(self) -> None:
        """End all workers, also those that run. May be called again."""
        with self._changed:
            already, self._closed = self._closed, True
            self._changed.notify_all()
        if already:
            return
        self._stopped.set()
        self._surplus.set()
        for end in self._closing:
            end()
        self._spares.close()
        self._retire(lambda key: True, "")
        deadline = time.monotonic() + 5
        with self._changed:
            while self._runs and time.monotonic() < deadline:
                for sandbox in self._runs.values():
                    sandbox.kill()
                self._changed.wait(0.1)
        leftover_processes.end(str(self.code.folder))
        self.code.close()

    # --- workers -----------------------------------------------------------------------------------------------

    def _run(self, spec: FunctionSpec, invocation: Invocation) -> RunResult:
        while True:
            sandbox = self._acquire(spec)
            with self._changed:
                closed = self._closed
                if not closed:
                    self._runs[invocation.request_id] = sandbox
            if closed:  # meanwhile: `close` does not know this worker
                self._release(sandbox)
                raise Closed("the account was closed")
            try:
                return sandbox.run(invocation)
            except WorkerGone:
                continue
            except BaseException:
                sandbox.kill()
                raise
            finally:
                with self._changed:
                    self._runs.pop(invocation.request_id, None)
                self._release(sandbox)

    def _enter(self, spec: FunctionSpec) -> None:
        with self._changed:
            if self._closed:
                raise Closed("the account was closed")
            limit = self.reserved(spec.name)
            if limit is not None:
                running = sum(pool.running for (name, _), pool in self._pools.items() if name == spec.name)
                if running >= limit:
                    raise Throttled("Rate Exceeded.")
            self._pools.setdefault(spec.key, _Pool()).running += 1
            self._entered.append(spec)

    def _is_running(self) -> bool:
        """Whether runs are under way, or followed each other until a moment ago."""
        return self.running() > 0 or time.monotonic() - self._left_at < _PATIENCE

    def _leave(self, spec: FunctionSpec) -> None:
        with self._changed:
            self._left_at = time.monotonic()
            self._pools[spec.key].running -= 1
            self._entered.remove(spec)

    def _acquire(self, spec: FunctionSpec) -> Sandbox:
        """An idle worker, or a new one; waits while the function has as many as it may have."""
        begun = time.monotonic()
        stale: list[Sandbox] = []
        try:
            with self._changed:
                pool = self._pools[spec.key]
                pool.revision = spec.revision
                while not self._closed:
                    while pool.idle:
                        _, sandbox = pool.idle.pop()
                        if sandbox.spec.revision == spec.revision and sandbox.alive:
                            return sandbox
                        pool.count -= 1
                        stale.append(sandbox)
                    patient = pool.count and time.monotonic() - begun < _PATIENCE
                    if pool.count < MOST_WORKERS and not patient:
                        pool.count += 1
                        break
                    self._changed.wait(_PATIENCE if pool.count < MOST_WORKERS else 1)
                else:
                    raise Closed("the account was closed")
        finally:
            for sandbox in stale:
                self._end(sandbox)
        return self._new(spec)

    def _new(self, spec: FunctionSpec) -> Sandbox:
        try:
            process = self._spares.take() if self.client == "bundled" and _fits_a_spare(spec) else None
            sandbox = Sandbox(spec, process, self._around, self.client)
        except BaseException as problem:
            with self._changed:
                self._pools[spec.key].count -= 1
                self._changed.notify()
            if self._closed and isinstance(problem, OSError):  # the folders went with the account
                raise Closed("the account was closed") from problem
            raise
        caller = Caller("function", spec.name, "", spec.role)
        self._account.boundary.callers[sandbox.access_key] = lambda: Caller(
            "function", caller.name, sandbox.request_id, caller.role
        )
        return sandbox

    def _release(self, sandbox: Sandbox) -> None:
        with self._changed:
            pool = self._pools[sandbox.spec.key]
            current = pool.revision == sandbox.spec.revision
            if sandbox.alive and current and not self._closed:
                pool.idle.append((time.monotonic(), sandbox))
                if len(pool.idle) > _IDLE_KEPT:
                    self._surplus.set()
                self._changed.notify()
                return
            pool.count -= 1
            self._changed.notify_all()
        self._end(sandbox)

    def _end(self, sandbox: Sandbox) -> None:
        # Not taken out: a call that the process sent before its end may still wait to be read, and the holder of an
        # unknown key is the learner, who may do everything.
        last = Caller("function", sandbox.spec.name, sandbox.last_request_id, sandbox.spec.role)
        self._account.boundary.callers[sandbox.access_key] = lambda: last
        sandbox.close()
        self._spares.look()
        with self._changed:
            self._ended += sandbox.marks
        self._surplus.set()

    def _retire(self, chosen: Callable[[tuple[str, str]], bool], revision: str) -> None:
        retired = []
        with self._changed:
            for key, pool in self._pools.items():
                if chosen(key):
                    pool.revision = revision
                    keep = [pair for pair in pool.idle if pair[1].spec.revision == revision]
                    retired += [sandbox for _, sandbox in pool.idle if sandbox.spec.revision != revision]
                    pool.count -= len(pool.idle) - len(keep)
                    pool.idle = keep
            self._changed.notify_all()
        for sandbox in retired:
            self._end(sandbox)

    def _end_idle(self) -> None:
        """After a burst, let go of the workers that nobody needs any more, and of what ended ones left behind."""
        with contextlib.suppress(Exception):
            remove_leftovers()
        while not self._closed:
            self._surplus.wait()
            surplus: list[Sandbox] = []
            with self._changed:
                limit = time.monotonic() - _IDLE_SECONDS
                for pool in self._pools.values():
                    while len(pool.idle) > _IDLE_KEPT and pool.idle[0][0] < limit:
                        surplus.append(pool.idle.pop(0)[1])
                        pool.count -= 1
                if not any(len(pool.idle) > _IDLE_KEPT for pool in self._pools.values()) and not self._closed:
                    self._surplus.clear()
                ended, self._ended = self._ended, []
            leftover_processes.end(*ended)
            for sandbox in surplus:
                self._end(sandbox)
            self._stopped.wait(_IDLE_SECONDS / 2)


def _nothing_deployed(name: str) -> tuple[FunctionSpec, str]:
    raise FunctionMissing(name)


def _fits_a_spare(spec: FunctionSpec) -> bool:
    """Whether a process that runs already can take on the function's settings: Python reads PYTHON* at its start."""
    return not any(name.startswith("PYTHON") and name != "PYTHONPATH" for name in spec.environment)
