"""A policy that looks before it plays: sampled worlds, rolled out by the policy itself.

For each card that the policy finds likely, the hand is played to its end in many worlds
(``sample_worlds``), the policy in every seat; the card is chosen that costs least on average.
That is one step of policy improvement by rollouts (Tesauro and Galperin 1996, *On-line Policy
Improvement using Monte-Carlo Search*) over determinised worlds, passing included. Averages of few
worlds are noisy, so the policy's own opinion counts too: a card is worth log π − cost / λ, the
solution of cost regularised towards the policy (Jacob et al. 2022, arXiv 2112.07544).

Worlds are not equally likely: a player who holds the Queen leads otherwise than one who doesn't.
Where the observation has its history, each world is weighted by how likely the policy finds all
that the others have passed and played in it.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from black_maria import engine
from black_maria.bots import check_batch
from black_maria.cards import NUM_CARDS
from black_maria.layout import layout_of
from black_maria.rules import Rules
from black_maria.tables import Tables
from black_maria_agents.network import PolicyAgent
from black_maria_agents.scoring import others_less_own
from black_maria_agents.threads import one_thread
from black_maria_agents.worlds.sampling import Worlds, sample_worlds

FAMILY: Final = "search"

LIKELY = 0.05
"""Cards that the policy gives less than this are not searched."""
REGRET = 0.5
"""λ: points a hand that outweigh a factor e in the policy's opinion."""
DOUBT = 0.1
"""How probably a card was played at random, when worlds are weighted."""
SPARE = 3
"""Worlds sampled for each one that is rolled out, when they are weighted."""
MOST_WORLDS: Final = 10_000
"""Worlds that fit into the memory of a small machine, three times over."""
TABLES = 8192
"""Rollouts side by side; no result depends on it."""


