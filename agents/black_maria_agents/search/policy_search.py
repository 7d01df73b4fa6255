"""A policy that looks before it plays: sampled worlds, rolled out by the policy itself.

For each card that the policy finds likely, the hand is played to its end in several worlds
(``sample_worlds``), the policy in every seat; the card is chosen that costs least on average.
That is one step of policy improvement by rollouts (Tesauro and Galperin 1996, *On-line Policy
Improvement using Monte-Carlo Search*) over determinised worlds. Averages of few worlds are noisy,
so the policy's own opinion counts too: a card is worth log π − cost / λ, the solution of cost
regularised towards the policy (Jacob et al. 2022, arXiv 2112.07544).

Where the observation has its history, worlds are drawn by how likely the policy finds what the
others have played in them (``beliefs``), of those that a learnt guess finds worth weighing
(``proposals``); without it they are equally likely.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from black_maria.bots import check_batch
from black_maria.cards import NUM_CARDS
from black_maria.layout import layout_of
from black_maria.rules import Rules
from black_maria_agents.base import Agent
from black_maria_agents.guesser import Guess
from black_maria_agents.network import PolicyAgent
from black_maria_agents.search.beliefs import resampled, tempered, weigh
from black_maria_agents.search.players import Players, next_keys
from black_maria_agents.search.playouts import play_out
from black_maria_agents.threads import one_thread
from black_maria_agents.worlds.sampling import sample_worlds

FAMILY: Final = "search"
EDITION: Final = 3
"""Raised by whatever makes it play other cards, so that scores kept of an earlier one don't
pass for its own."""

WORLDS: Final = 32
"""Worlds that each card is tried in, unless told."""
EARLY: Final = 0.18
"""Share of the tricks, three of seventeen, that the policy plays without search, as it passes: by
search it gains nothing there, and 0.15 to 0.4 points in every three tricks after."""
LIKELY: Final = 0.05
"""Cards that the policy gives less than this are not searched."""
REGRET: Final = 0.5
"""λ: points a hand that outweigh a factor e in the policy's opinion."""
DRAWS: Final = 16
"""Worlds drawn, for each one that is rolled out."""
GUESSED: Final = 3
"""Worlds weighed at most, for each one that is rolled out, where a guess says which; to weigh is
half of the work."""
SPARE: Final = 6
"""The same without a guess."""
EFFECTIVE: Final = 0.375
"""Effective number of worlds that weights are tempered to, for each one that is rolled out; half of
it tells as much."""
MOST_WORLDS: Final = 2_500
"""Worlds that fit, ``DRAWS`` times over, into the memory of a small machine."""
TABLES: Final = 8192
"""Rollouts side by side; no result depends on it."""


class PolicySearch:
    """An ``Agent`` that searches with a policy.

    Args:
        agent: The policy.
        rules: The rules to play by.
        worlds: Worlds that each card is tried in.
        name: What it is called; its policy and budget unless given.
        others: Who sits at its left and so on clockwise, if that is known; otherwise each is
            taken to play the same policy. Only how they play is used, nothing that they see.
        guess: Of who holds what, to weigh likely worlds; for others who play much as those
            whom it learnt from.
        team: Places whose mean points the search keeps low: its own, 0, and its partners'.

    Raises:
        ValueError: No worlds, or too many; or others that don't fill the other seats.
    """

    needs_history = True

    def __init__(
        self,
        agent: PolicyAgent,
        rules: Rules,
        *,
        worlds: int = WORLDS,
        name: str = "",
        others: Sequence[Agent] | None = None,
        guess: Guess | None = None,
        team: Sequence[int] = (0,),
    ) -> None:
        """Take the policy over."""
        if not 1 <= worlds <= MOST_WORLDS:
            raise ValueError(f"worlds={worlds}: must be a whole number from 1 to {MOST_WORLDS:,}")
        self.name = name or f"{FAMILY}:policy={agent.name},worlds={worlds}"
        self.agent = agent
        self.rules = rules
        self.worlds = worlds
        self.players = Players([agent, *(others or [agent] * (rules.seats - 1))], rules)
        self.guess = guess
        self.team = list(team)
        self._known = ""
        if others is not None:
            identities = ", ".join(other.identity for other in others)
            self._known = f"others {identities} team {self.team}"
        self._layout = layout_of(rules)

    @property
    def identity(self) -> str:
        """Its name, its networks' hashes, whom it knows, and its edition; it samples no card."""
        guess = self.guess.fingerprint if self.guess else ""
        parts = [self.name, self.agent.fingerprint, guess, self._known, f"edition {EDITION}"]
        return " ".join(filter(None, parts))

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
            costs = self._costs(likely[rows], games, worlds, keys[rows])
            worth = np.where(likely[rows], prior[rows] - costs / REGRET, -np.inf)
            actions[rows] = worth.argmax(axis=1)
        return actions

    @property
    def _weighed(self) -> int:
        """Worlds weighed at most, for each one that is rolled out."""
        return GUESSED if self.guess else SPARE

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
        tables = np.cumsum(np.maximum(likely[rows].sum(axis=1), self._weighed) * self.worlds)
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
        games, weights = weigh(
            self.players, observation, history, keys,
            draws=DRAWS * self.worlds, most=self._weighed * self.worlds, guess=self.guess,
        )  # fmt: skip
        return games, resampled(tempered(weights, effective), self.worlds, keys)

    def _costs(
        self,
        likely: NDArray[np.bool_],
        games: NDArray[Any],
        worlds: NDArray[np.int64],
        keys: NDArray[np.uint64],
    ) -> NDArray[np.float64]:
        """What each likely card costs on average in these worlds, (B, 52); 0 for the others."""
        row, card = np.nonzero(likely)
        tasks = (row[:, None] * games.shape[1] + worlds[row]) * NUM_CARDS + card[:, None]
        once, which = np.unique(tasks, return_inverse=True)
        game = once // NUM_CARDS
        luck = next_keys(keys[game // games.shape[1]], game % games.shape[1])
        first = once[:, None] % NUM_CARDS
        played = play_out(self.players, games.reshape(-1)[game], first, luck)
        outcome = played.costs[:, self.team].mean(axis=1)
        costs = np.zeros(likely.shape)
        costs[row, card] = outcome[which].reshape(tasks.shape).mean(axis=1)
        return costs
