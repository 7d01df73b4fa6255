"""Agents for Black Maria: training, measuring, and ``load_agent``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

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
from black_maria_agents.network import PolicyAgent
from black_maria_agents.options import options_of
from black_maria_agents.search.pimc import FAMILY, SearchAgent, search_agent
from black_maria_agents.search.policy_search import PolicySearch
from black_maria_agents.worlds.sampling import Worlds, sample_worlds

__all__ = [
    "CHAMPIONS", "Agent", "CheckpointError", "PolicySearch", "SearchAgent", "Worlds",
    "load_agent", "sample_worlds",
]  # fmt: skip

_FOLDER: Final = Path(__file__).parent / "champions"
SEARCH: Final[Mapping[str, int | str | None]] = {"policy": "champion", "worlds": 64}
"""Options of the agent ``search``, and what stands for those that its name leaves out."""
CHAMPIONS: Final = tuple(sorted(path.stem for path in _FOLDER.glob("*.pt")))
"""Profiles that the package has a trained champion for."""


def checkpoint_of(name: str | Path, rules: Rules) -> Path:
    """The file of ``"champion"`` for these rules; any other name is a path itself.

    Raises:
        ValueError: These rules have no champion.
    """
    if name != "champion":
        return Path(name)
    if rules.name not in CHAMPIONS:
        there = ", ".join(CHAMPIONS)
        raise ValueError(f"there is no champion of {rules.name!r}, but of: {there}")
    return _FOLDER / f"{rules.name}.pt"


def load_agent(name: str, rules: str | Rules = "three_player", *, greedy: bool = True) -> Agent:
    """An agent by name or by its checkpoint's path.

    Args:
        name: ``"random"``, ``"duck"``, ``"heuristic"``; ``"champion"``, the best network trained
            for these rules; a search such as ``"pimc"`` or ``"pimc:worlds=30,sims=333"``; a
            policy that searches, ``"search:policy=champion,worlds=64"``, its policy a name or a
            path; or a path such as ``"runs/first/agent.pt"``.
        rules: A profile's name or rules.
        greedy: For networks: play the likeliest card; otherwise draw from the policy.

    Raises:
        ValueError: Nothing has that name.
        CheckpointError: The file can't be used; the message says why.
    """
    rules = as_rules(rules)
    family = name.partition(":")[0]
    if name in BOTS:
        return make_bot(name, rules)
    if name == "champion":
        return load_policy(checkpoint_of(name, rules), rules, greedy=greedy)
    if family == FAMILY:
        return search_agent(name, rules)
    if family == "search":
        options = options_of(name, SEARCH)
        policy = load_agent(str(options["policy"]), rules)
        if not isinstance(policy, PolicyAgent):
            raise ValueError(f"{name!r}: {options['policy']} isn't a network to search with")
        return PolicySearch(policy, rules, worlds=int(options["worlds"] or 0))
    if Path(name).suffix == ".pt" or Path(name).exists():
        return load_policy(name, rules, greedy=greedy)
    raise ValueError(
        f"no agent {name!r}: give one of {', '.join(BOTS)}, champion, {FAMILY}, search, "
        "or the path of a checkpoint (….pt)"
    )
