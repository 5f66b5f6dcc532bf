"""Licences, citation, change log, hooks, Weblate and the maintainers' pages say what is there."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from babel.messages.pofile import read_po

import helpers
from helpers.course.__main__ import main
from helpers.course.syllabus import HERE, languages, read_course
from helpers.launcher.command import parser
from helpers.launcher.suite import STEPS

ROOT = HERE.root
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PAGES = [ROOT / name for name in ("docs/translating.md", "docs/maintaining.md", "deploy/weblate/README.md")]
WEBLATE = json.loads((ROOT / "deploy/weblate/components.json").read_text(encoding="utf-8"))


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_code_and_text_have_their_licences_and_the_readme_says_which() -> None:
    assert PYPROJECT["license"] == "MIT"
    assert read("LICENSE").startswith("MIT License\n")
    text = read("LICENSE-text")
    assert text.startswith("Attribution 4.0 International\n")
    assert re.findall(r"^Section (\d) -- ", text, re.MULTILINE) == list("12345678")
    readme = read("README.md")
    assert "(LICENSE)" in readme
    assert "(LICENSE-text)" in readme


def test_the_citation_is_of_this_version_and_of_these_licences() -> None:
    citation = yaml.safe_load(read("CITATION.cff"))
    assert {"cff-version", "message", "title", "authors"} <= citation.keys(), "what the schema 1.2.0 asks for"
    assert citation["cff-version"] == "1.2.0"
    assert str(citation["version"]) == helpers.__version__
    assert citation["license"] == ["MIT", "CC-BY-4.0"]
    assert citation["authors"] == [{"name": "The Once authors"}]
    assert "The Once authors" in read("LICENSE")


def test_the_change_log_is_of_the_form_keep_a_changelog_and_knows_this_version() -> None:
    text = read("CHANGELOG.md")
    assert text.startswith("# Changelog\n")
    releases = re.findall(r"^## \[(.+?)\]", text, re.MULTILINE)
    assert releases[0] == "Unreleased"
    assert f"version {helpers.__version__}" in text
    kinds = set(re.findall(r"^### (.+)$", text, re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_hooks_call_what_the_launcher_has_and_fetch_nothing() -> None:
    repositories = yaml.safe_load(read(".pre-commit-config.yaml"))["repos"]
    assert [one["repo"] for one in repositories] == ["local"]
    hooks = {hook["id"]: hook for hook in repositories[0]["hooks"]}
    for hook in hooks.values():
        assert hook["language"] in ("system", "pygrep")
        if hook["language"] == "system":
            parser().parse_args(hook["entry"].removeprefix("python3 -m helpers ").split())
    assert hooks["lint"]["entry"].split()[-1] in {step.name for step in STEPS}
    ends = re.compile(hooks["last-line"]["entry"])
    assert [bool(ends.search(text)) for text in ("a", "a\n", "a\n\n", "")] == [True, False, True, False]


def test_weblate_has_a_component_for_each_catalog_with_its_template_and_flags() -> None:
    expected = {HERE.shown(lesson.folder) + "/*.po" for lesson in read_course(HERE).lessons}
    expected.add(HERE.shown(HERE.locale) + "/*.po")
    assert {one["filemask"] for one in WEBLATE} == expected
    assert len({one["slug"] for one in WEBLATE}) == len(WEBLATE)
    for one in WEBLATE:
        assert {path.stem for path in ROOT.glob(one["filemask"])} == set(languages(HERE))
        with (ROOT / one["new_base"]).open("rb") as stream:
            assert len(read_po(stream, abort_invalid=True)) > 10
        assert (one["file_format"], one["template"], one["license"]) == ("po", "", "CC-BY-4.0")
        assert ("python-brace-format" in one["check_flags"]) == (one["slug"] == "helpers")
        assert one["repo"] in ("REPOSITORY", f"weblate://once/{WEBLATE[0]['slug']}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_file_and_command_of_a_page_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    files = set(re.findall(r"`((?:helpers|lessons|tests|docs|deploy)/[\w./-]+)`", text))
    new = "bounded_retries"  # the lesson that the example makes
    assert [name for name in sorted(files) if new not in name and not (ROOT / name).exists()] == []
    makefile = read("Makefile")
    for target in set(re.findall(r"(?:^|`|\$ )make ([a-z0-9][a-z0-9-]*)", text, re.MULTILINE)):
        assert re.search(rf"^{re.sub('^lab-.*', 'lab-%', target)}:", makefile, re.MULTILINE), target
    for line in re.findall(r"python -m helpers\.course (.+)$", text, re.MULTILINE):
        with pytest.raises(SystemExit, match="0"):
            main([*line.split(), "--help"])


def test_the_fault_of_the_example_stands_beside_the_names_that_it_is_put_beside() -> None:
    text = read("docs/maintaining.md")
    for file, name in (
        ("helpers/cloud/faults.py", "def refuse("),
        ("helpers/lab/table_faults.py", "def _writing("),
        ("helpers/lab/armed.py", "def describe("),
        ("helpers/lab/faults.py", "offered: ClassVar"),
        ("helpers/show/fault_controls.py", "def _controls("),
        ("tests/lab/test_lab_faults.py", "ONE_MORE = {"),
        ("tests/lessons/test_cli.py", "_SAME = {"),
    ):
        assert file in text
        assert name in read(file), file
