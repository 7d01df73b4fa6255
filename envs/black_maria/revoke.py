"""PettingZoo's checks around the environment, and what an illegal card costs there."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pettingzoo.utils import wrappers
from pettingzoo.utils.env_logger import EnvLogger

from black_maria.given import shown
from black_maria.turns import TurnsInOrder

if TYPE_CHECKING:
    from black_maria.aec import raw_env


class RevokeWrapper(wrappers.OrderEnforcingWrapper):
    """PettingZoo's checks, in one wrapper instead of three; an illegal card is a revoke.

    Each of PettingZoo's wrappers costs some 20 µs a step, most of it attributes that ``last``
    asks through all of them; this one asks the raw environment at once.
    """

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """As the raw environment; one that is refused counts for nothing.

        Raises:
            ValueError: An impossible seed or option; nothing has changed.
        """
        self.env.reset(seed=seed, options=options)
        self._has_reset = self._has_updated = True

    def agent_iter(self, max_iter: int = 2**63) -> TurnsInOrder:
        """The agent to move, again and again; a step must lie between."""
        if not self._has_reset:
            EnvLogger.error_agent_iter_before_reset()
        return TurnsInOrder(self, max_iter)

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """As every PettingZoo environment has it."""
        if not self._has_reset:
            EnvLogger.error_observe_before_reset()
        return self.env.last(observe)  # type: ignore[no-any-return]

    def step(self, action: Any) -> None:
        """Pass or play a card for the agent to move; an illegal one costs it the hand.

        Raises:
            AssertionError: The action isn't one of the action space.
        """
        raw: raw_env = self.env
        if self._has_reset and raw.agents and not raw.terminations[raw.agent_selection]:
            self._has_updated = True
            legal = raw.is_legal(action)
            assert legal is not None, f"action is not in action space: {shown(action)} is no card"
            if not legal:
                EnvLogger.warn_on_illegal_move()
                raw.revoke()
                return
            raw.step(action)
        else:
            super().step(action)

    def __str__(self) -> str:
        return str(self.env)
