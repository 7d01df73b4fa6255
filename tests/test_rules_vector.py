"""The rules as numbers: complete, clause by clause, and nothing else in them."""

from itertools import pairwise
from math import log2
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from black_maria import Rules, Tables
from black_maria.contradictions import MAX_HANDS, MAX_MATCH_POINTS
from black_maria.rules import CLAUSES
from black_maria.rules_vector import (
    HAND_CLAUSES,
    RULES_BLOCKS,
    RULES_BOUND,
    RULES_SIZE,
    rules_vector,
)
from helpers import random_legal
from test_rules_played import clauses_at_random

seeds = st.integers(0, 2**32)


def at_random(seed):
    return Rules(**clauses_at_random(Random(seed)))


def blocks(rules):
    vector = rules_vector(rules)
    return {name: vector[each.start : each.stop].tolist() for name, each in RULES_BLOCKS.items()}


def played(rules, seed, hands=2):
    """What a table says while any cards are played: legal ones, penalties, totals, ends."""
    tables = Tables(1, rules, seed=seed, episode="match", deal_on=False)
    generator, told = np.random.default_rng(seed), []
    for _ in range(sum(rules.plies(hand) for hand in range(hands))):
        obs, seat = tables.observe()
        told.append((seat.tolist(), obs["action_mask"].tobytes()))
        gained, done = tables.step(random_legal(obs["action_mask"], generator))
        told.append((gained.tolist(), tables.totals().tolist(), done.tolist()))
        if done[0]:
            break
    return told


CHANGES = {
    "seats": (Rules.profile("traditional", 3), Rules.profile("traditional", 4)),
    "packs": (Rules.profile("traditional", 6), Rules.profile("cancellation", 6)),
    "removed": (Rules(), {"removed": "2D"}),
    "pass_count": (Rules(), {"pass_count": 2}),
    "pass_cycle": (Rules(), {"pass_cycle": ("right", "left")}),
    "kept": (Rules(), {"kept": "QS"}),
    "break_hearts": (Rules(), {"break_hearts": True}),
    "opening_card": (Rules(), {"opening_card": "3C"}),
    "first_trick_ban": (Rules(), {"first_trick_ban": "QS"}),
    "penalties": (Rules(), {"penalties": (*Rules().penalties[:50], 8, 9)}),
    "moon": (Rules(), {"moon": "others"}),
    "hands": (Rules(hands=9, match_points=None), {"hands": 12}),
    "match_points": (Rules(), {"match_points": 101}),
    "exceed": (Rules(), {"exceed": True}),
    "playoff": (Rules(), {"playoff": True}),
}
"""A clause → rules, and others in which that clause is another."""


def test_changes__are_of_every_clause_but_the_name():
    assert CHANGES.keys() == CLAUSES.keys() - {"name"}


@pytest.mark.parametrize("clause", CHANGES)
def test_vector__every_clause_that_a_table_can_feel_changes_its_own_block(clause):
    rules, other = CHANGES[clause]
    if isinstance(other, dict):
        other = rules.replace(**other)
    assert getattr(rules, clause) != getattr(other, clause)
    assert blocks(rules)[clause] != blocks(other)[clause]


def test_vector__the_name_alone_is_not_in_it():
    rules = Rules.profile("omnibus", 5)
    assert np.array_equal(rules_vector(rules), rules_vector(rules.replace(name="other")))
    assert RULES_BLOCKS.keys() == {"stake", *CLAUSES} - {"name"}
    assert {"name", "pass_cycle"}.isdisjoint(HAND_CLAUSES)
    assert set(HAND_CLAUSES) < RULES_BLOCKS.keys()


@settings(max_examples=40)
@given(first=seeds, second=seeds)
def test_vector__blocks_are_equal_just_where_clauses_are(first, second):
    rules, other = at_random(first), at_random(second)
    one, two = blocks(rules), blocks(other)
    for name in RULES_BLOCKS.keys() - {"penalties", "stake"}:
        assert (one[name] == two[name]) == (getattr(rules, name) == getattr(other, name)), name
    prices = [(each["penalties"], each["stake"]) for each in (one, two)]
    assert (prices[0] == prices[1]) == (rules.penalties == other.penalties)


@settings(max_examples=30)
@given(seed=seeds, other=seeds, clause=st.sampled_from([*CLAUSES]), alike=st.booleans())
def test_vector__rules_with_equal_ones_play_alike(seed, other, clause, alike):
    rules = at_random(seed)
    given = rules if alike else at_random(other)
    try:
        changed = rules.replace(**{"name": "changed", clause: getattr(given, clause)})
    except ValueError:
        assume(False)
    if np.array_equal(rules_vector(rules), rules_vector(changed)):
        assert played(rules, seed) == played(changed, seed)
    else:
        assert not alike
        assert getattr(rules, clause) != getattr(changed, clause)


@settings(max_examples=30)
@given(number=st.integers(1, MAX_MATCH_POINTS - 1))
def test_vector__numbers_next_to_each_other_differ(number):
    near = [Rules(match_points=each) for each in (number, number + 1)]
    hands = number % (MAX_HANDS // 3 - 1) + 1
    long = [Rules(match_points=None, hands=3 * each) for each in (hands, hands + 1)]
    for one, other in (near, long):
        assert not np.array_equal(rules_vector(one), rules_vector(other))


def test_vector__prices_that_differ_by_a_point_of_thousands_differ():
    dear = (998,) * 10 + (0,) * 42
    for less in ((997, *dear[1:]), (*dear[:10], 1, *dear[11:]), (*dear[:9], -998, *dear[10:])):
        one, other = (rules_vector(Rules(penalties=each)) for each in (dear, less))
        assert not np.array_equal(one, other)


@settings(max_examples=30)
@given(seed=seeds)
def test_vector__form_and_bounds(seed):
    vector = rules_vector(at_random(seed))
    assert (vector.shape, vector.dtype) == ((RULES_SIZE,), np.float32)
    assert np.abs(vector).max() <= RULES_BOUND
    mostly = np.abs(vector) <= 2
    assert mostly.mean() > 0.9


def test_vector__blocks_follow_each_other():
    declared = list(RULES_BLOCKS.values())
    assert declared[0].start == 0
    assert all(before.stop == after.start for before, after in pairwise(declared))
    assert declared[-1].stop == RULES_SIZE


def test_vector__prices_are_parts_of_the_stake():
    hearts = slice(RULES_BLOCKS["penalties"].start + 26, RULES_BLOCKS["penalties"].start + 39)
    assert rules_vector("three_player")[hearts] == pytest.approx(np.full(13, 10 / 43))
    doubled = Rules(penalties=tuple(2 * point for point in Rules().penalties))
    assert blocks(doubled)["penalties"] == blocks("three_player")["penalties"]
    for rules, stake in (("three_player", 43), (doubled, 86)):
        assert blocks(rules)["stake"] == pytest.approx([log2(1 + stake) / 4, stake / 1024])


def test_vector__of_a_name_rules_or_clauses():
    for rules in ("omnibus", {"pass_count": 1}, Rules(seats=4, removed=())):
        assert rules_vector(rules).shape == (RULES_SIZE,)
    with pytest.raises(ValueError, match="no profile 'bridge'"):
        rules_vector("bridge")
