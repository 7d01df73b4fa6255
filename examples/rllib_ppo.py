"""RLlib's PPO with action masks on the AEC environment, self-play, two rollout workers.

    pip install "black-maria[agents]" -r examples/requirements/rllib.txt
    python examples/rllib_ppo.py

One shared policy plays all seats. This is also how to use a cluster: `ray.init(address=…)`,
more `num_env_runners`, `num_learners`.
"""

import time
from typing import Any

if __name__ == "__main__":
    from black_maria import extras

    extras.check("agents", "rllib_ppo.py", "ray", also="-r examples/requirements/rllib.txt")

import gymnasium
import numpy as np
import ray
import torch
from pettingzoo.utils import BaseWrapper
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune import register_env

from black_maria import Rules, black_maria_v0, make_bot
from black_maria_agents.measuring import Estimate, play_deals

ITERATIONS, BATCH = 12, 3000


class ForRLlib(BaseWrapper):  # type: ignore[misc]
    """Observations as RLlib's masking module wants them: floats, and its own key."""

    def observation_space(self, agent: str) -> gymnasium.spaces.Dict:
        """The original space, renamed."""
        size = self.env.observation_space(agent)["observation"].shape
        return gymnasium.spaces.Dict(
            {
                "observations": gymnasium.spaces.Box(-128, 127, size, np.float32),
                "action_mask": gymnasium.spaces.Box(0, 1, (52,), np.float32),
            }
        )

    def observe(self, agent: str) -> dict[str, Any]:
        """The original observation, renamed."""
        observation = super().observe(agent)
        return {
            "observations": observation["observation"].astype(np.float32),
            "action_mask": observation["action_mask"].astype(np.float32),
        }


class RLlibAgent:
    """A trained module as an agent of the arena."""

    name = identity = "rllib_ppo"

    def __init__(self, module: Any) -> None:
        """Take the module over for play."""
        self.module = module

    @torch.inference_mode()
    def act(self, obs: Any, keys: Any) -> np.ndarray:
        """The likeliest legal card of every row."""
        batch = {
            "obs": {
                "observations": torch.from_numpy(obs["observation"]).float(),
                "action_mask": torch.from_numpy(obs["action_mask"]).float(),
            }
        }
        return self.module.forward_inference(batch)["action_dist_inputs"].argmax(-1).numpy()


def main() -> float:
    """Train, then measure alone against two random players; the points a hand."""
    register_env("black_maria", lambda _: PettingZooEnv(ForRLlib(black_maria_v0.env())))
    config = (
        PPOConfig()
        .environment("black_maria")
        .env_runners(num_env_runners=2, num_envs_per_env_runner=1)
        .training(lr=1e-3, gamma=1.0, train_batch_size_per_learner=BATCH, num_epochs=6)
        .multi_agent(policies={"shared"}, policy_mapping_fn=lambda agent, episode, **_: "shared")
        .rl_module(
            rl_module_spec=MultiRLModuleSpec(
                rl_module_specs={
                    "shared": RLModuleSpec(
                        module_class=ActionMaskingTorchRLModule,
                        model_config={"fcnet_hiddens": [128, 128], "vf_share_layers": False},
                    )
                }
            )
        )
        .debugging(seed=1)
    )
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False)
    algorithm = config.build_algo()
    start = time.perf_counter()  # the workers are processes of their own
    for iteration in range(ITERATIONS):
        result = algorithm.train()
        returns = result["env_runners"]["agent_episode_returns_mean"]
        print(iteration, {agent: round(value, 1) for agent, value in returns.items()}, flush=True)
    seconds = time.perf_counter() - start
    print(f"learnt from {ITERATIONS * BATCH:,} decisions in {seconds:.1f} s")
    agent = RLlibAgent(algorithm.get_module("shared"))
    rules = Rules.profile("three_player")
    points = play_deals(agent, make_bot("random"), range(500), seed=1, rules=rules)
    score = Estimate.of(points.mean(axis=1))
    print(f"alone against two random: {score.text()} points a hand, par {rules.par:.2f}")
    algorithm.stop()
    ray.shutdown()
    return score.mean


if __name__ == "__main__":
    assert main() < 10, "clearly better than random"
