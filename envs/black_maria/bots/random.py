"""``random``: any legal card, all equally likely."""

import numpy as np

from black_maria.cards import NUM_CARDS
from black_maria.kernels import kernel


@kernel
def random_kernel(observation, mask, keys, rules, at, actions):
    """Any legal card."""
    for i in range(len(mask)):
        legal = 0
        for card in range(NUM_CARDS):
            legal += mask[i, card]
        left = np.int64(keys[i] % np.uint64(legal))
        card = 0
        left -= mask[i, 0]
        while left >= 0:
            card += 1
            left -= mask[i, card]
        actions[i] = card
