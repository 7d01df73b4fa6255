"""Tianshou's DQN with masks on the AEC environment, self-play, through `PettingZooEnv`.

    pip install "black-maria[agents]" -r examples/requirements/tianshou.txt
    python examples/tianshou_dqn.py

One network plays all seats. Tianshou's next state is the next seat's, so bootstrapping would mix
the players up: a horizon of 60 steps, a whole hand, makes the targets what the hand really came
to for the seat (as DouZero learns). For the same reason its PPO can't be used: a trick's points
mostly fall at another seat's step, and there they are lost.
"""

import time
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tianshou.algorithm import DQN, MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from torch import Tensor, nn

from black_maria import Rules, black_maria_v0, make_bot
from black_maria_agents.measuring import Estimate, play_deals

EPOCHS, EPOCH_STEPS, TABLES = 10, 3_000, 10


class Values(nn.Module):
    """The value of every card, in units of ten points."""

    def __init__(self) -> None:
        """Make the layers."""
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(656, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 52)
        )

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> tuple[Tensor, Any]:
        """As Tianshou calls networks."""
        return self.layers(torch.as_tensor(np.asarray(obs), dtype=torch.float32)), state


class TianshouAgent:
    """A trained network as an agent of the arena."""

    name = identity = "tianshou_dqn"

    def __init__(self, values: Values) -> None:
        """Take the network over for play."""
        self.values = values

    @torch.inference_mode()
    def act(self, obs: Any, keys: Any) -> NDArray[np.int64]:
        """The best legal card of every row."""
        values, _ = self.values(obs["observation"])
        return (
            values.where(torch.from_numpy(obs["action_mask"]).bool(), -torch.inf).argmax(-1).numpy()
        )


def main() -> float:
    """Train, then measure alone against two random players; the points a hand."""
    torch.set_num_threads(1)  # batches are small: two threads wait for each other
    torch.manual_seed(1)
    np.random.seed(1)  # noqa: NPY002 - Tianshou draws from the global generator
    start = time.process_time()
    tables = DummyVectorEnv([lambda: PettingZooEnv(black_maria_v0.env()) for _ in range(TABLES)])
    tables.seed(1)
    env = PettingZooEnv(black_maria_v0.env())
    values = Values()
    policy = DiscreteQLearningPolicy(model=values, action_space=env.action_space, eps_training=0.1)
    learner = DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=1e-3),
        gamma=1.0,
        n_step_return_horizon=60,
    )
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=[learner] * 3, env=env)
    algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=Collector(algorithm, tables, VectorReplayBuffer(30_000, TABLES)),
            max_epochs=EPOCHS,
            epoch_num_steps=EPOCH_STEPS,
            collection_step_num_env_steps=600,
            update_step_num_gradient_steps_per_sample=1 / 30,
            batch_size=512,
            test_in_training=False,
            verbose=False,
            show_progress=False,
        )
    )
    seconds = time.process_time() - start
    print(f"learnt from {EPOCHS * EPOCH_STEPS:,} decisions in {seconds:.1f} s")

    rules = Rules.profile("three_player")
    points = play_deals(TianshouAgent(values), make_bot("random"), range(500), seed=1, rules=rules)
    score = Estimate.of(points.mean(axis=1))
    print(f"alone against two random: {score.text()} points a hand, par {rules.par:.2f}")
    return score.mean


if __name__ == "__main__":
    assert main() < 10, "clearly better than random"
