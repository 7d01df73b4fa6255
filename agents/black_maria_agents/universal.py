"""What lets a network read the rules: one for every table of three to six seats.

Such a network is made for six seats. A table with fewer has features for those alone, and the
weights of absent seats aren't used. The rules' vector (``black_maria.rules_vector``) is read once
for each set of rules in a batch, not for each row: its code is added to the first layers of every
row that is played by them. Prices also meet the cards themselves: what is held, on the table and
played is read a second time, each card times its price.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import one_hot

from black_maria.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS, RANK_NAMES
from black_maria.kernels import kernel
from black_maria.layout import Layout, layout_of
from black_maria.rules import Rules
from black_maria.rules_vector import RULES_BLOCKS, RULES_SIZE, rules_vector
from black_maria_agents.features import (
    OF_MATCH,
    Features,
    Label,
    features_of,
    hidden_labels,
    scaled,
)
from black_maria_agents.layers import Inputs, numbers, orthogonal

MOST_SEATS: Final = 6


def layout_for(seats: int) -> Layout:
    """The layout that all rules of so many seats have, whatever else they say."""
    return layout_of(Rules.profile("traditional", seats))


def check_readable(rules: Rules) -> None:
    """Refuse tables that these networks aren't made for.

    Raises:
        ValueError: Says for which they are.
    """
    if rules.seats > MOST_SEATS or rules.packs > 1:
        raise ValueError(
            f"an agent that reads the rules plays with 3 to {MOST_SEATS} seats and one pack; "
            f"{rules.name!r} has {rules.seats} seats and {rules.packs} pack(s)"
        )


@dataclass(frozen=True)
class RulesRows:
    """Which rules each row of a batch is played by; all with features of one kind."""

    features: Features
    """What the rows hold."""
    vectors: Tensor
    """(n, R) float32: the rules, a vector a set."""
    of: Tensor
    """(B,) int64: which of them each row is played by."""

    def rows(self, index: Tensor) -> "RulesRows":
        """Some of the rows."""
        return replace(self, of=self.of.index_select(0, index))

    def part(self, rows: slice) -> "RulesRows":
        """Some of the rows, one after another."""
        return replace(self, of=self.of[rows])

    @classmethod
    def joined(cls, several: "Sequence[RulesRows]") -> "RulesRows":
        """One after another; their features are of one kind."""
        starts = np.cumsum([0, *(len(each.vectors) for each in several)])
        of = [each.of + int(start) for each, start in zip(several, starts, strict=False)]
        vectors = torch.cat([each.vectors for each in several])
        return cls(several[0].features, vectors, torch.cat(of))


def vector_of(rules: Rules) -> Tensor:
    """The rules' vector, (1, R) float32."""
    return torch.from_numpy(rules_vector(rules))[None]


