"""PPO's sums against sums done by hand, and a small run that has to learn.

The networks here are tables of numbers, so that every loss, gradient and advantage can be worked
out on paper. ``test_ppo.py`` has the real ones.
"""

from math import log

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from black_maria import Rules, Tables
from black_maria.bots import make_bot
from black_maria.layout import layout_of
from black_maria_agents.distributed import Ranks
from black_maria_agents.measuring import play_deals
from black_maria_agents.network import OracleCritic, Policy, PolicyAgent, sample
from black_maria_agents.seeds import TEST_SEEDS
from black_maria_agents.training import PPO, PPOConfig, SelfPlay
from black_maria_agents.training.batch import Batch
from black_maria_agents.training.selfplay import Rollout, hidden_cards
from helpers import ids, random_legal

RULES = Rules.profile("three_player")
CARDS = ids("2C 3C 4C")
"""The legal cards of every decision here."""


class Chances(nn.Module):
    """A policy with the same chances for ``CARDS`` at every decision."""

    def __init__(self, *chances: float) -> None:
        """Take the chances as logits."""
        super().__init__()
        self.logits = nn.Parameter(torch.tensor(chances).log())

    def read(self, features: Tensor) -> Tensor:
        return features

    def forward(self, features: Tensor, mask: Tensor) -> Tensor:
        cards = torch.zeros(52).index_copy(0, torch.tensor(CARDS), self.logits)
        return cards.expand(len(mask), -1).masked_fill(mask == 0, -torch.inf).log_softmax(-1)


class Told(nn.Module):
    """A critic whose value of a decision is its first feature, and a number that it learns."""

    def __init__(self, bias: float = 0.0) -> None:
        """Take the number that is added."""
        super().__init__()
        self.bias = nn.Parameter(torch.tensor(bias))

    def forward(self, features: Tensor, hidden: Tensor) -> Tensor:
        return features[:, 0].float() + self.bias


def learner(*chances: float, value: float = 0.0, **options) -> PPO:
    """PPO of ``Chances`` and ``Told``; further options are settings, or PPO's own."""
    own = {name: options.pop(name) for name in ("ranks", "seed") if name in options}
    return PPO(Chances(*chances or (0.5, 0.3, 0.2)), Told(value), PPOConfig(**options), **own)


def batch_of(*rows: tuple[str, float, float, float], teacher: tuple[float, ...] = ()) -> Batch:
    """Decisions (card, its chance when it was played, advantage, return)."""
    cards, chances, advantages, returns = zip(*rows, strict=True)
    mask = torch.zeros(len(rows), 52, dtype=torch.int8)
    mask[:, CARDS] = 1
    taught = torch.zeros(len(rows), 52 if teacher else 0)
    if teacher:
        taught[:, CARDS] = torch.tensor(teacher)
    nothing = torch.zeros(len(rows), 1, dtype=torch.int8)
    return Batch(
        features=nothing, hidden=nothing, mask=mask, action=torch.tensor(ids(" ".join(cards))),
        log_prob=torch.tensor(chances).log(), advantage=torch.tensor(advantages),
        returns=torch.tensor(returns), teacher=taught, costs=torch.empty(len(rows), 0),
    )  # fmt: skip


# The chances are now 0.5, 0.3, 0.2 and the value is 0.7; clip is 0.2.
#         card, chance, adv., return   ratio   the smaller of ratio · adv. and clipped · adv.
ROWS = (
    ("2C", 0.25, 1.0, 1.7),          # 2      min(2, 1.2) = 1.2, clipped
    ("2C", 0.25, -1.0, -0.3),        # 2      min(−2, −1.2) = −2
    ("3C", 0.6, 2.0, 0.7),           # 0.5    min(1, 1.6) = 1
    ("3C", 0.6, -2.0, 2.7),          # 0.5    min(−1, −1.6) = −1.6, clipped
    ("4C", 0.2, 3.0, 0.2),           # 1      3
)  # fmt: skip
POLICY_LOSS = -(1.2 - 2 + 1 - 1.6 + 3) / 5
VALUE_LOSS = 0.5 * ((-1) ** 2 + 1**2 + 0**2 + (-2) ** 2 + 0.5**2) / 5
ENTROPY = -(0.5 * log(0.5) + 0.3 * log(0.3) + 0.2 * log(0.2))


