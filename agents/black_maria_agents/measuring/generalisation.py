"""How well an agent plays by rules that it wasn't trained on: its edge over ``heuristic``.

Under each set of rules the agent sits alone among rule-of-thumb players made for those rules, on
duplicate deals in every seat. Its edge is the others' mean penalty less its own, in points of a
hand of 43, so that rules of any stake and any number of seats can be compared and averaged.
"""

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from black_maria.bots import make_bot
from black_maria.rules import PROFILES, Rules
from black_maria.rulesets import HELD_OUT
from black_maria_agents.base import Agent
from black_maria_agents.border import uninterrupted
from black_maria_agents.console import PlainConsole, progress_on
from black_maria_agents.files import replacing
from black_maria_agents.loading import load_agent
from black_maria_agents.measuring.duplicate import play_deals
from black_maria_agents.measuring.report import without_formulas, write_json
from black_maria_agents.measuring.results import Estimate
from black_maria_agents.scoring import STAKE, stake_in_play
from black_maria_agents.seeds import TEST_SEEDS

RIVAL: Final = "heuristic"
"""Who sits in the other seats."""
DEALS: Final = 300
"""Deals of each set of rules, unless told."""


def rule_sets(which: str) -> dict[str, Rules]:
    """Named sets of rules: ``"held-out"``, or ``"profiles"``, the books' with one pack.

    Raises:
        ValueError: There are no such sets.
    """
    if which == "held-out":
        return {name: each.rules for name, each in HELD_OUT.items()}
    if which == "profiles":
        every = {
            f"{name}, {seats} seats" if len(choices) > 1 else name: Rules.profile(name, seats)
            for name, (choices, _) in PROFILES.items()
            for seats in choices
        }
        return {name: rules for name, rules in every.items() if rules.packs == 1}
    raise ValueError(f"rulesets={which!r}: there are held-out and profiles")


def command(
    names: Sequence[str],
    which: str,
    deals: int | None = None,
    *,
    seed: int = 0,
    greedy: bool = True,
    out: Path | None = None,
    picture: Path | None = None,
) -> "list[Generalisation]":
    """Measure agents by name under many rules, write and print; what ``evaluate.py`` calls.

    Args:
        names: As for ``load_agent``; ``champion:universal`` where there are none.
        which: As for ``rule_sets``.
        deals: Deals of each set of rules, every one in all rotations; ``DEALS`` unless told.
        seed: Which of the test seeds.
        greedy: Let checkpoints play their likeliest card; otherwise they draw.
        out: A JSON file; a CSV file is written beside it.
        picture: A picture.

    Returns:
        The edges, none if it was interrupted: what had been measured has been written and printed.

    Raises:
        ValueError: An unknown agent, or one that can't play by some of the rules.
        OSError: A file can't be written; the results have been printed.
    """
    names, sets = names or ("champion:universal",), rule_sets(which)
    agents = {name: partial(load_agent, name, greedy=greedy) for name in names}
    for make in agents.values():
        for rules in sets.values():  # a file that doesn't fit is refused before any card
            make(rules)
    console, results = PlainConsole(), list[Generalisation]()
    stopped, failure = False, None
    try:
        with progress_on(console, "measuring") as progress:
            each = measure_each(agents, sets, deals or DEALS, seed=seed, progress=progress)
            results.extend(each)
    except KeyboardInterrupt:
        stopped = True
        console.print("interrupted; this is what has been measured:" * bool(results))
    with uninterrupted():
        if results:
            about = {"agents": list(names), "rulesets": which, "seed": seed, "rival": RIVAL}
            try:
                save(results, about | {"partial": stopped}, out, picture)
            except OSError as error:
                failure = error
            for table in generalisation_tables(results):
                console.print(table)
    if failure is not None:
        raise failure
    console.check()
    return [] if stopped else results


@dataclass(frozen=True)
class Generalisation:
    """An agent's edge under one set of rules."""

    agent: str
    rules: str
    seats: int
    deals: int
    edge: Estimate
    """Others' mean less own points, of 43 a hand."""


def measure_rule_sets(
    agents: Mapping[str, Callable[[Rules], Agent]],
    sets: Mapping[str, Rules],
    deals: int,
    *,
    seed: int = 0,
    progress: Callable[[int, int, str], Any] = lambda done, total, text: None,
) -> list[Generalisation]:
    """Measure agents alone among rule-of-thumb players, under each set of rules.

    Args:
        agents: By name, functions that give the agent for some rules.
        sets: The rules by name.
        deals: Deals of each, every one in all rotations.
        seed: Which of the test seeds.
        progress: Called with how many tables are done, of how many, and which.

    Returns:
        Agent after agent, in the order of the sets.
    """
    return list(measure_each(agents, sets, deals, seed=seed, progress=progress))


def measure_each(
    agents: Mapping[str, Callable[[Rules], Agent]],
    sets: Mapping[str, Rules],
    deals: int,
    *,
    seed: int = 0,
    progress: Callable[[int, int, str], Any] = lambda done, total, text: None,
) -> Iterator[Generalisation]:
    """``measure_rule_sets``, one after the other as they are measured."""
    total = len(agents) * len(sets)
    pairs = [(agent, name) for agent in agents for name in sets]
    for done, (agent, name) in enumerate(pairs):
        progress(done, total, f"{agent}: {name}")
        rules, numbers = sets[name], range(deals)
        rival, player = make_bot(RIVAL, rules), agents[agent](rules)
        scores = play_deals(player, rival, numbers, seed=TEST_SEEDS + seed, rules=rules)
        edge = Estimate.of(_edges(scores, rules).mean(axis=1))
        yield Generalisation(agent, name, rules.seats, deals, edge)


