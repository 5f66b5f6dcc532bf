"""Set-up of .venv: what its stamp says, and what a person reads when something is missing."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from helpers.launcher import __main__ as door
from helpers.launcher import environment as module
from helpers.launcher.environment import ROOT, Environment, Stamp, remove
from helpers.launcher.packages import requirement
from helpers.launcher.terminal import Trouble, run_logged
from helpers.launcher.troubles import failed_set_up
from tests.launcher.conftest import put_in

pytestmark = pytest.mark.early

HASH = "--hash=sha256:" + "0" * 64


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with lock files of one package each, as far as set-up is concerned a clone."""
    root = tmp_path / "once"
    root.mkdir()
    for name in module.LOCKS.values():
        (root / name).write_text(f"uv==0.1 \\\n    {HASH}\n", encoding="utf-8")
    return root


@pytest.fixture
def installed(clone: Path) -> Environment:
    """An environment that looks as it does after a set-up of the course."""
    environment = Environment(clone)
    environment.python.parent.mkdir(parents=True)
    environment.python.write_text("", encoding="utf-8")
    environment._write(Stamp("ready", str(clone), {"course": environment.digest("course")}))
    put_in(environment, "uv", "0.1")
    return environment


def test_a_finished_set_up_is_ready(installed: Environment) -> None:
    assert installed.ready("course")
    assert not installed.ready("test")


def test_a_changed_lock_is_not_ready(installed: Environment) -> None:
    lock = installed.root / "requirements.lock"
    lock.write_text(lock.read_text(encoding="utf-8") + "# newer\n", encoding="utf-8")
    assert not installed.ready("course")


def test_line_ends_of_a_checkout_do_not_matter(installed: Environment) -> None:
    lock = installed.root / "requirements.lock"
    lock.write_bytes(lock.read_bytes().replace(b"\n", b"\r\n"))
    assert installed.ready("course")


def test_a_moved_clone_is_not_ready(installed: Environment, tmp_path: Path) -> None:
    installed.root.rename(tmp_path / "elsewhere")
    assert not Environment(tmp_path / "elsewhere").ready("course")


