"""A small course of two lessons in two languages, and what a learner does to a copy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helpers.copies.learner import Copies


class SmallCourse:
    """`root` is its folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.copies = Copies(root)
        (root / "lessons").mkdir(parents=True)
        course = '[[lessons]]\nslug = "order-file"\n[[lessons]]\nslug = "idempotent-consumer"\n'
        (root / "lessons" / "course.toml").write_text(course, encoding="utf-8")
        for page in ("index.ipynb", "fr/index.ipynb", "ru/index.ipynb"):
            self.store(page, "[1](01_order_file.ipynb)")
        for language in ("fr", "ru"):
            for name in ("01_order_file.ipynb", "02_idempotent_consumer.ipynb"):
                self.store(f"{language}/{name}", f"answer = 42  # {language}")

    def store(self, name: str, source: str) -> Path:
        """A notebook that ran, as the course stores it."""
        path = self.root / "notebooks" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        result = {"output_type": "stream", "name": "stdout", "text": ["the answer\n"]}
        cell = {"cell_type": "code", "execution_count": 1, "id": "one", "metadata": {}, "outputs": [result]}
        cells = [{**cell, "source": [source]}]
        text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
        path.write_text(text, encoding="utf-8")
        return path

    def copy(self, name: str) -> Path:
        return self.root / "work" / name

    def kept(self, language: str = "fr") -> list[str]:
        """The names of earlier copies."""
        return sorted(path.name for path in (self.root / "work" / language).glob("*_20??-??-??*.ipynb"))


def type_into(path: Path, text: str) -> None:
    """Change the first cell, as an editor does."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["cells"][0]["source"] = text
    path.write_text(json.dumps(notebook), encoding="utf-8")


def run_all(path: Path) -> None:
    """Leave results behind."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["cells"][0]["execution_count"] = 1
    notebook["metadata"]["language_info"] = {"version": "3.14"}
    path.write_text(json.dumps(notebook), encoding="utf-8")


@pytest.fixture
def course(tmp_path: Path) -> SmallCourse:
    """In a folder whose name has spaces, accents and Cyrillic letters."""
    return SmallCourse(tmp_path / "Курс été niño")
