"""Answers of the learner: whole or not at all, never lost, wherever there is room for them."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from helpers.lab import answers as module
from helpers.lab import language
from helpers.lab.answers import AnswerNotSaved, Answers

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "_current", "en")


@pytest.fixture(autouse=True)
def _other_homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real folders of whoever runs the tests are never read or written."""
    monkeypatch.setattr(module.platformdirs, "user_data_path", lambda *_a, **_k: tmp_path / "user")
    monkeypatch.setattr(module.tempfile, "gettempdir", lambda: str(tmp_path / "temporary"))


def made(tmp_path: Path, environ: Mapping[str, str] | None = None) -> Answers:
    return Answers("idempotent-consumer", "fr", environ=environ or {}, course=tmp_path / "course")


def blocked(folder: Path) -> Path:
    """A folder that cannot be made, for root too: a file lies in its place."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("not a folder", encoding="utf-8")
    return folder


def test_an_answer_comes_back_in_a_new_kernel(tmp_path: Path) -> None:
    text = "La même commande,\narrivée deux fois — ещё раз « ici »"
    path = made(tmp_path).write("vocabulary-guard", text)
    assert made(tmp_path).read("vocabulary-guard") == text
    assert path.read_bytes().decode("utf-8") == text, "the file is the text and nothing else"
    assert path.parent == tmp_path / "user" / "answers" / "idempotent-consumer" / "fr"


def test_what_was_never_written_is_empty(tmp_path: Path) -> None:
    assert made(tmp_path).read("vocabulary-guard") == ""
    assert made(tmp_path).names() == []


def test_a_cleared_answer_stays_cleared(tmp_path: Path) -> None:
    answers = made(tmp_path)
    answers.write("vocabulary-guard", "first")
    answers.write("vocabulary-guard", "")
    assert made(tmp_path).read("vocabulary-guard") == ""


def test_once_home_is_used_alone(tmp_path: Path) -> None:
    made(tmp_path).write("vocabulary-guard", "somebody else's")
    answers = made(tmp_path, {"ONCE_HOME": str(tmp_path / "mine")})
    assert answers.read("vocabulary-guard") == ""
    path = answers.write("vocabulary-guard", "mine")
    assert path.is_relative_to(tmp_path / "mine" / "answers")
    assert answers.notice is None


@pytest.mark.parametrize(
    ("blocks", "expected", "warning"),
    [
        (["user"], "course", "keep it when you replace the course"),
        (["user", "course"], "temporary", "may be emptied"),
    ],
)
def test_a_read_only_home_falls_back_with_a_warning(
    tmp_path: Path, blocks: list[str], expected: str, warning: str
) -> None:
    for name in blocks:
        blocked(tmp_path / name)
    answers = made(tmp_path)
    assert answers.place is not None
    assert answers.place.kind == expected
    assert answers.notice is not None
    assert warning in answers.notice
    answers.write("vocabulary-guard", "kept")
    assert made(tmp_path).read("vocabulary-guard") == "kept"


def test_an_unusable_once_home_says_so(tmp_path: Path) -> None:
    answers = made(tmp_path, {"ONCE_HOME": str(blocked(tmp_path / "mine"))})
    assert answers.place is not None
    assert answers.place.kind == "user"
    assert answers.notice is not None
    assert "ONCE_HOME" in answers.notice


def test_nowhere_to_write_is_an_error_with_advice(tmp_path: Path) -> None:
    for name in ("user", "course", "temporary"):
        blocked(tmp_path / name)
    answers = made(tmp_path)
    assert answers.place is None
    assert answers.notice is not None
    assert "not saved" in answers.notice
    with pytest.raises(AnswerNotSaved) as caught:
        answers.write("vocabulary-guard", "text")
    assert caught.value.advice
    assert isinstance(caught.value.__cause__, OSError)


def test_a_folder_that_becomes_read_only_midway_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = made(tmp_path)
    answers.write("vocabulary-guard", "early")
    answers.write("vocabulary-race", "early too")
    real = module.tempfile.mkstemp

    def refuse(*, dir: Path, **more: str) -> tuple[int, str]:
        if Path(dir).is_relative_to(tmp_path / "user"):
            raise OSError(30, "Read-only file system")
        return real(dir=dir, **more)

    monkeypatch.setattr(module.tempfile, "mkstemp", refuse)
    answers.write("vocabulary-guard", "late")
    assert answers.notice is not None
    monkeypatch.undo()
    _later = tmp_path / "user" / "answers" / "idempotent-consumer" / "fr" / "vocabulary-guard.txt"
    os.utime(_later, (1, 1))
    monkeypatch.setattr(module.platformdirs, "user_data_path", lambda *_a, **_k: tmp_path / "user")
    monkeypatch.setattr(module.tempfile, "gettempdir", lambda: str(tmp_path / "temporary"))
    again = made(tmp_path)
    assert again.read("vocabulary-guard") == "late", "the newest of the places"
    assert again.read("vocabulary-race") == "early too"


def test_a_file_that_is_no_text_is_tolerated_and_kept(tmp_path: Path) -> None:
    answers = made(tmp_path)
    path = answers.write("vocabulary-guard", "x")
    broken = b"\xff\xfe\x00broken"
    path.write_bytes(broken)
    again = made(tmp_path)
    assert again.read("vocabulary-guard") == ""
    again.write("vocabulary-guard", "new")
    assert again.read("vocabulary-guard") == "new"
    assert broken in [other.read_bytes() for other in path.parent.glob("*.earlier-*.txt")]
    assert again.names() == ["vocabulary-guard"]


def test_foreign_files_are_left_alone(tmp_path: Path) -> None:
    answers = made(tmp_path)
    folder = answers.write("vocabulary-guard", "x").parent
    (folder / "Notes de Léa.txt").write_text("mine", encoding="utf-8")
    (folder / "vocabulary-race.txt").mkdir()
    assert answers.names() == ["vocabulary-guard", "vocabulary-race"]
    assert answers.read("vocabulary-race") == ""
    answers.write("vocabulary-race", "elsewhere")
    assert answers.read("vocabulary-race") == "elsewhere"


def test_what_another_notebook_wrote_is_kept_beside(tmp_path: Path) -> None:
    first, second = made(tmp_path), made(tmp_path)
    assert first.read("vocabulary-guard") == second.read("vocabulary-guard") == ""
    first.write("vocabulary-guard", "from the first")
    path = second.write("vocabulary-guard", "from the second")
    assert made(tmp_path).read("vocabulary-guard") == "from the second"
    copies = [copy.read_text(encoding="utf-8") for copy in path.parent.glob("*.earlier-*.txt")]
    assert copies == ["from the first"]
    replaced = second.replaced("vocabulary-guard")
    assert replaced is not None
    assert replaced.text == "from the first"
    assert replaced.file.read_text(encoding="utf-8") == "from the first"
    assert first.replaced("vocabulary-guard") is None


def test_a_full_disk_is_named_and_the_next_key_saves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = made(tmp_path)
    answers.write("vocabulary-guard", "early")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(module.os, "fsync", full)
        with pytest.raises(AnswerNotSaved) as caught:
            answers.write("vocabulary-guard", "earl")
    assert "the disk is full" in caught.value.what
    assert "Make some room" in caught.value.advice
    assert made(tmp_path).read("vocabulary-guard") == "early", "what was saved is whole"
    path = answers.write("vocabulary-guard", "earl grey")
    assert made(tmp_path).read("vocabulary-guard") == "earl grey"
    assert [file.name for file in path.parent.iterdir()] == ["vocabulary-guard.txt"], "nothing half-written is left"


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Below these folders, files can still be made, but take nothing: a disk without room for one more block."""
    folders: list[Path] = []
    real = module._replace

    def replace(path: Path, content: str | bytes) -> None:
        if any(path.is_relative_to(folder) for folder in folders):
            raise OSError(errno.ENOSPC, "No space left on device")
        real(path, content)

    monkeypatch.setattr(module, "_replace", replace)
    return folders


