"""What got slower by more than the noise, between two files that `make bench` wrote.

A row with a peer is compared by its ratio, so that neither a busy machine nor another processor
counts; one without by its times, and only on the same processor. It is slower if the middle half
of its rounds lies beyond that of the old ones, and the medians are at least 5 % apart.

    python benchmarks/compare.py OLD.json [NEW.json]

NEW is docs/benchmarks.json unless given. The exit status is 1 if anything is slower.
"""

import argparse
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

from harness import Result, read, tell

LEAST = 1.05
"""Smaller changes are none."""
NEWEST = Path(__file__).parent.parent / "docs" / "benchmarks.json"


def costs(result: Result) -> list[float]:
    """What a round cost: in seconds, in times of the peer, or of what the machine had to give."""
    if not result.theirs:
        return result.ours
    bare = result.bare or [1.0] * len(result.ours)
    rounds = zip(result.ours, result.theirs, bare, strict=True)
    return [ours / theirs * given for ours, theirs, given in rounds]


def middle(costs: list[float]) -> tuple[float, float]:
    """The quartiles between which the middle half of the rounds lies."""
    if len(costs) < 2:
        return costs[0], costs[0]
    lower, _, upper = statistics.quantiles(costs, n=4, method="inclusive")
    return lower, upper


def verdict(old: Result, new: Result, *, same_processor: bool) -> str:
    """``"slower"``, ``"faster"``, ``"same"``, or why it can't be said."""
    if old.peer != new.peer or any(
        bool(before) != bool(after)
        for before, after in ((old.theirs, new.theirs), (old.bare, new.bare))
    ):
        return "another peer"
    if not old.theirs and not same_processor:
        return "another processor"
    before, after = costs(old), costs(new)
    change = statistics.median(after) / statistics.median(before)
    if change > LEAST and middle(after)[0] > middle(before)[1]:
        return "slower"
    if change < 1 / LEAST and middle(after)[1] < middle(before)[0]:
        return "faster"
    return "same"


def compare(old: Path, new: Path) -> Iterator[tuple[str, str, float | None]]:
    """What each row is of, its verdict, and how many times the old cost the new one is."""
    (at_old, before), (at_new, after) = read(old), read(new)
    same = at_old["processor"] == at_new["processor"]
    for what in {**before, **after}:
        if what not in after or what not in before:
            yield what, "gone" if what in before else "new", None
            continue
        said = verdict(before[what], after[what], same_processor=same)
        change = statistics.median(costs(after[what])) / statistics.median(costs(before[what]))
        yield what, said, None if said.startswith("another") else change


def main() -> None:
    """Print every row, the slower ones first."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path, nargs="?", default=NEWEST)
    options = parser.parse_args()
    rows = sorted(compare(options.old, options.new), key=lambda row: row[1] != "slower")
    status = int(any(said == "slower" for _, said, _ in rows))
    for what, said, change in rows:
        cost = "" if change is None else f"{change:.2f} times the cost"
        tell(f"{said:<18}{cost:<22}{what}", status)
    sys.exit(status)


if __name__ == "__main__":
    main()
