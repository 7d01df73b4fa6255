"""A responder: a network that learns to beat an agent that stays as it is, as long as it may.

It learns in one seat, the agent in all others; or, as a *coalition*, in all seats but the
agent's. All that its seats decide is trained on. A coalition shares its reward: every member gets
the mean of what falls to its members, so that it is all one who takes a trick among them.

The critic comes from another table: it learns alone first, as the policy it serves plays on
unchanged, and then the policy's steps grow from nothing, since Adam knows nothing of their size.
"""

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from black_maria.layout import layout_of
from black_maria.rules import Rules
from black_maria_agents.base import Agent
from black_maria_agents.distributed import Ranks
from black_maria_agents.network import OracleCritic, Policy, PolicyAgent
from black_maria_agents.training.ppo import PPO, PPOConfig
from black_maria_agents.training.selfplay import Rollout, Seating, SelfPlay

TABLES: Final = 512
"""Tables side by side, of all processes together."""
CRITIC_ALONE: Final = 8
"""Updates of the critic before the policy moves."""
RAMP: Final = 8
"""Updates over which the policy's learning rate then grows to its full size."""
WIDTH: Final = 128
"""Of a network that starts from nothing."""
SETTINGS: Final = PPOConfig(learning_rate=1e-3, entropy_start=0.003, entropy_end=0.0)
"""A network that plays well already needs little entropy and smaller steps."""


class Responder:
    """A network that learns against one agent.

    Args:
        target: The agent; it never changes.
        rules: The rules to play by.
        start: Content of a checkpoint whose policy and critic it starts from; fresh without one.
        coalition: Learn in all seats but one, with a shared reward.
        seed: Of deals, choices and minibatches.
        tables: Tables side by side, of all processes together.
        ranks: The processes that train together.

    Attributes:
        updates: Updates so far, those of the critic alone included.
        choices: Choices among several cards that it has learnt from, of all processes.
    """

    def __init__(
        self,
        target: Agent,
        rules: Rules,
        start: Mapping[str, Any] | None,
        *,
        coalition: bool = False,
        seed: int = 0,
        tables: int = TABLES,
        ranks: Ranks | None = None,
    ) -> None:
        """Make networks and tables."""
        self.target, self.rules, self.coalition = target, rules, coalition
        self.ranks = ranks or Ranks()
        layout = layout_of(rules)
        width, blocks = (start["width"], start["blocks"]) if start else (WIDTH, None)
        clauses = start["clauses"] if start else ()
        policy = Policy(layout, width, blocks, clauses)
        critic = OracleCritic(layout, width, blocks, clauses)
        if start:
            policy.load_state_dict(start["policy"])
            critic.load_state_dict(start["critic"])
        self._ppo = PPO(policy, critic, SETTINGS, seed=seed, ranks=self.ranks)
        share = max(1, tables // self.ranks.size)
        self._games = SelfPlay(
            rules, features=policy.under(rules).features, tables=share, hands=1, seed=seed,
            first_table=self.ranks.rank * share,
        )  # fmt: skip
        self.updates = self.choices = 0

    @property
    def agent(self) -> PolicyAgent:
        """What it has learnt so far, a copy; it plays its likeliest card."""
        name = "the coalition's network" if self.coalition else "the learnt network"
        return PolicyAgent(copy.deepcopy(self._ppo.policy), self.rules, name=name)

    def step(self, progress: float) -> dict[str, float]:
        """Play a rollout and learn from it; the update's figures.

        Args:
            progress: The part of the training that is done, 0 … 1; the learning rate falls.

        Raises:
            DivergenceError: A probability, a loss or a weight isn't finite any more.
        """
        moves = self.updates - CRITIC_ALONE
        self._ppo.policy.requires_grad_(moves >= 0)
        rate = SETTINGS.learning_rate * (min(1.0, (moves + 1) / RAMP) if moves >= 0 else 1.0)
        self._ppo.config = replace(SETTINGS, learning_rate=rate)
        seating = self.seating()
        rollout = self._games.collect(self._ppo.policy.under(self.rules), seating)
        figures = self._ppo.update(shared(rollout, seating), progress)
        self.updates += 1
        self.choices += int(rollout.choice.sum()) * self.ranks.size
        return figures

    def seating(self) -> Seating:
        """Who sits where in the next rollout; all move a seat on with every table."""
        tables, seats = len(self._games.tables), self.rules.seats
        rows = np.arange(tables)
        apart = rows, (rows + self.updates) % seats
        places = np.full((tables, seats), -1 if self.coalition else 0)
        places[apart] = 0 if self.coalition else -1
        return Seating(places, [self.target])


def shared(rollout: Rollout, seating: Seating) -> Rollout:
    """The same rollout, in which all who learn at a table get the mean of their rewards."""
    learns = (seating.places < 0).astype(np.float32)  # (N, S)
    mean = (rollout.rewards * learns).sum(axis=2) / learns.sum(axis=1)  # (T, N)
    return replace(rollout, rewards=mean[:, :, None] * learns)
