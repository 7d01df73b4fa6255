"""Tables that take turns: while a device thinks for some, the engine steps the others.

A device answers some time after it was asked. Waiting for it ply after ply would leave it idle
while the engine works, and the engine while it works. Two halves of the tables fill the time: at
every moment one is with the device and the other with the engine. One copy a ply goes there, a
packed row a table, one comes back, a card a table, and the host waits for nothing else.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, cuda

from black_maria.cards import NUM_CARDS
from black_maria.tables import Tables
from black_maria_agents.network import Policy, UnderRules, draw
from black_maria_agents.training.packing import Packing, Seen


class Half:
    """Tables that are asked for together.

    Args:
        tables: All tables.
        rows: Which of them.
        packing: How their rows are sent.
        device: Where the policy computes.

    Attributes:
        rows: Which tables.
        where: (N,) bool, the same.
        keys: (n,) uint64, each row's randomness when it was asked for last.
    """

    def __init__(self, tables: Tables, rows: slice, packing: Packing, device: torch.device) -> None:
        """Allocate what is copied from and to: page-locked, so that no copy waits."""
        self.rows = rows
        self.where = np.zeros(len(tables), np.bool_)
        self.where[rows] = True
        self._tables, self._packing, self._device = tables, packing, device
        count, on_cuda = rows.stop - rows.start, device.type == "cuda"
        self._sent = torch.empty(count, packing.row.itemsize, dtype=torch.uint8, pin_memory=on_cuda)
        self._records = self._sent.numpy().view(packing.row)[:, 0]
        self._cards = torch.empty(count, dtype=torch.int64, pin_memory=on_cuda)
        self._answered = cuda.Event() if on_cuda else None  # type: ignore[no-untyped-call]
        self.keys = np.empty(count, np.uint64)

    def ask(self, policy: Policy | UnderRules) -> tuple[Seen, Tensor]:
        """Let the device draw a card at every table; doesn't wait for it.

        Returns:
            What it was given, and the cards' log-probabilities (n,) float32, on the device.
        """
        states = self._tables.states()[self.rows]
        observation = self._tables.observe()[0]["observation"][self.rows]
        self.keys = self._tables.keys()[self.rows]
        self._packing.pack(states, observation, self.keys, self._records)
        seen = self._packing.unpack(self._sent.to(self._device, non_blocking=True))
        log_probs = policy(seen.features, seen.mask)
        cards = draw(log_probs, seen.uniform)
        chosen = log_probs.gather(-1, cards.clamp(max=NUM_CARDS - 1)[:, None]).squeeze(-1)
        cards = cards.masked_fill(~chosen.isfinite(), -1)  # tells without another copy
        self._cards.copy_(cards, non_blocking=True)
        if self._answered:
            self._answered.record()
        return seen, chosen

    def answer(self) -> NDArray[np.int64]:
        """Wait for the cards (n,); −1 where the probabilities aren't finite. A view."""
        if self._answered:
            self._answered.synchronize()
        return self._cards.numpy()

    def several(self) -> NDArray[np.bool_]:
        """Where there are several legal cards, (n,)."""
        legal = self._tables.states()["legal"][self.rows]
        several: NDArray[np.bool_] = (legal & (legal - 1)) != 0
        return several
