"""Ports for kernels that nothing else takes between their choice and the kernel's start.

Jupyter asks the system for free TCP ports and gives them free again before the kernel takes them. Every connection
of every handler takes one port of the same range for its own end, so now and then one of the five is gone when the
kernel arrives, and the kernel dies. Systems hand out 32,768 and above (Linux) or 49,152 and above (macOS, Windows);
below that range only who names a port gets it. Who names them here takes a block of six: this process listens on the
first one until it ends, so that no other process of the course draws that block.
"""

from __future__ import annotations

import atexit
import random
import socket
from contextlib import ExitStack

from traitlets.config import Config

_FIRST, _LAST = 20_000, 32_767
_NAMES = ("shell_port", "iopub_port", "stdin_port", "hb_port", "control_port")
_BLOCK = 1 + len(_NAMES)
# Not the seeded generator of the process: two processes must not draw the same ports one after the other.
_draw = random.SystemRandom()
_held = ExitStack()
atexit.register(_held.close)
_left: list[int] = []


def free_ports(ip: str = "127.0.0.1") -> tuple[int, ...]:
    """Five ports from 20,000 to 32,767 that nobody listens on, and that nobody else gets from here.

    :raises OSError: none of 200 drawn blocks is free.
    """
    for _attempt in range(200):
        first = _FIRST + _BLOCK * _draw.randrange((_LAST + 1 - _FIRST) // _BLOCK)
        held = socket.socket()
        try:
            held.bind((ip, first))
            held.listen()
            ports = tuple(range(first + 1, first + _BLOCK))
            for port in ports:
                with socket.socket() as probe:
                    probe.bind((ip, port))
        except OSError:
            held.close()
            continue
        _held.enter_context(held)
        return ports
    raise OSError(f"no free ports on {ip} from {_FIRST} to {_LAST}")


def free_port(ip: str = "127.0.0.1") -> int:
    """The next one of such ports, for a program that asks for one at a time.

    :raises OSError: there is none.
    """
    if not _left:
        _left.extend(free_ports(ip))
    return _left.pop(0)


def kernel_config() -> Config:
    """The traits that give one kernel manager of jupyter_client such ports."""
    return Config({"KernelManager": {"cache_ports": False, **dict(zip(_NAMES, free_ports(), strict=True))}})
