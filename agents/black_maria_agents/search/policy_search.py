"""A policy that looks before it plays: sampled worlds, played out by the policy itself.

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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from black_maria import engine
from black_maria.bots import check_batch
from black_maria.cards import NUM_CARDS
from black_maria.layout import layout_of
from black_maria.rules import Rules
from black_maria.tables import Tables
from black_maria_agents.network import PolicyAgent
from black_maria_agents.worlds.sampling import Worlds, sample_worlds

LIKELY = 0.05
"""Cards that the policy gives less than this are not searched."""
REGRET = 0.5
"""λ: points a hand that outweigh a factor e in the policy's opinion."""
DOUBT = 0.1
"""How probably a card was played at random, when worlds are weighted."""
SPARE = 3
"""Worlds drawn for each one that is played out, when they are weighted."""
TABLES = 8192
"""Games played out side by side; no result depends on it."""


class PolicySearch:
    """An ``Agent`` that searches with a policy.

    Args:
        agent: The policy.
        rules: The rules to play by.
        worlds: Worlds that each card is tried in.

    Raises:
        ValueError: No worlds.
    """

    needs_history = True

    def __init__(self, agent: PolicyAgent, rules: Rules, *, worlds: int = 64) -> None:
        """Take the policy over."""
        if worlds < 1:
            raise ValueError(f"worlds={worlds}: must be at least 1")
        self.agent = agent
        self.rules = rules
        self.worlds = worlds
        self._layout = layout_of(rules)

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
        worlds = self._draw(observation, keys, history)
        count, n = worlds.records.shape
        row, card = np.nonzero(likely)
        world = (row[:, None] * n + np.arange(n)).reshape(-1)
        outcome = self._play_out(worlds.records.reshape(-1)[world], np.repeat(card, n))
        costs = np.zeros((count, NUM_CARDS))
        costs[row, card] = outcome.reshape(-1, n).mean(axis=1)
        return costs

    def _play_out(self, states: NDArray[Any], first: NDArray[np.int64]) -> NDArray[np.float64]:
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
        costs: NDArray[np.float64] = penalties[:, 0]
        if self.rules.total_varies:
            costs = costs - (penalties.sum(axis=1) - costs) / (self.rules.seats - 1)
        return costs

    def _greedy(
        self, observation: NDArray[np.int8], mask: NDArray[np.int8], where: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """The policy's likeliest cards, (N,); where there is no choice, it isn't asked."""
        actions: NDArray[np.int64] = mask.argmax(axis=1)
        rows = np.flatnonzero(where & (mask.sum(axis=1, dtype=np.int8) > 1))
        actions[rows] = self.agent.log_probs(observation[rows], mask[rows]).argmax(-1).numpy()
        return actions

    def _draw(
        self,
        observation: NDArray[np.int8],
        keys: NDArray[np.uint64],
        history: NDArray[np.int8] | None,
    ) -> Worlds:
        """Worlds to play out, (B, n): drawn by their likelihood if the history is known."""
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
        return Worlds(self.rules, observation, np.take_along_axis(worlds.records, chosen, axis=1))

    def _log_likelihood(self, worlds: Worlds) -> NDArray[np.float64]:
        """How likely the policy passes and plays what the others have, in each world: (B, n)."""
        records = worlds.records.reshape(-1)
        if records["playoff"].any():
            return np.zeros(worlds.records.shape)  # absent seats: taken as equally likely
        tables = from_the_start(records, self.rules)
        total = np.zeros(len(records))
        given, played = records["given"][:, : self.rules.seats], records["num_played"]
        passed = records["num_passed"].astype(np.int64)
        plies = passed + played
        for ply in range(int(plies.max(initial=0))):
            going = ply < plies
            obs, seat = tables.observe()
            mask = obs["action_mask"]
            asked = np.flatnonzero(going & (seat != 0) & (mask.sum(axis=1, dtype=np.int8) > 1))
            log_probs = np.zeros((len(records), NUM_CARDS))
            log_probs[asked] = self.agent.log_probs(obs["observation"][asked], mask[asked]).numpy()
            passing = ply < passed
            rows = np.arange(len(records))
            # of the cards that a seat passes, the likeliest first: their order isn't known
            planes = given[rows, seat]
            rest = (planes[:, :1] >> np.arange(NUM_CARDS) & 1).astype(np.bool_) & (mask > 0)
            of_pass = np.where(rest, log_probs, -np.inf)
            card = np.where(
                passing,
                of_pass.argmax(axis=1),
                records["cards"][rows, np.maximum(ply - passed, 0)],
            )
            chance = np.where(passing, np.exp(of_pass).sum(axis=1), np.exp(log_probs[rows, card]))
            doubted = (1 - DOUBT) * chance + DOUBT / np.maximum(mask.sum(axis=1), 1)
            total[asked] += np.log(doubted[asked])
            tables.step(card, going)
        return total.reshape(worlds.records.shape)


def from_the_start(records: NDArray[Any], rules: Rules) -> Tables:
    """Tables at which the hands of these records are about to begin, before anyone passed."""
    had = np.zeros((len(records), rules.seats, NUM_CARDS), np.int8)
    engine.dealt_cards(records, engine.rules_record(rules), had)
    dealt = _cards(had).reshape(len(records), rules.seats, -1)
    tables = Tables(np.zeros(len(records), np.int64), rules, deal_on=False)
    tables.start(deal=dealt, dealer=records["dealer"], number=records["hand"])
    return tables


def _cards(counts: NDArray[np.int8]) -> NDArray[np.int8]:
    """The cards that (…, 52) counts are of, one set after another."""
    every = np.broadcast_to(np.arange(NUM_CARDS, dtype=np.int8), counts.shape)
    return np.repeat(every.reshape(-1), counts.reshape(-1))
