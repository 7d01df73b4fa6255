"""When a pair has played enough: looks at fixed points, and an interval that stays honest."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from black_maria_agents.measuring.results import Estimate

FIRST_LOOK: Final = 250
MAX_UNTIL: Final = FIRST_LOOK * 2**9
"""Games after which a pair stops even if its interval is still too wide, unless told."""


def look_points(most: int) -> list[int]:
    """Numbers of games after which the interval is looked at: 250, 500, 1000, … and ``most``.

    They are fixed before play. Stopping at one depends on the half-width alone, never on the
    mean, and the points double: a width that is small by chance has few chances to stop early.
    So the intervals still cover the truth about 95 times in 100 (tests/test_arena.py).
    """
    looks = [FIRST_LOOK << k for k in range(most.bit_length()) if FIRST_LOOK << k < most]
    return [*looks, most]


def settled(scores: NDArray[np.float64], until: float) -> bool:
    """Whether play may stop after these scores (G, seats): its interval is narrow enough."""
    return len(scores) in look_points(len(scores) + 1) and half_width(scores) <= until


def half_width(scores: NDArray[np.float64]) -> float:
    """Of the interval of the games' means, from scores (G, seats)."""
    return Estimate.of(scores.mean(axis=1)).half_width


def expected(scores: NDArray[np.float64], most: int, until: float | None) -> int:
    """How many games a pair with these scores (G, seats) will have played, as far as one can tell.

    Args:
        scores: What it has scored so far.
        most: Games after which it stops in any case.
        until: The half-width at which it stops sooner.
    """
    played = len(scores)
    if until is None or played < 2:
        return max(most, played)
    if enough(scores, most, until):
        return played
    need = played * (half_width(scores) / until) ** 2
    return next((look for look in look_points(most) if look >= need and look > played), most)


def enough(scores: NDArray[np.float64], most: int, until: float | None) -> bool:
    """Whether a pair with these scores (G, seats) needs no more games."""
    return len(scores) >= most or (until is not None and settled(scores, until))
