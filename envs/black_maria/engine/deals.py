"""Randomness: what is dealt and drawn, all of it pure functions of their arguments."""

from typing import Final, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from black_maria.given import shown, whole
from black_maria.kernels import kernel
from black_maria.rules import RulesGiven, as_rules

LAST_HAND: Final = 2**62
"""The largest number of a table or a hand that may be given; play goes on from there."""

_U64: Final = np.uint64
# separate streams of one seed
_DEAL, _CHOICE, _SEAT = _U64(0x6D61726961), _U64(0x626C61636B), _U64(0x73656174)


@kernel
def mix(x):
    """Scramble 64 bits: the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014)."""
    x = (x ^ (x >> _U64(30))) * _U64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> _U64(27))) * _U64(0x94D049BB133111EB)
    return x ^ (x >> _U64(31))


@kernel
def combine(key, value):
    """A new 64-bit key from a key and a number."""
    return mix((key ^ _U64(value)) * _U64(0x9E3779B97F4A7C15) + _U64(0xD1B54A32D192ED03))


@kernel
def shuffle(seed, table, hand, seats, deck):
    """Shuffle ``deck`` by (seed, table, hand), in place; return a first dealer."""
    key = combine(combine(combine(_DEAL, seed), table), hand)
    for left in range(len(deck), 1, -1):
        other = np.int64(combine(key, left) % _U64(left))
        last = left - 1
        deck[last], deck[other] = deck[other], deck[last]
    return np.int64(combine(key, 0) % _U64(seats))


@kernel
def hand_key(state):
    """What the choices of a hand are drawn by: a hash of (seed, table, hand)."""
    return combine(combine(combine(_CHOICE, state.seed), state.table), state.hand)


@kernel
def choice_key(state, hand):
    """The randomness of the decision at hand: a hash of the ``hand_key``, seat and ply."""
    return combine(combine(hand, state.turn), state.num_passed + state.num_played)


@kernel
def choice_keys(states, keys):
    """Write every table's ``choice_key``."""
    for i in range(len(states)):
        keys[i] = choice_key(states[i], hand_key(states[i]))


@kernel
def draw_seats(states, rules, seats):
    """Write a seat for every table, drawn by (seed, table, hand)."""
    for i in range(len(states)):
        state = states[i]
        key = combine(combine(combine(_SEAT, state.seed), state.table), state.hand)
        seats[i] = np.int64(key % _U64(rules[0].seats))


def check_seed(seed: SupportsIndex) -> int:
    """A seed as an int.

    Raises:
        ValueError: It isn't an integer from 0 to 2⁶⁴ − 1.
    """
    number = whole(seed, "seed")
    if not 0 <= number < 2**64:
        raise ValueError(f"a seed lies in 0 … 2**64 - 1, not {shown(number)}")
    return number


def check_number(number: SupportsIndex, name: str) -> np.int64:
    """The number of a table or a hand.

    Raises:
        ValueError: It isn't an integer from 0 to ``LAST_HAND``.
    """
    if not 0 <= whole(number, name) <= LAST_HAND:
        raise ValueError(f"{name}={shown(number)}: {name}s are numbered from 0 to 2**62")
    return np.int64(number)


class Deal(NamedTuple):
    """A hand as dealt, before passing."""

    cards: NDArray[np.int8]
    """(seats, hand_size) int8, each seat's card ids ascending."""
    dealer: int
    """The dealer if the hand is the first of a match."""


def deal(
    seed: SupportsIndex, table: int = 0, hand: int = 0, rules: RulesGiven = "three_player"
) -> Deal:
    """The deal of (seed, table, hand): a pure function, whatever else is drawn or played.

    Args:
        seed: 0 … 2⁶⁴ − 1.
        table: The table's number; a single environment is table 0.
        hand: How many hands were dealt at that table since it was seeded.
        rules: A profile's name or rules.

    Raises:
        ValueError: An impossible seed or number, or an unknown profile.
    """
    rules = as_rules(rules)
    deck = np.array(rules.deck, np.int8)
    key = np.uint64(check_seed(seed)), check_number(table, "table"), check_number(hand, "hand")
    dealer = int(shuffle(*key, rules.seats, deck))
    dealt = deck[: rules.hand_size * rules.seats].reshape(rules.hand_size, rules.seats).T
    return Deal(np.sort(dealt, axis=1), dealer)