# --- the loss ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("progress", "weight"), [(0.0, 0.02), (0.5, 0.011), (1.0, 0.002)])
def test_losses__by_hand(progress, weight):
    loss, figures = learner(value=0.7).losses(batch_of(*ROWS), progress)
    assert {name: figure.item() for name, figure in figures.items()} == pytest.approx(
        {
            "policy_loss": POLICY_LOSS,
            "value_loss": VALUE_LOSS,
            "entropy": ENTROPY,
            # two ratios are 2, two are a half: ratio − 1 − ln ratio
            "approx_kl": (2 * (1 - log(2)) + 2 * (-0.5 + log(2))) / 5,
            "clipfrac": 4 / 5,
            "ratio_error": 1.0,
        },
        abs=1e-6,
    )
    assert loss.item() == pytest.approx(POLICY_LOSS + VALUE_LOSS - weight * ENTROPY, abs=1e-6)


@pytest.mark.parametrize(("progress", "weight"), [(0.0, 0.6), (0.5, 0.3), (1.0, 0.0)])
def test_losses__the_teachers_divergence_by_hand(progress, weight):
    """Σ teacher · ln(teacher / policy): infinite the other way round, as 4C has no chance."""
    ppo = learner(value=0.7, teacher_start=0.6)
    rows = batch_of(*ROWS, teacher=(0.8, 0.2, 0.0))
    without, _ = ppo.losses(rows, progress)
    ppo.teachers = [ppo.policy]  # any: what they teach is in the rows
    loss, figures = ppo.losses(rows, progress)
    divergence = 0.8 * log(0.8 / 0.5) + 0.2 * log(0.2 / 0.3)
    assert figures["teacher_kl"].item() == pytest.approx(divergence, abs=1e-6)
    assert (loss - without).item() == pytest.approx(weight * divergence, abs=1e-6)


def gradient(*rows: tuple[str, float, float, float], **settings) -> list[float]:
    """Of the loss without its entropy, by the logits of ``CARDS``."""
    ppo = learner(value=0.7, entropy_start=0.0, **settings)
    ppo.losses(batch_of(*rows), 0.0)[0].backward()
    return ppo.policy.logits.grad.tolist()


def test_losses__gradients_by_hand():
    """By a logit: −ratio · advantage · ((1 if it is the card) − its chance); none where clipped."""
    second = [2 * 1 * (card - p) for card, p in ((1, 0.5), (0, 0.3), (0, 0.2))]
    assert gradient(ROWS[1]) == pytest.approx(second, abs=1e-6)
    third = [-0.5 * 2 * (card - p) for card, p in ((0, 0.5), (1, 0.3), (0, 0.2))]
    assert gradient(ROWS[2]) == pytest.approx(third, abs=1e-6)
    assert gradient(ROWS[0]) == gradient(ROWS[3]) == [0, 0, 0]
    whole = [(a + b) / 2 for a, b in zip(second, third, strict=True)]
    assert gradient(*ROWS[1:3]) == pytest.approx(whole, abs=1e-6)


def test_losses__the_value_moves_towards_the_returns_and_entropy_is_wanted():
    ppo = learner(0.8, 0.1, 0.1, value=0.7)
    rows = batch_of(*((*row[:2], 0.0, row[3]) for row in ROWS))  # no advantage
    ppo.losses(rows, 0.0)[0].backward()
    assert ppo.critic.bias.grad.item() == pytest.approx((-1 + 1 + 0 - 2 + 0.5) / 5, abs=1e-6)
    likely, *rare = ppo.policy.logits.grad.tolist()
    assert likely > 0 > max(rare), "a step down makes the likely card rarer"


# --- a step -----------------------------------------------------------------------------------


