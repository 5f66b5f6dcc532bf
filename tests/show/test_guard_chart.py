"""The chart of guards: true numbers in signs, words and blocks; the same bytes each time; every word translated."""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import ipywidgets
import pytest

from helpers.lab.errors import ExperimentFailed
from helpers.lab.experiments import FAULTS, GUARDS, ExperimentResult
from helpers.lab.guard_comparison import COMPARED_FAULTS, COMPARED_GUARDS, GuardComparison
from helpers.show import guard_chart
from helpers.show.bundle import WIDGET_VIEW
from helpers.show.formatters import bundle_of
from helpers.show.guard_chart import ShownGuards
from helpers.show.guard_panel import GuardPanel
from tests.show.shown import Outline, inside

pytestmark = pytest.mark.usefixtures("no_widgets")

HANG = 20.0
EVIL = "<b>&"


def comparison(
    guards: tuple[str, ...] = COMPARED_GUARDS, faults: tuple[str, ...] = COMPARED_FAULTS, copies: int = 3
) -> GuardComparison:
    """As many effects as deliveries, and one for the conditional write."""
    rows = [
        ExperimentResult(g, f, copies, copies, 0, 0, 1, 1 if g == "conditional-write" else copies)
        for g in guards
        for f in faults
    ]
    return GuardComparison(guards, faults, copies, tuple(rows))


def panels(html: str) -> list[str]:
    return re.findall(r'<svg[^>]*role="img".*?</svg>', html, re.DOTALL)


def blocks(panel: str) -> dict[str, int]:
    """How many blocks of each kind a panel has."""
    rectangles = re.findall(r"<rect [^>]*>", panel)
    empty = sum("dasharray" in one for one in rectangles)
    return {
        "extra": sum("--jp-error" in one for one in rectangles),
        "right": sum("--jp-brand" in one for one in rectangles),
        "empty": empty,
        "crosses": len(re.findall(r'<path d="M[^V]*?L[^"]*"', panel)),
    }


def test_each_delivery_is_a_block_and_each_effect_too_many_is_crossed() -> None:
    drawn = panels(ShownGuards(comparison()).live_html())
    assert len(drawn) == len(COMPARED_GUARDS)
    assert blocks(drawn[0]) == {"extra": 8, "right": 4, "empty": 0, "crosses": 8}
    assert blocks(drawn[-1]) == {"extra": 0, "right": 4, "empty": 8, "crosses": 0}


def test_numbers_and_signs_say_what_the_colours_say() -> None:
    drawn = panels(ShownGuards(comparison()).live_html())
    assert Outline(drawn[0]).text.count("3 → 3 ✗") == 4
    assert "✗ up to 3 effects" in Outline(drawn[0]).text
    assert Outline(drawn[-1]).text.count("3 → 1 ✓") == 4
    assert "✓ always 1 effect" in Outline(drawn[-1]).text
    for panel in drawn:
        assert "1 order = 1 effect" in Outline(panel).text


def test_a_panel_has_a_name_and_a_description() -> None:
    image = ElementTree.fromstring(panels(ShownGuards(comparison()).live_html())[0])
    said = image.get("aria-label", "")
    assert said.startswith("none: ✗ up to 3 effects. copies, one by one: 3 deliv")
    assert "crash after the write: 3 deliveries, 3 effects" in said


def test_the_same_numbers_stand_in_a_table() -> None:
    shown = ShownGuards(comparison())
    outline = Outline(shown.live_html())
    assert len(outline.all("details")) == 1
    assert len([cell for cell in outline.all("th") if cell.get("scope") == "row"]) == 16
    for line in shown.text().splitlines():
        if line.lstrip().startswith("conditional-write"):
            assert re.search(r" 3 +1  ✓\u00a0yes$", line), line


@pytest.mark.parametrize(
    ("effects", "said"),
    [
        ({}, "Only with conditional-write does an order have exactly one effect"),
        ({"conditional-write": 2}, "None of these guards"),
        ({"conditional-write": 0}, "None of these guards"),
        (dict.fromkeys(COMPARED_GUARDS, 1), "All of these guards"),
        ({"message-id": 1}, "Only with message-id, conditional-write does"),
    ],
)
def test_one_sentence_says_what_the_chart_shows(effects: dict[str, int], said: str) -> None:
    result = comparison()
    rows = tuple(replace(row, effects=effects.get(row.guard, row.effects)) for row in result.rows)
    assert said in ShownGuards(replace(result, rows=rows)).text()


