"""Write docs/ladder.md and its picture: every player against every other, both ways.

    python scripts/ladder.py                       # the players that the package names
    python scripts/ladder.py runs/first/agent.pt
    torchrun --nproc_per_node 2 scripts/ladder.py  # the same page, on two cores

Slow players get fewer deals; a pair plays as many as the slower of the two. Scores are kept in
runs/ladder.npz as they come: stopped with Ctrl-C, the same command goes on from there, and
with one more agent it plays that agent's pairs alone.
"""

import os
import signal

if __name__ == "__main__":  # as long as it starts, which takes seconds; then border() takes over

    def _stop(*_: object) -> None:
        os.write(2, b"ladder.py: stopped while it started\n")
        os._exit(130)

    for _number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(_number) is not signal.SIG_IGN:
            signal.signal(_number, _stop)

    from black_maria import extras

    extras.check("agents", by="ladder.py")

import math
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import tyro

from black_maria import Rules, Tables, make_bot
from black_maria_agents import Agent, load_agents
from black_maria_agents.border import border, check_outputs
from black_maria_agents.console import PlainConsole, progress_on
from black_maria_agents.distributed import joined
from black_maria_agents.measuring import (
    Arena,
    Result,
    both_ways,
    edge,
    edges,
    plot,
    result_table,
)
from black_maria_agents.seeds import TEST_SEEDS
from black_maria_agents.threads import one_thread

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

| | player | edge | over the next one | time a decision |
|---|---|---|---|---|
{standing}

The *edge* sorts the ladder: over another player it is half of what that one gets alone, less
what it gets alone against that one; here the mean over all others, in points a hand, with its
95 % interval. Beside it the edge over the next one on the ladder alone; where its interval holds
0, the deals that the two have played are *too few to tell* who is ahead. The time is that of one
decision at a time, on one core; batches are faster.

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
    """Play, write, print; the results.

    Raises:
        ValueError: An unknown agent, a share that isn't one, or a file that can't be written.
    """
    if not 0 < config.share < math.inf:
        raise ValueError(f"share={config.share}: give a part of the deals, as in 0.01")
    most = PLAYERS | dict.fromkeys(config.agents, DEALS)
    agents = load_agents(most, RULES)
    pairs = both_ways(agents)
    deals = {
        pair: max(2, int(config.share * min(most[agents[name].name] for name in pair)))
        for pair in pairs
    }
    config.keep.parent.mkdir(parents=True, exist_ok=True)
    picture = config.out.with_suffix(".png")
    check_outputs({config.keep: ".npz", config.out: ".md", picture: ".png"})
    with joined() as ranks:
        console = PlainConsole(quiet=not ranks.first)
        arena = Arena(agents, RULES, ranks=ranks, keep=config.keep)
        with progress_on(console, "ladder") as progress:
            arena.play(pairs, deals, progress=progress)
        results = arena.results(pairs, deals)
        if ranks.first:
            times = {name: decision_time(agent) for name, agent in agents.items()}
            share = [] if config.share == 1 else [f"--share {config.share:g}"]
            command = " ".join(["python scripts/ladder.py", *config.agents, *share])
            config.out.write_text(page(results, times, command), encoding="utf-8")
            plot(picture, results, RULES)
            console.print(result_table(results, RULES))
        console.check()
    return results


@one_thread()
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
        rows.append(f"| {place} | {_cell(name)} | {span} | {scores} |")
    nexts = {name: _over(results, name, after) for name, after in pairwise(standing)}
    return PAGE.format(
        command=command,
        standing="\n".join(
            f"| {places[name]} | {_cell(name)} | {mean.mean:+.2f} ± {mean.half_width:.2f} | "
            f"{nexts.get(name, '')} | {_duration(times[name])} |"
            for name, mean in standing.items()
        ),
        heads=" | ".join(map(str, places.values())),
        lines="---|" * len(places),
        rows="\n".join(rows),
    )


def _cell(name: str) -> str:
    """A name in a table: whatever is in it, it ends no cell."""
    return "`" + name.replace("`", "'").replace("|", "\\|") + "`"


def _over(results: list[Result], name: str, after: str) -> str:
    """The edge over another player, and whether that tells who is ahead."""
    found = edge(results, name, after)
    told = f"{found.mean:+.2f} ± {found.half_width:.2f}"
    return told if abs(found.mean) > found.half_width else f"{told}, too few to tell"


def _duration(seconds: float) -> str:
    """``"8.33 µs"``, ``"151 ms"``."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


if __name__ == "__main__":
    with border("ladder.py"):
        try:
            main(tyro.cli(LadderConfig))
        except (KeyboardInterrupt, OSError, MemoryError) as error:
            error.add_note("scores so far are kept: the same command goes on")
            raise
