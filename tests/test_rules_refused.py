"""What can't be as rules, and how it is refused: each clause by its name, with what is right."""

import itertools
import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Annotated

import numpy as np
import pytest

from black_maria.cards import parse_card
from black_maria.clauses import OneOf, OrNone, Truth, Whole, kinds_of
from black_maria.rules import CLAUSES, Rules, penalty_points

FEW = {"pass_count": 0, "hands": 3, "match_points": None}
BY_POINTS = {"hands": None, "match_points": 100}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"packs": 3}, r"packs=3: it takes a whole number from 1 to 2"),
        ({"seats": 2}, r"seats=2: it takes a whole number from 3 to 10"),
        ({"seats": 7}, r"seats=7: 1 pack\(s\) are for 3 to 6"),
        ({"packs": 2, "seats": 5}, r"seats=5: 2 pack\(s\) are for 6 to 10"),
        ({"packs": 2, "seats": 11}, r"seats=11: it takes a whole number from 3 to 10"),
        ({"removed": (0, 0)}, r"removed names 2♣ twice"),
        ({"removed": (52,)}, r"removed: 52 is not a card"),
        ({"removed": (-1,)}, r"removed: -1 is not a card"),
        ({"removed": ()}, r"removed: 52 cards don't deal out to 3 seats: remove 1 more"),
        ({"seats": 4}, r"removed: 51 cards don't deal out to 4 seats: remove 3 more"),
        ({"pass_count": -1}, r"pass_count=-1: it takes a whole number from 0 to 52"),
        ({"pass_count": 18}, r"pass_count=18: a holding may have fewer cards to pass"),
        ({"pass_count": 17, "kept": "QS"}, r"pass_count=17: a holding may have fewer cards"),
        ({"pass_cycle": ()}, r"pass_cycle=\(\): it takes a sequence of 1 to 16 of 'none'"),
        (
            {"pass_cycle": ("left",) * 17},
            r"pass_cycle=\(.*: it takes a sequence of 1 to 16 of 'none'",
        ),
        (
            {"pass_cycle": ("up",)},
            r"pass_cycle='up': it takes one of 'none', 'left', 'right', 'across'",
        ),
        ({"pass_cycle": ("across",)}, r"pass_cycle: nobody sits across with 3 seats"),
        ({"kept": "QX"}, r"kept: 'QX' is not a card"),
        ({"opening_card": "2C"}, r"opening_card: 2♣ opens but is removed from the pack"),
        (
            {"packs": 2, "seats": 6, "removed": (), "opening_card": "2C"},
            r"opening_card: 2♣ opens, but two packs have two of it",
        ),
        (
            {"opening_card": "3C", "first_trick_ban": "3C QS"},
            r"opening_card: 3♣ opens but is banned from the first trick",
        ),
        (
            {"opening_card": "3H", "break_hearts": True},
            r"opening_card: 3♥ opens but hearts must be broken",
        ),
        ({"penalties": (1,) * 51}, r"penalties=.*: it takes 52 whole numbers"),
        ({"penalties": ()}, r"penalties=\(\): it takes 52 whole numbers"),
        (
            {"penalties": (999,) + (1,) * 51},
            r"penalties=999: it takes a whole number from -998 to 998",
        ),
        (
            {"penalties": (500,) * 52},
            r"penalties: in a hand they add up to 25500, .* more than 9999",
        ),
        ({"moon": "sun"}, r"moon='sun': it takes one of 'none', 'subtract', 'others'"),
        (
            {"moon": "others", "penalties": penalty_points(hearts=0, QS=13, JD=-10)},
            r"moon='others': a single penalty card is no moon",
        ),
        ({"hands": 9}, r"hands, match_points: a match has one length: give one"),
        ({"match_points": None}, r"hands, match_points: a match has one length"),
        ({"hands": 10, "match_points": None}, r"hands=10: let all 3 seats deal equally often"),
        ({"hands": 0, "match_points": None}, r"hands=0: it takes a whole number from 1 to 1"),
        ({"match_points": 0}, r"match_points=0: it takes a whole number from 1 to 1"),
        (
            {"penalties": penalty_points(hearts=0, QS=10, JD=-10)},
            r"match_points=100: hands of 0 points need not reach it",
        ),
    ],
)
def test_validation__contradictions_refused_in_words(changes, words):
    with pytest.raises(ValueError, match=words):
        Rules(**changes)
    with pytest.raises(ValueError, match=words):
        Rules().replace(**changes)
    if "seats" not in changes:
        with pytest.raises(ValueError, match=words):
            Rules.profile("three_player", **changes)


