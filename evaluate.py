"""Measure agents against each other: average penalty a hand, or win shares of matches.

    python evaluate.py
    python evaluate.py runs/first/agent.pt duck heuristic --until 0.1 --out results.json
    python evaluate.py heuristic duck random --plot cross.png --record hands.jsonl
    python evaluate.py heuristic duck --matches 500
    python evaluate.py heuristic champion --deals 20 --explain --review review.html
    torchrun --nproc_per_node 2 evaluate.py heuristic pimc:worlds=30,sims=333 --deals 200

Every pair plays both tables, on the same deals in every rotation of the seats. Ctrl-C saves and
prints what has been played. Under ``torchrun`` the processes share the deals; the result is the
same.
"""

import io
import os
import signal
import sys

if __name__ == "__main__":  # as long as it starts, which takes seconds; then border() takes over

    def _stop(*_: object) -> None:
        os.write(2, b"evaluate.py: stopped while it started\n")
        os._exit(130)

    for _number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(_number) is not signal.SIG_IGN:
            signal.signal(_number, _stop)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # --help has an ellipsis

import dataclasses
import math
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

if TYPE_CHECKING:  # at run time where they are needed: --help needs no PyTorch
    from black_maria.rules import Rules
    from black_maria_agents.console import PlainConsole
    from black_maria_agents.measuring import Result


@dataclass(frozen=True)
class EvaluateConfig:
    """Play every pair of agents, both ways, on duplicate deals in every rotation of the seats."""

    agents: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """Agents, by the names that ``load_agent`` knows, or paths of checkpoints (….pt): the
    profile's champion if it has one, heuristic and duck unless told."""
    deals: int | None = None
    """Deals of each pair, 1000 unless told; with ``--until`` the most of them, 128000."""
    matches: int | None = None
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
    review: Path | None = None
    """A page (….html) of the first twenty hands played now: what each decision gave away, by the
    first agent's policy, or by the champion's."""
    explain: bool = False
    """Say where the first agent loses points against the second, by phase and kind of decision."""
    keep: Path | None = None
    """A file (….npz) that keeps the scores as they come; what it holds isn't played again."""

    def check(self) -> None:
        """Refuse what can't be played or written.

        Raises:
            ValueError: Names what is wrong and what would be right.
        """
        from black_maria_agents.border import check_outputs

        if self.deals is not None and self.matches is not None:
            raise ValueError("give --deals or --matches, not both")
        for name in ("deals", "matches"):
            if (games := getattr(self, name)) is not None and games < 1:
                raise ValueError(f"{name}={games}: there must be at least one game to play")
        if self.until is not None and not (0 < self.until < math.inf):
            raise ValueError(f"until={self.until}: give a half-width above 0, as in 0.1")
        files = {self.out: ".json", self.plot: ".png", self.record: ".jsonl", self.keep: ".npz"}
        check_outputs(files | {self.review: ".html"})
        check_outputs({self.out and self.out.with_suffix(".csv"): ".csv"})


def main(config: EvaluateConfig) -> "list[Result]":
    """Measure, write and print; the results, a table after the other.

    Raises:
        ValueError: An unknown agent or profile, a checkpoint that doesn't fit, or a file that
            can't be written.
        OSError: A file couldn't be written after all; the results have been printed.
    """
    from black_maria.rules import Rules
    from black_maria_agents import CHAMPIONS, load_agents
    from black_maria_agents.border import uninterrupted
    from black_maria_agents.console import PlainConsole, progress_on
    from black_maria_agents.distributed import joined
    from black_maria_agents.files import replacing
    from black_maria_agents.measuring import Arena, both_ways, par, report
    from black_maria_agents.measuring.stopping import MAX_UNTIL
    from black_maria_agents.review.evaluating import Hands

    config.check()
    rules = Rules.profile(config.rules, config.seats)
    names = config.agents or (*["champion"] * (rules.name in CHAMPIONS), "heuristic", "duck")
    if len(names) < 2:
        raise ValueError(f"give two or more different agents, not {' '.join(names)}")
    agents = load_agents(names, rules, greedy=not config.sampled)
    pairs, whole_matches = both_ways(agents), config.matches is not None
    games = config.matches or config.deals or (1000 if config.until is None else MAX_UNTIL)
    with joined() as ranks, ExitStack() as stack:
        console = PlainConsole(quiet=not ranks.first)
        arena = Arena(agents, rules, config.seed, whole_matches, ranks=ranks, keep=config.keep)
        episode = "match" if whole_matches else "hand"
        hands = Hands(agents, rules, episode, config.review, config.explain)
        if config.record is not None or config.review is not None or config.explain:
            arena.on_hands = hands
        if config.record is not None and ranks.first:
            hands.target = stack.enter_context(replacing(config.record, "w"))
        failure: Exception | None = None
        try:
            with progress_on(console, "measuring") as progress:
                arena.play(pairs, games, until=config.until, progress=progress)
        except KeyboardInterrupt:
            console.print("interrupted; this is what has been played:")
        except (OSError, MemoryError) as error:
            failure = error
        with uninterrupted():
            results = arena.results(pairs, games, config.until)
            if results and ranks.first:
                about = {"config": dataclasses.asdict(config), "par": par(results[0].unit, rules)}
                failure = (
                    report.save(results, rules, about, out=config.out, picture=config.plot)
                    or failure
                )
                show(config, results, rules, console)
        if failure is not None:
            raise failure
        if ranks.first:
            hands.finish(console)
        console.check()
    return results


def show(
    config: EvaluateConfig, results: "list[Result]", rules: "Rules", console: "PlainConsole"
) -> None:
    """Print the tables, and what they are of."""
    from black_maria_agents.measuring import report
    from black_maria_agents.measuring.stopping import look_points

    console.print(report.result_table(results, rules))
    if len(results) == 2:
        console.print(report.gains(results, rules))
    if results[0].sources:
        console.print(report.source_table(results, rules))
    how = "draw from their policy" if config.sampled else "play their likeliest card"
    console.print(f"{rules.name}, {rules.seats} seats, test seed {config.seed}; checkpoints {how}")
    if config.until is not None:
        wide = sum(not result.score.half_width <= config.until for result in results)
        console.print(
            f"looks after {', '.join(map(str, look_points(10**9)[:3]))}, … games for "
            f"± {config.until}" + f"; {wide} of {len(results)} tables never got there" * (wide > 0)
        )


if __name__ == "__main__":
    asked = tyro.cli(EvaluateConfig, description=__doc__)

    from black_maria_agents.border import INTERRUPTED, border

    with border("evaluate.py"):
        found = main(asked)
        sys.exit(INTERRUPTED if not found or any(result.partial for result in found) else 0)
