"""Random numbers for kernels: a stream is one 64-bit state, (1,) uint64, that moves as it is read.

SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). What is drawn follows from where the stream starts,
a row's key, and from nothing else.
"""

import numpy as np

from black_maria.engine import mix
from black_maria.kernels import kernel


@kernel
def next_bits(stream):
    """The next 64 random bits, uint64."""
    stream[0] += np.uint64(0x9E3779B97F4A7C15)
    return mix(stream[0])


@kernel
def uniform(stream):
    """A random number of [0, 1)."""
    return np.float64(next_bits(stream) >> np.uint64(11)) / 2.0**53


@kernel
def below(stream, count):
    """A random whole number from 0 to ``count`` − 1."""
    return np.int64(((next_bits(stream) >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))


@kernel
def shuffle_cards(cards, stream):
    """Shuffle in place."""
    for left in range(len(cards), 1, -1):
        k = below(stream, left)
        cards[left - 1], cards[k] = cards[k], cards[left - 1]
