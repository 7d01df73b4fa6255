"""Measure agents against each other: average penalty a hand, or win shares of matches.

    python evaluate.py
    python evaluate.py runs/first/agent.pt duck heuristic --until 0.1 --out results.json
    python evaluate.py heuristic duck random --plot cross.png --record hands.jsonl
    python evaluate.py heuristic duck --matches 500
    python evaluate.py champion:universal --rulesets held-out --plot edges.png
    python evaluate.py champion --exploit --minutes 10
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

from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

if find_spec("tyro") is None:
    from black_maria import extras

    extras.check("agents", by="evaluate.py")

import tyro

if TYPE_CHECKING:  # at run time where they are needed: --help needs no PyTorch
    from black_maria_agents.measuring import Result
    from black_maria_agents.measuring.exploit import Finding
    from black_maria_agents.measuring.generalisation import Generalisation


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
    rules: str | None = None
    """The profile to play by, three_player unless told."""
    seats: int | None = None
    """Players at the table, where the profile leaves it open."""
    rulesets: Literal["held-out", "profiles"] | None = None
    """Measure each agent's edge over heuristic under many rules: those that no training sees, or
    the books' profiles. Checkpoints are those that read the rules, or fit."""
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
    exploit: bool = False
    """How exploitable is the one agent given? Learn and search against it; see docs/training.md."""
    minutes: float | None = None
    """Time for ``--exploit``, 10 unless told."""

    def check(self) -> None:
        """Refuse what can't be played or written, and options that don't go together.

        Raises:
            ValueError: Names what is wrong and what would be right.
        """
        from black_maria_agents.measuring import asked

        asked.check(self)


def main(config: EvaluateConfig) -> "list[Result] | list[Finding] | list[Generalisation]":
    """Measure, write and print; the results, a table after the other, or what else was asked for.

    Raises:
        ValueError: An unknown agent or profile, a checkpoint that doesn't fit, a file that can't
            be written, or options that don't go together.
        OSError: A file couldn't be written after all; the results have been printed.
    """
    from black_maria.rules import Rules
    from black_maria_agents.measuring import exploit, generalisation, pairs

    config.check()
    seed, sampled, out, plot = config.seed, config.sampled, config.out, config.plot
    if config.rulesets is not None:
        return generalisation.command(
            config.agents, config.rulesets, config.deals,
            seed=seed, greedy=not sampled, out=out, picture=plot,
        )  # fmt: skip
    rules = Rules.profile(config.rules or "three_player", config.seats)
    if config.exploit:
        return exploit.command(
            config.agents[0], rules, minutes=config.minutes,
            seed=seed, greedy=not sampled, out=out,
        )  # fmt: skip
    return pairs.command(
        config.agents, rules, deals=config.deals, matches=config.matches, until=config.until,
        seed=seed, sampled=sampled, out=out, plot=plot, record=config.record,
        review=config.review, explain=config.explain, keep=config.keep,
        about=asdict(config) | {"rules": rules.name, "seats": rules.seats},
    )  # fmt: skip


if __name__ == "__main__":
    asked = tyro.cli(EvaluateConfig, description=__doc__)

    from black_maria import extras

    extras.check("agents", by="evaluate.py")

    from black_maria_agents.border import INTERRUPTED, border

    with border("evaluate.py"):
        found = main(asked)
        partial_result = any(getattr(result, "partial", False) for result in found)
        sys.exit(INTERRUPTED if not found or partial_result else 0)
