"""What playing for the match can gain: the cards of a policy's hands, priced by the chance to win.

Hands start from totals as matches reach them. For every open decision in them the likely cards
are played out, the policy in all seats, in worlds that agree with what the seat to move knows;
the outcomes are read twice, as the seat's own points and as its chance to win the match, and so
name two best cards. As in ``search.policy_search`` the policy's own opinion counts as well.

The best of several noisy averages looks better than it is. So other worlds, drawn anew, tell what
the best cards are worth: that is as often too high as too low. What the card that is best by the
chance gains over the one that is best by points is what playing for the match adds to looking
ahead. Added up along a hand it is one step of policy improvement: what a player gains who looks
ahead and then plays as the policy does, in positions as the policy reaches them.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from black_maria import engine
from black_maria.cards import NUM_CARDS
from black_maria.rules import Rules
from black_maria.tables import Tables
from black_maria_agents.measuring.results import Estimate
from black_maria_agents.network import PolicyAgent
from black_maria_agents.search.beliefs import at_the_deal, resampled, tempered, weigh
from black_maria_agents.search.playouts import play_out
from black_maria_agents.search.policy_search import REGRET
from black_maria_agents.training.match import chances_at
from black_maria_agents.worlds.sampling import sample_worlds

WORLDS: Final = 48
"""Worlds in which every likely card of a decision is tried, to choose the best."""
LOTS: Final = 5
"""Lots of as many worlds that price two cards of which one is best by points, the other by the
chance; one lot where those are the same card, but not the policy's."""
SPARE: Final = 4
"""Worlds weighed for each one that is played out; the search, which has one try, takes more."""
EFFECTIVE: Final = 0.75
"""Effective number of worlds that weights are tempered to, for each one that is played out."""
LIKELY: Final = 0.01
"""Cards that the policy gives less than this are not tried."""
TABLES: Final = 16_384
"""Worlds, or play-outs, side by side; no result depends on it."""
PERIODS: Final = {"early": 0.0, "middle": 0.1, "late": 0.5}
"""Kinds of hands, each from so large a chance on that the match ends with the hand."""
_SEATS: Final = 3
_LOT: Final = 0x9E3779B97F4A7C15


class Prospects(NamedTuple):
    """What H hands can do to a match."""

    last: NDArray[np.float64]
    """How likely the match ends with the hand, (H,)."""
    slopes: NDArray[np.float64]
    """What a point costs each seat of its chance to win, on average over the hand, (H, 3)."""
    moved: NDArray[np.float64]
    """The variance of what the hand changes in each seat's chance, (H, 3)."""
    told: NDArray[np.float64]
    """The share of that which the seat's own points tell, (H, 3): 1 if few points are all that
    counts."""


def prospects(
    totals: NDArray[np.int64], outcomes: NDArray[np.int64], chances: NDArray[np.float64]
) -> Prospects:
    """What hands can do to a match that stands so before them.

    Args:
        totals: (H, 3), dealer's, left's and right's.
        outcomes: As for ``training.match.win_chances``.
        chances: What that gives.
    """
    distinct, counts = np.unique(outcomes, axis=0, return_counts=True)
    weights = counts / counts.sum()
    apart = distinct - weights @ distinct
    found = []
    for before in totals:
        after = before + distinct
        won = chances_at(chances, after, np.ones(len(after), np.int64))
        over = weights @ (after.max(axis=1) >= len(chances))
        won -= weights @ won
        together = weights @ (apart * won)
        spread, moved = weights @ np.square(apart), weights @ np.square(won)
        told = np.square(together) / np.maximum(spread * moved, 1e-12)
        found.append((over, -together / spread, moved, told))
    return Prospects(*(np.array(part) for part in zip(*found, strict=True)))


@dataclass(frozen=True)
class Decisions:
    """D decisions in which the policy finds several cards likely, along some hands."""

    hand: NDArray[np.int64]
    """Which of the hands, (D,)."""
    seat: NDArray[np.int64]
    """Who was to move, (D,)."""
    states: NDArray[Any]
    """The tables, (D,) ``engine.STATE``."""
    observation: NDArray[np.int8]
    """(D, F) int8."""
    history: NDArray[np.int8]
    """(D, R, 3) int8."""
    log_probs: NDArray[np.float64]
    """What the policy thinks of each card, (D, 52); −inf for those that aren't to be tried."""
    keys: NDArray[np.uint64]
    """Each decision's own randomness, (D,)."""

    def only(self, rows: NDArray[np.int64]) -> "Decisions":
        """Some of the decisions."""
        return Decisions(*(part[rows] for part in vars(self).values()))