def test_an_effect_that_is_missing_is_no_success() -> None:
    result = comparison(("none",), ("none",))
    shown = ShownGuards(replace(result, rows=(replace(result.rows[0], effects=0),)))
    [panel] = panels(shown.live_html())
    assert "3 → 0 ✗" in Outline(panel).text
    assert "✗ the effect is missing" in Outline(panel).text
    assert blocks(panel)["empty"] == 3


@pytest.mark.parametrize("copies", [1, 2, 8, 20])
def test_no_block_reaches_the_numbers_or_the_frame(copies: int) -> None:
    for panel in panels(ShownGuards(comparison(GUARDS, FAULTS, copies)).live_html()):
        width = float(re.findall(r'viewBox="0 0 ([\d.]+)', panel)[0])
        for x, wide in re.findall(r'<rect x="([\d.]+)"[^>]*? width="([\d.]+)"', panel)[1:]:
            assert float(wide) > 0
            assert float(x) + float(wide) < width - 5 * 16


def test_the_picture_is_an_image_by_itself_with_all_panels() -> None:
    image = ElementTree.fromstring(ShownGuards(comparison()).picture())
    text = " ".join(image.itertext())
    for words in (*COMPARED_GUARDS, "delivery without an effect", "Only with conditional-write", "3 → 1 ✓"):
        assert words in text
    width, height = float(image.get("width", "0")), float(image.get("height", "0"))
    assert image.get("viewBox") == f"0 0 {width:g} {height:g}"
    for part in image.iter("{http://www.w3.org/2000/svg}text"):
        assert 0 < float(part.get("x", "-1")) < width
        assert 0 < float(part.get("y", "-1")) < height


def test_what_is_stored_holds_the_panels_as_images_with_their_words() -> None:
    outline = Outline(ShownGuards(comparison()).html())
    assert outline.all("svg") == []
    images = [image for image in outline.all("img") if image["alt"]]
    said = [ElementTree.fromstring(panel).get("aria-label") for panel in panels(ShownGuards(comparison()).live_html())]
    assert [image["alt"] for image in images] == said
    assert (images[-1]["alt"] or "").startswith("conditional-write: ✓ always 1 effect. copies, one by one: 3 deliver")


def test_the_bundle_is_the_same_each_time_and_holds_the_picture() -> None:
    data = bundle_of(comparison())
    assert data == bundle_of(comparison())
    assert set(data) == {"text/plain", "text/html", "image/svg+xml"}


def test_sizes_are_in_em_and_colours_have_a_value_outside_a_theme() -> None:
    html = ShownGuards(comparison()).live_html()
    for panel in panels(html):
        width = float(re.findall(r'viewBox="0 0 ([\d.]+)', panel)[0])
        shown = float(re.findall(r"width:([\d.]+)em;max-width:100%", panel)[0])
        assert shown == pytest.approx(width / 16, abs=0.01), "letters are as large as the text around"
        assert "font-size" not in panel.partition(">")[0], "it would change what an em is"
    for colour in re.findall(r"(?:fill|stroke):([^;\"]+)", html):
        assert re.fullmatch(r"var\(--jp-[\w-]+,#\w+\)|none", colour), colour


