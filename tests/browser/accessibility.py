"""axe-core on an open page. Its script comes with axe-playwright-python, so nothing is fetched."""

from __future__ import annotations

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

from tests.browser.looks import OURS

WEIGHTY = ("serious", "critical")

# axe-core's findings in JupyterLab 4.6's own parts, which are not ours to change. They lie outside of `OURS`, so this
# is a list for the reader and no filter:
#   aria-allowed-attr     critical  buttons of the toolbars (`jp-button`) have aria-pressed without a role
#   aria-required-children critical the notebook is a `feed` whose children are no articles
#   aria-input-field-name serious   the editors of cells (CodeMirror) have no name
#   region                moderate  the skip link stands outside of the landmarks
# Inside an output JupyterLab adds a prompt and a button that folds the output: they are left out here.
THEIRS = (".jp-OutputPrompt", ".jp-OutputArea-promptOverlay")

# scripts/contrast.js computes contrast for each text and graphic; axe's own rule takes longer than all others together.
_RULES = {"color-contrast": {"enabled": False}}
_RUN = "([context, options]) => axe.run(context, options)"


def findings(page: Page, include: str = OURS, impacts: tuple[str, ...] = WEIGHTY) -> list[str]:
    """The violations of these impacts in what is ours, each as "rule (impact): element: reason"."""
    page.evaluate(AXE_SCRIPT)
    context = {"include": [part.strip() for part in include.split(",")], "exclude": list(THEIRS)}
    result = page.evaluate(_RUN, [context, {"resultTypes": ["violations"], "rules": _RULES}])
    assert result["passes"], f"axe-core found nothing to look at in {include}"
    return [
        f"{rule['id']} ({rule['impact']}): {node['html'][:160]}: {_reason(node)}"
        for rule in result["violations"]
        if rule["impact"] in impacts
        for node in rule["nodes"]
    ]


def _reason(node: dict[str, list[dict[str, str]]]) -> str:
    return "; ".join(check["message"] for kind in ("any", "all", "none") for check in node[kind])
