"""Measuring: duplicate deals, every rotation of the seats, intervals over deals.

The unit is a *deal played in every rotation*: agent A sits once in each seat while the
others hold the rest, on the same cards. Its mean penalty over the rotations is one number a
deal; the result is the mean over deals with the 95 % interval of that mean. One agent in all
seats scores ``rules.par`` on every deal, so exactly par with width 0.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from black_maria.rules import Rules, as_rules
from black_maria.tables import Tables
from black_maria_agents.base import Agent

CHUNK = 1024
"""Deals played side by side; the result doesn't depend on it."""


@dataclass(frozen=True)
class Estimate:
    """A mean with the half-width of its 95 % interval (normal, over deals)."""

    mean: float
    half_width: float

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> "Estimate":
        """The estimate from one value a deal, (D,)."""
        if len(values) < 2:
            return cls(float(values.mean()), float("nan"))
        error = values.std(ddof=1) / np.sqrt(len(values))
        return cls(float(values.mean()), float(1.96 * error))

    def __str__(self) -> str:
        return f"{self.mean:.2f} ± {self.half_width:.2f}"


def play_deals(
    agent: Agent,
    others: Agent,
    deals: range,
    *,
    seed: int,
    rules: str | Rules = "three_player",
    progress: Callable[[int], Any] = lambda deals: None,
) -> NDArray[np.float64]:
    """Penalties of one agent alone against copies of another, on duplicate deals.

    Args:
        agent: The agent measured.
        others: The agent in all other seats.
        deals: Table numbers of the deals, hand 0 of each.
        seed: The deals' seed.
        rules: A profile's name or rules.
        progress: Called with the number of deals finished since the last call.

    Returns:
        (D, seats) float64: penalty points of ``agent`` when it sits in each seat.
    """
    rules = as_rules(rules)
    parts = []
    for first in range(0, len(deals), CHUNK):
        part = deals[first : first + CHUNK]
        parts.append(_play_chunk(agent, others, part, seed, rules))
        progress(len(part))
    return np.concatenate(parts)


def _play_chunk(
    agent: Agent, others: Agent, deals: range, seed: int, rules: Rules
) -> NDArray[np.float64]:
    seats = rules.seats
    numbers = np.repeat(np.arange(deals.start, deals.stop), seats)
    own_seat = np.tile(np.arange(seats), len(deals))  # row (deal, rotation) → the agent's seat
    tables = Tables(numbers, rules, seed=seed)
    penalties = np.zeros((len(numbers), seats))
    for _ in range(rules.plies):
        rewards, _ = tables.step(choose_cards((others, agent), tables, own_seat))
        penalties -= rewards
    return penalties[np.arange(len(numbers)), own_seat].reshape(len(deals), seats)


def choose_cards(
    pair: Sequence[Agent], tables: Tables, own_seat: NDArray[np.int64]
) -> NDArray[np.int64]:
    """A card for every table, from ``pair[1]`` in its own seat and ``pair[0]`` elsewhere."""
    obs, seat = tables.observe()
    keys = tables.keys()
    actions = np.empty(len(tables), np.int64)
    for which, rows in _split(seat == own_seat):
        part = {name: array[rows] for name, array in obs.items()}
        actions[rows] = pair[which].act(part, keys[rows])
    return actions


def _split(own: NDArray[np.bool_]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    for which in (0, 1):
        rows = np.flatnonzero(own == bool(which))
        if len(rows):
            yield which, rows
