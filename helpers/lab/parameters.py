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
            _("`{name}` is {value}, which is out of range.").format(name=name, value=shown(value)),
            _("The lesson works with values from {lowest} to {highest}.").format(lowest=lowest, highest=highest),
            _("Choose a whole number from {lowest} to {highest}.").format(lowest=lowest, highest=highest),
        )
    return value


def seconds(value: object, highest: int) -> float:
    """A time to wait, from 0 to `highest` seconds. Raises BadParameter."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= highest:
        raise BadParameter(
            _("`{value}` is not a number of seconds to wait.").format(value=shown(value)),
            _("The lesson waits in real time, for a limited time."),
            _("Choose a number from 0 to {highest}.").format(highest=highest),
        )
    return float(value)


def shown(value: object) -> str:
    """A value as Python writes it, cut off where it is long; its type when Python refuses to write it."""
    try:
        text = repr(value)
    except Exception:  # whatever an object of the reader's raises, or a number of more than 4,300 digits
        text = type(value).__name__
    return text.replace("`", "'")[:60]


def listed(choices: Sequence[str]) -> str:
    """Choices as a reader types them: `"a"`, `"b"`."""
    return ", ".join(f'`"{choice}"`' for choice in choices)
