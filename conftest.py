"""What every test run shares: nothing of the person who runs it, and notebooks checked as stored."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

# Cells with these marks are run without a comparison, or not at all, and nbval says nothing about it.
_SILENT = ("nbval-skip", "nbval-ignore-output", "pytest-validate-ignore-output")
_NOT_INHERITED = ("ONCE_LANGUAGE", "JPY_SESSION_NAME", "JUPYTER_CONFIG_PATH", "JUPYTER_PATH", "JUPYTER_TOKEN")
_scratch: Path | None = None


def pytest_configure(config: pytest.Config) -> None:
    """Answers, settings and histories go to a folder of this run; each process of xdist has its own."""
    global _scratch
    _scratch = Path(tempfile.mkdtemp(prefix="once-tests-"))
    for name, folder in {
        "ONCE_HOME": "answers",
        "JUPYTER_CONFIG_DIR": "jupyter-config",
        "JUPYTER_DATA_DIR": "jupyter-data",
        "JUPYTER_RUNTIME_DIR": "jupyter-runtime",
        "IPYTHONDIR": "ipython",
    }.items():
        (_scratch / folder).mkdir()
        os.environ[name] = str(_scratch / folder)
    os.environ["JUPYTER_PLATFORM_DIRS"] = "1"
    _kernels_start_on_ports_of_their_own()
    for name in _NOT_INHERITED:
        os.environ.pop(name, None)


def _kernels_start_on_ports_of_their_own() -> None:
    """nbval and papermill start many kernels while handlers open connections: see helpers/course/kernel_ports.py."""
    from jupyter_client.connect import LocalPortCache

    from helpers.course.kernel_ports import free_port

    LocalPortCache.find_available_port = lambda self, ip: free_port(ip)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Each notebook has answers of its own: the index shows the progress of a learner who has not begun."""
    if item.path.suffix == ".ipynb" and _scratch is not None:
        os.environ["ONCE_HOME"] = str(_scratch / "answers" / f"{item.path.parent.name}-{item.path.stem}")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the run's folder."""
    if _scratch is not None:
        shutil.rmtree(_scratch, ignore_errors=True)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Beside nbval's own collector, look at each notebook as it is stored."""
    if file_path.suffix == ".ipynb" and parent.config.getoption("nbval", default=False):
        return StoredNotebook.from_parent(parent, path=file_path)
    return None


class StoredNotebook(pytest.File):
    """A committed notebook. nbval compares nothing for a cell that was never executed: this finds those."""

    def collect(self) -> Iterator[pytest.Item]:
        """One test for the whole file."""
        yield StoredCells.from_parent(self, name="stored")


class StoredCells(pytest.Item):
    """Every code cell was executed when the notebook was stored, and none escapes the comparison."""

    def runtest(self) -> None:
        """:raises AssertionError: lists the cells at fault by their ids."""
        faults = stored_faults(json.loads(self.path.read_text(encoding="utf-8")))
        assert not faults, f"{self.path.name}: " + "; ".join(faults) + ". Run `make notebooks`."

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str:
        """The message without a traceback, which would only show this file."""
        return str(excinfo.value)


def stored_faults(notebook: dict) -> list[str]:
    """What makes a strict comparison of this notebook (nbformat 4, as JSON) incomplete, as sentences."""
    faults: list[str] = []
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] != "code":
            continue
        name = f"cell {cell.get('id', number)}"
        source = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
        if source.strip() and cell.get("execution_count") is None:
            faults.append(f"{name} was not executed")
        marks = {tag.lower() for tag in cell.get("metadata", {}).get("tags", [])}
        marks |= {
            line.strip().lstrip("#").strip().lower().replace("_", "-")
            for line in source.splitlines()
            if line.strip().startswith("#")
        }
        faults.extend(f"{name} has the mark {mark}" for mark in sorted(marks.intersection(_SILENT)))
    return faults
