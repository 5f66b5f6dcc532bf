"""The doctor's lines: what is right, what is not, what to do; on this machine and on made-up ones."""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from helpers.launcher import command, doctor, installed, probe
from helpers.launcher.environment import ROOT, Environment, Stamp
from helpers.launcher.installed import Installed, chosen
from tests.launcher.conftest import put_in

pytestmark = pytest.mark.early

SEEN = {
    "jupyterlab": "4.6.6",
    "kernel": "",
    "account": "",
    "worker": "",
    "answers": {"folder": "/home/you/answers", "first": True},
}


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    """A clone without .venv."""
    for name in ("requirements.lock", "requirements-test.lock"):
        (tmp_path / name).write_text("six==1.17.0 \\\n    --hash=sha256:" + "0" * 64 + "\n", encoding="utf-8")
    return Environment(tmp_path)


@pytest.fixture
def ready(environment: Environment) -> Environment:
    """As after a set-up."""
    environment.python.parent.mkdir(parents=True)
    environment.python.write_text("", encoding="utf-8")
    environment._write(Stamp("ready", str(environment.root), {"course": environment.digest("course")}))
    put_in(environment, "six", "1.17.0")
    return environment


def shown(findings: list[doctor.Finding]) -> dict[str, str]:
    return {finding.words: finding.outcome for finding in findings}


def test_this_machine_is_well(tmp_path: Path) -> None:
    """The real thing: a kernel starts, an account answers, a function runs."""
    variables = {**os.environ, "ONCE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "helpers.launcher.probe"],
        capture_output=True,
        text=True,
        env=variables,
        cwd=tmp_path,
        check=True,
    )
    seen = json.loads(done.stdout)
    assert {name: seen[name] for name in ("kernel", "account", "worker")} == {"kernel": "", "account": "", "worker": ""}
    assert seen["answers"] == {"folder": str(tmp_path / "answers"), "first": True}
    assert not installed.too_old(seen["jupyterlab"])


def test_lines_and_exit_code(
    ready: Environment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "_probe", lambda *_: SEEN)
    assert command.run(["doctor"], ready.root) == 0
    said = capsys.readouterr().out
    assert "✓ The environment .venv is complete.\n" in said
    assert "✓ A kernel starts and runs a cell.\n" in said, said
    assert said.rstrip().endswith("`make lab`." if os.name != "nt" else "`py -m helpers lab`.")
    monkeypatch.setattr(doctor, "_probe", lambda *_: SEEN | {"worker": "Timeout: 3"})
    assert command.run(["doctor"], ready.root) == 1
    assert "✗ A function of the emulated account could not be run: Timeout: 3\n  → " in capsys.readouterr().out


