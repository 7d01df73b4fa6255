"""House rules: drawn ones, and those that are held out."""

import json
from dataclasses import asdict
from random import Random

import numpy as np
import pytest

from black_maria import PROFILES, Rules, Tables, penalty_points, rulesets
from black_maria.rules import as_rules
from black_maria.rulesets import HELD_OUT, MOST_PASSED, SEATS, as_played, draw
from helpers import play, random_legal
from test_rules_played import clauses_at_random
from test_rules_vector import CHANGES

PAGE = Rules()
LENGTH = ("hands", "match_points", "exceed", "playoff")
"""What only a match can feel."""
SEVERAL = [draw((5, number)) for number in range(1000)]


# --- held out -----------------------------------------------------------------------------------


def test_held_out__thirty_with_names_and_reasons():
    assert len(HELD_OUT) == 30
    assert [each.rules.name for each in HELD_OUT.values()] == list(HELD_OUT)
    assert len({each.reason for each in HELD_OUT.values()} - {""}) >= 28
    assert not set(HELD_OUT) & set(PROFILES)


def test_held_out__no_two_play_alike():
    assert len({as_played(each.rules) for each in HELD_OUT.values()}) == 30
    assert {each.rules.seats for each in HELD_OUT.values()} == set(SEATS)


@pytest.mark.parametrize("name", HELD_OUT)
def test_held_out__can_be_played(name):
    rules = HELD_OUT[name].rules
    rewards = play(Tables(4, rules), rules.plies())
    if rules.moon == "none":
        assert (rewards.sum(axis=(0, 2)) == -rules.hand_points).all()
    assert as_rules(json.loads(json.dumps(asdict(rules)))) == rules


def test_held_out__never_drawn(monkeypatch):
    held_out = {as_played(each.rules) for each in HELD_OUT.values()}
    drawn = [draw((seed, 1), seats) for seats in SEATS for seed in range(200)]
    assert not held_out & {as_played(rules) for rules in SEVERAL + drawn}
    monkeypatch.setattr(rulesets, "_HELD_OUT", frozenset())
    unsifted = {as_played(draw((seed, 1), seats)) for seats in SEATS for seed in range(200)}
    assert len(held_out & unsifted) > 2, "they would be drawn"


@pytest.mark.parametrize(
    "rules",
    [
        HELD_OUT["pass left"].rules.replace(name="house", match_points=50),
        HELD_OUT["pass left"].rules.replace(pass_cycle=("left", "left")),
        HELD_OUT["no pass"].rules.replace(pass_cycle=("left", "right")),
        PAGE.replace(pass_cycle=("none",)),  # no pass, too
        HELD_OUT["only spades"].rules.replace(
            penalties=penalty_points(hearts=0, QS=26, KS=20, AS=14)
        ),
        HELD_OUT["queen of clubs"].rules.replace(kept="2C"),
        Rules.profile("slippery_anne", 3),  # "queen alone"
    ],
)  # fmt: skip
def test_draw__gives_others_for_what_only_looks_different(monkeypatch, rules):
    found = [rules, PAGE.replace(name="another", pass_count=2)]
    for source in ("_drawn", "_profile"):
        monkeypatch.setattr(rulesets, source, lambda rng, seats: found.pop(0))
    assert draw(1, 3).name == "another"


# --- drawn --------------------------------------------------------------------------------------


def test_draw__is_a_function_of_the_seed():
    assert [draw((5, number)) for number in range(20)] == SEVERAL[:20]
    assert draw(7) == draw(np.uint64(7)) == draw([7])
    assert len({as_played(rules) for rules in SEVERAL}) > 120


def test_draw__covers_the_seats():
    counts = {seats: sum(rules.seats == seats for rules in SEVERAL) for seats in SEATS}
    assert all(count > 10 for count in counts.values())
    assert counts[3] > 80
    for seats in SEATS:
        assert {draw(seed, seats).seats for seed in range(10)} == {seats}


def test_draw__every_clause_varies():
    for clause in ("removed", "pass_count", "pass_cycle", "kept", "break_hearts", "opening_card",
                   "first_trick_ban", "penalties", "moon", "hands", "match_points"):  # fmt: skip
        assert len({getattr(rules, clause) for rules in SEVERAL}) > 1, clause
    assert any(min(rules.penalties) < 0 for rules in SEVERAL)
    assert {rules.packs for rules in SEVERAL} == {1}
    assert max(rules.pass_count for rules in SEVERAL) == MOST_PASSED


HOUSE = [
    rules.penalties
    for rules in SEVERAL
    if rules.name.startswith("house") and rules.penalties != PAGE.penalties
]
DEAR = [
    [card for card in range(52) if penalties[card] >= 5]
    for penalties in HOUSE
    if 3 not in penalties and not 0 < penalties.count(1) < 10  # else a suit's ranks cost, too
]


