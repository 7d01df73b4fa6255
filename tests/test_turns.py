"""Rollouts for a device, played on the CPU: rows packed and unpacked, halves that take turns."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from black_maria import PROFILES, Rules, Tables, layout_of, make_bot
from black_maria.rules_vector import HAND_CLAUSES
from black_maria_agents.features import features_of, hidden_size
from black_maria_agents.network import OracleCritic, Policy, draw, sample
from black_maria_agents.training import PPO, DivergenceError, PPOConfig, SelfPlay
from black_maria_agents.training.match import MatchPlay, hand_outcomes
from black_maria_agents.training.packing import Packing
from black_maria_agents.training.selfplay import Seating, hidden_cards
from black_maria_agents.training.turns import Half
from helpers import play

RULES = Rules.profile("three_player")
LAYOUT = layout_of(RULES)
CPU = torch.device("cpu")


def policy_of(width=16, clauses=()):
    torch.manual_seed(0)
    return Policy(LAYOUT, width, clauses=clauses)


def collect(policy, *, in_turns, rules=RULES, seating=None, hands=1, tables=9):
    games = SelfPlay(rules, tables=tables, hands=hands, seed=3, in_turns=in_turns)
    return games.collect(policy, seating)


def equal(one, other):
    """Whether two rollouts are the same, log-probabilities but for their last bits."""
    for name in ("features", "hidden", "mask", "action"):
        assert torch.equal(getattr(one, name), getattr(other, name)), name
    for name in ("choice", "seat", "rewards", "done"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert torch.allclose(one.log_prob, other.log_prob, atol=1e-5)


# --- packed rows --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "seats"), [(name, choices[-1]) for name, (choices, _) in PROFILES.items()]
)
def test_packing__gives_back_features_hidden_cards_mask_and_randomness(name, seats):
    rules = Rules.profile(name, seats)
    features = features_of(layout_of(rules))
    tables = Tables(24, rules, seed=5, episode="match")
    totals = np.random.default_rng(1).integers(-140, 30, (24, rules.seats))
    tables.start(totals=totals)
    packing = Packing(tables.layout, features, CPU)
    rows = np.zeros(len(tables), packing.row)
    hidden = np.empty((len(tables), hidden_size(tables.layout)), np.int8)
    most = 0
    for _ in range(4):
        play(tables, rules.plies() // 3)  # passing, the middle, the end, and the next hand
        obs, _ = tables.observe()
        packing.pack(tables.states(), obs["observation"], tables.keys(), rows)
        seen = packing.unpack(torch.from_numpy(rows.view(np.uint8).reshape(len(rows), -1)))
        assert np.array_equal(seen.features, features.of(obs["observation"]))
        hidden_cards(tables.states(), rules.seats, hidden)
        assert np.array_equal(seen.hidden, hidden)
        assert np.array_equal(seen.mask, obs["action_mask"])
        most = max(most, int(seen.hidden.max()))
        even = torch.zeros(len(rows), 52).log_softmax(-1)
        assert torch.equal(draw(even, seen.uniform), sample(even, tables.keys()))
    assert most == rules.packs, "twins were never seen"


def test_packing__a_row_is_a_sixth_of_what_it_stands_for():
    row = Packing(LAYOUT, features_of(LAYOUT), CPU).row
    assert row.itemsize == 136
    assert 6 * row.itemsize < len(features_of(LAYOUT)) + hidden_size(LAYOUT) + 52


@pytest.mark.parametrize("clauses", [(), HAND_CLAUSES], ids=["one profile", "reads the rules"])
def test_packing__what_is_asked_on_a_device_stays_there(clauses):
    """A tensor left on the CPU would be an error here, and a copy a ply on a GPU."""
    meta = torch.device("meta")
    policy = policy_of(clauses=clauses).under(RULES).to(meta)
    packing = Packing(LAYOUT, policy.features, meta)
    seen = packing.unpack(torch.empty(7, packing.row.itemsize, dtype=torch.uint8, device=meta))
    cards = draw(policy(seen.features, seen.mask), seen.uniform)
    assert cards.device == meta
    assert cards.shape == (7,)
    assert seen.hidden.shape == (7, hidden_size(LAYOUT))


def test_draw__is_a_legal_card_however_the_probabilities_are_added(monkeypatch):
    """On a GPU sums are rounded in another order: here each is off by its last bits."""
    cumsum, noise = torch.Tensor.cumsum, torch.Generator().manual_seed(0)

    def rounded(tensor, dim):
        off = 1 + 3e-7 * (torch.rand(tensor.shape, generator=noise) - 0.5)
        return cumsum(tensor, dim) * off

    log_probs = torch.full((4000, 52), -torch.inf)
    log_probs[:, [3, 20, 40]] = torch.tensor([0.25, 0.5, 0.25]).log()
    uniform = torch.tensor([0.25, 0.75, 1 - 2**-23, 0.0]).repeat(1000)  # where sums are equal
    monkeypatch.setattr(torch.Tensor, "cumsum", rounded)
    cards = draw(log_probs, uniform)
    assert set(cards.tolist()) == {3, 20, 40}
    assert set(cards[2::4].tolist()) == {40}
    assert set(cards[3::4].tolist()) == {3}


# --- halves in turn -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["three_player", "american_hearts", "cancellation"])
def test_in_turns__a_rollout_is_the_one_that_all_tables_play_together(name):
    rules = Rules.profile(name)
    torch.manual_seed(0)
    policy = Policy(layout_of(rules), 16)
    equal(*(collect(policy, in_turns=way, rules=rules, hands=2) for way in (True, False)))


def test_in_turns__other_agents_choose_their_own_cards():
    places = np.zeros((9, 3), np.int64)
    places[np.arange(9), np.arange(9) % 3] = -1
    places[4] = [1, -1, 0]
    seating = Seating(places, [make_bot("duck"), make_bot("random")])
    policy = policy_of()
    equal(*(collect(policy, in_turns=way, seating=seating) for way in (True, False)))


def test_in_turns__a_policy_that_reads_the_rules_and_a_single_table():
    policy = policy_of(clauses=HAND_CLAUSES).under(RULES)
    one, other = (
        SelfPlay(RULES, features=policy.features, tables=1, hands=1, seed=3, in_turns=way)
        for way in (True, False)
    )
    equal(one.collect(policy), other.collect(policy))


def test_in_turns__hands_of_a_match():
    policy, outcomes = policy_of(), hand_outcomes(make_bot("duck"), RULES, 8)
    plays = [MatchPlay(RULES, outcomes, tables=9, seed=3, in_turns=way) for way in (True, False)]
    for _ in range(2):
        equal(*(each.collect(policy) for each in plays))


def test_in_turns__is_learnt_from():
    ppo = PPO(policy_of(), OracleCritic(LAYOUT, 16), PPOConfig(minibatch=100))
    rollout = collect(ppo.policy, in_turns=True)
    _, figures = ppo.losses(ppo.batch(rollout), 0.0)
    assert figures["ratio_error"] < 1e-5
    ppo.update(rollout, 0.0)


def test_losses__are_computed_where_the_rows_are():
    """As for what is asked: nothing that is left on the CPU."""
    ppo = PPO(policy_of(), OracleCritic(LAYOUT, 16), PPOConfig(minibatch=100))
    batch = ppo.batch(collect(ppo.policy, in_turns=True))
    meta = {name: part.to("meta") for name, part in batch.tensors().items()}
    ppo.policy.to("meta")
    ppo.critic.to("meta")
    loss, figures = ppo.losses(replace(batch, **meta), 0.5)
    assert {each.device.type for each in (loss, *figures.values())} == {"meta"}


def test_in_turns__stops_at_what_is_not_finite():
    policy = policy_of()
    with torch.no_grad():
        policy.cards.bias[:] = float("nan")
    with pytest.raises(DivergenceError, match="aren't finite"):
        collect(policy, in_turns=True)


def test_in_turns__what_is_under_way_is_not_written_to(monkeypatch):
    """On a GPU a copy may still read the row when the host goes on."""
    ask, answer, away = Half.ask, Half.answer, {}

    def asked(half, policy):
        result = ask(half, policy)
        assert half not in away
        away[half] = half._sent.clone()
        return result

    def answered(half):
        assert torch.equal(half._sent, away.pop(half))
        return answer(half)

    monkeypatch.setattr(Half, "ask", asked)
    monkeypatch.setattr(Half, "answer", answered)
    collect(policy_of(), in_turns=True)
    assert not away
