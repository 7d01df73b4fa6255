"""Self-play and the update: rollouts, advantages, ratios, forced moves, learning."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from black_maria import Rules, Tables, layout_of
from black_maria_agents.features import features_of, hidden_size
from black_maria_agents.network import OracleCritic, Policy, PolicyAgent, sample
from black_maria_agents.training import PPO, PPOConfig, SelfPlay
from black_maria_agents.training.batch import advantages
from black_maria_agents.training.precision import choose_precision

RULES = Rules.profile("three_player")
LAYOUT = layout_of(RULES)
FEATURES = features_of(LAYOUT)


def seen(rollout, name):
    """A block of what the acting seats saw, (T, N, …), from the networks' features."""
    places = {int(entry): k for k, entry in enumerate(FEATURES.index) if entry >= 0}
    block = LAYOUT.blocks[name]
    columns = [places[entry] for entry in range(block.start, block.stop)]
    return rollout.features[..., columns]


@pytest.fixture
def ppo():
    torch.manual_seed(0)
    return PPO(Policy(LAYOUT, 32), OracleCritic(LAYOUT, 32), PPOConfig(minibatch=500))


@pytest.fixture
def rollout(ppo):
    return SelfPlay(RULES, tables=16, hands=2, seed=3).collect(ppo.policy)


def naive_advantages(rewards, seat, choice, done, values, lam):
    """Walk forward from every choice of every seat, hand by hand, with plain lists."""
    steps, tables, seats = rewards.shape
    result = np.zeros((steps, tables))
    for table in range(tables):
        ends = np.flatnonzero(done[:, table])
        for first, last in zip([0, *(ends[:-1] + 1)], ends, strict=True):
            for player in range(seats):
                mine = [
                    t
                    for t in range(first, last + 1)
                    if seat[t, table] == player and choice[t, table]
                ]
                deltas = []
                for k, t in enumerate(mine):
                    until = mine[k + 1] if k + 1 < len(mine) else last + 1
                    gained = sum(rewards[u, table, player] for u in range(t, until))
                    after = values[mine[k + 1], table] if k + 1 < len(mine) else 0.0
                    deltas.append(gained + after - values[t, table])
                for k, t in enumerate(mine):
                    result[t, table] = sum(lam**j * d for j, d in enumerate(deltas[k:]))
    return result


def test_advantages__equal_a_naive_loop(rollout):
    values = np.random.default_rng(0).normal(size=rollout.seat.shape).astype(np.float32)
    for lam in (0.0, 0.9, 1.0):
        found = np.empty_like(values)
        arguments = (rollout.rewards, rollout.seat, rollout.choice, rollout.done, values)
        advantages(*arguments, np.float32(lam), found)
        assert found == pytest.approx(naive_advantages(*arguments, lam), abs=1e-3)


def test_advantages__with_lambda_one_a_choice_earns_all_that_falls_until_the_hands_end(rollout):
    values = np.zeros(rollout.seat.shape, np.float32)
    found = np.empty_like(values)
    choice = rollout.choice
    advantages(rollout.rewards, rollout.seat, choice, rollout.done, values, np.float32(1), found)
    first = np.arange(16)
    movers = rollout.seat[0]
    hand = slice(0, RULES.plies())
    assert found[0] == pytest.approx(rollout.rewards[hand].sum(axis=0)[first, movers])


def test_rollout__whole_hands_that_cost_43_each(rollout):
    assert rollout.done.sum() == 2 * 16
    assert rollout.done[RULES.plies() - 1].all()
    assert rollout.done[-1].all()
    assert rollout.rewards.sum() == -43 * 2 * 16


