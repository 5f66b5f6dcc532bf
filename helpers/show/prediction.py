"""One question before a step: choose, then read why. The choice is kept with the learner's answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ipywidgets

from helpers.lab import lesson_texts
from helpers.lab.answers import Answers
from helpers.lab.errors import LabError
from helpers.lab.language import _, labelled
from helpers.show.bundle import bundle
from helpers.show.callbacks import shown_errors
from helpers.show.live import root
from helpers.show.markup import box, heading, page, paragraph, plain, prose, sign, without_marks


@dataclass(frozen=True, slots=True)
class Feedback:
    """What is said to one choice."""

    number: int
    right: bool
    choice: str
    feedback: str

    def text(self) -> str:
        lines = [f"{'✓' if self.right else '✗'} {self.number}. {self.choice}", *self._sentences]
        return "\n  ".join(lines)

    def html(self) -> str:
        said = f"{sign('✓' if self.right else '✗')}{self.number}. {prose(self.choice).html}"
        more = "".join(paragraph(prose(sentence)) for sentence in self._sentences)
        return page([box("good" if self.right else "bad", said + more)])

    @property
    def _sentences(self) -> list[str]:
        return [self.feedback] if self.right else [self.feedback, _("Think again. You can choose another answer.")]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return bundle(self)


class Prediction:
    """One question with its choices. Show it in a cell, or answer with `answer(n)`."""

    def __init__(self, question: lesson_texts.Prediction, answers: Answers) -> None:
        self._question = question
        self._answers = answers
        self._live: _LiveQuestion | None = None

    @property
    def chosen(self) -> int | None:
        """Number of the choice that was made (from 1), also before a restart, or None."""
        kept = self._answers.read(self._file)
        for number, choice in enumerate(self._question.choices, start=1):
            if kept and kept == choice.text:
                return number
        return None

    def answer(self, number: int) -> Feedback:
        """Choose, with the numbers that are shown (from 1). Gives the feedback; the choice is kept.

        :raises LabError: there is no such choice.
        :raises helpers.lab.answers.AnswerNotSaved: no folder can be written to.
        """
        feedback = self.feedback(number)
        self._answers.take(self._file)  # a choice is made anew: the earlier one needs no copy
        self._answers.write(self._file, self._question.choices[number - 1].text)
        if self._live is not None:
            self._live.load()
        return feedback

    def feedback(self, number: int) -> Feedback:
        """What is said to the choice `number` (from 1), without choosing it."""
        choices = self._question.choices
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= len(choices):
            raise LabError(
                _("There is no choice {number}.").format(number=number),
                _("The choices have the numbers from 1 to {last}.").format(last=len(choices)),
                _("Choose one of these numbers."),
            )
        choice = choices[number - 1]
        return Feedback(number, choice.right, choice.text, choice.feedback)

    @property
    def widget(self) -> ipywidgets.Widget:
        """The live question."""
        if self._live is None:
            self._live = _LiveQuestion(self, self._question)
        return self._live.root

    def text(self) -> str:
        lines = [labelled(_("Predict"), self._question.question)]
        lines += [f"  {n}. {choice.text}" for n, choice in enumerate(self._question.choices, start=1)]
        return "\n".join(lines)

    def html(self) -> str:
        choices = "".join(f"<li>{prose(choice.text).html}</li>" for choice in self._question.choices)
        question = paragraph(prose(self._question.question))
        choices = f'<ol style="margin:.2em 0;padding-left:2em">{choices}</ol>'
        return page([heading(_("Predict")), question, choices])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return bundle(self, self.widget)

    @property
    def _file(self) -> str:
        return f"prediction-{self._question.step}"


class _LiveQuestion:
    """The widgets of one question."""

    def __init__(self, prediction: Prediction, question: lesson_texts.Prediction) -> None:
        # anywidget is only needed by a live page, and importing it takes its time.
        from helpers.show.choices import Choices

        self._prediction = prediction
        self._choices = Choices(
            label=without_marks(question.question),
            choices=[f"{number}. {prose(choice.text).html}" for number, choice in enumerate(question.choices, start=1)],
            yours=f"✎\u00a0{_('your choice')}",
        )
        self._choices.on_choice(shown_errors(self._add)(self._choose))
        opening = heading(_("Predict")) + paragraph(prose(question.question))
        self.root = root(opening, [self._choices])
        self.load()

    def load(self) -> None:
        """Show the choice that is kept."""
        chosen = self._prediction.chosen
        if chosen is None:
            said = page([paragraph(plain(_("Choose before you run the next cell.")), soft=True)])
        else:
            said = self._prediction.feedback(chosen).html()
        self._choices.show(chosen=chosen or 0, said=said)

    def _choose(self, number: int) -> None:
        # Said before it is kept: a folder that cannot be written to must not cost the explanation.
        self._choices.show(said=self._prediction.feedback(number).html())
        self._prediction.answer(number)

    def _add(self, html: str) -> None:
        self._choices.show(said=self._choices.said + html)
