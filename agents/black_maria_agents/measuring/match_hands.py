"""What an agent gains of a match, hand by hand: where it gains, and where it loses.

The agent plays single hands from totals as matches reach them, alone in each seat in turn, and
beside it the others play the same deal in all seats. A hand is worth the chance to win that it
leaves; the difference of the two has none of the luck of a match's other hands, and little of the
deal's. It takes the agent for as good as the others in the hands to come.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from black_maria.rules import Rules
from black_maria.tables import Tables
from black_maria_agents.base import Agent, wants_history
from black_maria_agents.training.match import chances_at

_SEATS: Final = 3


class Gained(NamedTuple):
    """What H hands gained, each the mean of the three seats."""

    chance: NDArray[np.float64]
    """Chance to win the match that the agent has more than one of the others in its seat, (H,)."""
    points: NDArray[np.float64]
    """Penalty points that it takes less, (H,)."""


def gained(
    agent: Agent,
    others: Agent,
    rules: Rules,
    totals: NDArray[np.int64],
    chances: NDArray[np.float64],
    *,
    seed: int,
    first: int = 0,
) -> Gained:
    """Play hands with the agent in each seat, and with the others alone.

    Args:
        agent: Who is measured.
        others: Who sits in the other seats.
        rules: The rules to play by.
        totals: (H, 3), match points before each hand, by seat; seat 0 deals.
        chances: From ``training.match.win_chances``, of hands of the others.
        seed: The deals' seed.
        first: Number of the first hand's table.
    """
    next_dealer = np.ones(len(totals), np.int64)

    def played(seat: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        points = _played(agent, others, rules, totals, seat, seed, first)
        return chances_at(chances, totals + points, next_dealer), points

    usual, usual_points = played(-1)
    chance, points = np.zeros((2, len(totals)))
    for seat in range(_SEATS):
        won, fell = played(seat)
        chance += (won - usual)[:, seat] / _SEATS
        points += (usual_points - fell)[:, seat] / _SEATS
    return Gained(chance, points)


def _played(
    agent: Agent,
    others: Agent,
    rules: Rules,
    totals: NDArray[np.int64],
    alone: int,
    seed: int,
    first: int,
) -> NDArray[np.int64]:
    """Points by seat, (H, 3), where the agent sits in one of them, or in none: −1."""
    numbers = np.arange(first, first + len(totals))
    history = wants_history(agent) or wants_history(others)
    tables = Tables(numbers, rules, seed=seed, history=history, deal_on=False)
    tables.start(totals=totals, dealer=0, seed=seed)
    playing = np.ones(len(tables), np.bool_)
    while playing.any():
        obs, seat = tables.observe()
        actions, keys = np.zeros(len(tables), np.int64), tables.keys()
        for player, mine in ((agent, seat == alone), (others, seat != alone)):
            rows = np.flatnonzero(playing & mine)
            if len(rows):
                part = {name: values[rows] for name, values in obs.items()}
                actions[rows] = player.act(part, keys[rows])
        playing &= ~tables.step(actions, playing)[1]
    points: NDArray[np.int64] = tables.states()["penalties"][:, :_SEATS].astype(np.int64)
    return points
