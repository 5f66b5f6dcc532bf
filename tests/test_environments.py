"""What conda, Binder and JupyterHub install and start with is what the lock file and the launcher say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import helpers
from helpers.launcher import locks
from tests.test_packaging import PYTHONS, ROOT, locked

CONDA = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
(PIP,) = [entry["pip"] for entry in CONDA if isinstance(entry, dict)]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
PINS = [Requirement(line) for line in PIP if not line.startswith("-")]


def test_conda_has_the_packages_of_the_lock_file_and_the_course() -> None:
    wanted = sorted((name, str(version), str(marker or "")) for name, version, marker, _ in locked("requirements.lock"))
    assert wanted == sorted(
        (canonicalize_name(pin.name), str(pin.specifier).removeprefix("=="), str(pin.marker or "")) for pin in PINS
    )
    assert [line for line in PIP if line.startswith("-")] == ["--editable ."], "the course itself, from this folder"


def test_conda_has_a_python_that_the_lock_file_was_made_for() -> None:
    (python,) = [entry for entry in CONDA if isinstance(entry, str) and entry.startswith("python")]
    assert python.removeprefix("python=") in PYTHONS
    assert "pip" in CONDA


def test_what_the_lock_writes_is_what_is_stored() -> None:
    stored = {path.relative_to(ROOT).as_posix() for path in (ROOT / locks.SETTINGS).rglob("*.json")}
    texts = locks.settings_texts(LOCK)
    assert stored == texts.keys(), "run `make lock`"
    for name, text in {locks.CONDA: locks.conda_text(LOCK), **texts}.items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, f"{name}: run `make lock`"


def test_each_language_of_the_course_has_settings() -> None:
    languages = {page.parent.name for page in (ROOT / "notebooks").glob("*/index.ipynb")}
    assert languages <= {path.name for path in (ROOT / locks.SETTINGS).iterdir()}


def test_conda_part_in_an_empty_environment_is_what_the_lock_file_says(tmp_path: Path) -> None:
    """With uv, which is in the lock file: pip, which conda calls, takes the same file and a minute more."""
    uv = Path(sys.executable).with_name("uv.exe" if os.name == "nt" else "uv")
    if not uv.exists():
        pytest.skip("uv has no release for this system")
    folder = tmp_path / "environment"
    part = tmp_path / "requirements.txt"
    part.write_text("\n".join(PIP) + "\n", encoding="utf-8")

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [uv, *arguments, "--python", str(folder)],
            cwd=ROOT,
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, folder], check=True, timeout=60)
    # The hashes of these packages are checked by `make lab`.
    run("pip", "install", "--quiet", "--requirement", str(part))
    installed = {
        canonicalize_name(one["name"]): Version(one["version"])
        for one in json.loads(run("pip", "list", "--format", "json"))
    }
    wanted = {
        name: version for name, version, marker, _ in locked("requirements.lock") if not marker or marker.evaluate()
    }
    course = {"once-course": Version(helpers.__version__)}
    assert installed == wanted | course


def test_binder_runs_post_build_and_gets_the_settings_without_a_question(tmp_path: Path) -> None:
    script = ROOT / "postBuild"
    assert script.read_bytes().startswith(b"#!/usr/bin/env bash\n")
    if os.name == "nt":
        pytest.skip("repo2docker runs it on Linux")
    assert os.access(script, os.X_OK), "repo2docker wants it executable"
    done = subprocess.run(
        ["bash", script], cwd=ROOT, env={**os.environ, "NB_PYTHON_PREFIX": str(tmp_path)}, timeout=30, check=False
    )
    assert done.returncode == 0
    written = tmp_path / "etc/jupyter/labconfig/default_setting_overrides.json"
    assert json.loads(written.read_text(encoding="utf-8")) == locks.overrides()
