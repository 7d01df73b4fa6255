"""Beliefs: how likely worlds are, by what the others have played in them.

A player who holds the Queen leads otherwise than one who doesn't. So a world counts as much as a
policy finds the cards likely that the others played in it. Taken at its word that likelihood
trusts two worlds of two hundred, for it multiplies thirty opinions that are not quite right:
it is *tempered*, raised to the highest power that leaves enough worlds effective.

What the others passed is left out. In a world it is one lot of very many, hardly ever one that
the policy would pick, and what luck it had there would drown what the tricks tell.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from black_maria import engine
from black_maria.cards import NUM_CARDS
from black_maria.rules import Rules
from black_maria.tables import Tables
from black_maria_agents.guesser import Guess
from black_maria_agents.network import PolicyAgent
from black_maria_agents.search.players import Players
from black_maria_agents.search.proposals import TRUST, alike, chosen, opinion
from black_maria_agents.worlds.sampling import card_counts, sample_worlds

DOUBT: Final = 0.1
"""How probably a card was played at random; 0.01 to 0.3 are as good."""
HOPELESS: Final = 8.0
"""A world whose log likelihood falls so far below its row's best is given up: that spares a sixth
of the replay and costs nothing."""
HALVINGS: Final = 20
"""Steps that find the power, each halves what is left of [0, 1]."""


def weigh(
    agent: PolicyAgent | Players,
    observation: NDArray[np.int8],
    history: NDArray[np.int8],
    keys: NDArray[np.uint64],
    *,
    draws: int,
    most: int,
    guess: Guess | None = None,
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Draw worlds, and weigh some of them.

    Worlds in which the others hold the same cards are copies: one of them is weighed for all.
    Late in a hand, where few holdings are left, that weighs every one of them.

    Args:
        agent: The policy that the others are taken to play, or who sits where.
        observation: (B, F) int8, after the pass.
        history: (B, R, 3) int8.
        keys: (B,) uint64, each row's randomness.
        draws: Worlds drawn of a row, n.
        most: How many of them are weighed, copies aside.
        guess: Says which are worth it, and is believed in part; evenly likely without it.

    Returns:
        Games (B, n) ``engine.STATE`` and logarithms of what they weigh (B, n), up to a constant of
        the row: −inf for those that are given up or not weighed.
    """
    games = sample_worlds(observation, draws, keys, agent.rules, history).games
    first, opinions = alike(games, agent.rules.seats), np.zeros(games.shape)
    if guess is not None:
        opinions = TRUST * opinion(games, guess.log_probs(observation), first)
    found = log_likelihood(agent, games, chosen(opinions, first, most, keys))
    return games, np.take_along_axis(found, first, axis=1)


