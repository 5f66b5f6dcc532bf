from __future__ import annotations

import pytest

from helpers.course.entries import Entry
from helpers.course.fidelity import lost


def found(english: str, translation: str, **entry: str) -> str:
    return "; ".join(what for what, _ in lost(Entry("a:0", english, **entry), translation))


@pytest.mark.parametrize(
    ("english", "right", "wrong", "what"),
    [
        ("The `a` call", "L’appel `a`, oui `a`", "L’appel `b`", "code span `a` is missing"),
        ("Read it", "Lisez", "Lisez `a`", "code span `a` is not in the English text"),
        ("1,500 times", "1\u202f500 fois", "1\u202f50 fois", "number 1500 is missing"),
        ("takes 1.5 s", "prend 1,5 s", "prend 15 s", "number 15 is not in the English"),
        ("2 of 2", "2 sur 2", "tous les 2", "number 2 is missing"),
        ("[a](x.md)", "[b](x.md)", "[b](y.md)", "link x.md is missing"),
        ("a {name}", "un {name}", "un {nom}", "placeholder {name} is missing"),
        ("a %s", "un %s", "un", "placeholder %s is missing"),
        ("<kbd>A</kbd>", "<kbd>B</kbd>", "<kbd>B", "HTML tag </kbd> is missing"),
        ("**a** b", "b **a**", "b a", "0 passages in bold instead of 1"),
        ("*a* b", "*un* b", "un* b", "a * would be shown"),
        ("a `b`", "un `b`", "un `b` `", "a ` would be shown"),
        ("a\\\nb", "un\\\nb", "un b", "another number of lines"),
    ],
)
def test_what_is_not_words_is_kept(english: str, right: str, wrong: str, what: str) -> None:
    assert found(english, right) == ""
    assert what in found(english, wrong)


def test_a_diagram_may_have_other_lines() -> None:
    assert found("a\nb", "a", kind="verbatim") == ""


def test_only_the_form_for_one_may_leave_the_count_out() -> None:
    entry = Entry(None, "one message", plural="{n} messages")
    assert list(lost(entry, "un mensaje", only_one=True)) == []
    assert list(lost(entry, "{n} mensaje", only_one=True)) == []
    assert [what for what, _ in lost(entry, "un mensaje")] == ["placeholder {n} is missing"]
    kept = Entry(None, "{n} message of {name}", plural="{n} messages of {name}")
    assert [what for what, _ in lost(kept, "un mensaje", only_one=True)] != []
