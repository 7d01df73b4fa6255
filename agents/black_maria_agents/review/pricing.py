"""What each card would have cost: play-outs in sampled worlds, and a price that isn't flattered.

The best of several noisy averages looks better than it is. So the worlds that pick the best card
are not those that price it: one lot of worlds tries every legal card, and where another card than
the one chosen comes out ahead there, a second lot, drawn anew, tells by how much. That price is
as often too high as too low, whatever the first lot saw. Ahead means, as for the search, that the
policy's own opinion counts as well (``policy_search.REGRET``), but for the card chosen.

Worlds are drawn as ``search.policy_search`` draws them, by how likely the policy finds what the
others have played in them. Before anybody has played, they are equally likely, and every seat
passes what the policy would.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from black_maria import engine
from black_maria.cards import NUM_CARDS
from black_maria_agents.network import PolicyAgent
from black_maria_agents.review.positions import Positions
from black_maria_agents.search.beliefs import at_the_deal, resampled, tempered, weigh
from black_maria_agents.search.playouts import play_out
from black_maria_agents.search.policy_search import REGRET
from black_maria_agents.worlds.sampling import card_counts, sample_worlds

DOUBT: Final = 1.0
"""Standard errors by which another card must be ahead to be priced at all: less is mostly luck, and
pricing it adds noise and time."""
SPARE: Final = 12
"""Worlds drawn and weighed, copies aside, for each one that is played out."""
EFFECTIVE: Final = 0.75
"""Effective number of worlds that weights are tempered to, for each one that is played out."""
TABLES: Final = 16_384
"""Worlds, or play-outs, side by side; no result depends on it."""
_PICK, _PRICE = 0x9E3779B97F4A7C15, 0xD1B54A32D192ED03


@dataclass(frozen=True)
class Prices:
    """What D decisions were worth.

    Costs are penalty points of the whole hand, ≥ 0 unless there are bonus cards; where
    ``rules.total_varies``, the own less the others' mean.
    """

    best: NDArray[np.int64]
    """The card that comes out best, (D,): the one chosen, unless another one beats it."""
    regret: NDArray[np.float64]
    """How much more the card chosen costs, in the second lot of worlds, (D,); 0 if it is best."""
    error: NDArray[np.float64]
    """Standard error of that, (D,)."""
    flattered: NDArray[np.float64]
    """The regret as the first lot has it, which picked the best card by it, (D,): too high. It is
    there to see by how much."""
    cost: NDArray[np.float64]
    """What the card chosen costs, (D,)."""
    difference: NDArray[np.float64]
    """What each legal card costs more than the one chosen, (D, 52), NaN for illegal ones; of the
    first lot of worlds, but for the best card."""
    difference_error: NDArray[np.float64]
    """Standard errors of these, (D, 52)."""
    risk: NDArray[np.float64]
    """How probably this trick costs the seat something once it plays a card, (D, 52)."""
    holds: NDArray[np.float64]
    """How probably each seat holds each card, (D, S, 52), the seat to move first and then
    clockwise, in weighted worlds. Of two packs: how many."""


@dataclass(frozen=True)
class _Worlds:
    """Worlds of some decisions: games (B, N), those to play out (B, n), and all weights (B, N)."""

    games: NDArray[Any]
    drawn: NDArray[np.int64]
    weights: NDArray[np.float64]


def price(agent: PolicyAgent, found: Positions, *, worlds: int, seed: int) -> Prices:
    """Price the decisions of a hand.

    Args:
        agent: The policy that plays every hand out.
        found: The decisions.
        worlds: Worlds in which every card is tried; twice as many price the best one.
        seed: Another one draws other worlds.
    """
    count, rows = len(found.plies), np.arange(len(found.plies))
    lot = _drawn(agent, found, rows, found.keys ^ _salt(_PICK, seed), worlds)
    legal = found.mask > 0
    costs, risks, counts = _tried(agent, found, rows, legal, lot)
    chosen = found.cards
    difference, errors = _compared(costs, chosen, counts)
    difference[~legal] = errors[~legal] = np.nan
    average = np.where(legal, difference, 0.0)
    liking = found.log_probs.max(axis=1, keepdims=True) - np.where(legal, found.log_probs, 0.0)
    liking[rows, chosen] = 0.0  # who chose a card may have had a reason
    ahead = np.where(legal, average + REGRET * liking, np.inf)
    best = ahead.argmin(axis=1)
    best = np.where(ahead[rows, best] < -DOUBT * errors[rows, best], best, chosen)

    cost = _means(costs[rows, :, chosen], counts)
    flattered = -difference[rows, best]
    regret, error = np.zeros(count), np.zeros(count)
    other = np.flatnonzero(best != chosen)
    if len(other):
        again = _drawn(agent, found, other, found.keys[other] ^ _salt(_PRICE, seed), 2 * worlds)
        two = np.zeros((len(other), NUM_CARDS), np.bool_)
        two[np.arange(len(other)), chosen[other]] = two[np.arange(len(other)), best[other]] = True
        dear, _, times = _tried(agent, found, other, two, again)
        here = np.arange(len(other))
        gap, wide = _compared(dear, chosen[other], times)
        regret[other], error[other] = -gap[here, best[other]], wide[here, best[other]]
        difference[other, best[other]] = gap[here, best[other]]
        errors[other, best[other]] = error[other]
    risk = np.where(legal, _means(risks.transpose(0, 2, 1) > 0, counts), np.nan)
    risk[found.passing] = np.nan
    holds = _holds(found, lot)
    return Prices(best, regret, error, flattered, cost, difference, errors, risk, holds)


def _salt(lot: int, seed: int) -> np.uint64:
    """What makes a lot's keys its own, and other ones with another seed."""
    return np.uint64(lot * (2 * seed + 1) & 2**64 - 1)


