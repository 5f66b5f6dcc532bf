"""A CLI form in place of the boto3 calls of a cell: `sh` runs the form, and the cell works on the answers it got.

The cell runs as it is, but none of its calls is sent. For each call the form goes on, command by command, until it has
made the same call with the same parameters; its answer is the answer to the cell's call. So a form that makes another
call than the cell, or one more write, is found, and all that follows in the lesson rests on what the AWS CLI did.

The commands stand in a real shell with real quoting. `aws` in it hands its arguments to this process, which runs the
AWS CLI without starting an interpreter for each command.
"""

from __future__ import annotations

import contextlib
import copy
import io
import json
import logging
import os
import selectors
import subprocess
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
from botocore.response import StreamingBody

from helpers.cloud.environment import LEARNER_ACCESS_KEY, REGION

_WAIT_SECONDS = 60
_LOOKS = ("Get", "List", "Describe")

# A shell and two pipes with names: an interpreter for each command would take longer than the command.
_CLIENT = """#!/bin/sh
printf '%s\\0' "$#" "$PWD" "$@" > "{folder}/asked"
read -r code < "{folder}/code"
cat "{folder}/out"
cat "{folder}/err" >&2
exit "$code"
"""


@dataclass
class Call:
    """One call of an API: its parameters without their dress (see `_plain`), and the answer as botocore parsed it."""

    name: str
    parameters: Any
    status: int
    parsed: dict[str, Any]
    body: bytes | None = None


@dataclass
class Command:
    """One command of a form that was run: what it printed, its exit code, its calls."""

    arguments: list[str]
    output: str
    code: int
    calls: list[Call]


@dataclass
class Form:
    """A form at work. `commands` are those that are done, `waiting` the calls that no call of the cell has met yet."""

    process: subprocess.Popen[bytes]
    commands: list[Command] = field(default_factory=list)
    waiting: list[Call] = field(default_factory=list)
    printed: bytes = b""
    ended: bool = False