def test_a_full_disk_of_once_home_sends_no_answer_where_it_is_not_read(tmp_path: Path, full: list[Path]) -> None:
    environ = {"ONCE_HOME": str(tmp_path / "mine")}
    answers = made(tmp_path, environ)
    answers.write("vocabulary-guard", "first")
    full.append(tmp_path / "mine")
    with pytest.raises(AnswerNotSaved, match="the disk is full"):
        answers.write("vocabulary-guard", "second, and longer")
    assert not (tmp_path / "user").exists()
    full.clear()
    answers.write("vocabulary-guard", "second, and longer")
    assert made(tmp_path, environ).read("vocabulary-guard") == "second, and longer"


def test_a_once_home_on_a_disk_that_is_full_at_the_start_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = module._make_folder

    def full(folder: Path, place: module.Place) -> None:
        if place.kind == "chosen":
            raise OSError(errno.ENOSPC, "No space left on device")
        real(folder, place)

    monkeypatch.setattr(module, "_make_folder", full)
    answers = made(tmp_path, {"ONCE_HOME": str(tmp_path / "mine")})
    with pytest.raises(AnswerNotSaved, match="the disk is full"):
        answers.write("vocabulary-guard", "text")


def test_a_full_usual_folder_is_named_as_what_it_is(tmp_path: Path, full: list[Path]) -> None:
    made(tmp_path).write("vocabulary-guard", "early")
    full.append(tmp_path / "user")
    answers = made(tmp_path)
    answers.write("vocabulary-guard", "late")
    assert answers.notice is not None
    assert "is full" in answers.notice
    assert "“answers” of the course" in answers.notice
    os.utime(tmp_path / "user" / "answers" / "idempotent-consumer" / "fr" / "vocabulary-guard.txt", (1, 1))
    assert made(tmp_path).read("vocabulary-guard") == "late"