def _drawn(
    agent: PolicyAgent,
    found: Positions,
    rows: NDArray[np.int64],
    keys: NDArray[np.uint64],
    worlds: int,
) -> _Worlds:
    """Worlds of some decisions, by the policy's likelihood; equally likely ones while passing."""
    most = SPARE * worlds
    games = np.zeros((len(rows), most), engine.STATE)
    drawn = np.broadcast_to(np.arange(worlds), (len(rows), worlds)).copy()
    weights = np.zeros((len(rows), most))
    passing = found.passing[rows]
    for part in _parts(np.flatnonzero(passing), worlds):
        at = rows[part]
        few = sample_worlds(
            found.observation[at], worlds, keys[part], found.hand.rules, found.history[at]
        )
        games[part, :worlds] = few.games
        weights[part, :worlds] = 1 / worlds
    for part in _parts(np.flatnonzero(~passing), most):
        at = rows[part]
        games[part], weighed = weigh(
            agent, found.observation[at], found.history[at], keys[part], draws=most, most=most
        )
        weights[part] = tempered(weighed, EFFECTIVE * worlds)
        drawn[part] = resampled(weights[part], worlds, keys[part])
    return _Worlds(games, drawn, weights)


def _parts(rows: NDArray[np.int64], each: int) -> list[NDArray[np.int64]]:
    """Rows in parts of at most ``TABLES`` tables, or one row."""
    if not len(rows):
        return []
    size = max(1, TABLES // each)
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _tried(
    agent: PolicyAgent,
    found: Positions,
    rows: NDArray[np.int64],
    wanted: NDArray[np.bool_],
    lot: _Worlds,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Play the wanted cards (B, 52) out in the worlds drawn.

    Returns:
        Costs and costs of the trick, (B, n, 52), 0 for cards that aren't wanted; and how often
        each of the n worlds was drawn, (B, n): a world drawn twice counts twice at its first
        place and not at the other.
    """
    once = np.zeros(lot.drawn.shape, np.bool_)
    counts = np.zeros(lot.drawn.shape)
    for row, numbers in enumerate(lot.drawn):
        _, places, times = np.unique(numbers, return_index=True, return_counts=True)
        once[row, places], counts[row, places] = True, times
    at, place, card = np.nonzero(once[:, :, None] & wanted[:, None, :])
    costs, risks = np.zeros((2, *lot.drawn.shape, NUM_CARDS))
    for start in range(0, len(at), TABLES):
        part = slice(start, start + TABLES)
        r, p, c = at[part], place[part], card[part]
        states, picks = _begun(found, rows[r], lot.games[r, lot.drawn[r, p]], c)
        played = play_out(agent, states, picks)
        costs[r, p, c], risks[r, p, c] = played.costs[:, 0], played.trick
    return costs, risks, counts


def _begun(
    found: Positions, rows: NDArray[np.int64], games: NDArray[Any], cards: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Where play-outs begin, and the cards that seat 0 plays first: (N,) and (N, k).

    Of the passing they begin at the deal, so that the others pass what the policy would; but for
    play-offs, whose hands aren't as large as others.
    """
    states, picks = games.copy(), np.full((len(rows), _most_picks(found)), -1, np.int64)
    picks[:, 0] = cards
    early = np.flatnonzero(found.passing[rows] & ~games["playoff"])
    if len(early):
        states[early] = at_the_deal(games[early], found.hand.rules).states()
        for at in early:
            before = engine.cards_of(games[at]["given"][0])
            picks[at, : len(before) + 1] = [*before, cards[at]]
    return states, picks


def _most_picks(found: Positions) -> int:
    return max(found.hand.rules.pass_count, 1)


def _means(values: NDArray[Any], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means over worlds, the last axis, of values (B, …, n); counts (B, n)."""
    counts = counts.reshape(len(counts), *(1,) * (values.ndim - 2), -1)
    mean: NDArray[np.float64] = (values * counts).sum(axis=-1) / counts.sum(axis=-1)
    return mean


def _compared(
    costs: NDArray[np.float64], chosen: NDArray[np.int64], counts: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What cards cost more than the chosen one in the same worlds, and its standard error.

    Args:
        costs: (B, n, 52).
        chosen: (B,) cards.
        counts: (B, n), how often each world was drawn.

    Returns:
        Both (B, 52).
    """
    rows = np.arange(len(costs))
    apart = (costs - costs[rows, :, chosen][:, :, None]).transpose(0, 2, 1)
    mean = _means(apart, counts)
    share = counts / counts.sum(axis=1, keepdims=True)
    effective = 1 / np.square(share).sum(axis=1)
    spread = (np.square(share)[:, None, :] * np.square(apart - mean[:, :, None])).sum(axis=-1)
    wider = effective / np.maximum(effective - 1, 1)
    return mean, np.sqrt(spread * wider[:, None])


def _holds(found: Positions, lot: _Worlds) -> NDArray[np.float64]:
    """Expected cards of each seat, (D, S, 52): what it is about to pass is still its own."""
    seats = found.hand.rules.seats
    holds = np.zeros((len(lot.games), seats, NUM_CARDS))
    for row, weights in enumerate(lot.weights):
        some = np.flatnonzero(weights)
        games = lot.games[row, some]
        cards = card_counts(games["holding"][:, :seats])
        if found.passing[row]:
            cards = cards + card_counts(games["given"][:, :seats])
        holds[row] = np.tensordot(weights[some], cards, 1)
    return holds
