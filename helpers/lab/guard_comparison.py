"""How often the customer was charged against how often the job was delivered: several guards under several faults.

Each pair of guard and fault is an experiment of helpers.lab.experiments with an order of its own. The guards keep
their workers from fault to fault and go through each fault side by side, because to start a process takes longer
than all it does here: sixteen experiments need eight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from helpers.lab import experiments
from helpers.lab.errors import BadParameter
from helpers.lab.experiments import FAULTS, GUARDS, ExperimentResult
from helpers.lab.language import _
from helpers.lab.parameters import listed, shown, whole
from helpers.lab.services import Services

COMPARED_GUARDS = ("none", "read-then-write", "message-id", "conditional-write")
COMPARED_FAULTS = ("producer-copy", "interleaved", "crash-after-write", "slow-worker")
FEWEST_COPIES, MOST_COPIES = 2, 8


@dataclass(frozen=True, slots=True)
class GuardComparison:
    """One result for each guard and fault: `rows`, guard by guard, each with its faults in the order of `faults`.

    `copies` is how often the producer sent the job under the faults "producer-copy" and "interleaved".
    """

    guards: tuple[str, ...]
    faults: tuple[str, ...]
    copies: int
    rows: tuple[ExperimentResult, ...]

    def of(self, guard: str) -> tuple[ExperimentResult, ...]:
        """The results of one guard."""
        return tuple(row for row in self.rows if row.guard == guard)

    def safe(self, guard: str) -> bool:
        """Whether one order was one effect under each fault that was run."""
        return all(row.effects == 1 for row in self.of(guard))


def compare(
    services: Services,
    faults: Iterable[str] | None = None,
    guards: Iterable[str] | None = None,
    copies: int = 3,
    told: Callable[[int, int], None] | None = None,
) -> GuardComparison:
    """Run each guard under each fault; None stands for COMPARED_FAULTS and COMPARED_GUARDS.

    `told` hears how many faults are done, and of how many. Raises BadParameter, ExperimentFailed.
    """
    chosen_faults = _chosen("faults", COMPARED_FAULTS if faults is None else faults, FAULTS)
    chosen_guards = _chosen("guards", COMPARED_GUARDS if guards is None else guards, GUARDS)
    tell = told or (lambda _done, _all: None)
    whole("copies", copies, FEWEST_COPIES, MOST_COPIES)
    found: dict[tuple[str, str], ExperimentResult] = {}
    tell(0, len(chosen_faults))
    with experiments.workers(services, chosen_guards) as ready:
        # The crash last: it costs each guard a process that the other faults can still use.
        for done, fault in enumerate(sorted(chosen_faults, key="crash-after-write".__eq__), 1):
            for row in experiments.run(ready, fault, copies, f"demo-order-{fault}"):
                found[row.guard, row.fault] = row
            tell(done, len(chosen_faults))
    rows = tuple(found[guard, fault] for guard in chosen_guards for fault in chosen_faults)
    return GuardComparison(chosen_guards, chosen_faults, copies, rows)


def _chosen(name: str, values: Iterable[str], choices: tuple[str, ...]) -> tuple[str, ...]:
    """The values in the order of the choices, each once. Raises BadParameter."""
    try:
        wanted = [] if isinstance(values, str) else list(values)
    except TypeError:
        wanted = []
    if not wanted:
        raise BadParameter(
            _("`{name}` is `{value}`, and that is no list of choices.").format(name=name, value=shown(values)),
            _("A comparison needs one choice or more, in square brackets."),
            _("Choose from these: {choices}.").format(choices=listed(choices)),
        )
    for value in wanted:
        experiments.choose(name, value, choices)
    return tuple(choice for choice in choices if choice in wanted)
