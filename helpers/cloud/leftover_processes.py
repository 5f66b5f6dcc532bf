"""Processes that outlived their worker: a handler may start one in a session of its own, or leave one behind.

The end of a worker ends its process group. What left the group still carries what the worker put into its
environment: the mark of the worker, or its folder for temporary files. Only a process that clears its environment
before it leaves the group is not found. AWS freezes and ends all processes of an execution environment
(Lambda Developer Guide, "Lambda execution environment").
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator

MARK = "ONCE_WORKER"
"""Variable of a worker's first environment: the account's folder, a slash, and what no other worker has."""

_ROUNDS = 5


def end(*marks: str) -> int:
    """End all processes whose environment has one of the texts. Returns how many there were."""
    needles = [os.fsencode(mark) for mark in marks if mark]
    ended: set[int] = set()
    for _ in range(_ROUNDS):  # what is found may have started another one meanwhile
        found = [pid for pid in _marked(needles) if pid not in ended and _kill(pid)]
        if not found:
            break
        ended.update(found)
    return len(ended)


def _marked(needles: list[bytes]) -> Iterator[int]:
    if not needles:
        return
    own = os.getpid()
    for pid, environ in _environments():
        if pid != own and any(needle in environ for needle in needles):
            yield pid


def _environments() -> Iterator[tuple[int, bytes]]:
    """The environment of each process of this user, as far as it may be read."""
    if sys.platform == "linux":
        for name in os.listdir("/proc"):
            if name.isdigit():
                with contextlib.suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
                    yield int(name), file.read()
    else:
        import psutil

        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                yield process.pid, "\0".join(process.environ().values()).encode("utf-8", "surrogateescape")


def _kill(pid: int) -> bool:
    with contextlib.suppress(OSError):
        if os.name == "nt":
            os.kill(pid, signal.SIGTERM)  # TerminateProcess
        else:
            os.kill(pid, signal.SIGKILL)
        return True
    return False
