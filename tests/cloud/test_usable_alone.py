"""helpers.cloud in somebody else's project: the example, the page's code, the fixture's scopes, a new environment."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.early

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/usable-alone.md"
NAMED_BLOCK = re.compile(r"```(?:python|ini)\n# ([\w.]+)\n(.*?)```", re.DOTALL)

COUNTING = """
import psutil

def pytest_sessionfinish():
    left = [process.name() for process in psutil.Process().children(recursive=True)]
    print(f"processes left: {left}")
"""


def run_tests(folder: Path, python: str = sys.executable, *more: str) -> str:
    """Run pytest in a folder that is no part of this project; returns what it printed."""
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "--rootdir", str(folder), *more],
        cwd=folder,
        # As in an environment that has nothing but pytest.
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=100,
        check=False,
    )
    return done.stdout + done.stderr


def write_page_files(folder: Path) -> list[str]:
    """Write the named code blocks of the page; returns their names."""
    blocks = NAMED_BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    for name, text in blocks:
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return [name for name, _ in blocks]


SHARED = """
def test_one(cloud):
    cloud.client("sqs").create_queue(QueueName="left-by-one")

def test_two(cloud):
    names = cloud.client("sqs").list_queues().get("QueueUrls", [])
    print("queues:", len(names))
"""


def test_the_example_passes_outside_this_project_and_leaves_no_process(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples/orders", tmp_path / "orders", ignore=shutil.ignore_patterns("__pycache__"))
    conftest = tmp_path / "orders/conftest.py"
    conftest.write_text(conftest.read_text(encoding="utf-8") + COUNTING, encoding="utf-8", newline="\n")
    (tmp_path / "orders/test_shared.py").write_text(SHARED, encoding="utf-8")
    said = run_tests(tmp_path / "orders")
    assert "6 passed" in said, said
    assert "queues: 0" in said, "each test has an account of its own"
    assert "processes left: []" in said, said


def test_the_code_of_the_page_does_what_the_page_says(tmp_path: Path) -> None:
    assert write_page_files(tmp_path) == ["conftest.py", "test_totals.py", "test_redelivery.py", "pytest.ini"]
    (tmp_path / "test_shared.py").write_text(SHARED, encoding="utf-8")
    said = run_tests(tmp_path)
    assert "4 passed" in said, said
    assert "queues: 1" in said, "the page's pytest.ini shares one account"


def test_a_scope_that_does_not_exist_is_named(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["helpers.cloud.pytest_plugin"]\n', encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\ncloud_scope = forever\n", encoding="utf-8")
    (tmp_path / "test_shared.py").write_text(SHARED, encoding="utf-8")
    said = run_tests(tmp_path)
    assert "cloud_scope is 'forever'; it must be one of function," in said
    assert "INTERNALERROR" not in said


def test_the_package_imports_nothing_of_the_notebooks(tmp_path: Path) -> None:
    program = "import sys, helpers.cloud; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    said = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = set(said.stdout.split())
    assert {"helpers", "moto"} <= loaded
    assert not loaded & {"IPython", "ipywidgets", "jupyter_server", "jupyterlab", "traitlets", "nbformat", "babel"}


def test_a_fresh_environment_needs_only_what_the_package_declares(tmp_path: Path) -> None:
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}") or shutil.which("uv")
    if uv is None:
        pytest.skip("uv is not there: this test installs with it")
    environment = tmp_path / "environment"
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, str(environment)], check=True)
    python = environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    source = tmp_path / "source"
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "helpers", source / "helpers", ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    constraints = ROOT / "requirements-test.lock"
    pinned = re.sub(r" \\\n(?:\s+--hash=\S+(?: \\)?\n)+", "\n", constraints.read_text(encoding="utf-8"))
    (tmp_path / "pinned.txt").write_text(pinned, encoding="utf-8")
    done = subprocess.run(
        [
            *(uv, "pip", "install", "--quiet", "--python", str(python)),
            *("--constraints", str(tmp_path / "pinned.txt"), str(source), "pytest"),
        ],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    if done.returncode != 0:
        assert "Failed to fetch" in done.stderr or "error sending request" in done.stderr, done.stderr
        pytest.skip("no network, and the packages are not in uv's cache: nothing could be installed")
    project = tmp_path / "project"
    project.mkdir()
    write_page_files(project)
    said = run_tests(project, str(python))
    assert "2 passed" in said, said
    there = subprocess.run([uv, "pip", "list", "--python", str(python)], capture_output=True, text=True, check=True)
    assert "once-course" in there.stdout
    assert "jupyter" not in there.stdout
