"""Sampled worlds: each agrees with all that a seat knows, and all such are equally likely."""

from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
import pytest

from black_maria import engine
from black_maria.bots import make_bot
from black_maria.layout import layout_of
from black_maria.rules import PROFILES, Rules, penalty_points
from black_maria.tables import Tables
from black_maria_agents import kernels
from black_maria_agents.worlds import Worlds, sample_worlds
from helpers import Hand, cards_in, names, play, playing
from oracle import ID

EVERY = [(name, seats) for name, (choices, _) in PROFILES.items() for seats in choices]


def rotated(table, rules, seat: int) -> list:
    """A field of the true state by seat, as the observer counts."""
    return [table[(seat + k) % rules.seats] for k in range(rules.seats)]


def replayed(world, rules: Rules, history: np.ndarray, number: int) -> Hand:
    """The hand that the world says was dealt, passed and played, from its start."""
    seats, passing = rules.seats, world.phase == engine.PASSING
    played: list[list[str]] = [[] for _ in range(seats)]
    plays = [(int(seat), int(card)) for kind, seat, card in history if kind == 2]
    for seat, card in plays:
        played[seat] += names([card])
    given = [cards_in(world.given[s]) for s in range(seats)]
    dealt = []
    for seat in range(seats):
        cards = Counter(cards_in(world.holding[seat]) + played[seat])
        if not passing and world.pass_steps:
            came = given[(seat - world.pass_steps) % seats]
            assert not Counter(came) - cards, "cards that a seat was given are with it"
            cards -= Counter(came)
        dealt.append(sorted((cards + Counter(given[seat])).elements(), key=ID.get))
    totals = world.totals[:seats].tolist()
    hand = Hand(dealt, int(world.dealer), totals, rules=rules, number=number)
    for k in range(seats):
        seat = (world.dealer + 1 + k) % seats
        for card in given[seat]:
            assert hand.turn == seat
            hand.act(card)
    for seat, card in plays:
        assert hand.turn == seat
        hand.do(names([card])[0])
    return hand


def check(worlds: Worlds, tables: Tables, history: np.ndarray, told: bool) -> None:
    """Every world of one table's acting seat is a hand that looks to it just like this one."""
    rules, truth = tables.rules, tables.states()[0]
    obs, seat = tables.observe()
    observation, seat = obs["observation"][0], int(seat[0])
    states, views = worlds.states(), worlds.views()
    n = len(states)
    assert views.shape == (n, rules.seats, tables.layout.size)
    assert (views[:, 0] == observation).all()
    seen = Tables(n, rules)
    seen.load((states, views))
    assert (seen.observe()[0]["action_mask"] == obs["action_mask"][0]).all()
    assert (seen.observe()[0]["observation"] == observation).all()
    for state, view in zip(states, views, strict=True):
        hand = replayed(state, rules, history, int(truth.hand))
        assert np.array_equal(hand.views, view)
        for field in engine.STATE.names:
            ours, theirs = state[field], hand.state[field]
            free = {"seed", "table", "hand"}
            free |= set() if told else {"cards", "seats", "taken_from"}
            free |= set() if state.in_trick else {"best_card", "best_seat", "leader"}
            if field in ("cards", "seats"):
                ours, theirs = ours[: state.num_played], theirs[: state.num_played]
            if field in free:
                continue
            assert np.array_equal(ours, theirs), field


def sampled(tables: Tables, history: np.ndarray, n: int, key: int, told: bool) -> Worlds:
    obs, _ = tables.observe()
    told_history = history if told else None
    return sample_worlds(obs["observation"][0], n, key, tables.rules, told_history)


@pytest.mark.parametrize(("name", "seats"), EVERY)
def test_worlds__replayed_they_are_hands_that_look_the_same(name, seats):
    """In every phase of several hands, so in every pass direction too, by all kinds of play."""
    rules = Rules.profile(name, seats)
    tables = Tables(1, rules, seed=seats, history=True)
    bots = [make_bot(name, rules) for name in ("random", "duck", "heuristic")]
    generator = np.random.default_rng(seats)
    for ply in range(4 * rules.most_plies):
        obs, _ = tables.observe()
        if generator.random() < 0.5:
            told = rules.packs == 2 or ply % 2 == 0
            history = obs["history"][0].copy()
            check(sampled(tables, history, 2, ply, told), tables, history, told)
        tables.step(bots[ply % 3].act(obs, tables.keys()))
