"""A policy that looks ahead: legal, blind, reproducible, and stronger than the bare policy."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from black_maria import Rules, Tables, layout_of
from black_maria.engine import STATE
from black_maria_agents import load_agent
from black_maria_agents.base import wants_history
from black_maria_agents.guesser import guess_for
from black_maria_agents.measuring import play_deals
from black_maria_agents.network import Policy, PolicyAgent
from black_maria_agents.search import beliefs, policy_search
from black_maria_agents.search.beliefs import (
    at_the_first_lead,
    effective_number,
    log_likelihood,
    resampled,
    tempered,
    weights_of,
)
from black_maria_agents.search.policy_search import PolicySearch
from black_maria_agents.worlds import sample_worlds
from helpers import play, random_legal

RULES = Rules()


def untrained(rules=RULES, width=16):
    torch.manual_seed(0)
    return PolicyAgent(Policy(layout_of(rules), width), rules)


def observed(tables):
    obs, _ = tables.observe()
    return obs, tables.keys()


@pytest.mark.parametrize("plies", [0, 4, 9, 20, 40, 57])
@pytest.mark.parametrize(
    ("history", "guess"), [(True, None), (True, guess_for(RULES)), (False, None)]
)
def test_act__is_legal_and_a_row_does_not_depend_on_its_neighbours(plies, history, guess):
    search = PolicySearch(untrained(), RULES, worlds=4, guess=guess)
    tables = Tables(5, seed=3, history=history)
    play(tables, plies)
    obs, keys = observed(tables)
    actions = search.act(obs, keys)
    assert obs["action_mask"][np.arange(5), actions].all()
    for row in range(5):
        alone = {name: array[row : row + 1] for name, array in obs.items()}
        assert search.act(alone, keys[row : row + 1]) == actions[row]


@pytest.mark.parametrize("guess", [None, guess_for(RULES)], ids=["alone", "guided"])
def test_act__knows_nothing_of_the_unseen_cards(guess):
    """In a world that only the others could tell from this one, it plays the same card."""
    search = PolicySearch(untrained(), RULES, worlds=4, guess=guess)
    tables = Tables(6, seed=5, history=True)
    play(tables, 30)
    obs, keys = observed(tables)
    obs = {name: array.copy() for name, array in obs.items()}
    actions = search.act(obs, keys)
    worlds = sample_worlds(obs["observation"], 1, 9, RULES, obs["history"])
    assert not np.array_equal(worlds.states()["holding"], tables.states()["holding"])
    other = Tables(np.zeros(6, np.int64), history=True)
    other.load(worlds.states())
    again, _ = other.observe()
    assert np.array_equal(again["observation"], obs["observation"])
    assert np.array_equal(search.act(again, keys), actions)


@pytest.mark.parametrize("history", [True, False])
def test_act__passes_and_plays_the_first_tricks_as_the_policy_does(history):
    """Three of seventeen: play-outs have gained nothing there."""
    policy = untrained()
    search = PolicySearch(policy, RULES, worlds=2)
    tables = Tables(30, seed=6, history=history)
    for ply in range(20):
        obs, keys = observed(tables)
        cards = policy.act(obs, keys)
        same = np.array_equal(search.act(obs, keys), cards)
        assert same == (ply < 9 + 3 * 3), f"ply {ply}"
        tables.step(cards)


def test_late__never_in_the_pass_also_where_no_trick_is_early():
    rules = Rules(removed=range(37))  # five tricks
    search, tables = PolicySearch(untrained(rules), rules), Tables(4, rules, seed=1)
    for plies, late in ((0, False), (8, False), (1, True)):
        play(tables, plies)
        assert (search._late(tables.observe()[0]["observation"]) == late).all()


@pytest.mark.parametrize("plies", [0, 5, 9, 33, 58])
@pytest.mark.parametrize(
    "profile", [("three_player", 3), ("american_hearts", 4), ("traditional", 5)]
)
def test_at_the_first_lead__the_same_cards_lead_back_to_the_world(profile, plies):
    """So the likelihood of a world is that of the cards that were played in it."""
    rules = Rules.profile(*profile)
    tables = Tables(3, rules, seed=2, history=True)
    play(tables, plies)
    obs, _ = tables.observe()
    worlds = sample_worlds(obs["observation"], 2, 4, rules, obs["history"])
    games = worlds.states()
    replayed = at_the_first_lead(games, rules)
    assert np.array_equal(replayed.states()["num_passed"], games["num_passed"])
    for i, game in enumerate(games):
        for card in game["cards"][: game["num_played"]]:
            replayed.step(np.full(6, card), np.arange(6) == i)
    for name in ("holding", "given", "captured", "penalties", "num_played", "turn", "legal"):
        assert np.array_equal(replayed.states()[name], games[name]), name
    assert np.array_equal(replayed.views(), worlds.views())


def test_likelihood__a_world_in_which_the_policy_plays_like_this_weighs_more():
    """Two players play their likeliest cards: the true deal is likelier than most worlds."""
    policy = untrained(width=64)
    with torch.no_grad():
        policy.policy.cards.weight.mul_(300)  # a policy with firm opinions
    tables = Tables(20, seed=8, history=True)
    for _ in range(30):
        obs, _ = tables.observe()
        tables.step(policy.act(obs, tables.keys()))
    obs, seat = tables.observe()
    drawn = sample_worlds(obs["observation"], 50, 1, RULES, obs["history"])
    truth = sample_worlds(obs["observation"], 1, 1, RULES, obs["history"])
    states = tables.states()
    for i in range(20):
        turned = (np.arange(3) + seat[i]) % 3
        for name in ("holding", "given"):
            truth.games[name][i, 0, :3] = states[name][i, turned]
    usual = np.median(log_likelihood(policy, drawn.games), axis=1)
    assert (log_likelihood(policy, truth.games)[:, 0] > usual).mean() > 0.8


def test_likelihood__hopeless_worlds_are_given_up_and_the_others_are_what_they_were(monkeypatch):
    policy = untrained(width=64)
    with torch.no_grad():
        policy.policy.cards.weight.mul_(300)
    tables = Tables(10, seed=8, history=True)
    for _ in range(30):
        obs, _ = tables.observe()
        tables.step(policy.act(obs, tables.keys()))
    obs, _ = tables.observe()
    games = sample_worlds(obs["observation"], 30, 1, RULES, obs["history"]).games
    every = log_likelihood(policy, games)
    monkeypatch.setattr(beliefs, "HOPELESS", 2.0)
    found = log_likelihood(policy, games)
    given_up = np.isneginf(found)
    assert 0.1 < given_up.mean() < 0.9
    assert np.array_equal(found[~given_up], every[~given_up])
    assert (found >= found.max(axis=1, keepdims=True) - 2)[~given_up].all()


def test_likelihood__by_hand():
    """Of every card of the others that was one of several, and a tenth of it at random."""
    policy, generator = untrained(), np.random.default_rng(1)
    tables, rows = Tables(5, seed=8, history=True), np.arange(5)
    play(tables, 9)
    by_seat = np.zeros((5, 3))
    for _ in range(20):
        obs, seat = tables.observe()
        mask = obs["action_mask"]
        cards, choices = random_legal(mask, generator), mask.sum(axis=1)
        chance = np.exp(policy.log_probs(obs["observation"], mask).numpy())[rows, cards]
        by_seat[rows, seat] += np.where(choices > 1, np.log(0.9 * chance + 0.1 / choices), 0)
        tables.step(cards)
    obs, seat = tables.observe()
    truth = sample_worlds(obs["observation"], 1, 1, RULES, obs["history"]).games
    states = tables.states()
    for i in range(5):
        turned = (np.arange(3) + seat[i]) % 3
        for name in ("holding", "given"):
            truth[name][i, 0, :3] = states[name][i, turned]
    others = by_seat.sum(axis=1) - by_seat[rows, seat]
    assert log_likelihood(policy, truth)[:, 0] == pytest.approx(others, abs=1e-4)


def test_likelihood__in_a_play_off_worlds_are_equally_likely_whatever_stands_beside_it():
    tables = Tables(2, seed=8, history=True)
    play(tables, 30)
    obs, _ = tables.observe()
    games = sample_worlds(obs["observation"], 5, 1, RULES, obs["history"]).games
    before = log_likelihood(untrained(), games)
    games["playoff"][0] = 1
    found = log_likelihood(untrained(), games)
    assert (found[0] == 0).all()
    assert np.array_equal(found[1], before[1])
    assert np.ptp(before[1]) > 0


def likelihoods(rows=50, n=64, spread=6.0):
    return np.random.default_rng(3).normal(0, spread, (rows, n))


def test_tempered__leaves_as_many_worlds_effective_as_are_asked_for():
    flat = tempered(likelihoods())
    assert np.median(effective_number(flat)) < 3, "the likelihood alone trusts few worlds"
    for effective in (5, 20, 60):
        weights = tempered(likelihoods(), effective)
        assert np.allclose(weights.sum(axis=1), 1)
        few = effective_number(flat) < effective
        assert np.allclose(effective_number(weights)[few], effective, rtol=1e-3)


def test_tempered__keeps_the_likelihood_where_enough_worlds_are_effective():
    mild = likelihoods(spread=0.5)
    likely = np.exp(mild) / np.exp(mild).sum(axis=1, keepdims=True)
    assert np.allclose(tempered(mild, 10), likely)


def test_tempered__worlds_that_do_not_count_weigh_nothing_and_too_few_weigh_the_same():
    some = likelihoods(rows=4)
    some[:, 8:] = -np.inf
    weights = tempered(some, 5)
    assert (weights[:, 8:] == 0).all()
    assert np.allclose(effective_number(weights), 5, rtol=1e-3)
    assert np.allclose(tempered(some, 9)[:, :8], 1 / 8)


def test_weights_of__the_higher_the_power_the_fewer_worlds_are_effective():
    numbers = [
        effective_number(weights_of(likelihoods(), np.full(50, power)))
        for power in np.linspace(0, 1, 21)
    ]
    assert np.allclose(numbers[0], 64)
    assert (np.diff(numbers, axis=0) < 0).all()


def test_resampled__a_world_comes_up_by_its_weight_rounded_up_or_down():
    weights = tempered(likelihoods(), 12)
    keys = np.arange(50, dtype=np.uint64) * np.uint64(2**58)
    drawn = resampled(weights, 16, keys)
    times = (drawn[:, :, None] == np.arange(64)).sum(axis=1)
    assert (times.sum(axis=1) == 16).all()
    assert (abs(times - 16 * weights) < 1).all()


def test_resampled__the_grid_starts_where_the_rows_key_says():
    weights = np.array([[0.1, 0.5, 0.4]] * 3)  # they end at 0.1, 0.6 and 1
    keys = np.array([0, 2**62, 3 * 2**62], dtype=np.uint64)  # 0, a quarter, three quarters
    # points at (k + start) / 2
    assert resampled(weights, 2, keys).tolist() == [[0, 1], [1, 2], [1, 2]]


def late(firm=100):
    """A policy with opinions, tables late enough for a search, and what is seen there."""
    policy = untrained()
    with torch.no_grad():
        policy.policy.cards.weight.mul_(firm)
    tables = Tables(20, seed=6, history=True)
    play(tables, 9 + 12)
    obs, keys = observed(tables)
    return policy, obs, keys


@pytest.mark.parametrize("share", [0.99, 1.01])
def test_act__half_a_point_outweighs_a_factor_of_e_in_the_policys_opinion(share, monkeypatch):
    policy, obs, keys = late()
    prior = policy.log_probs(obs["observation"], obs["action_mask"]).numpy()
    best, next_best = np.argsort(-prior, axis=1)[:, :2].T
    gap = prior[np.arange(20), best] - prior[np.arange(20), next_best]
    several = (prior >= np.log(0.05)).sum(axis=1) > 1
    assert several.sum() > 5
    assert ((obs["action_mask"] == 1) & (prior < np.log(0.05))).any(), "unlikely ones, too"

    def costs(likely, games, worlds, some):
        rows = np.flatnonzero(np.isin(keys, some))
        assert np.array_equal(likely, prior[rows] >= np.log(0.05))
        found = np.full(likely.shape, 1000.0)
        found[np.arange(len(rows)), best[rows]] = 0.5 * gap[rows] * share
        found[np.arange(len(rows)), next_best[rows]] = 0
        return found

    search = PolicySearch(policy, RULES, worlds=1)
    monkeypatch.setattr(search, "_costs", costs)
    wanted = np.where(several & (share > 1), next_best, best)
    assert np.array_equal(search.act(obs, keys), wanted)


def test_costs__are_the_teams_mean_over_the_worlds_each_as_often_as_it_came_up(monkeypatch):
    def made_up(players, games, first, luck):
        card, hand = first[:, 0].astype(float), games["hand"]
        return SimpleNamespace(costs=np.stack([card + 100 * hand, card * 0, 3 * card], axis=1))

    monkeypatch.setattr(policy_search, "play_out", made_up)
    search = PolicySearch(untrained(), RULES, worlds=3, team=[0, 2])
    games = np.zeros((2, 3), STATE)
    games["hand"] = [[0, 1, 2], [5, 6, 7]]
    likely = np.zeros((2, 52), np.bool_)
    likely[0, [5, 9]], likely[1, 20] = True, True
    worlds = np.array([[0, 2, 2], [1, 1, 1]])
    found = search._costs(likely, games, worlds, np.arange(2, dtype=np.uint64))
    assert found[0, [5, 9]] == pytest.approx([(20 + 400 / 3) / 2, (36 + 400 / 3) / 2])
    assert found[1, 20] == pytest.approx((80 + 600) / 2)
    assert (found[~likely] == 0).all()


def test_search__improves_on_a_weak_policy():
    policy = untrained()
    points = play_deals(
        PolicySearch(policy, RULES, worlds=8), policy, range(12), seed=1, rules=RULES
    )
    assert points.mean() < 11, "par is 14.33"


def test_search__asks_for_the_history_and_refuses_no_worlds():
    assert wants_history(PolicySearch(untrained(), RULES))
    assert not wants_history(load_agent("duck"))
    with pytest.raises(ValueError, match="worlds=0"):
        PolicySearch(untrained(), RULES, worlds=0)
