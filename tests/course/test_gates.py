from __future__ import annotations

from pathlib import Path

import pytest

from helpers.course import catalogs
from helpers.course.gates import check_course, lookup
from helpers.course.syllabus import Folders, Lesson


def said(folders: Folders) -> str:
    return "\n".join(str(failure) for failure in check_course(folders))


def test_the_small_course_passes(folders: Folders) -> None:
    assert said(folders) == ""


@pytest.mark.parametrize(
    ("language", "context", "text", "what"),
    [
        ("fr", "title:0", "", "[title:0]: no translation"),
        ("fr", "title:0", "A queue in one minute", "is the same as in English"),
        ("fr", "title:0", "Une file en une minute ", "other spaces at the end"),
        ("fr", "title:4", "la file avec 3 tâches", "number 2 is missing"),
        ("fr", "title:4", "la queue avec 2 tâches", "“queue” is not called “file”"),
        ("fr", "title:5", "Lisez: la file.", "no no-break space before :"),
        ("fr", "title:7", "**Remarque.** Voyez le guide.", "link https://example.org/guide is missing"),
        ("fr", "title:2", "Nom | du", "other headings, list items or table cells"),
        ("fr", "title:5", "- Lisez la file.", "other headings, list items or table cells"),
        ("ru", "check:read:empty:text", "Очередь пуста, это является фактом.", "является"),
        ("ru", "write-file:comment:1", "снова то же самое", "“job” is not called “задание”"),
    ],
)
def test_a_wrong_translation_is_named(
    folders: Folders, retranslate, language: str, context: str, text: str, what: str
) -> None:
    retranslate(language, context, text)
    message = said(folders)
    assert what in message
    assert f"lessons/small_lesson/{language}.po" in message


def test_a_fuzzy_entry_fails(folders: Folders, lesson: Lesson) -> None:
    path = lesson.catalog("fr")
    catalog = catalogs.read(path)
    next(message for message in catalog if message.id).flags.add("fuzzy")
    catalogs.write(path, catalog)
    assert "the English text has changed" in said(folders)


def test_an_obsolete_entry_fails(folders: Folders, lesson: Lesson) -> None:
    path = lesson.catalog("fr")
    with path.open("a", encoding="utf-8", newline="\n") as stream:
        stream.write('\n#~ msgid "Gone."\n#~ msgstr "Parti."\n')
    assert "an obsolete entry" in said(folders)


def test_an_entry_that_is_not_in_the_source_fails(folders: Folders, lesson: Lesson) -> None:
    path = lesson.catalog("fr")
    with path.open("a", encoding="utf-8", newline="\n") as stream:
        stream.write('\nmsgctxt "gone:0"\nmsgid "Gone."\nmsgstr "Parti."\n')
    assert "[gone:0]: this entry is no longer in the source" in said(folders)


def test_an_entry_that_is_not_in_the_catalog_fails(folders: Folders, lesson: Lesson, replace_in) -> None:
    replace_in(lesson.folder / "lesson.md", "2. Count: how many?", "2. Count: how many?\n3. Stop.")
    assert "[title:7]: the entry is missing" in said(folders)


@pytest.mark.parametrize("place", ["lessons/small_lesson/fr.po", "helpers/locale/fr.po"])
def test_a_missing_catalog_fails(folders: Folders, place: str) -> None:
    (folders.lessons / "other").mkdir()
    (folders.lessons / "other" / "fr.po").write_text("", encoding="utf-8")
    (folders.root / place).unlink()
    assert f"{place}: the catalog is missing" in said(folders)


def test_a_course_without_languages_fails(folders: Folders, lesson: Lesson) -> None:
    for language in ("fr", "ru"):
        lesson.catalog(language).unlink()
    assert "no lesson has a catalog" in said(folders)


def test_a_text_of_the_helpers_is_checked_too(folders: Folders, replace_in) -> None:
    path = folders.locale / "ru.po"
    replace_in(path, "{n} сообщения ждут.", "сообщения ждут.")
    assert "helpers/locale/ru.po [{n} message waits.]: placeholder {n} is missing" in said(folders)


