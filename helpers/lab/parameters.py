"""Values that a reader chooses, checked with an explanation in their language."""

from __future__ import annotations

from collections.abc import Sequence

from helpers.lab.errors import BadParameter
from helpers.lab.language import _


def whole(name: str, value: object, lowest: int, highest: int) -> int:
    """A whole number in a range; True and 4.0 are not whole numbers here. Raises BadParameter."""
    if type(value) is not int:
        raise BadParameter(
            _("`{name}` is `{value}`, which is not a whole number.").format(name=name, value=shown(value)),
            _("Text, decimal numbers and `True` do not count as whole numbers here."),
            _("Choose a whole number from {lowest} to {highest}.").format(lowest=lowest, highest=highest),
        )
    if not lowest <= value <= highest:
        raise BadParameter(
            _("`{name}` is {value}, which is out of range.").format(name=name, value=value),
            _("The lesson works with values from {lowest} to {highest}.").format(lowest=lowest, highest=highest),
            _("Choose a whole number from {lowest} to {highest}.").format(lowest=lowest, highest=highest),
        )
    return value


def shown(value: object) -> str:
    """A value as Python writes it, cut off where it is long."""
    return repr(value).replace("`", "'")[:60]


def listed(choices: Sequence[str]) -> str:
    """Choices as a reader types them: `"a"`, `"b"`."""
    return ", ".join(f'`"{choice}"`' for choice in choices)
