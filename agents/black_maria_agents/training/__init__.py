"""Training by self-play: a run and its folder, rollouts, opponents, the update."""

from black_maria_agents.training.config import PRESETS, TrainConfig
from black_maria_agents.training.opponents import OpponentPool
from black_maria_agents.training.ppo import PPO, PPOConfig
from black_maria_agents.training.run import Training
from black_maria_agents.training.selfplay import DivergenceError, SelfPlay

__all__ = [
    "PPO", "PRESETS", "DivergenceError", "OpponentPool", "PPOConfig", "SelfPlay", "TrainConfig",
    "Training",
]  # fmt: skip
