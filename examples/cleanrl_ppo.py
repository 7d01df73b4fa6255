"""PPO in one file, after CleanRL, on the vector environment: read it from top to bottom, copy it.

    pip install "black-maria[agents]"
    python examples/cleanrl_ppo.py --opponents duck --decisions 500000

One seat learns against given opponents, many hands side by side. What Black Maria asks for beyond
the usual: cards that may not be played get the logit -inf (*mask*); a hand always has 20
decisions, so a rollout of 40 steps is two whole hands and nothing needs bootstrapping; points are
divided by ten. Learning goes on in all seats with `train.py`, which is faster and stronger.
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.distributions import Categorical

from black_maria import BlackMariaVectorEnv, Rules, make_bot
from black_maria_agents.measuring import Estimate, play_deals


@dataclass(frozen=True)
class Config:
    """What can be set."""

    opponents: str = "random"
    """Who sits in the other seats: random, duck or heuristic."""
    decisions: int = 120_000
    """How many the learner takes in all, rounded down to whole rollouts."""
    rows: int = 64
    """Environments side by side."""
    steps: int = 40
    """Steps of a rollout: two hands."""
    epochs: int = 4
    """Passes over each rollout."""
    minibatch: int = 512
    """Decisions of a gradient step."""
    learning_rate: float = 1e-3
    """Of Adam at the start; it falls to 0 in a straight line."""
    gae_lambda: float = 0.95
    """Of generalised advantage estimation. The discount is 1: hands are short."""
    clip: float = 0.2
    """How far the probabilities' ratio may move."""
    entropy: float = 0.01
    """Weight of the policy's entropy."""
    width: int = 128
    """Of the hidden layers."""
    seed: int = 1
    """Of networks, draws and deals."""


class Network(nn.Module):
    """A policy and a critic."""

    def __init__(self, size: int, width: int) -> None:
        """For observations of this size."""
        super().__init__()
        self.policy, self.critic = (
            nn.Sequential(
                nn.Linear(size, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(),
                nn.Linear(width, outputs),
            )
            for outputs in (52, 1)
        )  # fmt: skip
        nn.init.orthogonal_(self.policy[-1].weight, 0.01)  # starts as a random player

    def cards(self, obs: Tensor, mask: Tensor) -> Categorical:
        """The policy over legal cards; obs (B, F) float, mask (B, 52) bool."""
        return Categorical(logits=self.policy(obs).masked_fill(~mask, -torch.inf))

    def value(self, obs: Tensor) -> Tensor:
        """What is still to come, (B,)."""
        return self.critic(obs).squeeze(-1)


class Agent:
    """A trained network as an agent of the arena."""

    name = identity = "cleanrl_ppo"

    def __init__(self, network: Network) -> None:
        """Take the network over for play."""
        self.network = network

    @torch.inference_mode()
    def act(self, obs: Any, keys: Any) -> NDArray[np.int64]:
        """The likeliest legal card of every row."""
        vector, mask = seen(obs)
        return self.network.cards(vector, mask).probs.argmax(-1).numpy()


def seen(obs: Any) -> tuple[Tensor, Tensor]:
    """An observation for the network: the vector as floats, the mask as bool."""
    return torch.from_numpy(obs["observation"]).float(), torch.from_numpy(obs["action_mask"]).bool()


def train(config: Config) -> Network:
    """Roll out, estimate advantages, take gradient steps; and again."""
    torch.manual_seed(config.seed)
    envs = BlackMariaVectorEnv(config.rows, opponents=config.opponents)
    size = envs.single_observation_space["observation"].shape[0]
    network = Network(size, config.width)
    adam = torch.optim.Adam(network.parameters(), config.learning_rate, eps=1e-5)
    shape, batch = (config.steps, config.rows), config.steps * config.rows
    vectors, masks = torch.zeros(*shape, size), torch.zeros(*shape, 52, dtype=torch.bool)
    cards, logprobs, rewards, dones, values = torch.zeros(5, *shape)

    obs, _ = envs.reset(seed=config.seed)
    updates = config.decisions // batch
    for update in range(updates):
        adam.param_groups[0]["lr"] = config.learning_rate * (1 - update / updates)

        # a rollout: row by row what was seen, played and earned
        for t in range(config.steps):
            vectors[t], masks[t] = seen(obs)
            with torch.no_grad():
                policy = network.cards(vectors[t], masks[t])
                cards[t] = card = policy.sample()
                logprobs[t], values[t] = policy.log_prob(card), network.value(vectors[t])
            obs, reward, terminated, _, _ = envs.step(card.numpy())
            rewards[t] = torch.from_numpy(reward) / 10
            dones[t] = torch.from_numpy(terminated)

        # advantages, from the last step back; where a hand has ended nothing comes after
        with torch.no_grad():
            next_value, advantage = network.value(seen(obs)[0]), torch.zeros(config.rows)
        advantages = torch.zeros(shape)
        for t in reversed(range(config.steps)):
            alive = 1 - dones[t]
            delta = rewards[t] + alive * next_value - values[t]
            advantages[t] = advantage = delta + config.gae_lambda * alive * advantage
            next_value = values[t]

        # gradient steps on the flat batch
        flat = [each.flatten(0, 1) for each in (vectors, masks, cards, logprobs, advantages)]
        returns = (advantages + values).flatten()
        for _ in range(config.epochs):
            for rows in torch.randperm(batch).split(config.minibatch):
                vector, mask, card, old, advantage = (each[rows] for each in flat)
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                policy = network.cards(vector, mask)
                ratio = (policy.log_prob(card) - old).exp()
                clipped = ratio.clamp(1 - config.clip, 1 + config.clip)
                policy_loss = -torch.min(ratio * advantage, clipped * advantage).mean()
                value_loss = (network.value(vector) - returns[rows]).square().mean() / 2
                probs = policy.probs.clamp_min(1e-12)  # 0 · log 0 is 0
                entropy = -(probs * probs.log()).sum(-1).mean()
                adam.zero_grad()
                (policy_loss + value_loss - config.entropy * entropy).backward()
                nn.utils.clip_grad_norm_(network.parameters(), 0.5)
                adam.step()

        if update % 10 == 0 or update == updates - 1:
            points = -10 * rewards.sum() / dones.sum()
            print(f"{(update + 1) * batch:>9,} {points:6.2f} points a hand, entropy {entropy:.2f}")
    return network


def main(config: Config) -> float:
    """Train, then measure alone against two of its opponents; the points a hand."""
    torch.set_num_threads(1)  # batches are small: two threads wait for each other
    start = time.process_time()
    network = train(config)
    seconds = time.process_time() - start
    made = config.decisions // (config.steps * config.rows) * config.steps * config.rows
    print(f"learnt from {made:,} decisions in {seconds:.1f} s")
    rules, others = Rules.profile("three_player"), make_bot(config.opponents)
    points = play_deals(Agent(network), others, range(500), seed=1, rules=rules)
    score = Estimate.of(points.mean(axis=1))
    print(
        f"alone against two {config.opponents}: {score.text()} points a hand, par {rules.par:.2f}"
    )
    return score.mean


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
