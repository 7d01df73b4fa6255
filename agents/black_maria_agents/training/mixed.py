"""Rollouts of several rules: each time others, drawn anew, every table to its end.

On the CPU all tables move together, and at each ply the policy is asked once for all whose features
are of one kind: a pass over a few rows costs nearly as much as one over many.
"""

import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import torch

from black_maria.rules import Rules
from black_maria.rulesets import draw
from black_maria_agents.network import Policy, PolicyAgent, UnderRules
from black_maria_agents.scoring import STAKE, stake_in_play
from black_maria_agents.training.branches import with_branches
from black_maria_agents.training.selfplay import Rollout, Seating, SelfPlay, drawn
from black_maria_agents.universal import RulesRows

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
        self._seed, self._first, self._seats = seed, first_table, seats
        self._device = torch.device(device)
        self._branches = branches

    def seek(self, hand: int) -> None:
        """Go on with every table's hand of that number."""
        self.next_hand = hand

    def collect(self, policy: Policy) -> list[Rollout]:
        """Play whole hands, each set of rules at its own tables.

        Args:
            policy: The policy that learns, one that reads the rules; its cards are sampled.
        """
        games = [self._games(policy, number) for number in range(self._sets)]
        if self._device.type == "cpu":
            rollouts = self._together(policy, games)
        else:
            rollouts = [game.collect(UnderRules(policy, game.tables.rules)) for game in games]
        for number, (game, rollout) in enumerate(zip(games, rollouts, strict=True)):
            rules = rollout.rules
            scale = STAKE / stake_in_play(rules)
            rollout.rewards[:] *= np.float32(scale)
            if self._branches:
                rng = np.random.default_rng([self._seed, self.next_hand, self._first, number])
                agent = PolicyAgent(policy, rules)
                rollouts[number] = with_branches(
                    rollout, game, agent, self._branches, rng, scale=scale
                )
            for what, seconds in game.seconds.items():
                self.seconds[what] += seconds
        self.next_hand += self._hands
        return rollouts

    def _games(self, policy: Policy, number: int) -> SelfPlay:
        """The tables of one set of rules, before a rollout."""
        home = number % HOME == 0 and self._seats in (None, 3)
        rules = Rules() if home else draw((self._seed, self.next_hand, number), self._seats)
        games = SelfPlay(
            rules,
            features=UnderRules(policy, rules).features,
            tables=self._tables,
            hands=self._hands,
            seed=self._seed,
            first_table=self._first + number * self._tables,
            device=self._device,
        )
        games.seek(self.next_hand)
        return games

    @torch.inference_mode()
    def _together(self, policy: Policy, games: Sequence[SelfPlay]) -> list[Rollout]:
        """The rollouts of all rules, ply by ply."""
        start, thinking = time.perf_counter(), 0.0
        outs = [game.begin() for game in games]
        seatings = [Seating.all_alike(self._tables, game.tables.rules.seats) for game in games]
        kinds = _kinds([UnderRules(policy, game.tables.rules) for game in games])
        for t in range(max(len(out.seat) for out in outs)):
            for numbers, rules in kinds:
                at = [number for number in numbers if t < len(outs[number].seat)]
                if not at:
                    continue
                asked = [games[number].ask(outs[number], t, seatings[number]) for number in at]
                before = time.perf_counter()
                counts = [len(each.rows) for each in asked]
                which = torch.tensor([numbers.index(number) for number in at])
                played_by = rules.rows(which.repeat_interleave(torch.tensor(counts)))
                read = policy.read(torch.cat([each.features for each in asked]), played_by)
                log_probs = policy(read, torch.cat([each.mask for each in asked]), played_by)
                answer = drawn(log_probs, np.concatenate([each.keys for each in asked]))
                parts = [torch.split(part, counts) for part in answer]
                thinking += time.perf_counter() - before
                for number, *each in zip(at, asked, *parts, strict=True):
                    games[number].move(outs[number], t, seatings[number], *each)
        self.seconds["inference"] += thinking
        self.seconds["engine"] += time.perf_counter() - start - thinking
        return outs


def _kinds(under: Sequence[UnderRules]) -> list[tuple[list[int], RulesRows]]:
    """Rules whose features are of one kind: their numbers, and a row of each."""
    kinds: dict[Any, list[int]] = defaultdict(list)
    for number, here in enumerate(under):
        kinds[here.features.kind].append(number)
    cpu = torch.device("cpu")
    return [
        (numbers, RulesRows.joined([under[number].rows(1, cpu) for number in numbers]))
        for numbers in kinds.values()
    ]
