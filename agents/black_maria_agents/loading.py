"""Agents by name or by the path of their checkpoint."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from black_maria.bots import BOTS, make_bot
from black_maria.rules import Rules, as_rules
from black_maria_agents import tensors
from black_maria_agents.base import Agent
from black_maria_agents.checkpoint import load_policy
from black_maria_agents.guesser import guess_for
from black_maria_agents.network import PolicyAgent
from black_maria_agents.options import options_of
from black_maria_agents.search import pimc, policy_search
from black_maria_agents.search.pimc import search_agent
from black_maria_agents.search.policy_search import PolicySearch
from black_maria_agents.universal import check_readable

_FOLDER: Final = Path(__file__).parent / "champions"
UNIVERSAL: Final = "champion:universal"
"""The champion that reads the rules."""
CHAMPIONS: Final = tuple(
    sorted(path.stem for path in _FOLDER.glob("*.pt") if path.stem != "universal")
)
"""Profiles that the package has a trained champion of its own for."""
_SEARCH_OPTIONS: Final[Mapping[str, int | str | None]] = {
    "policy": "champion",
    "worlds": policy_search.WORLDS,
}


def checkpoint_of(name: str | Path, rules: Rules) -> Path:
    """The file of ``"champion"`` for these rules; any other name is a path itself.

    A profile's own champion comes first; ``"champion:universal"``, which reads the rules, is for
    all others.

    Raises:
        ValueError: These rules have no champion.
    """
    if name not in ("champion", UNIVERSAL):
        return Path(name)
    if name == "champion" and rules.name in CHAMPIONS and rules == Rules.profile(rules.name):
        return _FOLDER / f"{rules.name}.pt"
    try:
        check_readable(rules)
    except ValueError as error:
        raise ValueError(f"there is no champion of {rules.name!r}: {error}") from None
    return _FOLDER / "universal.pt"


def load_agent(name: str, rules: str | Rules = "three_player", *, greedy: bool = True) -> Agent:
    """An agent by name or by its checkpoint's path.

    Args:
        name: ``"random"``, ``"duck"``, ``"heuristic"``; ``"champion"``, the best network for
            these rules: their own, or one that reads any rules of 3 to 6 seats and one pack,
            ``"champion:universal"``; a search such as ``"pimc"`` or
            ``"pimc:worlds=30,sims=333"``; a policy that searches,
            ``"search:policy=champion,worlds=16"``, its policy a name or a path; or a path such
            as ``"runs/first/agent.pt"``, or of a policy that was exported,
            ``"champion.safetensors"``.
        rules: A profile's name or rules.
        greedy: For networks: play the likeliest card; otherwise sample from the policy.

    Raises:
        ValueError: Nothing has that name.
        CheckpointError: The file can't be used; the message says why.
    """
    rules = as_rules(rules)
    family = name.partition(":")[0]
    if name in BOTS:
        return make_bot(name, rules)
    if family == pimc.FAMILY:
        return search_agent(name, rules)
    if family == policy_search.FAMILY:
        options = options_of(name, _SEARCH_OPTIONS, policy_search.MOST_WORLDS)
        policy = load_agent(str(options["policy"]), rules)
        if not isinstance(policy, PolicyAgent):
            raise ValueError(f"{name!r}: {options['policy']} isn't a network to search with")
        worlds, guess = int(options["worlds"] or 0), guess_for(rules)
        return PolicySearch(policy, rules, worlds=worlds, name=name, guess=guess)
    if Path(name).suffix == ".safetensors":
        return tensors.load_policy(name, rules, greedy=greedy, name=name)
    if name in ("champion", UNIVERSAL) or Path(name).suffix == ".pt" or _there(name):
        path = checkpoint_of(name, rules)
        if path.is_dir():
            raise ValueError(
                f"{name!r} is a folder: give the checkpoint in it, {path / 'agent.pt'}"
            )
        return load_policy(path, rules, greedy=greedy, name=name)
    raise ValueError(
        f"no agent {name!r}: give one of {', '.join(BOTS)}, champion, {pimc.FAMILY}, "
        f"{policy_search.FAMILY}, or the path of a checkpoint (….pt) or of an exported policy "
        "(….safetensors)"
    )


def _there(name: str) -> bool:
    """Whether there is a file or a folder of that name; what can't be a path's name isn't there."""
    try:
        return bool(name) and Path(name).exists()
    except (OSError, ValueError):
        return False


def load_agents(
    names: Iterable[str], rules: str | Rules = "three_player", *, greedy: bool = True
) -> dict[str, Agent]:
    """Agents as ``load_agent`` knows them, by what tables call them: a run's by its folder.

    Raises:
        ValueError: Nothing has that name, or one agent is given twice.
        CheckpointError: A file can't be used; the message says why.
    """
    agents: dict[str, Agent] = {}
    for name in names:
        short = name.removesuffix("/agent.pt")
        if short in agents:
            raise ValueError(f"{short} is given twice: give different agents")
        agents[short] = load_agent(name, rules, greedy=greedy)
    return agents
