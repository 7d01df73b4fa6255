"""Entries of an observation's blocks; ``start`` is where one begins: ``at.holding``, ``at.led``."""

import numpy as np

from black_maria.cards import NUM_CARDS
from black_maria.engine import put
from black_maria.kernels import kernel


@kernel
def one_of(observation, start, length):
    """The place of the single 1 in a block; −1 if it is all zeros, −2 if it is anything else."""
    found = -1
    for k in range(length):
        value = observation[start + k]
        if value:
            if value != 1 or found != -1:
                return -2
            found = k
    return found


@kernel
def count_row(observation, start):
    """Cards in a block of 52."""
    count = 0
    for card in range(NUM_CARDS):
        count += observation[start + card]
    return count


@kernel
def put_row(planes, observation, start):
    """Add a block of 52 counts to a set."""
    for card in range(NUM_CARDS):
        for _ in range(observation[start + card]):
            put(planes, card)


@kernel
def beyond(observation, start, length, most):
    """The first entry of a block that isn't in 0 … ``most``; 0 if there is none."""
    for k in range(length):
        if not 0 <= observation[start + k] <= most:
            return np.int64(observation[start + k])
    return np.int64(0)
