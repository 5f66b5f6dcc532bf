"""`make project`: one document with settings of its own, beside those of `make lab`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helpers.launcher import jupyter, projector
from helpers.launcher.command import parser
from helpers.launcher.environment import Environment
from helpers.launcher.terminal import Trouble


def test_the_view_has_letters_keys_and_settings_of_its_own(tmp_path: Path) -> None:
    environment = Environment(tmp_path)
    view = projector.view(environment, "work/projection/fr/x y.ipynb", tmp_path / "answers")
    jupyter.write_overrides(environment, None, view)
    assert view.path == "/doc/tree/work/projection/fr/x%20y.ipynb"
    config = Path(view.variables["JUPYTER_CONFIG_DIR"])
    assert "24 px" in (config / "custom" / "custom.css").read_text(encoding="utf-8")
    settings = json.loads((config / "labconfig" / "default_setting_overrides.json").read_text(encoding="utf-8"))
    assert settings["@jupyterlab/apputils-extension:themes"]["theme"] == "JupyterLab Light"
    assert settings["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"
    assert not (tmp_path / ".venv/once-jupyter/config/labconfig").exists(), "the settings of make lab"
    assert view.variables["ONCE_HOME"] == str(tmp_path / "answers")


def test_the_extension_for_the_keys_is_where_jupyterlab_looks() -> None:
    package = json.loads((projector.PAGE / "once-projector" / "package.json").read_text(encoding="utf-8"))
    assert (projector.PAGE / package["name"] / package["jupyterlab"]["_build"]["load"]).is_file()


def test_a_notebook_that_is_gone_is_explained(tmp_path: Path) -> None:
    with pytest.raises(Trouble) as trouble:
        jupyter.open_lab(Environment(tmp_path), view=jupyter.View(page="work/gone.ipynb", mode="doc"))
    assert "work/gone.ipynb is missing" in trouble.value.what


def test_the_commands_take_a_lesson_and_a_language() -> None:
    for name in ("project", "slides"):
        options = parser().parse_args([name, "--lesson", "order-file", "--language", "fr"])
        assert (options.lesson, options.language) == ("order-file", "fr")