def test_step__clips_the_gradients_of_each_network_by_itself():
    far = [(card, chance, advantage / 2, 1000.0) for card, chance, advantage, _ in ROWS]
    ppo, free = learner(value=0.7), learner(value=0.7, max_grad_norm=1e9)
    for each in (ppo, free):
        each.step(batch_of(*far), 0.0)
    assert free.critic.bias.grad.item() == pytest.approx(0.7 - 1000, rel=1e-5)
    assert ppo.critic.bias.grad.item() == pytest.approx(-0.5, rel=1e-5)
    assert 0.1 < free.policy.logits.grad.norm() < 0.5, "short enough as it is"
    assert torch.equal(ppo.policy.logits.grad, free.policy.logits.grad)
    steep = batch_of(*((*row[:2], 100 * row[2], 0.7) for row in ROWS))
    ppo, free = learner(value=0.7), learner(value=0.7, max_grad_norm=1e9)
    for each in (ppo, free):
        each.step(steep, 0.0)
    clipped, whole = ppo.policy.logits.grad, free.policy.logits.grad
    assert clipped.norm().item() == pytest.approx(0.5, rel=1e-4)
    assert torch.allclose(clipped / clipped.norm(), whole / whole.norm(), atol=1e-5)
    # and it is the clipped ones that the optimiser has seen: a tenth goes into its mean
    moment = ppo.optimizer.state[ppo.policy.logits]["exp_avg"]
    assert torch.allclose(moment, 0.1 * clipped, atol=1e-6)


def test_step__starts_from_no_gradient_and_weighs_its_rows():
    ppo = learner(learning_rate=1e-30, max_grad_norm=1e9, value=0.7)
    ppo.step(batch_of(*ROWS), 0.0)
    once = ppo.policy.logits.grad.clone()
    ppo.step(batch_of(*ROWS), 0.0)
    assert torch.equal(ppo.policy.logits.grad, once)
    ppo.step(batch_of(*ROWS), 0.0, weight=1.5)
    assert torch.allclose(ppo.policy.logits.grad, 1.5 * once)


# --- a rollout's advantages and returns -------------------------------------------------------

#       seat, choice, value, rewards, whether the hand is over
STEPS = (
    (0, True, 2, (0, 0, 0), False),
    (1, True, 1, (0, 0, 0), False),
    (2, False, 9, (-2, 0, 0), False),
    (0, True, -1, (0, 0, 0), False),
    (1, True, -4, (0, 0, 0), False),
    (2, True, 3, (0, -26, 0), True),
    (0, True, 1, (-10, 0, 0), False),
    (1, True, 0, (-4, -6, 0), True),
)
# λ = 0.5 and half a unit for a point. A seat's δ: its rewards until its next choice, plus the
# value there, less the value here; its advantage: δ plus half of the next one's.
ADVANTAGES = {
    3: 0 + 0 - (-1),
    0: (-1 + (-1) - 2) + 0.5 * 1,
    4: -13 + 0 - (-4),
    1: (0 + (-4) - 1) + 0.5 * (-9),
    5: 0 + 0 - 3,
    6: (-5 - 2) + 0 - 1,
    7: -3 + 0 - 0,
}


def rollout_of(steps=STEPS) -> Rollout:
    """One table's decisions, each for 2C; its log-probability tells which decision it is."""
    columns = (np.array(column)[:, None] for column in zip(*steps, strict=True))
    seat, choice, value, rewards, done = columns
    mask = torch.zeros(len(steps), 1, 52, dtype=torch.int8)
    mask[..., CARDS] = 1
    return Rollout(
        features=torch.from_numpy(value.astype(np.int8))[..., None],
        hidden=torch.zeros(len(steps), 1, 1, dtype=torch.int8),
        mask=mask,
        action=torch.zeros(len(steps), 1, dtype=torch.int64),
        log_prob=-torch.arange(len(steps))[:, None] / 64,
        choice=choice,
        seat=seat,
        rewards=rewards.astype(np.float32),
        done=done,
    )  # fmt: skip


def test_batch__advantages_and_returns_by_hand():
    batch = learner(gae_lambda=0.5, reward_scale=0.5).batch(rollout_of())
    chosen = [0, 1, 3, 4, 5, 6, 7]
    advantages = np.array([ADVANTAGES[step] for step in chosen])
    values = np.array([STEPS[step][2] for step in chosen])
    assert (-64 * batch.log_prob).tolist() == chosen
    assert batch.returns.tolist() == (advantages + values).tolist()
    normalised = (advantages - advantages.mean()) / advantages.std()
    assert batch.advantage.tolist() == pytest.approx(normalised.tolist(), abs=1e-5)


