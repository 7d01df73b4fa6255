"""What stands between ``raw_env`` and its users: PettingZoo's checks, and the price of a revoke."""

from typing import Any

from pettingzoo.utils.env_logger import EnvLogger
from pettingzoo.utils.wrappers import OrderEnforcingWrapper


class RevokeWrapper(OrderEnforcingWrapper):
    """PettingZoo's checks, in one wrapper instead of three; an illegal card is a revoke.

    Each of PettingZoo's wrappers costs some 20 µs a step, most of it attributes that ``last``
    asks through all of them; this one asks the raw environment at once.
    """

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
        raw: Any = self.env
        if self._has_reset and raw.agents and not raw.terminations[raw.agent_selection]:
            self._has_updated = True
            legal = raw.is_legal(action)
            assert legal is not None, f"action is not in action space: {action!r} is no card"
            if not legal:
                EnvLogger.warn_on_illegal_move()
                raw.revoke()
                return
            raw.step(action)
        else:
            super().step(action)

    def __str__(self) -> str:
        return str(self.env)
