"""Forward passes at play, in which no row depends on its neighbours or on how many there are.

A matrix product is rounded as its shape will have it: one row takes another kernel than many do,
and the rows left over at the end of a block another than the rest. The last bits differ then,
which decides between two cards that are nearly equal. So every pass has one of a few sizes, to
which rows are padded, and a size is used only if it is seen to give, at every place, the bits
that the largest gives.
"""

from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from black_maria.cards import NUM_CARDS
from black_maria_agents.features import Features, gather

MOVED: Final = 5
"""Places by which rows are moved when sizes are compared."""
SIZES: Final = (12, 24, 48, 96, 144, 192, 288, 384)
"""Rows of a forward pass: multiples of what kernels take at once (6, 12 or 16), so that none are
left over. A pass costs 0.2 ms and 4.4 µs a row on one core: 12 rows a ninth of 512, and from
300 rows on larger ones gain nothing."""


class Inference:
    """A policy's log-probabilities for any number of rows, a few at a time.

    Args:
        policy: From features (B, F') int8 and mask (B, 52) int8 to log-probabilities (B, 52)
            float32, or of any other shape (B, …), each row by itself.
        features: What it reads.
    """

    def __init__(self, policy: nn.Module, features: Features) -> None:
        """Which sizes agree is seen when rows come."""
        self._policy = policy
        self._features = features
        self._weights = next(policy.parameters())
        self._agreeing: dict[tuple[torch.device, int], list[int]] = {}

    @torch.inference_mode()
    def __call__(self, observation: NDArray[np.int8], mask: NDArray[np.int8]) -> Tensor:
        """The log-probabilities (B, …) float32 on the CPU; −inf where the mask is 0.

        Args:
            observation: (B, F) int8.
            mask: (B, 52) int8.
        """
        index, sizes, count = self._features.index, self.sizes(), len(mask)
        result, start = torch.empty(0, NUM_CARDS), 0
        while start < count:
            size = next((size for size in sizes if size >= count - start), sizes[-1])
            rows = slice(start, min(start + size, count))
            features = np.zeros((size, len(index)), np.int8)
            gather(observation[rows], index, features)
            allowed = np.ones((size, NUM_CARDS), np.int8)
            allowed[: rows.stop - start] = mask[rows]
            found = self._pass(features, allowed)
            if start == 0:
                result = found.new_empty(count, *found.shape[1:])
            result[rows] = found[: rows.stop - start]
            start = rows.stop
        return result

    def sizes(self) -> list[int]:
        """The sizes that round alike on the policy's device with so many threads, ascending."""
        at = self._weights.device, torch.get_num_threads()
        if at not in self._agreeing:
            self._agreeing[at] = self._compared()
        return self._agreeing[at]

    @torch.inference_mode()
    def _compared(self) -> list[int]:
        """Compare every size with the largest, in 30 ms: kernels go by shapes, not by numbers."""
        most = SIZES[-1]
        draw = np.random.default_rng(0)
        features = draw.integers(0, 2, (most, len(self._features)), np.int8)
        mask = np.ones((most, NUM_CARDS), np.int8)
        expected = self._pass(features, mask).roll(MOVED, 0)
        features = np.roll(features, MOVED, 0)  # no row stands where it stood

        def agrees(size: int) -> bool:
            parts = (slice(end - size, end) for end in range(size, most + 1, size))
            return all(
                torch.equal(self._pass(features[part], mask[part]), expected[part])
                for part in parts
            )

        return [*filter(agrees, SIZES[:-1]), most]

    def _pass(self, features: NDArray[np.int8], mask: NDArray[np.int8]) -> Tensor:
        """One forward pass; on the CPU."""
        device = self._weights.device
        result: Tensor = self._policy(
            torch.from_numpy(features).to(device), torch.from_numpy(mask).to(device)
        )
        return result.cpu()