def _edges(scores: Any, rules: Rules) -> Any:
    """Others' mean less own, scaled to 43 points, of a lone agent's scores."""
    if not rules.total_varies:  # else the scores are that already
        scores = (rules.hand_points - scores) / (rules.seats - 1) - scores
    return scores * STAKE / stake_in_play(rules)


def mean_edge(results: Sequence[Generalisation]) -> Estimate:
    """The mean edge over several sets of rules, each with the same weight."""
    mean = float(np.mean([result.edge.mean for result in results]))
    return Estimate(mean, math.hypot(*(each.edge.half_width for each in results)) / len(results))


def summary(results: Sequence[Generalisation]) -> list[tuple[str, str, Estimate, Estimate]]:
    """Agent, which sets, their mean edge and the worst of them: three seats, more, all."""
    rows = []
    for agent in dict.fromkeys(result.agent for result in results):
        mine = [result for result in results if result.agent == agent]
        three = [result for result in mine if result.seats == 3]
        more = [result for result in mine if result.seats > 3]
        for which, part in (("three seats", three), ("more seats", more), ("all", mine)):
            if part and (which != "all" or (three and more)):
                worst = min(part, key=lambda result: result.edge.mean).edge
                rows.append((agent, which, mean_edge(part), worst))
    return rows


def generalisation_tables(results: Sequence[Generalisation]) -> Iterable[Table]:
    """The edges rule set by rule set, and their means, for the terminal."""
    agents = list(dict.fromkeys(result.agent for result in results))
    table = Table(
        title=f"Edge over {RIVAL}, {results[0].deals} deals × all rotations, 95 % intervals",
        caption="others' mean − own points, of 43 a hand; more is better",
        box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False,
    )  # fmt: skip
    table.add_column("rules")
    table.add_column("seats", justify="right")
    for agent in agents:
        table.add_column(Text(agent), justify="right", no_wrap=True)
    edges = {(result.agent, result.rules): result.edge for result in results}
    for rules, seats in dict.fromkeys((result.rules, result.seats) for result in results):
        figures = [edges[agent, rules].text() for agent in agents if (agent, rules) in edges]
        table.add_row(rules, str(seats), *figures)
    yield table
    means = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    for name in ("agent", "rules", "mean edge", "worst"):
        means.add_column(name, justify="right" if name in ("mean edge", "worst") else "left")
    for agent, which, mean, worst in summary(results):
        means.add_row(Text(agent), which, mean.text(), worst.text())
    yield means


def save(
    results: Sequence[Generalisation],
    about: Mapping[str, Any],
    out: Path | None = None,
    picture: Path | None = None,
) -> None:
    """Write the results as JSON, with ``about`` before them, as CSV, and as a picture.

    Each file appears whole, or keeps what it held.

    Args:
        results: What was measured.
        about: What the JSON file begins with; paths in it become text.
        out: The JSON file, ``….json``; the CSV file is written beside it.
        picture: The picture, ``….png``.

    Raises:
        OSError: A file can't be written; names it.
    """
    if picture is not None:
        plot(results, picture)
    if out is None:
        return
    write_json(
        out.with_suffix(".json"), {**about, "results": [asdict(result) for result in results]}
    )
    with replacing(out.with_suffix(".csv"), "w") as file:
        writer = csv.writer(file)
        writer.writerow(["agent", "rules", "seats", "deals", "edge", "half_width"])
        for each in results:
            edge = each.edge
            row = each.agent, each.rules, each.seats, each.deals, edge.mean, edge.half_width
            writer.writerow(row)


def plot(results: Sequence[Generalisation], path: Path) -> None:
    """Draw the edges with their intervals, a row a set of rules; the picture appears whole."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(result.rules for result in results))
    agents = list(dict.fromkeys(result.agent for result in results))
    figure = Figure(figsize=(8, 1.2 + 0.26 * len(names)), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    axis = figure.subplots()
    for k, agent in enumerate(agents):
        mine = [result for result in results if result.agent == agent]
        shift = (k - (len(agents) - 1) / 2) * 0.7 / len(agents)
        axis.errorbar(
            [result.edge.mean for result in mine],
            [names.index(result.rules) + shift for result in mine],
            xerr=[np.nan_to_num(result.edge.half_width) for result in mine],
            fmt="o", markersize=4, capsize=2, linewidth=1, color=f"C{k}",
            label=without_formulas(agent),
        )  # fmt: skip
    axis.axvline(0, color="0.5", linewidth=1, linestyle="--", zorder=0)
    seats = {result.rules: result.seats for result in results}
    axis.set_yticks(range(len(names)), [f"{name} ({seats[name]})" for name in names], fontsize=8)
    axis.set(
        ylim=(len(names) - 0.5, -0.5),
        xlabel=f"edge over {RIVAL}: others' mean − own points, of 43 a hand",
    )
    axis.grid(axis="y", color="0.93", zorder=0)
    axis.legend(fontsize=8, frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=4)
    with replacing(path) as file:
        figure.savefig(file, format="png")
