"""Measuring: duplicate deals, every rotation of the seats, intervals over deals.

The unit is a *deal played in every rotation*: an agent sits once in each seat while copies of
another hold the rest, on the same cards. Its mean penalty over the rotations is one number a
deal; the result is the mean over deals with the 95 % interval of that mean. One agent in all
seats scores ``rules.par`` on every deal: exactly par, with width 0.

A strong agent gains in both tables: alone against copies of another, and as the copies that
another is alone against. Each can be exploited by a different weakness, so both are played.

Where a hand's total varies, since a moon may be shot, points alone don't tell who won: there the
figure is the *advantage*, the others' mean penalty minus the agent's own, with par 0.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from black_maria.rules import Rules
from black_maria.tables import Tables
from black_maria_agents.base import Agent

TEST_SEEDS: Final = 2**63
"""Seeds from here on are for measuring: training never sees their deals."""

CHUNK: Final = 1024
"""Deals played side by side; no result depends on it."""


@dataclass(frozen=True)
class Estimate:
    """A mean with the half-width of its 95 % interval (normal approximation)."""

    mean: float
    half_width: float

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> "Estimate":
        """The estimate from independent values, (D,); the width is NaN for fewer than two."""
        apart = values - values[0]  # equal values have exactly that mean, and width 0
        mean = float(values[0] + apart.mean())
        if len(values) < 2:
            return cls(mean, float("nan"))
        return cls(mean, float(1.96 * apart.std(ddof=1) / np.sqrt(len(values))))

    def text(self, places: int = 2) -> str:
        """``"14.33 ± 0.05"``."""
        return f"{self.mean:.{places}f} ± {self.half_width:.{places}f}"


@dataclass(frozen=True)
class Result:
    """One agent alone against copies of another."""

    agent: str
    others: str
    unit: str
    """What the figures are: ``"penalty"`` points a hand, ``"advantage"`` in such points, or
    ``"win share"`` of a match."""
    games: int
    """Deals or matches, each played in every rotation."""
    score: Estimate
    by_seat: tuple[Estimate, ...]


def play_deals(
    agent: Agent,
    others: Agent,
    deals: range,
    *,
    seed: int,
    rules: Rules,
    progress: Callable[[int], Any] = lambda deals: None,
) -> NDArray[np.float64]:
    """Scores of one agent alone against copies of another, on duplicate deals.

    Args:
        agent: The agent measured.
        others: The agent in all other seats.
        deals: Table numbers of the deals, hand 0 of each.
        seed: The deals' seed.
        rules: The rules to play by.
        progress: Called with the number of deals finished since the last call.

    Returns:
        (D, seats) float64: what ``agent`` scores when it sits in each seat: its penalty
        points, or where ``rules.total_varies`` its advantage.
    """
    reward, sign = ("relative", 1) if rules.total_varies else ("trick", -1)
    parts = []
    for table in _chunks(agent, others, deals, seed, rules, reward, "hand"):
        scores = np.zeros(len(table.tables))
        for _ in range(rules.plies()):
            rewards, _ = table.step()
            scores += sign * rewards
        parts.append(scores.reshape(-1, rules.seats))
        progress(len(parts[-1]))
    return np.concatenate(parts)


def play_matches(
    agent: Agent,
    others: Agent,
    matches: range,
    *,
    seed: int,
    rules: Rules,
    progress: Callable[[int], Any] = lambda matches: None,
) -> NDArray[np.float64]:
    """Win shares of one agent alone against copies of another, over whole matches.

    Args and returns as for ``play_deals``, with a match for a deal: (M, seats), the agent's
    share of each win, 1 / winners or 0.
    """
    parts = []
    for table in _chunks(agent, others, matches, seed, rules, "match", "match"):
        shares = np.zeros(len(table.tables))
        playing = np.ones(len(table.tables), np.bool_)
        while playing.any():
            rewards, done = table.step(playing)
            shares += rewards
            playing &= ~done
        parts.append(shares.reshape(-1, rules.seats))
        progress(len(parts[-1]))
    return np.concatenate(parts)


@dataclass
class _Seating:
    """Tables of several deals, each in all rotations, with one agent in its own seat."""

    tables: Tables
    own_seat: NDArray[np.int64]
    agent: Agent
    others: Agent

    def step(
        self, playing: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Play a card at every table or at those ``playing``; own rewards (N,) and done (N,)."""
        obs, seat = self.tables.observe()
        keys = self.tables.keys()
        actions = np.zeros(len(seat), np.int64)
        own = seat == self.own_seat
        for who, mine in ((self.agent, own), (self.others, ~own)):
            rows = np.flatnonzero(mine if playing is None else mine & playing)
            if len(rows):
                part = {name: array[rows] for name, array in obs.items()}
                actions[rows] = who.act(part, keys[rows])
        rewards, done = self.tables.step(actions, playing)
        return rewards[np.arange(len(seat)), self.own_seat], done


