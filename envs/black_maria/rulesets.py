"""House rules: drawn ones to train on, and thirty that nobody trains on.

``draw`` makes legal, sensible rules of a seed, as people who know the books might settle them.
``HELD_OUT`` are for measuring how an agent does under rules that it has never seen; ``draw`` never
gives rules that play like one of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import gcd
from typing import Any, Final, NamedTuple, SupportsIndex

import numpy as np

from black_maria.cards import (
    CLUBS,
    HEARTS,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SUITS,
    SPADES,
    parse_card,
    parse_cards,
    suit_of,
)
from black_maria.given import shown, whole_or_none, wholes
from black_maria.rules import PROFILES, Rules, penalty_points, twos_removed

SEATS: Final = (3, 4, 5, 6)
"""Players that rules are drawn for: with more, two packs are played with."""
_OFTEN: Final = (0.55, 0.19, 0.13, 0.13)
"""How often each."""
MOST_PASSED: Final = 5
"""Cards that drawn rules let a seat pass, at most."""
_THREE_PLAYER: Final = Rules()


def draw(seed: SupportsIndex | Sequence[SupportsIndex], seats: int | None = None) -> Rules:
    """House rules of a seed: prices, pass, break, ban, moon, bonus cards and seats are drawn.

    A quarter of them are the books' own profiles. Of the others every clause of a hand is drawn by
    itself, the book's more often than others; a match goes to 100 points, and where the hands'
    points can't reach that, it lasts nine to twelve hands.

    Args:
        seed: 0 … 2⁶⁴ − 1, one or several; the same gives the same rules.
        seats: How many play, one of ``SEATS``; drawn without it.

    Raises:
        ValueError: An impossible seed or number of seats.
    """
    if seats is not None and whole_or_none(seats) not in SEATS:
        raise ValueError(f"seats={shown(seats)}: rules are drawn for {', '.join(map(str, SEATS))}")
    rng = np.random.default_rng(wholes(seed, "seed", 0, 2**64 - 1, np.uint64).reshape(-1).tolist())
    while True:
        playing = int(seats or rng.choice(SEATS, p=_OFTEN))
        try:
            rules = _profile(rng, playing) if rng.random() < 0.25 else _drawn(rng, playing)
        except ValueError:  # clauses that can't stand together
            continue
        if as_played(rules) not in _HELD_OUT:
            return rules


def _profile(rng: np.random.Generator, seats: int) -> Rules:
    """One of the books' for so many seats."""
    profiles = _one_pack(seats)
    return profiles[int(rng.choice(len(profiles)))]


@cache
def _one_pack(seats: int) -> list[Rules]:
    """The books' profiles for so many seats with one pack."""
    every = [Rules.profile(name, seats) for name, (fit, _) in PROFILES.items() if seats in fit]
    return [rules for rules in every if rules.packs == 1]


