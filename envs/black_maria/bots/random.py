"""``random``: any legal card, all equally likely."""

from typing import Final

import numpy as np

from black_maria.kernels import inlined, kernel
from black_maria.machine import collect

_U64: Final = np.uint64
_BYTES: Final = _U64(0x0101010101010101)
_HIGHEST: Final = _U64(0x8080808080808080)
_PLACE: Final = np.array(
    [([k for k in range(8) if byte >> k & 1] + [0] * 8)[:8] for byte in range(256)], np.int64
)
"""Row b has the places of the ones of the number b, the lowest first."""


@kernel
def random_kernel(observation, mask, keys, rules, at, actions):
    """Any legal card: 5 ns a row, and 9 or more counting and guessing word by word."""
    for i in range(len(mask)):
        cards = _U64(collect(mask[i]))
        ones = ones_of_bytes(cards) * _BYTES  # in each byte: of it and those below
        actions[i] = place(cards, ones, keys[i] % (ones >> _U64(56)))


@inlined
def ones_of_bytes(bits):
    """How many bits of each byte are 1, in that byte."""
    bits -= bits >> _U64(1) & _U64(0x5555555555555555)
    bits = (bits & _U64(0x3333333333333333)) + (bits >> _U64(2) & _U64(0x3333333333333333))
    return bits + (bits >> _U64(4)) & _U64(0x0F0F0F0F0F0F0F0F)


@inlined
def place(bits, ones, number):
    """Where the one of that number is, both counted from 0, without a branch to guess wrong.

    ``ones`` has in each byte how many there are in it and those below. Its highest bits stay free:
    there are at most 64, so that one subtraction compares all bytes with the number at once.
    """
    below = (number * _BYTES | _HIGHEST) - ones & _HIGHEST
    # it is in the first byte whose count exceeds the number
    start = (below >> _U64(7)) * _BYTES >> _U64(56) << _U64(3)
    number -= (ones << _U64(8)) >> start & _U64(255)
    return np.int64(start) + _PLACE[bits >> start & _U64(255), number]
