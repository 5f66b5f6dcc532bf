"""Serve an account without a notebook: ``python -m helpers.cloud --port 5000``."""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
import threading
from pathlib import Path

from . import environment_file
from .account import Cloud
from .server import PortInUse


def main(arguments: list[str] | None = None) -> int:
    """Start an account, say where it listens, and serve until interrupted. Returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m helpers.cloud", description="Serve an emulated AWS account on 127.0.0.1."
    )
    parser.add_argument(
        "--port", type=int, default=5000, help="port on 127.0.0.1; 0 takes any free one (default: 5000)"
    )
    parser.add_argument("--environment-file", type=Path, metavar="FILE", help="write a file for a shell to source")
    options = parser.parse_args(arguments)
    if not 0 <= options.port <= 65535:
        parser.error(f"argument --port: {options.port} is not a port: choose a number from 0 to 65535")
    file: Path | None = options.environment_file
    if file and (file.is_dir() or not file.parent.is_dir()):
        wrong = f"{file} is a folder: name a file in it" if file.is_dir() else f"there is no folder {file.parent}"
        parser.error(f"argument --environment-file: {wrong}")
    stop = threading.Event()
    for name in ("SIGINT", "SIGTERM", "SIGBREAK"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: stop.set())
    try:
        with Cloud(options.port) as cloud:
            # What was loaded stays: the collector of this process need not look at it again.
            gc.freeze()
            print(f"The account listens on {cloud.endpoint}", flush=True)
            variables = {"AWS_ENDPOINT_URL": cloud.endpoint, "AWS_ACCESS_KEY_ID": "test"}
            variables |= {"AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": cloud.region}
            print(f"  {environment_file.settings(variables)}")
            suffix = "ps1" if os.name == "nt" else "sh"
            print(f"  AWS CLI 1 passes over this address for SQS; with --environment-file aws.{suffix} it does not.")
            if file:
                try:
                    cloud.write_environment_file(file)
                except OSError as refused:
                    print(f"python -m helpers.cloud: {file}: {refused.strerror} (--environment-file)", file=sys.stderr)
                    return 1
                print(f"  {environment_file.line(file)}")
            print("Stop it with Ctrl-C.", flush=True)
            while not stop.wait(1):
                pass
    except PortInUse as taken:
        print(f"python -m helpers.cloud: {taken.strerror} (--port)", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
