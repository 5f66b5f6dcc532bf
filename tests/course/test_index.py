from __future__ import annotations

import re

from nbformat.v4 import new_output

from helpers.course.index import index_notebook, language_name, language_page, lead_up
from helpers.course.syllabus import Folders, read_course
from helpers.launcher.command import parser


def test_each_language_has_a_section_with_links_titles_and_minutes(folders: Folders) -> None:
    index = index_notebook(read_course(folders), ("fr", "ru"), folders)
    assert [cell.id for cell in index.cells] == ["title", "fr", "fr-progress", "ru", "ru-progress"]
    assert index.cells[0].source == "# Once\n\n[Français](fr/index.ipynb) · [Русский](ru/index.ipynb)"
    assert "| [1. Une file en une minute](fr/01_small_lesson.ipynb) | 1 minute |\n\n" in index.cells[1].source
    assert index.cells[1].source.endswith("\n\nExécutez cette cellule pour voir où vous en êtes.")
    assert index.cells[2].source == 'from helpers.show import progress\n\nprogress("fr")'
    assert index.cells[3].source.startswith(
        "## Русский\n\nВыберите урок. Выполняйте ячейки сверху вниз.\n\n| Урок | Время |\n| --- | --- |\n"
        "| [1. Очередь за одну минуту](ru/01_small_lesson.ipynb) | 1 минута |\n\n"
    )
    assert index.cells[3].source.endswith("\n\nВыполните эту ячейку, чтобы увидеть, сколько вы уже прошли.")


def test_each_language_has_a_page_of_its_own_beside_its_lessons(folders: Folders) -> None:
    page = language_page(read_course(folders), "fr", ("es", "fr", "ru"), folders)
    assert [cell.id for cell in page.cells] == ["fr", "fr-progress", "others"]
    assert page.cells[0].source.startswith("# Once\n\nChoisissez")
    assert "| [1. Une file en une minute](01_small_lesson.ipynb) | 1 minute |" in page.cells[0].source
    assert page.cells[1].source == 'from helpers.show import progress\n\nprogress("fr")'
    assert page.cells[2].source == "[Español](../es/index.ipynb) · [Русский](../ru/index.ipynb)"
    alone = language_page(read_course(folders), "fr", ("fr",), folders)
    assert [cell.id for cell in alone.cells] == ["fr", "fr-progress"]


def test_links_in_the_outputs_of_such_a_page_begin_above_it(folders: Folders) -> None:
    """Its outputs are those of the page for all languages, which lies one folder higher."""
    page = language_page(read_course(folders), "fr", ("fr",), folders)
    output = {"text/html": '<a href="fr/01_small_lesson.ipynb">', "text/plain": "1"}
    page.cells[1].outputs = [new_output("execute_result", output)]
    lead_up(page)
    assert page.cells[1].outputs[0].data == output | {"text/html": '<a href="../fr/01_small_lesson.ipynb">'}


def test_each_section_says_how_to_get_menus_in_its_language(folders: Folders) -> None:
    index = index_notebook(read_course(folders), ("fr", "ru"), folders)
    for language, cell in (("fr", index.cells[1]), ("ru", index.cells[3])):
        assert f"`make lab-{language}`" in cell.source
        (windows,) = re.findall(r"`py -m helpers (.+?)`", cell.source)
        assert parser().parse_args(windows.split()).language == language, "the command of the launcher"
        assert "*Settings*" in cell.source
        assert "`Shift`+`Enter`" in cell.source


def test_minutes_agree_with_their_number(folders: Folders, replace_in) -> None:
    replace_in(folders.lessons / "course.toml", "minutes = 1\n", "minutes = 45\n")
    index = index_notebook(read_course(folders), ("fr", "ru"), folders)
    assert "45 минут |" in index.cells[3].source
    assert "45 minutes |" in index.cells[1].source


def test_a_language_is_called_by_its_own_name() -> None:
    assert [language_name(language) for language in ("fr", "ru", "es", "pt_BR", "xx")] == [
        "Français",
        "Русский",
        "Español",
        "Português (Brasil)",
        "xx",
    ]
