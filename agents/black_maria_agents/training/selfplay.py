"""Rollouts: whole hands of many tables, a policy in all seats or in one against others.

Hands of one profile all take the same number of decisions, so tables in lock-step finish
together and a rollout never ends inside a hand: nothing needs bootstrapping.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from black_maria.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS
from black_maria.kernels import kernel
from black_maria.rules import Rules
from black_maria.tables import Tables
from black_maria_agents.base import Agent
from black_maria_agents.features import Features, features_of, gather, hidden_size
from black_maria_agents.network import Policy, UnderRules, sample
from black_maria_agents.training.packing import Packing
from black_maria_agents.training.turns import Half


@kernel
def hidden_cards(states: NDArray[Any], seats: int, hidden: NDArray[np.int8]) -> None:
    """Write what the acting seats can't see: the others' cards.

    Args:
        states: (N,) records of ``engine.STATE``.
        seats: Seats at a table.
        hidden: (N, (seats − 1) · 104) int8, written: suit by suit, for each other seat
            clockwise thirteen held cards, then thirteen passed.
    """
    for i in range(len(states)):
        state, row = states[i], hidden[i]
        k = 0
        for suit in range(NUM_SUITS):
            for step in range(1, seats):
                other = (state.turn + step) % seats
                for planes in (state.holding[other], state.given[other]):
                    for card in range(NUM_RANKS * suit, NUM_RANKS * suit + NUM_RANKS):
                        row[k] = (planes[0] >> card & 1) + (planes[1] >> card & 1)
                        k += 1


_NOT_FINITE: Final = "the policy's probabilities aren't finite"


class DivergenceError(FloatingPointError):
    """A training in which something isn't finite any more: there is nothing left to learn from."""


@dataclass(frozen=True)
class Rollout:
    """What happened, time first. T decisions at each of N tables; S seats."""

    features: Tensor
    """(T, N, F') int8: what the acting seat saw, in the networks' order."""
    hidden: Tensor
    """(T, N, H) int8: the others' cards, for the oracle critic."""
    mask: Tensor
    """(T, N, 52) int8: legal cards."""
    action: Tensor
    """(T, N) int64: the card chosen."""
    log_prob: Tensor
    """(T, N) float32: its log-probability under the policy; 0 where that had no choice."""
    choice: NDArray[np.bool_]
    """(T, N): the policy chose among several legal cards. Only these decisions are trained."""
    seat: NDArray[np.int64]
    """(T, N): who acted."""
    rewards: NDArray[np.float32]
    """(T, N, S): minus the penalty points that fell to each seat at this step; where a hand's
    total varies, plus the others' mean."""
    done: NDArray[np.bool_]
    """(T, N): the hand ended with this step."""
    rules: Rules = field(default_factory=Rules)
    """What was played."""
    costs: Tensor | None = None
    """(T, N, 52) float32: what cards would have come to, where branches were played; see
    ``branches.branch_costs``."""

    def first(self, steps: int) -> "Rollout":
        """So many steps of it, views."""
        return Rollout(**{
            name: part if part is None or name == "rules" else part[:steps]
            for name, part in vars(self).items()
        })  # fmt: skip


