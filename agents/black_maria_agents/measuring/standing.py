"""A ladder's order, which says no more than is known, and tables of three or more different agents.

An agent is rated by its mean edge over a fixed *panel*, never over whoever else is entered: a
hundred copies of one entry move nobody else. A member of the panel has edge 0 over itself, so
that all means are over the same agents. Whoever isn't surely behind another shares its place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from black_maria.rules import Rules
from black_maria_agents.base import Agent
from black_maria_agents.measuring.duplicate import play_lineups
from black_maria_agents.measuring.results import Estimate, Result, edge, edges


@dataclass(frozen=True)
class Standing:
    """What a ladder says of one agent."""

    name: str
    place: int
    """1 is best. Those of a place are unranked among each other."""
    edge: Estimate
    """Mean edge over the panel."""
    worst: Estimate
    """Its least edge over anybody that it has met both ways."""
    against: str
    """Over whom."""


def standings(results: list[Result], panel: Sequence[str]) -> list[Standing]:
    """The ladder, best edge first.

    A new place begins where an interval lies below the intervals of all who stand above it. So
    a place may hold a chain: each overlaps some other, and first and last may not.

    Args:
        results: Tables, both ways, of every agent with all of the panel; others count for the
            worst case alone.
        panel: Names of different agents.

    Raises:
        ValueError: An agent hasn't met one of the panel both ways.
    """
    rated = {name: panel_edge(results, name, panel) for name in edges(results)}
    found, place, floor = list[Standing](), 0, float("inf")
    for name, mean in sorted(rated.items(), key=lambda item: -item[1].mean):
        if mean.mean + mean.half_width < floor:
            place += 1
        floor = min(floor, mean.mean - mean.half_width)
        met = {other: edge(results, name, other) for other in rated if other != name}
        worst = min(
            (other for other in met if not np.isnan(met[other].mean)),
            key=lambda other: met[other].mean,
        )
        found.append(Standing(name, place, mean, met[worst], worst))
    return found


def panel_edge(results: list[Result], name: str, panel: Sequence[str]) -> Estimate:
    """An agent's mean edge over the panel, itself counted with 0 if it is one of it.

    Raises:
        ValueError: It hasn't met one of the panel both ways.
    """
    each = {other: edge(results, name, other) for other in panel if other != name}
    for other, found in each.items():
        if np.isnan(found.mean):
            raise ValueError(f"{name} and {other}, of the panel, haven't met both ways")
    return Estimate(
        sum(found.mean for found in each.values()) / len(panel),
        float(np.hypot.reduce([found.half_width for found in each.values()])) / len(panel),
    )


def mixed_table(
    agents: Mapping[str, Agent], deals: int, *, seed: int, rules: Rules
) -> dict[str, Estimate]:
    """What different agents score at one table: whose points does the weakest pay?

    Every deal is played in all orders around the table and all rotations.

    Args:
        agents: By name, one for each seat.
        deals: How many.
        seed: The deals' seed.
        rules: The rules to play by.

    Returns:
        Mean penalty points a hand, or advantages, with intervals over deals.
    """
    names = list(agents)
    orders = [[names[0], *rest] for rest in permutations(names[1:])]
    lineups = [[agents[name] for name in order] for order in orders]
    scores = play_lineups(lineups, range(deals), seed=seed, rules=rules)
    by_place = scores.mean(axis=2)  # (deals, orders, places)
    return {
        name: Estimate.of(
            np.mean([by_place[:, k, order.index(name)] for k, order in enumerate(orders)], axis=0)
        )
        for name in names
    }
