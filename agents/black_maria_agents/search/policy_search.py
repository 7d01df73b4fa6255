"""A policy that looks before it plays: sampled worlds, rolled out by the policy itself.

For each card that the policy finds likely, the hand is played to its end in several worlds
(``sample_worlds``), the policy in every seat; the card is chosen that costs least on average.
That is one step of policy improvement by rollouts (Tesauro and Galperin 1996, *On-line Policy
Improvement using Monte-Carlo Search*) over determinised worlds. Averages of few worlds are noisy,
so the policy's own opinion counts too: a card is worth log π − cost / λ, the solution of cost
regularised towards the policy (Jacob et al. 2022, arXiv 2112.07544).

Where the observation has its history, worlds are drawn by how likely the policy finds what the
others have played in them (``beliefs``); without it they are equally likely.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from black_maria.bots import check_batch
from black_maria.cards import NUM_CARDS
from black_maria.layout import layout_of
from black_maria.rules import Rules
from black_maria_agents.network import PolicyAgent
from black_maria_agents.search.beliefs import resampled, tempered, weigh
from black_maria_agents.search.playouts import play_out
from black_maria_agents.threads import one_thread
from black_maria_agents.worlds.sampling import sample_worlds

FAMILY: Final = "search"
EDITION: Final = 2
"""Raised by whatever makes it play other cards, so that scores kept of an earlier one don't
pass for its own."""

WORLDS: Final = 16
"""Worlds that each card is tried in, unless told; 8 have lost a third of a point, 32 gained 0.1."""
EARLY: Final = 0.18
"""Share of the tricks, three of seventeen, that the policy plays without search, as it passes: by
search it gains nothing there, and 0.15 to 0.4 points in every three tricks after."""
LIKELY: Final = 0.05
"""Cards that the policy gives less than this are not searched."""
REGRET: Final = 0.5
"""λ: points a hand that outweigh a factor e in the policy's opinion."""
SPARE: Final = 12
"""Worlds weighed at most, for each one that is rolled out. To weigh is most of the work, and each
doubling is worth it: a log loss of 0.58 on where cards lie with 64 worlds, 0.55 with 128, 0.53 with
192."""
STEP: Final = 4
"""Worlds weighed at a time, for each one that is rolled out, until enough are effective."""
EFFECTIVE: Final = 0.75
"""Effective number of worlds that is enough and that weights are tempered to, for each one that
is rolled out; 0.5 or 1 tell as much."""
MOST_WORLDS: Final = 2_500
"""Worlds that fit, ``SPARE`` times over, into the memory of a small machine."""
TABLES: Final = 8192
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
        self, agent: PolicyAgent, rules: Rules, *, worlds: int = WORLDS, name: str = ""
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
        """Its name, the hash of its policy's file, and its edition; it samples no card."""
        return " ".join(filter(None, [self.name, self.agent.fingerprint, f"edition {EDITION}"]))

    @one_thread()
    def act(
        self, obs: Mapping[str, NDArray[np.int8]], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Choose a card for every row; see ``base.Agent``."""
        observation, mask = check_batch(obs, keys, self._layout)
        prior = self.agent.log_probs(observation, mask).numpy()
        actions: NDArray[np.int64] = prior.argmax(axis=1)
        likely = prior >= np.log(LIKELY)
        searched = self._late(observation) & (likely.sum(axis=1) > 1)
        for rows in self._parts(np.flatnonzero(searched), likely):
            history = obs["history"][rows] if "history" in obs else None
            games, worlds = self._worlds(observation[rows], keys[rows], history)
            costs = self._costs(likely[rows], games, worlds)
            worth = np.where(likely[rows], prior[rows] - costs / REGRET, -np.inf)
            actions[rows] = worth.argmax(axis=1)
        return actions

    def _late(self, observation: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Where the observer is to play, and has played in the first tricks, (B,)."""
        tricks = observation[:, self._layout["played"]][:, :NUM_CARDS].sum(axis=1)
        playing = observation[:, self._layout["phase"]][:, 1] == 1
        late: NDArray[np.bool_] = playing & (tricks >= int(EARLY * self.rules.hand_size))
        return late

    def _parts(
        self, rows: NDArray[np.int64], likely: NDArray[np.bool_]
    ) -> Iterator[NDArray[np.int64]]:
        """Rows in parts that need at most ``TABLES`` tables at a time, or one row."""
        tables = np.cumsum(np.maximum(likely[rows].sum(axis=1), STEP) * self.worlds)
        part = tables // TABLES
        for number in np.unique(part):
            yield rows[part == number]

    def _worlds(
        self,
        observation: NDArray[np.int8],
        keys: NDArray[np.uint64],
        history: NDArray[np.int8] | None,
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Games (B, N) and the numbers (B, n) of those to roll out, some more than once."""
        if history is None:
            games = sample_worlds(observation, self.worlds, keys, self.rules).games
            return games, np.broadcast_to(np.arange(self.worlds), games.shape)
        effective = EFFECTIVE * self.worlds
        games, likelihood = weigh(
            self.agent, observation, history, keys,
            step=STEP * self.worlds, most=SPARE * self.worlds, effective=effective,
        )  # fmt: skip
        return games, resampled(tempered(likelihood, effective), self.worlds, keys)

    def _costs(
        self,
        likely: NDArray[np.bool_],
        games: NDArray[Any],
        worlds: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """What each likely card costs on average in these worlds, (B, 52); 0 for the others."""
        row, card = np.nonzero(likely)
        tasks = (row[:, None] * games.shape[1] + worlds[row]) * NUM_CARDS + card[:, None]
        once, which = np.unique(tasks, return_inverse=True)
        first = once[:, None] % NUM_CARDS
        states = games.reshape(-1)[once // NUM_CARDS]
        outcome = play_out(self.agent, self.rules, states, first).costs
        costs = np.zeros(likely.shape)
        costs[row, card] = outcome[which].reshape(tasks.shape).mean(axis=1)
        return costs
