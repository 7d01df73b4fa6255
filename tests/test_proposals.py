"""Which sampled worlds are weighed: none twice, the likely ones, and at a fair weight."""

import dataclasses

import numpy as np
import pytest
import torch

from black_maria import Rules, Tables, layout_of
from black_maria_agents.checkpoint import CheckpointError
from black_maria_agents.guesser import Guess, Guesser, guess_for, load, save
from black_maria_agents.network import Policy, PolicyAgent
from black_maria_agents.search.beliefs import log_likelihood, tempered, weigh
from black_maria_agents.search.proposals import alike, chosen, opinion
from black_maria_agents.worlds.sampling import card_counts, sample_worlds
from helpers import play

RULES = Rules()


def untrained():
    torch.manual_seed(0)
    return PolicyAgent(Policy(layout_of(RULES), 16), RULES)


def seen(tricks, rows=4):
    tables = Tables(rows, seed=3, history=True)
    play(tables, 9 + 3 * tricks)
    obs, _ = tables.observe()
    return obs["observation"].copy(), obs["history"].copy(), tables.keys().copy()


@pytest.mark.parametrize("packs", [1, 2])
def test_alike__where_the_others_hold_the_same_cards(packs):
    rules = RULES if packs == 1 else Rules.profile("traditional", 5)
    tables = Tables(2, rules, seed=4, history=True)
    play(tables, rules.plies() - 5)
    obs, _ = tables.observe()
    games = sample_worlds(obs["observation"], 60, tables.keys(), rules, obs["history"]).games
    first = alike(games, rules.seats)
    holding = games["holding"][:, :, 1 : rules.seats]
    for row in range(2):
        for world in range(60):
            same = (holding[row] == holding[row, world]).all(axis=(1, 2))
            assert first[row, world] == same.argmax()
    assert len(np.unique(first)) < 60


def test_opinion__is_the_sum_over_all_cards_that_the_others_hold():
    observation, history, keys = seen(8, rows=1)
    games = sample_worlds(observation, 30, keys, RULES, history).games
    said = np.log(np.random.default_rng(1).random((1, 2, 52))).astype(np.float32)
    found = opinion(games, said, alike(games, 3))
    held = card_counts(games["holding"][:, :, 1:3])
    assert found == pytest.approx((held * said[:, None]).sum(axis=(2, 3)), rel=1e-5)


def test_chosen__all_of_few_worlds_each_once_at_its_own_weight():
    opinions = np.log([[0.5, 0.25, 0.5, 1.0]])
    found = chosen(opinions, np.array([[0, 1, 0, 3]]), 3, np.array([7], np.uint64))
    assert np.exp(found) == pytest.approx(np.array([[0.5, 0.25, 0, 1.0]]))


def test_chosen__of_many_worlds_so_many_and_on_average_at_their_weight():
    weights = np.array([8.0, 2.0, 1.0, 1.0, 0.5, 0.25])
    rows = 20_000
    opinions = np.broadcast_to(np.log(weights), (rows, 6))
    first = np.broadcast_to(np.arange(6), (rows, 6))
    keys = np.random.default_rng(1).integers(2**63, size=rows, dtype=np.uint64)
    found = np.exp(chosen(opinions, first, 3, keys))
    assert ((found > 0).sum(axis=1) == 3).all()
    assert found.mean(axis=0) == pytest.approx(weights, rel=0.1)
    assert (found[:, 0] > 0).mean() > 0.99, "the likeliest is nearly always among them"


def test_weigh__no_world_twice_and_copies_weigh_the_same(monkeypatch):
    policy, (observation, history, keys) = untrained(), seen(14)
    lots = []

    def counted(agent, games, prior=None):
        lots.append(np.isfinite(prior).sum(axis=1))
        return log_likelihood(agent, games, prior)

    monkeypatch.setattr("black_maria_agents.search.beliefs.log_likelihood", counted)
    games, found = weigh(policy, observation, history, keys, draws=200, most=50)
    first = alike(games, 3)
    different = [len(np.unique(row)) for row in first]
    assert lots[0].tolist() == different
    assert max(different) <= 20, "three cards each: twenty holdings"
    assert np.array_equal(found, np.take_along_axis(found, first, axis=1))
    _, few = weigh(policy, observation, history, keys, draws=200, most=2)
    assert (lots[1] == np.minimum(different, 2)).all()
    assert (np.isfinite(few).sum(axis=1) <= np.isfinite(found).sum(axis=1)).all()


def everything_as_likely(monkeypatch):
    monkeypatch.setattr(
        "black_maria_agents.search.beliefs.log_likelihood", lambda agent, games, prior: prior
    )


def test_weigh__a_holding_counts_as_often_as_it_was_drawn(monkeypatch):
    everything_as_likely(monkeypatch)
    observation, history, keys = seen(14)
    games, found = weigh(untrained(), observation, history, keys, draws=200, most=50)
    assert len(np.unique(alike(games, 3)[0])) < 50
    assert np.allclose(tempered(found), 1 / 200)


def test_weigh__a_guess_counts_to_three_quarters_and_picks_the_worlds(monkeypatch):
    everything_as_likely(monkeypatch)
    observation, history, keys = seen(6, rows=1)
    games = sample_worlds(observation, 1, keys, RULES, history).games
    card = int(card_counts(games["holding"][0, 0, 1]).argmax())
    said = np.full((1, 2, 52), np.log(0.5), np.float32)
    said[0, :, card] = np.log([0.9, 0.1])

    class Said:
        def log_probs(self, observation):
            return said

    lot = {"draws": 400, "most": 400}
    games, found = weigh(untrained(), observation, history, keys, guess=Said(), **lot)
    left = card_counts(games["holding"][:, :, 1])[..., card] == 1
    share = tempered(found)[left].sum()
    even = left.mean()
    assert 0 < even < 1
    odds = even / (1 - even) * 9**0.75
    assert share == pytest.approx(odds / (1 + odds), rel=1e-5)
    _, few = weigh(untrained(), observation, history, keys, guess=Said(), draws=400, most=40)
    assert left[np.isfinite(few)].mean() > even + 0.1


def test_guess__the_package_has_one_for_three_players_that_knows_something():
    guess = guess_for(Rules.profile("three_player"))
    assert guess is not None
    assert guess_for(Rules.profile("american_hearts")) is None
    assert guess_for(dataclasses.replace(RULES, removed=(0, 1, 2, 3))) is None
    observation, _, _ = seen(6, rows=30)
    log_probs = guess.log_probs(observation)
    assert np.allclose(np.exp(log_probs).sum(axis=1), 1, atol=1e-5)
    for row in range(0, 30, 7):
        assert np.array_equal(guess.log_probs(observation[row : row + 1])[0], log_probs[row])


def test_load__gives_what_was_saved_and_refuses_what_does_not_fit(tmp_path):
    torch.manual_seed(1)
    guesser, path = Guesser(layout_of(RULES), 16), tmp_path / "guesser.pt"
    save(path, guesser, RULES)
    observation, _, _ = seen(6)
    said = Guess(guesser).log_probs(observation)
    assert np.array_equal(load(path, RULES).log_probs(observation), said)
    with pytest.raises(CheckpointError, match="other rules"):
        load(path, Rules.profile("american_hearts"))
    with pytest.raises(CheckpointError, match="can't be read"):
        load(tmp_path / "nothing.pt", RULES)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(CheckpointError, match="can't be read"):
        load(path, RULES)
