"""A rule-of-thumb player: batched, it sees an observation and its mask, nothing else."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from black_maria.bots.batch import check_batch
from black_maria.bots.duck import duck_kernel
from black_maria.bots.heuristic import heuristic_kernel
from black_maria.bots.random import random_kernel
from black_maria.engine import rules_record
from black_maria.layout import layout_of
from black_maria.rules import Rules, as_rules

_KERNELS: Final[Mapping[str, Callable[..., Any]]] = {
    "random": random_kernel,
    "duck": duck_kernel,
    "heuristic": heuristic_kernel,
}
BOTS: Final = tuple(_KERNELS)
"""The players' names."""


class Bot:
    """A batched rule-of-thumb player.

    Attributes:
        name: ``"random"``, ``"duck"`` …
        rules: The rules it plays by.
    """

    def __init__(self, name: str, rules: Rules) -> None:
        """Look the player's kernel up; ``make_bot`` checks the name."""
        self.name = name
        self.rules = rules
        self._kernel = _KERNELS[name]
        self._layout = layout_of(rules)
        self._record = rules_record(rules)

    @property
    def identity(self) -> str:
        """Its name: there is one bot of each."""
        return self.name

    def __reduce__(self) -> tuple[Callable[..., "Bot"], tuple[str, Rules]]:
        """Pickle by name: another process finds its own compiled kernel."""
        return make_bot, (self.name, self.rules)

    def act(
        self, obs: Mapping[str, NDArray[np.int8]], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Choose a card for every row.

        Args:
            obs: ``"observation"`` (B, F) int8 and ``"action_mask"`` (B, 52) int8.
            keys: (B,) uint64, each row's own randomness.

        Returns:
            Legal card ids, (B,) int64.

        Raises:
            ValueError: Wrong shapes or dtypes, or a row without a legal card.
        """
        observation, mask = check_batch(obs, keys, self._layout)
        actions = np.empty(len(keys), np.int64)
        self._kernel(observation, mask, keys, self._record, self._layout.record, actions)
        return actions


def make_bot(name: str, rules: str | Rules = "three_player") -> Bot:
    """The player of that name.

    Raises:
        ValueError: There is no such player, or no such profile.
    """
    if name not in BOTS:
        raise ValueError(f"no bot {name!r}; there are: {', '.join(BOTS)}")
    return Bot(name, as_rules(rules))
