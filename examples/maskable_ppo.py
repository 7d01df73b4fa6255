"""sb3-contrib's MaskablePPO on many seats side by side: `black_maria.sb3.BlackMariaVecEnv`.

    pip install "black-maria[agents]" -r examples/requirements/sb3.txt
    python examples/maskable_ppo.py

One seat learns against two `random` players; MaskablePPO finds the masks by itself.
"""

import time
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

from black_maria import Rules, make_bot
from black_maria.sb3 import BlackMariaVecEnv
from black_maria_agents.measuring import Estimate, play_deals

STEPS = 120_000


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
    torch.set_num_threads(1)  # batches are small: two threads wait for each other
    start = time.process_time()
    model = MaskablePPO(
        "MlpPolicy",
        BlackMariaVecEnv(64, opponents="random", flatten=True),
        n_steps=40,  # two hands
        batch_size=512,
        n_epochs=4,
        gamma=1.0,
        learning_rate=1e-3,
        policy_kwargs={"net_arch": [128, 128]},
        seed=1,
    )
    model.learn(STEPS)
    seconds = time.process_time() - start
    print(f"learnt from {model.num_timesteps:,} decisions in {seconds:.1f} s")
    rules = Rules.profile("three_player")
    points = play_deals(MaskableAgent(model), make_bot("random"), range(500), seed=1, rules=rules)
    score = Estimate.of(points.mean(axis=1))
    print(f"alone against two random: {score.text()} points a hand, par {rules.par:.2f}")
    return score.mean


if __name__ == "__main__":
    assert main() < 10, "clearly better than random"