def test_what_was_shown_is_replaced_without_a_copy(tmp_path: Path) -> None:
    made(tmp_path).write("vocabulary-guard", "yesterday")
    answers = made(tmp_path)
    assert answers.take("vocabulary-guard") == "yesterday"
    path = answers.write("vocabulary-guard", "today")
    assert [file.name for file in path.parent.iterdir()] == ["vocabulary-guard.txt"]


def test_typing_keeps_no_copies(tmp_path: Path) -> None:
    answers = made(tmp_path)
    for end in range(1, 6):
        path = answers.write("vocabulary-guard", "guard"[:end])
    assert [file.name for file in path.parent.iterdir()] == ["vocabulary-guard.txt"]


@pytest.mark.parametrize("name", ["../up", "a/b", "", "Ö", "a" * 81, "-x", "con:aux"])
def test_a_name_cannot_leave_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="not a name"):
        made(tmp_path).write(name, "text")


WRITER = """
import sys
from helpers.lab.answers import Answers
letter, home = sys.argv[1], sys.argv[2]
answers = Answers("idempotent-consumer", "fr", environ={"ONCE_HOME": home})
for turn in range(25):
    answers.write("vocabulary-guard", letter * 20_000)
    answers.write(f"vocabulary-{letter}", f"turn {turn}")
print("done")
"""


def test_two_processes_never_show_half_an_answer(tmp_path: Path) -> None:
    home = str(tmp_path / "home")
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, letter, home],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for letter in "ab"
    ]
    reader = Answers("idempotent-consumer", "fr", environ={"ONCE_HOME": home})
    seen: set[str] = set()
    while any(writer.poll() is None for writer in writers):
        seen.add(reader.read("vocabulary-guard"))
    assert [writer.communicate()[0].strip() for writer in writers] == ["done", "done"]
    assert seen <= {"", "a" * 20_000, "b" * 20_000}
    assert seen & {"a" * 20_000, "b" * 20_000}, "the reader saw answers while they were written"
    assert reader.read("vocabulary-a") == reader.read("vocabulary-b") == "turn 24"
    folder = reader.folder
    assert folder is not None
    assert not list(folder.glob(".*.part")), "nothing is left over"


def test_a_home_of_nobody_is_a_name_like_any_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kept = Answers("idempotent-consumer", "fr", environ={"ONCE_HOME": "~no-such-user-here/x"})
    kept.write("note", "là")
    assert kept.read("note") == "là"