def test_batch__with_lambda_one_the_returns_are_what_is_to_come_whatever_the_critic_says():
    to_come = [-1, -13, 0, -13, 0, -7, -3]
    for value in (0.0, 50.0):
        ppo = learner(value=value, gae_lambda=1.0, reward_scale=0.5)
        assert ppo.batch(rollout_of()).returns.tolist() == pytest.approx(to_come, abs=1e-4)


# --- an update --------------------------------------------------------------------------------


def test_update__the_learning_rate_falls_to_nothing():
    ppo = learner(learning_rate=0.008)
    for progress, rate in ((0.0, 0.008), (0.25, 0.006), (0.75, 0.002), (1.0, 0.0)):
        before = ppo.policy.logits.detach().clone()
        ppo.update(rollout_of(), progress)
        assert [group["lr"] for group in ppo.optimizer.param_groups] == pytest.approx([rate])
        assert torch.equal(ppo.policy.logits, before) == (rate == 0)


class Asked(PPO):
    """PPO that makes no step but notes which decisions it was to make one on, and their weight."""

    def step(self, batch: list[Batch], progress: float, weight: float = 1.0) -> dict[str, Tensor]:
        self.asked.append(([row for part in batch for row in part.log_prob.tolist()], weight))
        return {"number": torch.tensor(float(len(self.asked)))}


def asked(rollout: Rollout, *, updates: int = 0, seed: int = 0, ranks: Ranks | None = None):
    """The steps of an update: (decisions, weight) of each, and its figures."""
    config = PPOConfig(minibatch=30, epochs=2)
    ppo = Asked(Chances(0.5, 0.3, 0.2), Told(), config, seed=seed, ranks=ranks)
    ppo.asked, ppo.updates = [], updates
    figures = ppo.update(rollout, 0.0)
    assert ppo.updates == updates + 1
    return ppo.asked, figures


def hundred() -> Rollout:
    return rollout_of([(k % 3, True, 0, (0, 0, 0), k == 99) for k in range(100)])


def test_update__every_epoch_has_every_decision_once_in_an_order_of_its_own():
    steps, figures = asked(hundred())
    assert [len(rows) for rows, _ in steps] == 2 * [25, 25, 25, 25]
    assert [weight for _, weight in steps] == 8 * [1.0]
    assert figures == {"number": 4.5}, "the mean over the steps"
    everything = hundred().log_prob.flatten().tolist()
    epochs = [[row for rows, _ in steps[k : k + 4] for row in rows] for k in (0, 4)]
    assert all(sorted(epoch) == sorted(everything) for epoch in epochs)
    assert epochs[0] != epochs[1]
    assert everything not in epochs


def test_update__the_order_hangs_on_seed_and_number_of_the_update():
    first, *others = (
        asked(hundred(), **options)[0][0][0]
        for options in ({}, {"updates": 1}, {"seed": 1}, {"ranks": Uneven(1, 2)})
    )
    assert first == asked(hundred())[0][0][0]
    assert len({tuple(sorted(rows[:20])) for rows in (first, *others)}) == 4


class Uneven(Ranks):
    """Two processes of which one has 100 decisions and the other 50; this is one of them."""

    def sum(self, tensor: Tensor) -> Tensor:
        return tensor

    def gather(self, tensor: Tensor) -> Tensor:
        other = torch.tensor(50)
        if tensor.ndim:  # of each step
            other = torch.tensor([len(part) for part in torch.arange(50).tensor_split(len(tensor))])
        return torch.stack([tensor, other] if self.rank == 0 else [other, tensor])

    def average_gradients(self, parameters) -> None:
        pass


@pytest.mark.parametrize(("rank", "others"), [(0, [17, 17, 16]), (1, [17, 17, 16])])
def test_update__processes_with_fewer_decisions_weigh_less(rank, others):
    """⌈150 / 60⌉ steps for both; a decision of either counts alike in the mean of both losses."""
    steps, _ = asked(hundred(), ranks=Uneven(rank, 2))
    assert [len(rows) for rows, _ in steps] == 2 * [34, 33, 33]
    weights = [2 * own / (own + other) for own, other in zip([34, 33, 33], others, strict=True)]
    assert [weight for _, weight in steps] == pytest.approx(2 * weights)


