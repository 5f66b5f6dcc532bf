from __future__ import annotations

from pathlib import Path

import pytest

from helpers.course import catalogs
from helpers.course.entries import Entry
from helpers.course.source import SourceError

ENTRIES = [Entry("a:0", "One text of the lesson."), Entry("a:1", "Two.", remark="a note"), Entry("b:0", "Two.")]


def written(path: Path, entries: list[Entry]) -> str:
    catalog = catalogs.read(path)
    catalogs.update(catalog, entries)
    catalogs.write(path, catalog)
    return path.read_text(encoding="utf-8")


def translate(path: Path, context: str, text: str) -> None:
    catalog = catalogs.read(path)
    for message in catalog:
        if message.context == context:
            message.string = text
    catalogs.write(path, catalog)


def strings(path: Path) -> dict[str, tuple[str, bool]]:
    return {m.context: (catalogs.strings(m)[0], m.fuzzy) for m in catalogs.read(path) if m.id}


def test_a_second_update_changes_no_byte(tmp_path: Path) -> None:
    path = tmp_path / "fr.po"
    first = written(path, ENTRIES)
    assert written(path, ENTRIES) == first
    assert "Date" not in first
    assert "Babel" not in first
    assert first.index("a:0") < first.index("a:1") < first.index("b:0")
    assert "#. a note\n" in first


def test_the_same_text_in_two_places_is_two_entries(tmp_path: Path) -> None:
    path = tmp_path / "fr.po"
    written(path, ENTRIES)
    translate(path, "a:1", "Deux.")
    translate(path, "b:0", "Le deux.")
    assert strings(path) == {"a:0": ("", False), "a:1": ("Deux.", False), "b:0": ("Le deux.", False)}


def test_a_text_that_moved_takes_its_translation_along(tmp_path: Path) -> None:
    path = tmp_path / "fr.po"
    written(path, ENTRIES[:1])
    translate(path, "a:0", "Un texte.")
    written(path, [Entry("a:0", "Something quite other, really."), Entry("a:1", ENTRIES[0].text)])
    assert strings(path)["a:1"] == ("Un texte.", False)


def test_a_text_that_changed_is_fuzzy(tmp_path: Path) -> None:
    path = tmp_path / "fr.po"
    written(path, ENTRIES[:1])
    translate(path, "a:0", "Un texte.")
    written(path, [Entry("a:0", "One text of the lessons.")])
    assert strings(path) == {"a:0": ("Un texte.", True)}


def test_an_empty_entry_is_never_fuzzy(tmp_path: Path) -> None:
    path = tmp_path / "fr.po"
    written(path, [Entry(None, "{n} message waits", plural="{n} messages wait")])
    assert "fuzzy" not in written(path, [Entry(None, "{n} message waited", plural="{n} messages waited")])


def test_an_entry_that_left_the_source_leaves_the_file(tmp_path: Path) -> None:
    path = tmp_path / "fr.po"
    written(path, ENTRIES)
    translate(path, "a:0", "Un texte.")
    assert "Un texte" not in written(path, [Entry("c:0", "Nothing like it at all")])


def test_plural_forms_follow_the_header_or_the_rule_given(tmp_path: Path) -> None:
    rule = "nplurals=2; plural=(n > 1);"
    path = tmp_path / "fr.po"
    catalog = catalogs.read(path, rule)
    catalogs.update(catalog, [Entry(None, "{n} day", plural="{n} days")])
    catalogs.write(path, catalog)
    text = path.read_text(encoding="utf-8")
    assert f"Plural-Forms: {rule}" in text
    assert "msgstr[1]" in text
    assert "msgstr[2]" not in text
    assert catalogs.read(path).num_plurals == 2
    assert catalogs.read(tmp_path / "ru.po").num_plurals == 3


def test_no_flag_is_guessed(tmp_path: Path) -> None:
    assert "python" not in written(tmp_path / "fr.po", [Entry("a:0", "100 % done, {name} %s")])


@pytest.mark.parametrize("content", [b"msgid ", b'msgid "a"\nmsgstr "\xff"\n'])
def test_a_broken_file_is_an_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "fr.po"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=r"fr.po:\d+: not a PO file"):
        catalogs.read(path)
