"""docs/pictures.md shows what `make pictures` left, all of it, in few bytes."""

from __future__ import annotations

import re

from tests.browser.paper_pictures import TITLES
from tests.browser.pictures import DOCS, FOLDER, LIVE, LOOKS, MOST_BYTES, SCENES, overview


def test_the_page_shows_the_pictures_that_are_there() -> None:
    there = {file.name for file in FOLDER.glob("*.webp")}
    assert (DOCS / "pictures.md").read_text(encoding="utf-8") == overview(there)
    assert sum(file.stat().st_size for file in FOLDER.glob("*")) < MOST_BYTES


def test_each_lesson_is_shown_in_each_language_and_look_and_so_is_the_live_view() -> None:
    names = {
        f"{scene}-{language}-{look.name}.webp"
        for scene in [*SCENES, *(f"{LIVE}-{lesson}" for lesson in SCENES)]
        for language in ("es", "fr", "ru")
        for look in LOOKS
    } | {f"{name}-{language}.webp" for name in TITLES for language in ("es", "fr", "ru")}
    shown = re.findall(r"!\[[^]]+\]\(pictures/([^)]+)\)", overview(names))
    assert sorted(shown) == sorted(names)
    assert overview(set()).count("##") == 0