NO_CLAUSE_TAKES = [
    object(), 2.5, math.nan, math.inf, 3 + 0j, Decimal(3), Fraction(3), 10**5000, -(2**63),
    b"QS", {"QS": 13}, [[]], ["no card"], "no\n", range(100), itertools.repeat(0), np.array(3.0),
    np.float32(3), np.zeros((2, 2), np.int64), parse_card,
]  # fmt: skip


@pytest.mark.parametrize("clause", CLAUSES)
def test_validation__what_is_of_no_kind_is_refused_by_the_clauses_name(clause):
    for value in NO_CLAUSE_TAKES:
        with pytest.raises(
            ValueError, match=rf"{clause}\b.*: (it takes|.* is not a card|.* neither)"
        ):
            Rules(**{clause: value})


@pytest.mark.parametrize("clause", [c for c, kind in CLAUSES.items() if isinstance(kind, Truth)])
@pytest.mark.parametrize("value", ["no", "", 0, 1, 1.0, None, (), np.int64(1)])
def test_validation__true_and_false_are_no_words_or_numbers(clause, value):
    with pytest.raises(ValueError, match=rf"^three_player: {clause}=.*: it takes True or False$"):
        Rules(**{clause: value})


@pytest.mark.parametrize("clause", ["seats", "packs", "pass_count", "hands", "match_points"])
@pytest.mark.parametrize("value", [3.0, 2.5, True, np.True_, "3", (3,), np.float64(3), 2**63])
def test_validation__whole_numbers_are_no_fractions_or_truths(clause, value):
    with pytest.raises(ValueError, match=rf"^three_player: {clause}=.*: it takes a whole number "):
        Rules(**{clause: value})


@pytest.mark.parametrize("clause", ["name", "seats", "packs", "removed", "pass_count", "pass_cycle",
    "kept", "first_trick_ban", "penalties", "moon"])  # fmt: skip
def test_validation__none_is_for_what_may_be_left_open(clause):
    with pytest.raises(ValueError, match=rf"{clause}=None: it takes "):
        Rules(**{clause: None})


@pytest.mark.parametrize("clause", ["removed", "kept", "first_trick_ban"])
@pytest.mark.parametrize("value", [("QS", "QS"), "QS 4H Q♠", (49, 1, 49), ("QS", np.int8(49))])
def test_validation__a_card_twice_in_a_set(clause, value):
    with pytest.raises(ValueError, match=f"{clause} names Q♠ twice: .*each of them once"):
        Rules(**{clause: value})


