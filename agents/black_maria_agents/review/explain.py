"""Where one agent loses points against another, by phase and by kind of decision."""

from collections.abc import Sequence
from math import hypot, nan
from typing import Final, NamedTuple

import numpy as np
from rich.table import Table

from black_maria_agents.review.rows import PHASES, Decision, Z
from black_maria_agents.review.totals import player

ALL: Final = "in all"


class Line(NamedTuple):
    """A kind of decision: what two players give away by it in a hand."""

    phase: str
    kind: str
    """As ``Decision.kind`` has it, or ``ALL``."""
    often: float
    """Such decisions of the first player in a hand."""
    first: float
    """Points that the first player gives away in a hand."""
    second: float
    gap: float
    """How much more the first one gives away."""
    error: float
    """Standard error of that: over hands, and of the play-outs with them."""


def comparison(rows: Sequence[Decision], first: str, second: str) -> list[Line]:
    """What two players give away, phase by phase and kind by kind; at the end, all together.

    Args:
        rows: Decisions of hands in which both sat.
        first: A player's name.
        second: Another's.

    Raises:
        ValueError: One of them doesn't decide anything in these rows.
    """
    for name in (first, second):
        if not any(player(row) == name for row in rows):
            raise ValueError(f"{name} has no decision in these hands")
    kinds = sorted({(PHASES.index(row.phase), row.kind) for row in rows})
    cells = []
    for phase in range(len(PHASES)):
        cells.append((PHASES[phase], ALL))
        cells += [(PHASES[phase], kind) for at, kind in kinds if at == phase]
    return [_line(rows, first, second, phase, kind) for phase, kind in [*cells, (ALL, ALL)]]


def _line(rows: Sequence[Decision], first: str, second: str, phase: str, kind: str) -> Line:
    means, errors, often = [], [], []
    for name in (first, second):
        chairs: dict[tuple[int, int], list[float]] = {}
        for row in rows:
            if player(row) == name:
                given = chairs.setdefault((row.hand, row.seat), [])
                if phase in (ALL, row.phase) and kind in (ALL, row.kind):
                    given.append(row.regret)
        sums = np.array([sum(given) for given in chairs.values()])
        means.append(float(sums.mean()))
        errors.append(float(sums.std(ddof=1) / len(sums) ** 0.5) if len(sums) > 1 else nan)
        often.append(float(np.mean([len(given) for given in chairs.values()])))
    error = hypot(*errors)
    return Line(phase, kind, often[0], means[0], means[1], means[0] - means[1], error)


def explained(rows: Sequence[Decision], first: str, second: str, reviewer: str) -> Table:
    """``comparison`` as a table for the terminal."""
    hands = len({row.hand for row in rows})
    table = Table(
        title=f"points that {first} and {second} give away in a hand, {hands} hands",
        caption=f"by play-outs of {reviewer}; ± is a 95 % interval",
        caption_justify="left",
        title_justify="left",
    )
    for name in ("phase", "what was chosen"):
        table.add_column(name)
    for name in ("a hand", first, second, f"{first} more by"):
        table.add_column(name, justify="right")
    for line in comparison(rows, first, second):
        whole = line.kind == ALL
        table.add_row(
            line.phase if whole else "",
            "" if whole else line.kind,
            f"{line.often:.1f}",
            f"{line.first + 0.0:.2f}",
            f"{line.second + 0.0:.2f}",
            f"{line.gap:+.2f} ± {Z * line.error:.2f}",
            style="bold" if whole else None,
        )
    return table
