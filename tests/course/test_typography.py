from __future__ import annotations

from pathlib import Path

import pytest

from helpers.course.inline import inline
from helpers.course.syllabus import HERE
from helpers.course.typography import Rules, faults, quotes_used, read_typography

RULES = read_typography(HERE.lessons / "typography.toml")
NB, NN = "\u00a0", "\u202f"


def found(language: str, text: str) -> str:
    return "; ".join(what for what, _ in faults(inline(text).plain, RULES.of(language)))


@pytest.mark.parametrize(
    ("language", "right", "wrong", "what"),
    [
        ("fr", f"L’état{NB}: prêt", "L’état : prêt", "before :"),
        ("fr", f"`a`{NB}: prêt", "`a`: prêt", "before :"),
        ("fr", f"Prêt{NN}?", "Prêt?", "before ?"),
        ("fr", f"Prêt{NN}?!", "Prêt ?!", "before ?"),
        ("fr", f"un{NN}; deux", "un; deux", "before ;"),
        ("fr", f"«{NB}prêt{NB}»", "« prêt »", "after «"),
        ("fr", f"«{NB}prêt{NB}».", f"«{NB}prêt».", "before »"),
        ("fr", "à 10:30", "à 10: 30", "before :"),
        ("fr", "l’état", "l'état", "“'”"),
        ("fr", "`l'état`", 'dit "oui"', 'quotation mark "'),
        ("fr", "idempotence", "une idempuissance", "idempuissance"),
        ("fr", "une machine à états", "une machine de l’État", "machine de l’État"),
        ("fr", "file[file q05-jobs]", "les jobs", "jobs"),
        ("fr", "prend en charge", "supporte les files", "supporte"),
        ("ru", "Он — это «она»", 'Он — это "она"', 'quotation mark "'),
        ("ru", "«она»", "«она", "do not come in pairs"),
        ("ru", "Он — она", "Он - она", "“-”"),
        ("ru", "Он — она", "Он – она", "“–”"),
        ("ru", "Он — она", "Он—она", "—"),
        ("ru", "данные верны", "данный заказ", "данный"),
        ("ru", "это заказ", "это является заказом", "является"),
        ("ru", "ещё раз", "еще раз", "еще"),
        ("ru", "учётные данные", "учетные записи", "учетные"),
        ("ru", "Вы видите, вы правы", "то, что Вы видите", "Вы"),
        ("ru", "5 сообщений", "5 сообщений(я)", "(я)"),
        ("es", "¿Qué es?", "Qué es?", "¿ and ? do not come"),
        ("es", "¡Ya!", "Ya!", "¡ and ! do not come"),
        ("es", "«ya»", '"ya"', 'quotation mark "'),
        ("es", "tú lees", "vosotros leéis", "vosotros"),
        ("es", "la biblioteca", "la librería", "librería"),
        ("es", "la cola guarda", "el mensaje es guardado", "es guardado"),
    ],
)
def test_the_rules_of_each_language(language: str, right: str, wrong: str, what: str) -> None:
    assert found(language, right) == ""
    assert what in found(language, wrong)


def test_code_addresses_and_placeholders_are_not_looked_at() -> None:
    assert found("fr", "`x: 'y'` https://a.b/c?d=e;f et {a:>3}") == ""


def test_a_diagram_has_its_own_marks_but_the_same_words() -> None:
    rules = RULES.of("fr")
    assert list(faults('a["b"]: c', rules, marks=False)) == []
    assert list(faults("une idempuissance", rules, marks=False)) != []


def test_a_language_without_rules_has_none(tmp_path: Path) -> None:
    assert found("eo", "\"io\" - 'ajn': ?") == ""
    assert read_typography(tmp_path / "none.toml").of("fr") == Rules()


def test_a_misspelled_key_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "typography.toml"
    path.write_text('[fr]\nno_brake_before = ":"\n', encoding="utf-8")
    with pytest.raises(TypeError, match="no_brake_before"):
        read_typography(path)


def test_which_quotation_marks_a_text_uses() -> None:
    spanish = RULES.of("es")
    assert quotes_used("«a»", spanish) == {"«»"}
    assert quotes_used("«a» “b”", spanish) == {"«»", "“”"}
    assert quotes_used("«a»", RULES.of("fr")) == set()
