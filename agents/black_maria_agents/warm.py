"""What compiles this package's kernels, for ``python -m black_maria.warm``."""

from collections.abc import Callable, Iterator
from typing import Any

from black_maria.rules import Rules
from black_maria.tables import Tables
from black_maria_agents.loading import load_agent
from black_maria_agents.training.config import TrainConfig
from black_maria_agents.training.run import Training


def steps() -> Iterator[tuple[str, Callable[[], object]]]:
    """Steps as ``black_maria.warm.steps`` has them."""
    yield "sampled worlds, pimc", lambda: _ask("pimc:worlds=1,sims=2")
    yield "network and its search", lambda: _ask("search:policy=champion,worlds=2")
    yield "training", _train
    yield "training by many rules", lambda: _train(rules="mixed", rule_sets=1)


def _train(**settings: Any) -> None:
    """Learn a first time."""
    Training(TrainConfig(width=4, tables=2, decisions=1, **settings)).step()


def _ask(name: str) -> None:
    """Let an agent pass and play once, with an observation's history."""
    tables = Tables(1, Rules(), history=True)
    agent = load_agent(name)
    for ply in range(tables.rules.plies()):
        obs, _ = tables.observe()
        asked = ply in (0, 30)  # passing, and in the middle of the hand
        keys = tables.keys()
        tables.step(agent.act(obs, keys) if asked else obs["action_mask"].argmax(axis=1))
