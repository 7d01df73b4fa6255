"""sb3-contrib's MaskablePPO on the single-seat environment.

    pip install "black-maria[agents]" -r examples/requirements/sb3.txt
    python examples/maskable_ppo.py

One seat learns against two `random` players; the mask is found by `action_masks()`.
"""

from typing import Any

if __name__ == "__main__":
    from black_maria import extras

    extras.check(
        "agents", "maskable_ppo.py", "sb3-contrib", also="-r examples/requirements/sb3.txt"
    )

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env

from black_maria import Rules, make_bot
from black_maria_agents.measuring import Estimate, play_deals

STEPS = 60_000


class MaskableAgent:
    """A trained model as an agent of the arena."""

    name = identity = "maskable_ppo"

    def __init__(self, model: MaskablePPO) -> None:
        """Take the model over for play."""
        self.model = model

    def act(self, obs: Any, keys: Any) -> NDArray[np.int64]:
        """The likeliest legal card of every row."""
        cards, _ = self.model.predict(
            obs["observation"], action_masks=obs["action_mask"], deterministic=True
        )
        return cards


def main() -> float:
    """Train, then measure alone against two random players; the points a hand."""
    torch.set_num_threads(1)
    env = make_vec_env(
        "black_maria:BlackMaria-v0",
        n_envs=8,
        seed=1,
        env_kwargs={"opponents": "random", "flatten": True},
    )
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=256,
        batch_size=512,
        n_epochs=4,
        gamma=1.0,
        learning_rate=1e-3,
        policy_kwargs={"net_arch": [128, 128]},
        seed=1,
    )
    model.learn(STEPS)
    rules = Rules.profile("three_player")
    points = play_deals(MaskableAgent(model), make_bot("random"), range(500), seed=1, rules=rules)
    score = Estimate.of(points.mean(axis=1))
    print(f"alone against two random: {score.text()} points a hand, par {rules.par:.2f}")
    return score.mean


if __name__ == "__main__":
    assert main() < 10, "clearly better than random"
