"""Rollouts of several rules: each time others, drawn anew, every table to its end."""

from typing import Final

import numpy as np
import torch

from black_maria.rules import Rules
from black_maria.rulesets import draw
from black_maria_agents.network import Policy, PolicyAgent
from black_maria_agents.scoring import STAKE, stake_in_play
from black_maria_agents.training.branches import with_branches
from black_maria_agents.training.selfplay import Rollout, SelfPlay

HOME: Final = 4
"""Every fourth set of three seats is the three-player page, which is played the most."""


class MixedPlay:
    """Plays rollouts of rules drawn by (seed, hand, number), the learner in every seat.

    Args:
        sets: Rules in a rollout.
        tables: Tables in a rollout, of all rules together; a multiple of ``sets``.
        hands: Hands of every table in a rollout.
        seed: Seed of rules, deals and choices.
        first_table: Number of the first table.
        seats: Seats of all rules; drawn without it.
        branches: The part of the open choices that are played out; see ``branches``.
        device: Where the networks compute and the buffers for them lie.

    Attributes:
        seconds: Time spent so far, by ``"engine"`` and ``"inference"``.
        next_hand: Number of every table's next hand.
    """

    def __init__(
        self,
        *,
        sets: int,
        tables: int,
        hands: int,
        seed: int,
        first_table: int = 0,
        seats: int | None = None,
        branches: float = 0.0,
        device: str | torch.device = "cpu",
    ) -> None:
        """Start with hand 0."""
        if tables % sets:
            raise ValueError(f"tables={tables} can't be shared evenly by {sets} sets of rules")
        self.next_hand = 0
        self.seconds = {"engine": 0.0, "inference": 0.0}
        self._sets, self._tables, self._hands = sets, tables // sets, hands
        self._seed, self._first, self._seats, self._device = seed, first_table, seats, device
        self._branches = branches

    def seek(self, hand: int) -> None:
        """Go on with every table's hand of that number."""
        self.next_hand = hand

    def collect(self, policy: Policy) -> list[Rollout]:
        """Play whole hands, each set of rules at its own tables.

        Args:
            policy: The policy that learns, one that reads the rules; its cards are sampled.
        """
        rollouts = [self._play(policy, number) for number in range(self._sets)]
        self.next_hand += self._hands
        return rollouts

    def _play(self, policy: Policy, number: int) -> Rollout:
        """The rollout of one set of rules."""
        home = number % HOME == 0 and self._seats in (None, 3)
        rules = Rules() if home else draw((self._seed, self.next_hand, number), self._seats)
        here = policy.under(rules)
        play = SelfPlay(
            rules,
            features=here.features,
            tables=self._tables,
            hands=self._hands,
            seed=self._seed,
            first_table=self._first + number * self._tables,
            device=self._device,
        )
        play.seek(self.next_hand)
        rollout, scale = play.collect(here), STAKE / stake_in_play(rules)
        rollout.rewards[:] *= np.float32(scale)
        if self._branches:
            rng = np.random.default_rng([self._seed, self.next_hand, self._first, number])
            agent = PolicyAgent(policy, rules)
            rollout = with_branches(rollout, play, agent, self._branches, rng, scale=scale)
        for what, seconds in play.seconds.items():
            self.seconds[what] += seconds
        return rollout
