"""Ports for kernels that nothing else takes between their choice and the kernel's start.

Jupyter asks the system for free TCP ports and gives them free again before the kernel takes them. Every connection
of every handler takes one port of the same range for its own end, so now and then one of the five is gone when the
kernel arrives, and the kernel dies. Systems hand out 32,768 and above (Linux) or 49,152 and above (macOS, Windows);
below that range only who names a port gets it.
"""

from __future__ import annotations

import random
import socket

from traitlets.config import Config

_FIRST, _LAST = 20_000, 32_767
_NAMES = ("shell_port", "iopub_port", "stdin_port", "hb_port", "control_port")
# Not the seeded generator of the process: two processes must not draw the same ports.
_draw = random.SystemRandom()


def free_port(ip: str = "127.0.0.1") -> int:
    """A port from 20,000 to 32,767 that nobody listens on.

    :raises OSError: none of 200 drawn ones is free.
    """
    for _attempt in range(200):
        port = _draw.randint(_FIRST, _LAST)
        with socket.socket() as probe:
            try:
                probe.bind((ip, port))
            except OSError:
                continue
        return port
    raise OSError(f"no free port on {ip} from {_FIRST} to {_LAST}")


def kernel_config() -> Config:
    """The traits that give one kernel manager of jupyter_client such ports."""
    ports = {name: free_port() for name in _NAMES}
    return Config({"KernelManager": {"cache_ports": False, **ports}})
