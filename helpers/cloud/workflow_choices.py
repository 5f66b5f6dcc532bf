"""What a Choice state does when it has nowhere to go: the execution fails with States.Runtime.

moto takes a path that leads nowhere as a condition that does not hold, and tells the missing branch as an exception of
Python. As AWS answers (public conformance tests that were run against Step Functions): a condition on a missing
path fails the execution even when there is a Default, and only IsPresent may ask for one.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from .places import Place
from .workflow_expressions import failure

_PACKAGE = "moto.stepfunctions.parser.asl."
_CHOICE = f"{_PACKAGE}component.state.choice."

PLACES = (
    Place(
        f"{_CHOICE}state_choice",
        "StateChoice._eval_state",
        "bffca6f28a835c38",
        "It is replaced, so that a Choice without a branch fails with AWS's words.",
    ),
    Place(
        f"{_CHOICE}comparison.comparison_variable",
        "ComparisonVariable._eval_body",
        "91a5ac8b291a3ee4",
        "It is replaced, so that a condition on a path that leads nowhere fails with AWS's words.",
    ),
    Place(
        f"{_CHOICE}comparison.variable",
        "Variable._eval_body",
        "07e67fc8b8c109f4",
        "It must put NoSuchVariable in the place of what a path does not find.",
    ),
)


def replacements() -> list[tuple[Any, str, Callable[[Any, Any], None]]]:
    """What is replaced in the loaded interpreter: class, name of the method, and by what."""

    def of(module: str) -> Any:
        return importlib.import_module(_PACKAGE + module)

    missing = of("component.state.choice.comparison.variable").NoSuchVariable
    no_such_path = of("utils.json_path").NoSuchJsonPathError
    present = of("component.state.choice.comparison.comparison_operator_type").ComparisonOperatorType.IsPresent

    def choose(self: Any, env: Any) -> None:
        for rule in self.choices_decl.rules:
            rule.eval(env)
            if env.stack.pop() is True:
                env.stack.append(rule.next_stmt.name)
                return
        if self.default_state is None:
            raise failure(
                env, "StatesRuntime", "Failed to transition out of the state. The state does not point to a next state."
            )
        env.stack.append(self.default_state.state_name)

    def compare(self: Any, env: Any) -> None:
        self.variable.eval(env)
        if isinstance(env.stack[-1], missing) and self.comparison_function.operator_type is not present:
            raise _invalid_path(env, _written(self.variable.string_sampler))
        try:
            self.comparison_function.eval(env)
        except no_such_path as nowhere:
            raise _invalid_path(env, nowhere.json_path) from nowhere

    return [
        (of("component.state.choice.state_choice").StateChoice, "_eval_state", choose),
        (of("component.state.choice.comparison.comparison_variable").ComparisonVariable, "_eval_body", compare),
    ]


def _written(sampler: Any) -> str:
    """A path as the definition has it: those into the context object begin with two dollars."""
    return str(getattr(sampler, "context_object_path", sampler.literal_value))


def _invalid_path(env: Any, path: str) -> Exception:
    cause = f"Invalid path '{path}': The choice state's condition path references an invalid value."
    return failure(env, "StatesRuntime", cause)
