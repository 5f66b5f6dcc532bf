"""One run, in a process of its own: what breaks in it breaks nothing else.

`execute` is called here or by a Dask worker on another machine. It starts `python -m helpers.grid.one`, which runs
papermill; the notebook goes in and comes out as text, so that the machines share no disk.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers.course.syllabus import HERE
from helpers.lab.language import texts

LONGEST = 1800
"""Seconds for a whole run. A cell has a shorter limit, so this ends only what ignores it."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a run needs. `notebook` is the text of the .ipynb; `course` the digest of the course that asks for it, where
    another machine must have the same, else empty."""

    key: str
    notebook: str
    parameters: Mapping[str, Any]
    language: str
    course: str


@dataclass(frozen=True, slots=True)
class Executed:
    """What came of a job: the text of the executed notebook ("" if there is none), and the error, if any."""

    key: str
    notebook: str
    error: str = ""


def execute(job: Job, started: Callable[[subprocess.Popen[bytes]], None] = lambda _process: None) -> Executed:
    """Run one job to its end. Errors of the notebook, the kernel or the machine are in the result.

    `started` gets the process, so that it can be ended.
    """
    from helpers.course.execute import environment

    # A worker of Dask may do jobs of several languages at once.
    _ = texts(job.language).gettext
    if job.course and course_digest(HERE.root) != job.course:
        return Executed(job.key, "", _("The machine of this run has another version of the course."))
    with tempfile.TemporaryDirectory(prefix="once-grid-", ignore_cleanup_errors=True) as folder:
        place = Path(folder)
        (place / "answers").mkdir()
        (place / "given.ipynb").write_text(job.notebook, encoding="utf-8", newline="\n")
        (place / "parameters.json").write_text(json.dumps(dict(job.parameters)), encoding="utf-8", newline="\n")
        variables = environment(os.environ, str(place / "answers"), job.language)
        with (place / "log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "helpers.grid.one", folder],
                cwd=folder,
                env=variables,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                **_ALONE,
            )
            started(process)
            try:
                process.wait(LONGEST)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            finally:
                if process.stdin is not None:
                    with suppress(OSError):
                        process.stdin.close()
        done = place / "executed.ipynb"
        notebook = done.read_text(encoding="utf-8") if done.exists() else ""
        result = place / "error"
        if result.exists():
            return Executed(job.key, notebook, result.read_text(encoding="utf-8"))
        said = (place / "log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        ended = _("The process ended with the exit code {code}. Last line of its output: {line}")
        line = said[-1] if said else _("no output")
        return Executed(job.key, notebook, ended.format(code=process.returncode, line=line))


def course_digest(root: Path) -> str:
    """What the helpers and handlers of a checkout are; the same for the same files, on each system."""
    whole = hashlib.sha256()
    files = [*(root / "helpers").rglob("*.py"), *(root / "lessons").glob("*/handlers/*.py")]
    for path in sorted(files, key=lambda one: one.relative_to(root).as_posix()):
        whole.update(path.relative_to(root).as_posix().encode())
        whole.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return whole.hexdigest()


# Ctrl-C in the terminal goes to all processes of its group: a run that gets it would end as a bad run.
_ALONE: dict[str, Any] = (
    {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}  # type: ignore[attr-defined]  # of Windows
    if sys.platform == "win32"
    else {"start_new_session": True}
)


def main(folder: Path) -> None:
    """Execute given.ipynb; write executed.ipynb, and the file `error`, which is empty when all went well."""
    _end_with_parent()
    import papermill
    from papermill.exceptions import PapermillExecutionError

    from helpers.course.execute import CELL_TIMEOUT
    from helpers.course.kernel_ports import kernel_config

    error = ""
    try:
        papermill.execute_notebook(
            str(folder / "given.ipynb"),
            str(folder / "executed.ipynb"),
            parameters=json.loads((folder / "parameters.json").read_text(encoding="utf-8")),
            cwd=str(folder),
            kernel_name="python3",
            progress_bar=False,
            request_save_on_cell_execute=False,  # to check and write the notebook takes longer than to run a cell
            execution_timeout=CELL_TIMEOUT,
            store_widget_state=False,
            extra_arguments=["--Application.log_level=ERROR"],
            config=kernel_config(),
        )
    except PapermillExecutionError as raised:
        error = f"{raised.ename}: {raised.evalue}"
    except Exception as raised:  # whatever a dead kernel, a full disk or nbclient raises: it is the run's result
        error = f"{type(raised).__name__}: {raised}"
    (folder / "error").write_text(error, encoding="utf-8", newline="\n")


def _end_with_parent() -> None:
    """End when the one that started this process is gone: its end of the pipe is closed then."""

    def wait() -> None:
        sys.stdin.buffer.read()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
