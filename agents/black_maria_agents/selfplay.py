"""Rollouts of self-play: whole hands of many tables, one policy in every seat.

Hands of one profile all take the same number of decisions, so tables in lock-step finish
together and a rollout never ends inside a hand: nothing needs bootstrapping.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from black_maria.cards import NUM_CARDS
from black_maria.engine import kernel
from black_maria.rules import Rules
from black_maria.tables import Tables
from black_maria_agents.network import Policy, draw, hidden_size


@kernel
def hidden_cards(
    views: NDArray[np.int8], seat: NDArray[np.int64], start: int, hidden: NDArray[np.int8]
) -> None:
    """Write what the acting seats can't see: the others' cards, clockwise.

    Args:
        views: (N, seats, F) int8, every seat's view.
        seat: (N,) int64, the acting seats.
        start: Offset of the adjacent blocks ``holding`` and ``passed``.
        hidden: (N, (seats − 1) · 104) int8, written: held cards, then passed cards, by seat.
    """
    seats = views.shape[1]
    for i in range(len(views)):
        for k in range(seats - 1):
            other = (seat[i] + 1 + k) % seats
            for j in range(2 * NUM_CARDS):
                hidden[i, 2 * NUM_CARDS * k + j] = views[i, other, start + j]


@dataclass(frozen=True)
class Rollout:
    """What happened, time first. T decisions at each of N tables; S seats."""

    observation: Tensor
    """(T, N, F) int8: what the acting seat saw."""
    hidden: Tensor
    """(T, N, H) int8: the others' cards, for the oracle critic."""
    mask: Tensor
    """(T, N, 52) int8: legal cards."""
    action: Tensor
    """(T, N) int64: the card chosen."""
    log_prob: Tensor
    """(T, N) float32: its log-probability under the policy that played."""
    seat: NDArray[np.int64]
    """(T, N): who acted."""
    rewards: NDArray[np.float32]
    """(T, N, S): minus the penalty points that fell to each seat at this step."""
    done: NDArray[np.bool_]
    """(T, N): the hand ended with this step."""

    @property
    def choice(self) -> Tensor:
        """(T, N) bool: there was more than one legal card. Only these decisions are trained."""
        return self.mask.sum(-1, dtype=torch.int16) > 1


class SelfPlay:
    """Plays rollouts into buffers that it owns; each ``collect`` overwrites the last one.

    Args:
        rules: The rules to play by.
        tables: Tables side by side.
        hands: Hands of every table in a rollout.
        seed: Seed of deals and choices.
    """

    def __init__(self, rules: Rules, *, tables: int, hands: int, seed: int) -> None:
        """Seat the tables and allocate the buffers."""
        self.tables = Tables(tables, rules, seed=seed)
        self._hands, self._next_hand = hands, 0
        layout, steps = self.tables.layout, hands * rules.most_plies
        self._start = layout["holding"].start
        shape = (steps, tables)
        self._buffers = Rollout(
            observation=torch.empty(*shape, layout.size, dtype=torch.int8),
            hidden=torch.empty(*shape, hidden_size(layout), dtype=torch.int8),
            mask=torch.empty(*shape, NUM_CARDS, dtype=torch.int8),
            action=torch.empty(shape, dtype=torch.int64),
            log_prob=torch.empty(shape),
            seat=np.empty(shape, np.int64),
            rewards=np.empty((*shape, rules.seats), np.float32),
            done=np.empty(shape, np.bool_),
        )

    @torch.inference_mode()
    def collect(self, policy: Policy) -> Rollout:
        """Play whole hands with one policy in every seat; a view of the buffers."""
        hands = range(self._next_hand, self._next_hand + self._hands)
        self._next_hand = hands.stop
        steps = sum(self.tables.rules.plies(hand) for hand in hands)
        out = Rollout(**{name: buffer[:steps] for name, buffer in vars(self._buffers).items()})
        for t in range(steps):
            obs, seat = self.tables.observe()
            out.observation[t] = torch.from_numpy(obs["observation"])
            out.mask[t] = torch.from_numpy(obs["action_mask"])
            out.seat[t] = seat
            hidden_cards(self.tables.views(), seat, self._start, out.hidden[t].numpy())
            log_probs = policy(out.observation[t], out.mask[t])
            action = draw(log_probs, self.tables.keys())
            out.action[t] = action
            out.log_prob[t] = log_probs.gather(-1, action[:, None]).squeeze(-1)
            out.rewards[t], out.done[t] = self.tables.step(action.numpy())
        return out
