"""Measure the account beside its peer and write docs/benchmarks.md: ``python -m benchmarks``, or ``make bench``."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path

from . import budget
from .chart import Bar, bars
from .engines import OURS, ROOT, Engine, Measurement, NotStarted, lab_ready, measure
from .figures import Goal, Spread, comparison, growth, spread, table
from .order_flow import Wrong
from .peer import NAME, VERSION, NoPeer, ministack

Sizes = dict[str, dict[int, list[Measurement]]]

_HEAD = """# Benchmarks

Written by `make bench` (`python -m benchmarks`). Do not edit.

The flow: `send_message` → queue → event source mapping with batch size 1 → a deployed function → conditional
`put_item` → message deleted. Half of the messages repeat an order, so half of the writes are refused. The handler
makes its boto3 client in each run and prints one line. Both engines get the same program from the same process, run
alternately, and are started anew each time. Figures are medians, with the smallest and the largest in brackets.
"""

_SILENT = """
### The same with a handler that prints nothing

ministack waits up to 50 ms after a run for a line that the handler may have printed, so it is slower when there is
none.

"""

_BUDGET = """
## Where the time of one message goes

Processor time, by part; waiting is not in it. What a part spends in another one counts there only.
"""


def main(arguments: list[str] | None = None) -> int:
    """The command line. Returns the exit code: 1 when something could not be measured."""
    options = _parser().parse_args(arguments)
    try:
        peer = None if options.peer == "none" else ministack(None if options.peer == NAME else options.peer)
        sizes = _measure(peer, options)
        silent = _measure(peer, options, silent=True)
        labs = [lab_ready() for _ in range(options.rounds)]
        parts = budget.measure(options.budget)
    except (NoPeer, NotStarted, Wrong) as problem:
        print(f"benchmarks: {problem}", file=sys.stderr)
        return 1
    text = _document(sizes, silent, labs, parts, options.messages)
    print("\n" + text)
    if options.write:
        (options.write / "benchmarks.md").write_text(text, encoding="utf-8", newline="\n")
        (options.write / "benchmarks.svg").write_text(_chart(sizes), encoding="utf-8", newline="\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="runs of each engine (default: 5)")
    parser.add_argument("--messages", type=int, default=200, help="messages of the comparison (default: 200)")
    parser.add_argument(
        "--growth", type=int, nargs="*", default=[2000, 10_000], help="further sizes (default: 2000 10000)"
    )
    parser.add_argument("--growth-rounds", type=int, default=2, help="runs of each further size (default: 2)")
    parser.add_argument("--peer-growth", type=int, default=2000, help="largest size for the peer (default: 2000)")
    parser.add_argument(
        "--peer", default=NAME, help=f"{NAME} (installed when needed, into .cache), the path of one, or none"
    )
    parser.add_argument("--budget", type=int, default=1000, help="messages for the budget (default: 1000)")
    parser.add_argument("--write", type=Path, default=ROOT / "docs", help="folder for benchmarks.md (default: docs)")
    parser.add_argument("--no-write", dest="write", action="store_const", const=None, help="only print")
    return parser


def _measure(peer: Engine | None, options: argparse.Namespace, silent: bool = False) -> Sizes:
    """All runs, the engines alternately; with a silent handler only those of the comparison."""
    engines = [OURS, *([peer] if peer else [])]
    sizes: Sizes = {engine.name: {} for engine in engines}
    plan = [(options.messages, options.rounds)]
    if not silent:
        plan += [(size, options.growth_rounds) for size in sorted(options.growth)]
    for size, rounds in plan:
        for _ in range(rounds):
            for engine in engines:
                if engine is peer and size > max(options.messages, options.peer_growth):
                    continue
                found = measure(engine, size, silent)
                sizes[engine.name].setdefault(size, []).append(found)
                print(_line(found), flush=True)
    return sizes


def _line(one: Measurement) -> str:
    return (
        f"{one.engine:<10} {one.flow.messages:>6} messages: {one.flow.per_second:6.1f}/s, "
        f"{one.cpu_per_message:5.1f} processor ms each, start {one.start:.2f} s, set-up {one.flow.set_up:.2f} s, "
        f"{one.memory:.0f} MB"
    )


def _document(sizes: Sizes, silent: Sizes, labs: list[float], parts: list[budget.Part], messages: int) -> str:
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    versions = ", ".join(f"{name} {version(name)}" for name in ("boto3", "moto"))
    peer = f", {NAME} {VERSION}" if NAME in sizes else ""
    sections = [
        _HEAD,
        f"\nMeasured on: {machine}; {versions}{peer}.\n",
        f"\n![Messages per second](benchmarks.svg)\n\n## {messages:,} messages\n\n",
        comparison({engine: by_size[messages] for engine, by_size in sizes.items()}),
        _SILENT,
        comparison({engine: by_size[messages] for engine, by_size in silent.items()}),
        "\n## Growth\n\n",
        growth(sizes),
        "\n## Goals\n\n",
        table(["", "goal", "found", "reached"], [goal.row() for goal in _goals(sizes, silent, labs, messages)]),
        f"\n`Lab(...)` is ready after {Spread.of(labs).text(2)} s, imports included.\n",
        _BUDGET,
        "\n",
        _budget_table(parts),
        _limit(parts, sizes, messages),
    ]
    return "".join(sections)


def _goals(sizes: Sizes, silent: Sizes, labs: list[float], messages: int) -> list[Goal]:
    ours = sizes[OURS.name]
    largest = max(ours)
    base = spread(ours[messages], lambda one: 1000 / one.flow.per_second).median
    top = spread(ours[largest], lambda one: 1000 / one.flow.per_second).median
    memory = max(one.memory for several in ours.values() for one in several)
    lab = Spread.of(labs).median
    goals = [
        Goal(f"cost of a message at {largest:,}, against {messages:,}", top / base, 1.2),
        Goal("largest resident memory, server and workers", memory, 300, digits=0, unit=" MB"),
        Goal("`Lab(...)` ready", lab, 2.5, unit=" s"),
    ]
    if NAME in sizes:
        theirs = sizes[NAME][messages]
        begin = spread(theirs, lambda one: one.start + one.flow.set_up).median
        for place, (words, flows) in enumerate((("", sizes), (", silent handler", silent))):
            rate, peer = (
                spread(flows[engine][messages], lambda one: one.flow.per_second).median for engine in (OURS.name, NAME)
            )
            name = f"messages per second, against {NAME}{words}"
            goals.insert(place, Goal(name, rate / peer, 3.0, at_least=True))
        goals.append(Goal(f"`Lab(...)` ready, against {NAME}'s start and set-up", lab / begin, 0.6))
    return goals


def _budget_table(parts: list[budget.Part]) -> str:
    total = sum(part.milliseconds for part in parts)
    rows = [
        [part.name, part.process, f"{part.milliseconds:.2f}", f"{100 * part.milliseconds / total:.0f} %"]
        for part in parts
    ]
    return table(["part", "process", "ms", "share"], [*rows, ["together", "", f"{total:.2f}", "100 %"]])


def _limit(parts: list[budget.Part], sizes: Sizes, messages: int) -> str:
    """How far from the limit: what remains if the account cost nothing."""
    outside = sum(part.milliseconds for part in parts if part.process != "account")
    worker = sum(part.milliseconds for part in parts if part.process == "worker")
    total = sum(part.milliseconds for part in parts)
    found = spread(sizes[OURS.name][messages], lambda one: 1000 / one.flow.per_second).median
    return (
        f"\nboto3 and the handler alone take {outside:.1f} of {total:.1f} ms; an account that cost nothing could not\n"
        f"go below that. One worker takes {worker:.1f} ms for a message, so it cannot handle more than\n"
        f"{1000 / worker:.0f} in a second; one message in {found:.1f} ms was found.\n"
    )


def _chart(sizes: Sizes) -> str:
    rows = [
        Bar(
            f"{engine}, {size:,} messages", spread(several, lambda one: one.flow.per_second).median, engine == OURS.name
        )
        for size in sorted({size for by_size in sizes.values() for size in by_size})
        for engine, by_size in sizes.items()
        if (several := by_size.get(size))
    ]
    return bars("Messages per second: queue, function, conditional write", rows)


if __name__ == "__main__":
    sys.exit(main())
