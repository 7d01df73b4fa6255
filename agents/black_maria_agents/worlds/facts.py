"""What an observation leaves open, as the kernels of ``reading`` and ``dealing`` share it."""

from typing import Final

import numpy as np

from black_maria.cards import NUM_CARDS, NUM_SUITS
from black_maria.engine import MAX_DECK, MAX_SEATS, mix, record_type
from black_maria.kernels import kernel

MAX_CLASSES: Final = 2 * NUM_SUITS
"""Classes of cards: suits, or a suit's cards that are banned from the first trick or not."""

REFUSALS: Final = (
    "",
    "a card or flag is counted {number} times",
    "the hand is over: nothing is to be done",
    "the observer isn't to move",
    "{card} is seen more often than it is in the pack",
    "{number} cards dealt to a seat isn't what these rules deal",
    "the cards played don't make tricks",
    "the cards captured aren't the ones played",
    "the cards passed and received don't fit the rules",
    "who passes to whom doesn't fit the rules",
    "no deal fits the shown voids and the cards passed",
    "hearts_broken doesn't fit the cards played",
    "the history doesn't tell this observation",
    "dealer, position, suit led or phase are contradictory",
)
"""Why an observation is impossible, in words, by the number that ``read`` returns."""

FACTS: Final = record_type(
    [
        ("hand_size", np.int64),
        ("giver", np.int64),  # who passes to me; 0: nobody
        ("committed", np.int64),  # bits of the seats that have picked their pass
        ("places", np.int64, (MAX_SEATS + 1,)),  # for unknown cards; the last: the kitty
        ("barred", np.int64, (MAX_SEATS + 1,)),  # bits of classes that it can't hold
        ("pool", np.int64, (NUM_CARDS,)),  # unknown cards: copies
        ("maybe_kitty", np.int64),  # cards of the taken kitty that aren't told apart
        ("split", np.bool_),  # classes are halves of suits
        # groups of places that may hold the same, the least free first
        ("groups", np.int64),
        ("group_of", np.int64, (MAX_SEATS + 1,)),  # −1: no place
        ("group_barred", np.int64, (MAX_SEATS + 1,)),
        ("group_size", np.int64, (MAX_SEATS + 1,)),
        # the pool as a list, class after class
        ("cards", np.int8, (MAX_DECK,)),
        ("first", np.int64, (MAX_CLASSES + 1,)),
        ("stride", np.int64, (MAX_CLASSES,)),
        ("total", np.float64),  # ways to deal
    ]
)
"""What an observation tells beside the state that all worlds share."""


@kernel
def draw(stream):
    """The next 64 random bits of ``stream`` (1,) uint64."""
    stream[0] += np.uint64(0x9E3779B97F4A7C15)
    return mix(stream[0])


@kernel
def uniform(stream):
    """A random number of [0, 1)."""
    return np.float64(draw(stream) >> np.uint64(11)) / 2.0**53


@kernel
def below(stream, count):
    """A random number under ``count``."""
    return np.int64(((draw(stream) >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))


@kernel
def copy_sets(source, to):
    """Copy the sets of several seats, (…, 2). Numba compiles a loop faster than an assignment."""
    for seat in range(len(source)):
        to[seat, 0] = source[seat, 0]
        to[seat, 1] = source[seat, 1]