@pytest.mark.parametrize("clause", ["removed", "kept", "first_trick_ban", "opening_card"])
@pytest.mark.parametrize("value", [True, 2.0, None, "QX", 52, -1])
def test_validation__a_card_is_a_name_or_an_id(clause, value):
    if clause == "opening_card" and value is None:
        return
    given = value if clause == "opening_card" else (value,)
    with pytest.raises(
        ValueError, match=rf"^three_player: {clause}: \S+ is (not a card|neither a)"
    ):
        Rules(**{clause: given})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": 5}, r"^name=5: it takes a text that can be printed$"),
        ({"name": "\x1b[2J"}, r"^name='\\x1b\[2J': it takes a text that can be printed$"),
        ({"pass_cycle": "right"}, r"pass_cycle='right': it takes a seq.*, as in \('right',\)$"),
        ({"pass_cycle": {"left", "right"}}, r"pass_cycle=.*: it takes a sequence"),
        ({"pass_cycle": ("left", 1)}, r"pass_cycle=1: it takes one of"),
        ({"moon": ("others",)}, r"moon=\('others',\): it takes one of"),
        ({"kept": 49}, r"kept=49: it takes cards by name or id"),
        ({"kept": b"\x01\x02"}, r"kept=b.*: it takes cards by name or id"),
        ({"penalties": {"QS": 13}}, r"penalties=.*: .* as penalty_points\(hearts=1, QS=13\)"),
        ({"penalties": (0.5,) * 52}, r"penalties=0.5: it takes a whole number"),
        ({"penalties": (True,) * 52}, r"penalties=True: it takes a whole number"),
        ({"penalties": (math.nan,) * 52}, r"penalties=nan: it takes a whole number"),
        ({"penalties": np.zeros(52)}, r"penalties=.*: it takes a whole number"),
        ({"penalties": (-999,) + (1,) * 51}, r"penalties=-999: .* from -998 to 998"),
        ({"penalties": (1,) * 53}, r"penalties=.*: it takes 52 whole numbers"),
        ({"penalties": itertools.repeat(1)}, r"penalties=.*: it takes 52 whole numbers"),
        ({"hands": 9.0, "match_points": None}, r"hands=9.0: .*, or None$"),
        ({"hands": 100_002, "match_points": None}, r"hands=100002: .* from 1 to 100000"),
        ({"match_points": 100_000_001}, r"match_points=100000001: .* from 1 to 100000000"),
        # packs
        (FEW | {"removed": range(52)}, r"removed leaves 0 cards for 3 seats"),
        (FEW | {"removed": range(50)}, r"removed leaves 2 cards for 3 seats"),
        (
            {"packs": 2, "seats": 10, "removed": range(4, 52), "pass_count": 0},
            r"removed leaves 8 cards for 10 seats",
        ),
        # passes
        ({"seats": 4, "removed": range(36), "kept": "QS KS"}, r"pass_count=3: .* 2 with 4 seats"),
        (
            # in a play-off of two the cards are back that may not be passed
            {"seats": 4, "removed": range(36), "kept": range(24), "playoff": True},
            r"pass_count=3: a holding may have fewer cards to pass, 2 with 2 seats",
        ),
        # points: a play-off is played with cards that had been removed
        (
            {"seats": 4, "removed": range(8, 52), "penalties": (998,) * 52, "pass_count": 0,
             "playoff": True},
            r"penalties: in a play-off of 2 seats they add up to 51896, .* more than 9999 points",
        ),
        (
            {"seats": 4, "removed": range(12, 52), "penalties": (-193,) * 52, "pass_count": 0,
             "playoff": True, "hands": 4, "match_points": None},
            r"penalties: in a play-off of 2 seats they add up to 10036",
        ),
        # a match that never ends
        (
            FEW | {"removed": range(49), "moon": "subtract", **BY_POINTS},
            r"match_points=100: with moon='subtract' and 1 trick\(s\) every hand may have to be",
        ),
        (
            FEW | {"removed": range(46), "moon": "subtract", **BY_POINTS},
            r"match_points=100: with moon='subtract' and 2 trick\(s\) every hand may have to be",
        ),
        (
            {"removed": "QS", "penalties": penalty_points(hearts=0, QS=13)},
            r"match_points=100: hands of 0 points need not reach it",
        ),
        (
            {"penalties": penalty_points(hearts=0, QS=10, JD=-11)},
            r"match_points=100: hands of -1 points need not reach it",
        ),
        # a play-off that never ends
        (
            {"penalties": (0,) * 52, "hands": 3, "match_points": None, "playoff": True},
            r"playoff: in a hand every card is 0 points, a tie for ever",
        ),
        (
            {"seats": 4, "removed": (), "penalties": penalty_points(hearts=0, **{"2C": 13}),
             "playoff": True},
            r"playoff: in a play-off of 3 seats every card is 0 points, a tie for ever",
        ),
        (
            FEW | {"removed": range(46), "penalties": penalty_points(hearts=0, QS=5, KS=-5),
                   "playoff": True},
            r"playoff: in 2 trick\(s\) penalties that add up to 0 may have to be a tie for ever",
        ),
        # two packs: ties are played off with one, by all seats as well
        (
            {"packs": 2, "seats": 6, "removed": (), "moon": "others", "playoff": True,
             "penalties": penalty_points(hearts=0, QS=13)},
            r"moon='others': a single penalty card is no moon; in a play-off of 2 seats",
        ),
        (
            {"packs": 2, "seats": 8, "removed": (), "pass_count": 7, "playoff": True},
            r"pass_count=7: a holding may have fewer cards to pass, 6 with 8 seats",
        ),
        (
            {"packs": 2, "seats": 6, "removed": (), "playoff": True,
             "penalties": penalty_points(hearts=0, **{"2S": 13})},
            r"playoff: in a play-off of 6 seats every card is 0 points, a tie for ever",
        ),
        # a moon of one card, in a play-off without 2♣
        (
            {"seats": 4, "removed": (), "moon": "others", "playoff": True,
             "penalties": penalty_points(hearts=0, QS=13, **{"2C": 13})},
            r"moon='others': a single penalty card is no moon; in a play-off of 3 seats",
        ),
    ],
)  # fmt: skip
def test_validation__what_has_no_end_or_does_not_fit(changes, words):
    with pytest.raises(ValueError, match=words):
        Rules(**changes)