def log_likelihood(
    agent: PolicyAgent | Players,
    games: NDArray[Any],
    prior: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """How likely the others play what they have played, in worlds (B, n): (B, n).

    −inf for worlds that are given up; 0 in play-offs, whose absent seats played the hand before.

    Args:
        agent: The policy that the others are taken to play, or who sits where.
        games: The worlds.
        prior: Logarithms of what worlds weigh before, (B, n), which is added; −inf for those that
            are not to be weighed.
    """
    players = agent if isinstance(agent, Players) else Players.all_alike(agent)
    total = np.zeros(games.shape) if prior is None else prior.copy()
    wanted = np.isfinite(total) & ~games["playoff"].any(axis=1, keepdims=True)
    if not wanted.any():
        return total
    worlds, found = games[wanted], total[wanted]
    tables = at_the_first_lead(worlds, players.rules)
    starts, row = np.unique(np.nonzero(wanted)[0], return_index=True, return_inverse=True)[1:]
    for ply in range(int(worlds["num_played"].max())):
        going = (ply < worlds["num_played"]) & np.isfinite(found)
        obs, seat = tables.observe()
        choices = obs["action_mask"].sum(axis=1, dtype=np.int64)
        asked = np.flatnonzero(going & (seat != 0) & (choices > 1))
        cards = worlds["cards"][:, ply]
        seen = obs["observation"][asked], obs["action_mask"][asked]
        chance = players.chances(*seen, seat[asked], cards[asked])
        found[asked] += np.log((1 - DOUBT) * chance + DOUBT / choices[asked])
        found[found < np.maximum.reduceat(found, starts)[row] - HOPELESS] = -np.inf
        tables.step(cards, going)
    total[wanted] = found
    return total


def tempered(log_likelihood: NDArray[np.float64], effective: float = 0.0) -> NDArray[np.float64]:
    """Weights of worlds: their likelihood to the highest power ≤ 1 that leaves enough effective.

    Args:
        log_likelihood: (B, n), −inf for worlds that don't count.
        effective: The effective number of worlds that a row is to have at least. Where even
            equal weights have less, all worlds that count weigh the same.

    Returns:
        (B, n), each row's weights sum to 1.
    """
    low, high = np.zeros(len(log_likelihood)), np.ones(len(log_likelihood))
    low[effective_number(weights_of(log_likelihood, high)) >= effective] = 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        enough = effective_number(weights_of(log_likelihood, middle)) >= effective
        low, high = np.where(enough, middle, low), np.where(enough, high, middle)
    return weights_of(log_likelihood, low)


def weights_of(
    log_likelihood: NDArray[np.float64], power: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Likelihoods (B, n) to each row's power (B,), as weights whose rows sum to 1."""
    counts = np.isfinite(log_likelihood)
    relative = log_likelihood - log_likelihood.max(axis=1, keepdims=True)
    weights = np.exp(np.where(counts, relative, 0.0) * power[:, None]) * counts
    shares: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return shares


def effective_number(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """How many equally likely worlds tell as much, 1 / Σ w²: (B,), of weights (B, n)."""
    number: NDArray[np.float64] = 1.0 / np.square(weights).sum(axis=1)
    return number


def resampled(weights: NDArray[np.float64], n: int, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Numbers of n worlds, (B, n), drawn by their weights: systematic resampling.

    A world comes up n · weight times, rounded up or down. The grid's start is the row's own.
    """
    places = np.cumsum(weights, axis=1)
    starts = (keys >> np.uint64(11)) / 2.0**53
    grid = (np.arange(n) + starts[:, None]) / n * places[:, -1:]
    return np.stack(
        [
            np.searchsorted(row, points, side="right")
            for row, points in zip(places, grid, strict=True)
        ]
    )


def at_the_first_lead(games: NDArray[Any], rules: Rules) -> Tables:
    """Tables at which the cards of these games (N,) have been passed, and none is played."""
    tables = at_the_deal(games, rules)
    states, rows = tables.states(), np.arange(len(games))
    for ply in range(int(games["num_passed"].max(initial=0))):
        seat = states["turn"]
        rest = card_counts(games["given"][rows, seat]) > card_counts(states["given"][rows, seat])
        tables.step(rest.argmax(axis=1), ply < games["num_passed"])
    return tables


def at_the_deal(games: NDArray[Any], rules: Rules) -> Tables:
    """Tables at which these games (N,) have been dealt, and no card is passed or played."""
    had = np.zeros((len(games), rules.seats, NUM_CARDS), np.int8)
    engine.dealt_cards(games, engine.rules_record(rules), had)
    dealt = _cards(had).reshape(len(games), rules.seats, -1)
    tables = Tables(np.zeros(len(games), np.int64), rules, deal_on=False)
    tables.start(deal=dealt, dealer=games["dealer"], number=games["hand"])
    return tables


def _cards(counts: NDArray[np.int8]) -> NDArray[np.int8]:
    """The cards that (…, 52) counts are of, one set after another."""
    every = np.broadcast_to(np.arange(NUM_CARDS, dtype=np.int8), counts.shape)
    return np.repeat(every.reshape(-1), counts.reshape(-1))
