"""Rows on their way to a device: bits there, a byte an entry once they have arrived.

On the CPU kernels write a rollout's features, a byte each. To send those would take 0.8 kB a row
and 0.5 µs of the host's time, more than the engine takes for a whole step. So the host sends the
observation as bits, sets of cards as the planes that the state has, and all else that a choice
takes in the same row; the device looks up each feature's bit.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from black_maria.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS
from black_maria.kernels import kernel
from black_maria.layout import Layout
from black_maria_agents.features import Features
from black_maria_agents.network import uniform_of

_PLANE: Final = 64
"""Bits of a set's plane; its first 52 are the cards."""


@dataclass(frozen=True)
class Seen:
    """What the rows of a batch hold."""

    features: Tensor
    """(B, F') int8: what the acting seat sees, in the networks' order."""
    hidden: Tensor
    """(B, H) int8: the others' cards, as ``selfplay.hidden_cards`` has them."""
    mask: Tensor
    """(B, 52) int8: legal cards."""
    uniform: Tensor
    """(B,) float32: each row's own randomness, see ``network.uniform_of``."""


class Packing:
    """How rows are packed, and unpacked.

    Args:
        layout: The observation's layout.
        features: What the networks read of it.
        device: Where rows are unpacked.

    Attributes:
        row: A packed row, a record type of whole words: 136 bytes for three seats.
    """

    def __init__(self, layout: Layout, features: Features, device: torch.device) -> None:
        """Find where every entry's bits stand."""
        seats, packs = layout.rules.seats, layout.rules.packs
        numbers = [block for block in layout.blocks.values() if block.number]
        self._amounts = np.concatenate([np.arange(each.start, each.stop) for each in numbers])
        octets = -(-layout.size // 8)
        self.row = np.dtype(
            [
                ("legal", np.int64),
                ("hidden", np.int64, (seats - 1, 2, packs)),  # of each other seat: held, passed
                ("uniform", np.float32),
                ("constants", np.uint8),
                ("amounts", np.int8, len(self._amounts)),  # entries that aren't counts of a thing
                (
                    "counts",
                    np.uint8,
                    (packs, octets),
                ),  # of the whole vector: is it above 0, above 1
            ],
            align=True,
        )
        self._start = {name: int(field[1]) for name, field in (self.row.fields or {}).items()}
        parts = [self._bits(layout, features, plane) for plane in range(packs)]
        self._sizes = [len(part) for part in parts[0]]
        self._places = [torch.from_numpy(np.concatenate(part)).to(device) for part in parts]
        self._shifts = torch.arange(8, dtype=torch.uint8, device=device)

    def _bits(self, layout: Layout, features: Features, plane: int) -> list[NDArray[np.int64]]:
        """Where the bits of a plane stand, of all features, hidden cards and legal cards.

        Plane 0 tells whether a card is there, plane 1 whether its twin is, too.
        """
        bit = {name: 8 * start for name, start in self._start.items()}
        zero, one = bit["constants"], bit["constants"] + 1
        others, kinds, packs = self.row["hidden"].shape
        entries = bit["counts"] + 8 * self.row["counts"].shape[1] * plane + np.arange(layout.size)
        entries[self._amounts] = 8 * self.row.itemsize + np.arange(len(self._amounts))
        if plane:
            entries[self._amounts] = one = zero
        # the index has ZERO and ONE for constants, -2 and -1: the last two
        observation = np.concatenate([entries, [zero, one]])[features.index]
        sets = bit["hidden"] + _PLANE * np.arange(plane, others * kinds * packs, packs)
        cards = np.arange(NUM_CARDS).reshape(NUM_SUITS, 1, NUM_RANKS)
        legal = bit["legal"] + np.arange(NUM_CARDS)
        return [
            observation,
            (sets[:, None] + cards).reshape(-1),
            np.full(NUM_CARDS, zero) if plane else legal,
        ]

    def pack(
        self,
        states: NDArray[Any],
        observation: NDArray[np.int8],
        keys: NDArray[np.uint64],
        rows: NDArray[Any],
    ) -> None:
        """Write what the acting seats see, and what they don't, into rows.

        Args:
            states: (B,) records of ``engine.STATE``.
            observation: (B, F) int8, of the seats to move.
            keys: (B,) uint64, from ``Tables.keys``.
            rows: (B,) records of ``row``, written.
        """
        rows["legal"] = states["legal"]
        rows["uniform"] = uniform_of(keys)
        rows["constants"] = 0b10
        rows["amounts"] = observation[:, self._amounts]
        for plane in range(len(self._places)):
            there = observation > plane if plane else observation
            rows["counts"][:, plane] = np.packbits(there, axis=1, bitorder="little")
        hidden_planes(states, rows["hidden"])

    def unpack(self, rows: Tensor) -> Seen:
        """What packed rows hold.

        Args:
            rows: (B, bytes of ``row``) uint8, on the device.
        """
        bits = (rows[:, :, None] >> self._shifts & 1).flatten(1)
        start = self._start["amounts"]
        amounts = rows[:, start : start + len(self._amounts)]
        entries = torch.cat([bits, amounts], dim=1).view(torch.int8)
        values = entries.index_select(1, self._places[0])
        for twins in self._places[1:]:
            values += entries.index_select(1, twins)
        features, hidden, mask = torch.split(values, self._sizes, dim=1)
        start = self._start["uniform"]
        uniform = rows[:, start : start + 4].view(torch.float32).squeeze(1)
        return Seen(features, hidden, mask, uniform)


@kernel
def hidden_planes(states: NDArray[Any], planes: NDArray[np.int64]) -> None:
    """Write what the acting seats can't see, as ``selfplay.hidden_cards``, plane by plane.

    Args:
        states: (N,) records of ``engine.STATE``.
        planes: (N, seats − 1, 2, packs) int64, written: what each other seat clockwise holds, and
            what it has picked to pass.
    """
    for i in range(len(states)):
        state = states[i]
        seats, packs = planes.shape[1] + 1, planes.shape[3]
        for step in range(1, seats):
            other = (state.turn + step) % seats
            for plane in range(packs):
                planes[i, step - 1, 0, plane] = state.holding[other, plane]
                planes[i, step - 1, 1, plane] = state.given[other, plane]
