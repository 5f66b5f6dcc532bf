"""The vocabulary table: what is typed is kept and comes back; the static form is always blank."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import ipywidgets
import pytest

from helpers.lab.answers import AnswerNotSaved, Answers
from helpers.lab.lesson_texts import VocabularyRow
from helpers.show.bundle import WIDGET_VIEW
from helpers.show.vocabulary import Vocabulary
from tests.show.shown import Outline, inside

pytestmark = pytest.mark.usefixtures("no_widgets")

ROWS = (
    VocabularyRow("duplicate", "duplicate <b>", "A job that `arrives` again.", "The job, twice.", "The job, twice."),
    VocabularyRow("guard", "guard", "Stops the second effect.", "", "The condition `attribute_not_exists(id)`."),
    VocabularyRow("race", "race", "Two act at once.", "", ""),
)


def made(answers: Answers) -> Vocabulary:
    return Vocabulary(ROWS, answers, lesson="Repeat & keep")


def fields(vocabulary: Vocabulary) -> list[ipywidgets.Textarea]:
    return inside(vocabulary.widget, ipywidgets.Textarea)


def lines_in(printed: str) -> int:
    return printed.partition("</style>")[2].count("border-bottom")


def page_text(vocabulary: Vocabulary) -> str:
    return "".join(html.value for html in inside(vocabulary.widget, ipywidgets.HTML))


def test_what_is_typed_is_there_in_the_next_kernel(answers: Answers) -> None:
    fields(made(answers))[0].value = "La condition de l’écriture"
    again = made(answers)
    assert again.examples == {"guard": "La condition de l’écriture", "race": ""}
    assert fields(again)[0].value == "La condition de l’écriture"


def test_only_blank_examples_have_a_field_and_each_has_a_name(answers: Answers) -> None:
    made_fields = fields(made(answers))
    assert [field.description for field in made_fields] == ["Your example: guard", "Your example: race"]


def test_the_status_says_in_words_what_is_saved(answers: Answers) -> None:
    vocabulary = made(answers)
    assert "0 of 2" in page_text(vocabulary)
    fields(vocabulary)[1].value = "two"
    assert "1 of 2" in page_text(vocabulary)
    assert page_text(vocabulary).count("Saved.") == 1
    cut = page_text(vocabulary).count("No connection: what you type now is not saved yet.")
    assert cut == 3, "beside both fields and below the table, while the page has no connection"


def test_a_failure_to_save_is_shown_and_the_text_stays(answers: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = made(answers)
    field, other = fields(vocabulary)

    def refuse(name: str, text: str) -> Path:
        raise AnswerNotSaved("<i>No</i> room.", "The disk is full.", "Free some space.")

    with monkeypatch.context() as patch:
        patch.setattr(answers, "write", refuse)
        field.value = "precious"
        shown = page_text(vocabulary)
        assert "Not saved." in shown
        assert ">Saved." not in shown
        assert "1 example is not saved." in shown
        assert "&lt;i&gt;No&lt;/i&gt; room." in shown
        assert "Free some space." in shown
    vocabulary.refresh()
    assert field.value == "precious", "a refresh must not replace what could not be saved"
    other.value = "saved again"
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
    fields(blank)[0].value = "secret"
    assert (blank.text(), blank.html()) == before
    assert (made(answers).text(), made(answers).html()) == before
    outline = Outline(blank.html())
    assert len(outline.all("td")) == 6
    assert [cell["scope"] for cell in outline.all("th")] == ["col"] * 3 + ["row"] * 3
    assert "The condition" not in outline.text, "the model answer is for the live page"
    assert outline.elements[0][1]["lang"] == "en"


def test_write_is_the_plain_method_behind_the_fields(answers: Answers) -> None:
    vocabulary = made(answers)
    field = fields(vocabulary)[0]
    vocabulary.write("guard", "written by a method")
    assert field.value == "written by a method"
    with pytest.raises(KeyError):
        vocabulary.write("duplicate", "has an example already")


def test_refresh_shows_what_another_notebook_wrote(answers: Answers) -> None:
    vocabulary = made(answers)
    field = fields(vocabulary)[0]
    made(answers).write("guard", "from the other notebook")
    vocabulary.refresh()
    assert field.value == "from the other notebook"


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


def test_the_live_page_offers_its_downloads_without_a_server(answers: Answers) -> None:
    links = Outline(page_text(made(answers)).replace("<br>", "")).all("a")
    assert [link["download"] for link in links] == [
        "vocabulary-en.csv",
        "vocabulary-en.html",
        "vocabulary-en-empty.html",
    ]
    assert all(str(link["href"]).startswith("data:text/") for link in links)


def test_a_good_answer_is_offered_to_who_has_written_one(answers: Answers) -> None:
    vocabulary = made(answers)
    guard, race = fields(vocabulary)
    race.value = "no model"
    assert "Compare with" not in page_text(vocabulary), "this word has no model answer"
    guard.value = "mine"
    outline = Outline(page_text(vocabulary))
    assert outline.words.count("Compare with a good answer") == 1
    assert "attribute_not_exists(id)" in outline.text
    guard.value = " "
    assert "attribute_not_exists(id)" not in page_text(vocabulary)


def test_a_good_answer_that_is_open_stays_open_while_the_learner_types(answers: Answers) -> None:
    vocabulary = made(answers)
    field = fields(vocabulary)[0]
    field.value = "m"
    (shown,) = [html for html in inside(vocabulary.widget, ipywidgets.HTML) if "Compare with" in html.value]
    drawn: list[object] = []
    shown.observe(drawn.append, names="value")
    field.value = "mine"
    assert drawn == []


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
    fields(second)
    first.write("guard", "from the <first>")
    field = fields(second)[0]
    field.value = "f"
    field.value = "from the second"
    outline = Outline(page_text(second))
    assert "Another notebook had written something else here." in outline.words
    assert "from the <first>" in outline.words
    assert answers.read("vocabulary-guard") == "from the second"
    field.value = "from the <first>"
    assert "Another notebook" not in page_text(second), "both have the same text now"
    first.write("race", "unseen")
    field.value = "typing in another field"
    fields(second)[1].value = "r"
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
