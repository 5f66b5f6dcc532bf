"""A file that leads the programs of a terminal to the account: one line, and the AWS CLI uses it.

The suffix says for which shell it is: `.ps1` for PowerShell, `.cmd` or `.bat` for the command prompt of Windows,
anything else for a POSIX shell (`sh`, `bash`, `zsh`, Git Bash).
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath


def write(path: Path, variables: Mapping[str, str], cli: str | None) -> None:
    """Write the file. `variables` are those of the account; `cli` is the folder that comes first in PATH, if any.

    Without `cli` the AWS CLI is whichever the terminal finds; a POSIX shell and PowerShell then add the address to each
    call, because the AWS CLI 1 passes over it for SQS (see helpers.aws_cli).

    :raises FileNotFoundError: the folder of `path` does not exist.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no folder for this file, make it first", str(path))
    given = {name: value for name, value in variables.items() if name != "PATH"}
    suffix = path.suffix.lower()
    if suffix == ".ps1":
        lines, encoding, newline = _powershell(given, cli), "utf-8-sig", "\r\n"  # PowerShell 5 takes no mark for ANSI
    elif suffix in (".cmd", ".bat"):
        lines, encoding, newline = _command_prompt(given, cli), "oem" if os.name == "nt" else "utf-8", "\r\n"
    else:
        lines, encoding, newline = _posix(given, cli), "utf-8", "\n"
    # A shell runs what stands in it: nobody else may write to it, also when it was there before.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding=encoding, newline=newline) as file:
        if os.name != "nt":
            with contextlib.suppress(OSError):
                os.fchmod(descriptor, 0o600)
        file.write("\n".join(lines) + "\n")


def line(path: PurePath) -> str:
    """What is typed in a shell to read the file; a relative name is one from the folder of the terminal.

    PowerShell reads the text and runs no file: by default Windows lets it run no script. The command prompt has no `.`;
    there a file that is called sets the variables of the terminal itself.
    """
    suffix = path.suffix.lower()
    if suffix == ".ps1":
        return f"Get-Content -Raw -Encoding utf8 -LiteralPath {_single_quoted(str(path))} | Invoke-Expression"
    here = path.name == str(path)
    if suffix in (".cmd", ".bat"):
        return f'".\\{path}"' if here else f'"{path}"'
    # Without a folder, sh and zsh would look for it in PATH.
    return f". {shlex.quote(f'./{path}' if here else str(path))}"


def settings(variables: Mapping[str, str], windows: bool = os.name == "nt") -> str:
    """What is typed without a file: in PowerShell, which Windows opens for a terminal; elsewhere in a POSIX shell."""
    if windows:
        return "; ".join(f"$env:{name} = {_single_quoted(value)}" for name, value in variables.items())
    return "export " + " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items())


def _posix(variables: Mapping[str, str], cli: str | None) -> Iterator[str]:
    # All of them: AWS_ENDPOINT_URL_SQS or AWS_IGNORE_CONFIGURED_ENDPOINT_URLS would lead elsewhere, too.
    yield "unset BOTO_CONFIG $(env | sed -n 's/^\\(AWS_[A-Za-z0-9_]*\\)=.*/\\1/p')"
    yield from (f"export {name}={shlex.quote(value)}" for name, value in variables.items())
    # Git Bash would take the name of a log group, /aws/lambda/…, for a file of Windows.
    yield "export MSYS_NO_PATHCONV=1"
    if cli:
        yield f'export PATH={shlex.quote(_for_git_bash(cli))}:"$PATH"'
    else:
        yield 'aws() { command aws --endpoint-url "$AWS_ENDPOINT_URL" "$@"; }'


def _for_git_bash(folder: str) -> str:
    """C:\\x becomes /c/x, as the PATH of Git Bash has it; other folders stay."""
    drive = re.match(r"([A-Za-z]):[\\/]", folder)
    return f"/{drive[1].lower()}/{folder[3:]}".replace("\\", "/") if drive else folder


def _powershell(variables: Mapping[str, str], cli: str | None) -> Iterator[str]:
    yield "Remove-Item Env:AWS_*, Env:BOTO_CONFIG -ErrorAction SilentlyContinue"
    yield from (f"$env:{name} = {_single_quoted(value)}" for name, value in variables.items())
    if cli:
        yield f"$env:PATH = {_single_quoted(cli + os.pathsep)} + $env:PATH"
    else:
        yield (
            "function aws { & (Get-Command aws -CommandType Application | Select-Object -First 1) "
            "--endpoint-url $env:AWS_ENDPOINT_URL @args }"
        )


def _single_quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _command_prompt(variables: Mapping[str, str], cli: str | None) -> Iterator[str]:
    yield "@echo off"
    yield 'for /f "delims==" %%v in (\'set AWS_ 2^>nul\') do set "%%v="'
    yield 'set "BOTO_CONFIG="'
    for name, value in variables.items():
        yield f'set "{name}={value.replace("%", "%%")}"'
    if cli:
        yield f'set "PATH={cli.replace("%", "%%")}{os.pathsep}%PATH%"'
