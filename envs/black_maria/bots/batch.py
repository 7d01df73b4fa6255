"""What a batch of observations must look like, for bots and agents alike."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from black_maria.cards import NUM_CARDS
from black_maria.kernels import kernel
from black_maria.layout import Layout

_DTYPES: Final = (np.dtype(np.int8), np.dtype(np.int8), np.dtype(np.uint64))


def check_batch(
    obs: Mapping[str, NDArray[np.int8]], keys: NDArray[np.uint64], layout: Layout
) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """The observation (B, F) and mask (B, 52) of a batch, checked.

    Raises:
        ValueError: Wrong shapes or dtypes, or a row without a legal card; says what fits.
    """
    observation, mask = np.asarray(obs["observation"]), np.asarray(obs["action_mask"])
    keys = np.asarray(keys)
    batch = keys.size
    if (
        observation.shape != (batch, layout.size)
        or keys.shape != (batch,)
        or mask.shape != (batch, NUM_CARDS)
        or (observation.dtype, mask.dtype, keys.dtype) != _DTYPES
    ):
        raise ValueError(_misfit(observation, mask, keys, layout))
    mask = np.ascontiguousarray(mask)
    if (row := first_bad_mask(mask)) >= 0:
        what = "isn't 0 and 1" if mask[row].any() else "has no legal card: not that seat's turn"
        raise ValueError(f"row {row} of action_mask {what}")
    return observation, mask


def _misfit(
    observation: NDArray[Any], mask: NDArray[Any], keys: NDArray[Any], layout: Layout
) -> str:
    """What doesn't fit, and what would."""
    batch = keys.shape[0] if keys.ndim else 1
    shapes = (batch, layout.size), (batch, NUM_CARDS), (batch,)
    arrays = {"observation": observation, "action_mask": mask, "keys": keys}
    return next(
        f"{name} must be {dtype} {shape}, not {array.dtype} {array.shape}"
        for (name, array), shape, dtype in zip(arrays.items(), shapes, _DTYPES, strict=True)
        if array.shape != shape or array.dtype != dtype
    )


@kernel
def first_bad_mask(mask):
    """The first row that isn't made of 0 and at least one 1, or −1."""
    words = mask.view(np.uint32)  # four entries each: 2 ns a row instead of 6
    for i in range(len(words)):
        values = np.uint32(0)
        for k in range(NUM_CARDS // 4):
            values |= words[i, k]
        values |= values >> np.uint32(16)
        values |= values >> np.uint32(8)
        if values & np.uint32(255) != np.uint32(1):
            return i
    return -1
