"""What playing for the match can gain: python scripts/match_play.py [--hands N].

Prices hands of the champion's matches card by card (``measuring.match_play``), a few at a time,
and writes docs/match_play.json; stopped, it goes on from there. Three seconds of one core a hand.
With ``--alone runs/match/agent.pt`` it measures an agent instead, hand by hand
(``measuring.match_hands``): 3,000 hands take a quarter of a minute.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import tyro
from numpy.typing import NDArray

from black_maria.rules import Rules
from black_maria_agents.base import Agent
from black_maria_agents.border import border
from black_maria_agents.loading import load_agent
from black_maria_agents.measuring.match_hands import gained
from black_maria_agents.measuring.match_play import (
    PERIODS,
    added,
    decisions,
    gains,
    prospects,
    summaries,
)
from black_maria_agents.measuring.report import write_json
from black_maria_agents.measuring.results import Estimate
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
    alone: str | None = None
    """Measure this agent instead, alone among two of the network, hand by hand; writes nothing."""
    out: Path = Path(__file__).parent.parent / "docs" / "match_play.json"
    """The file that it writes, and goes on from."""
    at_once: int = 6
    """Hands side by side, between two writes."""


class Matches:
    """Matches of a policy: how their hands end, and what totals they start from.

    Args:
        agent: The policy.
    """

    def __init__(self, agent: PolicyAgent) -> None:
        """Play hands, and sort totals by what is at stake."""
        limit = limit_of(agent.rules)
        self.outcomes = hand_outcomes(agent, agent.rules)
        self.chances = win_chances(self.outcomes, limit)
        reached = totals_reached(self.outcomes, limit, MATCHES)
        self._totals, self._times = np.unique(reached, axis=0, return_counts=True)
        self._every = prospects(self._totals, self.outcomes, self.chances)
        self._kinds = np.searchsorted([*PERIODS.values()], self._every.last, side="right") - 1
        often = np.bincount(self._kinds, self._times, len(PERIODS)) / MATCHES
        self.hands: dict[str, float] = dict(zip(PERIODS, often.tolist(), strict=True))

    def told(self) -> dict[str, float]:
        """How much of what hands of a kind change in a seat's chance its own points tell."""
        weights = self._times[:, None] * self._every.moved
        return {
            period: float(np.average(self._every.told[mine], weights=weights[mine]))
            for kind, period in enumerate(PERIODS)
            for mine in [self._kinds == kind]
        }

    def drawn(self, number: int) -> NDArray[np.int64]:
        """A hand's totals, as often as matches reach them among those of its kind; (3,)."""
        some = np.flatnonzero(self._kinds == number % len(PERIODS))
        share = self._times[some] / self._times[some].sum()
        totals: NDArray[np.int64] = self._totals[
            np.random.default_rng(number).choice(some, p=share)
        ]
        return totals


@one_thread()
def main(config: Config) -> None:
    """Measure, write, and print."""
    agent = load_agent(config.agent, Rules())
    if not isinstance(agent, PolicyAgent):
        raise ValueError(f"agent={config.agent}: give a network")
    matches = Matches(agent)
    if config.alone is not None:
        play(agent, load_agent(config.alone, agent.rules), matches, config.hands)
    else:
        measure(agent, matches, config)


def measure(agent: PolicyAgent, matches: Matches, config: Config) -> None:
    """Price the hands that are missing, write after each few, and print."""
    rows: list[dict[str, Any]] = []
    if config.out.exists():
        rows = json.loads(config.out.read_text())["hands"]
    about = {"agent": config.agent, "rules": agent.rules.name, "told": matches.told()}
    missing = sorted({*range(config.hands)} - {row["number"] for row in rows})
    for start in range(0, len(missing), config.at_once):
        numbers = missing[start : start + config.at_once]
        totals = np.array([matches.drawn(number) for number in numbers])
        found = decisions(agent, totals, numbers, seed=TEST_SEEDS)
        slopes = prospects(totals, matches.outcomes, matches.chances).slopes
        best = gains(agent, found, totals, matches.chances, slopes)
        for hand, number in enumerate(numbers):
            mine = found.hand == hand
            rows.append({
                "number": number,
                "period": [*PERIODS][number % len(PERIODS)],
                "totals": totals[hand].tolist(),
                "points": (best.points[mine].sum(axis=0) / 3).round(5).tolist(),
                "chance": (best.chance[mine].sum(axis=0) / 3).round(6).tolist(),
                "flattered": round(best.flattered[mine].sum() / 3, 6),
            })  # fmt: skip
        rows.sort(key=lambda row: int(row["number"]))
        sums = {kind: asdict(part) for kind, part in summaries(rows, matches.hands).items()}
        write_json(config.out, about | {"match": sums, "hands": rows})
    print(f"{'hands':8}a match measured {'by points':>15} {'by chance':>15} {'for the match':>15}")
    for kind, part in summaries(rows, matches.hands).items():
        each = percent(part.by_points), percent(part.by_chance), percent(part.for_match)
        print(f"{kind:8}{part.hands:7.2f} {part.measured:8}", *each)


def play(agent: PolicyAgent, alone: Agent, matches: Matches, hands: int) -> None:
    """Print what an agent gains alone among two of a policy, and the points that it spares."""
    totals = np.array([matches.drawn(number) for number in range(hands)])
    found = gained(alone, agent, agent.rules, totals, matches.chances, seed=TEST_SEEDS)
    print(f"{'hands':8}a match  of the match, %     points a hand")
    parts = []
    for kind, (period, often) in enumerate(matches.hands.items()):
        mine = slice(kind, None, len(PERIODS))
        parts.append(Estimate.of(often * found.chance[mine]))
        points = Estimate.of(found.points[mine])
        print(f"{period:8}{often:7.2f} {percent(parts[-1])} {points.text():>17}")
    print(f"{'match':8}{sum(matches.hands.values()):7.2f} {percent(added(parts))}")


def percent(share: Estimate) -> str:
    """A share of the win, in percent."""
    return f"{100 * share.mean:8.2f} ± {100 * share.half_width:4.2f}"


if __name__ == "__main__":
    with border("match_play.py"):
        main(tyro.cli(Config, description=__doc__))