def test_rollout__hidden_cards_are_the_others_holdings_and_passes(rollout):
    held, passed, played = (seen(rollout, name).sum(-1) for name in ("holding", "passed", "played"))
    by_suit = rollout.hidden.unflatten(-1, (4, 2, 2, 13))  # suit, seat, held or passed, rank
    others = by_suit.sum((-4, -1))
    start = slice(0, 1)
    assert (held[start] == 17).all()
    assert (others[start] == torch.tensor([[17, 0], [17, 0]])).all()
    last_pass = 8  # the last seat's third pick: both others have committed
    assert (passed[last_pass] == 2).all()
    assert (others[last_pass] == torch.tensor([[14, 3], [14, 3]])).all()
    # own and hidden cards are the cards not played yet
    hand_cards = held + others[..., 0].sum(-1)
    assert (hand_cards[9:60] + played[9:60] == 51).all()


def test_rollout__actions_are_legal_and_their_log_probs_the_policys(rollout, ppo):
    chosen = rollout.mask.gather(-1, rollout.action[..., None])
    assert (chosen == 1).all()
    log_probs = ppo.policy(rollout.features.flatten(0, 1), rollout.mask.flatten(0, 1))
    again = log_probs.gather(-1, rollout.action.view(-1, 1)).view(rollout.action.shape)
    assert torch.allclose(again, rollout.log_prob, atol=1e-5)
    forced = ~torch.from_numpy(rollout.choice)
    assert (rollout.log_prob[forced] == 0).all()


def test_rollout__is_a_function_of_the_seed_and_the_policy(ppo):
    first = SelfPlay(RULES, tables=8, hands=1, seed=5).collect(ppo.policy)
    wide = SelfPlay(RULES, tables=16, hands=1, seed=5).collect(ppo.policy)
    other = SelfPlay(RULES, tables=8, hands=1, seed=6).collect(ppo.policy)
    assert torch.equal(first.action, wide.action[:, :8]), "depends on the number of tables"
    assert not torch.equal(first.action, other.action)


def test_losses__ratio_is_one_before_any_step(ppo, rollout):
    _, figures = ppo.losses(ppo.batch(rollout), 0.0)
    assert figures["ratio_error"] < 1e-5
    assert figures["clipfrac"] == 0
    assert abs(figures["approx_kl"]) < 1e-6


def test_losses__forced_moves_give_no_gradient(ppo, rollout):
    batch = ppo.batch(rollout)
    assert len(batch.action) == rollout.choice.sum() < rollout.action.numel()
    assert (batch.mask.sum(-1) > 1).all()
    # and would give the policy none if they were there: a single legal card is certain
    forced = torch.from_numpy(~rollout.choice).view(-1)
    rows = batch.rows(torch.zeros(int(forced.sum()), dtype=torch.int64))
    rows = type(batch)(
        **vars(rows)
        | {
            "features": rollout.features.flatten(0, 1)[forced],
            "mask": rollout.mask.flatten(0, 1)[forced],
            "action": rollout.action.view(-1)[forced],
            "log_prob": rollout.log_prob.view(-1)[forced],
        }
    )
    loss, _ = ppo.losses(rows, 0.0)
    loss.backward()
    assert all((p.grad == 0).all() for p in ppo.policy.parameters())


def test_losses__a_better_card_becomes_likelier(ppo, rollout):
    batch = ppo.batch(rollout)
    before = ppo.policy(batch.features, batch.mask)
    before = before.gather(-1, batch.action[:, None]).squeeze(-1).detach()
    ppo.update(rollout, 0.0)
    after = ppo.policy(batch.features, batch.mask)
    change = after.gather(-1, batch.action[:, None]).squeeze(-1).detach() - before
    assert change[batch.advantage > 1].mean() > 0 > change[batch.advantage < -1].mean()


