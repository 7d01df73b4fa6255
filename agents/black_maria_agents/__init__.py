"""Agents for Black Maria: training, measuring, and ``load_agent``."""

from pathlib import Path

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        "black_maria_agents needs PyTorch: install the extra, pip install 'black-maria[agents]'"
    ) from error

from black_maria.bots import BOTS, make_bot
from black_maria.rules import Rules, as_rules
from black_maria_agents.base import Agent
from black_maria_agents.checkpoint import CheckpointError, load_policy
from black_maria_agents.search import FAMILY, SearchAgent, search_agent
from black_maria_agents.worlds import Worlds, sample_worlds

__all__ = ["Agent", "CheckpointError", "SearchAgent", "Worlds", "load_agent", "sample_worlds"]


def load_agent(name: str, rules: str | Rules = "three_player", *, greedy: bool = True) -> Agent:
    """An agent by name or by its checkpoint's path.

    Args:
        name: ``"random"``, ``"duck"``, ``"heuristic"``, a search such as ``"pimc"`` or
            ``"pimc:worlds=30,sims=333"``, or a path such as ``"runs/first/agent.pt"``.
        rules: A profile's name or rules.
        greedy: For checkpoints: play the likeliest card; otherwise draw from the policy.

    Raises:
        ValueError: Nothing has that name.
        CheckpointError: The file can't be used; the message says why.
    """
    rules = as_rules(rules)
    if name in BOTS:
        return make_bot(name, rules)
    if name.partition(":")[0] == FAMILY:
        return search_agent(name, rules)
    if Path(name).suffix == ".pt" or Path(name).exists():
        return load_policy(name, rules, greedy=greedy)
    raise ValueError(
        f"no agent {name!r}: give one of {', '.join(BOTS)}, {FAMILY}, "
        "or the path of a checkpoint (….pt)"
    )