def test_repair_makes_an_environment_with_deleted_files_again(
    installed: Environment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    packages = installed.folder / ("Lib" if os.name == "nt" else "lib/python3.12") / "site-packages"
    (packages / "moto-5.dist-info").mkdir(parents=True)
    lines = '"moto/a,b.py",sha256=x,1\nmoto/__pycache__/a.pyc,,\nmoto-5.dist-info/RECORD,,\n'
    (packages / "moto-5.dist-info" / "RECORD").write_text(lines, encoding="utf-8")
    (packages / "moto").mkdir()
    (packages / "moto" / "a,b.py").write_text("", encoding="utf-8")
    made: list[str] = []
    monkeypatch.setattr(installed, "_install", made.append)
    installed.repair("course")
    assert made == []
    assert capsys.readouterr().out == ""

    (packages / "moto" / "a,b.py").unlink()
    assert installed.missing() == ["moto/a,b.py"]
    installed.repair("course")
    assert made == ["course"]
    assert not installed.folder.exists()
    assert "moto/a,b.py" in capsys.readouterr().out


@pytest.mark.parametrize("recorded", [["uv"], []], ids=["", "stamp of an earlier course"])
def test_a_lost_package_is_put_in_again_without_anything_else(
    installed: Environment, recorded: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its folder dist-info all that named its files is gone too."""
    installed._write(Stamp("ready", str(installed.root), {"course": installed.digest("course")}, packages=recorded))
    monkeypatch.setattr(installed, "_version", lambda: "3.12.1")
    monkeypatch.setattr(installed, "_install_course", lambda: None)
    monkeypatch.setattr(installed, "_install_packages", lambda lock: put_in(installed, "uv", "0.1"))
    marker = installed.folder / "mine"
    marker.touch()
    installed.prepare("course")
    assert capsys.readouterr().out == ""

    shutil.rmtree(next(installed.folder.rglob("uv-0.1.dist-info")))
    assert installed.missing() == ["uv.dist-info/RECORD"]
    installed.prepare("course")
    assert "Packages are missing" in capsys.readouterr().out
    assert marker.exists()
    assert installed.missing() == []
    stamp = installed.stamp()
    assert stamp is not None
    assert (stamp.state, stamp.packages) == ("ready", ["uv"])


def test_a_package_of_another_system_is_not_missed(clone: Path, installed: Environment) -> None:
    lock = clone / "requirements.lock"
    lock.write_text(
        f"uv==0.1 \\\n    {HASH}\npywin32==312 ; sys_platform == 'win32' \\\n    {HASH}\n", encoding="utf-8"
    )
    installed._write(Stamp("ready", str(clone), {"course": installed.digest("course")}))
    assert installed.lost() == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"state": "ready"}', '{"state": "ready", "root": "x", "new": 1}'])
def test_a_stamp_that_cannot_be_read_is_no_stamp(installed: Environment, text: str) -> None:
    installed.stamp_file.write_text(text, encoding="utf-8")
    assert installed.stamp() is None
    assert not installed.ready("course")


def test_an_interrupted_set_up_starts_again(installed: Environment, capsys: pytest.CaptureFixture[str]) -> None:
    installed._write(Stamp("installing", str(installed.root)))
    assert not installed.ready("course")
    assert not installed._usable()
    assert "did not come to its end" in capsys.readouterr().out


def test_a_broken_python_is_made_again(installed: Environment, capsys: pytest.CaptureFixture[str]) -> None:
    assert not installed._usable()
    assert "no longer fits" in capsys.readouterr().out


def test_somebody_elses_half_made_folder_is_left_alone(clone: Path) -> None:
    environment = Environment(clone)
    (environment.folder / "bin").mkdir(parents=True)
    with pytest.raises(Trouble) as trouble:
        environment.prepare("course")
    assert "already here" in trouble.value.what
    assert "Delete it" in trouble.value.next_step
    assert environment.folder.exists()


def test_a_working_environment_of_somebody_else_is_used(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    environment = Environment(clone)
    environment.folder.mkdir()
    bin_folder = environment.python.parent
    bin_folder.symlink_to(Path(sys.executable).parent, target_is_directory=True)
    assert environment._usable()
    assert "already here" in capsys.readouterr().out


def test_a_missing_lock_file(clone: Path) -> None:
    (clone / ".git").mkdir(exist_ok=True)
    (clone / "requirements.lock").unlink()
    with pytest.raises(Trouble) as trouble:
        Environment(clone).prepare("course")
    assert "git checkout -- requirements.lock" in trouble.value.next_step


def test_python_without_venv(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = module.importlib.util.find_spec
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None if name == "ensurepip" else find(name))
    with pytest.raises(Trouble) as trouble:
        Environment(clone).prepare("course")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert f"python{version}-venv" in trouble.value.next_step
    assert not (clone / ".venv").exists()


def test_no_network_at_the_first_start(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real .venv is made; then pip finds nobody at the index's address."""
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    environment = Environment(clone)
    with pytest.raises(Trouble) as trouble:
        environment.prepare("course")
    assert "cannot be reached" in trouble.value.what
    assert str(environment.log) in trouble.value.next_step
    assert environment.stamp() == Stamp("installing", str(clone))


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "disk is full"),
        ("SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]", "certificate"),
        ("error: Failed to fetch: `...`\n  Caused by: dns error", "cannot be reached"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES", "not the one that the course expects"),
        ("first\nsomething new\n\n", "something new"),
        ("", "no output"),
    ],
)
def test_each_failure_says_what_it_is(clone: Path, output: str, words: str) -> None:
    trouble = failed_set_up("The packages could not be installed.", output, Environment(clone).log)
    assert words in trouble.what
    assert "again" in trouble.next_step


def test_a_disk_without_room_explains_whatever_fails(installed: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=1_000_000))
    monkeypatch.setattr(installed, "_uv", lambda lock: installed.folder / "uv")
    monkeypatch.setattr(installed, "_pip", lambda *arguments: pytest.fail("pip has no room either"))
    monkeypatch.setattr(module, "run_logged", lambda *arguments: (2, "  Caused by: failed to open file"))
    with pytest.raises(Trouble, match="The disk is full"):
        installed._install_packages("requirements.lock")


def test_one_package_is_cut_out_of_a_lock(tmp_path: Path) -> None:
    lock = tmp_path / "x.lock"
    lock.write_text(f"a==1 \\\n    {HASH}\nuv==2 \\\n    {HASH} \\\n    {HASH}\nuvx==3\n", encoding="utf-8")
    assert requirement(lock, "uv") == f"uv==2 \\\n    {HASH} \\\n    {HASH}\n"
    assert requirement(lock, "b") is None


