"""One learner for many rules: MaskablePPO on `rules="mixed"`, measured under rules never seen.

    pip install "black-maria[agents]" -r examples/requirements/sb3.txt
    python examples/mixed_rules.py

Every episode draws house rules, and `flatten=True` puts them behind the observation. Points are
scaled to 43 a hand, or the dearest tables would drown the others. Then the model plays the
held-out rules of three seats (docs/generalisation.md).
"""

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env

from black_maria import BlackMariaVectorEnv, Rules
from black_maria.rulesets import HELD_OUT
from black_maria_agents.measuring import Estimate

STEPS = 150_000
HANDS = 200  # under each of the held-out rules


def scale(rules: Rules) -> float:
    """What makes 43 of all the points that are dealt, signs left out."""
    return 43 / sum(abs(rules.penalties[card]) for card in rules.deck)


class Scaled(gymnasium.RewardWrapper):
    """Hands for few points and for many count alike."""

    def reward(self, reward: float) -> float:
        """The same in parts of 43."""
        return reward * scale(self.unwrapped.rules)


def edges(model: MaskablePPO, rules: Rules) -> NDArray[np.float64]:
    """Others' mean less own of every hand, scaled, (HANDS,); a random player has 0 in the mean."""
    envs = BlackMariaVectorEnv(
        HANDS, opponents="random", rules=[rules], reward="relative", flatten=True
    )
    (obs, _), ended, total = envs.reset(seed=0), np.zeros(HANDS, bool), np.zeros(HANDS)
    while not ended.any():  # all hands are equally long
        cards, _ = model.predict(obs, action_masks=envs.action_masks(), deterministic=True)
        obs, rewards, ended, _, _ = envs.step(cards)
        total += rewards
    return total * scale(rules)


def main() -> float:
    """Train, then measure alone against two random players; the mean edge of unseen rules."""
    torch.set_num_threads(1)
    env = make_vec_env(
        "black_maria:BlackMaria-v0",
        n_envs=8,
        seed=1,
        env_kwargs={"rules": "mixed", "opponents": "random", "flatten": True},
        wrapper_class=Scaled,
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
    found = {name: edges(model, rules) for name, (rules, _) in HELD_OUT.items() if rules.seats == 3}
    for name, each in sorted(found.items(), key=lambda item: item[1].mean()):
        print(f"{name:<20}{Estimate.of(each).text()}")
    mean = Estimate.of(np.concatenate([*found.values()]))
    print(f"held-out rules, edge over two random: {mean.text()}")
    return mean.mean


if __name__ == "__main__":
    assert main() > 7, "clearly better than random"