def test_losses__entropy_and_teachers_weigh_less_and_less(ppo, rollout):
    plain = PPO(ppo.policy, ppo.critic, ppo.config)
    other = Policy(LAYOUT, 16)
    torch.nn.init.normal_(other.cards.weight, std=20)  # decided, where a fresh network is not
    taught = PPO(ppo.policy, ppo.critic, ppo.config, teachers=[other, ppo.policy])
    batch = taught.batch(rollout)
    with torch.no_grad():
        policies = [network(batch.features, batch.mask).exp() for network in taught.teachers]
        assert torch.allclose(batch.teacher, (policies[0] + policies[1]) / 2, atol=1e-6)
        kl = (batch.teacher * (batch.teacher / policies[1]).log().nan_to_num()).sum(-1).mean()
        for progress, weight, entropy in (
            (0.0, 1.0, 0.02),
            (0.25, 0.75, 0.0155),
            (1.0, 0.0, 0.002),
        ):
            without, figures = plain.losses(batch, progress)
            loss, taughts = taught.losses(batch, progress)
            torch.testing.assert_close(taughts["teacher_kl"], kl)
            torch.testing.assert_close(loss - without, weight * kl)
            assert "teacher_kl" not in figures
            terms = figures["policy_loss"] + figures["value_loss"] - entropy * figures["entropy"]
            torch.testing.assert_close(without, terms)


def test_teachers__may_read_fewer_blocks_in_another_order_but_no_others():
    rules = Rules.profile("american_hearts")
    layout = layout_of(rules)
    fewer = [name for name in features_of(layout).blocks if name != "captured"][::-1]
    policy, teacher = Policy(layout, 16), Policy(layout, 16, fewer)
    torch.nn.init.normal_(teacher.cards.weight, std=20)
    critic = OracleCritic(layout, 16)
    games = SelfPlay(rules, tables=4, hands=1, seed=3)
    batch = PPO(policy, critic, PPOConfig(), teachers=[teacher]).batch(games.collect(policy))
    own = SelfPlay(rules, features=teacher.features, tables=4, hands=1, seed=3).collect(
        Policy(layout, 16, fewer)
    )
    start = torch.from_numpy(own.choice[0])  # before anyone has chosen both see the same
    with torch.no_grad():
        expected = teacher(own.features[0][start], own.mask[0][start]).exp()
    assert torch.allclose(batch.teacher[: len(expected)], expected, atol=1e-6)
    with pytest.raises(ValueError, match="can't learn from a teacher: it doesn't read captured"):
        PPO(teacher, critic, PPOConfig(), teachers=[policy])


def test_update__the_policy_comes_nearer_to_its_teachers():
    torch.manual_seed(0)
    teacher = Policy(LAYOUT, 16)
    torch.nn.init.normal_(teacher.cards.weight, std=20)
    ppo = PPO(
        Policy(LAYOUT, 32), OracleCritic(LAYOUT, 32), PPOConfig(minibatch=500), teachers=[teacher]
    )
    games = SelfPlay(RULES, tables=32, hands=1, seed=1)
    before = [p.clone() for p in teacher.parameters()]
    kl = [ppo.update(games.collect(ppo.policy), 0.0)["teacher_kl"] for _ in range(12)]
    assert kl[-1] < 0.7 * kl[0]
    assert all(map(torch.equal, before, teacher.parameters()))


def test_update__the_policy_stays_as_it_is_while_the_critic_learns_alone():
    """Whatever else there is to learn from: a teacher, branches, entropy."""
    torch.manual_seed(0)
    teacher = Policy(LAYOUT, 16)
    torch.nn.init.normal_(teacher.cards.weight, std=20)
    config = PPOConfig(minibatch=500, teacher_start=1.0, entropy_start=0.1)
    ppo = PPO(Policy(LAYOUT, 32), OracleCritic(LAYOUT, 32), config, teachers=[teacher])
    rollout = SelfPlay(RULES, tables=32, hands=1, seed=1).collect(ppo.policy)
    costs = torch.randint(20, rollout.mask.shape, generator=torch.Generator().manual_seed(1))
    rollout = replace(rollout, costs=costs.float().masked_fill(rollout.mask == 0, torch.nan))
    before = [p.clone() for network in (ppo.policy, ppo.critic) for p in network.parameters()]
    ppo.critic_alone = True
    figures = ppo.update(rollout, 0.0)
    after = [*ppo.policy.parameters(), *ppo.critic.parameters()]
    still = [*map(torch.equal, before, after)]
    assert all(still[: len([*ppo.policy.parameters()])])
    assert not any(still[len([*ppo.policy.parameters()]) :])
    assert figures["teacher_kl"] > 0
    assert figures["branch_loss"] != 0
    ppo.critic_alone = False
    ppo.update(rollout, 0.0)
    assert not all(map(torch.equal, before, ppo.policy.parameters()))


