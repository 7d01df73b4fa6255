"""Measure agents against each other: average penalty a hand, or win shares of matches.

python evaluate.py heuristic duck
python evaluate.py runs/first/agent.pt duck heuristic --deals 10000 --out results.json
python evaluate.py heuristic duck --matches 500
"""

import dataclasses
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from black_maria.rules import Rules
from black_maria_agents import CheckpointError, load_agent
from black_maria_agents.arena import Result, both_ways, measure, par, result_table


@dataclass(frozen=True)
class EvaluateConfig:
    """Play every pair of agents, both ways, on duplicate deals in every rotation of the seats."""

    agents: Annotated[tuple[str, ...], tyro.conf.Positional] = ("heuristic", "duck")
    """Agents: random, duck, heuristic, or the path of a checkpoint (….pt)."""
    deals: int = 1000
    """Deals of each pair; each is played in every rotation."""
    matches: int = 0
    """Whole matches of each pair instead of deals; measures win shares."""
    seed: int = 0
    """Which of the test seeds; training never sees their deals."""
    rules: str = "three_player"
    """The profile to play by."""
    seats: int | None = None
    """Players at the table, where the profile leaves it open."""
    sampled: bool = False
    """Let checkpoints draw from their policy; otherwise they play the likeliest card."""
    out: Path | None = None
    """A JSON file for configuration and results."""


def main(config: EvaluateConfig) -> list[Result]:
    """Measure and print; the results, a pair after the other.

    Raises:
        ValueError: An unknown agent or profile, or a checkpoint that doesn't fit.
    """
    if len(set(config.agents)) < 2 or len(set(config.agents)) < len(config.agents):
        raise ValueError(f"give two or more different agents, not {' '.join(config.agents)}")
    if config.out is not None and not config.out.parent.is_dir():
        raise ValueError(f"--out {config.out}: there is no folder {config.out.parent}")
    rules = Rules.profile(config.rules, config.seats)
    agents = {
        name.removesuffix("/agent.pt"): load_agent(name, rules, greedy=not config.sampled)
        for name in config.agents
    }
    results = measure(
        agents,
        both_ways(agents),
        config.matches or config.deals,
        seed=config.seed,
        rules=rules,
        whole_matches=config.matches > 0,
    )
    Console().print(result_table(results, rules))
    if config.out is not None:
        content = {
            "config": dataclasses.asdict(config) | {"out": str(config.out)},
            "par": par(results[0].unit, rules),
            "results": [dataclasses.asdict(result) for result in results],
        }
        config.out.write_text(json.dumps(content, indent=2) + "\n")
    return results


if __name__ == "__main__":
    try:
        main(tyro.cli(EvaluateConfig))
    except (CheckpointError, ValueError) as error:
        sys.exit(f"evaluate.py: {error}")
