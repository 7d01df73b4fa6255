"""Policy and oracle critic, how a card is drawn from the policy, and the agent made of it."""

from collections.abc import Mapping
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from black_maria.bots import check_batch
from black_maria.cards import NUM_CARDS
from black_maria.layout import Layout, layout_of
from black_maria.rules import Rules

INFERENCE_BATCH = 512
"""Rows of every forward pass at play, padded: a row's result can't depend on its neighbours."""


def mlp(layout: Layout, extra: int, width: int, outputs: int, gain: float) -> nn.Sequential:
    """Two hidden layers over an observation and ``extra`` inputs.

    The weights of the match's inputs (totals, hands left) start at zero. Training on single
    hands, where those inputs are zero, leaves them there: such a policy ignores the match.
    """
    net = nn.Sequential(
        nn.Linear(layout.size + extra, width),
        nn.ReLU(),
        nn.Linear(width, width),
        nn.ReLU(),
        nn.Linear(width, outputs),
    )
    for layer in net:
        if isinstance(layer, nn.Linear):
            nn.init.orthogonal_(layer.weight, gain if layer is net[-1] else 2**0.5)
            nn.init.zeros_(layer.bias)
    first = cast(nn.Linear, net[0])
    with torch.no_grad():
        for block in ("hands_left", "totals"):
            first.weight[:, layout[block]] = 0
    return net


class Policy(nn.Module):
    """Logits over the 52 cards, for passing and playing alike, from what one seat sees."""

    def __init__(self, layout: Layout, width: int = 128) -> None:
        """Make the network for an observation layout."""
        super().__init__()
        self.width = width
        self.net = mlp(layout, 0, width, NUM_CARDS, gain=0.01)

    def forward(self, observation: Tensor, mask: Tensor) -> Tensor:
        """Log-probabilities (B, 52) float32; −inf where the mask is 0.

        Args:
            observation: (B, F) int8.
            mask: (B, 52) int8, 1 where the card may be chosen.
        """
        logits: Tensor = self.net(observation.float()).float()
        return logits.masked_fill(mask == 0, -torch.inf).log_softmax(-1)


class OracleCritic(nn.Module):
    """A seat's expected reward to come, from its own view and the others' hidden cards.

    It serves training alone: it sees what no player may see.
    """

    def __init__(self, layout: Layout, width: int = 128) -> None:
        """Make the network for an observation layout."""
        super().__init__()
        self.net = mlp(layout, hidden_size(layout), width, 1, gain=1.0)

    def forward(self, observation: Tensor, hidden: Tensor) -> Tensor:
        """Values (B,) float32, in the learner's reward units.

        Args:
            observation: (B, F) int8.
            hidden: (B, ``hidden_size``) int8, from ``selfplay.hidden_cards``.
        """
        inputs = torch.cat([observation, hidden], dim=-1)
        values: Tensor = self.net(inputs.float()).float()
        return values.squeeze(-1)


def hidden_size(layout: Layout) -> int:
    """Inputs for the others' cards: held and picked to pass, of every other seat."""
    return (layout.rules.seats - 1) * 2 * NUM_CARDS


def draw(log_probs: Tensor, keys: NDArray[np.uint64]) -> Tensor:
    """A card for every row, (B,) int64, drawn with the row's own randomness.

    The same key and probabilities give the same card, whatever the batch.

    Args:
        log_probs: (B, 52) float32.
        keys: (B,) uint64.
    """
    # 23 bits: u ≤ 1 − 2⁻²³ keeps u · total below total in float32, so the card is legal
    uniform = torch.from_numpy((keys >> np.uint64(41)).astype(np.float32) / np.float32(2**23))
    cumulative = log_probs.exp().cumsum(-1)
    threshold = uniform.to(log_probs.device)[:, None] * cumulative[:, -1:]
    return (cumulative <= threshold).sum(-1)


class PolicyAgent:
    """A trained policy as an ``Agent``.

    Args:
        policy: The network; evaluated in float32.
        rules: The rules it was trained for.
        greedy: Play the likeliest card; otherwise draw from the policy.
    """

    def __init__(self, policy: Policy, rules: Rules, *, greedy: bool = True) -> None:
        """Take the network over for play."""
        self.policy = policy.eval()
        self.rules = rules
        self.greedy = greedy
        self._layout = layout_of(rules)

    @torch.inference_mode()
    def act(
        self, obs: Mapping[str, NDArray[np.int8]], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Choose a card for every row; see ``base.Agent``."""
        observation, mask = check_batch(obs, keys, self._layout)
        actions = np.empty(len(keys), np.int64)
        for start in range(0, len(keys), INFERENCE_BATCH):
            rows = slice(start, min(start + INFERENCE_BATCH, len(keys)))
            count = rows.stop - start
            padded = np.zeros((INFERENCE_BATCH, observation.shape[1]), np.int8)
            allowed = np.ones((INFERENCE_BATCH, NUM_CARDS), np.int8)
            padded[:count], allowed[:count] = observation[rows], mask[rows]
            log_probs = self.policy(torch.from_numpy(padded), torch.from_numpy(allowed))[:count]
            cards = log_probs.argmax(-1) if self.greedy else draw(log_probs, keys[rows])
            actions[rows] = cards.numpy()
        return actions
