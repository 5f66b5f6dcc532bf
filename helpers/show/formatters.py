"""Teaches an IPython shell to show the plain types of helpers.lab, which know nothing of IPython."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from helpers.lab.checks import CheckReport
from helpers.lab.experiments import BatchResult, ExperimentResult
from helpers.lab.faults import FaultNotice
from helpers.lab.lab import Outcome
from helpers.lab.rest import Rest
from helpers.lab.view import View
from helpers.show import errors, results, writefile
from helpers.show.bundle import Shown, bundle
from helpers.show.check_report import ShownReport
from helpers.show.snapshot import ShownView

SHOWN: dict[type, Callable[[Any], Shown]] = {
    CheckReport: ShownReport,
    ExperimentResult: results.experiment,
    BatchResult: results.batch,
    Rest: results.rest,
    FaultNotice: results.notice,
    Outcome: results.outcome,
    View: ShownView,
}


def bundle_of(value: Any) -> dict[str, Any]:
    """The MIME bundle of one of the types above. An outcome is JSON too, for programs that read it."""
    data = bundle(SHOWN[type(value)](value))
    if isinstance(value, Outcome):
        data["application/json"] = json.loads(json.dumps(value.as_dict()))
    return data


def install(shell: Any) -> None:
    """Formatters, errors and `%%writefile` for an IPython shell. May be called again."""
    formatter = shell.display_formatter.mimebundle_formatter
    for kind in SHOWN:
        formatter.for_type(kind, bundle_of)
    errors.install(shell)
    writefile.install(shell)
