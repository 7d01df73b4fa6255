"""Tables at which every episode is played by rules of its own: ``BlackMariaVectorEnv``'s."""

from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from black_maria import engine
from black_maria.cards import listed
from black_maria.mixed import Mixed, history_shape, places_of, vector_of
from black_maria.rules import Rules
from black_maria.rules_vector import RULES_SIZE
from black_maria.tables import Tables

_Group = tuple[NDArray[Any], slice, NDArray[np.bool_]]
"""Rules for kernels; the rows from the first to the last that they hold for; which of those."""


class MixedTables(Tables):
    """Table 0 of N seeds, each episode by the rules that its (seed, hand) draws.

    As ``Tables`` with ``deal_on=False``, but that observations hold ``"rules"`` (N, R) float32 too.
    Rows of the same rules move in one call. ``rules`` are those whose shapes fit all. Games that
    were saved don't know the draw that their rules came from: ``load`` isn't for these tables.

    Attributes:
        by: Each row's rules, (N,) objects.
        vectors: The same for networks, (N, R) float32, written over as episodes begin.
    """

    def __init__(
        self,
        count: int,
        mixed: Mixed,
        *,
        reward: str = "trick",
        episode: str = "hand",
        history: bool = False,
    ) -> None:
        """Seat everyone; hand 0 of seed 0 waits at every table."""
        self._mixed, self._scoring = mixed, (reward, episode)
        self.by = np.full(count, None, object)
        self._records = np.full(count, None, object)
        self.vectors = np.zeros((count, RULES_SIZE), np.float32)
        self._number = np.zeros(count, np.int64)  # of each row's group
        self._groups: list[_Group] = []
        self._scratch = np.zeros((count, mixed.seats), np.float32), np.zeros(count, np.bool_)
        super().__init__(
            np.zeros(count, np.int64), mixed.widest,
            reward=reward, episode=episode, history=history, deal_on=False,
        )  # fmt: skip
        if history:
            self._history = np.zeros((count, *history_shape(self.rules, mixed)), np.int8)

    def reset(self, seed: Any = None, where: ArrayLike | None = None, *, hand: Any = 0) -> None:
        """As ``Tables.reset``; rules are drawn for the episodes that begin."""
        self.start(seed=seed, hand=hand, where=where)

    def start(
        self,
        *,
        seed: Any = None,
        hand: Any = 0,
        where: ArrayLike | None = None,
        **given: Any,
    ) -> None:
        """As ``Tables.start``; what is given is the same for all tables, and fits their rules."""
        chosen = self._chosen(where)
        states = self._next(seed, chosen, hand)
        drawn = [self._mixed.of(*each) for each in zip(states["seed"], states["hand"], strict=True)]
        records = [engine.rules_record(rules, *self._scoring) for rules in drawn]
        if given.get("actions") is not None:  # an iterator would be used up at the first table
            most = max((rules.most_plies for rules in drawn), default=0)
            given["actions"] = list(islice(listed(given["actions"], "actions"), most))
        for k, rules in enumerate(drawn):
            engine.start(states[k : k + 1], rules, records[k], **given)
        self._states[chosen] = states
        for row, rules, record in zip(np.flatnonzero(chosen), drawn, records, strict=True):
            self.by[row], self._records[row], self.vectors[row] = rules, record, vector_of(rules)
        self._group()
        self._observe(chosen)

    def observe(self) -> tuple[dict[str, NDArray[Any]], NDArray[np.int64]]:
        """As ``Tables.observe``, with ``"rules"``. Views."""
        observation, seat = super().observe()
        return {**observation, "rules": self.vectors}, seat

    def rules_at(self, row: int) -> Rules:
        """The rules that a table's hand is played by."""
        rules: Rules = self.by[row]
        return rules

    def _group(self) -> None:
        """Note who plays by which rules."""
        places = places_of(self.by)
        for number, rows in enumerate(places):
            self._number[rows] = number
        self._groups = []
        for number, rows in enumerate(places):
            span = slice(rows[0], rows[-1] + 1)
            self._groups.append((self._records[rows[0]], span, self._number[span] == number))

    def _step(
        self, cards: NDArray[np.int64], moving: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        self._rewards[:], self._done[:] = 0, False
        gained, ended = self._scratch
        for number in np.unique(self._number[moving]).tolist():
            record, span, members = self._groups[number]
            where = members & moving[span]
            engine.step_tables(
                self._states[span], record, self._args[1], cards[span], gained[span],
                ended[span], self._observation[span], self._mask[span], self._seat[span],
                self._hand_keys[span], self._keys[span], self._deal_on, where,
            )  # fmt: skip
            self._rewards[span][where] = gained[span][where]
            self._done[span][where] = ended[span][where]
        return self._rewards, self._done
