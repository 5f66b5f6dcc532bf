"""The vocabulary table: what is typed is kept and comes back; the static form is always blank."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from helpers.lab.answers import AnswerNotSaved, Answers
from helpers.lab.lesson_texts import VocabularyRow
from helpers.show.bundle import WIDGET_VIEW
from helpers.show.vocabulary import Vocabulary
from helpers.show.vocabulary_widget import VocabularyWidget
from tests.show.shown import Outline, enter, inside

pytestmark = pytest.mark.usefixtures("no_widgets")

ROWS = (
    VocabularyRow("duplicate", "duplicate <b>", "A job that `arrives` again.", "The job, twice.", "The job, twice."),
    VocabularyRow("guard", "guard", "Stops the second effect.", "", "The condition `attribute_not_exists(id)`."),
    VocabularyRow("race", "race", "Two act at once.", "", ""),
)


def made(answers: Answers) -> Vocabulary:
    return Vocabulary(ROWS, answers, lesson="Repeat & keep")


def table(vocabulary: Vocabulary) -> VocabularyWidget:
    (found,) = inside(vocabulary.widget, VocabularyWidget)
    return found


def write(vocabulary: Vocabulary, name: str, text: str, **more: object) -> None:
    """As on the page."""
    assert enter(table(vocabulary), {"entry": name, "text": text, **more})


def refuse(name: str, text: str) -> Path:
    raise AnswerNotSaved("<i>No</i> room.", "The disk is full.", "Free some space.")


def lines_in(printed: str) -> int:
    return printed.partition("</style>")[2].count("border-bottom")


def page_text(vocabulary: Vocabulary) -> str:
    shown = table(vocabulary)
    return "".join([*shown.marks.values(), *shown.good.values(), shown.status])


def test_what_is_typed_is_there_in_the_next_kernel(answers: Answers) -> None:
    write(made(answers), "guard", "La condition de l’écriture")
    again = made(answers)
    assert again.examples == {"guard": "La condition de l’écriture", "race": ""}
    assert table(again).texts == again.examples


def test_only_blank_examples_have_a_field_and_each_has_a_name(answers: Answers) -> None:
    entries = table(made(answers)).entries
    assert [entry["label"] for entry in entries if entry["example"] is None] == [
        "Your example: guard",
        "Your example: race",
    ]


def test_the_status_says_in_words_what_is_saved(answers: Answers) -> None:
    vocabulary = made(answers)
    assert "0 of 2" in page_text(vocabulary)
    write(vocabulary, "race", "two")
    assert "1 of 2" in page_text(vocabulary)
    assert page_text(vocabulary).count("Saved.") == 1
    cut = page_text(vocabulary).count("The kernel does not answer. What you type is not saved yet")
    assert cut == 3, "beside both fields and below the table, while the kernel does not answer"


def test_a_failure_to_save_is_shown_and_the_text_stays(answers: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = made(answers)
    with monkeypatch.context() as patch:
        patch.setattr(answers, "write", refuse)
        write(vocabulary, "guard", "precious")
        shown = page_text(vocabulary)
        assert "Not saved." in shown
        assert ">Saved." not in shown
        assert "1 example is not saved." in shown
        assert "&lt;i&gt;No&lt;/i&gt; room." in shown
        assert "Free some space." in shown
    vocabulary.refresh()
    assert table(vocabulary).texts["guard"] == "precious", "a refresh must not replace what could not be saved"
    write(vocabulary, "race", "saved again")
    assert "2 of 2" in page_text(vocabulary)
    assert page_text(vocabulary).count("Saved.") == 2
    assert "Not saved." not in page_text(vocabulary)
    assert answers.read("vocabulary-guard") == "precious", "tried again when there is room"


def test_the_bundle_has_static_forms_beside_the_widget(answers: Answers) -> None:
    data = made(answers)._repr_mimebundle_()
    assert set(data) == {"text/plain", "text/html", WIDGET_VIEW}


def test_the_static_form_never_shows_an_answer(answers: Answers) -> None:
    blank = made(answers)
    before = (blank.text(), blank.html())
    write(blank, "guard", "secret")
    assert (blank.text(), blank.html()) == before
    assert (made(answers).text(), made(answers).html()) == before
    outline = Outline(blank.html())
    assert len(outline.all("td")) == 6
    assert [cell["scope"] for cell in outline.all("th")] == ["col"] * 3 + ["row"] * 3
    assert "The condition" not in outline.text, "the model answer is for the live page"
    assert outline.elements[0][1]["lang"] == "en"


def test_write_is_the_plain_method_behind_the_fields(answers: Answers) -> None:
    vocabulary = made(answers)
    shown = table(vocabulary)
    vocabulary.write("guard", "written by a method")
    assert shown.texts["guard"] == "written by a method"
    with pytest.raises(KeyError):
        vocabulary.write("duplicate", "has an example already")


def test_refresh_shows_what_another_notebook_wrote(answers: Answers) -> None:
    vocabulary = made(answers)
    shown = table(vocabulary)
    made(answers).write("guard", "from the other notebook")
    vocabulary.refresh()
    assert shown.texts["guard"] == "from the other notebook"


def test_csv_round_trip(answers: Answers, tmp_path: Path) -> None:
    vocabulary = made(answers)
    vocabulary.write("guard", 'ещё "раз",\nсо строкой')
    vocabulary.write("race", "=HYPERLINK(1)")
    data = vocabulary.export_csv(tmp_path / "words.csv").read_bytes()
    assert data.startswith(b"\xef\xbb\xbf"), "the mark by which spreadsheets know UTF-8"
    rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    assert rows == [
        ["Word", "Meaning", "Example"],
        ["duplicate <b>", "A job that arrives again.", "The job, twice."],
        ["guard", "Stops the second effect.", 'ещё "раз",\nсо строкой'],
        ["race", "Two act at once.", "'=HYPERLINK(1)"],
    ]


def test_the_printed_page_has_lines_to_write_on(answers: Answers, tmp_path: Path) -> None:
    vocabulary = made(answers)
    vocabulary.write("guard", "<mine>")
    own = vocabulary.printable(tmp_path / "words.html")
    assert (tmp_path / "words.html").read_text(encoding="utf-8") == own
    assert '<html lang="en">' in own
    assert "&lt;mine&gt;" in own
    assert "<h1>Repeat &amp; keep</h1>" in own
    assert lines_in(own) == 2, "one empty example, and two lines to write it on"
    assert 'class="who"' not in own
    empty = vocabulary.printable(blank_lines=True)
    assert "mine" not in empty
    assert lines_in(empty) == 4
    assert "Name:" in Outline(empty).text
    Outline(own)


def test_the_live_page_is_given_its_files_with_what_was_typed_last(answers: Answers) -> None:
    vocabulary = made(answers)
    kinds = [file["kind"] for file in table(vocabulary).words["files"]]
    write(vocabulary, "guard", "to the last <letter>")
    files = {}
    for kind in kinds:
        (answered,) = enter(table(vocabulary), {"file": kind}, key=f"file {kind}")
        files[answered["answer"]["name"]] = answered["answer"]["content"]
    assert list(files) == ["vocabulary-en.csv", "vocabulary-en.html", "vocabulary-en-empty.html"]
    sheet, paper, empty = files.values()
    assert sheet == "\ufeff" + vocabulary.csv(), "the mark by which spreadsheets know UTF-8"
    assert "to the last <letter>" in sheet
    assert "to the last &lt;letter&gt;" in paper
    assert "to the last" not in empty


def test_a_text_that_is_sent_again_is_answered_again_and_written_once(answers: Answers) -> None:
    """What the page cannot know: whether the text was lost, or only the answer."""
    vocabulary = made(answers)
    typed = {"entry": "guard", "text": "first"}
    first = enter(table(vocabulary), typed, key="guard", number=7)
    vocabulary.write("guard", "written since by a method")
    assert enter(table(vocabulary), typed, key="guard", number=7) == first
    assert first == [{"page": "a page", "had": "guard", "number": 7, "answer": None}]
    assert vocabulary.examples["guard"] == "written since by a method"
    enter(table(vocabulary), {**typed, "text": "older"}, key="guard", number=6)
    assert vocabulary.examples["guard"] == "written since by a method", "overtaken by what was typed later"


def test_a_text_that_has_waited_replaces_nothing_unseen(answers: Answers) -> None:
    """On a page that was loaded again, or whose connection was cut while another page was used."""
    made(answers).write("guard", "The cond")
    made(answers).write("race", "written in another window")
    vocabulary = made(again(answers))
    write(vocabulary, "guard", "The condition", by="page 1", over="")
    assert "Another notebook" not in page_text(vocabulary), "the learner has only gone on writing"
    write(vocabulary, "race", "left here", by="page 1", over="")
    assert vocabulary.examples == {"guard": "The condition", "race": "left here"}
    assert "written in another window" in page_text(vocabulary)
    vocabulary.refresh()
    write(vocabulary, "guard", "corrected", by="page 1", over="The cond")
    write(vocabulary, "guard", "seen and changed", by="page 2", over="corrected")
    assert "Another notebook" not in page_text(vocabulary)
    write(vocabulary, "guard", "typed before page 2 was", by="page 1", over="corrected")
    assert "seen and changed" in page_text(vocabulary)


def test_what_could_not_be_saved_is_left_to_the_page_and_in_its_files(
    answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    vocabulary = made(answers)
    with monkeypatch.context() as patch:
        patch.setattr(answers, "write", refuse)
        for name in ("guard", "race"):
            (answered,) = enter(table(vocabulary), {"entry": name, "text": f"no room for {name}"})
        assert answered["answer"] == {"unsaved": ["guard", "race"]}
        (answered,) = enter(table(vocabulary), {"file": "table"})
        assert "no room for guard" in answered["answer"]["content"]
        assert answered["answer"]["unsaved"] == ["guard", "race"], "asking for a file saves nothing"
        (answered,) = enter(table(vocabulary), {"file": "page"})
        assert "no room for guard" in answered["answer"]["content"]
    vocabulary.write("guard", "newer, by a method")
    (answered,) = enter(table(vocabulary), {"entry": "race", "text": "room"})
    assert answered["answer"] is None
    assert vocabulary.examples == {"guard": "newer, by a method", "race": "room"}


def test_a_good_answer_is_offered_to_who_has_written_one(answers: Answers) -> None:
    vocabulary = made(answers)
    write(vocabulary, "race", "no model")
    assert "Compare with" not in page_text(vocabulary), "this word has no model answer"
    write(vocabulary, "guard", "mine")
    outline = Outline(page_text(vocabulary))
    assert outline.words.count("Compare with a good answer") == 1
    assert "attribute_not_exists(id)" in outline.text
    write(vocabulary, "guard", " ")
    assert "attribute_not_exists(id)" not in page_text(vocabulary)


def test_compare_puts_what_was_written_beside_good_answers(answers: Answers) -> None:
    vocabulary = made(answers)
    assert "Write an example first." in vocabulary.compare().text()
    assert "attribute_not_exists(id)" not in vocabulary.compare().html()
    vocabulary.write("guard", "<mine>")
    data = vocabulary.compare()._repr_mimebundle_()
    outline = Outline(data["text/html"])
    assert ["<mine>" in text for text in (data["text/plain"], outline.text)] == [True, True]
    assert "attribute_not_exists(id)" in outline.text
    assert "1 word has no example yet." in data["text/plain"]


def test_a_second_notebook_erases_nothing_and_says_so(answers: Answers) -> None:
    first, second = made(answers), made(again(answers))
    table(second)
    first.write("guard", "from the <first>")
    write(second, "guard", "f")
    write(second, "guard", "from the second")
    outline = Outline(page_text(second))
    assert "Another notebook had written something else here." in outline.words
    assert "from the <first>" in outline.words
    assert answers.read("vocabulary-guard") == "from the second"
    write(second, "guard", "from the <first>")
    assert "Another notebook" not in page_text(second), "both have the same text now"
    first.write("race", "unseen")
    write(second, "guard", "typing in another field")
    write(second, "race", "r")
    assert "unseen" in page_text(second)
    second.refresh()
    assert "unseen" not in page_text(second), "asked for again, the table shows what is saved now"


def again(answers: Answers) -> Answers:
    """The answers of a second notebook."""
    assert answers.place is not None
    return Answers("idempotent-consumer", "en", environ={"ONCE_HOME": str(answers.place.folder.parent)})


def test_a_warning_about_the_folder_is_on_the_page(answers: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Answers, "notice", property(lambda self: "It is <temporary>."))
    assert "It is &lt;temporary&gt;." in page_text(made(answers))
    assert "temporary" not in made(answers).html(), "a stored notebook does not depend on the machine"
