"""What a table is: one structured record, the rules as kernels read them, and sets of cards.

A batch of games is an array of ``STATE`` records. Rules reach kernels as a one-element array of
``RULES``, never as globals. Card sets are pairs of 64-bit planes: bit c of plane 0 says that
card c is in the set, of plane 1 that its twin of a second pack is, too.
"""

import hashlib
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from black_maria.cards import NUM_CARDS
from black_maria.given import choice
from black_maria.kernels import inlined, kernel
from black_maria.rules import CLAUSES, Rules

MAX_SEATS: Final = 10
MAX_DECK: Final = 2 * NUM_CARDS

PASSING, PLAYING, OVER = range(3)
"""Phases of a hand."""

REWARDS: Final = ("trick", "hand", "relative", "match")
"""When and how penalties become rewards; see ``tables.Tables``."""
EPISODES: Final = ("hand", "match")
"""What an episode is: one deal played out, or hands until the match's end."""


def record_type(fields: list[Any]) -> np.dtype[Any]:
    """A type of records whose fields are attributes, in kernels and in plain Python alike."""
    return np.dtype((np.record, np.dtype(fields, align=True)))


def put_records(records: NDArray[Any], others: NDArray[Any]) -> None:
    """Copy records of one type, as bytes: NumPy takes 8 µs for a state, field by field."""
    whole = f"V{records.itemsize}"
    records.view(whole)[:] = others.view(whole)


STATE: Final = record_type(
    [
        ("rules", np.uint64),  # what they are, for those who load a game; ``rules_stamp``
        # what the deal is a function of
        ("seed", np.uint64),
        ("table", np.int64),
        ("hand", np.int64),
        # the match: which seats play (all, but for a play-off), bit by bit, and how far it is
        ("playing", np.int64),
        ("num_playing", np.int64),
        ("match_hand", np.int64),
        ("hands_left", np.int64),  # in a match of fixed length, else 0
        ("winners", np.int64),  # bit by bit; 0 until the match is over
        ("playoff", np.bool_),
        # where the cards are; each a pair of planes
        ("holding", np.int64, (MAX_SEATS, 2)),
        ("given", np.int64, (MAX_SEATS, 2)),  # picked to pass; no longer held
        ("played", np.int64, (MAX_SEATS, 2)),
        ("captured", np.int64, (MAX_SEATS, 2)),
        ("kitty", np.int64, (2,)),
        ("legal", np.int64),  # plane of the cards that the seat to move may choose
        ("voids", np.int8, (MAX_SEATS,)),  # suits that a seat has shown it doesn't hold, bit by bit
        # scores
        ("totals", np.int32, (MAX_SEATS,)),
        ("penalties", np.int16, (MAX_SEATS,)),  # in this hand so far
        # the play so far: card and seat, in order
        ("cards", np.int8, (MAX_DECK,)),
        ("seats", np.int8, (MAX_DECK,)),
        ("num_played", np.int16),
        ("num_passed", np.int16),
        ("to_play", np.int16),  # cards that will be played in this hand
        ("pile_start", np.int16),  # first card on the table, those of cancelled tricks included
        ("taken_from", np.int16),  # first card of the pile that was taken last
        # this trick
        ("in_trick", np.int8),
        ("led", np.int8),  # suit led, −1 before the lead
        ("best_card", np.int8),
        ("best_seat", np.int8),
        ("leader", np.int8),
        ("last_taker", np.int8),  # −1 before the first trick is taken
        ("broken", np.bool_),  # a heart was played
        # whose turn
        ("phase", np.int8),
        ("pass_steps", np.int8),  # playing seats from a giver to its receiver, 0: no pass
        ("dealer", np.int8),
        ("turn", np.int8),
    ]
)
"""One table. Fields by seat have room for ``MAX_SEATS``; the rest of them stays 0."""

RULES: Final = record_type(
    [
        ("stamp", np.uint64),
        # every clause as its kind makes a number of it: sets as planes, names as their places
        *((name, *kind.number_type) for name, kind in CLAUSES.items() if kind.number_type),
        # what follows from them
        ("deck_size", np.int64),
        ("deck", np.int8, (MAX_DECK,)),
        ("cycle", np.int64),  # hands after which the pass goes where it went first
        # not of the game but of the environment
        ("reward", np.int64),  # index in REWARDS
        ("whole_match", np.bool_),  # an episode is a match
    ]
)
"""The rules as kernels read them: the clauses of ``Rules`` by their names, and a little more."""

BIT: Final = np.array([1 << card for card in range(NUM_CARDS)], np.int64)
"""The plane of each card alone."""
SUIT: Final = np.array([0x1FFF << 13 * suit for suit in range(4)], np.int64)
"""The plane of each suit."""


# --- card sets --------------------------------------------------------------------------------


@inlined
def put(planes, card):
    """Add a card to a set."""
    bit = BIT[card]
    planes[1] |= planes[0] & bit
    planes[0] |= bit


@inlined
def drop(planes, card):
    """Take one copy of a card out of a set."""
    bit = BIT[card]
    twin = planes[1] & bit
    planes[0] ^= bit ^ twin
    planes[1] ^= twin


@kernel
def put_all(planes, others):
    """Add the cards of another set to a set."""
    for card in range(NUM_CARDS):
        for _ in range((others[0] >> card & 1) + (others[1] >> card & 1)):
            put(planes, card)


@kernel
def add_counts(planes, counts):
    """Add a set to counts a card, (52,)."""
    for card in range(NUM_CARDS):
        counts[card] += (planes[0] >> card & 1) + (planes[1] >> card & 1)


def cards_of(planes: NDArray[np.int64]) -> list[int]:
    """The card ids of a set, ascending, twins twice."""
    counts = np.zeros(NUM_CARDS, np.int64)
    add_counts(planes, counts)
    return [int(card) for card in np.repeat(np.arange(NUM_CARDS), counts)]


# --- the rules, for kernels --------------------------------------------------------------------


def rules_record(rules: Rules, reward: str = "trick", episode: str = "hand") -> NDArray[Any]:
    """The rules, and what an environment makes of them, as kernels read it: one record.

    Raises:
        ValueError: An unknown reward or episode, or ``reward="match"`` for a single hand.
    """
    reward, episode = choice(reward, "reward", REWARDS), choice(episode, "episode", EPISODES)
    if reward == "match" and episode == "hand":
        raise ValueError("reward='match' is for episode='match': a single hand has no winner")
    return _record(rules, reward, episode)


@lru_cache
def _record(rules: Rules, reward: str, episode: str) -> NDArray[Any]:
    record = np.zeros(1, RULES)
    record["stamp"] = rules_stamp(rules)
    for name, kind in CLAUSES.items():
        if kind.number_type:
            record[name] = kind.number(getattr(rules, name))
    record["deck_size"] = len(rules.deck)
    record["deck"][0, : len(rules.deck)] = rules.deck
    record["cycle"] = len(rules.pass_cycle)
    record["reward"] = REWARDS.index(reward)
    record["whole_match"] = episode == "match"
    return record


def rules_stamp(rules: Rules) -> int:
    """A number, 64 bits, that differs from that of rules that play otherwise."""
    text = repr([(name, getattr(rules, name)) for name in CLAUSES if name != "name"])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