class CliAnswers:
    """Answers the calls of boto3's default session with what the AWS CLI gets. `begin` and `end` enclose a cell."""

    def __init__(self, folder: Path) -> None:
        import awscli
        from awscli.clidriver import create_clidriver

        logging.disable(logging.DEBUG)  # the AWS CLI tells a lot about each argument
        self._driver = create_clidriver()
        # Its import tells this by a variable of the whole process, once; boto3 and a second lab do without.
        os.environ.pop("AWS_DATA_PATH", None)
        self._driver.session.set_config_variable("data_path", str(Path(awscli.__file__).parent / "data"))
        events = self._driver.session.get_component("event_emitter")
        events.register_first("provide-client-params", self._cli_begins)
        # Before what the services and the options for an output file do with the answer.
        for event in ("after-call", "after-call.iam", "after-call.s3.GetObject"):
            events.register_first(event, self._cli_answered)
        # The variables of this process are away for moments, while the account itself makes a client.
        self._endpoint = ("--endpoint-url", os.environ["AWS_ENDPOINT_URL"])
        keys = (LEARNER_ACCESS_KEY, "emulated", "emulated")
        self._driver.session.set_config_variable("region", REGION)
        self._driver.session.set_credentials(*keys)
        boto3.DEFAULT_SESSION = boto3.Session(*keys, region_name=REGION)
        boto3.DEFAULT_SESSION.events.register_first("provide-client-params", self._cell_begins)
        boto3.DEFAULT_SESSION.events.register_first("before-call", self._cell_calls)
        self._parameters: Any = None
        self._cell_parameters: Any = None
        self._calls: list[Call] = []
        self._form: Form | None = None
        self._folder = folder / "bin"
        self._folder.mkdir()
        shim = self._folder / "aws"
        shim.write_text(_CLIENT.format(folder=self._folder), encoding="utf-8", newline="\n")
        shim.chmod(0o755)
        self._asked, self._code = (self._pipe(name) for name in ("asked", "code"))
        self._place = folder / "place"
        self._place.mkdir()

    def close(self) -> None:
        if self._form:
            self._form.process.kill()
            self._form.process.wait(_WAIT_SECONDS)
        for pipe in (self._asked, self._code):
            os.close(pipe)
        logging.disable(logging.NOTSET)
        boto3.DEFAULT_SESSION = None

    def _pipe(self, name: str) -> int:
        """Open for both directions: so nobody waits for the other to open it, and it has no end."""
        os.mkfifo(self._folder / name)
        return os.open(self._folder / name, os.O_RDWR)

    def begin(self, form: str) -> None:
        """From now on the cell's calls are answered by this form."""
        path = os.pathsep.join([str(self._folder), os.environ["PATH"]])
        process = subprocess.Popen(
            ["sh", "-u", "-c", form],
            cwd=self._place,
            env={**os.environ, "PATH": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
        self._form = Form(process)

    def end(self) -> Form:
        """Let the form come to its end. What it did beyond the cell may only be looks at the account."""
        form, self._form = self._form, None
        assert form is not None
        while not form.ended:
            self._next_command(form)
        assert form.process.stdout is not None
        form.process.stdout.close()
        form.process.wait(_WAIT_SECONDS)
        more = [call.name for call in form.waiting if not call.name.startswith(_LOOKS)]
        assert more == [], "the form does more than the cell"
        for command in form.commands:
            refused = [call.name for call in command.calls if call.status >= 300]
            assert bool(command.code) == bool(refused), (command.arguments, command.code, refused)
        return form

    # --- the cell --------------------------------------------------------------------------------------------

    def _cell_begins(self, params: Mapping[str, Any], **_others: Any) -> None:
        self._cell_parameters = _plain(params)

    def _cell_calls(self, model: Any, **_others: Any) -> Any:
        if self._form is None:
            return None
        wanted = (model.name, self._cell_parameters)
        while True:
            for call in self._form.waiting:
                if (call.name, call.parameters) == wanted:
                    self._form.waiting.remove(call)
                    return SimpleNamespace(status_code=call.status, headers={}), _fresh(call)
            if self._form.ended:
                made = [(one.name, one.parameters) for one in self._form.waiting]
                raise AssertionError(f"the cell calls {wanted}; the form only {made}")
            self._next_command(self._form)

    # --- the AWS CLI -----------------------------------------------------------------------------------------

    def _next_command(self, form: Form) -> None:
        """Run the next command of the form, or see its end."""
        output = form.process.stdout
        assert output is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._asked, selectors.EVENT_READ)
            selector.register(output, selectors.EVENT_READ)
            while True:
                ready = [key.fileobj for key, _ in selector.select(_WAIT_SECONDS)]
                assert ready, f"the form does nothing: {form.commands}"
                if output in ready:
                    printed = os.read(output.fileno(), 1 << 16)
                    form.printed += printed
                    form.ended = not printed
                    if form.ended:
                        return
                if self._asked in ready:
                    break
        place, *arguments = self._read_asked()
        command, printed, complaint = self._run(place, arguments)
        form.commands.append(command)
        form.waiting += command.calls
        (self._folder / "out").write_bytes(printed)
        (self._folder / "err").write_text(complaint, encoding="utf-8")
        os.write(self._code, f"{command.code}\n".encode())

    def _read_asked(self) -> list[str]:
        """The working folder of the command, and its arguments."""
        asked: list[str] = []
        data = b""
        while not asked or len(asked) < int(asked[0]) + 2:
            data += os.read(self._asked, 1 << 16)
            *asked, _rest = data.decode().split("\0") if data.endswith(b"\0") else [""]
        return asked[1:]

    def _run(self, place: str, arguments: list[str]) -> tuple[Command, bytes, str]:
        printed, complaint = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
        self._calls = []
        with contextlib.chdir(place), contextlib.redirect_stdout(printed), contextlib.redirect_stderr(complaint):
            try:
                code = self._driver.main([*self._endpoint, *arguments])
            except SystemExit as left:  # a wrong option
                code = int(left.code or 0)
        printed.flush()
        content = printed.buffer.getvalue()  # type: ignore[attr-defined]
        return Command(arguments, content.decode(), code, self._calls), content, complaint.getvalue()

    def _cli_begins(self, params: Mapping[str, Any], **_others: Any) -> None:
        self._parameters = _plain(params)

    def _cli_answered(self, http_response: Any, parsed: dict[str, Any], model: Any, **_others: Any) -> None:
        if self._parameters is None:
            return  # seen already, by an event with a longer name
        body = None
        if hasattr(parsed.get("Body"), "read"):
            stream = parsed["Body"]
            body = stream.read()
            kind = next(base for base in type(stream).__mro__ if base.__name__ == "StreamingBody")
            parsed["Body"] = kind(io.BytesIO(body), len(body))
        kept = copy.deepcopy({name: value for name, value in parsed.items() if name != "Body" or body is None})
        self._calls.append(Call(model.name, self._parameters, http_response.status_code, kept, body))
        self._parameters = None


def _fresh(call: Call) -> dict[str, Any]:
    parsed = copy.deepcopy(call.parsed)
    if call.body is not None:
        parsed["Body"] = StreamingBody(io.BytesIO(call.body), len(call.body))
    return parsed


def _plain(value: Any) -> Any:
    """A parameter to compare: of JSON the value, of an open file the content, of an archive the files."""
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if hasattr(value, "read"):
        content = value.read()
        value.seek(0)
        return _plain(content)
    if isinstance(value, bytes | bytearray):
        if zipfile.is_zipfile(io.BytesIO(value)):
            with zipfile.ZipFile(io.BytesIO(value)) as archive:
                return {name: archive.read(name) for name in archive.namelist()}
        return _plain(bytes(value).decode())
    if isinstance(value, str) and value.startswith("{"):
        return _plain(json.loads(value))
    return value
