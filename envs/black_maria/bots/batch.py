"""What a batch of observations must look like, for bots and agents alike."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from black_maria.cards import NUM_CARDS
from black_maria.kernels import kernel
from black_maria.layout import Layout


def check_batch(
    obs: Mapping[str, NDArray[np.int8]], keys: NDArray[np.uint64], layout: Layout
) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """The observation (B, F) and mask (B, 52) of a batch, checked.

    Raises:
        ValueError: Wrong shapes or dtypes, or a row without a legal card; says what fits.
    """
    observation, mask = np.asarray(obs["observation"]), np.asarray(obs["action_mask"])
    keys = np.atleast_1d(keys)
    batch = len(keys)
    for name, array, shape, dtype in (
        ("observation", observation, (batch, layout.size), np.int8),
        ("action_mask", mask, (batch, NUM_CARDS), np.int8),
        ("keys", keys, (batch,), np.uint64),
    ):
        if array.shape != shape or array.dtype != dtype:
            raise ValueError(
                f"{name} must be {np.dtype(dtype)} {shape}, not {array.dtype} {array.shape}"
            )
    if (row := first_bad_mask(mask)) >= 0:
        what = "isn't 0 and 1" if mask[row].any() else "has no legal card: not that seat's turn"
        raise ValueError(f"row {row} of action_mask {what}")
    return observation, mask


@kernel
def first_bad_mask(mask):
    """The first row that isn't made of 0 and at least one 1, or −1."""
    for i in range(len(mask)):
        values = 0
        for card in range(NUM_CARDS):
            values |= mask[i, card]
        if values != 1:
            return i
    return -1
