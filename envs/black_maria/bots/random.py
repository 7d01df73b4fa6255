"""``random``: any legal card, all equally likely."""

from typing import Final

import numpy as np

from black_maria.cards import NUM_CARDS
from black_maria.kernels import kernel

NUM_WORDS: Final = NUM_CARDS // 4
_ONES: Final = np.uint32(0x01010101)


@kernel
def random_kernel(observation, mask, keys, rules, at, actions):
    """Any legal card."""
    words = mask.view(np.uint32)  # four cards each: 12 ns a row instead of 26
    for i in range(len(words)):
        total = np.uint32(0)  # of each place in a word; the multiplication adds the four
        for k in range(NUM_WORDS):
            total += words[i, k]
        left = np.int64(keys[i] % np.uint64(np.uint32(total * _ONES) >> np.uint32(24)))
        k = 0
        count = np.int64(np.uint32(words[i, 0] * _ONES) >> np.uint32(24))
        while left >= count:
            left -= count
            k += 1
            count = np.int64(np.uint32(words[i, k] * _ONES) >> np.uint32(24))
        card = 4 * k
        left -= mask[i, card]
        while left >= 0:
            card += 1
            left -= mask[i, card]
        actions[i] = card
