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
ENDINGS: Final = 32
"""Ways in which what is still out of a hand may fall, to guess the chance to win within it."""
WIN_POINTS: Final = 100
"""Penalty points that a match is worth, so that rewards are about as large as in single hands."""
CRITIC_ALONE: Final = 20
"""Updates of the critic before the policy moves; one from single hands starts from nothing."""
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
    points = states["penalties"][:, :_SEATS].astype(np.int64)
    return np.take_along_axis(points, _from(states["dealer"].astype(np.int64)), axis=1)


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


def chances_at(
    chances: NDArray[np.float64], totals: NDArray[np.int64], dealer: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Each seat's chance to win, (N, 3), before a hand, or its share if the match is over.

    Args:
        chances: From ``win_chances``.
        totals: (N, 3), by seat.
        dealer: (N,), who deals the hand; a seat, modulo 3.
    """
    over = totals.max(axis=1) >= len(chances)
    best = totals == totals.min(axis=1, keepdims=True)
    won = best / best.sum(axis=1, keepdims=True)
    ahead = np.where(over[:, None], 0, np.take_along_axis(totals, _from(dealer), axis=1))
    from_dealer = chances[ahead[:, 0], ahead[:, 1], ahead[:, 2]]
    return np.where(over[:, None], won, np.take_along_axis(from_dealer, _from(-dealer), axis=1))


def _from(first: NDArray[np.int64]) -> NDArray[np.int64]:
    """The seats from these on, (N, 3); from minus a dealer: the seats' places after the dealer."""
    return (first[:, None] + np.arange(_SEATS)) % _SEATS


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


def stakes(
    chances: NDArray[np.float64],
    totals: NDArray[np.int64],
    outcomes: NDArray[np.int64],
    count: int = 64,
) -> NDArray[np.float64]:
    """How much a hand moves the chances to win, (H,): its variance, the seats' together.

    Args:
        chances: From ``win_chances``.
        totals: (H, 3), before the hands: dealer's, left's and right's.
        outcomes: As for ``win_chances``; ``count`` hands are drawn among them.
        count: Hands that tell, the same ones for all totals.
    """
    drawn = np.random.default_rng(len(outcomes)).choice(outcomes, count)
    distinct, place = np.unique(totals, axis=0, return_inverse=True)
    after = (distinct[:, None] + drawn).reshape(-1, _SEATS)
    then = chances_at(chances, after, np.ones(len(after), np.int64))
    found: NDArray[np.float64] = then.reshape(-1, count, _SEATS).var(axis=1).sum(axis=1)
    return found[place.reshape(-1)]


def endings(outcomes: NDArray[np.int64], count: int = ENDINGS) -> NDArray[np.int64]:
    """Ways in which what is still out of a hand may fall: as whole hands do, in proportion.

    Args:
        outcomes: As for ``win_chances``, of hands of P points; some are drawn among them.
        count: How many ways, K.

    Returns:
        (P + 1, K, 3): by the points still out, what falls to dealer, left and right; whole
        points, and as many as are out.
    """
    drawn = np.random.default_rng(len(outcomes)).choice(outcomes, count)
    points = int(drawn[0].sum())
    out = np.arange(points + 1)[:, None, None]
    upto = np.rint(drawn.cumsum(axis=1) * out / points).astype(np.int64)
    return np.diff(upto, axis=2, prepend=0)


class MatchPlay(SelfPlay):
    """Plays single hands of matches; each is rewarded by what it changes in the chance to win.

    The change is given out trick by trick, so that a card is credited with what it did: each
    trick with points earns the change that it makes in the chance as guessed from the hand so
    far, where what is still out falls as whole hands do (``endings``). Such a reward by a
    potential leaves the best play as it is (Ng, Harada and Russell 1999): a hand's rewards add up
    to the change from the chance before it to the chance after it, whatever was guessed between.

    Args:
        rules: The rules to play by; see ``check_match``.
        outcomes: Points of hands; see ``hand_outcomes``.
        **arguments: ``SelfPlay``'s, without ``hands``.
    """

    def __init__(self, rules: Rules, outcomes: NDArray[np.int64], **arguments: Any) -> None:
        """Work the chances out."""
        check_match(rules)
        super().__init__(rules, hands=1, **arguments)
        self.chances = win_chances(outcomes, limit_of(rules))
        self._reached = totals_reached(outcomes, limit_of(rules))
        self._likely = stakes(self.chances, self._reached, outcomes)
        self._likely /= self._likely.sum()
        self._endings = endings(outcomes)
        self._first = arguments.get("first_table", 0)

    def collect(self, policy: Policy, seating: Seating | None = None) -> Rollout:  # type: ignore[override]
        """Play a hand at every table, from totals drawn by (seed, hand, table).

        Totals are drawn among those that matches reach, each as likely as much is at stake: one
        hand in six may be its match's last, and nearly all that there is to learn is in those.
        """
        tables = len(self.tables)
        rng = np.random.default_rng([self._seed, self.next_hand, self._first])
        from_dealer = self._reached[rng.choice(len(self._reached), tables, p=self._likely)]
        dealer = rng.integers(_SEATS, size=tables)
        before = np.take_along_axis(from_dealer, _from(-dealer), axis=1)
        self.tables.start(totals=before, dealer=dealer, seed=self._seed, hand=self.next_hand)
        self._totals, self._dealer = before, dealer
        rollout = super().collect(policy, seating)
        rewards = self._changes(rollout.rewards, before, dealer)
        return replace(rollout, rewards=WIN_POINTS * rewards)

    def costs(self, rows: NDArray[np.int64], points: NDArray[np.float64]) -> NDArray[np.float64]:
        """What hands of the last rollout change in the chance to win, for the worse."""
        before, dealer = self._totals[rows], self._dealer[rows]
        after = before + points.astype(np.int64)
        lost = chances_at(self.chances, before, dealer) - chances_at(
            self.chances, after, dealer + 1
        )
        return WIN_POINTS * lost

    def _changes(
        self, points: NDArray[np.float32], before: NDArray[np.int64], dealer: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """What each step changes in the seats' chances to win, (T, N, 3).

        Args:
            points: (T, N, 3), minus the penalty points that fell to each seat at each step.
            before: (N, 3), the totals before the hand.
            dealer: (N,), who dealt it.
        """
        changes = np.zeros(points.shape, np.float32)
        chance, totals = chances_at(self.chances, before, dealer), before.copy()
        for t, fell in enumerate(points):
            totals -= fell.astype(np.int64)
            rows = np.flatnonzero(fell.any(axis=1))
            now = self._guessed(totals[rows], before[rows], dealer[rows])
            changes[t, rows] = now - chance[rows]
            chance[rows] = now
        return changes

    def _guessed(
        self, totals: NDArray[np.int64], before: NDArray[np.int64], dealer: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Each seat's chance to win, (N, 3), within a hand; the true one once all points fell."""
        out = self.tables.rules.hand_points - (totals - before).sum(axis=1)
        rest = np.take_along_axis(self._endings[out], _from(-dealer)[:, None], axis=2)
        after = (totals[:, None] + rest).reshape(-1, _SEATS)
        then = chances_at(self.chances, after, np.repeat(dealer + 1, rest.shape[1]))
        guessed: NDArray[np.float64] = then.reshape(rest.shape).mean(axis=1)
        return guessed