@dataclass(frozen=True)
class Seating:
    """Who sits where in a rollout. Nobody changes places within a hand."""

    places: NDArray[np.int64]
    """(N, S): −1 for the policy that learns, else the number of an agent."""
    agents: list[Agent] = field(default_factory=list)

    @classmethod
    def all_alike(cls, tables: int, seats: int) -> "Seating":
        """The learner in every seat."""
        return cls(np.full((tables, seats), -1))

    def players(self, seat: NDArray[np.int64], rows: slice = slice(None)) -> NDArray[np.int64]:
        """Who sits in these seats (n,), one of each of the tables ``rows``."""
        players: NDArray[np.int64] = self.places[rows][np.arange(len(seat)), seat]
        return players

    def chosen(
        self,
        obs: Mapping[str, NDArray[np.int8]],
        keys: NDArray[np.uint64],
        player: NDArray[np.int64],
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """What the agents choose: rows, and the cards chosen there.

        Args:
            obs: What the seats to move see, n rows.
            keys: (n,) uint64, their randomness.
            player: (n,), which agent's choice it is; −1: no agent's.
        """
        for number, agent in enumerate(self.agents):
            rows = np.flatnonzero(player == number)
            if len(rows):
                part = {name: array[rows] for name, array in obs.items()}
                yield rows, agent.act(part, keys[rows])


class Asked(NamedTuple):
    """The choices that the policy has at a ply, n rows."""

    rows: NDArray[np.int64]
    """(n,), the tables."""
    features: Tensor
    """(n, F') int8."""
    mask: Tensor
    """(n, 52) int8."""
    keys: NDArray[np.uint64]
    """(n,), each row's own randomness."""


def drawn(log_probs: Tensor, keys: NDArray[np.uint64]) -> tuple[Tensor, Tensor]:
    """Cards (B,) int64 sampled from a policy, and their log-probabilities (B,) float32.

    Args:
        log_probs: (B, 52) float32.
        keys: (B,) uint64.

    Raises:
        DivergenceError: A probability isn't finite.
    """
    cards = sample(log_probs, keys)
    chosen = log_probs.gather(-1, cards.clamp(max=NUM_CARDS - 1)[:, None]).squeeze(-1)
    if not chosen.isfinite().all():  # weights that are finite may still give NaN
        raise DivergenceError(_NOT_FINITE)
    return cards, chosen


class SelfPlay:
    """Plays rollouts into buffers that it owns; each ``collect`` overwrites the last one.

    On the CPU all tables move together; elsewhere two halves of them take turns, see ``turns``.

    Args:
        rules: The rules to play by.
        features: What the policy reads; what new ones do unless given.
        tables: Tables side by side.
        hands: Hands of every table in a rollout.
        seed: Seed of deals and choices.
        first_table: Number of the first table.
        device: Where the networks compute and the buffers for them lie.
        in_turns: Whether halves take turns; without it, where the device isn't the CPU.

    Attributes:
        seconds: Time spent so far, by ``"engine"`` and ``"inference"``.
    """

    def __init__(
        self,
        rules: Rules,
        *,
        features: Features | None = None,
        tables: int,
        hands: int,
        seed: int,
        first_table: int = 0,
        device: str | torch.device = "cpu",
        in_turns: bool | None = None,
    ) -> None:
        """Seat the tables and allocate the buffers."""
        # where a moon may be shot, own points alone don't tell who won the hand
        self.tables = Tables(
            np.arange(first_table, first_table + tables),
            rules,
            seed=seed,
            reward="relative" if rules.total_varies else "trick",
        )
        self.next_hand = 0
        self.seconds = {"engine": 0.0, "inference": 0.0}
        self._hands, self._seed = hands, seed
        self._before = self.tables.save()
        layout, steps = self.tables.layout, hands * rules.most_plies
        self._features = features or features_of(layout)
        shape = (steps, tables)

        def buffer(*size: int, dtype: torch.dtype) -> Tensor:
            return torch.empty(*shape, *size, dtype=dtype, device=device)

        self._buffers = Rollout(
            features=buffer(len(self._features), dtype=torch.int8),
            hidden=buffer(hidden_size(layout), dtype=torch.int8),
            mask=buffer(NUM_CARDS, dtype=torch.int8),
            action=buffer(dtype=torch.int64),
            log_prob=buffer(dtype=torch.float32),
            choice=np.empty(shape, np.bool_),
            seat=np.empty(shape, np.int64),
            rewards=np.empty((*shape, rules.seats), np.float32),
            done=np.empty(shape, np.bool_),
            rules=rules,
        )
        device = self._buffers.features.device
        self._halves: list[Half] = []
        if device.type != "cpu" if in_turns is None else in_turns:
            packing = Packing(layout, self._features, device)
            parts = (slice(0, tables // 2), slice(tables // 2, tables))
            self._halves = [
                Half(self.tables, rows, packing, device) for rows in parts if rows.stop > rows.start
            ]

    def seek(self, hand: int) -> None:
        """Go on with every table's hand of that number."""
        self.next_hand = hand
        self.tables.reset(self._seed, hand=hand)

    def before(self) -> Tables:
        """Other tables, as these were before the last rollout."""
        tables = Tables(len(self.tables), self.tables.rules)
        tables.load(self._before)
        return tables

    def costs(self, rows: NDArray[np.int64], points: NDArray[np.float64]) -> NDArray[np.float64]:
        """What hands of the last rollout cost, (K, S): minus all that they give as reward.

        Args:
            rows: The tables that played them, (K,).
            points: What ``play_out`` says of them, (K, S).
        """
        return points

    @torch.inference_mode()
    def collect(self, policy: Policy | UnderRules, seating: Seating | None = None) -> Rollout:
        """Play whole hands; a view of the buffers.

        Args:
            policy: The policy that learns; its cards are sampled.
            seating: Who sits where; without it, that policy in every seat.
        """
        start, thought = time.perf_counter(), self.seconds["inference"]
        seating = seating or Seating.all_alike(len(self.tables), self.tables.rules.seats)
        out = self.begin()
        if self._halves:
            self.seconds["inference"] += self._in_turns(policy, seating, out)
        else:
            for t in range(len(out.seat)):
                asked = self.ask(out, t, seating)
                before = time.perf_counter()
                answer = drawn(policy(asked.features, asked.mask), asked.keys)
                self.seconds["inference"] += time.perf_counter() - before
                self.move(out, t, seating, asked, *answer)
        thinking = self.seconds["inference"] - thought
        self.seconds["engine"] += time.perf_counter() - start - thinking
        return out

    def begin(self) -> Rollout:
        """Go on with the next hands; the buffers for them, of as many steps as they take."""
        self._before = self.tables.save()
        hands = range(self.next_hand, self.next_hand + self._hands)
        self.next_hand = hands.stop
        return self._buffers.first(sum(map(self.tables.rules.plies, hands)))

    def ask(self, out: Rollout, t: int, seating: Seating) -> Asked:
        """Write down what all tables see at step t; what the policy has to choose there."""
        obs, seat = self.tables.observe()
        mask = obs["action_mask"]
        out.seat[t] = seat
        out.mask[t] = torch.from_numpy(mask)
        gather(obs["observation"], self._features.index, out.features[t].numpy())
        hidden_cards(self.tables.states(), self.tables.rules.seats, out.hidden[t].numpy())
        several = mask.sum(axis=1, dtype=np.int8) > 1
        out.choice[t] = several & (seating.players(seat) < 0)
        rows = np.flatnonzero(out.choice[t])
        at = torch.from_numpy(rows)
        return Asked(rows, out.features[t, at], out.mask[t, at], self.tables.keys()[rows])

    def move(
        self,
        out: Rollout,
        t: int,
        seating: Seating,
        asked: Asked,
        cards: Tensor,
        log_prob: Tensor,
    ) -> None:
        """Play what the policy answered (n,), and what the others choose."""
        obs, seat = self.tables.observe()
        mask = obs["action_mask"]
        actions = mask.argmax(axis=1)
        actions[asked.rows] = cards.numpy()
        out.log_prob[t] = 0
        out.log_prob[t, torch.from_numpy(asked.rows)] = log_prob
        if seating.agents:
            before = time.perf_counter()
            several = mask.sum(axis=1, dtype=np.int8) > 1
            player = np.where(several, seating.players(seat), -1)
            for rows, theirs in seating.chosen(obs, self.tables.keys(), player):
                actions[rows] = theirs
            self.seconds["inference"] += time.perf_counter() - before
        out.action[t] = torch.from_numpy(actions)
        out.rewards[t], out.done[t] = self.tables.step(actions)

    def _in_turns(self, policy: Policy | UnderRules, seating: Seating, out: Rollout) -> float:
        """Let the halves move in turn, ply by ply; the seconds of asking and waiting."""
        steps = len(out.seat)
        actions = np.zeros(out.seat.shape, np.int64)
        thinking = 0.0
        for t in range(steps + 1):
            for half in self._halves:
                before = time.perf_counter()
                if t:
                    self._hear(half, seating, actions[t - 1])
                    thinking += time.perf_counter() - before
                    rewards, done = self.tables.step(actions[t - 1], half.where)
                    out.rewards[t - 1, half.rows] = rewards[half.rows]
                    out.done[t - 1, half.rows] = done[half.rows]
                    before = time.perf_counter()
                if t < steps:
                    self._ask(half, policy, seating, out, t)
                    thinking += time.perf_counter() - before
        out.action.copy_(torch.from_numpy(actions))
        out.log_prob.masked_fill_(torch.from_numpy(~out.choice).to(out.log_prob.device), 0)
        return thinking

    def _ask(
        self, half: Half, policy: Policy | UnderRules, seating: Seating, out: Rollout, t: int
    ) -> None:
        """Send what a half sees at step t; write down what needs no answer.

        The policy draws at every row, whether or not it has the choice: a device is quicker with
        rows that it needn't have than with shapes that change.
        """
        rows = half.rows
        seen, log_prob = half.ask(policy)
        out.features[t, rows], out.hidden[t, rows] = seen.features, seen.hidden
        out.mask[t, rows], out.log_prob[t, rows] = seen.mask, log_prob
        seat = out.seat[t, rows] = self.tables.observe()[1][rows]
        out.choice[t, rows] = half.several() & (seating.players(seat, rows) < 0)

    def _hear(self, half: Half, seating: Seating, actions: NDArray[np.int64]) -> None:
        """Write a half's cards to the actions (N,) of all tables."""
        rows = half.rows
        obs, seat = self.tables.observe()
        player = np.where(half.several(), seating.players(seat[rows], rows), -1)
        part = {name: array[rows] for name, array in obs.items()}
        others = list(seating.chosen(part, half.keys, player))  # the device thinks meanwhile
        cards = half.answer()
        if (cards < 0).any():
            raise DivergenceError(_NOT_FINITE)
        actions[rows] = cards
        for those, theirs in others:
            actions[rows][those] = theirs