def _drawn(rng: np.random.Generator, seats: int) -> Rules:
    """Rules whose clauses fit each other or not."""
    removed = twos_removed(seats)
    if rng.random() < 0.2:  # a shorter pack: the lowest cards go, as many of them as deal out
        low = [NUM_RANKS * suit + rank for rank in range(NUM_RANKS) for suit in range(NUM_SUITS)]
        fewest = NUM_CARDS // seats // 2  # half of the tricks stay at least
        removed = tuple(low[: NUM_CARDS - seats * int(rng.integers(fewest, NUM_CARDS // seats))])
    penalties = _penalties(rng)
    dear = [card for card in np.argsort(penalties)[::-1][:4] if card not in removed]
    cycle = [("right",), ("left",), ("across",), ("right", "left"), ("left", "right", "none")]
    opening = next(card for card in range(NUM_CARDS) if card not in removed)
    ban = [card for card in range(NUM_CARDS) if penalties[card] > 0 and card not in removed]
    points = sum(penalties[card] for card in range(NUM_CARDS) if card not in removed)
    return Rules(
        f"house {rng.integers(10**6)}",
        seats,
        removed=removed,
        pass_count=int(rng.choice([0, 1, 2, 3, 4, 5], p=[0.1, 0.05, 0.1, 0.6, 0.1, 0.05])),
        pass_cycle=cycle[rng.choice(len(cycle), p=[0.4, 0.3, 0.1, 0.1, 0.1])],
        kept=tuple(dear[:1]) if rng.random() < 0.1 else (),
        break_hearts=bool(rng.random() < 0.4),
        opening_card=opening if rng.random() < 0.2 else None,
        first_trick_ban=tuple(ban) if rng.random() < 0.15 else (),
        penalties=penalties,
        moon=str(rng.choice(["none", "subtract", "others"], p=[0.7, 0.15, 0.15])),
        hands=None if points > 0 else {3: 9, 5: 10}.get(seats, 12),
        match_points=100 if points > 0 else None,
    )


def _penalties(rng: np.random.Generator) -> tuple[int, ...]:
    """Prices: a suit that is to be avoided, a few dear cards, now and then a bonus."""
    if rng.random() < 0.25:
        return _THREE_PLAYER.penalties
    points = np.zeros(NUM_CARDS, np.int64)
    suit = HEARTS if rng.random() < 0.8 else int(rng.integers(NUM_SUITS))
    cards = slice(NUM_RANKS * suit, NUM_RANKS * suit + NUM_RANKS)
    each = rng.choice(["one", "none", "two", "court", "rank"], p=[0.6, 0.15, 0.05, 0.1, 0.1])
    if each in ("one", "two", "court"):
        points[cards] = 2 if each == "two" else 1
    if each == "court":  # the knave two, up to the ace five
        points[cards][9:] = (2, 3, 4, 5)
    if each == "rank":
        points[cards] = np.arange(2, 15)
    for card in _dear(rng, int(rng.integers(1 if points.any() else 2, 4))):
        points[card] = rng.choice([5, 7, 8, 10, 13, 15, 20])
    if rng.random() < 0.15:
        plain = [card for card in range(NUM_CARDS) if not points[card] and suit_of(card) != HEARTS]
        points[rng.choice(plain)] = -int(rng.choice([5, 8, 10, 15]))
    return tuple(int(point) for point in points)


def _dear(rng: np.random.Generator, number: int) -> list[int]:
    """The dear cards: mostly of one suit and from the queen up, else of any ranks and suits."""
    suit = SPADES if rng.random() < 0.7 else int(rng.integers(NUM_SUITS))
    suits, ranks = np.full(number, suit), rng.permutation(np.arange(6, 13))[:number]
    match rng.choice(["court", "suit", "rank", "any"], p=[0.5, 0.15, 0.15, 0.2]):
        case "court":
            ranks = 10 + np.arange(number)
        case "rank":  # one rank in several suits
            suits, ranks = rng.permutation(NUM_SUITS)[:number], np.full(number, ranks[0])
        case "any":
            suits = rng.integers(NUM_SUITS, size=number)
    return [int(card) for card in NUM_RANKS * suits + ranks]


class HeldOut(NamedTuple):
    """Rules that no agent is trained on, and why they are among them."""

    rules: Rules
    reason: str


def _house(name: str, seats: int = 3, removed: str | None = None, **changes: object) -> Rules:
    cards = twos_removed(seats) if removed is None else tuple(parse_cards(removed))
    return Rules(name, seats, removed=cards).replace(**changes)


def _suit(suit: int, points: int = 1, **cards: int) -> tuple[int, ...]:
    """Points of every card of a suit, and of single ones by name."""
    named = {parse_card(name): value for name, value in cards.items()}
    return tuple(
        named.get(card, points if suit_of(card) == suit else 0) for card in range(NUM_CARDS)
    )


_TWOS_TO_SIXES: Final = " ".join(f"{rank}{suit}" for rank in "23456" for suit in "CDHS")
_BLACK: Final = {"QS": 13, "KS": 10, "AS": 7}


def _held_out() -> list[HeldOut]:
    hearts, court = penalty_points, {"AH": 5, "KH": 4, "QH": 3, "JH": 2}
    wide = ("right", "left", "none")
    return [
        HeldOut(_house(name, seats, **changes), reason)  # type: ignore[arg-type]
        for name, seats, changes, reason in [
            # near: one clause of the three-player page changed
            ("no pass", 3, {"pass_count": 0}, "nothing to get rid of before play"),
            ("pass left", 3, {"pass_cycle": ("left",)}, "cards go to whom one doesn't follow"),
            ("pass one", 3, {"pass_count": 1}, "a single card to pass"),
            ("pass five", 3, {"pass_count": 5}, "nearly a third of the hand goes"),
            ("pass in turn", 3, {"pass_cycle": wide}, "directions in turn"),
            ("broken hearts", 3, {"break_hearts": True}, "hearts wait"),
            ("no early penalties", 3, {"first_trick_ban": tuple(parse_cards(
                "3H 4H 5H 6H 7H 8H 9H 10H JH QH KH AH 2H QS KS AS"))}, "a harmless first trick"),
            ("low club leads", 3, {"opening_card": parse_card("3C")}, "a given lead"),
            ("moon", 3, {"moon": "others"}, "taking all is a way to win"),
            ("moon subtracted", 3, {"moon": "subtract"}, "taking all pays twice"),
            ("keep the queen", 3, {"kept": (parse_card("QS"),)}, "the dearest card stays"),
            ("jack bonus", 3, {"penalties": hearts(hearts=1, **_BLACK, JD=-10)},
             "a card that one wants"),
            ("court hearts", 3, {"penalties": hearts(hearts=1, **_BLACK, **court)},
             "high hearts cost more"),
            ("only spades", 3, {"penalties": hearts(hearts=0, **_BLACK)}, "hearts are harmless"),
            ("queen alone", 3, {"penalties": hearts(hearts=0, QS=13)}, "one card counts"),
            # far: what is to be feared lies elsewhere
            ("queen of clubs", 3, {"penalties": hearts(hearts=1, QC=13, KS=10, AS=7)},
             "another suit's queen"),
            ("three queens", 3, {"penalties": hearts(hearts=1, QS=13, QC=13, QD=13)},
             "three suits with a trap"),
            ("clubs for hearts", 3, {"penalties": _suit(CLUBS, QS=13, KS=10, AS=7)},
             "another suit is to be avoided"),
            ("dear tens", 3, {"penalties": hearts(hearts=1, TC=10, TD=10, TS=10)},
             "traps in the middle of the suits"),
            ("hearts by rank", 3, {"penalties": tuple(
                rank % NUM_RANKS + 2 if suit_of(rank) == HEARTS else 0
                for rank in range(NUM_CARDS))}, "one suit, and steep"),
            ("bonus diamonds", 3, {"penalties": tuple(
                -1 if suit_of(card) == 1 else point
                for card, point in enumerate(Rules().penalties))}, "a suit of bonuses"),
            ("short pack", 3, {"removed": (*parse_cards(_TWOS_TO_SIXES), parse_card("7C"),
             parse_card("7D"))}, "thirty cards, ten tricks"),
            # more seats
            ("four, no pass", 4, {"pass_count": 0}, "four without a pass"),
            ("four, across", 4, {"pass_cycle": ("across",)}, "cards go to whom one faces"),
            ("four, omnibus", 4, {"penalties": hearts(hearts=1, **_BLACK, JD=-10),
             "break_hearts": True, "moon": "others"}, "a bonus, a moon and broken hearts"),
            ("four, queen of clubs", 4, {"penalties": hearts(hearts=1, QC=13)},
             "another suit's queen"),
            ("five, pass left", 5, {"pass_cycle": ("left",)}, "ten tricks, the other way"),
            ("five, broken hearts", 5, {"break_hearts": True, "pass_count": 2}, "two cards go"),
            ("six, no pass", 6, {"pass_count": 0}, "eight tricks as they are dealt"),
            ("six, only spades", 6, {"penalties": hearts(hearts=0, **_BLACK)},
             "three cards count"),
        ]
    ]  # fmt: skip


HELD_OUT: Final[Mapping[str, HeldOut]] = {each.rules.name: each for each in _held_out()}
"""Thirty rules by name: near the three-player page, far from it, and for more seats."""


def as_played(rules: Rules) -> tuple[Any, ...]:
    """What a hand can feel of rules, in one form: rules under which hands are alike give equals.

    Left out are the name, when a match ends, a pass of nothing or to nobody, and what is said of
    cards that aren't dealt. Prices count by what they are to each other: the same game is played
    for ten times the points.
    """
    length = len(rules.pass_cycle)
    shorter = (rules.pass_cycle[:k] for k in range(1, length + 1))
    cycle = next(each for each in shorter if each * (length // len(each)) == rules.pass_cycle)
    passes = rules.pass_count > 0 and cycle != ("none",)
    points = [rules.penalties[card] for card in rules.deck]
    return (
        rules.seats, rules.deck, (rules.pass_count, cycle, _dealt(rules.kept, rules)) * passes,
        rules.break_hearts, rules.opening_card, _dealt(rules.first_trick_ban, rules), rules.moon,
        tuple(point // (gcd(*points) or 1) for point in points),
    )  # fmt: skip


def _dealt(cards: Iterable[int], rules: Rules) -> tuple[int, ...]:
    return tuple(card for card in cards if card not in rules.removed)


_HELD_OUT: Final = frozenset(as_played(each.rules) for each in HELD_OUT.values())
