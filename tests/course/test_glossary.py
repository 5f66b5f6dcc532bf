from __future__ import annotations

from pathlib import Path

import pytest

from helpers.course.glossary import misnamed, read_glossary, terms_in
from helpers.course.syllabus import HERE

TERMS = read_glossary(HERE.lessons / "glossary.csv")


def found(english: str, translation: str, language: str, *excused: str) -> list[str]:
    return [what for what, _ in misnamed(english, translation, language, TERMS, frozenset(excused))]


def test_the_longest_term_counts() -> None:
    assert [term.english for term in terms_in("A Dead-letter queue", TERMS)] == ["dead-letter queue"]
    names = {term.english for term in terms_in("dead-letter queues and queues", TERMS)}
    assert names == {"dead-letter queue", "queue"}


def test_phrases_and_names_are_not_the_term() -> None:
    assert terms_in("in order to go, in any order, in their order", TERMS) == []
    assert terms_in("the folder my-queue-list", TERMS) == []
    assert [term.english for term in terms_in("Orders in order", TERMS)] == ["order"]


@pytest.mark.parametrize(
    ("language", "english", "right", "wrong"),
    [
        ("fr", "The queue is empty", "La file est vide", "La queue est vide"),
        ("fr", "an idempotent job", "une tâche idempotente", "un travail idempotent"),
        ("ru", "of the dead-letter queue", "из очереди недоставленных сообщений", "из мёртвой очереди"),
        ("ru", "an idempotency key", "Ключом идемпотентности", "ключом повторов"),
        ("ru", "jobs", "заданиями", "задачами"),
        ("es", "two functions: the Lambda functions", "las funciones de Lambda", "las lambdas"),
        ("es", "the stored item", "el elemento guardado", "el ítem guardado"),
    ],
)
def test_a_term_has_one_translation_in_all_its_forms(language: str, english: str, right: str, wrong: str) -> None:
    assert found(english, right, language) == []
    assert len(found(english, wrong, language)) == 1


def test_an_excused_term_is_passed_over() -> None:
    assert found("State the limits", "Dites les limites", "fr") != []
    assert found("State the limits", "Dites les limites", "fr", "state") == []


def test_a_language_without_stems_is_not_checked() -> None:
    assert found("The queue is empty", "La vico", "eo") == []


def test_every_term_is_called_what_its_stems_say() -> None:
    """The row of a term agrees with itself: its own translation passes its own check."""
    for term in TERMS:
        assert set(term.stems) == set(term.said) == {"fr", "ru", "es"}
        for language, said in term.said.items():
            assert term.stems[language], term.english
            assert found(term.english, said, language) == []


def test_no_file_no_terms(tmp_path: Path) -> None:
    assert read_glossary(tmp_path / "glossary.csv") == []
