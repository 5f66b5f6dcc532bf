"""The account of a lesson in a terminal."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from helpers.lab import Lab
from helpers.lab.terminal import Terminal, write_files
from helpers.show.formatters import bundle_of


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")
def test_the_line_leads_a_terminal_to_the_account_and_to_the_code_of_the_lesson(lab: Lab) -> None:
    answer = subprocess.run(
        ["sh", "-c", f'{lab.terminal().line} && echo "$AWS_ENDPOINT_URL" "$ONCE_FOLDER"'],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={"PATH": "/usr/bin:/bin"},
    )
    assert answer.stdout.split() == [lab.cloud.endpoint, str(lab.folder)]


def test_on_windows_powershell_reads_the_file_because_it_runs_none(lab: Lab, tmp_path: Path) -> None:
    folder = tmp_path / "l'été"
    folder.mkdir()
    line = write_files(lab.cloud, folder, windows=True).line
    quoted = str(folder / "aws.ps1").replace("'", "''")
    assert line == f"Get-Content -Raw -Encoding utf8 -LiteralPath '{quoted}' | Invoke-Expression"
    assert sorted(file.name for file in folder.iterdir()) == ["aws.cmd", "aws.ps1", "aws.sh"]


def test_the_line_is_shown_whole_and_escaped() -> None:
    shown = bundle_of(Terminal(". '/tmp/a <b>/aws.sh'"))
    assert ". '/tmp/a <b>/aws.sh'" in shown["text/plain"]
    assert "/tmp/a &lt;b&gt;/aws.sh" in shown["text/html"]
