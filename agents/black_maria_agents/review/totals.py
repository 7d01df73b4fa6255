"""What was lost where: by phase, by kind of decision, and the dearest decisions."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from math import hypot
from typing import Final, NamedTuple

from black_maria_agents.review.rows import PHASES, Decision

DEAREST: Final = 3
"""How many of the dearest decisions are named."""


class Loss(NamedTuple):
    """Points given away."""

    points: float
    error: float
    """Standard error, of the worlds that priced it."""
    decisions: int


def losses(
    rows: Iterable[Decision], key: Callable[[Decision], str] = lambda row: row.phase
) -> dict[str, Loss]:
    """What was given away in all, by phase or by another key, in the order of the phases."""
    found: dict[str, Loss] = defaultdict(lambda: Loss(0.0, 0.0, 0))
    for row in sorted(rows, key=lambda row: PHASES.index(row.phase)):
        so_far = found[key(row)]
        found[key(row)] = Loss(
            so_far.points + row.regret, hypot(so_far.error, row.error), so_far.decisions + 1
        )
    return dict(found)


def dearest(rows: Iterable[Decision], most: int = DEAREST) -> list[Decision]:
    """The decisions that gave most away, the dearest first; only such that did beyond doubt."""
    dear = [row for row in rows if row.dear]
    return sorted(dear, key=lambda row: (-row.regret, row.hand, row.ply))[:most]


def player(row: Decision) -> str:
    """Who decided: the agent, or the seat of a hand that doesn't name any."""
    return row.agent or f"seat {row.seat}"


def chairs(rows: Sequence[Decision]) -> dict[str, int]:
    """In how many chairs each player sat, a hand counting for itself; in order of their names."""
    seen = sorted({(player(row), row.hand, row.seat) for row in rows})
    count: dict[str, int] = defaultdict(int)
    for name, _, _ in seen:
        count[name] += 1
    return dict(count)
