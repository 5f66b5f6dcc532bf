"""What is changed in an IPython shell: formatters, the display of errors, `%%writefile`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from helpers.lab.errors import LabError, StepMissing
from helpers.lab.faults import FaultNotice
from helpers.show import formatters

SOURCE = "print('é')\n\nif True:\n    pass\n"


@pytest.fixture
def shell(tmp_path: Path) -> InteractiveShell:
    """A shell that leaves nothing in the home of whoever runs the tests."""
    config = Config()
    config.HistoryManager.enabled = False
    made = InteractiveShell(config=config, ipython_dir=str(tmp_path / "ipython"))
    formatters.install(made)
    return made


def test_plain_types_are_shown(shell: InteractiveShell) -> None:
    data, _metadata = shell.display_formatter.format(FaultNotice("x", "Sent <once>."))
    assert "Sent &lt;once&gt;." in data["text/html"]
    assert "Sent <once>." in data["text/plain"]


def test_installing_twice_changes_nothing(shell: InteractiveShell) -> None:
    formatters.install(shell)
    data, _metadata = shell.display_formatter.format(FaultNotice("x", "once"))
    assert data["text/plain"].count("once") == 1


def test_an_error_of_the_lab_is_three_sentences(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.push({"StepMissing": StepMissing})
    result = shell.run_cell("raise StepMissing('connect', 'It was not run.', 'There is no queue.', 'Run it first.')")
    printed = capsys.readouterr().out
    assert isinstance(result.error_in_exec, StepMissing), "the cell has failed all the same"
    assert "✗ It was not run." in printed
    assert "→ Run it first." in printed
    assert "Traceback" not in printed
    assert "raise StepMissing" not in printed


def test_other_errors_keep_their_traceback(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    result = shell.run_cell("1 / 0")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert "Traceback" in capsys.readouterr().out


def test_an_unknown_name_gets_advice_below_its_traceback(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    formatters.install(shell)
    shell.run_cell("print(queue_url)")
    printed = capsys.readouterr().out
    assert "NameError" in printed
    assert printed.count("queue_url is not known yet") == 1
    shell.run_cell("1 / 0")
    assert "is not known" not in capsys.readouterr().out


@pytest.mark.parametrize("quote", ["", '"', "'"])
def test_writefile_writes_the_cell_as_it_is(
    shell: InteractiveShell, tmp_path: Path, capsys: pytest.CaptureFixture[str], quote: str
) -> None:
    folder = tmp_path / "Jean Dupont" / "once"
    folder.mkdir(parents=True)
    shell.push({"folder": folder})
    cell = f"%%writefile {quote}{{folder}}/app.py{quote}\n{SOURCE}"
    for _run in range(2):
        assert shell.run_cell(cell).success
        assert capsys.readouterr().out == "Saved: app.py\n", "the same each time, and no path"
        assert (folder / "app.py").read_bytes() == SOURCE.encode("utf-8")


@pytest.mark.parametrize("line", ["-a {folder}/app.py", "--append {folder}/app.py", "{folder}/app.py -a"])
def test_writefile_can_add(shell: InteractiveShell, tmp_path: Path, line: str, capsys: Any) -> None:
    shell.push({"folder": tmp_path})
    for _run in range(2):
        shell.run_cell(f"%%writefile {line}\nx = 1\n")
    assert (tmp_path / "app.py").read_text(encoding="utf-8") == "x = 1\nx = 1\n"
    assert "app.py" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "words"), [("", "no file name"), ("{folder}/gone/app.py", "The file app.py was not written.")]
)
def test_writefile_explains_what_went_wrong(
    shell: InteractiveShell, tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, words: str
) -> None:
    shell.push({"folder": tmp_path})
    result = shell.run_cell(f"%%writefile {line}\nx = 1\n")
    assert isinstance(result.error_in_exec, LabError)
    assert words in capsys.readouterr().out
