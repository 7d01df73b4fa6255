"""Playing for the match: what a hand's points change in the chance to win it.

How likely each seat wins from given totals follows, hand by hand and from the end back, from how
often a hand of good players ends with which points. Its change over a hand is that hand's reward:
a training that plays single hands, from totals as matches reach them, so plays for the match.
"""

from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from black_maria.kernels import kernel
from black_maria.rules import Rules
from black_maria.tables import Tables
from black_maria_agents.base import Agent
from black_maria_agents.network import Policy
from black_maria_agents.seeds import VALIDATION_SEED
from black_maria_agents.training.selfplay import Rollout, Seating, SelfPlay

HANDS: Final = 16_384
"""Hands that tell how often a hand ends with which points."""
WIN_POINTS: Final = 100
"""Penalty points that a match is worth, so that rewards are about as large as in single hands."""
CRITIC_ALONE: Final = 20
"""Updates of the critic before the policy moves: one from single hands expects points to come, and
would praise whoever has taken them already."""
_SEATS: Final = 3


def check_match(rules: Rules) -> None:
    """Refuse rules whose matches aren't of this kind.

    Raises:
        ValueError: Says what is.
    """
    plain = rules.seats == _SEATS and rules.match_points is not None and not rules.playoff
    costs = min(rules.penalties) >= 0 and rules.moon == "none" and len(rules.pass_cycle) == 1
    if not (plain and costs):
        raise ValueError(
            f"episode=match: {rules.name!r} won't do; chances are worked out for three seats, a "
            "match by points without play-offs, moons and bonus cards, and one pass direction"
        )
    if limit_of(rules) > _MOST:
        raise ValueError(f"episode=match: match_points={rules.match_points} is more than {_MOST}")


_MOST: Final = 200


def limit_of(rules: Rules) -> int:
    """The total with which a match is over."""
    return (rules.match_points or 0) + rules.exceed


def hand_outcomes(agent: Agent, rules: Rules, hands: int = HANDS) -> NDArray[np.int64]:
    """Points of hands that an agent plays with itself, (hands, 3): dealer's, left's, right's."""
    tables = Tables(hands, rules, seed=VALIDATION_SEED, deal_on=False)
    playing = np.ones(hands, np.bool_)
    while playing.any():
        obs, _ = tables.observe()
        actions = np.zeros(hands, np.int64)
        rows = np.flatnonzero(playing)
        part = {name: values[rows] for name, values in obs.items()}
        actions[rows] = agent.act(part, tables.keys()[rows])
        playing &= ~tables.step(actions, playing)[1]
    states = tables.states()
    from_dealer = (states["dealer"][:, None] + np.arange(_SEATS)) % _SEATS
    points = states["penalties"][:, :_SEATS].astype(np.int64)
    return np.take_along_axis(points, from_dealer.astype(np.int64), axis=1)


def win_chances(outcomes: NDArray[np.int64], limit: int) -> NDArray[np.float64]:
    """How likely each seat wins from given totals, before a hand is dealt.

    Args:
        outcomes: (K, 3), points of hands, all seats' of a hand the same sum above 0; dealer's,
            left's and right's.
        limit: The total with which a match is over.

    Returns:
        (limit, limit, limit, 3): by the totals of dealer, left and right, the same seats' shares
        of the win: 1 together. Sums of totals that no hands add up to are worked out as well.
    """
    distinct, counts = np.unique(outcomes, axis=0, return_counts=True)
    chances = np.zeros((limit, limit, limit, _SEATS))
    _work_back(distinct, counts / counts.sum(), chances)
    return chances


