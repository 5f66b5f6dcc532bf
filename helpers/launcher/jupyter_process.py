"""The JupyterLab process: ends when its standard input does, so that it never outlives the terminal.

Runs with the environment's Python. The launcher holds the other end of the pipe; however it ends, the pipe
closes.
"""

from __future__ import annotations

import os
import signal
import threading

import helpers.slow_imports  # noqa: F401


def _end_with_input() -> None:
    # Not sys.stdin: a thread that waits in it keeps the interpreter from ending.
    while os.read(0, 4096):
        pass
    # jupyter_server ends its kernels on SIGTERM without asking; Windows has no such signal to catch.
    if os.name == "nt":
        from jupyter_server.serverapp import ServerApp

        server = ServerApp.instance()
        server.io_loop.add_callback(server.stop, from_signal=True)
    else:
        os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Start JupyterLab with the arguments of this process."""
    from jupyterlab.labapp import main as jupyterlab

    threading.Thread(target=_end_with_input, name="end-with-input", daemon=True).start()
    jupyterlab()


if __name__ == "__main__":
    main()
