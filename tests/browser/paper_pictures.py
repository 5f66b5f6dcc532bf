"""Pictures of what is printed or opened without JupyterLab: the worksheet, the teacher's pages, an experiment's report.

They are made by the commands that a teacher types; `make pictures` calls this module.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from pathlib import Path

import pypdfium2
from playwright.sync_api import Page

from helpers.classroom.__main__ import main as classroom
from helpers.grid.__main__ import main as grid

LESSON = "idempotent-consumer"
# One worker that keeps an order and one that does not, undisturbed and after a crash: four runs.
EXPERIMENT = ("guard=none,conditional-write", "fault=none,crash-after-write", "duplicates=3")

TITLES = {
    "worksheet": "The worksheet, first page",
    "worksheet_teacher": "The teacher's edition, first page",
    "experiment": "The report of an experiment",
}

# The pixels of a bitmap, as WebP.
_DRAWN = """async ([pixels, width, height, quality]) => {
  const bytes = Uint8ClampedArray.from(atob(pixels), (one) => one.charCodeAt(0));
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = height;
  canvas.getContext('2d').putImageData(new ImageData(bytes, width, height), 0, 0);
  return canvas.toDataURL('image/webp', quality).split(',')[1];
}"""
_SCALE = 1.5  # pixels for each point: an A4 page is 893 pixels wide


def paper(tab: Page, language: str, place: Path, quality: float) -> Iterator[tuple[str, bytes]]:
    """(name, WebP) of the first pages of both handouts of a lesson, as they come out of a printer.

    :param place: an empty folder.
    """
    code = classroom(["handouts", "--lesson", LESSON, "--language", language, "--output", str(place)])
    assert code == 0, "no handouts"
    for path in sorted((place / language).glob("*.pdf"), key=lambda path: len(path.name)):
        name = "worksheet_teacher" if path.stem.endswith("_teacher") else "worksheet"
        yield name, _first_page(tab, path, quality)


def report(tab: Page, language: str, place: Path) -> Iterator[str]:
    """Run an experiment into the empty folder `place` and open its report in `tab`; yields its name."""
    chosen: Sequence[str] = [part for one in EXPERIMENT for part in ("--set", one)]
    assert grid(["--lesson", LESSON, "--language", language, *chosen, "--output", str(place)]) == 0, "a run went wrong"
    tab.set_viewport_size({"width": 1366, "height": 900})
    tab.goto((place / "report.html").as_uri())
    yield "experiment"


def _first_page(tab: Page, path: Path, quality: float) -> bytes:
    document = pypdfium2.PdfDocument(path)
    bitmap = document[0].render(scale=_SCALE, rev_byteorder=True)
    data, step = bytes(bitmap.buffer), bitmap.n_channels
    pixels = bytearray(b"\xff" * (bitmap.width * bitmap.height * 4))
    for row in range(bitmap.height):
        line = data[row * bitmap.stride : row * bitmap.stride + bitmap.width * step]
        for colour in range(3):
            first = row * bitmap.width * 4 + colour
            pixels[first : first + bitmap.width * 4 - colour : 4] = line[colour::step]
    made = tab.evaluate(_DRAWN, [base64.b64encode(pixels).decode("ascii"), bitmap.width, bitmap.height, quality])
    return base64.b64decode(made)