class PolicySearch:
    """An ``Agent`` that searches with a policy.

    Args:
        agent: The policy.
        rules: The rules to play by.
        worlds: Worlds that each card is tried in.
        name: What it is called; its policy and budget unless given.

    Raises:
        ValueError: No worlds, or too many.
    """

    needs_history = True

    def __init__(
        self, agent: PolicyAgent, rules: Rules, *, worlds: int = 64, name: str = ""
    ) -> None:
        """Take the policy over."""
        if not 1 <= worlds <= MOST_WORLDS:
            raise ValueError(f"worlds={worlds}: must be a whole number from 1 to {MOST_WORLDS:,}")
        self.name = name or f"{FAMILY}:policy={agent.name},worlds={worlds}"
        self.agent = agent
        self.rules = rules
        self.worlds = worlds
        self._layout = layout_of(rules)

    @property
    def identity(self) -> str:
        """Its name and the hash of its policy's file; it samples nothing, whatever that does."""
        return " ".join(filter(None, [self.name, self.agent.fingerprint]))

    @one_thread()
    def act(
        self, obs: Mapping[str, NDArray[np.int8]], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Choose a card for every row; see ``base.Agent``."""
        observation, mask = check_batch(obs, keys, self._layout)
        prior = self.agent.log_probs(observation, mask).numpy()
        actions: NDArray[np.int64] = prior.argmax(axis=1)
        likely = prior >= np.log(LIKELY)
        open_rows = np.flatnonzero(likely.sum(axis=1) > 1)
        for rows in self._parts(open_rows, likely):
            history = obs["history"][rows] if "history" in obs else None
            costs = self._costs(observation[rows], likely[rows], keys[rows], history)
            worth = np.where(likely[rows], prior[rows] - costs / REGRET, -np.inf)
            actions[rows] = worth.argmax(axis=1)
        return actions

    def _parts(
        self, rows: NDArray[np.int64], likely: NDArray[np.bool_]
    ) -> Iterator[NDArray[np.int64]]:
        """Rows in parts that need at most ``TABLES`` tables, or one row."""
        tables = np.cumsum(likely[rows].sum(axis=1) * self.worlds)
        part = tables // TABLES
        for number in np.unique(part):
            yield rows[part == number]

    def _costs(
        self,
        observation: NDArray[np.int8],
        likely: NDArray[np.bool_],
        keys: NDArray[np.uint64],
        history: NDArray[np.int8] | None,
    ) -> NDArray[np.float64]:
        """What each likely card costs on average, (B, 52); 0 for the others."""
        worlds = self._worlds(observation, keys, history)
        count, n = worlds.games.shape
        row, card = np.nonzero(likely)
        world = (row[:, None] * n + np.arange(n)).reshape(-1)
        outcome = self._roll_out(worlds.games.reshape(-1)[world], np.repeat(card, n))
        costs = np.zeros((count, NUM_CARDS))
        costs[row, card] = outcome.reshape(-1, n).mean(axis=1)
        return costs

    def _roll_out(self, states: NDArray[Any], first: NDArray[np.int64]) -> NDArray[np.float64]:
        """Play these cards, then the policy's likeliest ones to the end; the observers' costs."""
        tables = Tables(np.zeros(len(states), np.int64), self.rules, deal_on=False)
        tables.load(states)
        _, done = tables.step(first)
        playing = ~done
        while playing.any():
            obs, _ = tables.observe()
            actions = self._greedy(obs["observation"], obs["action_mask"], playing)
            _, done = tables.step(actions, playing)
            playing &= ~done
        penalties = tables.states()["penalties"][:, : self.rules.seats].astype(np.float64)
        if self.rules.total_varies:
            return -others_less_own(penalties)[:, 0]
        return penalties[:, 0]

    def _greedy(
        self, observation: NDArray[np.int8], mask: NDArray[np.int8], where: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """The policy's likeliest cards, (N,); where there is no choice, it isn't asked."""
        actions: NDArray[np.int64] = mask.argmax(axis=1)
        rows = np.flatnonzero(where & (mask.sum(axis=1, dtype=np.int8) > 1))
        actions[rows] = self.agent.log_probs(observation[rows], mask[rows]).argmax(-1).numpy()
        return actions

    def _worlds(
        self,
        observation: NDArray[np.int8],
        keys: NDArray[np.uint64],
        history: NDArray[np.int8] | None,
    ) -> Worlds:
        """Worlds to roll out, (B, n): sampled by their likelihood if the history is known."""
        if history is None:
            return sample_worlds(observation, self.worlds, keys, self.rules)
        worlds = sample_worlds(observation, SPARE * self.worlds, keys, self.rules, history)
        weights = self._log_likelihood(worlds)
        weights = np.exp(weights - weights.max(axis=1, keepdims=True))
        # systematic resampling; the grid's start is the row's own
        places = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)
        starts = (keys >> np.uint64(11)) / 2.0**53
        grid = (np.arange(self.worlds) + starts[:, None]) / self.worlds
        chosen = np.stack([np.searchsorted(p, g) for p, g in zip(places, grid, strict=True)])
        chosen = chosen.clip(max=places.shape[1] - 1)
        return Worlds(self.rules, observation, np.take_along_axis(worlds.games, chosen, axis=1))

    def _log_likelihood(self, worlds: Worlds) -> NDArray[np.float64]:
        """How likely the policy passes and plays what the others have, in each world: (B, n)."""
        games = worlds.games.reshape(-1)
        if games["playoff"].any():
            return np.zeros(worlds.games.shape)  # absent seats: taken as equally likely
        tables = from_the_start(games, self.rules)
        total = np.zeros(len(games))
        plies = games["num_passed"].astype(np.int64) + games["num_played"]
        for ply in range(int(plies.max(initial=0))):
            going = ply < plies
            obs, seat = tables.observe()
            mask = obs["action_mask"]
            asked = np.flatnonzero(going & (seat != 0) & (mask.sum(axis=1, dtype=np.int8) > 1))
            log_probs = np.zeros((len(games), NUM_CARDS))
            log_probs[asked] = self.agent.log_probs(obs["observation"][asked], mask[asked]).numpy()
            card, chance = chosen_at(games, ply, seat, np.where(mask, log_probs, -np.inf))
            doubted = (1 - DOUBT) * chance + DOUBT / np.maximum(mask.sum(axis=1), 1)
            total[asked] += np.log(doubted[asked])
            tables.step(card, going)
        return total.reshape(worlds.games.shape)


def chosen_at(
    games: NDArray[Any], ply: int, seat: NDArray[np.int64], log_probs: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The card that each game (N,) has at a ply, and how likely it was, (N,) each.

    Of the cards that a seat passes the likeliest comes first, and any of them counts: in which
    order it picked them isn't known.

    Args:
        games: What is passed and played in them.
        ply: Cards passed and played before.
        seat: (N,), who is to move.
        log_probs: (N, 52), −inf for cards that are not legal.
    """
    rows, passed = np.arange(len(games)), games["num_passed"].astype(np.int64)
    rest = (games["given"][rows, seat, :1] >> np.arange(NUM_CARDS) & 1).astype(np.bool_)
    of_pass = np.where(rest, log_probs, -np.inf)
    played = games["cards"][rows, np.maximum(ply - passed, 0)]
    card = np.where(ply < passed, of_pass.argmax(axis=1), played)
    chance_played = np.exp(log_probs[rows, card])
    return card, np.where(ply < passed, np.exp(of_pass).sum(axis=1), chance_played)


def from_the_start(games: NDArray[Any], rules: Rules) -> Tables:
    """Tables at which the hands of these games (N,) are about to begin, before anyone passed."""
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
