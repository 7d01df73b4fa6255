"""A policy that looks ahead: legal, blind, reproducible, and stronger than the bare policy."""

import numpy as np
import pytest
import torch

from black_maria import Rules, Tables, layout_of
from black_maria_agents import load_agent
from black_maria_agents.base import wants_history
from black_maria_agents.measuring import play_deals
from black_maria_agents.network import Policy, PolicyAgent
from black_maria_agents.search import policy_search
from black_maria_agents.search.policy_search import PolicySearch, distinct, from_the_start
from black_maria_agents.worlds import sample_worlds
from helpers import play

RULES = Rules()


def untrained(rules=RULES, width=16):
    torch.manual_seed(0)
    return PolicyAgent(Policy(layout_of(rules), width), rules)


def observed(tables):
    obs, _ = tables.observe()
    return obs, tables.keys()


@pytest.mark.parametrize("plies", [0, 4, 9, 20, 40, 57])
@pytest.mark.parametrize("history", [True, False])
def test_act__is_legal_and_a_row_does_not_depend_on_its_neighbours(plies, history):
    search = PolicySearch(untrained(), RULES, worlds=4)
    tables = Tables(5, seed=3, history=history)
    play(tables, plies)
    obs, keys = observed(tables)
    actions = search.act(obs, keys)
    assert obs["action_mask"][np.arange(5), actions].all()
    for row in range(5):
        alone = {name: array[row : row + 1] for name, array in obs.items()}
        assert search.act(alone, keys[row : row + 1]) == actions[row]


def test_act__knows_nothing_of_the_unseen_cards():
    """In a world that only the others could tell from this one, it plays the same card."""
    search = PolicySearch(untrained(), RULES, worlds=4)
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


@pytest.mark.parametrize("plies", [0, 5, 9, 33, 58])
@pytest.mark.parametrize(
    "profile", [("three_player", 3), ("american_hearts", 4), ("traditional", 5)]
)
def test_from_the_start__the_same_cards_lead_back_to_the_world(profile, plies):
    """So the likelihood of a world is that of the cards that were passed and played in it."""
    rules = Rules.profile(*profile)
    tables = Tables(3, rules, seed=2, history=True)
    play(tables, plies)
    obs, _ = tables.observe()
    worlds = sample_worlds(obs["observation"], 2, 4, rules, obs["history"])
    games = worlds.states()
    replayed = from_the_start(games, rules)
    for i, game in enumerate(games):
        only = np.arange(6) == i
        for _ in range(game["num_passed"]):
            state = replayed.states()[i]
            left = game["given"][state["turn"], 0] & ~state["given"][state["turn"], 0]
            card = int(left & -left).bit_length() - 1
            replayed.step(np.full(6, card), only)
        for card in game["cards"][: game["num_played"]]:
            replayed.step(np.full(6, card), only)
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
    search = PolicySearch(policy, RULES, worlds=8)
    drawn = sample_worlds(obs["observation"], 50, 1, RULES, obs["history"])
    truth = sample_worlds(obs["observation"], 1, 1, RULES, obs["history"])
    states = tables.states()
    for i in range(20):
        turned = (np.arange(3) + seat[i]) % 3
        for name in ("holding", "given"):
            truth.games[name][i, 0, :3] = states[name][i, turned]
    better = (
        search._log_likelihood(truth) > np.median(search._log_likelihood(drawn), axis=1)[:, None]
    )
    assert better.mean() > 0.8


def test_distinct__games_that_go_on_alike_stand_once():
    tables = Tables(4, seed=2)
    play(tables, 20)
    games = tables.save()[[0, 1, 0, 1, 2, 0]]
    games["table"] = range(6)
    places, which = distinct(games, np.array([5, 5, 5, 9, 5, 9]))
    assert len(places) == 5
    assert which[0] == which[2]
    assert len(set(which.tolist())) == 5
    played = games["cards"][places][which]
    assert np.array_equal(played, games["cards"])


def test_search__worlds_drawn_twice_cost_what_they_would_cost_played_out_twice(monkeypatch):
    search, whole = PolicySearch(untrained(), RULES, worlds=16), PolicySearch._roll_out
    tables = Tables(4, seed=4, history=True)
    play(tables, 36)
    obs, keys = observed(tables)
    likely = obs["action_mask"] != 0
    rows = []

    def counted(self, states, first):
        rows.append(len(states))
        return whole(self, states, first)

    monkeypatch.setattr(PolicySearch, "_roll_out", counted)
    spared = search._costs(obs["observation"], likely, keys, obs["history"])
    each = np.arange(likely.sum() * 16)
    monkeypatch.setattr(policy_search, "distinct", lambda *_: (each, each))
    assert np.array_equal(spared, search._costs(obs["observation"], likely, keys, obs["history"]))
    assert rows[0] < rows[1] == len(each)


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
