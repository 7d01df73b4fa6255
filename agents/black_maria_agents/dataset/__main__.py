"""Make a data set: ``python -m black_maria_agents.dataset champion heuristic -o data``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from black_maria.rules import Rules
from black_maria_agents.border import border
from black_maria_agents.console import PlainConsole, progress_on
from black_maria_agents.dataset.making import make
from black_maria_agents.loading import load_agents


@dataclass(frozen=True)
class DatasetConfig:
    """Let agents play hands, in every mix of seats, and keep every decision as Parquet."""

    agents: Annotated[tuple[str, ...], tyro.conf.Positional]
    """Who plays, by the names that ``load_agent`` knows, or paths of checkpoints (….pt)."""
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])]
    """A folder, new or empty."""
    hands: int = 10_000
    """How many hands."""
    seed: int = 0
    """Whose deals: 0 … 2⁶³ − 1, as those of training."""
    rules: str = "three_player"
    """The profile to play by."""
    seats: int | None = None
    """Players at the table, where the profile leaves it open."""
    sampled: bool = False
    """Let networks draw from their policy; otherwise they play the likeliest card."""


def main(config: DatasetConfig) -> None:
    """Make it, and say what was made.

    Raises:
        ValueError: Something given that can't be; says what would be right.
        OSError: A file couldn't be written.
    """
    rules = Rules.profile(config.rules, config.seats)
    agents = load_agents(config.agents, rules, greedy=not config.sampled)
    console = PlainConsole()
    with progress_on(console, "playing") as progress:
        rows = make(
            config.out, agents, config.hands,
            rules=rules, seed=config.seed, sampled=config.sampled, progress=progress,
        )  # fmt: skip
    console.print(f"{config.out}: {rows:,} decisions of {config.hands:,} hands; see its README.md")


if __name__ == "__main__":
    asked = tyro.cli(DatasetConfig, description=__doc__)
    with border("dataset"):
        main(asked)
