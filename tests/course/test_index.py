from __future__ import annotations

from helpers.course.index import index_notebook, language_name
from helpers.course.syllabus import Folders, read_course


def test_each_language_has_a_section_with_links_titles_and_minutes(folders: Folders) -> None:
    index = index_notebook(read_course(folders), ("fr", "ru"), folders)
    assert [cell.id for cell in index.cells] == ["title", "fr", "fr-progress", "ru", "ru-progress"]
    assert index.cells[0].source == "# Once\n\nFrançais · Русский"
    assert index.cells[1].source.endswith(
        "| [1. Une file en une minute](fr/01_small_lesson.ipynb) | 1 minute |\n\n"
        "Exécutez cette cellule pour voir où vous en êtes."
    )
    assert index.cells[2].source == 'from helpers.show import progress\n\nprogress("fr")'
    assert index.cells[3].source == (
        "## Русский\n\nВыберите урок. Выполняйте ячейки сверху вниз.\n\n| Урок | Время |\n| --- | --- |\n"
        "| [1. Очередь за одну минуту](ru/01_small_lesson.ipynb) | 1 минута |\n\n"
        "Выполните эту ячейку, чтобы увидеть, сколько вы уже прошли."
    )


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
