"""A wrong command line, and the help, in the reader's language; with nothing but the standard library."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from helpers.classroom.__main__ import main as classroom
from helpers.grid.__main__ import main as grid
from helpers.lab.language import LOCALE, SOURCE, known_languages
from helpers.launcher import words
from helpers.launcher.command import parser, run
from helpers.launcher.environment import ROOT

LANGUAGES = [language for language in known_languages() if language != SOURCE]
LEARN_AND_TEACH = ("lab", "fresh", "project", "slides", "handouts", "experiment", "doctor", "setup", "clean", "help")

WRONG = {
    "labb": "'labb' is not possible. Choose among: 'lab', 'fresh', ",
    "lab --nope": "This command does not know this option or value: --nope",
    "fresh 2": "This command does not know this option or value: 2",
    "doctor --language": "--language: a value is missing.",
    "project --no-browser=1": "--no-browser: this option takes no value, but '1' was given.",
    "slides --l fr": "This command does not know this option or value: --l fr",
    "setup --set all": "--set: 'all' is not possible. Choose among: 'course', 'test'",
    "lesson": "This is missing: slug",
    "--": "This is missing: command",
}


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """In place of that of the other tests: here the catalogs are read."""
    words._translations.clear()
    yield
    words._translations.clear()


def said(line: str, language: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    monkeypatch.setenv("ONCE_LANGUAGE", language)
    with pytest.raises(SystemExit) as ended:
        run(line.split())
    printed = capsys.readouterr()
    assert (ended.value.code, printed.out) == (2, "")
    return printed.err


@pytest.mark.parametrize("line", WRONG)
def test_a_wrong_line_is_one_message_with_the_next_step(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    what, step = said(line, "en", monkeypatch, capsys).splitlines()
    assert WRONG[line] in what.replace("lab, fresh", "'lab', 'fresh'").replace("course, test", "'course', 'test'")
    command = "" if line in ("labb", "--") else f" {line.split()[0]}"
    assert step.startswith("Next: To see what can be typed: `")
    assert step.endswith(f" -m helpers{command} --help`.")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("line", WRONG)
def test_a_wrong_line_is_answered_in_the_language_of_the_reader(
    line: str, language: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    english = said(line, "en", monkeypatch, capsys).splitlines()
    answered = said(line, language, monkeypatch, capsys).splitlines()
    assert len(answered) == len(english)
    assert all(ours != theirs for ours, theirs in zip(answered, english, strict=True))


@pytest.mark.parametrize("program", [classroom, grid])
def test_a_wrong_line_of_the_programs_behind_it_too(
    program: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        program(["--nope", "--language", "fr"] if program is grid else ["slides", "--nope", "--language", "fr"])
    assert "This command does not know" not in capsys.readouterr().err


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_help_of_those_who_learn_and_teach_is_in_their_language(language: str) -> None:
    words.choose([], {"ONCE_LANGUAGE": "en"})
    english = _texts()
    words.choose([], {"ONCE_LANGUAGE": language})
    assert [text for name, text in _texts().items() if text == english[name]] == []
    page = parser().format_help()
    for word in ("usage", "options", "show this help", "commands"):
        assert words._(word) != word
        assert words._(word) in page
    heading = words._("{label}: {text}").format(label=words._("options"), text="").strip()
    assert f"\n{heading}\n" in page


def _texts() -> dict[str, str]:
    """The texts of the help, by command and option."""
    [commands] = [action for action in parser()._actions if action.choices]
    found = {action.dest: str(action.help) for action in commands._choices_actions}  # type: ignore[attr-defined]
    texts = dict(found)
    for name in LEARN_AND_TEACH:
        for action in commands.choices[name]._actions:  # type: ignore[index]
            texts[f"{name} {action.dest}"] = str(action.help)
    return texts


def test_it_works_with_the_standard_library_alone() -> None:
    done = subprocess.run(
        [sys.executable, "-S", "-m", "helpers", "lab", "--nope", "--language", "fr"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=30,
        check=False,
    )
    catalog = words.read_messages(LOCALE / "fr.po")
    assert done.returncode == 2
    expected = catalog["This command does not know this option or value: {given}"].format(given="--nope")
    assert done.stderr.splitlines()[0] == f"Once: {expected}"


def test_a_value_that_looks_like_an_option_reaches_the_program_behind(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from helpers.launcher import command

    typed: list[list[str]] = []
    monkeypatch.setattr(command.Environment, "prepare", lambda self, name: "python")
    monkeypatch.setattr(command, "_run", lambda environment, line: typed.append([str(part) for part in line]) or 0)
    monkeypatch.setattr(command, "_to_its_end", lambda line, environment: typed.append(list(map(str, line))) or 0)
    for name in ("slides", "handouts", "experiment"):
        assert run([name, "--lesson=-x", "--language=fr"]) == 0
    assert all(line[-2:] == ["--lesson=-x", "--language=fr"] for line in typed)
    assert len(typed) == 3
