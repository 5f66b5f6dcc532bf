"""The pages to print: as HTML, and as Chromium prints them on A4."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.classroom.__main__ import main
from helpers.classroom.handout import for_the_class, for_the_teacher
from helpers.classroom.paper import NotPrinted, browser, to_pdf
from helpers.classroom.teaching import read_notes
from helpers.course.syllabus import HERE, Lesson, languages, read_course
from helpers.lab.language import _, current, use
from helpers.lab.lesson_texts import LessonTexts
from helpers.show.markup import prose

LESSONS = read_course(HERE).lessons
LANGUAGES = languages(HERE)
POINTS = 72 / 25.4  # in a millimetre
A4 = (210 * POINTS, 297 * POINTS)

# Each lesson, and each language: the other pairs are the same code with texts that other gates look at.
each_edition = pytest.mark.parametrize(
    ("lesson", "language"),
    zip(LESSONS, itertools.cycle(LANGUAGES), strict=False),
    ids=lambda one: getattr(one, "slug", one),
)


@pytest.fixture(autouse=True)
def _language_as_before() -> Iterator[None]:
    before = current()
    yield
    use(before)


def both_editions(lesson: Lesson, language: str) -> tuple[str, str, LessonTexts]:
    use(language)
    texts, notes = LessonTexts(lesson.slug), read_notes(lesson)
    return for_the_class(texts.heading, texts, notes), for_the_teacher(texts.heading, texts, notes), texts


@each_edition
def test_the_class_gets_lines_and_no_answer_and_the_teacher_all_of_them(lesson: Lesson, language: str) -> None:
    sheet, teachers, texts = both_editions(lesson, language)
    blanks = [row for row in texts.vocabulary if not row.example]
    questions = [texts.prediction(step) for step in texts.predictions]
    choices = [choice for question in questions for choice in question.choices]
    assert sheet.count('class="line"') == 2 * len(blanks) + 3 * len(questions)
    assert sheet.count('class="mark"') == len(choices)
    for row in blanks:
        assert prose(row.model).html not in sheet
        assert prose(row.model).html in teachers
    for choice in choices:
        assert prose(choice.feedback).html not in sheet
        assert prose(choice.feedback).html in teachers
    assert "✓" not in sheet
    assert teachers.count("✓") == len(questions)
    for notes in read_notes(lesson):
        assert prose(notes.demo).html not in sheet
        assert prose(notes.demo).html in teachers
    for page in (sheet, teachers):
        assert f'<html lang="{language}">' in page
        assert "http" not in page
        assert "src=" not in page


def test_what_ends_a_string_of_css_does_not_end_the_footer() -> None:
    use("en")
    page = for_the_class('A "b" </style>\\', LessonTexts(LESSONS[0].slug), [])
    assert page.count("</style>") == 1
    assert r"A \22 b\22  \3c /style>\5c " in page


def test_without_a_browser_the_pages_are_there_and_the_command_says_how_to_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("helpers.classroom.__main__.browser", lambda: None)
    assert main(["handouts", "--lesson", "1", "--language", "es", "--output", str(tmp_path)]) == 0
    names = sorted(path.name for path in (tmp_path / "es").iterdir())
    assert names == ["01_order_file.html", "01_order_file_teacher.html"]
    said = _("There is no Chromium, Chrome or Edge here to make PDFs. Print the pages from any browser.")
    assert said in capsys.readouterr().out


def test_a_browser_that_prints_nothing_is_an_error_with_its_words(tmp_path: Path) -> None:
    with pytest.raises(NotPrinted, match="no-such-browser"):
        to_pdf(str(tmp_path / "no-such-browser"), tmp_path / "a.html", tmp_path / "a.pdf")


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The longest lesson in the language with the longest words."""
    if browser() is None:
        message = "no Chromium on this machine"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    folder = tmp_path_factory.mktemp("printed")
    assert main(["handouts", "--lesson", "protected-workflow", "--language", "ru", "--output", str(folder)]) == 0
    return folder / "ru"


@pytest.mark.browser
@pytest.mark.parametrize(("name", "most"), [("03_protected_workflow", 6), ("03_protected_workflow_teacher", 10)])
def test_on_paper_nothing_is_cut_off_and_each_page_has_its_number(printed: Path, name: str, most: int) -> None:
    pdfium = pytest.importorskip("pypdfium2")
    document = pdfium.PdfDocument(printed / f"{name}.pdf")
    count = len(document)
    assert 3 <= count <= most
    for number, page in enumerate(document, start=1):
        assert page.get_size() == pytest.approx(A4, abs=1.5)
        text = page.get_textpage()
        said = text.get_text_range()
        assert re.search(rf"\b{number} / {count}\b", said)
        for place in range(text.count_chars()):
            left, bottom, right, top = text.get_charbox(place)
            if right - left > 0.1:
                assert left >= 10 * POINTS, (number, said[place : place + 20])
                assert right <= (210 - 14) * POINTS, (number, said[max(0, place - 20) : place + 1])
                assert bottom >= 4 * POINTS
                assert top <= (297 - 10) * POINTS
    whole = re.sub(r"\s+", "", "".join(page.get_textpage().get_text_range() for page in document))
    html = (printed / f"{name}.html").read_text(encoding="utf-8")
    # Chromium may break a long word, so what is compared has no spaces and no hyphens.
    for heading in re.findall(r"<h[123]>(.+?)</h[123]>", html):
        assert re.sub(r"<[^>]+>|\s", "", heading).replace("-", "") in whole.replace("-", ""), heading


@pytest.mark.browser
def test_on_paper_the_lines_are_drawn_and_ink_is_black(printed: Path) -> None:
    pdfium = pytest.importorskip("pypdfium2")
    document = pdfium.PdfDocument(printed / "03_protected_workflow.pdf")
    widths = []
    for page in document:
        picture = page.render(scale=1)  # one pixel for each point
        data, step = bytes(picture.buffer), picture.n_channels
        for start in range(0, picture.height * picture.stride, picture.stride):
            row = data[start : start + picture.width * step]
            inks = [row[place : place + 3] for place in range(0, len(row), step)]
            dark = [ink for ink in inks if sum(ink) < 3 * 160]
            widths.append(len(dark))
            assert all(max(ink) - min(ink) < 12 for ink in set(dark)), "a colour"
    assert sum(width > 0.6 * A4[0] for width in widths) >= 20, "lines from margin to margin"