def test_a_second_set_up_waits_for_the_first(installed: Environment) -> None:
    code = (
        "import sys; from pathlib import Path; from helpers.launcher.environment import Environment\n"
        "with Environment(Path(sys.argv[1]))._alone(): print('in', flush=True)"
    )
    with installed._alone():
        second = subprocess.Popen(
            [sys.executable, "-c", code, str(installed.root)], stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        assert second.stdout is not None
        assert "Waiting" in second.stdout.readline()
    assert second.stdout.readline() == "in\n"
    assert second.wait(20) == 0


def test_remove_takes_a_link_and_not_what_it_points_to(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "kept", target_is_directory=True)
    remove(tmp_path / "link")
    remove(tmp_path / "link")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


@pytest.mark.parametrize(
    "name",
    ["__init__.py", "__main__.py", "system_language.py"]
    + [f"launcher/{name}.py" for name in ("__init__", "__main__", "words")],
)
def test_an_old_python_can_read_the_door(name: str) -> None:
    source = (ROOT / "helpers" / name).read_text(encoding="utf-8")
    assert ast.parse(source, feature_version=(3, 7))


def test_an_old_python_says_what_is_needed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(door.sys, "version_info", (3, 9, 2, "final", 0))
    monkeypatch.setattr(door.shutil, "which", lambda name: None)
    assert door.main() == 1
    assert "This is Python 3.9. The course needs Python 3.11 or newer." in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="names of folders are UTF-16 there")
def test_a_place_that_python_cannot_spell_has_not_moved(tmp_path: Path) -> None:
    """LC_ALL=C and PYTHONUTF8=0: the folder's name would be other text than in the programs of .venv."""
    root = tmp_path / "Курс été niño"
    for name in ("__init__.py", "__main__.py", "system_language.py", "launcher", "copies"):
        source = ROOT / "helpers" / name
        if source.is_dir():
            shutil.copytree(source, root / "helpers" / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            (root / "helpers").mkdir(parents=True, exist_ok=True)
            shutil.copy(source, root / "helpers" / name)
    for name in module.LOCKS.values():
        (root / name).write_text("", encoding="utf-8")
    environment = Environment(root)
    environment.python.parent.mkdir(parents=True)
    environment.python.write_text('#!/bin/sh\necho "$@"\nexit 7\n', encoding="utf-8")
    environment.python.chmod(0o755)
    environment._write(Stamp("ready", str(root), {"course": environment.digest("course")}))

    variables = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON"))}
    done = subprocess.run(
        [sys.executable, "-m", "helpers", "gates", "--language", "fr"],
        cwd=root,
        env=variables | {"LC_ALL": "C", "PYTHONUTF8": "0"},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("-m helpers.course gates --language fr\n", 7), done.stderr
    assert json.loads(environment.stamp_file.read_text(encoding="utf-8"))["state"] == "ready"


@pytest.mark.skipif(sys.platform != "linux", reason="file systems elsewhere refuse such a name")
def test_a_place_whose_name_is_no_text_stands_in_the_log(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    name = b"\xe9".decode("utf-8", "surrogateescape")
    code, _output = run_logged([sys.executable, "-c", "print('ran')", name], log, tmp_path)
    assert code == 0
    assert "ran" in log.read_text(encoding="utf-8")


def test_an_old_python_hands_over_to_a_newer_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(door.sys, "version_info", (3, 9, 2, "final", 0))
    monkeypatch.setattr(door.shutil, "which", lambda name: sys.executable if name == "python3.11" else None)
    monkeypatch.setattr(door.sys, "argv", ["helpers", "help"])
    monkeypatch.chdir(ROOT)
    assert door.main() == 0
    assert "is too old" in capsys.readouterr().err


def test_variables_lead_to_the_environment(clone: Path) -> None:
    environment = Environment(clone)
    result = environment.variables(
        {"PATH": "/bin", "PYTHONPATH": "x", "PYTHONHOME": "y", "PYTHONDONTWRITEBYTECODE": "1"}
    )
    assert result["PATH"].split(os.pathsep)[0] == str(environment.python.parent)
    assert "PYTHONPATH" not in result
    assert "PYTHONHOME" not in result
    assert "PYTHONDONTWRITEBYTECODE" not in result
