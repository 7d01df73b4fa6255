"""A network that reads the rules starts from one that knows a single profile.

What a specialist has learnt of holding up, counting and discarding serves under other rules, too.
Its weights go to the features that both read, by their labels; what the specialist doesn't know
(the rules, prices, further seats) starts so that nothing changes at its own table.
"""

from collections.abc import Mapping
from typing import Final

import torch
from torch import Tensor

from black_maria.cards import NUM_SUITS
from black_maria_agents.features import Features, Label, hidden_labels
from black_maria_agents.network import OracleCritic, Policy
from black_maria_agents.universal import MOST_SEATS, UniversalNetwork

_SILENT: Final = (
    "body.priced_in.weight", "body.rules.told_out.weight", "body.rules.told_out.bias",
    "body.rules.whole.weight", "body.rules.whole.bias",
)  # fmt: skip
"""What is added to the specialist's layers; it says nothing at first."""


@torch.no_grad()
def adopt(
    network: Policy | OracleCritic, weights: Mapping[str, Tensor], features: Features
) -> None:
    """Give a network that reads the rules the weights of one that doesn't.

    At the specialist's own rules it then computes what the specialist does.

    Args:
        network: The policy or the critic, which reads the rules.
        weights: The specialist's, by name, of the same width.
        features: What the specialist reads.

    Raises:
        ValueError: The specialist reads what the network doesn't; says what. Nothing is changed.
    """
    body, state = network.body, network.state_dict()
    if not isinstance(body, UniversalNetwork):
        raise TypeError("only a network that reads the rules can adopt")
    codes = NUM_SUITS * len(weights["body.suit_out.weight"])
    suits, rest = weights["body.trunk_in.weight"].tensor_split([codes], dim=1)
    first = {
        "body.suit_in.weight": (
            weights["body.suit_in.weight"], features.suit_labels, network.features.suit_labels
        ),
        "body.rest_in.weight": (rest, features.rest_labels, network.features.rest_labels),
    }  # fmt: skip
    if body.hidden_in is not None:
        first["body.hidden_in.weight"] = (
            weights["body.hidden_in.weight"], hidden_labels(features.seats),
            hidden_labels(MOST_SEATS),
        )  # fmt: skip
    adopted = dict(weights) | {"body.trunk_in.weight": suits}
    adopted |= {name: _placed(*layer) for name, layer in first.items()}
    adopted |= {name: torch.zeros_like(state[name]) for name in _SILENT}
    network.load_state_dict(state | adopted)


def _placed(weight: Tensor, known: list[Label], labels: list[Label]) -> Tensor:
    """Columns of a first layer, in the order of other labels; 0 for what it doesn't read."""
    lacking = set(known) - set(labels)
    if lacking:
        raise ValueError(f"it reads {' '.join(min(lacking))}, which the network doesn't")
    places = {label: place for place, label in enumerate(known)}
    silent = len(known)
    index = [places.get(label, places.get(_next(label), silent)) for label in labels]
    columns = torch.cat([weight, weight.new_zeros(len(weight), 1)], dim=1)
    return columns[:, index]


def _next(label: Label) -> Label:
    """The label with the left neighbour for a seat further on, whom a smaller table hasn't."""
    return tuple("left" if part.startswith("seat +") else part for part in label)
