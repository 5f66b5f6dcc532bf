"""The pages under docs name tests, modules and files that exist."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
EMULATED = ROOT / "docs/emulated-cloud.md"


@functools.cache
def names_of_tests(folder: Path) -> set[str]:
    """The names of all test functions and test modules below a folder."""
    names: set[str] = set()
    for path in folder.rglob("test_*.py"):
        names.add(path.stem)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    return names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_test_that_a_page_names_exists(page: Path) -> None:
    named = set(re.findall(r"`(test_\w+)`", page.read_text(encoding="utf-8")))
    assert sorted(named - names_of_tests(ROOT / "tests")) == []


def test_each_module_that_the_page_names_exists_and_none_is_forgotten() -> None:
    text = EMULATED.read_text(encoding="utf-8")
    tables = [line.split(" | ") for line in text.splitlines() if line.startswith("| ") and line.count(" | ") == 2]
    named = {name for row in tables for name in re.findall(r"`(\w+)`", row[1])}
    modules = {path.stem for path in (ROOT / "helpers/cloud").glob("*.py")}
    assert sorted(named - modules) == []
    services = {name for name in modules if re.match(r"(sqs|s3|dynamodb|workflow|policy|log)_?", name)}
    internal = {"sqs_batches", "sqs_request", "dynamodb_comparisons", "dynamodb_returned", "workflow_machines"}
    assert sorted(services - named - internal) == [], "say on the page what these modules do"


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_readme_leads_to_both_pages() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "(docs/usable-alone.md)" in text
    assert "(docs/emulated-cloud.md)" in text
