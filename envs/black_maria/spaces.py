"""The spaces of observations and actions; they print on a line: a vector has hundreds of bounds."""

from math import prod
from typing import Any, Final

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from black_maria.cards import NUM_CARDS
from black_maria.given import shown
from black_maria.layout import Layout, layout_of
from black_maria.mixed import Mixed, history_shape
from black_maria.render import agent_name
from black_maria.rules import Rules
from black_maria.rules_vector import RULES_BOUND, RULES_SIZE

_INFO: Final = "dealer", "totals", "rules"


class SpacesOfAgents(AECEnv[str, Any, Any]):
    """The part of PettingZoo's environment that says who the agents are and what they get."""

    def _set_spaces_up(self, rules: Rules, history: bool, mixed: Mixed | None) -> None:
        """An agent and its two spaces for every seat."""
        self.layout = layout_of(rules)
        self.possible_agents = [agent_name(seat) for seat in range(rules.seats)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.observation_spaces = {
            agent: observation_space(self.layout, history, mixed) for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(NUM_CARDS) for agent in self.possible_agents}
        self.state_space = vector_space(self.layout, rules.seats)
        self._told = _INFO if mixed else _INFO[:2]

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The observation space of an agent; always the same object.

        Raises:
            ValueError: There is no such agent.
        """
        self._seat_of(agent)
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The action space of an agent, ``Discrete(52)``; always the same object.

        Raises:
            ValueError: There is no such agent.
        """
        self._seat_of(agent)
        return self.action_spaces[agent]

    def _seat_of(self, agent: str) -> int:
        try:
            return self._seats[agent]
        except Exception:  # whatever comes of hashing it
            agents = ", ".join(self._seats)
            raise ValueError(f"no agent {shown(agent)}; there are: {agents}") from None


def observation_space(layout: Layout, history: bool, mixed: Mixed | None = None) -> spaces.Dict:
    """What one seat sees: vector, mask and, where asked for, history and rules."""
    entries: dict[str, spaces.Space[Any]] = {
        "observation": vector_space(layout),
        "action_mask": spaces.Box(0, 1, (NUM_CARDS,), np.int8),
    }
    if history:
        shape = history_shape(layout.rules, mixed)
        entries["history"] = spaces.Box(-1, NUM_CARDS - 1, shape, np.int8)
    if mixed:
        bound = np.float32(RULES_BOUND)
        entries["rules"] = spaces.Box(-bound, bound, (RULES_SIZE,), np.float32)
    return spaces.Dict(entries)


def flattened_space(space: Any) -> spaces.Space[Any]:
    """The space of an observation without mask, as ``mixed.flattened`` makes it."""
    vector, rules = space["observation"], space.spaces.get("rules")
    if rules is None:
        return vector  # type: ignore[no-any-return]
    low, high = (
        np.concatenate([bounds, others]).astype(np.float32)
        for bounds, others in ((vector.low, rules.low), (vector.high, rules.high))
    )
    box = spaces.Box(low, high, dtype=np.float32)
    print_shortly(box)
    return box


def vector_space(layout: Layout, seats: int = 1) -> spaces.Space[Any]:
    """The vectors of so many seats, one after another, (seats · F,) int8."""
    number = np.concatenate(
        [np.full(prod(block.shape), block.number) for block in layout.blocks.values()]
    )
    low, high = np.where(number, -128, 0), np.where(number, 127, layout.rules.packs)
    low, high = (np.tile(bound, seats).astype(np.int8) for bound in (low, high))
    space = spaces.Box(low, high, dtype=np.int8)
    print_shortly(space)
    return space


def print_shortly(space: spaces.Space[Any]) -> None:
    """Let a space's ``Box``es print the ends of their bounds alone; all else about them stays."""
    if isinstance(space, spaces.Dict):
        for each in space.values():
            print_shortly(each)
    elif isinstance(space, spaces.Box):
        space.low_repr, space.high_repr = _short(space.low), _short(space.high)


def _short(bounds: NDArray[Any]) -> str:
    """``"0"`` where all are the same, else ``"[0 0 … -128 -128]"``."""
    ends = bounds.reshape(-1)
    if (ends == ends[0]).all():
        return str(ends[0])
    return f"[{ends[0]} {ends[1]} … {ends[-2]} {ends[-1]}]"