def test_it_answers_in_the_language_that_is_asked_for(
    ready: Environment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from helpers.launcher import words

    monkeypatch.setattr(doctor, "_probe", lambda *_: SEEN)
    monkeypatch.setattr(words, "read_messages", lambda path: {"A kernel starts and runs a cell.": f"{path.stem}: oui"})
    command.run(["doctor", "--language", "fr"], ready.root)
    assert "✓ fr: oui\n" in capsys.readouterr().out


def test_before_the_set_up_it_looks_at_what_the_set_up_needs(
    environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "network", lambda environment: doctor.Finding("good", "network"))
    monkeypatch.setattr(doctor, "_probe", lambda *_: pytest.fail("there is nothing to try yet"))
    lines = shown(list(doctor.findings(environment)))
    assert lines["The course is not set up yet: there is no folder .venv."] == "note"
    assert lines["network"] == "good"
    assert "bad" not in lines.values()
    assert any("tried only after the set-up" in words for words in lines)


def test_a_half_installed_environment(ready: Environment) -> None:
    ready._write(Stamp("installing", str(ready.root)))
    finding = doctor.installed(ready)
    assert (finding.outcome, finding.words) == ("bad", "An earlier set-up did not come to its end.")
    assert "setup" in finding.next_step


def test_an_environment_that_lost_a_file_or_a_package_or_got_an_old_one(ready: Environment) -> None:
    about = next(ready.folder.rglob("*.dist-info"))
    (about / "RECORD").write_text("six.py,,\n", encoding="utf-8")
    assert "six.py" in doctor.installed(ready).words
    (about.parent / "six.py").touch()
    old = about.rename(about.with_name("six-1.16.0.dist-info"))
    finding = doctor.installed(ready)
    assert finding.outcome == "bad"
    assert "six 1.16.0 ≠ 1.17.0" in finding.words
    old.rename(about)
    assert doctor.installed(ready).outcome == "good"
    shutil.rmtree(about)
    finding = doctor.installed(ready)
    assert (finding.outcome, "six.dist-info" in finding.words, "setup" in finding.next_step) == ("bad", True, True)


def test_setup_repairs_exchanged_packages(ready: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(next(ready.folder.rglob("*.dist-info")))
    put_in(ready, "six", "1.16.0")
    made: list[str] = []
    monkeypatch.setattr(ready, "_install", made.append)
    ready.repair("course")
    assert made == ["course"]


@pytest.mark.parametrize(
    ("version", "outcome"), [("4.6.6", "good"), ("4.4.9", "bad"), ("3.6.8", "bad"), ("", "bad"), ("5.0.0rc1", "good")]
)
def test_an_old_jupyterlab(ready: Environment, monkeypatch: pytest.MonkeyPatch, version: str, outcome: str) -> None:
    monkeypatch.setattr(doctor, "_probe", lambda *_: SEEN | {"jupyterlab": version})
    first = next(doctor.course(ready, ready.python))
    assert first.outcome == outcome
    assert bool(first.next_step) is (outcome == "bad")


@pytest.mark.parametrize(
    ("seen", "outcome"),
    [
        ({"folder": "/x", "first": True}, "good"),
        ({"folder": "/tmp/x", "first": False}, "note"),
        ({"folder": None, "first": False}, "bad"),
        ("OSError: x", "unknown"),
    ],
)
def test_the_folder_of_the_answers(seen: object, outcome: str) -> None:
    assert doctor._answers(seen).outcome == outcome


def test_a_probe_that_says_nothing(ready: Environment) -> None:
    """The Python of this .venv is an empty file."""
    lines = list(doctor.course(ready, ready.python))
    assert [line.outcome for line in lines] == ["bad", "bad", "bad", "bad", "unknown"]


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=50_000_000))
    finding = doctor.disk(tmp_path, 600)
    assert (finding.outcome, finding.words) == ("bad", "The disk has 50 MB left. The course needs 600 MB.")


def test_a_folder_that_takes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(dir: Path) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    assert [finding.outcome for finding in doctor.folders(tmp_path)] == ["good"]
    monkeypatch.setattr(doctor.tempfile, "TemporaryFile", refuse)
    [finding, *_] = doctor.folders(tmp_path)
    assert finding.outcome == "bad"
    assert str(tmp_path) in finding.words


