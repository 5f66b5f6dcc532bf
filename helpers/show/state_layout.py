"""Where the states of a state machine stand in its picture, and the ways between them. Lengths are in em.

The usual way goes straight down in the first column. What a choice or an error leads to stands in the columns beside
it, one row below the lowest state that leads there. A way back goes up on the left side.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from helpers.lab.executions import Arrow, StateMachine

GAP_X = 3.0
MOST_GAP_X = 10.0
GAP_Y = 3.2
LEFT = 2.2
"""Room on the left side for the loop of a retry."""

TOP = 2.4
MARGIN = 0.4
LANE = 1.0
LEG = 0.7

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Box:
    """The place of one state."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height


@dataclass(frozen=True, slots=True)
class Way:
    """The line of one arrow, and where its label begins; `room` is the width that the label may take."""

    arrow: Arrow
    points: tuple[Point, ...]
    label: Point
    room: float


@dataclass(frozen=True, slots=True)
class Layout:
    """The whole picture."""

    width: float
    height: float
    boxes: Mapping[str, Box]
    ways: tuple[Way, ...]


def layout(machine: StateMachine, sizes: Mapping[str, tuple[float, float]], labels: Mapping[Arrow, float]) -> Layout:
    """Place the states, given width and height of each, and the width of each arrow's label."""
    rows = _rows(machine)
    columns = _columns(machine, rows)
    widths = [max(sizes[name][0] for name in columns if columns[name] == n) for n in range(_count(columns))]
    heights = [max(sizes[name][1] for name in rows if rows[name] == n) for n in range(_count(rows))]
    lanes: dict[Arrow, float] = {}
    left = MARGIN
    for arrow in machine.arrows:
        if _on_the_left(arrow, rows, columns):
            lanes[arrow] = left + LANE / 2
            left += LANE + labels[arrow]
    lefts = [left + LEFT]
    for n in range(1, len(widths)):
        coming = [labels[arrow] for arrow in machine.arrows if columns[arrow.target] == n != columns[arrow.source]]
        # The label stands on the way to the side, which ends above the first third of the box.
        gap = max((label + 1 - widths[n] / 3 for label in coming), default=0)
        lefts.append(lefts[-1] + widths[n - 1] + min(max(gap, GAP_X), MOST_GAP_X))
    tops = [TOP + sum(heights[:n]) + GAP_Y * n for n in range(len(heights))]
    boxes = {}
    for name in rows:
        column = columns[name]
        boxes[name] = Box(lefts[column], tops[rows[name]], widths[column], sizes[name][1])
    ways = _Ways(machine, rows, columns, boxes, lanes).all()
    width = lefts[-1] + widths[-1] + MARGIN
    return Layout(width, tops[-1] + heights[-1] + MARGIN, boxes, tuple(ways))


def _count(places: Mapping[str, int]) -> int:
    return max(places.values()) + 1


def _main_way(machine: StateMachine) -> list[str]:
    """The usual way from the start: what comes next, the first rule of a choice, never an error."""
    way: list[str] = []
    state: str | None = machine.start
    while state is not None and state not in way:
        way.append(state)
        usual = [arrow for arrow in machine.arrows_from(state) if arrow.kind != "catch"]
        state = usual[0].target if usual else None
    return way


def _rows(machine: StateMachine) -> dict[str, int]:
    """Each state stands below all states that lead to it, ways back left out; unreachable ones at the bottom."""
    main = _main_way(machine)
    rows = {name: place for place, name in enumerate(main)}
    # As often as there are states: the longest way has no more steps, and states in a circle come to rest too.
    for _step in machine.states:
        for arrow in machine.arrows:
            if arrow.source in rows and arrow.target not in main and rows.get(arrow.target, 0) <= rows[arrow.source]:
                rows[arrow.target] = rows[arrow.source] + 1
    for state in machine.states:
        rows.setdefault(state.name, max(rows.values()) + 1)
    used = sorted(set(rows.values()))
    return {name: used.index(row) for name, row in rows.items()}