class RulesReader(nn.Module):
    """From rules' vectors to what is added to a network's first layers.

    Args:
        clauses: Names of the blocks of the vector that are read.
        suit: Units of the first layer of a suit.
        width: Units of the trunk's first layer.
    """

    _planes: Tensor
    _rest: Tensor

    def __init__(self, clauses: Iterable[str], suit: int, width: int) -> None:
        """Sort the blocks: of cards, which are read suit by suit, or not."""
        super().__init__()
        entries = np.arange(RULES_SIZE)
        planes: list[NDArray[np.int64]] = []
        rest: list[NDArray[np.int64]] = []
        for name in clauses:
            block = RULES_BLOCKS[name]
            part = entries[block.start : block.stop]
            of_cards = block.shape[-1] == NUM_CARDS
            (planes if of_cards else rest).append(part)
        cards = np.stack(planes).reshape(-1, NUM_SUITS, NUM_RANKS).swapaxes(0, 1)
        # buffers go where the weights go; from elsewhere each pass would copy them
        self.register_buffer(
            "_planes", torch.from_numpy(cards.reshape(NUM_SUITS, -1).copy()), persistent=False
        )
        self.register_buffer("_rest", torch.from_numpy(np.concatenate(rest)), persistent=False)
        inputs = self._planes.shape[1] + len(self._rest)
        self.told_in = nn.Linear(inputs, suit)
        self.told_out = nn.Linear(suit, suit)
        self.whole = nn.Linear(len(self._rest), width)

    def forward(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """For the suits (n, 4, suit) and for the whole (n, width).

        Args:
            vectors: (n, R) float32.
        """
        rest = vectors[:, self._rest]
        planes = vectors[:, self._planes]
        both = torch.cat([planes, rest[:, None].expand(-1, NUM_SUITS, -1)], dim=-1)
        return self.told_out(self.told_in(both).relu_()), self.whole(rest)


class UniversalNetwork(nn.Module):
    """From features and rules to a code for every suit and one for the whole.

    As ``network.SuitNetwork``, for any number of seats.

    Args:
        blocks: The blocks of the observation that it reads, by name.
        clauses: The blocks of the rules' vector that it reads, by name.
        width: Units of the trunk's two layers; a suit's two layers have a half and a quarter.
        hidden: Whether the others' cards are read as well.
    """

    def __init__(
        self, blocks: Iterable[str], clauses: Iterable[str], width: int, *, hidden: bool = False
    ) -> None:
        """Make the layers; orthogonal weights, as PPO's implementations have them."""
        super().__init__()
        suit, self._all = width // 4, features_of(layout_for(MOST_SEATS), blocks)
        self.suit_in = orthogonal(nn.Linear(self._all.per_suit, 2 * suit))
        self.priced_in = orthogonal(nn.Linear(len(PRICED) * NUM_RANKS, 2 * suit, bias=False))
        self.suit_out = orthogonal(nn.Linear(2 * suit, suit))
        self.trunk_in = orthogonal(nn.Linear(NUM_SUITS * suit, width))
        self.rest_in = orthogonal(nn.Linear(self._all.num_rest, width, bias=False))
        self.trunk_out = orthogonal(nn.Linear(width, width))
        self.rules = RulesReader(clauses, 2 * suit, width)
        self.hidden_in: nn.Linear | None = None
        if hidden:
            inputs = len(hidden_labels(MOST_SEATS))
            self.hidden_in = orthogonal(nn.Linear(inputs, 2 * suit, bias=False))
        with torch.no_grad():  # as SuitNetwork: single hands leave them there
            for layer, labels in (
                (self.suit_in, self._all.suit_labels), (self.rest_in, self._all.rest_labels)
            ):  # fmt: skip
                of_match = [label[0] in OF_MATCH for label in labels]
                layer.weight[:, torch.tensor(of_match)] = 0
        self._places: dict[tuple[Any, ...], _Places] = {}

    def read(self, features: Tensor, rules: RulesRows) -> Inputs:
        """What the first layers take, for training: on the CPU one pass of a kernel makes it.

        That takes half the time of ``_read``, whose result it is to the last bit.

        Args:
            features: (B, F') int8, in the order of ``rules.features``.
            rules: What the rows are played by.
        """
        if features.device.type != "cpu":
            return self._read(features, rules)
        here, kind = self._places_of(rules.features, features.device), rules.features
        rows, inputs = len(features), kind.per_suit + here.priced.shape[1]
        suits = torch.empty(rows, NUM_SUITS, inputs)
        rest = torch.empty(rows, kind.num_rest + len(rules.vectors))
        prices = rules.vectors[:, _PRICES].reshape(-1, NUM_SUITS, NUM_RANKS).contiguous()
        read_rows(
            features.numpy(), rules.of.numpy(), prices.numpy(), here.blocks, here.scale,
            suits.numpy(), rest.numpy(),
        )  # fmt: skip
        return Inputs(numbers(suits), numbers(rest))

    def _read(self, features: Tensor, rules: RulesRows) -> Inputs:
        """Cards times their prices beside a suit's features; beside the rest a row's rules.

        Those are a 1 among zeros.
        """
        here, per_suit = self._places_of(rules.features, features.device), rules.features.per_suit
        suits, rest = features.tensor_split([NUM_SUITS * per_suit], dim=1)
        suits, rest = numbers(suits).view(-1, NUM_SUITS, per_suit), numbers(rest)
        scaled(suits, rest, rules.features)
        prices = rules.vectors[:, _PRICES].reshape(-1, NUM_SUITS, NUM_RANKS)
        prices = prices.repeat(1, 1, len(PRICED)).to(suits.dtype).index_select(0, rules.of)
        played_by = one_hot(rules.of, len(rules.vectors)).to(rest.dtype)
        return Inputs(
            torch.cat([suits, suits @ here.priced * prices], dim=-1),
            torch.cat([rest, played_by], dim=-1),
        )

    def forward(
        self, features: Tensor | Inputs, hidden: Tensor | None, rules: RulesRows
    ) -> tuple[Tensor, Tensor]:
        """Codes of the suits (B, 4, width / 4) and of the whole (B, width).

        Args:
            features: (B, F') int8, in the order of ``rules.features``; or what ``read`` made of
                them.
            hidden: (B, ``hidden_size``) int8, suit by suit.
            rules: What the rows are played by.
        """
        suits, rest = features if isinstance(features, Inputs) else self._read(features, rules)
        here = self._places_of(rules.features, suits.device)
        suit_code, whole_code = self.rules(rules.vectors)
        # the code of a row's rules is picked by a product with its 1 among zeros: faster to learn
        # through than by index. All else is added as it is multiplied, which saves passes over it
        played_by = rest[:, rules.features.num_rest :]
        code = played_by @ (suit_code + self.suit_in.bias).flatten(1)
        code = torch.addmm(
            code.view(-1, suit_code.shape[-1]),
            suits.flatten(0, 1),
            torch.cat(
                [self.suit_in.weight.index_select(1, here.suit), self.priced_in.weight], 1
            ).t(),
        )
        if hidden is not None and self.hidden_in is not None:
            weight = self.hidden_in.weight.index_select(1, here.hidden)
            code = torch.addmm(code, numbers(hidden).view(-1, weight.shape[1]), weight.t())
        codes = self.suit_out(code.relu_()).relu_().unflatten(0, (-1, NUM_SUITS))
        whole_code = whole_code + self.trunk_in.bias
        whole = rest @ torch.cat([self.rest_in.weight.index_select(1, here.rest).t(), whole_code])
        whole = torch.addmm(whole, codes.flatten(1), self.trunk_in.weight.t()).relu_()
        return codes, self.trunk_out(whole).relu_()

    def _places_of(self, features: Features, device: torch.device) -> "_Places":
        """Where a table's features stand among those of six seats."""
        key = *features.kind, device
        if key not in self._places:
            hidden = hidden_labels(features.seats)
            with torch.inference_mode(False):  # training needs them, too
                self._places[key] = _Places(
                    suit=_found(features.suit_labels, self._all.suit_labels, device),
                    rest=_found(features.rest_labels, self._all.rest_labels, device),
                    hidden=_found(hidden, hidden_labels(MOST_SEATS), device),
                    priced=_summed(features.suit_labels, device),
                    blocks=_blocks(features.suit_labels),
                    scale=_scale(features),
                )
        return self._places[key]


PRICED: Final = ("holding", "trick", "played")
"""Blocks of cards that are read once more times their prices, all seats together."""
_PRICES: Final = slice(RULES_BLOCKS["penalties"].start, RULES_BLOCKS["penalties"].stop)
"""Where the cards' prices stand in the rules' vector."""


@dataclass(frozen=True)
class _Places:
    """Columns of the weights for six seats that a table with fewer needs."""

    suit: Tensor
    rest: Tensor
    hidden: Tensor
    priced: Tensor
    """(``per_suit``, 39) float32, of 0 and 1: sums the blocks ``PRICED`` over the seats."""
    blocks: NDArray[np.int64]
    """(3, 2): the same for ``read_rows``: where each block starts among a suit's features, and for
    how many seats."""
    scale: NDArray[np.float32]
    """(``per_suit`` + ``num_rest``,): what ``scaled`` multiplies by, a suit's and the rest."""


def _found(labels: list[Label], among: list[Label], device: torch.device) -> Tensor:
    """Where labels stand among others."""
    places = {label: place for place, label in enumerate(among)}
    return torch.tensor([places[label] for label in labels], device=device)


def _summed(labels: list[Label], device: torch.device) -> Tensor:
    """The product that sums each block of ``PRICED`` over the seats, card by card."""
    cards = [(block, rank) for block in PRICED for rank in RANK_NAMES]
    return torch.tensor(
        [[float((label[0], label[-1]) == card) for card in cards] for label in labels],
        device=device,
    )


def _blocks(labels: list[Label]) -> NDArray[np.int64]:
    """Where the blocks of ``PRICED`` start, seat after seat, and for how many seats."""
    names = [label[0] for label in labels]
    return np.array([(names.index(name), names.count(name) // NUM_RANKS) for name in PRICED])


def _scale(features: Features) -> NDArray[np.float32]:
    """What ``scaled`` multiplies a suit's features and the rest by."""
    suits, rest = torch.ones(1, NUM_SUITS, features.per_suit), torch.ones(1, features.num_rest)
    scaled(suits, rest, features)
    scale: NDArray[np.float32] = torch.cat([suits[0, 0], rest[0]]).numpy()
    return scale


@kernel
def read_rows(
    features: NDArray[np.int8],
    of: NDArray[np.int64],
    prices: NDArray[np.float32],
    blocks: NDArray[np.int64],
    scale: NDArray[np.float32],
    suits: NDArray[np.float32],
    rest: NDArray[np.float32],
) -> None:
    """Write what a network's first layers take; see ``UniversalNetwork.read``.

    Args:
        features: (B, F').
        of: (B,), which rules each row is played by.
        prices: (n, 4, 13), of the cards by those.
        blocks: (3, 2), see ``_Places``.
        scale: (per_suit + num_rest,), see ``_Places``.
        suits: (B, 4, per_suit + 39), written.
        rest: (B, num_rest + n), written.
    """
    num_rest = rest.shape[1] - len(prices)
    per_suit = len(scale) - num_rest
    for i in range(len(features)):
        for suit in range(NUM_SUITS):
            own, out, costs = features[i, suit * per_suit :], suits[i, suit], prices[of[i], suit]
            for k in range(per_suit):
                out[k] = np.float32(own[k]) * scale[k]
            out[per_suit:] = 0
            for block in range(len(blocks)):
                start, seats = blocks[block]
                priced = out[per_suit + NUM_RANKS * block :]
                for seat in range(seats):
                    cards = own[start + NUM_RANKS * seat :]
                    for rank in range(NUM_RANKS):
                        priced[rank] += np.float32(cards[rank]) * costs[rank]
        for k in range(num_rest):
            rest[i, k] = features[i, NUM_SUITS * per_suit + k] * scale[per_suit + k]
        rest[i, num_rest:] = 0
        rest[i, num_rest + of[i]] = 1
