"""What an agent is: one method, batched and blind, a name, and an identity.

The bots are agents, and whatever plays in ``black_maria_agents``. An agent whose decisions hang on
the order of the cards played sets ``needs_history = True``; then its observations hold
``"history"`` as well (``wants_history`` tells).
"""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@runtime_checkable
class Agent(Protocol):
    """Chooses cards for many seats at once, from what those seats see and nothing else."""

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    @property
    def identity(self) -> str:
        """What tells it from other agents of its name: a hash of its file, how it plays."""
        ...

    def act(
        self, obs: Mapping[str, NDArray[np.int8]], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Choose a card for every row.

        Args:
            obs: ``"observation"`` (B, F) int8 and ``"action_mask"`` (B, 52) int8, as
                ``Tables.observe`` gives them, and ``"history"`` (B, R, 3) int8 for agents that
                need it.
            keys: (B,) uint64: each row's own randomness, a hash of (seed, deal, seat, ply).
                The same key and observation give the same card, whatever the other rows.

        Returns:
            Card ids that the mask allows, (B,) int64.
        """
        ...


def wants_history(agent: Agent) -> bool:
    """Whether an agent's observations are to hold ``"history"``."""
    return bool(getattr(agent, "needs_history", False))
