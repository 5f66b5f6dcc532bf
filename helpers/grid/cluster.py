"""The same runs on the workers of a Dask cluster that exists already: `--dask tcp://host:8786`.

Each machine has the course (the same version; this is checked) and starts `dask worker` in its environment. Dask is
no part of the course: it is imported only here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from helpers.course.syllabus import HERE
from helpers.grid.one import Executed, Job, execute
from helpers.grid.runner import Results, Start
from helpers.lab.language import _, labelled

CONNECT = 15
"""Seconds to reach the scheduler."""


class NoCluster(RuntimeError):
    """Dask is missing, or the scheduler does not answer. `next_step` says what to do."""

    def __init__(self, what: str, next_step: str) -> None:
        super().__init__(f"{what} {next_step}")
        self.what = what
        self.next_step = next_step


def on_dask(address: str) -> Start:
    """Run on the cluster whose scheduler has this address.

    :raises NoCluster: there is no Dask here, no scheduler there, or no worker.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise NoCluster(
            _("Dask is not installed here ({reason}).").format(reason=error.name or error),
            _("Install it beside the course: `{command}` in its environment.").format(
                command=f'{_python()} -m pip install "dask[distributed]"'
            ),
        ) from error
    try:
        client = Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise NoCluster(
            _("No Dask scheduler answers at {address}.").format(address=address),
            _("Start one with `dask scheduler`, and give the address that it prints, for example {address}.").format(
                address="tcp://127.0.0.1:8786"
            ),
        ) from error
    if not client.scheduler_info()["workers"]:
        client.close()
        python = _python()
        # On another machine the folder of the course may lie elsewhere: only the name from there is the same.
        own = "" if Path(python).is_absolute() else f"{python} -m "
        raise NoCluster(
            _("The Dask scheduler at {address} has no machine to run on.").format(address=address),
            _("On each machine, in the folder of the course: `{command}`.").format(
                command=f"{own}dask worker {address}"
            ),
        )

    def start(jobs: Sequence[Job]) -> Results:
        try:
            yield from _results(client, jobs)
        finally:
            client.close()

    return start


def _python() -> str:
    """The environment's Python as it is typed in the folder of the course: `python` alone may be another one."""
    python = Path(sys.executable)
    return str(python.relative_to(HERE.root) if python.is_relative_to(HERE.root) else python)


def _results(client: Any, jobs: Sequence[Job]) -> Results:
    from distributed import as_completed

    # A key of its own each time: the scheduler may still hold the result of an earlier call.
    futures = {client.submit(execute, job, pure=False, retries=1): job for job in jobs}
    try:
        for future in as_completed(list(futures), loop=client.loop):
            job = futures[future]
            if future.status == "finished":
                yield future.result()
            else:
                # The worker was killed, or could not import the course.
                error = future.exception() if future.status == "error" else future.status
                yield Executed(job.key, "", labelled(_("on the cluster"), f"{type(error).__name__}: {error}"))
            future.release()
    except BaseException:
        client.cancel(list(futures))
        raise
