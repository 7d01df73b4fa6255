"""What all benchmarks share: rounds in turn with the peer, medians, one table, one JSON.

A script in this folder has a ``rows()`` and hands it to ``main``; ``bench_all.py`` runs them all.
Both sides of a row do a round in turn, so that a busy machine slows both, and the ratio is the
median of the rounds' ratios. Times are of the thread, not of the clock, wherever one thread does
all the work.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROUNDS = 9
QUICK = 50
"""By what a quick run divides the work of a round; it has two rounds."""
PACKAGES = ("numpy", "numba", "torch", "gymnasium", "pettingzoo", "open_spiel")
HEADER = """| what | ours | peer | ratio | work a round: ours, peer's | command |
|---|---|---|---|---|---|"""


@dataclass(frozen=True)
class Side:
    """One of the two that are timed."""

    name: str
    """What it is called, in words."""
    run: Callable[[int], int]
    """Does so many items of work (hands, choices); returns how many units (decisions) it did."""
    items: int
    """Of a round."""


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    what: str
    """In words; no two rows have the same."""
    unit: str
    """What the time is of: a decision, a step."""
    ours: Side
    theirs: Side | None = None
    """The peer, if there is any."""
    clock: Callable[[], float] = time.thread_time
    """Seconds; of the thread, unless several threads or processes work."""
    rounds: int = ROUNDS
    warm: bool = True
    """Whether a short round goes before, which isn't counted: it compiles."""
    bare: tuple[Side, Side] | None = None
    """Two sides that do nothing but compute, on as many threads as ours and as the peer: timed in
    the same rounds, they say what ratio the machine had to give."""


@dataclass(frozen=True)
class Result:
    """What was found: seconds a unit, one number a round."""

    what: str
    unit: str
    peer: str
    work: str
    command: str
    ours: list[float]
    theirs: list[float]
    """Empty without a peer."""
    bare: list[float] = field(default_factory=list)
    """The ratio that the machine had to give, one number a round, where that was measured."""

    def ratio(self) -> float | None:
        """How many times the peer's time is ours: the median of the rounds'."""
        if not self.theirs:
            return None
        return statistics.median(b / a for a, b in zip(self.ours, self.theirs, strict=True))

    def line(self) -> str:
        """The row of the Markdown table."""
        peer, ratio = "", self.ratio()
        if ratio is not None:
            peer = f"{self.peer}, {duration(statistics.median(self.theirs))}"
        ours = f"{duration(statistics.median(self.ours))} a {self.unit}"
        figure = "" if ratio is None else f"{ratio:.3g}"
        if self.bare:
            figure += f" of {statistics.median(self.bare):.3g} that the machine gave"
        return f"| {self.what} | {ours} | {peer} | {figure} | {self.work} | `{self.command}` |"


def duration(seconds: float) -> str:
    """Three digits and a unit: ``0.000123`` is ``123 µs``."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def measure(row: Row, command: str, *, quick: bool = False) -> Result:
    """Time both sides of a row in turn."""
    pair = [side for side in (row.ours, row.theirs) if side]
    sides = [*pair, *(row.bare or ())]
    items = [max(1, side.items // QUICK) if quick else side.items for side in sides]
    if row.warm:
        for side in sides:
            side.run(max(1, side.items // QUICK))
    times: list[list[float]] = [[] for _ in sides]
    work = [0 for _ in sides]
    for _ in range(min(2, row.rounds) if quick else row.rounds):
        for k, (side, count) in enumerate(zip(sides, items, strict=True)):
            start = row.clock()
            work[k] = side.run(count)
            times[k].append((row.clock() - start) / work[k])
    return Result(
        what=row.what,
        unit=row.unit,
        peer=row.theirs.name if row.theirs else "",
        work=", ".join(f"{units:,}" for units in work[: len(pair)]),
        command=command,
        ours=times[0],
        theirs=times[1] if row.theirs else [],
        bare=[b / a for a, b in zip(times[-2], times[-1], strict=True)] if row.bare else [],
    )


# --- where it ran -------------------------------------------------------------------------------


def processor() -> str:
    """The processor's name, as the system tells it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next(line.partition(":")[2].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def machine() -> dict[str, Any]:
    """Processor, cores, how busy they are, and versions."""
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "load": round(load, 1),
        "versions": versions,
    }


# --- the page, and its JSON ---------------------------------------------------------------------


def page(results: Sequence[Result], at: dict[str, Any]) -> str:
    """``docs/benchmarks.md``."""
    versions = ", ".join(f"{name} {number}" for name, number in at["versions"].items())
    lines = "\n".join(result.line() for result in results)
    return f"""# How fast it is

Written by `make bench`; [benchmarks.json](benchmarks.json) has every round, and
`python benchmarks/compare.py OLD.json` says what has got slower since.

{at["processor"]}, {at["cores"]} cores, load {at["load"]} when it began. {versions}.

Each side does a round in turn with its peer; times and ratios are medians of the rounds, so that
a busy machine spoils times more than ratios. Times are CPU seconds of the one thread that works;
of the clock where there are several threads or processes. They are of this processor: on another
one look at the ratios. A seed repeats bit for bit on one kind of machine only, since processors
round matrix products in ways of their own.

{HEADER}
{lines}
"""


def write(results: Sequence[Result], at: dict[str, Any], folder: Path) -> None:
    """Write the page and its JSON, and the rows of the README that stand there, too."""
    docs, readme = folder / "docs", folder / "README.md"
    (docs / "benchmarks.md").write_text(page(results, at), encoding="utf-8")
    found = {"machine": at, "rows": [asdict(result) for result in results]}
    (docs / "benchmarks.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    short = {result.what: short_line(result.line()) for result in results}
    before, heading, rest = readme.read_text(encoding="utf-8").partition("\n## How fast\n")
    section, following, after = rest.partition("\n## ")
    lines = [short.get(line.split(" | ")[0][2:], line) for line in section.split("\n")]
    text = before + heading + "\n".join(lines) + following + after
    readme.write_text(text, encoding="utf-8")


def short_line(line: str) -> str:
    """A row as the README has it: what, ours, peer, ratio."""
    return "|".join(line.split("|")[:5]) + "|"


def read(path: Path) -> tuple[dict[str, Any], dict[str, Result]]:
    """The machine and the rows, by what they are of, that a JSON holds."""
    found = json.loads(path.read_text(encoding="utf-8"))
    return found["machine"], {row["what"]: Result(**row) for row in found["rows"]}


# --- scripts ------------------------------------------------------------------------------------


def arguments(description: str | None) -> argparse.Namespace:
    """The command line of every benchmark."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="two short rounds: whether it runs, not how fast"
    )
    return parser.parse_args()


def tell(text: str, status: int = 0) -> None:
    """Print at once; end where nobody reads any more, as after ``| head``.

    Args:
        text: What to print.
        status: The exit status in that case.

    Raises:
        SystemExit: Nobody reads.
    """
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # or the interpreter fails at its end, on what is still to be written
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(status)


def run(rows: Iterable[Row], command: str, *, quick: bool) -> list[Result]:
    """Measure rows and print each when it is done."""
    results = []
    for row in rows:
        results.append(measure(row, command, quick=quick))
        tell(results[-1].line())
    return results


def main(rows: Iterable[Row], script: str, description: str | None) -> None:
    """What a script does that is run by itself."""
    options = arguments(description)
    at = machine()
    tell(f"{at['processor']}, load {at['load']}\n\n{HEADER}")
    run(rows, command_of(script), quick=options.quick)


def command_of(script: str) -> str:
    """How a script is run."""
    return f"python benchmarks/{Path(script).name}"