def decisions(
    agent: PolicyAgent, totals: NDArray[np.int64], numbers: Sequence[int], *, seed: int
) -> Decisions:
    """Play hands, the policy in all seats, seat 0 their dealer.

    Args:
        agent: The policy; it plays its likeliest cards.
        totals: (H, 3), match points before each hand, by seat.
        numbers: Of the hands' tables, H.
        seed: The deals' seed.
    """
    tables = Tables(numbers, agent.rules, seed=seed, history=True, deal_on=False)
    tables.start(totals=totals, dealer=0, seed=seed)
    found: list[tuple[NDArray[Any], ...]] = []
    playing = np.ones(len(tables), np.bool_)
    while playing.any():
        obs, seat = tables.observe()
        actions, open_ = obs["action_mask"].argmax(axis=1), np.flatnonzero(playing)
        log_probs = agent.log_probs(obs["observation"][open_], obs["action_mask"][open_]).numpy()
        actions[open_] = log_probs.argmax(axis=1)
        liking = np.where(log_probs >= np.log(LIKELY), log_probs.astype(np.float64), -np.inf)
        several = np.isfinite(liking).sum(axis=1) > 1
        rows = open_[several]
        found.append((
            rows, seat[rows], tables.save(rows), obs["observation"][rows], obs["history"][rows],
            liking[several], tables.keys()[rows],
        ))  # fmt: skip
        playing &= ~tables.step(actions, playing)[1]
    return Decisions(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


@dataclass(frozen=True)
class Gains:
    """What the best cards gain over the policy's, decision by decision, (D,); more is better."""

    best: NDArray[np.int64]
    """The card of the policy, the one best by points and the one best by the chance, (D, 3)."""
    points: NDArray[np.float64]
    """Penalty points that the two best cards spare the seat, (D, 2)."""
    chance: NDArray[np.float64]
    """What they add to its chance to win the match, (D, 2)."""
    flattered: NDArray[np.float64]
    """What the card best by the chance adds to that of the one best by points, in the worlds that
    chose them, (D,): too high. It is there to see by how much."""


def gains(
    agent: PolicyAgent,
    found: Decisions,
    totals: NDArray[np.int64],
    chances: NDArray[np.float64],
    slopes: NDArray[np.float64],
    *,
    worlds: int = WORLDS,
    lots: int = LOTS,
) -> Gains:
    """Choose the best cards of decisions, and price them in other worlds.

    Args:
        agent: The policy that plays every hand out.
        found: The decisions.
        totals: (H, 3), the match points before each hand, by seat.
        chances: From ``training.match.win_chances``.
        slopes: (H, 3), what a point costs each seat of its chance: it brings the policy's opinion
            to the same scale.
        worlds: Worlds in which every likely card is tried.
        lots: Lots of as many worlds that price the best ones.
    """
    rows, count = np.arange(len(found.hand)), len(found.hand)
    liking, likely = found.log_probs, np.isfinite(found.log_probs)
    slope = np.maximum(slopes[found.hand, found.seat], 0.0)[:, None]
    points, chance = tried(agent, found, totals, chances, likely, lot=0, worlds=worlds)
    opinion = REGRET * np.where(likely, liking, 0.0)
    best = np.stack([
        liking.argmax(axis=1),
        np.where(likely, opinion - points, -np.inf).argmax(axis=1),
        np.where(likely, opinion * slope + chance, -np.inf).argmax(axis=1),
    ], axis=1)  # fmt: skip
    flattered = chance[rows, best[:, 2]] - chance[rows, best[:, 1]]
    sums, times = np.zeros((2, count, 3)), np.ones((count, 1))
    apart = best[:, 1] != best[:, 2]
    for lot in range(1, lots + 1):
        at = np.flatnonzero(apart if lot > 1 else apart | (best[:, 0] != best[:, 1]))
        if not len(at):
            break
        wanted = np.zeros((len(at), NUM_CARDS), np.bool_)
        wanted[np.arange(len(at))[:, None], best[at]] = True
        part = tried(agent, found.only(at), totals, chances, wanted, lot=lot, worlds=worlds)
        for target, values in zip(sums, part, strict=True):
            target[at] += values[np.arange(len(at))[:, None], best[at]]
        times[at] = lot
    points, chance = sums / times
    return Gains(best, points[:, :1] - points[:, 1:], chance[:, 1:] - chance[:, :1], flattered)


def tried(
    agent: PolicyAgent,
    found: Decisions,
    totals: NDArray[np.int64],
    chances: NDArray[np.float64],
    wanted: NDArray[np.bool_],
    *,
    lot: int,
    worlds: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Play the wanted cards (D, 52) out.

    Args:
        agent: As the others for ``gains``.
        found: The decisions.
        totals: The match points before each hand.
        chances: The chances to win.
        wanted: The cards.
        lot: Another one has other worlds.
        worlds: How many.

    Returns:
        The seat's own points of the whole hand and its chance after it, on average, both
        (D, 52); 0 for cards that aren't wanted.
    """
    keys = found.keys ^ np.uint64(_LOT * (2 * lot + 1) & 2**64 - 1)
    clockwise = (found.seat[:, None] + np.arange(_SEATS)) % _SEATS
    before = np.take_along_axis(totals[found.hand], clockwise, axis=1)
    next_dealer = 1 - found.seat  # seat 0 deals; counted from the seat to move
    sums = np.zeros((2, len(keys), NUM_CARDS))
    for some in _parts(len(keys), SPARE * worlds):
        games, numbers = _worlds(agent, found.only(some), keys[some], worlds)
        at, place, card = np.nonzero(numbers[:, :, None] & wanted[some][:, None])
        for part in _parts(len(at)):
            row = some[at[part]]
            states, first = _begun(
                agent.rules, found.states["phase"][row], games[at[part], place[part]], card[part]
            )
            fell = play_out(agent, states, first).costs.astype(np.int64)
            won = chances_at(chances, before[row] + fell, next_dealer[row])
            share = numbers[at[part], place[part]] / worlds
            for target, values in zip(sums, (fell[:, 0], won[:, 0]), strict=True):
                np.add.at(target, (row, card[part]), share * values)
    return sums[0], sums[1]


def _parts(count: int, each: int = 1) -> Iterator[NDArray[np.int64]]:
    """Numbers of so many things, in parts that need at most ``TABLES`` tables, or one by one."""
    size = max(1, TABLES // each)
    yield from (np.arange(start, min(start + size, count)) for start in range(0, count, size))


def _worlds(
    agent: PolicyAgent, found: Decisions, keys: NDArray[np.uint64], worlds: int
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Worlds (B, N) and how often each counts, (B, N): so many together.

    By the policy's likelihood, as the search has them; equally likely ones while passing.
    """
    most, effective = SPARE * worlds, EFFECTIVE * worlds
    games = np.zeros((len(keys), most), engine.STATE)
    times = np.zeros((len(keys), most), np.int64)
    passing = found.states["phase"] == engine.PASSING
    early, late = np.flatnonzero(passing), np.flatnonzero(~passing)
    if len(early):
        seen = found.observation[early], worlds, keys[early], agent.rules, found.history[early]
        games[early, :worlds], times[early, :worlds] = sample_worlds(*seen).games, 1
    if len(late):
        games[late], weights = weigh(
            agent, found.observation[late], found.history[late], keys[late], draws=most, most=most
        )
        drawn = resampled(tempered(weights, effective), worlds, keys[late])
        np.add.at(times, (late[:, None], drawn), 1)
    return games, times


def _begun(
    rules: Rules, phase: NDArray[np.int8], games: NDArray[Any], cards: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Where play-outs begin, and the cards that seat 0 plays first: (N,) and (N, k).

    Of the passing they begin at the deal, so that the others pass what the policy would.
    """
    states, first = games.copy(), np.full((len(games), rules.pass_count), -1, np.int64)
    first[:, 0] = cards
    early = np.flatnonzero(phase == engine.PASSING)
    if len(early):
        states[early] = at_the_deal(games[early], rules).states()
        for at in early:
            before = engine.cards_of(games[at]["given"][0])
            first[at, : len(before) + 1] = [*before, cards[at]]
    return states, first


@dataclass(frozen=True)
class Summary:
    """What a match's hands of a kind add up to, for one seat; shares of the win."""

    hands: float
    """Hands of that kind in a match."""
    measured: int
    """Hands that it was measured on."""
    by_points: Estimate
    """What the cards that are best by points gain over the policy's."""
    by_chance: Estimate
    """What those that are best by the chance to win gain over the policy's."""
    for_match: Estimate
    """The latter less the former: what playing for the match adds."""
    flattered: Estimate
    """The same in the worlds that chose the cards: too high."""
    points: Estimate
    """Points that the cards best by points spare, in all hands of that kind together."""


def summaries(rows: Sequence[Mapping[str, Any]], hands: Mapping[str, float]) -> dict[str, Summary]:
    """Sum a match up from hands of each kind, each the mean of its three seats.

    Args:
        rows: Measured hands: ``"period"``, and summed over the hand's decisions ``"points"`` and
            ``"chance"``, two each as in ``Gains``, and ``"flattered"``.
        hands: How many hands of each kind a match has.

    Returns:
        By kind, and of the whole ``"match"``.
    """
    found = {}
    for period, often in hands.items():
        mine = [row for row in rows if row["period"] == period]
        by_points, by_chance = np.array([row["chance"] for row in mine]).reshape(-1, 2).T
        flattered = np.array([row["flattered"] for row in mine])
        points = np.array([row["points"][0] for row in mine])
        columns = by_points, by_chance, by_chance - by_points, flattered, points
        found[period] = Summary(often, len(mine), *(_times(often, column) for column in columns))
    names = [field.name for field in fields(Summary)][2:]
    sums = (added([getattr(part, name) for part in found.values()]) for name in names)
    found["match"] = Summary(sum(hands.values()), len(rows), *sums)
    return found


def _times(often: float, values: NDArray[np.float64]) -> Estimate:
    """So many times the mean of independent values; NaN without any."""
    each = Estimate.of(values) if len(values) else Estimate(math.nan, math.nan)
    return Estimate(often * each.mean, often * each.half_width)


def added(parts: Sequence[Estimate]) -> Estimate:
    """The sum of independent estimates."""
    width = math.hypot(*(part.half_width for part in parts))
    return Estimate(sum(part.mean for part in parts), width)
