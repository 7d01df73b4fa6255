"""``BlackMariaVectorEnv`` as a ``VecEnv`` of Stable-Baselines3, for those who have that installed.

    from black_maria.sb3 import BlackMariaVecEnv

Nothing else in the package imports this module.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

try:
    from stable_baselines3.common.vec_env import VecEnv
    from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices
except ImportError as error:
    raise ImportError(
        "black_maria.sb3 needs Stable-Baselines3: install the extra, "
        "pip install 'black-maria[sb3]', which has sb3-contrib's MaskablePPO, too"
    ) from error

from black_maria.given import shown
from black_maria.seat import BlackMaria
from black_maria.vector import BlackMariaVectorEnv

_SHARED: Final = (
    "rules", "opponents", "seat", "illegal", "flatten", "history", "render_mode", "metadata",
)  # fmt: skip
"""Attributes of a ``BlackMaria`` that all rows have in common."""


class BlackMariaVecEnv(VecEnv):
    """Many seats side by side for Stable-Baselines3; ``BlackMaria`` is the manual page.

    ```python
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import VecMonitor

    from black_maria.sb3 import BlackMariaVecEnv

    env = VecMonitor(BlackMariaVecEnv(64, opponents="duck", flatten=True))
    MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=512, gamma=1.0).learn(100_000)
    ```

    It plays what ``make_vec_env("black_maria:BlackMaria-v0", num_envs)`` plays, number for
    number, in a fraction of the time. Row i is a ``BlackMaria`` seeded seed + i. Where an episode
    ends, the step returns the next one's first observation; the last one is in the row's
    ``info["terminal_observation"]``, and the next one's info in ``reset_infos``. Masks are
    found by ``env_method("action_masks")``, as sb3-contrib asks for them. A policy without masks
    needs ``illegal="lose"``. ``VecMonitor`` adds the episodes' returns to the log.

    Args:
        num_envs: How many rows, 1 or more.
        **arguments: ``BlackMaria``'s. ``"MlpPolicy"`` needs ``flatten=True``. Tables are drawn
            with ``render_mode="rgb_array"``, side by side.
    """

    def __init__(self, num_envs: int = 1, **arguments: Any) -> None:
        """Set the tables up; ``reset`` deals."""
        self._envs = BlackMariaVectorEnv(num_envs, **arguments)
        self._actions: NDArray[Any] | None = None
        super().__init__(
            self._envs.num_envs, self._envs.single_observation_space, self._envs.single_action_space
        )
        self.metadata = BlackMaria.metadata

    def reset(self) -> Any:
        """Start a new episode in every row, with the seeds and options set before, if any.

        Returns:
            Observations, (N, F) int8 with ``flatten=True``, else a dictionary of arrays.

        Raises:
            ValueError: An impossible seed or option.
        """
        seeds, options = self._seeds, self._options
        self._reset_seeds()  # both count once, and not again if they are refused
        self._reset_options()
        if not any(options):
            obs, infos = self._envs.reset(seed=seeds)
            self.reset_infos = self._rows(infos)
            return obs
        for row, each in enumerate(options):
            mask = np.arange(self.num_envs) == row
            obs, infos = self._envs.reset(seed=seeds, options={**each, "reset_mask": mask})
            self.reset_infos[row] = self._rows(infos)[row]
        return obs

    def step_async(self, actions: NDArray[Any]) -> None:
        """Take the cards of all rows, (N,) integers; ``step_wait`` plays them."""
        self._actions = actions

    def step_wait(
        self,
    ) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Play the cards given, and let the opponents move.

        Returns:
            Observations; rewards (N,) float32; dones (N,) bool; an info for each row.

        Raises:
            ValueError: Not (N,) integers, or an illegal card, with ``illegal="raise"``; no
                row has moved.
            RuntimeError: No cards were given, or an opponent failed.
        """
        if self._actions is None:
            raise RuntimeError("no cards were given: call step(), or step_async() first")
        actions, self._actions = self._actions, None
        obs, rewards, done, _, batch = self._envs.step(actions)
        infos = self._rows(batch)
        if done.any():
            last = self._rows(batch["final_info"])
            for row in np.flatnonzero(done):
                self.reset_infos[row] = infos[row]
                infos[row] = last[row] | {"terminal_observation": batch["final_obs"][row]}
        for info in infos:
            info["TimeLimit.truncated"] = False
        return obs, rewards.astype(np.float32), done, infos

    def close(self) -> None:
        """Let go of the tables."""
        self._envs.close()

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """A picture of every row, with ``render_mode="rgb_array"``."""
        return self._envs.render() or [None] * self.num_envs

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """An attribute of a ``BlackMaria``, for each of these rows.

        Raises:
            AttributeError: Rows have none of that name.
        """
        rows = list(self._get_indices(indices))
        if attr_name == "action_masks":
            return [partial(self._mask, row) for row in rows]
        if attr_name in ("observation_space", "action_space"):
            return [getattr(self, attr_name)] * len(rows)
        if attr_name not in _SHARED:
            known = ", ".join((*_SHARED, "observation_space", "action_space", "action_masks"))
            raise AttributeError(f"no attribute {shown(attr_name)} of a row; there are: {known}")
        return [getattr(self._envs, attr_name)] * len(rows)

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Refused: what rows have they have in common, and it stays.

        Raises:
            AttributeError: Always.
        """
        raise AttributeError(f"{shown(attr_name)} can't be set: make another BlackMariaVecEnv")

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: VecEnvIndices = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        """What ``action_masks()`` or ``render()`` of these rows return.

        Raises:
            AttributeError: Another method: rows move together.
        """
        rows = list(self._get_indices(indices))
        if method_name not in ("action_masks", "render"):
            raise AttributeError(
                f"no method {shown(method_name)} of a row; there are: action_masks, render"
            )
        values = getattr(self._envs, method_name)(*method_args, **method_kwargs)
        return [None if values is None else values[row] for row in rows]

    def env_is_wrapped(self, wrapper_class: Any, indices: VecEnvIndices = None) -> list[bool]:
        """No row is wrapped in anything."""
        return [False for _ in self._get_indices(indices)]

    def _mask(self, row: int) -> NDArray[np.bool_]:
        masks: NDArray[np.bool_] = self._envs.action_masks()[row]
        return masks

    def _rows(self, infos: dict[str, Any]) -> list[dict[str, Any]]:
        """Gymnasium's batch of infos as those that single environments give."""
        seats, dealers = infos["seat"].tolist(), infos["dealer"].tolist()
        return [
            {"action_mask": mask, "seat": seat, "dealer": dealer, "totals": totals}
            for mask, seat, dealer, totals in zip(
                infos["action_mask"], seats, dealers, infos["totals"], strict=True
            )
        ]