def test_validation__names_the_rules():
    with pytest.raises(ValueError, match=r"^mine: match_points=0: "):
        Rules("mine", match_points=0)
    with pytest.raises(ValueError, match=r"^slippery_anne: moon='others': "):
        Rules.profile("slippery_anne", moon="others")


@pytest.mark.parametrize(
    "changes",
    [
        {"pass_count": 0},
        {"pass_count": 17},
        {"match_points": 1},
        {"pass_cycle": ("left",) * 16},
        {"hands": 3, "match_points": None},
        {"penalties": penalty_points(hearts=-1, QS=998)},
        {"penalties": (998,) * 10 + (19,) + (0,) * 41},
        {"hands": 99_999, "match_points": None},
        {"match_points": 100_000_000},
        # what a seat can't pass may lie in the pack or not
        {"kept": tuple(range(14))},
        {"removed": (49,), "kept": (49,), "pass_count": 17},
        # few tricks, and an end all the same
        {"removed": tuple(range(49)), "pass_count": 0},
        {"removed": tuple(range(49)), "pass_count": 0, "moon": "others"},
        {"removed": tuple(range(49)), "pass_count": 0, "playoff": True},
        {"removed": tuple(range(43)), "moon": "subtract"},
        FEW | {"removed": tuple(range(49)), "moon": "subtract"},
        {"removed": tuple(range(43)), "penalties": penalty_points(hearts=0, QS=5, KS=-5),
         "playoff": True, "hands": 3, "match_points": None},
        # a play-off of three hasn't 2♣
        {"seats": 4, "removed": (), "penalties": penalty_points(hearts=0, QS=1, **{"2C": 13}),
         "playoff": True},
        {"seats": 4, "removed": (), "penalties": penalty_points(hearts=1, **{"2C": 13}),
         "playoff": True, "moon": "subtract"},
        {"packs": 2, "seats": 6, "removed": (), "playoff": True},
        {"packs": 2, "seats": 10, "removed": (), "playoff": True, "pass_count": 5},
        {"packs": 2, "seats": 6, "removed": tuple(range(46)), "playoff": True, "pass_count": 2,
         "penalties": penalty_points(hearts=0, QS=5, KS=-5), "hands": 6, "match_points": None},
        {"name": ""},
        {"penalties": (0,) * 52, "hands": 3, "match_points": None},
    ],
)  # fmt: skip
def test_validation__edges_allowed(changes):
    rules = Rules().replace(**changes)
    assert {name: getattr(rules, name) for name in changes} == changes


def test_kinds__stand_with_the_field():
    @dataclass
    class Clauses:
        talk: bool = False
        looks: Annotated[int, Whole(1, 3)] | None = None
        first: "Annotated[str, OneOf(('a', 'b'))]" = "a"

    assert kinds_of(Clauses) == {
        "talk": Truth(),
        "looks": OrNone(Whole(1, 3)),
        "first": OneOf(("a", "b")),
    }


def test_kinds__a_field_without_one_is_refused():
    @dataclass
    class Clauses:
        looks: int = 0

    with pytest.raises(TypeError, match=r"looks: write its kind as in Annotated\[int, Whole"):
        kinds_of(Clauses)
