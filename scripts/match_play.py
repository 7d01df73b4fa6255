"""What playing for the match can gain: python scripts/match_play.py [--hands N].

Measures hands of the champion's matches (``measuring.match_play``), a few at a time, and writes
docs/match_play.json; stopped, it goes on from there. Three seconds of one core a hand.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import tyro
from numpy.typing import NDArray

from black_maria.rules import Rules
from black_maria_agents.loading import load_agent
from black_maria_agents.measuring.match_play import (
    PERIODS,
    Summary,
    decisions,
    gains,
    prospects,
    summaries,
)
from black_maria_agents.measuring.report import write_json
from black_maria_agents.network import PolicyAgent
from black_maria_agents.seeds import TEST_SEEDS
from black_maria_agents.threads import one_thread
from black_maria_agents.training.match import (
    hand_outcomes,
    limit_of,
    totals_reached,
    win_chances,
)

MATCHES: Final = 4096
"""Matches that tell which totals hands start from."""


@dataclass(frozen=True)
class Config:
    """What is measured."""

    hands: int = 300
    """Hands, those of earlier calls included; as many of each kind."""
    agent: str = "champion"
    """A network of three_player."""
    out: Path = Path(__file__).parent.parent / "docs" / "match_play.json"
    """The file that it writes, and goes on from."""
    at_once: int = 6
    """Hands side by side, between two writes."""


@one_thread()
def main(config: Config) -> dict[str, Summary]:
    """Measure the hands that are missing, write, and print."""
    rules = Rules()
    agent = load_agent(config.agent, rules)
    if not isinstance(agent, PolicyAgent):
        raise ValueError(f"agent={config.agent}: give a network")
    outcomes = hand_outcomes(agent, rules)
    limit = limit_of(rules)
    chances = win_chances(outcomes, limit)
    reached = np.unique(totals_reached(outcomes, limit, MATCHES), axis=0, return_counts=True)
    every = prospects(reached[0], outcomes, chances)
    kinds = np.searchsorted([*PERIODS.values()], every.last, side="right") - 1
    often = np.bincount(kinds, reached[1], len(PERIODS)) / MATCHES
    hands = dict(zip(PERIODS, often.tolist(), strict=True))
    weights = reached[1][:, None] * every.moved
    told = {
        period: float(np.average(every.told[kinds == kind], weights=weights[kinds == kind]))
        for kind, period in enumerate(PERIODS)
    }
    rows: list[dict[str, Any]] = []
    if config.out.exists():
        rows = json.loads(config.out.read_text())["hands"]
    while len(rows) < config.hands:
        first = len(rows)
        numbers = range(first, min(first + config.at_once, config.hands))
        totals = np.array([drawn(number, reached, kinds) for number in numbers])
        found = decisions(agent, totals, seed=TEST_SEEDS, first=first)
        slopes = prospects(totals, outcomes, chances).slopes
        gained = gains(agent, found, totals, chances, slopes)
        for hand, number in enumerate(numbers):
            mine = found.hand == hand
            rows.append({
                "period": [*PERIODS][number % len(PERIODS)],
                "totals": totals[hand].tolist(),
                "points": (gained.points[mine].sum(axis=0) / 3).round(5).tolist(),
                "chance": (gained.chance[mine].sum(axis=0) / 3).round(6).tolist(),
                "flattered": round(gained.flattered[mine].sum() / 3, 6),
            })  # fmt: skip
        found_so_far = summaries(rows, hands)
        about = {"agent": config.agent, "rules": rules.name, "told": told}
        content = {name: asdict(part) for name, part in found_so_far.items()}
        write_json(config.out, about | {"match": content, "hands": rows})
    found_so_far = summaries(rows, hands)
    show(found_so_far)
    return found_so_far


def drawn(
    number: int, reached: tuple[NDArray[np.int64], NDArray[np.int64]], kinds: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The totals of a hand, as often as matches reach them among those of its kind."""
    some = np.flatnonzero(kinds == number % len(PERIODS))
    share = reached[1][some] / reached[1][some].sum()
    totals: NDArray[np.int64] = reached[0][np.random.default_rng(number).choice(some, p=share)]
    return totals


def show(found: dict[str, Summary]) -> None:
    """Print percents of the match."""
    print(f"{'hands':8}a match measured {'by points':>15} {'by chance':>15} {'for the match':>15}")
    for name, part in found.items():
        print(
            f"{name:8}{part.hands:7.2f} {part.measured:8}",
            *(
                f"{100 * each.mean:8.2f} ± {100 * each.half_width:4.2f}"
                for each in (part.by_points, part.by_chance, part.for_match)
            ),
        )


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
