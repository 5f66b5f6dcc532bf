"""The gates: what must hold before a notebook is written. Each failure says where, what, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from gettext import c2py
from pathlib import Path

from babel.messages.catalog import Catalog, Message

from helpers.course import catalogs
from helpers.course.blocks import structure
from helpers.course.entries import Entry, Translate, lesson_entries, translated
from helpers.course.exceptions import Exceptions, read_exceptions
from helpers.course.failure import Failure
from helpers.course.fidelity import lost
from helpers.course.glossary import Term, misnamed, read_glossary, terms_in
from helpers.course.inline import inline_of
from helpers.course.messages import helper_entries
from helpers.course.pseudo import unseen
from helpers.course.same_code import CodeError, prose_in, shape
from helpers.course.source import LessonSource, read_lesson
from helpers.course.syllabus import Folders, Lesson, languages, read_course
from helpers.course.typography import Typography, faults, quotes_used, read_typography

_TRANSLATE = "Translate it"
_UPDATE = "Run `make i18n`"


def _update(language: str) -> str:
    """For a catalog that is not there: without the name, `make i18n` makes only those of the known languages."""
    return f"Run `make i18n LANG_={language}`"


@dataclass(slots=True)
class Rules:
    """The data that the gates use, all of it from lessons/."""

    typography: Typography = field(default_factory=Typography)
    glossary: Sequence[Term] = ()
    exceptions: Exceptions = field(default_factory=Exceptions)


def read_rules(folders: Folders) -> Rules:
    """typography.toml, glossary.csv and exceptions.toml, each of which may be missing."""
    return Rules(
        read_typography(folders.lessons / "typography.toml"),
        read_glossary(folders.lessons / "glossary.csv"),
        read_exceptions(folders.lessons / "exceptions.toml"),
    )


def check_course(folders: Folders, only: Sequence[str] | None = None) -> list[Failure]:
    """All gates over all lessons and the helpers. `only`: these languages instead of all.

    :raises SourceError: a source or a catalog cannot be read at all.
    """
    rules = read_rules(folders)
    spoken = languages(folders)
    chosen = spoken if only is None else tuple(language for language in only if language != "en")
    course = read_course(folders)
    found: list[Failure] = []
    if not spoken:
        found.append(Failure("lessons", "", "no lesson has a catalog", "Add lessons/<lesson>/<language>.po"))
    sources: list[LessonSource] = []
    of_helpers = helper_entries(folders)
    by_folder = {folders.shown(folders.locale): of_helpers}
    for lesson in course.lessons:
        source = read_lesson(lesson.folder)
        sources.append(source)
        entries = by_folder[folders.shown(lesson.folder)] = lesson_entries(lesson, source)
        found.extend(check_source(source, folders, rules))
        for language in chosen:
            path = lesson.catalog(language)
            found.extend(check_catalog(path, entries, folders, rules))
            found.extend(check_cells(source, path, folders))
    for language in chosen:
        path = folders.locale / f"{language}.po"
        found.extend(check_catalog(path, of_helpers, folders, rules))
        found.extend(check_quotes(language, course.lessons, folders, rules))
    found.extend(_unused_excuses(by_folder, rules))
    found.extend(_unused_sentences(sources, rules))
    return found


def check_source(source: LessonSource, folders: Folders, rules: Rules) -> Iterator[Failure]:
    """The English source: no sentence hides in code, and every word of it reaches the catalogs."""
    file = folders.shown(source.path)
    for cell in source.cells:
        if cell.kind == "code":
            try:
                sentences = list(prose_in(cell.source))
            except CodeError as error:
                yield Failure(file, cell.id, f"the code is not valid: {error}", "Correct it")
                continue
            for sentence in sentences:
                if sentence not in rules.exceptions.code_sentences:
                    advice = "Use a comment or a text of the helpers, or list it in exceptions.toml, [code]"
                    yield Failure(file, cell.id, f"the sentence “{sentence}” is in the code", advice)
    for name, words in unseen(source):
        yield Failure(file, name, f"“{words}” reaches no catalog", "Write it as plain Markdown or as a comment")


def check_catalog(path: Path, entries: Sequence[Entry], folders: Folders, rules: Rules) -> Iterator[Failure]:
    """One catalog: complete, nothing fuzzy or obsolete, and each translation keeps what it must."""
    file, language = folders.shown(path), path.stem
    if not path.exists():
        yield Failure(file, "", "the catalog is missing", _update(language))
        return
    catalog = catalogs.read(path)
    for held in catalog.obsolete.values():
        yield Failure(file, _name(held), "an obsolete entry", _UPDATE)
    known = {(entry.context, entry.text) for entry in entries}
    for held in catalog:
        text = held.id[0] if isinstance(held.id, (list, tuple)) else held.id
        if text and (held.context, text) not in known:
            yield Failure(file, _name(held), "this entry is no longer in the source", _UPDATE)
    for entry in entries:
        message = catalog.get(entry.text, entry.context)
        name = entry.context or entry.text
        if message is None:
            yield Failure(file, name, "the entry is missing", _UPDATE)
        elif message.fuzzy:
            advice = "Correct the translation and remove the mark “fuzzy”"
            yield Failure(file, name, "the English text has changed", advice)
        elif len(catalogs.strings(message)) != (catalog.num_plurals if entry.plural else 1):
            yield Failure(file, name, "the plural forms do not fit the language", _UPDATE)
        elif not all(text.strip() for text in catalogs.strings(message)):
            yield Failure(file, name, "no translation", _TRANSLATE)
        else:
            for text, only_one in _forms(catalog, message):
                folder = folders.shown(path.parent)
                for what, advice in _findings(entry, text, only_one, language, folder, rules):
                    yield Failure(file, name, what, advice)


def _findings(
    entry: Entry, text: str, only_one: bool, language: str, folder: str, rules: Rules
) -> Iterator[tuple[str, str]]:
    plain = inline_of(entry.kind, text).plain
    english = inline_of(entry.kind, entry.text).plain
    if text in (entry.text, entry.plural) and not rules.exceptions.may_stay(plain, language):
        advice = "Translate it, or list it in exceptions.toml under [unchanged]"
        yield (f"“{text}” is the same as in English", advice)
    for end, stripped in (("start", str.lstrip), ("end", str.rstrip)):
        if (text == stripped(text)) != (entry.text == stripped(entry.text)):
            yield (f"other spaces at the {end} than in English", "Write them as in English")
    yield from lost(entry, text, only_one)
    excused = rules.exceptions.excused(folder, entry.context or entry.text)
    yield from misnamed(english, plain, language, list(rules.glossary), excused)
    of_language = rules.typography.of(language)
    yield from faults(plain, of_language, marks=entry.kind != "verbatim")


def check_cells(source: LessonSource, path: Path, folders: Folders) -> Iterator[Failure]:
    """The cells in one language: the same blocks of Markdown and the same code as in English."""
    if not path.exists():
        return
    catalog = catalogs.read(path)
    file = folders.shown(path)
    for english, ours in zip(source.cells, translated(source, lookup(catalog)), strict=True):
        if english.kind == "markdown":
            plain = next(iter(translated(LessonSource(source.path, (english,), ()), lambda _, text: text)))
            if structure(plain.source) != structure(ours.source):
                what = "other headings, list items or table cells than in English"
                advice = "Look for a mark at the start of a line, a bar in a table cell, or an empty line"
                yield Failure(file, english.id, what, advice)
        else:
            try:
                same = shape(english.source) == shape(ours.source)
            except CodeError as error:
                yield Failure(file, english.id, f"the code is not valid: {error}", "Correct the comments")
            else:
                if not same:
                    yield Failure(file, english.id, "other code than in English", "Correct the comments")


def check_quotes(language: str, lessons: Sequence[Lesson], folders: Folders, rules: Rules) -> Iterator[Failure]:
    """One kind of quotation marks in all catalogs of a language."""
    first: dict[str, str] = {}
    for path in [lesson.catalog(language) for lesson in lessons] + [folders.locale / f"{language}.po"]:
        for message in catalogs.read(path):
            for text in catalogs.strings(message) if message.id else []:
                for kind in quotes_used(inline_of("text", text).plain, rules.typography.of(language)):
                    first.setdefault(kind, f"{folders.shown(path)} [{_name(message)}]")
    if len(first) > 1:
        places = ", ".join(f"{kind} in {place}" for kind, place in first.items())
        what = f"more than one kind of quotation marks: {places}"
        yield Failure(f"lessons/*/{language}.po", "", what, "Use one kind throughout")


def lookup(catalog: Catalog) -> Translate:
    """A `Translate` that looks into a catalog; English where it has nothing."""

    def translate(context: str, text: str) -> str:
        message = catalog.get(text, context)
        return (catalogs.strings(message)[0] if message and not message.fuzzy else "") or text

    return translate


def _forms(catalog: Catalog, message: Message) -> Iterator[tuple[str, bool]]:
    """The translations of an entry; and whether a form stands for the count 1 alone."""
    texts = catalogs.strings(message)
    if len(texts) == 1:
        yield texts[0], False
        return
    rule = c2py(catalog.plural_expr)
    counts = {form: {n for n in range(200) if rule(n) == form} for form in range(len(texts))}
    for form, text in enumerate(texts):
        yield text, counts[form] == {1}


def _unused_excuses(by_folder: Mapping[str, Sequence[Entry]], rules: Rules) -> Iterator[Failure]:
    for excuse in rules.exceptions.glossary:
        texts = [
            inline_of(entry.kind, entry.text).plain
            for entry in by_folder.get(excuse.file, ())
            if excuse.entry == (entry.context or entry.text)
        ]
        used = {term.english for text in texts for term in terms_in(text, list(rules.glossary))}
        if excuse.term not in used:
            what = f"the exception for “{excuse.term}” in {excuse.file} [{excuse.entry}] excuses nothing"
            yield Failure("lessons/exceptions.toml", "", what, "Remove it")


def _unused_sentences(sources: Sequence[LessonSource], rules: Rules) -> Iterator[Failure]:
    code = "\n".join(cell.source for source in sources for cell in source.cells if cell.kind == "code")
    for sentence in rules.exceptions.code_sentences:
        if sentence not in code:
            what = f"the sentence “{sentence}” under [code] is in no lesson"
            yield Failure("lessons/exceptions.toml", "", what, "Remove it")


def _name(message: Message) -> str:
    text = message.id[0] if isinstance(message.id, (list, tuple)) else message.id
    return message.context or text
