"""The observation vector, declared once: named blocks, their offsets, and back into words.

Every consumer asks here: the engine's encoder gets the offsets as a record, learners get
slices by name, people get ``describe``. No other file knows an index.

``python -m black_maria.layout`` prints the table *index → meaning* (docs/observation.md).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from black_maria.cards import NUM_CARDS, SUIT_SYMBOLS, card_name
from black_maria.given import array
from black_maria.rules import Rules, RulesGiven, as_rules

_CARDS = tuple(card_name(card) for card in range(NUM_CARDS))
_SUITS = tuple(SUIT_SYMBOLS)


@dataclass(frozen=True)
class Block:
    """A run of the vector that means one thing."""

    name: str
    axes: tuple[tuple[str, ...], ...]
    """What each index along each axis stands for."""
    meaning: str
    start: int
    number: bool = False
    """Its entries are amounts; otherwise they are counts of a thing present, mostly 0 or 1."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The block's shape, e.g. (seats, 52)."""
        return tuple(len(axis) for axis in self.axes)

    @property
    def stop(self) -> int:
        """One past the block's last index."""
        return self.start + prod(self.shape)

    def words(self, values: NDArray[Any]) -> str:
        """The block's content, e.g. ``"me: 2♦ Q♠; left: 3♦"`` or ``"–"`` where it is empty."""
        values = values.reshape(self.shape)
        if values.ndim == 1:
            return self._row(values) or "–"
        rows = ((seat, self._row(row)) for seat, row in zip(self.axes[0], values, strict=True))
        return "; ".join(f"{seat}: {row}" for seat, row in rows if row) or "–"

    def _row(self, row: NDArray[Any]) -> str:
        labels = self.axes[-1]
        if self.number:
            pairs = zip(labels, row, strict=True)
            return ", ".join(f"{label} {value}".strip() for label, value in pairs)
        return " ".join(label for label, n in zip(labels, row, strict=True) for _ in range(n))


def seat_names(seats: int) -> tuple[str, ...]:
    """Seats as an observer calls them, clockwise: me, left, …, right."""
    middle = ("across",) if seats == 4 else tuple(f"seat +{k}" for k in range(2, seats - 1))
    return ("me", "left", *middle, "right")


def _declare(rules: Rules) -> Iterator[tuple[str, tuple[tuple[str, ...], ...], str, bool]]:
    """Name, axes, meaning, and whether it holds amounts: block after block."""
    seats = seat_names(rules.seats)
    on_table = tuple(str(count) for count in range(rules.seats))
    yield "holding", (_CARDS,), "cards I hold", False
    yield "passed", (_CARDS,), "cards I gave away, from the moment I picked them", False
    yield "received", (_CARDS,), "cards I was given, once all seats have committed", False
    yield "played", (seats, _CARDS), "cards played in this hand, by seat", False
    yield "trick", (seats, _CARDS), "cards on the table in this trick, by seat", False
    yield "led", (_SUITS,), "suit led to this trick", False
    yield "voids", (seats, _SUITS), "suits that a seat has shown it doesn't hold", False
    yield "captured", (seats, _CARDS), "cards taken in tricks, by seat", False
    yield (
        "phase",
        (("passing", "playing"),),
        "what is to be done; both 0 when the hand is over",
        False,
    )
    yield "position", (on_table,), "how many cards are on the table", False
    yield "dealer", (seats,), "who dealt", False
    yield "pass_to", (seats,), "who gets the cards I pass (me: nobody passes)", False
    yield "hearts_broken", (("yes",),), "hearts may be led (0 where the rules don't ask)", False
    yield (
        "hands_left",
        (("",),),
        "hands to come in a match of fixed length, else 0",
        True,
    )
    yield "totals", (seats,), "match points so far, clipped to −128…127", True


def table_of(blocks: Iterable[Block]) -> str:
    """The table *index → meaning* of some blocks, in Markdown."""
    lines = ["| index | block | shape | meaning |", "|---|---|---|---|"]
    for block in blocks:
        span = (
            f"{block.start}"
            if block.stop == block.start + 1
            else (f"{block.start}…{block.stop - 1}")
        )
        shape = " × ".join(str(size) for size in block.shape)
        lines.append(f"| {span} | `{block.name}` | {shape} | {block.meaning} |")
    return "\n".join(lines)


class Layout:
    """The observation layout of a set of rules.

    Attributes:
        rules: The rules it was made for.
        blocks: The blocks in order, by name.
        size: Length F of the vector.
    """

    def __init__(self, rules: Rules) -> None:
        """Lay the blocks out one after the other."""
        self.rules = rules
        self.blocks: dict[str, Block] = {}
        self.size = 0
        for name, axes, meaning, number in _declare(rules):
            self.blocks[name] = Block(name, axes, meaning, self.size, number)
            self.size = self.blocks[name].stop

    def __getitem__(self, name: str) -> slice:
        """Where a block lies: ``vector[..., layout["holding"]]``."""
        if name not in self.blocks:
            raise KeyError(f"no block {name!r}; there are: {', '.join(self.blocks)}")
        return slice(self.blocks[name].start, self.blocks[name].stop)

    def split(self, vector: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """A vector (…, F) as its blocks, each (…, *block shape); views where NumPy can."""
        vector = self._checked(vector)
        return {
            name: vector[..., self[name]].reshape(*vector.shape[:-1], *block.shape)
            for name, block in self.blocks.items()
        }

    def describe(self, vector: NDArray[Any]) -> str:
        """One observation vector (F,) in words, a line a block.

        Raises:
            ValueError: It is no vector of this layout.
        """
        vector = self._checked(vector)
        if vector.ndim != 1 or vector.dtype.kind not in "iu":
            raise ValueError(
                f"describe takes one integer vector ({self.size},), "
                f"not {vector.dtype} {vector.shape}"
            )
        if vector.min() < -128 or vector.max() > 127:
            raise ValueError("describe takes a vector whose entries fit int8, −128 … 127")
        return "\n".join(
            f"{name:<14}{block.words(vector[self[name]])}" for name, block in self.blocks.items()
        )

    def table(self) -> str:
        """The table *index → meaning*, in Markdown."""
        return table_of(self.blocks.values())

    @cached_property
    def record(self) -> NDArray[Any]:
        """The blocks' offsets, as the one-element record array that kernels read."""
        offsets = np.dtype([(name, np.int64) for name in self.blocks], align=True)
        dtype = np.dtype((np.record, offsets))
        return np.array([tuple(block.start for block in self.blocks.values())], dtype)

    def _checked(self, vector: NDArray[Any]) -> NDArray[Any]:
        vector = array(vector)
        if vector.shape[-1:] != (self.size,):
            raise ValueError(
                f"an observation of {self.rules.name!r} has {self.size} entries, "
                f"not shape {vector.shape}"
            )
        return vector


def layout_of(rules: RulesGiven = "three_player") -> Layout:
    """The layout of a profile or of given rules, made once.

    Raises:
        ValueError: There is no profile of that name.
    """
    return _layout(as_rules(rules))


@lru_cache
def _layout(rules: Rules) -> Layout:
    return Layout(rules)


def describe(vector: NDArray[Any], rules: RulesGiven = "three_player") -> str:
    """One observation vector (F,) in words, a line a block."""
    return layout_of(rules).describe(vector)


if __name__ == "__main__":
    print(layout_of().table())
