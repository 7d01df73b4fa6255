"""Branches: the same hand played on once for each likely card, and what is learnt from them."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from black_maria import Rules, layout_of
from black_maria.engine import PLAYING
from black_maria_agents import load_agent
from black_maria_agents.network import Policy, PolicyAgent
from black_maria_agents.training import PPOConfig, TrainConfig, Training
from black_maria_agents.training import branches as module
from black_maria_agents.training.branches import branch_costs, with_branches
from black_maria_agents.training.match import MatchPlay, hand_outcomes
from black_maria_agents.training.ppo import _branch_loss
from black_maria_agents.training.selfplay import Seating, SelfPlay
from test_training import same, steps

SMALL = TrainConfig(
    decisions=10**6, tables=16, width=16, branches=0.5, precision="float32",
    ppo=PPOConfig(minibatch=200),
)  # fmt: skip


def played(rules=Rules(), sharpness=20.0, tables=24, games=None):  # noqa: B008 - rules don't change
    """Games, what they have just played, and the agent that played it."""
    torch.manual_seed(3)
    policy = Policy(layout_of(rules), 16)
    policy.from_suit.bias.data.fill_(1.0)  # no unit that is dead
    policy.cards.weight.data.mul_(sharpness)
    games = games or SelfPlay(rules, tables=tables, hands=1, seed=5)
    return games, games.collect(policy), PolicyAgent(policy, rules)


def looked_at(rollout, costs):
    """Steps and tables of the choices with costs."""
    return np.nonzero(costs.isfinite().any(-1).numpy())


@pytest.mark.parametrize("kind", ["three_player", "american_hearts", "match"])
def test_costs__the_card_that_was_played_costs_what_the_hand_did(kind, monkeypatch):
    """A policy so sure that its draws are its likeliest cards: a branch repeats the rollout."""
    monkeypatch.setattr(module, "OPEN", 1.0)
    rules, games = Rules.profile("three_player" if kind == "match" else kind), None
    if kind == "match":
        games = MatchPlay(rules, hand_outcomes(load_agent("duck"), rules, 60), tables=24, seed=5)
    games, rollout, agent = played(rules, sharpness=1e6, games=games)
    costs = branch_costs(rollout, games, agent, 1.0, np.random.default_rng(1))
    likeliest = agent.policy(rollout.features.flatten(0, 1), rollout.mask.flatten(0, 1)).argmax(-1)
    as_likely = (likeliest.view(rollout.action.shape) == rollout.action) | ~torch.from_numpy(
        rollout.choice
    )
    t, n = looked_at(rollout, costs)
    sure = as_likely.all(0).numpy()[n]  # at a few tables another card was drawn
    t, n = t[sure], n[sure]
    own = -np.take_along_axis(rollout.rewards.sum(0)[n], rollout.seat[t, n][:, None], axis=1)
    assert len(t) > 200
    assert own.std() > 3
    assert set(rollout.seat[t, n]) == set(range(rules.seats))
    taken = costs[t, n, rollout.action[t, n]].numpy()
    np.testing.assert_allclose(taken, own[:, 0], atol=1e-4)


def test_costs__late_open_choices_alone_and_likely_cards():
    games, rollout, agent = played(sharpness=3000.0)
    costs = branch_costs(rollout, games, agent, 1.0, np.random.default_rng(1))
    chances = agent.policy(rollout.features.flatten(0, 1), rollout.mask.flatten(0, 1)).exp()
    chances = chances.view(*rollout.mask.shape).detach()
    cards = costs.isfinite()
    assert (chances[cards] >= module.LEAST).all()
    assert cards.sum(-1).max() == module.MOST
    tables, first = games.before(), 0
    for first in range(60):
        if tables.states()["num_played"].min() >= 6:
            break
        tables.step(rollout.action[first].numpy())
    assert (tables.states()["phase"] == PLAYING).all()
    wanted = torch.from_numpy(rollout.choice) & (chances.max(-1).values <= module.OPEN)
    wanted[:first] = False
    assert torch.equal(cards.any(-1), wanted)
    assert 0 < wanted.sum() < rollout.choice[first:].sum()  # some it was too sure of


def test_costs__a_share_is_drawn_by_the_generator():
    games, rollout, agent = played()

    def of(share, seed):
        rng = np.random.default_rng(seed)
        return branch_costs(rollout, games, agent, share, rng)

    every, some, others = of(1.0, 1), of(0.3, 1), of(0.3, 2)
    assert torch.equal(some.nan_to_num(-99), of(0.3, 1).nan_to_num(-99))
    assert not torch.equal(some.isnan(), others.isnan())
    part = some.isfinite().any(-1).sum() / every.isfinite().any(-1).sum()
    assert 0.2 < part < 0.4
    assert torch.equal(some[some.isfinite()], every[some.isfinite()])
    assert of(0.0, 1).isnan().all()


def test_costs__a_scale_multiplies_them_and_the_rollout_is_otherwise_as_it_was():
    games, rollout, agent = played()
    one, ten = (
        with_branches(rollout, games, agent, 0.5, np.random.default_rng(1), scale=scale)
        for scale in (1.0, 10.0)
    )
    finite = one.costs.isfinite()
    torch.testing.assert_close(ten.costs[finite], 10 * one.costs[finite])
    assert one.action is rollout.action
    assert rollout.costs is None


def test_loss__by_hand():
    nan = torch.nan
    chances = torch.tensor([[0.5, 0.25, 0.25, 0.0], [0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1]])
    costs = torch.tensor([[4.0, 10.0, nan, nan], [nan] * 4, [0.0, 3.0, 6.0, nan]])
    log_probs = chances.log().requires_grad_()
    loss = _branch_loss(log_probs, costs)
    # of the cards played out: 2/3 · (4 − 7) + 1/3 · (10 − 7), and 7/9 · (−3) + 0 + 1/9 · 3
    assert loss.item() == pytest.approx((-1 - 2) / 3)
    loss.backward()
    assert log_probs.grad[0, 0] < 0 < log_probs.grad[0, 1]  # against it: the cheap card
    assert not log_probs.grad[1].any()
    assert log_probs.grad.isfinite().all()
    assert _branch_loss(log_probs, torch.full((3, 4), nan)).item() == 0


def test_loss__the_cheapest_card_is_learnt():
    """The critic knows nothing and the advantage is nothing: what moves the policy is a branch."""
    run = Training(replace(SMALL, ppo=PPOConfig(minibatch=200, learning_rate=0.02)))
    games, ppo = run.games, run.ppo
    rollout = games.collect(ppo.policy)
    costs = torch.full(rollout.mask.shape, torch.nan)
    legal = rollout.mask != 0
    costs[legal] = 5.0
    lowest = rollout.mask.argmax(-1, keepdim=True)
    costs.scatter_(-1, lowest, 1.0)
    batch = replace(
        ppo.batch(replace(rollout, costs=costs)), advantage=torch.zeros(int(rollout.choice.sum()))
    )
    cheap = batch.mask.argmax(-1, keepdim=True)
    before = ppo.policy(batch.features, batch.mask).exp().gather(-1, cheap).mean()
    for _ in range(30):
        ppo.step(batch, 0.0)
    after = ppo.policy(batch.features, batch.mask).exp().gather(-1, cheap).mean()
    assert after > before + 0.3


@pytest.mark.parametrize("others", [["duck"], ["duck", "heuristic"]], ids=" ".join)
def test_costs__the_others_play_on_as_they_would(others, monkeypatch):
    """Alone among players without chance, a policy that is sure repeats the rollout, as above."""
    monkeypatch.setattr(module, "OPEN", 1.0)
    rules, rows = Rules(), np.arange(24)
    places = np.zeros((24, 3), np.int64)
    places[:, -1] = len(others) - 1
    places = np.stack([np.roll(row, -n) for n, row in enumerate(places)])
    places[rows, rows % 3] = -1
    places[rows % 4 == 0] = -1
    seating = Seating(places, [load_agent(name) for name in others])
    _, _, agent = played(sharpness=1e6)
    games = SelfPlay(rules, tables=24, hands=1, seed=5)
    rollout = games.collect(agent.policy, seating)
    rng = np.random.default_rng(1)
    costs = branch_costs(rollout, games, agent, 1.0, rng, seating)
    likeliest = agent.policy(rollout.features.flatten(0, 1), rollout.mask.flatten(0, 1)).argmax(-1)
    drawn = (likeliest.view(rollout.action.shape) != rollout.action).numpy() & rollout.choice
    t, n = looked_at(rollout, costs)
    sure = ~drawn.any(0)[n]
    t, n = t[sure], n[sure]
    own = -rollout.rewards.sum(0)[n, rollout.seat[t, n]]
    assert set(n % 4) == {0, 1, 2, 3}
    assert (places[n, rollout.seat[t, n]] == -1).all()
    np.testing.assert_allclose(costs[t, n, rollout.action[t, n]].numpy(), own, atol=1e-4)
    alone = branch_costs(rollout, games, agent, 1.0, np.random.default_rng(1))
    assert not torch.equal(alone.nan_to_num(), costs.nan_to_num())  # it matters who they are


def test_training__who_needs_a_history_has_no_branches(monkeypatch):
    class Historian:
        name, identity, needs_history = "historian", "historian", True

        def act(self, obs, keys):
            return obs["action_mask"].argmax(axis=1)

    monkeypatch.setattr("black_maria_agents.training.run.load_agent", lambda *_: Historian())
    with pytest.raises(ValueError, match="historian needs a history"):
        Training(replace(SMALL, opponents=("duck",), opponent_share=0.5))


@pytest.mark.parametrize("change", [{}, {"rules": "mixed", "rule_sets": 4}], ids=["one", "mixed"])
def test_training__resumes_bit_for_bit(change, tmp_path):
    config = replace(SMALL, **change)
    straight = steps(Training(config), 2)
    steps(Training(config), 1).save(tmp_path / "half.pt")
    resumed = steps(Training.resume(tmp_path / "half.pt"), 1)
    assert resumed.figures == straight.figures
    assert straight.figures["branch_loss"] != 0
    straight.save(tmp_path / "straight.pt")
    resumed.save(tmp_path / "resumed.pt")
    loaded = [
        torch.load(tmp_path / name, weights_only=True)["policy"]
        for name in ("straight.pt", "resumed.pt")
    ]
    assert same(*loaded)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"branches": 1.5}, "branches=1.5"),
        ({"branches": -0.1}, "branches=-0.1"),
        ({"branches": float("nan")}, "branches"),
        ({"ppo": {"branch_weight": -1.0}}, "branch_weight"),
    ],
)
def test_settings__impossible_ones_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        TrainConfig(**change) if "ppo" not in change else PPOConfig(**change["ppo"])
