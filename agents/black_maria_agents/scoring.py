"""What a hand was worth to a seat, where its own penalty alone doesn't tell."""

import numpy as np
from numpy.typing import NDArray


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
