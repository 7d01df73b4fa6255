"""Write docs/ladder.md and its picture: every player against every other, both ways.

    python scripts/ladder.py                       # the players that the package names
    python scripts/ladder.py runs/first/agent.pt
    torchrun --nproc_per_node 2 scripts/ladder.py  # the same page, on two cores

Slow players get fewer deals; a pair plays as many as the slower of the two. Scores are kept in
runs/ladder.npz as they come: stopped with Ctrl-C, the same command goes on from there, and
with one more agent it plays that agent's pairs alone.
"""

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import torch
import tyro
from rich.console import Console

from black_maria import Rules, Tables, make_bot
from black_maria_agents import Agent, load_agents
from black_maria_agents.distributed import joined
from black_maria_agents.measuring import Arena, Result, both_ways, edges, plot, result_table
from black_maria_agents.measuring.report import progress_on
from black_maria_agents.seeds import TEST_SEEDS

DOCS = Path(__file__).parent.parent / "docs"
RULES: Final = Rules()
DEALS: Final = 5_000
"""Deals of each pair of fast players."""
PLAYERS: Final = {
    "random": DEALS,
    "duck": DEALS,
    "heuristic": DEALS,
    "champion": DEALS,
    "pimc:worlds=10,sims=50": 300,
    "pimc:worlds=30,sims=333": 30,
    "pimc:worlds=100,sims=1000": 4,
}
"""The players that are always on the ladder, and how many deals they get at most."""

PAGE: Final = """# The ladder

Made by `{command}`; don't edit. `three_player`, test seed 0: deals that no training has seen.

Every player sits alone with two copies of every other, on the same deals, once in each seat.
A figure is the mean penalty points a hand of the one who is alone, with its 95 % interval over
deals: par is 14.33, less is better. Checkpoints play their likeliest card.

| | player | edge | time a decision |
|---|---|---|---|
{standing}

The *edge* sorts the ladder: over another player it is half of what that one gets alone, less
what it gets alone against that one; here the mean over all others, in points a hand. Who is
ahead of a neighbour, their two tables below say. The time is that of one decision at a time, on
one core; batches are faster.

![cross-table and intervals](ladder.png)

| | alone | deals | {heads} |
|---|---|---|{lines}
{rows}

Columns are the players around the one who is alone, by their place. A pair plays as many deals
as the slower player gets, each in three rotations.
"""


@dataclass(frozen=True)
class LadderConfig:
    """Measure every player against every other, and write the page."""

    agents: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """Agents to join those that the package names, e.g. paths of checkpoints."""
    share: float = 1.0
    """Play this share of the deals: a quick look with 0.01."""
    keep: Path = Path("runs/ladder.npz")
    """Where the scores are kept."""
    out: Path = DOCS / "ladder.md"
    """The page; its picture is put beside it."""


def main(config: LadderConfig) -> list[Result]:
    """Play, print, write; the results."""
    torch.set_num_threads(1)
    most = PLAYERS | dict.fromkeys(config.agents, DEALS)
    agents = load_agents(most, RULES)
    pairs = both_ways(agents)
    deals = {
        pair: max(2, int(config.share * min(most[agents[name].name] for name in pair)))
        for pair in pairs
    }
    config.keep.parent.mkdir(parents=True, exist_ok=True)
    with joined() as ranks:
        console = Console(quiet=not ranks.first)
        arena = Arena(agents, RULES, ranks=ranks, keep=config.keep)
        with progress_on(console, "ladder") as progress:
            arena.play(pairs, deals, progress=progress)
        results = arena.results(pairs, deals)
        if ranks.first:
            console.print(result_table(results, RULES))
            times = {name: decision_time(agent) for name, agent in agents.items()}
            share = [] if config.share == 1 else [f"--share {config.share:g}"]
            command = " ".join(["python scripts/ladder.py", *config.agents, *share])
            config.out.write_text(page(results, times, command), encoding="utf-8")
            plot(config.out.with_suffix(".png"), results, RULES)
    return results


def decision_time(agent: Agent) -> float:
    """Mean seconds a decision, one at a time, over a few hands of ducks."""
    seconds: list[float] = []
    for number in range(3):
        tables, duck = Tables([number], RULES, seed=TEST_SEEDS), make_bot("duck")
        for ply in range(RULES.plies()):
            obs, _ = tables.observe()
            if ply % 7 == number:
                start = time.perf_counter()
                agent.act(obs, tables.keys())
                seconds.append(time.perf_counter() - start)
            tables.step(duck.act(obs, tables.keys()))
    return float(np.mean(seconds[1:]))  # without the first, which may compile


def page(results: list[Result], times: dict[str, float], command: str) -> str:
    """The page in Markdown."""
    standing = edges(results)
    places = {name: place for place, name in enumerate(standing, 1)}
    cells = {(result.agent, result.others): result for result in results}
    rows = []
    for name, place in places.items():
        mine = [cells.get((name, others)) for others in places]
        deals = sorted({result.games for result in mine if result})
        span = f"{deals[0]}" if len(deals) == 1 else f"{deals[0]}–{deals[-1]}"
        scores = " | ".join(result.score.text() if result else "–" for result in mine)
        rows.append(f"| {place} | `{name}` | {span} | {scores} |")
    return PAGE.format(
        command=command,
        standing="\n".join(
            f"| {places[name]} | `{name}` | {edge:+.2f} | {_duration(times[name])} |"
            for name, edge in standing.items()
        ),
        heads=" | ".join(map(str, places.values())),
        lines="---|" * len(places),
        rows="\n".join(rows),
    )


def _duration(seconds: float) -> str:
    """``"8.33 µs"``, ``"151 ms"``."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


if __name__ == "__main__":
    try:
        main(tyro.cli(LadderConfig))
    except ValueError as error:
        sys.exit(f"ladder.py: {error}")
    except KeyboardInterrupt:
        sys.exit("\nstopped; what has been played is kept, the same command goes on")
