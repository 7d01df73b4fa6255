"""Measure agents against each other: average penalty a hand, or win shares of matches.

    python evaluate.py
    python evaluate.py runs/first/agent.pt duck heuristic --until 0.1 --out results.json
    python evaluate.py heuristic duck random --plot cross.png --record hands.jsonl
    python evaluate.py heuristic duck --matches 500
    torchrun --nproc_per_node 2 evaluate.py heuristic pimc:worlds=30,sims=333 --deals 200

Every pair plays both tables, on the same deals in every rotation of the seats. Ctrl-C prints
what has been played. Under ``torchrun`` the processes share the deals; the result is the same.
"""

import dataclasses
import json
import os
import signal
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import torch
import tyro
from rich.console import Console

from black_maria import record
from black_maria.rules import Rules
from black_maria_agents import CHAMPIONS, CheckpointError, load_agents
from black_maria_agents.distributed import joined
from black_maria_agents.files import replacing
from black_maria_agents.measuring import Arena, Result, both_ways, par, report
from black_maria_agents.measuring.stopping import MAX_UNTIL, look_points


@dataclass(frozen=True)
class EvaluateConfig:
    """Play every pair of agents, both ways, on duplicate deals in every rotation of the seats."""

    agents: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """Agents, by the names that ``load_agent`` knows, or paths of checkpoints (….pt): the
    profile's champion if it has one, heuristic and duck unless told."""
    deals: int | None = None
    """Deals of each pair, 1000 unless told; with ``--until`` the most of them, 128000."""
    matches: int = 0
    """Whole matches of each pair instead of deals; measures win shares."""
    until: float | None = None
    """Stop a pair when its interval's half-width is at most this: looked at after 250, 500,
    1000, … games."""
    seed: int = 0
    """Which of the test seeds; training never sees their deals."""
    rules: str = "three_player"
    """The profile to play by."""
    seats: int | None = None
    """Players at the table, where the profile leaves it open."""
    sampled: bool = False
    """Let checkpoints draw from their policy; otherwise they play the likeliest card."""
    out: Path | None = None
    """A JSON file (….json) for configuration and results; a CSV file is written beside it."""
    plot: Path | None = None
    """A PNG file (….png) for the cross-table as a heat map and a chart with the intervals."""
    record: Path | None = None
    """A file (….jsonl) for all hands played now, a line each; docs/records.md says how."""
    keep: Path | None = None
    """A file (….npz) that keeps the scores as they come; what it holds isn't played again."""


def main(config: EvaluateConfig) -> list[Result]:
    """Measure, print and write; the results, a table after the other.

    Raises:
        ValueError: An unknown agent or profile, a checkpoint that doesn't fit, or a file that
            can't be written.
    """
    files = {config.out: ".json", config.plot: ".png", config.record: ".jsonl", config.keep: ".npz"}
    for path, suffix in files.items():
        if path is not None and path.suffix != suffix:
            raise ValueError(f"{path}: give a name that ends in {suffix}")
        if path is not None and not path.parent.is_dir():
            raise ValueError(f"{path}: there is no folder {path.parent}")
    if config.until is not None and config.until <= 0:
        raise ValueError(f"until={config.until}: no interval is as narrow as that")
    torch.set_num_threads(1)  # for the last bits of results; processes use more cores
    rules = Rules.profile(config.rules, config.seats)
    names = config.agents or (*["champion"] * (rules.name in CHAMPIONS), "heuristic", "duck")
    if len(names) < 2:
        raise ValueError(f"give two or more different agents, not {' '.join(names)}")
    agents = load_agents(names, rules, greedy=not config.sampled)
    pairs = both_ways(agents)
    games = config.matches or config.deals
    if games is None:
        games = MAX_UNTIL if config.until is not None else 1000
    with joined() as ranks, ExitStack() as stack:
        console = Console(quiet=not ranks.first)
        arena = Arena(agents, rules, config.seed, config.matches > 0, ranks=ranks, keep=config.keep)
        if config.record is not None:
            arena.on_hands = lambda hands, names: None
            if ranks.first:
                target = stack.enter_context(replacing(config.record, "w"))
                episode = "match" if config.matches else "hand"
                arena.on_hands = lambda hands, names: record.write(
                    target, record.of_states(hands, rules, names, episode=episode)
                )
        try:
            with report.progress_on(console, "measuring") as progress:
                arena.play(pairs, games, until=config.until, progress=progress)
        except KeyboardInterrupt:
            if ranks.size > 1:  # torchrun passes it on, on top of the terminal's
                signal.signal(signal.SIGINT, signal.SIG_IGN)
            console.print("interrupted; this is what has been played:")
        results = arena.results(pairs, games, config.until)
        if results and ranks.first:
            show(config, results, rules, console)
    return results


def show(config: EvaluateConfig, results: list[Result], rules: Rules, console: Console) -> None:
    """Print the tables and write the files."""
    console.print(report.result_table(results, rules))
    if len(results) == 2:
        console.print(report.gains(results, rules))
    if not config.matches:
        console.print(report.source_table(results, rules))
    how = "draw from their policy" if config.sampled else "play their likeliest card"
    console.print(f"{rules.name}, {rules.seats} seats, test seed {config.seed}; checkpoints {how}")
    if config.until is not None:
        wide = sum(not result.score.half_width <= config.until for result in results)
        console.print(
            f"looks after {', '.join(map(str, look_points(10**9)[:3]))}, … games for "
            f"± {config.until}" + f"; {wide} of {len(results)} tables never got there" * (wide > 0)
        )
    if config.out is not None:
        about = {"config": dataclasses.asdict(config), "par": par(results[0].unit, rules)}
        report.write_files(config.out, results, json.loads(json.dumps(about, default=str)))
    if config.plot is not None:
        report.plot(config.plot, results, rules)


if __name__ == "__main__":
    try:
        found = main(tyro.cli(EvaluateConfig))
    except (CheckpointError, ValueError) as error:
        sys.exit(f"evaluate.py: {error}" if os.environ.get("RANK", "0") == "0" else 1)
    sys.exit(130 if not found or any(result.partial for result in found) else 0)
