"""Opponents for the policy that learns: given agents and its own past."""

import copy

import numpy as np
from torch import Tensor

from black_maria.rules import Rules
from black_maria_agents.base import Agent
from black_maria_agents.network import Policy, PolicyAgent
from black_maria_agents.training.selfplay import Seating


class OpponentPool:
    """At some tables the learner has one seat, and copies of one opponent have the others.

    Every rollout draws one opponent for those tables, by (seed, update) alone.

    Args:
        rules: The rules to play by.
        agents: Opponents that never change.
        share: The part of the tables, 0 … 1, that have opponents; 1 makes a best response.
        snapshots: How many of the learner's past selves stand beside them, at most.
        every: Updates between two snapshots.
        seed: Seed of the draws.
    """

    def __init__(
        self,
        rules: Rules,
        agents: list[Agent],
        *,
        share: float,
        snapshots: int = 0,
        every: int = 1,
        seed: int = 0,
    ) -> None:
        """Start without snapshots."""
        self.rules = rules
        self._agents = agents
        self._share, self._most, self._every, self._seed = share, snapshots, every, seed
        self._past: list[PolicyAgent] = []

    def seating(self, update: int, tables: int) -> Seating:
        """Who sits where in a rollout: the learner moves a seat on with every table."""
        seating = Seating.all_alike(tables, self.rules.seats)
        opponents = [*self._agents, *self._past]
        count = round(self._share * tables)
        if not opponents or not count:
            return seating
        drawn = np.random.default_rng([self._seed, update]).integers(len(opponents))
        rows = np.arange(count)
        seating.places[:count] = 0
        seating.places[rows, (rows + update) % self.rules.seats] = -1
        return Seating(seating.places, [opponents[drawn]])

    def add(self, update: int, policy: Policy) -> None:
        """Add a frozen copy of the policy if a snapshot is due; the oldest leaves."""
        if self._most and update % self._every == 0:
            self._append(copy.deepcopy(policy))

    def _append(self, policy: Policy) -> None:
        self._past.append(PolicyAgent(policy.requires_grad_(False), self.rules, greedy=False))
        del self._past[: -self._most]

    def state(self) -> list[dict[str, Tensor]]:
        """The snapshots' weights, oldest first."""
        return [agent.policy.state_dict() for agent in self._past]

    def restore(self, state: list[dict[str, Tensor]], policy: Policy) -> None:
        """Take over what ``state`` gave; ``policy`` says how the networks are made."""
        for weights in state:
            network = copy.deepcopy(policy)
            network.load_state_dict(weights)
            self._append(network)
