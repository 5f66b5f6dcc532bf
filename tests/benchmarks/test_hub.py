"""The load test of a class: what it works out on paper, and that its figures are the ones that the hub is set to."""

from __future__ import annotations

import os
import re
import uuid
from pathlib import Path

import pytest
import yaml
from jupyter_client.manager import KernelManager
from jupyter_core.paths import jupyter_runtime_dir
from traitlets.config.loader import PyFileConfigLoader

from benchmarks.hub import PAGE, Class, Need, Node, report, written
from benchmarks.hub_learner import Visit, cells
from benchmarks.hub_server import ONE_MACHINE

ROOT = Path(__file__).resolve().parents[2]
VALUES = yaml.safe_load((ROOT / "deploy/jupyterhub/values.yaml").read_text(encoding="utf-8"))
LANGUAGES = sorted(page.parent.name for page in (ROOT / "notebooks").glob("*/index.ipynb"))


def visit(memory: float = 700, processor: float = 20.25) -> Visit:
    return Visit(start=8, lesson=24, processor=processor, memory=memory, resident=900)


def test_a_learner_gets_a_fifth_more_than_the_largest_that_was_seen() -> None:
    assert Need.of([visit(500), visit(700)]).memory == 850
    assert Need.of([visit()], minutes=45).cores == pytest.approx(0.03)


@pytest.mark.parametrize(
    ("need", "learners"),
    [(Need(1000, 0.01), 13), (Need(100, 0.01), 95), (Need(100, 0.5), 7)],
    ids=["memory", "pods", "processors"],
)
def test_what_is_scarcest_decides_how_many_a_node_holds(need: Need, learners: int) -> None:
    assert need.per_node(Node()) == learners


def test_the_report_has_a_column_for_each_class_and_the_plans() -> None:
    text = report({1: Class((visit(),), 160), 2: Class((visit(400), visit(500)), 170)})
    assert "| learners at once | 1 | 2 |" in text
    assert "450 (400–500)" in text
    assert "| 3,000 | 2,550 |" in text, "the memory of one learner alone: several share pages"


def test_the_figures_go_between_the_marks() -> None:
    assert written("a\n<!-- measured -->\nold\n<!-- end -->\nb", "new") == (
        "a\n<!-- measured -->\n\nnew\n<!-- end -->\nb"
    )
    with pytest.raises(ValueError, match="no place"):
        written("a", "new")


def test_cells_that_may_fail_are_known() -> None:
    code = cells(ROOT / "notebooks/fr/02_idempotent_consumer.ipynb")
    assert code[0][0] == "parameters"
    assert all(source.strip() for _, source, _ in code)


def test_the_hub_gives_what_was_measured() -> None:
    (measured,) = re.findall(r"So a learner gets (\d+) MB", PAGE.read_text(encoding="utf-8"))
    assert VALUES["singleuser"]["memory"]["guarantee"] == f"{measured}M"


def test_answers_lie_on_the_learners_volume() -> None:
    one = VALUES["singleuser"]
    assert one["extraEnv"]["ONCE_HOME"].startswith(one["storage"]["homeMountPath"] + "/")


@pytest.mark.skipif(os.name == "nt", reason="JupyterHub does not run on Windows")
def test_kernels_on_one_machine_meet_on_no_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/" + "j" * 32)  # the longest that The Littlest JupyterHub makes
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", "")
    config = PyFileConfigLoader("jupyter_server_config.py", str(ONE_MACHINE)).load_config()
    file = Path(jupyter_runtime_dir(), f"kernel-{uuid.uuid4()}.json")
    kernel = KernelManager(config=config, connection_file=str(file))
    assert not kernel.cache_ports
    assert kernel.transport == "ipc"
    sockets = kernel._make_url("hb").removeprefix("ipc://")
    assert Path(sockets).is_relative_to(Path.home())
    assert len(sockets) <= 103, "what macOS has room for; Linux has 107"


def test_each_language_has_menus_and_a_link_to_its_first_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    folders = [
        profile["kubespawner_override"]["environment"]["JUPYTER_CONFIG_PATH"]
        for profile in VALUES["singleuser"]["profileList"]
    ]
    for folder in folders:
        assert (ROOT / folder.removeprefix("/srv/once/") / "labconfig").is_dir()
    assert {Path(folder).name for folder in folders} == {"en", *LANGUAGES}
    assert re.findall(r"urlpath=lab/tree/once/notebooks/(\w+)/index.ipynb", text) == ["fr", "ru", "es"]
    assert sorted(["fr", "ru", "es"]) == LANGUAGES


def test_the_image_has_the_course_where_the_hub_looks_for_it() -> None:
    script = (ROOT / "deploy/jupyterhub/build.sh").read_text(encoding="utf-8")
    assert "--target-repo-dir /srv/once" in script


def test_actions_of_workflows_are_pinned_to_a_commit() -> None:
    used = [
        line.split("uses:")[1].split()[0]
        for path in (ROOT / ".github/workflows").glob("*.yml")
        for line in path.read_text(encoding="utf-8").splitlines()
        if "uses:" in line
    ]
    assert used
    assert [one for one in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", one)] == []
