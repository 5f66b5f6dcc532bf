"""A question, a choice, and why."""

from __future__ import annotations

import pytest

from helpers.lab.answers import AnswerNotSaved, Answers
from helpers.lab.errors import LabError
from helpers.lab.lesson_texts import Choice
from helpers.lab.lesson_texts import Prediction as Question
from helpers.show.bundle import WIDGET_VIEW
from helpers.show.choices import Choices
from helpers.show.prediction import Prediction
from tests.show.shown import Outline, enter, inside

pytestmark = pytest.mark.usefixtures("no_widgets")

QUESTION = Question(
    "repeat",
    "How many `PutItem` calls <are> accepted?",
    (
        Choice("Two: `a` & `b`.", "No. The condition <is> false.", False),
        Choice("One.", "Yes. Only the first.", True),
    ),
)


def choices(prediction: Prediction) -> Choices:
    (found,) = inside(prediction.widget, Choices)
    return found


def press(prediction: Prediction, number: int) -> None:
    """What the page sends when a button is pressed."""
    enter(choices(prediction), {"number": number})


def shown(prediction: Prediction) -> str:
    return choices(prediction).said


def test_the_static_form_lists_the_choices_without_the_answers(answers: Answers) -> None:
    data = Prediction(QUESTION, answers)._repr_mimebundle_()
    assert set(data) == {"text/plain", "text/html", WIDGET_VIEW}
    outline = Outline(data["text/html"])
    for text in (data["text/plain"], outline.text):
        assert "One." in text
        assert "Yes" not in text
        assert "✓" not in text
    assert len(outline.all("li")) == 2
    assert "are" not in {name for name, _attributes in outline.elements}


def test_a_click_gives_the_reason_and_is_kept(answers: Answers) -> None:
    prediction = Prediction(QUESTION, answers)
    before = prediction.html()
    assert prediction.chosen is None
    press(prediction, 1)
    assert "No. The condition &lt;is&gt; false." in shown(prediction)
    assert "✗" in shown(prediction)
    press(prediction, 2)
    assert "Yes. Only the first." in shown(prediction)
    assert "No. The" not in shown(prediction)
    again = Prediction(QUESTION, answers)
    assert again.chosen == 2
    assert "Yes. Only the first." in shown(again)
    assert again.html() == before, "the stored form does not know the choice"


def test_the_choices_are_a_named_group_and_the_kept_one_is_marked_in_words(answers: Answers) -> None:
    prediction = Prediction(QUESTION, answers)
    made = choices(prediction)
    assert made.label == "How many PutItem calls <are> accepted?"
    assert [Outline(choice).text for choice in made.choices] == ["1. Two: a & b.", "2. One."]
    assert made.yours == "✎\u00a0your choice"
    assert made.chosen == 0
    press(prediction, 2)
    assert choices(Prediction(QUESTION, answers)).chosen == 2


def test_a_wrong_choice_is_explained_and_another_one_may_be_made(answers: Answers) -> None:
    prediction = Prediction(QUESTION, answers)
    assert prediction.answer(1).text().endswith("\n  Think again. You can choose another answer.")
    assert "Think again." in shown(prediction)
    press(prediction, 2)
    assert "Think again." not in shown(prediction)
    assert prediction.chosen == 2


def test_answer_is_the_plain_method(answers: Answers) -> None:
    prediction = Prediction(QUESTION, answers)
    live = shown(prediction)
    feedback = prediction.answer(2)
    assert feedback.right
    assert feedback.text() == "✓ 2. One.\n  Yes. Only the first."
    assert prediction.chosen == 2
    assert shown(prediction) != live, "the live question follows"


@pytest.mark.parametrize("number", [0, 3, -1, True, "1", 1.0])
def test_a_number_that_is_no_choice_is_explained(answers: Answers, number: object) -> None:
    with pytest.raises(LabError, match="from 1 to 2"):
        Prediction(QUESTION, answers).answer(number)  # type: ignore[arg-type]


def test_a_choice_that_the_lesson_no_longer_has_is_forgotten_not_broken(answers: Answers) -> None:
    answers.write("prediction-repeat", "An older choice.")
    prediction = Prediction(QUESTION, answers)
    assert prediction.chosen is None
    assert choices(prediction).chosen == 0


def test_feedback_is_given_even_when_it_cannot_be_kept(answers: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str, text: str) -> None:
        raise AnswerNotSaved("Full.", "No room.", "Make room.")

    monkeypatch.setattr(answers, "write", refuse)
    prediction = Prediction(QUESTION, answers)
    press(prediction, 2)
    assert "Yes. Only the first." in shown(prediction)
    assert "Make room." in shown(prediction)
    monkeypatch.undo()
    press(prediction, 2)
    assert "Make room." not in shown(prediction)
    assert prediction.chosen == 2, "pressing the same choice again keeps it, when there is room"
