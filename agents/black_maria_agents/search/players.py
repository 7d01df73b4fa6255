"""Who sits where, as a search takes it: what each would play, and how likely it plays a card.

A network says both by its probabilities. Of any other agent only its cards are seen: it is asked
several times, each time with other randomness, and a card is as likely as it comes up often.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from black_maria.rules import Rules
from black_maria_agents.base import Agent, wants_history
from black_maria_agents.network import PolicyAgent

ASKED: Final = 4
"""How often an agent without probabilities is asked for one card's likelihood."""
_MIX: Final = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(29))
"""An odd step that visits all keys, a multiplier and a shift (SplitMix64)."""


class Players:
    """The agents at a table, by their place clockwise from the searcher, who has place 0.

    Args:
        seats: An agent for each place. They see observations without a history.
        rules: The rules they play by.

    Raises:
        ValueError: Too few or too many, or one can't play without its observation's history.
    """

    def __init__(self, seats: Sequence[Agent], rules: Rules) -> None:
        """Put equal ones together, to ask them once."""
        if len(seats) != rules.seats:
            raise ValueError(f"{len(seats)} agents for {rules.seats} places: give one for each")
        for agent in seats:
            if wants_history(agent):
                raise ValueError(f"{agent.name} needs a history, which play-outs don't have")
        self.rules = rules
        self.agents = list({id(agent): agent for agent in seats}.values())
        self._number = np.array([self.agents.index(agent) for agent in seats])

    @classmethod
    def all_alike(cls, agent: PolicyAgent) -> "Players":
        """One network in every seat."""
        return cls([agent] * agent.rules.seats, agent.rules)

    def likeliest(
        self,
        observation: NDArray[np.int8],
        mask: NDArray[np.int8],
        place: NDArray[np.int64],
        keys: NDArray[np.uint64],
    ) -> NDArray[np.int64]:
        """What each would play, (N,): a network its likeliest card.

        Args:
            observation: (N, F) int8, of who is to move.
            mask: (N, 52) int8.
            place: (N,), where it sits.
            keys: (N,) uint64, for those who play by chance.
        """
        cards = np.empty(len(place), np.int64)
        for agent, rows in self._by_agent(place):
            seen = observation[rows], mask[rows]
            if isinstance(agent, PolicyAgent):
                cards[rows] = agent.log_probs(*seen).argmax(-1).numpy()
            else:
                obs = dict(zip(("observation", "action_mask"), seen, strict=True))
                cards[rows] = agent.act(obs, keys[rows])
        return cards

    def chances(
        self,
        observation: NDArray[np.int8],
        mask: NDArray[np.int8],
        place: NDArray[np.int64],
        cards: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """How probably each plays this card, (N,). Arguments as for ``likeliest``."""
        found = np.empty(len(place))
        for agent, rows in self._by_agent(place):
            seen, card = (observation[rows], mask[rows]), cards[rows]
            if isinstance(agent, PolicyAgent):
                log_probs = agent.log_probs(*seen).numpy()
                found[rows] = np.exp(log_probs[np.arange(len(card)), card])
                continue
            obs = dict(zip(("observation", "action_mask"), seen, strict=True))
            first = np.zeros(len(card), np.uint64)
            times = [agent.act(obs, next_keys(first, number)) == card for number in range(ASKED)]
            found[rows] = np.mean(times, axis=0)
        return found

    def _by_agent(
        self, place: NDArray[np.int64]
    ) -> Iterator[tuple[Agent, slice | NDArray[np.int64]]]:
        """Each agent that has rows, and which."""
        if len(self.agents) == 1:
            yield self.agents[0], slice(None)
            return
        number = self._number[place]
        for k, agent in enumerate(self.agents):
            rows = np.flatnonzero(number == k)
            if len(rows):
                yield agent, rows


def next_keys(keys: NDArray[np.uint64], step: int | NDArray[np.int64]) -> NDArray[np.uint64]:
    """Keys (N,) for the ``step``-th draw after these."""
    odd, multiplier, shift = _MIX
    mixed = keys + odd * np.asarray(step).astype(np.uint64) + odd
    mixed = (mixed ^ (mixed >> shift)) * multiplier
    result: NDArray[np.uint64] = mixed ^ (mixed >> shift)
    return result
