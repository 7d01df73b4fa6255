"""What an update learns from: a rollout's choices, a row each, and how good each turned out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from black_maria.kernels import kernel
from black_maria_agents.universal import RulesRows


@kernel
def advantages(
    rewards: NDArray[np.float32],
    seat: NDArray[np.int64],
    choice: NDArray[np.bool_],
    done: NDArray[np.bool_],
    values: NDArray[np.float32],
    lam: np.float32,
    advantage: NDArray[np.float32],
) -> None:
    """Generalised advantage estimates over each seat's own choices, γ = 1, in place.

    Schulman et al. 2016, arXiv 1506.02438. Every table's last step must end a hand.

    Args:
        rewards: (T, N, S) float32, to every seat at every step.
        seat: (T, N) int64, who acted.
        choice: (T, N) bool, whether it had more than one legal card.
        done: (T, N) bool, whether the hand ended with this step.
        values: (T, N) float32, the critic's estimates for the acting seats.
        lam: λ.
        advantage: (T, N) float32, written: 0 where there was no choice.
    """
    steps, tables, seats = rewards.shape
    for i in range(tables):
        since = np.zeros(seats, np.float32)  # rewards until the seat's next choice
        next_value = np.zeros(seats, np.float32)
        next_advantage = np.zeros(seats, np.float32)
        for t in range(steps - 1, -1, -1):
            for s in range(seats):
                if done[t, i]:
                    since[s] = 0.0
                    next_value[s] = 0.0
                    next_advantage[s] = 0.0
                since[s] += rewards[t, i, s]
            advantage[t, i] = 0.0
            if choice[t, i]:
                s = seat[t, i]
                delta = since[s] + next_value[s] - values[t, i]
                advantage[t, i] = delta + lam * next_advantage[s]
                since[s] = 0.0
                next_value[s] = values[t, i]
                next_advantage[s] = advantage[t, i]


@dataclass(frozen=True)
class Batch:
    """The choices of a rollout, flat: B rows."""

    features: Tensor
    """(B, F') int8"""
    hidden: Tensor
    """(B, H) int8"""
    mask: Tensor
    """(B, 52) int8"""
    action: Tensor
    """(B,) int64"""
    log_prob: Tensor
    """(B,) float32, under the policy that played"""
    advantage: Tensor
    """(B,) float32, normalised over the batch, of all processes together"""
    returns: Tensor
    """(B,) float32: advantage + value, what the critic learns"""
    teacher: Tensor
    """(B, 52) float32: probabilities, the mean of the teachers' policies; (B, 0) without any"""
    costs: Tensor
    """(B, 52) float32: what cards would have come to, in reward units, NaN where none was played
    out; (B, 0) without branches"""
    rules: RulesRows | None = None
    """What each row was played by, where the networks read it"""

    def rows(self, index: Tensor) -> "Batch":
        """Some of the rows."""
        rules = self.rules and self.rules.rows(index)
        return Batch(
            **{name: part.index_select(0, index) for name, part in self.tensors().items()},
            rules=rules,
        )

    def tensors(self) -> dict[str, Tensor]:
        """What has a row for each choice, by name."""
        return {name: part for name, part in vars(self).items() if name != "rules"}

    @classmethod
    def joined(cls, batches: "Sequence[Batch]") -> "Batch":
        """The rows of several batches whose features are of one kind."""
        if len(batches) == 1:
            return batches[0]
        parts = [batch.tensors() for batch in batches]
        together = {name: torch.cat([part[name] for part in parts]) for name in parts[0]}
        rules = [batch.rules for batch in batches if batch.rules is not None]
        return cls(**together, rules=RulesRows.joined(rules) if rules else None)
