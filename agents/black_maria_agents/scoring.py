"""What a hand was worth to a seat, where its own penalty alone doesn't tell."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from black_maria.clauses import stake_of
from black_maria.rules import Rules

STAKE: Final = 43
"""Points that hands of all rules are scaled to, as many as the three-player page's: so that no
table's stake drowns the others'."""


def stake_in_play(rules: Rules) -> int:
    """All points that are dealt in a hand, signs left out; at least 1."""
    return stake_of(rules.penalties[card] for card in rules.deck)


def others_less_own(penalties: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each seat's advantage in its hand: the others' mean penalty minus its own.

    Where a moon may be shot a hand's total varies, and points alone don't tell who won.

    Args:
        penalties: (N, S), of every seat.

    Returns:
        (N, S); a row adds up to 0.
    """
    others = (penalties.sum(axis=1, keepdims=True) - penalties) / (penalties.shape[1] - 1)
    advantage: NDArray[np.float64] = others - penalties
    return advantage
