"""TorchRL's PPO with masks on the vector environment, by `GymWrapper` and `MaskedCategorical`.

    pip install "black-maria[agents]" -r examples/requirements/torchrl.txt
    python examples/torchrl_ppo.py

One seat learns against two `random` players. `GymWrapper` finds out what `info` holds by a random
step, without a mask, which needs `illegal="lose"`; it takes the mask from there, so the
observation is the vector alone, `flatten=True`. For all seats at once there is
`PettingZooWrapper(black_maria_v0.env(), use_mask=True, group_map=None)`, which works and is slow:
docs/ecosystem.md.
"""

import time
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.data import LazyTensorStorage, SamplerWithoutReplacement, TensorDictReplayBuffer
from torchrl.envs import Compose, DTypeCastTransform, GymWrapper, TransformedEnv
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from black_maria import BlackMariaVectorEnv, Rules, make_bot
from black_maria_agents.measuring import Estimate, play_deals

ROLLOUTS, ROWS, HANDS = 47, 64, 2
ROLLOUT = ROWS * 20 * HANDS
STEPS = ROLLOUTS * ROLLOUT


def layers(outputs: int) -> nn.Sequential:
    """A network from the observation to so many numbers."""
    return nn.Sequential(
        nn.Linear(656, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, outputs)
    )


class TorchRLAgent:
    """A trained network as an agent of the arena."""

    name = identity = "torchrl_ppo"

    def __init__(self, logits: nn.Module) -> None:
        """Take the network over for play."""
        self.logits = logits

    @torch.inference_mode()
    def act(self, obs: Any, keys: Any) -> NDArray[np.int64]:
        """The likeliest legal card of every row."""
        logits = self.logits(torch.from_numpy(obs["observation"]).float())
        legal = torch.from_numpy(obs["action_mask"]).bool()
        return logits.where(legal, -torch.inf).argmax(-1).numpy()


def main() -> float:
    """Train, then measure alone against two random players; the points a hand."""
    torch.set_num_threads(1)  # batches are small: two threads wait for each other
    torch.manual_seed(1)
    start = time.process_time()
    rows = BlackMariaVectorEnv(ROWS, opponents="random", illegal="lose", flatten=True)
    env = TransformedEnv(
        GymWrapper(rows, categorical_action_encoding=True),
        Compose(
            DTypeCastTransform(torch.int8, torch.float32, in_keys=["observation"]),
            DTypeCastTransform(torch.int8, torch.bool, in_keys=["action_mask"]),
        ),
    )
    env.set_seed(1)

    logits, value = layers(52), ValueOperator(layers(1))
    actor = ProbabilisticActor(
        TensorDictModule(logits, ["observation"], ["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        spec=env.action_spec,
    )
    loss = ClipPPOLoss(actor, value, entropy_coeff=0.01, normalize_advantage=True)
    advantage = GAE(gamma=1.0, lmbda=0.95, value_network=value)
    adam = torch.optim.Adam(loss.parameters(), lr=1e-3)
    memory = TensorDictReplayBuffer(
        storage=LazyTensorStorage(ROLLOUT), sampler=SamplerWithoutReplacement(), batch_size=512
    )

    for batch in Collector(env, actor, frames_per_batch=ROLLOUT, total_frames=STEPS):
        for _ in range(4):
            with torch.no_grad():
                advantage(batch)
            memory.empty()
            memory.extend(batch.reshape(-1))
            for _ in range(ROLLOUT // 512):
                losses = loss(memory.sample())
                total = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
                adam.zero_grad()
                total.backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                adam.step()
    print(f"learnt from {STEPS:,} decisions in {time.process_time() - start:.1f} s")

    rules = Rules.profile("three_player")
    points = play_deals(TorchRLAgent(logits), make_bot("random"), range(500), seed=1, rules=rules)
    score = Estimate.of(points.mean(axis=1))
    print(f"alone against two random: {score.text()} points a hand, par {rules.par:.2f}")
    return score.mean


if __name__ == "__main__":
    assert main() < 10, "clearly better than random"
