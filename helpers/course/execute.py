"""Running a notebook the way a learner does: in a fresh kernel, with a clean environment."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from helpers.course.kernel_ports import kernel_config
from helpers.course.syllabus import HERE

# A lesson waits for a while now and then: with three kernels and their workers, two cores are never idle.
AT_ONCE = 3

# Seconds for one cell. A cell waits for queues and workers; more than this is a fault of the lesson.
CELL_TIMEOUT = 120

# What a person's shell, editor or test runner leaves behind and a lesson could see.
_FOREIGN = ("AWS_", "BOTO", "JPY_", "ONCE_", "PYTEST_", "COV_")


class ExecutionError(Exception):
    """A cell could not be run to its end. `cell` is its id ("" if the kernel died)."""

    def __init__(self, cell: str, what: str) -> None:
        super().__init__(f"[{cell}] {what}" if cell else what)
        self.cell = cell


def execute(notebook: NotebookNode, folder: Path, language: str, root: Path = HERE.root) -> None:
    """Run all cells in `folder` and put the outputs into `notebook`. Answers go to a folder that is removed.

    The kernel imports the helpers of the checkout `root`.

    :raises ExecutionError: an error without the tag raises-exception, an endless cell, a dead kernel.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="once-build-", ignore_cleanup_errors=True) as home:
        client = NotebookClient(
            notebook,
            timeout=CELL_TIMEOUT,
            kernel_name="python3",
            record_timing=False,
            store_widget_state=False,
            # Errors of a cell are in its outputs; what is left is a warning about TCP, the same for every run.
            extra_arguments=["--Application.log_level=ERROR"],
            resources={"metadata": {"path": str(folder)}},
            config=kernel_config(),
        )
        try:
            client.execute(env=environment(os.environ, home, language, root))
        except CellExecutionError as error:
            raise ExecutionError(_failed(notebook), str(error)) from error
        except CellTimeoutError as error:
            raise ExecutionError(_running(notebook), f"the cell ran longer than {CELL_TIMEOUT} s") from error
        except DeadKernelError as error:
            raise ExecutionError(_running(notebook), "the kernel died") from error


def environment(environ: Mapping[str, str], home: str, language: str, root: Path = HERE.root) -> dict[str, str]:
    """The environment of the kernel: this one without what is foreign to a lesson, plus our own helpers."""
    kept = {name: value for name, value in environ.items() if not name.upper().startswith(_FOREIGN)}
    # A checkout without helpers of its own, such as a small course in a test, has those of this one.
    path = os.pathsep.join(dict.fromkeys(filter(None, [str(root), str(HERE.root), environ.get("PYTHONPATH", "")])))
    return {
        **kept,
        "ONCE_HOME": home,
        "ONCE_LANGUAGE": language,
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": path,
        "PYTHONUTF8": "1",
        "TZ": "UTC",
    }


def _failed(notebook: NotebookNode) -> str:
    for cell in reversed(notebook.cells):
        if any(output.output_type == "error" for output in cell.get("outputs", [])):
            return str(cell.id)
    return ""


def _running(notebook: NotebookNode) -> str:
    """The cell after the last one that has a count."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    done = [number for number, cell in enumerate(code) if cell.execution_count]
    place = max(done, default=-1)
    return str(code[min(place + 1, len(code) - 1)].id) if code else ""