def test_a_wrong_number_of_plural_forms_fails(folders: Folders, replace_in) -> None:
    path = folders.locale / "ru.po"
    replace_in(path, 'msgstr[2] "{n} сообщений ждут."\n', "")
    assert "{n} message waits.]" in said(folders)


def test_two_kinds_of_quotation_marks_in_one_language_fail(folders: Folders, retranslate, replace_in) -> None:
    replace_in(folders.lessons / "typography.toml", 'quotes = ["«»"]\nnested_quotes = ["“”"]', 'quotes = ["«»", "“”"]')
    retranslate("fr", "check:read:empty:text", "La file est «\u00a0vide\u00a0».")
    assert said(folders) == ""
    retranslate("fr", "check:read:empty:hint", "Exécutez de nouveau la “cellule”.")
    assert "more than one kind of quotation marks" in said(folders)


def test_a_sentence_in_code_fails(folders: Folders, lesson: Lesson, replace_in) -> None:
    replace_in(lesson.folder / "lesson.md", "quantity = 2", 'quantity = 2\nprint("This is the quantity")')
    assert "[parameters]: the sentence “This is the quantity” is in the code" in said(folders)


def test_a_sentence_in_code_may_be_allowed_and_must_be_needed(folders: Folders, lesson: Lesson, replace_in) -> None:
    path = folders.lessons / "exceptions.toml"
    with path.open("a", encoding="utf-8", newline="\n") as stream:
        stream.write('\n[code]\nsentences = ["This is the quantity"]\n')
    assert "the sentence “This is the quantity” under [code] is in no lesson" in said(folders)
    replace_in(lesson.folder / "lesson.md", "quantity = 2", 'quantity = 2\nprint("This is the quantity")')
    assert said(folders) == ""


def test_code_that_is_not_valid_fails(folders: Folders, lesson: Lesson, replace_in) -> None:
    replace_in(lesson.folder / "lesson.md", "quantity = 2", "quantity = = 2")
    assert "[parameters]: the code is not valid" in said(folders)


def test_words_that_reach_no_catalog_fail(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    # A block that the extraction overlooks: as if list items were forgotten.
    from helpers.course import blocks

    found = blocks._pieces
    monkeypatch.setattr(
        blocks, "_pieces", lambda source: (piece for piece in found(source) if piece.text != "Read the queue.")
    )
    assert "[title]: “Read the queue.” reaches no catalog" in said(folders)


def test_other_code_in_a_language_fails(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    # As if a comment took a line of code with it.
    from helpers.course import pieces

    written = pieces._comment
    monkeypatch.setattr(pieces, "_comment", lambda piece, text: f"{written(piece, text)}\n{piece.lead}pass")
    assert "[write-file]: other code than in English" in said(folders)


def test_an_excuse_lets_a_term_pass_and_must_be_needed(folders: Folders, retranslate) -> None:
    retranslate("fr", "title:4", "les 2 tâches")
    assert "“queue” is not called “file”" in said(folders)
    path = folders.lessons / "exceptions.toml"
    excuse = '\n[[glossary]]\nfile = "lessons/small_lesson"\nentry = "title:4"\nterm = "queue"\nreason = "test"\n'
    with path.open("a", encoding="utf-8", newline="\n") as stream:
        stream.write(excuse)
    assert said(folders) == ""
    with path.open("a", encoding="utf-8", newline="\n") as stream:
        stream.write(excuse.replace("queue", "batch"))
    assert "the exception for “batch” in lessons/small_lesson [title:4] excuses nothing" in said(folders)


def test_only_some_languages(folders: Folders, retranslate) -> None:
    retranslate("fr", "title:0", "")
    assert check_course(folders, ["ru"]) == []
    assert check_course(folders, ["fr"]) != []
    assert check_course(folders, ["en"]) == []


def test_a_lookup_never_gives_a_fuzzy_text(lesson: Lesson, retranslate) -> None:
    path: Path = retranslate("fr", "title:0", "Une file")
    catalog = catalogs.read(path)
    assert lookup(catalog)("title:0", "A queue in one minute") == "Une file"
    assert lookup(catalog)("title:9", "Unknown.") == "Unknown."
    catalog.get("A queue in one minute", "title:0").flags.add("fuzzy")
    assert lookup(catalog)("title:0", "A queue in one minute") == "A queue in one minute"
