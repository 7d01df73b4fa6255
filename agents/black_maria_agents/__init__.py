"""Agents for Black Maria: training, measuring, and ``load_agent``."""

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        "black_maria_agents needs PyTorch: install the extra, pip install 'black-maria[agents]'",
        name=__name__,  # python -m says this in a line then
    ) from error

from black_maria_agents.base import Agent
from black_maria_agents.checkpoint import CheckpointError
from black_maria_agents.loading import CHAMPIONS, load_agent, load_agents
from black_maria_agents.search.pimc import SearchAgent
from black_maria_agents.search.policy_search import PolicySearch
from black_maria_agents.worlds.sampling import Worlds, sample_worlds

__all__ = [
    "CHAMPIONS", "Agent", "CheckpointError", "PolicySearch", "SearchAgent", "Worlds",
    "load_agent", "load_agents", "sample_worlds",
]  # fmt: skip
