"""Work that an interrupt of the kernel must not cut in two."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable


def to_the_end(work: Callable[[], None]) -> None:
    """Do `work`; a KeyboardInterrupt that arrives meanwhile is raised when it has ended without an error.

    Jupyter interrupts a kernel with SIGINT, on Windows through `_thread.interrupt_main`, which calls the same
    handler. Python runs it in the main thread only: work of other threads is never interrupted.
    """
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        work()
        return
    arrived: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _frame: arrived.append(number))
    try:
        work()
    finally:
        signal.signal(signal.SIGINT, usual)
    if arrived:
        raise KeyboardInterrupt
