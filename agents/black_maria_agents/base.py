"""What an agent is: one method, batched and blind."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@runtime_checkable
class Agent(Protocol):
    """Chooses cards for many seats at once, from what those seats see and nothing else."""

    def act(
        self, obs: Mapping[str, NDArray[np.int8]], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Choose a card for every row.

        Args:
            obs: ``"observation"`` (B, F) int8 and ``"action_mask"`` (B, 52) int8, as
                ``black_maria.Tables.observe`` gives them.
            keys: (B,) uint64: each row's own randomness, a hash of (seed, deal, seat, ply).
                The same key and observation give the same card, whatever the other rows.

        Returns:
            Card ids that the mask allows, (B,) int64.
        """
        ...
