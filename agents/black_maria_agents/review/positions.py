"""The decisions of a recorded hand: what the seat to move saw, and the card it chose."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from black_maria import engine
from black_maria.record import Hand
from black_maria.tables import Tables
from black_maria_agents.network import PolicyAgent


@dataclass(frozen=True)
class Positions:
    """The D decisions of a hand in which there was a choice, in the order they were made."""

    hand: Hand
    """The hand, its passes in the order in which they are taken to have been picked."""
    plies: NDArray[np.int64]
    """Cards passed and played before, (D,)."""
    seats: NDArray[np.int64]
    """Who was to move, (D,)."""
    cards: NDArray[np.int64]
    """What they chose, (D,)."""
    states: NDArray[Any]
    """The tables, (D,) ``engine.STATE``."""
    observation: NDArray[np.int8]
    """What the seats to move saw, (D, F) int8."""
    history: NDArray[np.int8]
    """(D, R, 3) int8."""
    mask: NDArray[np.int8]
    """The legal cards, (D, 52) int8."""
    log_probs: NDArray[np.float64]
    """What the policy thinks of each card, (D, 52); −inf where it is illegal."""
    keys: NDArray[np.uint64]
    """Each decision's own randomness, (D,)."""

    @property
    def passing(self) -> NDArray[np.bool_]:
        """Which are of the passing, (D,)."""
        found: NDArray[np.bool_] = self.states["phase"] == engine.PASSING
        return found

    def only(self, which: NDArray[Any]) -> "Positions":
        """Some of the decisions, by their places or (D,) bool."""
        some = {each.name: getattr(self, each.name)[which] for each in fields(self)[1:]}
        return replace(self, **some)


def positions_of(hand: Hand, agent: PolicyAgent) -> Positions:
    """The decisions of a hand, as the policy sees them.

    A record doesn't tell in what order a seat picked the cards that it passed: the one that the
    policy finds likeliest is taken to have been first.
    """
    first = _seen(hand, agent)
    passes = list(hand.passes)
    for row in np.flatnonzero(first.passing & (first.states["num_passed"] % _count(hand) == 0)):
        seat, liking = int(first.seats[row]), first.log_probs[row]
        passes[seat] = tuple(sorted(passes[seat], key=lambda card: (-liking[card], card)))
    return _seen(replace(hand, passes=tuple(passes)), agent)


def _count(hand: Hand) -> int:
    return max(hand.rules.pass_count, 1)


def _seen(hand: Hand, agent: PolicyAgent) -> Positions:
    states = np.array([state.copy() for state in hand.steps()][:-1], engine.STATE)
    chosen = np.array(hand.actions(), np.int64)
    tables = Tables(len(states), hand.rules, history=True, deal_on=False)
    tables.load(states)
    obs, seats = tables.observe()
    plies = np.flatnonzero(obs["action_mask"].sum(axis=1, dtype=np.int64) > 1)
    observation, mask = obs["observation"][plies], obs["action_mask"][plies]
    return Positions(
        hand,
        plies,
        seats[plies],
        chosen[plies],
        states[plies],
        observation,
        obs["history"][plies],
        mask,
        agent.log_probs(observation, mask).numpy().astype(np.float64),
        tables.keys()[plies],
    )