def test_every_word_comes_from_the_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each text is replaced by signs; what is left are names of guards and faults, and numbers."""

    def hidden(text: str) -> str:
        return re.sub(r"[^\W\d_]+(?![^{]*})", "¤", text)

    monkeypatch.setattr(guard_chart, "_", hidden)
    monkeypatch.setattr(guard_chart, "ngettext", lambda one, many, n: hidden(one if n == 1 else many))
    monkeypatch.setattr(guard_chart, "labelled", lambda label, text: f"{label}: {text}")
    shown = ShownGuards(comparison(GUARDS, FAULTS))
    for form in (
        shown.text(),
        Outline(shown.live_html()).text,
        " ".join(ElementTree.fromstring(shown.picture()).itertext()),
    ):
        for name in sorted((*GUARDS, *FAULTS), key=len, reverse=True):
            form = form.replace(name, "")
        assert not re.findall(r"[A-Za-z]+", form)


def test_long_words_of_another_language_stay_in_the_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard_chart, "_", lambda text: f"{text} un tiers de plus pour voir")
    for panel in panels(ShownGuards(comparison()).live_html()):
        for x, words in re.findall(r'<text x="([\d.]+)"(?![^>]*(?:bold|mono))[^>]*>([^<]+)', panel):
            assert float(x) + len(words) * 0.56 * 16 <= guard_chart._WIDTH * 16
        lowest = max(float(y) for y in re.findall(r'<text x="[\d.]+" y="([\d.]+)"', panel))
        assert lowest < float(re.findall(r'viewBox="0 0 [\d.]+ ([\d.]+)', panel)[0])


def test_a_text_from_outside_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard_chart, "_", lambda text: EVIL)
    shown = ShownGuards(comparison())
    for form in (shown.html(), shown.live_html(), shown.picture()):
        assert "&lt;b&gt;&amp;" in form
        assert "<b>" not in form


# --- the panel --------------------------------------------------------------------------------------------------


class Compared:
    """Stands for lab.compare_guards: waits when told to, writes down what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.go_on.set()
        self.error: Exception | None = None

    def __call__(self, faults: list[str], guards: tuple[str, ...], copies: int, told: Any) -> GuardComparison:
        self.asked.append({"faults": faults, "guards": guards, "copies": copies})
        told(1, len(faults) + 1)
        self.begun.set()
        assert self.go_on.wait(HANG)
        if self.error:
            raise self.error
        return comparison(guards, tuple(faults), copies)


def controls(panel: GuardPanel) -> list[Any]:
    kinds = (ipywidgets.Checkbox, ipywidgets.BoundedIntText, ipywidgets.Button)
    return [one for kind in kinds for one in inside(panel.widget, kind)]


def said(panel: GuardPanel) -> str:
    return "".join(html.value for html in inside(panel.widget, ipywidgets.HTML)[-1:])


def test_a_press_compares_what_is_chosen_and_draws_it_anew() -> None:
    compare = Compared()
    panel = GuardPanel(compare, comparison())
    boxes, [copies] = inside(panel.widget, ipywidgets.Checkbox), inside(panel.widget, ipywidgets.BoundedIntText)
    assert [box.value for box in boxes] == [fault in COMPARED_FAULTS for fault in FAULTS]
    for box in boxes:
        box.value = box is boxes[1]
    copies.value = 5
    panel.press()
    assert panel.wait(HANG)
    assert compare.asked == [{"faults": ["producer-copy"], "guards": COMPARED_GUARDS, "copies": 5}]
    chart = inside(panel.widget, ipywidgets.HTML)[1]
    assert "5 → 5 ✗" in chart.value
    assert chart.value == ShownGuards(panel.result).live_html()
    assert panel.rows == comparison(COMPARED_GUARDS, ("producer-copy",), 5).rows
    assert "✓" in said(panel)


def test_while_it_runs_nothing_can_be_pressed_and_progress_is_said() -> None:
    compare = Compared()
    compare.go_on.clear()
    panel = GuardPanel(compare, comparison())
    panel.press()
    assert compare.begun.wait(HANG)
    assert all(control.disabled for control in controls(panel))
    assert "Faults done: 1 of 5." in said(panel)
    panel.press()
    compare.go_on.set()
    assert panel.wait(HANG)
    assert len(compare.asked) == 1
    assert not any(control.disabled for control in controls(panel))


def test_an_error_is_said_where_it_was_pressed_and_the_chart_stays() -> None:
    compare = Compared()
    compare.error = ExperimentFailed("It did not <end>.", "So nothing.", "Run it again.")
    panel = GuardPanel(compare, comparison())
    before = panel.html()
    panel.press()
    assert panel.wait(HANG)
    assert "It did not &lt;end&gt;." in said(panel)
    assert panel.html() == before
    assert not any(control.disabled for control in controls(panel))


def test_no_fault_at_all_is_refused_with_the_next_step() -> None:
    compare = Compared()
    panel = GuardPanel(compare, comparison())
    for box in inside(panel.widget, ipywidgets.Checkbox):
        box.value = False
    panel.press()
    assert "Choose one fault or more." in said(panel)
    assert compare.asked == []


def test_the_bundle_of_the_panel_holds_the_static_forms_too() -> None:
    data = GuardPanel(Compared(), comparison())._repr_mimebundle_()
    assert WIDGET_VIEW in data
    assert {name: data[name] for name in bundle_of(comparison())} == bundle_of(comparison())
