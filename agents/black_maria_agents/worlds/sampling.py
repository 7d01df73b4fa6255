"""Worlds that agree with what a seat knows: full deals drawn uniformly, for search and beliefs.

``sample_worlds(observation, n, key)`` reads one seat's observation and deals the cards that it
hasn't seen: each card played, passed or received stays where it is known to be, shown voids and
holding sizes are respected, and every deal that fits is equally likely, together with the
others' hidden passes. No rule of thumb about what others would have passed or played enters:
that is left to those who weigh the worlds.

    worlds = sample_worlds(observation, 100, key=1)
    worlds.holding.mean(axis=0)       # (S, 52): how probably each seat holds each card
    tables = Tables(100, rules)
    tables.load(worlds.states())   # play them out
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from black_maria.cards import NUM_CARDS
from black_maria.engine import STATE, observe_all, rules_record
from black_maria.layout import layout_of
from black_maria.rules import Rules, as_rules
from black_maria_agents.worlds.dealing import sample_rows
from black_maria_agents.worlds.refusals import refusal_words


@dataclass(frozen=True)
class Worlds:
    """n worlds for each of B observations; without the B axis if one observation was given.

    Seats are the observer's: 0 is itself, 1 its left neighbour, and so on.
    """

    rules: Rules
    observation: NDArray[np.int8]
    """The observations, (B, F) or (F,) int8. Not a copy."""
    games: NDArray[Any]
    """The worlds, (B, n) or (n,): each a whole game, ``engine.STATE``."""

    @cached_property
    def holding(self) -> NDArray[np.int8]:
        """Cards that each seat holds now, (B, n, S, 52) int8 counts."""
        return card_counts(self.games["holding"][..., : self.rules.seats, :])

    @cached_property
    def given(self) -> NDArray[np.int8]:
        """Cards that each seat has picked to pass, (B, n, S, 52) int8 counts.

        While passing, seats between dealer's left and the observer have committed, so theirs
        are out of their holdings; the others' are zeros.
        """
        return card_counts(self.games["given"][..., : self.rules.seats, :])

    @cached_property
    def kitty(self) -> NDArray[np.int8]:
        """Cards that were dealt to nobody, (B, n, 52) int8 counts; known once they are taken."""
        return card_counts(self.games["kitty"])

    def states(self) -> NDArray[Any]:
        """Full engine records, (B · n,), worlds of an observation in a row: a copy.

        They are what ``Tables.load`` takes, for tables of ``episode="hand"``.
        The observer is seat 0 and to move. Without a history, the cards of tricks already
        taken stand in an order that may not be the one they were played in; nothing but an
        observation's ``history`` hangs on it.
        """
        return self.games.reshape(-1).copy()

    def views(self) -> NDArray[np.int8]:
        """What every seat sees in each world, (B · n, S, F) int8; the observer's is given."""
        layout = layout_of(self.rules)
        states = self.games.reshape(-1)
        views = np.empty((states.size, self.rules.seats, layout.size), np.int8)
        observe_all(states, rules_record(self.rules), layout.record, views)
        return views


def sample_worlds(
    observation: NDArray[np.int8],
    n: int,
    key: SupportsIndex | NDArray[np.uint64],
    rules: str | Rules = "three_player",
    history: NDArray[np.int8] | None = None,
) -> Worlds:
    """Sample worlds that agree with an observation, uniformly.

    World w of a row depends on the row's observation, history and key alone: not on n, the
    batch, or any other draw. Identical cards of two packs count as different cards, as they do
    when they are dealt. With two packs and without a history, cards of the kitty that can't be
    told from cards of a cancelled trick are drawn once for all worlds of the row.

    Args:
        observation: (F,) or (B, F) int8, of seats to move, under ``rules``.
        n: Worlds for each.
        key: Randomness: 0 … 2⁶⁴ − 1, or (B,) uint64, one for each row.
        rules: A profile's name or rules.
        history: (R, 3) or (B, R, 3) int8, the observation's ``"history"``: keeps the order of
            the cards played.

    Raises:
        ValueError: Wrong shapes, or an observation that no play can lead to; says why.
    """
    rules = as_rules(rules)
    layout = layout_of(rules)
    observation = np.asarray(observation)
    single = observation.ndim == 1
    rows = observation[None] if single else observation
    if rows.ndim != 2 or rows.shape[1] != layout.size or rows.dtype != np.int8:
        raise ValueError(
            f"observation must be int8 ({layout.size},) or (B, {layout.size}), "
            f"not {observation.dtype} {observation.shape}"
        )
    if not isinstance(n, int | np.integer) or n < 1:
        raise ValueError(f"n must be a whole number from 1, not {n!r}")
    states = np.zeros((len(rows), int(n)), STATE)
    refusal, row, what = sample_rows(
        np.ascontiguousarray(rows), _histories(history, len(rows), single), _keys(key, len(rows)),
        rules_record(rules), layout.record, states,
    )  # fmt: skip
    if refusal:
        raise ValueError(refusal_words(refusal, what, None if single else row))
    return Worlds(rules, observation, states[0] if single else states)


def card_counts(planes: NDArray[np.int64]) -> NDArray[np.int8]:
    """Sets (…, 2) as counts (…, 52)."""
    bits = planes[..., None] >> np.arange(NUM_CARDS) & 1
    counts: NDArray[np.int8] = bits.sum(axis=-2, dtype=np.int8)
    return counts


def _keys(key: Any, count: int) -> NDArray[np.uint64]:
    keys = np.asarray(key)
    if keys.ndim == 0:
        if not hasattr(key, "__index__") or not 0 <= key.__index__() < 2**64:
            raise ValueError(f"a key lies in 0 … 2**64 - 1, not {key!r}")
        return np.full(count, key.__index__(), np.uint64)
    if keys.shape != (count,) or keys.dtype != np.uint64:
        raise ValueError(f"keys must be uint64 ({count},), not {keys.dtype} {keys.shape}")
    return keys


def _histories(history: NDArray[np.int8] | None, count: int, single: bool) -> NDArray[np.int8]:
    if history is None:
        return np.zeros((count, 0, 3), np.int8)
    histories = np.asarray(history)
    if single:
        histories = histories[None]
    if histories.ndim != 3 or histories.shape[::2] != (count, 3) or histories.dtype != np.int8:
        raise ValueError(
            f"history must be int8 (R, 3) or (B, R, 3) with the observation's B, "
            f"not {np.asarray(history).dtype} {np.shape(history)}"
        )
    return np.ascontiguousarray(histories)
