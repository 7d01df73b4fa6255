"""The engine's table under a PettingZoo environment: its arrays, how a hand begins, copies."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from black_maria import engine
from black_maria.cards import NUM_CARDS
from black_maria.given import plain
from black_maria.kernels import direct
from black_maria.mixed import Mixed
from black_maria.rules import Rules
from black_maria.spaces import SpacesOfAgents


class AgentsAtDesk(SpacesOfAgents):
    """The part of the environment that holds the game, one record of ``engine.DESK``."""

    def _set_desk_up(self, rules: Rules, mixed: Mixed | None, scoring: tuple[str, str]) -> None:
        """A desk for these rules, or for those that episodes draw; ``scoring``: reward, episode."""
        self.rules, self._mixed, self._scoring = rules, mixed, scoring
        self._args = engine.rules_record(rules, *scoring), self.layout.record
        self._desk: NDArray[Any] = np.zeros(1, engine.DESK)
        self._desk["rules"], self._desk["at"] = self._args
        self._observation = np.zeros(self.layout.size, np.int8)  # of the seat to move
        self._seed: int | None = None
        self._hand = self._turn = -1  # of no deal yet
        self._bind()

    def _bind(self) -> None:
        """Name the parts of the desk, views, and the kernel that works on it."""
        self._desk, self._observation = (
            plain(each, each.dtype) for each in (self._desk, self._observation)
        )
        self._states = self._desk["state"]
        self._state_bytes = self._states.view((np.uint8, engine.STATE.itemsize))
        self._mask = self._desk["mask"][0, :NUM_CARDS]
        self._legal = self._mask.data  # a memoryview: an entry takes 14 ns, of an array 35
        self._step_rewards = self._desk["rewards"][0, : self.rules.seats]
        self._step = direct(engine.step_one, self._desk, engine.STAY, -1, self._observation)

    def __getstate__(self) -> dict[str, Any]:
        """All but what ``_bind`` names: a copy has its own."""
        bound = ("_states", "_state_bytes", "_mask", "_legal", "_step_rewards", "_step")
        return {name: value for name, value in vars(self).items() if name not in bound}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state
        self._bind()

    def _deal(self, seed: int, hand: int, options: dict[str, Any]) -> None:
        """Begin the episode that these describe; if it can't be, nothing has changed.

        Options are tried on a state aside. Without any nothing can be refused: ``reset`` takes
        6 µs then, and 37 or more with them, where all 63 steps of a hand take 160.
        """
        rules, record = self.rules, self._args[0]
        if self._mixed:
            rules = self._mixed.of(seed, hand)
            record = engine.rules_record(rules, *self._scoring)
        first = engine.BEGIN
        if options:
            states: NDArray[Any] = np.zeros(1, engine.STATE)
            states["seed"], states["hand"] = seed, hand
            engine.start(states, rules, record, **options)
            engine.put_records(self._states, states)
            first = engine.STAY
        else:
            self._state_bytes.fill(0)
            self._states["seed"], self._states["hand"] = seed, hand
        if record is not self._args[0]:
            engine.put_records(self._desk["rules"], record)
        self.rules, self._args = rules, (record, self.layout.record)
        self._seed, self._hand = seed, hand
        self._turn, *_ = self._step(self._desk, first, -1, self._observation)

    def _view(self, seat: int) -> NDArray[np.int8]:
        """What a seat sees, a fresh array."""
        if seat == self._turn:
            return self._observation.copy()
        view = np.empty_like(self._observation)
        self._step(self._desk, engine.STAY, seat, view)
        return view