def suits_and_ranks(cards):
    return {card // 13 for card in cards}, {card % 13 for card in cards}


def test_draw__dear_cards_are_one_to_three_from_the_eight_up_in_every_suit():
    assert {len(cards) for cards in DEAR} == {1, 2, 3}
    suits, ranks = suits_and_ranks([card for cards in DEAR for card in cards])
    assert suits == {0, 1, 2, 3}
    assert ranks == set(range(6, 13))


def test_draw__dear_cards_are_most_often_of_one_suit_from_the_queen_up():
    several = [suits_and_ranks(cards) for cards in DEAR if len(cards) > 1]
    court = [len(s) == 1 and r == set(range(10, 10 + len(r))) for s, r in several]
    assert 0.4 < np.mean(court) < 0.6


@pytest.mark.parametrize("number", [2, 3])
def test_draw__dear_cards_may_be_of_one_rank_of_other_ranks_of_a_suit_or_any(number):
    several = [suits_and_ranks(cards) for cards in DEAR if len(cards) == number]
    one_rank = [ranks for suits, ranks in several if len(ranks) == 1]
    assert all(len(suits) == number for suits, ranks in several if len(ranks) == 1)
    assert len(set.union(*one_rank)) > 3
    one_suit = [ranks for suits, ranks in several if len(suits) == 1]
    assert len(set.union(*one_suit)) == 7
    apart = [ranks for suits, ranks in several if len(suits) > 1 and len(ranks) == number]
    assert len(apart) > 5
    assert len(set.union(*apart)) == 7


@pytest.mark.parametrize("seats", SEATS)
def test_draw__a_pack_may_be_of_half_the_tricks_and_loses_its_lowest_cards(seats):
    drawn = [draw((number, 2), seats) for number in range(500)]
    assert {rules.hand_size for rules in drawn} == set(range(52 // seats // 2, 52 // seats + 1))
    for rules in drawn:
        if rules.hand_size < 52 // seats:
            low = sorted(range(52), key=lambda card: (card % 13, card))
            assert set(rules.removed) == set(low[: len(rules.removed)])
            assert len(rules.deck) == seats * rules.hand_size


def test_draw__rules_are_played_to_the_end():
    for rules in SEVERAL[:30]:
        tables = Tables(1, rules, episode="hand")
        rewards = play(tables, rules.plies())
        if rules.moon == "none":
            assert rewards.sum() == -rules.hand_points


@pytest.mark.parametrize("seats", [2, 7, 0, "3", 3.0, True, [3]])
def test_draw__other_seats_are_refused(seats):
    with pytest.raises(ValueError, match="rules are drawn for 3, 4, 5, 6"):
        draw(0, seats)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "1", None, True, (1, -1)])
def test_draw__impossible_seeds_are_refused(seed):
    with pytest.raises(ValueError, match="seed"):
        draw(seed)


# --- alike --------------------------------------------------------------------------------------


def hand(rules, seed):
    """Movers, legal cards and rewards of a hand of any cards."""
    tables = Tables(1, rules, seed=seed, deal_on=False)
    generator, told = np.random.default_rng(seed), []
    for _ in range(rules.plies()):
        obs, seat = tables.observe()
        told.append((int(seat[0]), obs["action_mask"].tobytes()))
        gained, _ = tables.step(random_legal(obs["action_mask"], generator))
        told.append(gained.tolist())
    return told


def test_as_played__equal_ones_are_alike_on_the_table():
    for seed in range(20):
        rules = Rules(**clauses_at_random(Random(seed))).replace(pass_count=0, kept=())
        ban = {*rules.first_trick_ban, *rules.removed[:1]}
        other = rules.replace(pass_cycle=("left",), exceed=not rules.exceed, first_trick_ban=ban)
        assert as_played(rules) == as_played(other)
        assert hand(rules, seed) == hand(other, seed)


@pytest.mark.parametrize("clause", [each for each in CHANGES if each not in LENGTH])
def test_as_played__every_clause_that_a_hand_can_feel_tells_them_apart(clause):
    rules, other = CHANGES[clause]
    other = rules.replace(**other) if isinstance(other, dict) else other
    assert as_played(rules) != as_played(other)


@pytest.mark.parametrize("clause", LENGTH)
def test_as_played__how_long_a_match_is_does_not(clause):
    rules, other = CHANGES[clause]
    assert as_played(rules) == as_played(rules.replace(**other))


@pytest.mark.parametrize(
    "changes",
    [
        {"pass_cycle": ("left",)}, {"pass_cycle": ("right", "none")}, {"moon": "subtract"},
        {"penalties": penalty_points(hearts=1, QS=13, KS=10, AS=8)},
    ],
)  # fmt: skip
def test_as_played__small_differences_do(changes):
    assert as_played(PAGE) != as_played(PAGE.replace(**changes))
