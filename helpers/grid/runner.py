"""All runs of a grid: side by side on this machine, or on the workers of a Dask cluster.

A run that is finished is a file and is not run again. Ctrl-C keeps what is finished. A run that goes wrong is a file
too, in the folder of the failed ones, and the others go on.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import nbformat

from helpers.grid.one import Executed, Job, execute
from helpers.grid.plan import Run

_REMARK = "papermill-error-cell-tag"

Results = Generator[Executed, None, None]
Start = Callable[[Sequence[Job]], Results]
Told = Callable[[int, int, Run, str], None]
"""Runs that are done, runs in all, the one that ended now, and its error ("" if there is none)."""


@dataclass(frozen=True, slots=True)
class Store:
    """The folder of one experiment."""

    folder: Path

    def finished(self, run: Run) -> Path:
        return self.folder / "runs" / run.file

    def failed(self, run: Run) -> Path:
        return self.folder / "failed" / run.file

    def keep(self, run: Run, job: Job, done: Executed) -> Path:
        """Write the executed notebook, whole or not at all. A bad run without a notebook leaves the one it was given.

        :raises OSError: it cannot be written.
        """
        path = self.failed(run) if done.error else self.finished(run)
        notebook = nbformat.reads(done.notebook or job.notebook, nbformat.NO_CONVERT)
        # papermill's remarks, in English, above the cell whose error says the same.
        notebook.cells = [cell for cell in notebook.cells if _REMARK not in cell.metadata.get("tags", [])]
        papermill = notebook.metadata.setdefault("papermill", {})
        for name in ("input_path", "output_path", "environment_variables"):
            papermill.pop(name, None)  # folders of the run that are gone
        notebook.metadata["once"] = {"values": dict(run.values), "key": run.key, "error": done.error}
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(nbformat.writes(notebook), encoding="utf-8", newline="\n")
        os.replace(part, path)
        if not done.error:
            self.failed(run).unlink(missing_ok=True)
        return path


def run_all(plan: Sequence[Run], job_of: Callable[[Run], Job], store: Store, start: Start, told: Told) -> int:
    """Do what is not finished yet; return how many runs went wrong.

    :raises KeyboardInterrupt: after what runs on this machine was ended.
    :raises OSError: a notebook cannot be written.
    """
    waiting = {run.key: run for run in plan if not store.finished(run).exists()}
    jobs = {key: job_of(run) for key, run in waiting.items()}
    done, bad = len(plan) - len(waiting), 0
    with closing(start(list(jobs.values()))) as results:
        for executed in results:
            run = waiting[executed.key]
            store.keep(run, jobs[executed.key], executed)
            done += 1
            bad += bool(executed.error)
            told(done, len(plan), run, executed.error)
    return bad


def here(processes: int) -> Start:
    """Run `processes` at once on this machine."""

    def start(jobs: Sequence[Job]) -> Results:
        with _processes() as started, ThreadPoolExecutor(processes) as pool:
            waiting = {pool.submit(execute, job, started) for job in jobs}
            try:
                while waiting:
                    # In short pieces: Windows passes Ctrl-C to no wait without an end.
                    ended, waiting = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
                    for future in ended:
                        yield future.result()
            except BaseException:
                for future in waiting:
                    future.cancel()
                started.end()
                raise

    return start


class _Processes:
    """The processes of the runs at work. None starts once `end` was called."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: list[subprocess.Popen[bytes]] = []
        self._ended = False

    def __call__(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._all.append(process)
            if self._ended:
                process.kill()

    def end(self) -> None:
        """End them now; their kernels end with them."""
        with self._lock:
            self._ended = True
            for process in self._all:
                if process.poll() is None:
                    process.kill()


@contextmanager
def _processes() -> Iterator[_Processes]:
    started = _Processes()
    try:
        yield started
    finally:
        started.end()