def test_update__the_critic_learns_what_is_to_come():
    torch.manual_seed(0)
    config = PPOConfig(minibatch=500, gae_lambda=1.0)  # returns are all points to come
    ppo = PPO(Policy(LAYOUT, 32), OracleCritic(LAYOUT, 32), config)
    games = SelfPlay(RULES, tables=64, hands=1, seed=1)
    losses = [ppo.update(games.collect(ppo.policy), 0.0)["value_loss"] for _ in range(12)]
    assert losses[-1] < 0.7 * losses[0]


def test_update__same_seeds_same_weights():
    def train():
        torch.manual_seed(1)
        ppo = PPO(Policy(LAYOUT, 16), OracleCritic(LAYOUT, 16), PPOConfig(minibatch=300), seed=2)
        games = SelfPlay(RULES, tables=8, hands=1, seed=4)
        for k in range(3):
            ppo.update(games.collect(ppo.policy), k / 3)
        return torch.cat([p.detach().view(-1) for p in ppo.policy.parameters()])

    assert torch.equal(train(), train())


def test_policy__gives_illegal_cards_no_probability(rollout, ppo):
    mask = rollout.mask.flatten(0, 1)
    probabilities = ppo.policy(rollout.features.flatten(0, 1), mask).exp()
    assert (probabilities[mask == 0] == 0).all()
    assert torch.allclose(probabilities.sum(-1), torch.ones(()), atol=1e-5)


def test_policy__trained_on_hands_ignores_the_match(ppo):
    games = SelfPlay(RULES, tables=16, hands=1, seed=3)
    for _ in range(2):
        rollout = games.collect(ppo.policy)
        ppo.update(rollout, 0.0)
    obs, _ = games.tables.observe()
    late = obs["observation"].copy()
    late[:, LAYOUT["totals"]] = 99
    agent = PolicyAgent(ppo.policy, RULES)
    same = agent.log_probs(obs["observation"], obs["action_mask"])
    assert torch.equal(agent.log_probs(late, obs["action_mask"]), same)


def test_sample__follows_the_probabilities_and_the_keys():
    log_probs = torch.full((1, 52), -torch.inf)
    log_probs[0, [3, 7, 50]] = torch.tensor([0.2, 0.5, 0.3]).log()
    keys = np.random.default_rng(0).integers(0, 2**64, 20_000, np.uint64)
    cards = sample(log_probs.expand(len(keys), -1), keys).numpy()
    counts = np.bincount(cards, minlength=52) / len(keys)
    assert counts[[3, 7, 50]] == pytest.approx([0.2, 0.5, 0.3], abs=0.015)
    assert counts[[3, 7, 50]].sum() == 1
    backwards = sample(log_probs.expand(len(keys), -1), keys[::-1].copy()).numpy()
    assert (backwards[::-1] == cards).all()


def test_sample__the_largest_key_still_gives_a_legal_card():
    log_probs = torch.full((1, 52), -torch.inf)
    log_probs[0, [0, 20]] = torch.tensor([0.9, 0.1]).log()
    keys = np.array([2**64 - 1], np.uint64)
    assert sample(log_probs, keys).item() == 20
    assert sample(log_probs, np.zeros(1, np.uint64)).item() == 0


@pytest.mark.parametrize("greedy", [True, False])
def test_policy_agent__a_row_does_not_depend_on_its_neighbours(ppo, greedy):
    agent = PolicyAgent(ppo.policy, RULES, greedy=greedy)
    count = 600
    tables = Tables(count, seed=1)
    obs, keys = tables.observe()[0], tables.keys()
    together = agent.act(obs, keys)
    for rows in (slice(0, 1), slice(5, 80), slice(count - 3, count)):
        part = {name: array[rows] for name, array in obs.items()}
        assert (agent.act(part, keys[rows]) == together[rows]).all()
    assert obs["action_mask"][np.arange(count), together].all()


