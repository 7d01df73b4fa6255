"""Every pair of agents, both ways: played, saved, printed, as ``evaluate.py`` asks for it."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from black_maria.rules import Rules
from black_maria_agents.border import uninterrupted
from black_maria_agents.console import PlainConsole, progress_on
from black_maria_agents.distributed import joined
from black_maria_agents.files import replacing
from black_maria_agents.loading import load_agents
from black_maria_agents.measuring import report
from black_maria_agents.measuring.arena import Arena
from black_maria_agents.measuring.results import Result, par
from black_maria_agents.measuring.scores import both_ways
from black_maria_agents.measuring.stopping import MAX_UNTIL, look_points
from black_maria_agents.review.evaluating import Hands

DEALS: Final = 1000
"""Deals of each pair, unless told."""


def command(
    names: Sequence[str],
    rules: Rules,
    *,
    deals: int | None = None,
    matches: int | None = None,
    until: float | None = None,
    seed: int = 0,
    sampled: bool = False,
    out: Path | None = None,
    plot: Path | None = None,
    record: Path | None = None,
    review: Path | None = None,
    explain: bool = False,
    keep: Path | None = None,
    about: Mapping[str, Any],
) -> list[Result]:
    """Measure all pairs on duplicate deals in every rotation; save, print, review.

    Args:
        names: As for ``load_agent``: the profile's champion if it has one, heuristic and duck
            where there are none.
        rules: The rules to play by.
        deals: Deals of each pair; the most of them with ``until``.
        matches: Whole matches of each pair instead.
        until: Stop a pair when its interval's half-width is at most this.
        seed: Which of the test seeds.
        sampled: Let checkpoints draw from their policy.
        out: A JSON file; a CSV file is written beside it.
        plot: A picture.
        record: A file for all hands played now.
        review: A page of the first of them.
        explain: Say where the first agent loses points against the second.
        keep: A file that keeps the scores as they come.
        about: What the JSON file says of how this was asked for.

    Returns:
        A table after the other; marked partial where play was interrupted.

    Raises:
        ValueError: An unknown agent, a checkpoint that doesn't fit, or nothing that could be
            reviewed; before any card.
        OSError: A file couldn't be written after all; the results have been printed.
    """
    names = names or (*["champion"] * (rules.packs == 1), "heuristic", "duck")
    agents = load_agents(names, rules, greedy=not sampled)
    pairs, whole_matches = both_ways(agents), matches is not None
    games = matches or deals or (DEALS if until is None else MAX_UNTIL)
    with joined() as ranks, ExitStack() as stack:
        console = PlainConsole(quiet=not ranks.first)
        arena = Arena(agents, rules, seed, whole_matches, ranks=ranks, keep=keep)
        hands = Hands(agents, rules, "match" if whole_matches else "hand", review, explain)
        hands.check([pair for pair in pairs if not arena.done(pair, games, until)])
        if record is not None or review is not None or explain:
            arena.on_hands = hands
        if record is not None and ranks.first:
            hands.target = stack.enter_context(replacing(record, "w"))
        failure: Exception | None = None
        try:
            with progress_on(console, "measuring") as progress:
                arena.play(pairs, games, until=until, progress=progress)
        except KeyboardInterrupt:
            console.print("interrupted; this is what has been played:")
        except (OSError, MemoryError) as error:
            failure = error
        with uninterrupted():
            results = arena.results(pairs, games, until)
            if results and ranks.first:
                about = {"config": about, "par": par(results[0].unit, rules)}
                failure = report.save(results, rules, about, out=out, picture=plot) or failure
                show(results, rules, console, seed=seed, sampled=sampled, until=until)
        if failure is not None:
            raise failure
        if ranks.first:
            hands.finish(console)
        console.check()
    return results


def show(
    results: list[Result],
    rules: Rules,
    console: PlainConsole,
    *,
    seed: int,
    sampled: bool,
    until: float | None,
) -> None:
    """Print the tables, and what they are of."""
    console.print(report.result_table(results, rules))
    if len(results) == 2:
        console.print(report.gains(results, rules))
    if results[0].sources:
        console.print(report.source_table(results, rules))
    how = "draw from their policy" if sampled else "play their likeliest card"
    console.print(f"{rules.name}, {rules.seats} seats, test seed {seed}; checkpoints {how}")
    if until is not None:
        wide = sum(not result.score.half_width <= until for result in results)
        console.print(
            f"looks after {', '.join(map(str, look_points(10**9)[:3]))}, … games for "
            f"± {until}" + f"; {wide} of {len(results)} tables never got there" * (wide > 0)
        )