@kernel
def _work_back(
    outcomes: NDArray[np.int64], weights: NDArray[np.float64], chances: NDArray[np.float64]
) -> None:
    """Fill in the chances, those with the highest totals first."""
    limit = len(chances)
    totals = np.zeros(3, np.int64)
    for points in range(3 * (limit - 1), -1, -1):
        for a in range(max(0, points - 2 * (limit - 1)), min(points, limit - 1) + 1):
            for b in range(max(0, points - a - (limit - 1)), min(points - a, limit - 1) + 1):
                c = points - a - b
                here = chances[a, b, c]
                for k in range(len(outcomes)):
                    totals[0] = a + outcomes[k, 0]
                    totals[1] = b + outcomes[k, 1]
                    totals[2] = c + outcomes[k, 2]
                    if max(totals[0], max(totals[1], totals[2])) >= limit:
                        least = min(totals[0], min(totals[1], totals[2]))
                        winners = 0
                        for seat in range(3):
                            winners += totals[seat] == least
                        for seat in range(3):
                            if totals[seat] == least:
                                here[seat] += weights[k] / winners
                    else:  # the dealer's left deals next
                        then = chances[totals[1], totals[2], totals[0]]
                        here[0] += weights[k] * then[2]
                        here[1] += weights[k] * then[0]
                        here[2] += weights[k] * then[1]


def totals_reached(
    outcomes: NDArray[np.int64], limit: int, matches: int = 4096
) -> NDArray[np.int64]:
    """Totals before the hands of matches, (H, 3): dealer's, left's and right's.

    Args:
        outcomes: As for ``win_chances``; hands are drawn among them.
        limit: The total with which a match is over.
        matches: How many matches.
    """
    rng = np.random.default_rng(len(outcomes))
    totals, found = np.zeros((matches, _SEATS), np.int64), []
    while len(totals):
        found.append(totals)
        totals = totals + outcomes[rng.integers(len(outcomes), size=len(totals))]
        totals = np.roll(totals[totals.max(axis=1) < limit], -1, axis=1)
    return np.concatenate(found)


class MatchPlay(SelfPlay):
    """Plays single hands of matches; each is rewarded by what it changes in the chance to win.

    Args:
        rules: The rules to play by; see ``check_match``.
        outcomes: Points of hands; see ``hand_outcomes``.
        **arguments: ``SelfPlay``'s, without ``hands``.
    """

    def __init__(self, rules: Rules, outcomes: NDArray[np.int64], **arguments: Any) -> None:
        """Work the chances out."""
        check_match(rules)
        super().__init__(rules, hands=1, **arguments)
        self._limit = limit_of(rules)
        self.chances = win_chances(outcomes, self._limit)
        self._reached = totals_reached(outcomes, self._limit)
        self._first = arguments.get("first_table", 0)

    def collect(self, policy: Policy, seating: Seating | None = None) -> Rollout:  # type: ignore[override]
        """Play a hand at every table, from totals drawn by (seed, hand, table)."""
        tables, seats = len(self.tables), np.arange(_SEATS)
        rng = np.random.default_rng([self._seed, self.next_hand, self._first])
        from_dealer = self._reached[rng.integers(len(self._reached), size=tables)]
        dealer = rng.integers(_SEATS, size=tables)
        place = (seats - dealer[:, None]) % _SEATS  # of each seat, counted from the dealer
        before = np.take_along_axis(from_dealer, place, axis=1)
        self.tables.start(totals=before, dealer=dealer, seed=self._seed, hand=self.next_hand)
        rollout = super().collect(policy, seating)
        after = before - rollout.rewards.sum(axis=0).astype(np.int64)
        change = self._chance(after, dealer + 1) - self._chance(before, dealer)
        rewards = np.zeros_like(rollout.rewards)
        rewards[-1] = WIN_POINTS * change
        return replace(rollout, rewards=rewards)

    def _chance(self, totals: NDArray[np.int64], dealer: NDArray[np.int64]) -> NDArray[np.float64]:
        """Each seat's chance to win, (N, 3), with these totals and a dealer who deals next."""
        over = totals.max(axis=1) >= self._limit
        best = totals == totals.min(axis=1, keepdims=True)
        won = best / best.sum(axis=1, keepdims=True)
        seats = (dealer[:, None] + np.arange(_SEATS)) % _SEATS
        ahead = np.where(over[:, None], 0, np.take_along_axis(totals, seats, axis=1))
        from_dealer = self.chances[ahead[:, 0], ahead[:, 1], ahead[:, 2]]
        place = (np.arange(_SEATS) - dealer[:, None]) % _SEATS
        return np.where(over[:, None], won, np.take_along_axis(from_dealer, place, axis=1))