def test_policy_agent__refuses_what_does_not_fit(ppo):
    agent = PolicyAgent(ppo.policy, RULES)
    obs = {
        "observation": np.zeros((2, LAYOUT.size), np.int8),
        "action_mask": np.ones((2, 52), np.int8),
    }
    with pytest.raises(ValueError, match=r"keys must be uint64 \(2,\)"):
        agent.act(obs, np.zeros(2, np.int64))
    with pytest.raises(ValueError, match="observation must be int8"):
        agent.act(obs | {"observation": np.zeros((2, 5), np.int8)}, np.zeros(2, np.uint64))


def test_critic__sees_the_hidden_cards():
    assert hidden_size(LAYOUT) == 2 * 104
    critic = OracleCritic(LAYOUT, 16)
    features = torch.zeros(1, len(FEATURES), dtype=torch.int8)
    hidden = torch.zeros(1, hidden_size(LAYOUT), dtype=torch.int8)
    assert critic(features, hidden) != critic(features, hidden + 1)


@pytest.mark.parametrize(("units", "name"), [(False, "float32"), (True, "bfloat16")])
def test_precision__hangs_on_the_machine_alone(monkeypatch, units, name):
    """On how fast it is now two runs of one seed would differ."""
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: units)
    assert choose_precision("auto", torch.device("cpu")) == name
    monkeypatch.delattr(torch.cpu, "_is_amx_tile_supported")  # it isn't a public function
    assert choose_precision("auto", torch.device("cpu")) == "float32"


def test_precision__is_what_was_asked_for():
    cpu = torch.device("cpu")
    assert choose_precision("float32", cpu) == "float32"
    assert choose_precision("bfloat16", cpu) == "bfloat16"
    with pytest.raises(ValueError, match="precision='float8'"):
        choose_precision("float8", cpu)


@pytest.mark.parametrize("profile", [("three_player", 3), ("american_hearts", 4), ("omnibus", 5)])
def test_features__are_the_observation_suit_by_suit(profile):
    layout = layout_of(Rules.profile(*profile))
    features = features_of(layout)
    rest = sum(where.stop - where.start for where in features.rest.values())
    assert len(features) == 4 * features.per_suit + rest
    left_out = set(range(layout.size)) - set(features.index.tolist())
    captured = layout.blocks["captured"]
    moonless = layout.rules.moon == "none"
    assert left_out == (set(range(captured.start, captured.stop)) if moonless else set())
    for suit in range(4):
        entries = features.index[suit * features.per_suit :][: features.per_suit]
        assert (entries[-4:] == np.where(np.arange(4) == suit, -1, -2)).all()
        held = layout["holding"].start + 13 * suit + np.arange(13)
        assert (entries[:13] == held).all()
    observation = np.arange(layout.size, dtype=np.int64).astype(np.int8)[None]
    row = features.of(observation)[0]
    assert (row[features.index >= 0] == observation[0, features.index[features.index >= 0]]).all()
    assert (row[features.index == -1] == 1).all()
    assert (row[features.index == -2] == 0).all()


def test_features__stand_as_their_blocks_are_named_not_as_the_layout_has_them():
    names = ["totals", "trick", "voids", "holding", "phase"]
    features = features_of(LAYOUT, names)
    assert features.blocks == {name: LAYOUT.blocks[name].shape for name in names}
    assert features_of(LAYOUT, iter(names)) is features
    blocks = LAYOUT.split(np.arange(LAYOUT.size, dtype=np.int64))
    trick, voids = blocks["trick"].reshape(3, 4, 13), blocks["voids"]
    for suit in range(4):
        entries = features.index[suit * features.per_suit :][: features.per_suit].tolist()
        cards = [*trick[:, suit].reshape(-1), *voids[:, suit], *blocks["holding"][13 * suit :][:13]]
        assert entries[:-4] == [*cards, *blocks["totals"], *blocks["phase"]]
    assert features.index[-5:].tolist() == [*blocks["totals"], *blocks["phase"]]
    assert (FEATURES.index[features.within(FEATURES)] == features.index).all()