def _columns(machine: StateMachine, rows: Mapping[str, int]) -> dict[str, int]:
    """The usual way in the first column; each other state in the first column where nothing stands in its way."""
    columns = dict.fromkeys(_main_way(machine), 0)
    used: dict[int, list[range]] = {}
    for name in sorted((name for name in rows if name not in columns), key=lambda name: rows[name]):
        above = [rows[arrow.source] for arrow in machine.arrows if arrow.target == name]
        way = range(min([*above, rows[name]]), rows[name] + 1)
        column = 1
        while any(way.start < other.stop and other.start < way.stop for other in used.get(column, ())):
            column += 1
        used.setdefault(column, []).append(way)
        columns[name] = column
    return columns


def _on_the_left(arrow: Arrow, rows: Mapping[str, int], columns: Mapping[str, int]) -> bool:
    """A way back, or one that passes a state of its own column."""
    down = rows[arrow.target] - rows[arrow.source]
    return down <= 0 or (down > 1 and columns[arrow.source] == columns[arrow.target])


class _Ways:
    """The lines of all arrows."""

    def __init__(
        self,
        machine: StateMachine,
        rows: Mapping[str, int],
        columns: Mapping[str, int],
        boxes: Mapping[str, Box],
        lanes: Mapping[Arrow, float],
    ) -> None:
        self._arrows = machine.arrows
        self._rows, self._columns, self._boxes, self._lanes = rows, columns, boxes, lanes

    def all(self) -> list[Way]:
        return [self._way(arrow) for arrow in self._arrows]

    def _way(self, arrow: Arrow) -> Way:
        source, target = self._boxes[arrow.source], self._boxes[arrow.target]
        if arrow in self._lanes:
            return self._by_the_left(arrow, source, target)
        if self._columns[arrow.source] == self._columns[arrow.target]:
            return self._straight(arrow, source, target)
        return self._around(arrow, source, target)

    def _straight(self, arrow: Arrow, source: Box, target: Box) -> Way:
        """Down to the state below; several ways between the same two stand side by side."""
        same = [one for one in self._arrows if (one.source, one.target) == (arrow.source, arrow.target)]
        shift = (same.index(arrow) - (len(same) - 1) / 2) * source.width / max(2, len(same))
        x = source.middle + shift
        return Way(arrow, ((x, source.bottom), (x, target.y)), (x + 0.5, source.bottom + 1.3), source.right - x + GAP_X)

    def _around(self, arrow: Arrow, source: Box, target: Box) -> Way:
        """Out on the side, then down to a state in another column."""
        going = [one for one in self._arrows if one.source == arrow.source and self._leaves(one)]
        coming = [one for one in self._arrows if one.target == arrow.target and self._leaves(one)]
        # The way from the highest state lands farthest out, so that no two ways cross.
        coming.sort(key=lambda one: self._rows[one.source])
        side = 1 if target.x > source.x else -1
        start_x = source.right if side > 0 else source.x
        y = source.y + 1.6 + 2.4 * going.index(arrow)
        place = len(coming) - 1 - coming.index(arrow) if side > 0 else coming.index(arrow)
        x = target.x + target.width * (place + 1) / (len(coming) + 1)
        points = ((start_x, y), (x, y), (x, target.y))
        label_x = start_x + 0.5 if side > 0 else x + 0.5
        return Way(arrow, points, (label_x, y - 0.4), abs(x - start_x) - 0.5)

    def _by_the_left(self, arrow: Arrow, source: Box, target: Box) -> Way:
        """Out on the left side, up or down, and in from the left."""
        x = self._lanes[arrow]
        start, end = source.bottom - LEG, target.y + LEG
        points = ((source.x, start), (x, start), (x, end), (target.x, end))
        return Way(arrow, points, (x + 0.3, (start + end) / 2), MOST_GAP_X)

    def _leaves(self, arrow: Arrow) -> bool:
        return arrow not in self._lanes and self._columns[arrow.source] != self._columns[arrow.target]
