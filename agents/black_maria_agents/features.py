"""What a network reads: blocks of the observation, named, in the network's own order.

Blocks are found in the layout by their names, so a network that knows them reads the same from a
layout that has more of them or has them in another order.
"""

import itertools
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from black_maria.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS, RANK_NAMES, SUIT_SYMBOLS
from black_maria.kernels import kernel
from black_maria.layout import Layout, seat_names

ZERO, ONE = -2, -1
"""Features that are the same in every observation, as entries of ``Features.index``."""


OF_MATCH: Final = ("hands_left", "totals")
"""Blocks that single hands leave at zero."""
MATCH_SCALE: Final = 1 / 64
"""What brings a match's totals to about one, as all other features are."""

Label = tuple[str, ...]
"""What a feature is, whatever the number of seats: ``("played", "left", "Q")``."""


class Features:
    """The observation in a network's order: suit by suit, then what isn't of a suit.

    A suit's features are its own cards and marks, all that isn't of a suit, and four constants
    that tell which suit it is; cards and marks stand block after block, in the order in which
    the blocks are named.

    Args:
        layout: The observation layout.
        blocks: Names of blocks of the layout.

    Attributes:
        blocks: Their shapes by name, in that order.
        seats: Seats at the table.
        index: (F',) int64, the observation's entry for every feature, or a constant.
        per_suit: Features of each of the four suits; they come first.
        rest: Where the blocks that aren't of a suit stand, from the end of the suits' features.
        num_rest: How many those are.
        of_match: Where those are among them that count up to a hundred; see ``scaled``.
        suit_labels: What each of a suit's features is: its block, seat and rank.
        rest_labels: The same of those that aren't of a suit.
    """

    def __init__(self, layout: Layout, blocks: Iterable[str]) -> None:
        """Sort the blocks by their last axis: cards, suits, or neither."""
        self.seats = layout.rules.seats
        self.blocks = {name: layout.blocks[name].shape for name in blocks}
        suits: list[NDArray[np.int64]] = []
        rest: list[NDArray[np.int64]] = []
        self.rest: dict[str, slice] = {}
        self.num_rest = 0
        self.suit_labels: list[Label] = []
        self.rest_labels: list[Label] = []
        for name, shape in self.blocks.items():
            block = layout.blocks[name]
            entries = np.arange(block.start, block.stop)
            if shape[-1] == NUM_CARDS:
                suits.append(entries.reshape(-1, NUM_SUITS, NUM_RANKS).swapaxes(0, 1))
                self.suit_labels += _labels(name, *block.axes[:-1], RANK_NAMES)
            elif block.axes[-1] == tuple(SUIT_SYMBOLS):
                suits.append(entries.reshape(-1, NUM_SUITS, 1).swapaxes(0, 1))
                self.suit_labels += _labels(name, *block.axes[:-1])
            else:
                self.rest[name] = slice(self.num_rest, self.num_rest + len(entries))
                self.num_rest += len(entries)
                rest.append(entries)
                self.rest_labels += _labels(name, *block.axes)
        self.suit_labels += [*self.rest_labels, *_labels("suit", tuple(SUIT_SYMBOLS))]
        self.of_match = [self.rest[name] for name in OF_MATCH if name in self.rest]
        others = np.concatenate(rest)
        by_suit = np.hstack(
            [
                *(part.reshape(NUM_SUITS, -1) for part in suits),
                np.tile(others, (NUM_SUITS, 1)),
                np.where(np.eye(NUM_SUITS), ONE, ZERO),
            ]
        )
        self.per_suit = by_suit.shape[1]
        self.index = np.concatenate([by_suit.reshape(-1), others])

    def __len__(self) -> int:
        """How many features."""
        return len(self.index)

    @property
    def kind(self) -> tuple[int | str, ...]:
        """The same for features that rows of one batch may have."""
        return self.seats, *self.blocks

    def of(self, observation: NDArray[np.int8]) -> NDArray[np.int8]:
        """The features (B, F') int8 of observations (B, F) int8."""
        features = np.empty((len(observation), len(self)), np.int8)
        gather(observation, self.index, features)
        return features

    def within(self, other: "Features") -> NDArray[np.int64]:
        """Where each of these features stands among another network's, (F',) int64.

        Raises:
            ValueError: The other network doesn't read all of these blocks; names those it lacks.
        """
        lacking = [name for name in self.blocks if name not in other.blocks]
        if lacking:
            raise ValueError(f"it doesn't read {', '.join(lacking)}")
        places = {int(entry): place for place, entry in enumerate(other.index)}
        return np.array([places[int(entry)] for entry in self.index])


def scaled(suits: Tensor, rest: Tensor, features: Features) -> None:
    """Bring the match's features to about one, in place.

    Args:
        suits: (B, 4, ``features.per_suit``) float, the suits' features.
        rest: (B, ``features.num_rest``) float, what isn't of a suit.
        features: What they are.
    """
    own = features.per_suit - NUM_SUITS - features.num_rest
    for columns in features.of_match:
        rest[:, columns] *= MATCH_SCALE
        suits[..., own + columns.start : own + columns.stop] *= MATCH_SCALE


def features_of(layout: Layout, blocks: Iterable[str] | None = None) -> Features:
    """The features of a layout, made once.

    Args:
        layout: The observation layout.
        blocks: Names of the blocks to read; without them all that matter under the layout's
            rules: who took what changes nothing that is to come unless a moon may be shot.
    """
    return _features(layout, tuple(telling(layout) if blocks is None else blocks))


def telling(layout: Layout) -> list[str]:
    """The blocks that matter under the layout's rules."""
    return [name for name in layout.blocks if name != "captured" or layout.rules.moon != "none"]


_features = lru_cache(Features)


@kernel
def gather(rows: NDArray[np.int8], index: NDArray[np.int64], out: NDArray[np.int8]) -> None:
    """Write ``rows[:, index]`` and the constants to ``out``."""
    for i in range(len(rows)):
        for k in range(len(index)):
            entry = index[k]
            out[i, k] = rows[i, entry] if entry >= 0 else entry == ONE


def hidden_labels(seats: int) -> list[Label]:
    """What each of a suit's inputs for the others' cards is, in the order of ``hidden_size``."""
    return _labels("hidden", seat_names(seats)[1:], ("held", "passed"), RANK_NAMES)


def _labels(name: str, *axes: tuple[str, ...]) -> list[Label]:
    """Names of a block's entries; who sits across from one of four is the next but one."""
    return [
        (name, *("seat +2" if label == "across" else label for label in labels))
        for labels in itertools.product(*axes)
    ]


def hidden_size(layout: Layout) -> int:
    """Inputs for the others' cards: held and picked to pass, of every other seat."""
    return (layout.rules.seats - 1) * 2 * NUM_CARDS
