"""The websocket of a kernel, for a client that never waits without a limit."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import websocket

_GONE = ("restarting", "autorestarting", "dead")


class NoAnswer(RuntimeError):
    """The kernel cannot be reached, has died, or said nothing in time."""


class Channel:
    """A connection to the kernel at `address`, made within `seconds`. Raises NoAnswer."""

    def __init__(self, address: str, token: str, seconds: float) -> None:
        self._session = uuid.uuid4().hex
        try:
            self._socket = websocket.create_connection(
                address, timeout=seconds, header=[f"Authorization: token {token}"], http_no_proxy=["127.0.0.1"]
            )
        except websocket.WebSocketBadStatusException as error:  # its text has the whole page
            raise NoAnswer(f"the server answered {error.status_code}") from error
        except (OSError, websocket.WebSocketException) as error:
            raise NoAnswer(f"not connected: {error}") from error

    def close(self) -> None:
        self._socket.close()

    def run(self, source: str, seconds: float) -> Iterator[Mapping[str, Any]]:
        """The messages of one cell, until the kernel is idle again. Raises NoAnswer after `seconds`."""
        number = uuid.uuid4().hex
        message = {
            "header": {
                "msg_id": number,
                "username": "",
                "session": self._session,
                "msg_type": "execute_request",
                "version": "5.3",
            },
            "parent_header": {},
            "metadata": {},
            "content": {"code": source, "silent": False, "store_history": True, "allow_stdin": False},
            "channel": "shell",
        }
        deadline = time.monotonic() + seconds
        try:
            self._socket.send(json.dumps(message))
            while (left := deadline - time.monotonic()) > 0:
                answer = self._received(left)
                if answer is None:
                    continue
                state = answer["content"].get("execution_state") if answer["msg_type"] == "status" else None
                if state in _GONE:  # the server says so, in the name of no cell
                    raise NoAnswer(f"the kernel is {state}")
                if answer["parent_header"].get("msg_id") == number:
                    yield answer
                    if state == "idle":
                        return
        except websocket.WebSocketTimeoutException:
            pass
        except (OSError, websocket.WebSocketException) as error:
            raise NoAnswer(f"connection lost: {error}") from error
        raise NoAnswer(f"still running after {seconds:.0f} s")

    def _received(self, seconds: float) -> Mapping[str, Any] | None:
        """The next frame. None when it is a ping, which starts websocket-client's own limit anew: a server that pings
        every 30 s could be waited for without end. Widgets' binary messages are None, too."""
        self._socket.settimeout(seconds)
        kind, data = self._socket.recv_data(control_frame=True)
        return json.loads(data) if kind == websocket.ABNF.OPCODE_TEXT else None