def _chunks(
    agent: Agent, others: Agent, games: range, seed: int, rules: Rules, reward: str, episode: str
) -> Iterable[_Seating]:
    if len(games) < 1:
        raise ValueError("there must be at least one game to play")
    for first in range(0, len(games), CHUNK):
        numbers = np.array(games[first : first + CHUNK])
        yield _Seating(
            Tables(
                np.repeat(numbers, rules.seats), rules, seed=seed, reward=reward, episode=episode
            ),
            np.tile(np.arange(rules.seats), len(numbers)),
            agent,
            others,
        )


def both_ways(names: Iterable[str]) -> list[tuple[str, str]]:
    """Every pair of agents, each once alone and once as the others."""
    return list(permutations(names, 2))


def measure(
    agents: Mapping[str, Agent],
    pairs: Iterable[tuple[str, str]],
    games: int,
    *,
    seed: int,
    rules: Rules,
    whole_matches: bool = False,
) -> list[Result]:
    """Play pairs of agents, with a progress bar on a terminal.

    Args:
        agents: By name.
        pairs: (alone, others) names.
        games: Deals, or matches, of each pair; each is played in every rotation.
        seed: Which of the test seeds, from 0.
        rules: The rules to play by.
        whole_matches: Play matches and measure win shares.
    """
    pairs = list(pairs)
    play = play_matches if whole_matches else play_deals
    hand_unit = "advantage" if rules.total_varies else "penalty"
    results = []
    console = Console()
    with Progress(transient=True, console=console, disable=not console.is_terminal) as bar:
        for alone, others in pairs:
            task = bar.add_task(f"{alone} against {others}", total=games)
            scores = play(
                agents[alone],
                agents[others],
                range(games),
                seed=TEST_SEEDS + seed,
                rules=rules,
                progress=lambda done, task=task: bar.advance(task, done),  # type: ignore[misc]
            )
            results.append(
                Result(
                    alone,
                    others,
                    "win share" if whole_matches else hand_unit,
                    games,
                    Estimate.of(scores.mean(axis=1)),
                    tuple(Estimate.of(seat) for seat in scores.T),
                )
            )
    return results


PAR: Final = {
    "penalty": "par is {:.2f} points a hand; less is better",
    "advantage": "others' mean − own points a hand: par is {:.0f}; more is better",
    "win share": "par is a win share of {:.3f}; more is better",
}


def par(unit: str, rules: Rules) -> float:
    """What an agent as good as the others scores."""
    return {"penalty": rules.par, "advantage": 0.0, "win share": 1 / rules.seats}[unit]


def result_table(results: list[Result], rules: Rules) -> Table:
    """Results as a table for the terminal, with a line that says what par is."""
    unit = results[0].unit
    games = "matches" if unit == "win share" else "deals"
    table = Table(
        title=f"{results[0].games} {games} × {rules.seats} rotations, 95 % intervals",
        caption=PAR[unit].format(par(unit, rules)),
        box=SIMPLE_HEAD,
        padding=(0, 1),
    )
    table.add_column("alone", overflow="fold")
    table.add_column(f"against {rules.seats - 1} ×", overflow="fold")
    table.add_column(unit, justify="right", no_wrap=True)
    table.add_column("in seat " + ", ".join(map(str, range(rules.seats))), justify="right")
    places = 3 if unit == "win share" else 2
    for result in results:
        means = "  ".join(f"{seat.mean:.{places - 1}f}" for seat in result.by_seat)
        widest = max(seat.half_width for seat in result.by_seat)
        by_seat = f"{means}  (± {widest:.{places - 1}f})"
        table.add_row(result.agent, result.others, result.score.text(places), by_seat)
    return table