def test_no_network(environment: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pip")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    finding = doctor.network(environment)
    assert finding.outcome == "bad"
    assert "cannot be reached" in finding.words


def test_a_port_in_use_is_no_obstacle() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        number = other.getsockname()[1]
        assert doctor.port(number).outcome == "note"
    assert doctor.port(number).outcome == "good"


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git(tmp_path: Path) -> None:
    assert "no git clone" in doctor.git(tmp_path).words
    for line in ("init -q", "add .", "-c user.name=a -c user.email=a commit -q --allow-empty -m a"):
        (tmp_path / "a.txt").write_text("a", encoding="utf-8")
        subprocess.run(["git", *line.split()], cwd=tmp_path, check=True)
    assert doctor.git(tmp_path).outcome == "good"
    (tmp_path / "a.txt").write_text("b", encoding="utf-8")
    finding = doctor.git(tmp_path)
    assert finding.outcome == "note"
    assert "a.txt" in finding.words
    assert "git stash" in finding.next_step


def test_an_environment_that_has_the_packages_is_used_as_it_is(environment: Environment) -> None:
    found = chosen(environment.root)
    assert isinstance(found, Installed)
    assert found.prepare("course") == Path(sys.executable)
    assert not (environment.root / ".venv").exists()
    assert found.variables()["PYTHONPATH"].split(os.pathsep)[0] == str(environment.root)
    environment.folder.mkdir()
    assert not isinstance(chosen(environment.root), Installed)


def test_an_old_jupyterlab_is_refused_before_it_starts(
    ready: Environment, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    put_in(ready, "jupyterlab", "4.2.5")
    put_in(ready, "jupyterlab_server", "9")
    for name in ("lab", "project"):
        assert command.run([name], ready.root) == 1
        said = capsys.readouterr().err
        assert "JupyterLab 4.2.5 is too old. The course needs 4.5 or newer.\nNext: Repair .venv" in said
    shutil.rmtree(ready.folder)
    monkeypatch.setattr(Installed, "jupyterlab_version", lambda self: "4.2.5")
    assert command.run(["lab"], ready.root) == 1
    assert "Next: With conda: `conda env update" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="a script stands for Python")
@pytest.mark.parametrize("name", ["gates", "slides", "handouts", "bench"])
def test_a_program_that_fails_for_a_missing_file_says_how_to_repair(
    ready: Environment, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    ready.python.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    ready.python.chmod(0o755)
    record = ready.folder / "lib/python3.12/site-packages/six-1.17.0.dist-info/RECORD"
    record.write_text("six.py,,\n", encoding="utf-8")
    assert command.run([name], ready.root) == 1
    assert "One of them is six.py.\nNext: Repair .venv" in capsys.readouterr().err
    (record.parents[1] / "six.py").touch()
    assert command.run([name], ready.root) == 1
    assert capsys.readouterr().err == "", "the program has said what is wrong"


def test_signs_in_a_terminal_of_ascii() -> None:
    code = (
        "from helpers.launcher.doctor import Finding\n"
        "print(Finding('bad', 'no', 'do').lines(), Finding('good', 'y').lines())"
    )
    environ = os.environ | {"PYTHONIOENCODING": "ascii:replace", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout == "X no\n  -> do OK y\n"


def test_a_language_that_there_is_not(ready: Environment, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(["doctor", "--language", "xx"], ready.root) == 1
    said = capsys.readouterr()
    assert "not in the language “xx”. It is in these: en, es, fr, ru." in said.err
    assert said.out == ""


def test_a_foreign_environment_is_to_be_deleted_first(environment: Environment) -> None:
    environment.folder.mkdir()
    finding = doctor.installed(environment)
    assert finding.outcome == "bad"
    assert "clean" in finding.next_step


def test_an_environment_that_cannot_be_entered_is_not_ready(
    ready: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(*_arguments: object, **_more: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(type(ready.python), "stat", closed)
    monkeypatch.setattr(type(ready.python), "exists", closed)
    stat = os.stat
    monkeypatch.setattr(os, "stat", lambda path, **more: closed() if path == ready.python else stat(path, **more))
    assert not ready.ready("course")


def test_clean_keeps_what_experiments_have_written(ready: Environment, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("experiments/fr", "slides"):
        (ready.root / "build" / name).mkdir(parents=True)
    assert command.run(["clean"], ready.root) == 0
    assert [path.name for path in (ready.root / "build").iterdir()] == ["experiments"]
    assert "kept: build/experiments" in capsys.readouterr().out
    (ready.root / "build/experiments/fr").rmdir()
    (ready.root / "build/experiments").rmdir()
    assert command.run(["clean"], ready.root) == 0
    assert not (ready.root / "build").exists()


def test_the_reason_of_a_failure_is_one_line() -> None:
    assert probe._reason(ValueError("a\n\nb\n")) == "ValueError: b"
    assert probe._reason(ValueError()) == "ValueError: "
