"""Write docs/ladder.md and its picture: who is ahead of whom, as far as the deals tell.

    python scripts/ladder.py                       # the players that the package names
    python scripts/ladder.py runs/first/agent.pt
    torchrun --nproc_per_node 2 scripts/ladder.py  # the same page, on two cores

Every player meets those of the panel, which rate it, and fast players meet each other. A pair
plays as many deals as the slower of the two gets. Scores are kept in runs/ladder.npz as they
come: stopped with Ctrl-C, the same command goes on from there, and with one more agent it plays
that agent's pairs alone.
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
from itertools import combinations
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
    Estimate,
    Result,
    both_ways,
    plot,
    result_table,
)
from black_maria_agents.measuring.standing import Standing, mixed_table, standings
from black_maria_agents.seeds import TEST_SEEDS
from black_maria_agents.threads import one_thread

DOCS = Path(__file__).parent.parent / "docs"
RULES: Final = Rules()
DEALS: Final = 3_000
"""Deals of each pair of fast players."""
MIXED_DEALS: Final = 1_000
"""Deals of a table of three different players, all fast."""
PANEL: Final = ("duck", "heuristic", "champion")
"""Who rates everybody: one who ducks, one who counts, and the best network. Another panel would
make another ladder."""
PLAYERS: Final = {
    "random": DEALS,
    "duck": DEALS,
    "heuristic": DEALS,
    "champion": DEALS,
    "pimc:worlds=10,sims=50": 300,
    "search:policy=champion": 100,
}
"""The players that are always on the ladder, and how many deals they get at most: 100 at least.
Whoever is too slow for that isn't on it."""

PAGE: Final = """# The ladder

Made by `{command}`; don't edit. `three_player`, test seed 0: deals that no training has seen.

A figure is the mean penalty points a hand of one player alone with two copies of another, on the
same deals, once in each seat: par is 14.33, less is better. Intervals are of 95 %, over deals.
Checkpoints play their likeliest card.

| place | player | edge over the panel | worst case | time a decision |
|---|---|---|---|---|
{standing}

The *edge* of a player over another is half of what that one gets alone, less what it gets alone
against that one, in points a hand. The ladder goes by the mean edge over a fixed *panel*: {panel}.
A player of the panel has edge 0 over itself. Since nobody else counts, no entry moves another, nor
do ten copies of one. **Those whose intervals overlap share a place: these deals don't tell who is
ahead.** The worst case is the least edge over anybody met. The time is that of one decision at a
time, on one core; batches are faster.

![cross-table and intervals](ladder.png)

## Alone against two

| | alone | deals | {heads} |
|---|---|---|{lines}
{rows}

Columns are the players around the one who is alone, by their row. A pair plays as many deals
as the slower player gets, each in three rotations; slow players meet the panel alone.

## Three different players

Points a hand less par, each deal in both orders around the table and all rotations ({mixed_deals}
deals): who pays, and for whom. The three of a row add up to 0.

| least points | | most |
|---|---|---|
{mixed}
"""


@dataclass(frozen=True)
class LadderConfig:
    """Measure players against each other, and write the page."""

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
    fast = [name for name, agent in agents.items() if most[agent.name] >= DEALS]
    pairs = [pair for pair in both_ways(agents) if set(pair) & set(PANEL) or set(pair) <= set(fast)]
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
            few = max(2, int(config.share * MIXED_DEALS))
            mixed = [
                mixed_table(
                    {name: agents[name] for name in three}, few, seed=TEST_SEEDS, rules=RULES
                )
                for three in combinations(fast, 3)
            ]
            written = page(results, times, command, mixed, few)
            config.out.write_text(written, encoding="utf-8")
            plot(picture, results, RULES, [each.name for each in standings(results, PANEL)])
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


def page(
    results: list[Result],
    times: dict[str, float],
    command: str,
    mixed: list[dict[str, Estimate]],
    mixed_deals: int,
) -> str:
    """The page in Markdown."""
    standing = standings(results, PANEL)
    names = [each.name for each in standing]
    cells = {(result.agent, result.others): result for result in results}
    rows = []
    for row, name in enumerate(names, 1):
        mine = [cells.get((name, others)) for others in names]
        deals = sorted({result.games for result in mine if result})
        span = f"{deals[0]}" if len(deals) == 1 else f"{deals[0]}–{deals[-1]}"
        scores = " | ".join(result.score.text() if result else "–" for result in mine)
        rows.append(f"| {row} | {_cell(name)} | {span} | {scores} |")
    return PAGE.format(
        command=command,
        standing="\n".join(_line(each, times[each.name]) for each in standing),
        panel=", ".join(map(_cell, PANEL)),
        heads=" | ".join(map(str, range(1, len(names) + 1))),
        lines="---|" * len(names),
        rows="\n".join(rows),
        mixed_deals=mixed_deals,
        mixed="\n".join(map(_who_pays, mixed)),
    )


def _line(each: Standing, seconds: float) -> str:
    """A player's line of the ladder."""
    worst = f"{_signed(each.worst)} over {_cell(each.against)}"
    edge = _signed(each.edge)
    return f"| {each.place} | {_cell(each.name)} | {edge} | {worst} | {_duration(seconds)} |"


def _who_pays(table: dict[str, Estimate]) -> str:
    """A table's line: its players by their points, less par."""
    by_points = sorted(table.items(), key=lambda item: item[1].mean)
    less_par = ((name, Estimate(e.mean - RULES.par, e.half_width)) for name, e in by_points)
    return f"| {' | '.join(f'{_cell(name)} {_signed(each)}' for name, each in less_par)} |"


def _signed(each: Estimate) -> str:
    """``"+1.20 ± 0.30"``."""
    return f"{each.mean:+.2f} ± {each.half_width:.2f}"


def _cell(name: str) -> str:
    """A name in a table: whatever is in it, it ends no cell."""
    return "`" + name.replace("`", "'").replace("|", "\\|") + "`"


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
