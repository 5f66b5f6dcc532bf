"""The first cell on Google Colab, as far as it can be had without Colab: its versions, a stand-in for its module."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from helpers.launcher import colab
from helpers.launcher.environment import ROOT
from helpers.show.bundle import WIDGET_VIEW, view_of
from tests.test_packaging import imported, locked

# What Colab had in 2025, as far as the lessons meet it. Its Python was 3.12.
VERSIONS = ("ipython==7.34.0", "ipykernel==6.17.1", "ipywidgets==7.7.1", "traitlets==5.7.1", "jupyter-client==7.4.9")
NOT_THERE = {"pytest", "sidecar"}  # of those who test; of JupyterLab


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What the call changes is as before afterwards."""
    folder = os.getcwd()
    for name in ("ONCE_LANGUAGE", "ONCE_HOME"):
        monkeypatch.setenv(name, os.environ.get(name, ""))
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    os.chdir(folder)


def test_what_the_lessons_import_is_on_the_list() -> None:
    names: set[str] = set()
    for folder in ("cloud", "lab", "show"):
        for path in (ROOT / "helpers" / folder).rglob("*.py"):
            names |= imported(path) - sys.stdlib_module_names - {"helpers"}
    assert {name.lower() for name in names} - NOT_THERE <= {*colab.NEEDED, *colab.STAYING}


def test_what_is_missing_gets_the_version_of_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"boto3": "1.44.8", "botocore": "1.30.0", "flask": "3.0", "werkzeug": "3.0.1", "psutil": "5.9.5"}

    def version(name: str) -> str:
        if name not in there:
            raise colab.PackageNotFoundError(name)
        return there[name]

    monkeypatch.setattr(colab, "version", version)
    pins = {name: str(number) for name, number, *_ in locked("requirements.lock")}
    wanted = colab.missing((ROOT / "requirements.lock").read_text(encoding="utf-8"))
    assert f"botocore=={pins['botocore']}" in wanted, "too old"
    assert f"moto[dynamodb,s3,stepfunctions]=={pins['moto']}" in wanted, "not there"
    assert not {"boto3", "flask", "werkzeug", "psutil"} & {re.split(r"[=\[]", one)[0] for one in wanted}, "good enough"


def test_the_cell_leads_to_the_lessons_of_the_language(
    elsewhere: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    colab.prepare("es", home=str(tmp_path))
    assert Path.cwd() == ROOT / "notebooks" / "es"
    assert (os.environ["ONCE_LANGUAGE"], os.environ["ONCE_HOME"]) == ("es", str(tmp_path))
    assert capsys.readouterr().out.startswith("Once: ")


def test_a_wrong_language_is_one_sentence_and_changes_nothing(
    elsewhere: None, capsys: pytest.CaptureFixture[str]
) -> None:
    before = os.getcwd()
    colab.prepare("de")
    assert "es, fr, ru" in capsys.readouterr().err
    assert os.getcwd() == before


def test_packages_that_cannot_be_had_are_one_sentence(
    elsewhere: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(colab, "missing", lambda lock: ["boto3==1"])
    failed = subprocess.CompletedProcess([], 1, "", "WARNING: x\nERROR: no space left\n\n")
    monkeypatch.setattr(colab.subprocess, "run", lambda *arguments, **options: failed)
    colab.prepare("fr")
    said = capsys.readouterr()
    assert "ERROR: no space left" in said.err
    assert "Next: " in said.err


def test_a_widget_of_ipywidgets_7_is_shown_live_too() -> None:
    """It has no `_repr_mimebundle_`: it displays itself."""

    class Old:
        def get_view_spec(self) -> dict[str, Any]:
            return {"version_major": 2, "version_minor": 0, "model_id": "x"}

    assert view_of(Old())[WIDGET_VIEW]["model_id"] == "x"  # type: ignore[arg-type]


def test_widgets_name_the_manager_that_colab_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    import IPython

    package, module = types.ModuleType("google.colab"), types.ModuleType("google.colab.output")
    module._widgets = types.SimpleNamespace(_installed_url=None)  # type: ignore[attr-defined]
    module.enable_custom_widget_manager = lambda: setattr(  # type: ignore[attr-defined]
        module._widgets, "_installed_url", "https://example.com/manager.js"
    )
    google = types.ModuleType("google")
    for name, value in {"google": google, "google.colab": package, "google.colab.output": module}.items():
        monkeypatch.setitem(sys.modules, name, value)
    shown = {"widget": ({WIDGET_VIEW: {}, "text/plain": "w"}, {}), "text": ({"text/plain": "t"}, {})}
    formatter = types.SimpleNamespace(format=lambda one, include=None, exclude=None: shown[one])
    monkeypatch.setattr(IPython, "get_ipython", lambda: types.SimpleNamespace(display_formatter=formatter))
    colab._allow_own_widgets()
    url = {"colab": {"custom_widget_manager": {"url": "https://example.com/manager.js"}}}
    assert formatter.format("widget")[1] == {WIDGET_VIEW: url}
    assert formatter.format("text")[1] == {}


@pytest.mark.skipif("ONCE_COLAB" not in os.environ, reason="a minute, and the network: set ONCE_COLAB=1")
@pytest.mark.parametrize("page", sorted((ROOT / "notebooks/fr").glob("0*.ipynb")), ids=lambda page: page.stem)
def test_a_lesson_runs_with_the_versions_of_colab(page: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    uv, python = Path(sys.executable).with_name("uv"), tmp_path_factory.getbasetemp() / "colab/bin/python"
    if not python.exists():
        subprocess.run([uv, "venv", "--quiet", "--seed", "--python", sys.executable, python.parents[1]], check=True)
        packages = (*VERSIONS, "psutil==5.9.5", "nbclient", "nbformat")
        subprocess.run([uv, "pip", "install", "--quiet", "--python", python, *packages], check=True)
    notebook = nbformat.read(page, as_version=4)
    first = f"import sys\nsys.path.insert(0, {str(ROOT)!r})\nfrom helpers.launcher import colab\ncolab.prepare('fr')"
    notebook.cells.insert(0, nbformat.v4.new_code_cell(first))
    content = tmp_path_factory.mktemp("content")
    nbformat.write(notebook, content / "lesson.ipynb")
    run = (
        "import nbformat, nbclient\nnotebook = nbformat.read('lesson.ipynb', 4)\n"
        "nbclient.NotebookClient(notebook, timeout=120, kernel_name='python3').execute()"
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ONCE_", "PYTHONPATH"))}
    variables = {**kept, "ONCE_HOME": str(content)}
    done = subprocess.run(
        [python, "-c", run], cwd=content, env=variables, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
