"""The networks' inner part: from an observation's features to codes of the suits and the whole.

Both networks have the cards' structure: one encoder reads each suit, its weights shared by all
four, so that what is learnt of low diamonds holds for low clubs; a trunk joins the four codes
with what isn't of a suit.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from black_maria.cards import NUM_SUITS
from black_maria_agents.features import Features, scaled


class Inputs(NamedTuple):
    """What first layers take, made of features once for all networks that read the same."""

    suits: Tensor
    """(B, 4, K), of each suit."""
    rest: Tensor
    """(B, R), of the whole."""


def numbers(features: Tensor) -> Tensor:
    """Small integers as what products take: float32, or autocast's type without another copy."""
    kind = features.device.type
    autocast = torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind)
    return features.to(torch.get_autocast_dtype(kind) if autocast else torch.float32)


class SuitNetwork(nn.Module):
    """From features to a code for every suit and one for the whole.

    The weights of the match's features (totals, hands left) start at zero. Training on single
    hands, where those are zero, leaves them there: such a network ignores the match.

    Args:
        features: What it reads.
        width: Units of the trunk's two layers; a suit's two layers have a half and a quarter.
        hidden: How many of the others' cards are read as well.
    """

    def __init__(self, features: Features, width: int, *, hidden: int = 0) -> None:
        """Make the layers; orthogonal weights, as PPO's implementations have them."""
        super().__init__()
        self.features, suit = features, width // 4
        self.suit_in = orthogonal(nn.Linear(features.per_suit, 2 * suit))
        self.suit_out = orthogonal(nn.Linear(2 * suit, suit))
        self.trunk_in = orthogonal(nn.Linear(NUM_SUITS * suit + features.num_rest, width))
        self.trunk_out = orthogonal(nn.Linear(width, width))
        self.hidden_in: nn.Linear | None = None
        if hidden:
            self.hidden_in = orthogonal(nn.Linear(hidden // NUM_SUITS, 2 * suit, bias=False))
        with torch.no_grad():
            for columns in features.of_match:
                own = features.per_suit - NUM_SUITS - features.num_rest
                self.suit_in.weight[:, own:][:, columns] = 0
                self.trunk_in.weight[:, NUM_SUITS * suit :][:, columns] = 0

    def read(self, features: Tensor, rules: None = None) -> Inputs:
        """What the first layers take of features (B, F') int8; see ``forward``."""
        suits, rest = features.tensor_split([NUM_SUITS * self.features.per_suit], dim=1)
        suits, rest = numbers(suits), numbers(rest)  # each dense: no further copies
        suits = suits.view(-1, NUM_SUITS, self.features.per_suit)
        scaled(suits, rest, self.features)
        return Inputs(suits, rest)

    def forward(
        self, features: Tensor | Inputs, hidden: Tensor | None = None, rules: None = None
    ) -> tuple[Tensor, Tensor]:
        """Codes of the suits (B, 4, width / 4) and of the whole (B, width).

        Args:
            features: (B, F') int8, in the order of ``Features``; or what ``read`` made of them.
            hidden: (B, ``hidden_size``) int8, suit by suit.
            rules: Nothing: it knows one kind of table.
        """
        suits, rest = features if isinstance(features, Inputs) else self.read(features)
        code = self.suit_in(suits)
        if hidden is not None and self.hidden_in is not None:
            code = code + self.hidden_in(numbers(hidden).view(len(suits), NUM_SUITS, -1))
        codes = self.suit_out(code.relu_()).relu_()
        whole = self.trunk_in(torch.cat([codes.flatten(1), rest], dim=1)).relu_()
        return codes, self.trunk_out(whole).relu_()


def orthogonal(layer: nn.Linear, gain: float = 2**0.5) -> nn.Linear:
    """Give a layer orthogonal weights and zero biases."""
    nn.init.orthogonal_(layer.weight, gain)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer
