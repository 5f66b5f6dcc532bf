"""Teaches an IPython shell to show the plain types of helpers.lab, which know nothing of IPython."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from IPython.display import display

from helpers.lab.checks import CheckReport, Solution
from helpers.lab.comparison import Comparison
from helpers.lab.executions import Execution, StateMachine
from helpers.lab.experiments import BatchResult, ExperimentResult
from helpers.lab.explorer import Exploration, GuardTable
from helpers.lab.faults import FaultNotice
from helpers.lab.guard_comparison import GuardComparison
from helpers.lab.lab import Outcome
from helpers.lab.presets import Counted, Preset
from helpers.lab.properties import Report
from helpers.lab.rest import Rest, WorkflowRest
from helpers.lab.terminal import Terminal
from helpers.lab.view import View
from helpers.show import check_report, errors, explored, kept, results, writefile
from helpers.show.bundle import Shown, bundle
from helpers.show.check_report import ShownReport
from helpers.show.executions import ShownExecution, ShownStateMachine
from helpers.show.guard_chart import ShownGuards
from helpers.show.snapshot import ShownView

SHOWN: dict[type, Callable[[Any], Shown]] = {
    CheckReport: ShownReport,
    Solution: check_report.solution,
    ExperimentResult: results.experiment,
    BatchResult: results.batch,
    GuardComparison: ShownGuards,
    Comparison: results.comparison,
    Rest: results.rest,
    WorkflowRest: results.rest,
    StateMachine: ShownStateMachine,
    Execution: ShownExecution,
    FaultNotice: results.notice,
    Preset: results.preset,
    Counted: results.counted,
    Outcome: results.outcome,
    Report: explored.report,
    Exploration: explored.exploration,
    GuardTable: explored.guards,
    Terminal: results.terminal,
    View: ShownView,
}


def bundle_of(value: Any) -> dict[str, Any]:
    """The MIME bundle of one of the types above."""
    return bundle(SHOWN[type(value)](value))


def show_outcome(outcome: Outcome) -> None:
    """Two outputs: tables for people, and JSON for programs that read the notebook.

    In one bundle JupyterLab would draw only the JSON, whose names are not in the reader's language.
    """
    plain = json.loads(json.dumps(outcome.as_dict()))
    text = json.dumps(plain, ensure_ascii=False)
    display(bundle_of(outcome), raw=True)
    display({"application/json": plain, "text/plain": text}, raw=True)


def install(shell: Any) -> None:
    """Formatters, errors and `%%writefile` for an IPython shell. May be called again."""
    formatter = shell.display_formatter
    for kind in SHOWN:
        formatter.mimebundle_formatter.for_type(kind, bundle_of)
    formatter.ipython_display_formatter.for_type(Outcome, show_outcome)
    kept.install(shell)
    errors.install(shell)
    writefile.install(shell)