# --- what a rollout holds ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("profile", "seats"), [("three_player", 3), ("american_hearts", 4), ("cancellation", 6)]
)
def test_hidden_cards__are_each_other_seats_clockwise(profile, seats):
    rules = Rules.profile(profile, seats)
    tables = Tables(6, rules, seed=2)
    generator = np.random.default_rng(0)
    twice = 0
    for _ in range(rules.plies()):
        obs, seat = tables.observe()
        states = tables.states()
        found = np.full((6, (seats - 1) * 104), -9, np.int8)
        hidden_cards(states, seats, found)
        by_suit = found.reshape(6, 4, seats - 1, 2, 13)
        for table, state in enumerate(states):
            for step in range(1, seats):
                other = (seat[table] + step) % seats
                for what, field in enumerate(("holding", "given")):
                    planes = state[field][other]
                    counts = sum(int(plane) >> np.arange(52) & 1 for plane in planes)
                    assert by_suit[table, :, step - 1, what].reshape(-1).tolist() == counts.tolist()
                    twice += int((counts == 2).sum())
        tables.step(random_legal(obs["action_mask"], generator))
    assert (twice > 0) == (rules.packs == 2)


def test_rollout__every_step_is_what_the_tables_say():
    """Played again from its cards: who saw what, what others held, what it earned."""
    torch.manual_seed(0)
    policy = Policy(layout_of(RULES), 16)
    rollout = SelfPlay(RULES, tables=5, hands=2, seed=3, first_table=7).collect(policy)
    tables = Tables(np.arange(7, 12), RULES, seed=3)
    for t in range(len(rollout.action)):
        obs, seat = tables.observe()
        hidden = np.empty(rollout.hidden[t].shape, np.int8)
        hidden_cards(tables.states(), 3, hidden)
        assert (rollout.seat[t] == seat).all()
        assert (rollout.mask[t].numpy() == obs["action_mask"]).all()
        assert (rollout.features[t].numpy() == policy.features.of(obs["observation"])).all()
        assert (rollout.hidden[t].numpy() == hidden).all()
        rewards, done = tables.step(rollout.action[t].numpy())
        assert (rollout.rewards[t] == rewards).all()
        assert (rollout.done[t] == done).all()


# --- drawing a card ---------------------------------------------------------------------------


def test_sample__key_zero_draws_a_legal_card():
    log_probs = torch.full((2, 52), -torch.inf)
    log_probs[0, 3] = 0.0
    log_probs[1, [20, 51]] = log(0.5)
    for key in (0, 1, 2**40, 2**63, 2**64 - 1):
        cards = sample(log_probs, np.full(2, key, np.uint64))
        assert cards[0] == 3
        assert cards[1] == (51 if key >= 2**63 else 20)


def test_sample__a_card_has_the_keys_from_its_sum_to_the_next():
    log_probs = torch.full((1, 52), -torch.inf)
    log_probs[0, [5, 6, 7]] = torch.tensor([0.25, 0.5, 0.25]).log()
    quarter = 2**62
    for key, card in ((0, 5), (quarter - 2**41, 5), (quarter, 6), (3 * quarter, 7)):
        assert sample(log_probs, np.array([key], np.uint64)).item() == card


# --- it learns --------------------------------------------------------------------------------

UPDATES = 40


@pytest.mark.slow
def test_learning__a_small_policy_soon_loses_far_less_than_random():
    """Par is 14.3; a policy that learns nothing, or the wrong way round, stays there or above."""
    torch.manual_seed(1)
    layout = layout_of(RULES)
    ppo = PPO(Policy(layout, 32), OracleCritic(layout, 32), PPOConfig(minibatch=500), seed=1)
    games = SelfPlay(RULES, tables=64, hands=1, seed=1)
    for update in range(UPDATES):
        ppo.update(games.collect(ppo.policy), update / UPDATES)
    agent = PolicyAgent(ppo.policy, RULES)
    scores = play_deals(agent, make_bot("random"), range(300), seed=TEST_SEEDS, rules=RULES)
    assert scores.mean() < 9


def test_sample__chances_that_add_up_to_less_still_give_a_legal_card():
    log_probs = torch.full((1, 52), -torch.inf)
    log_probs[0, [3, 9]] = log(0.25)
    assert sample(log_probs, np.array([2**64 - 1], np.uint64)).item() == 9
