"""Many games side by side, in lock-step and in place: no Python per game."""

from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from black_maria import engine
from black_maria.cards import NUM_CARDS
from black_maria.given import (
    array,
    chosen_rows,
    plain,
    room_for,
    shown,
    truth,
    whole_or_none,
    wholes,
)
from black_maria.layout import layout_of
from black_maria.rules import Rules, RulesGiven, as_rules

Seeds = SupportsIndex | Sequence[SupportsIndex] | NDArray[np.integer[Any]]
"""One seed for all tables, or one for each."""


def history_rows(rules: Rules) -> int:
    """Rows of a history: cards given, cards received, cards played."""
    most_played = rules.hand_size * rules.seats
    if rules.playoff:
        most_played = max(most_played, NUM_CARDS)
    return 2 * rules.pass_count + most_played


class Tables:
    """N games side by side.

    Every seat's decision is one action, a card id. ``observe`` tells who acts at each table
    and what that seat sees; ``step`` takes one legal card a table and deals on by itself
    where a hand or a match is over. The deal of table t, hand h is ``deal(seed, t, h)``,
    whatever is played and however many tables there are.

    What a method's docstring calls *views* are this object's own arrays: the next ``step``,
    ``revoke``, ``load``, ``start`` or ``reset`` writes over them. Copy what is to be kept.

    Args:
        tables: How many (numbered from 0), or the table numbers themselves, 0 … 2⁶². A number
            may stand several times: those tables get the same deals.
        rules: A profile's name, rules, or a mapping of clauses.
        seed: 0 … 2⁶⁴ − 1, one for all tables or (N,), one for each.
        reward: ``"trick"``: minus the penalty points to their taker as the trick falls;
            ``"hand"``: the same, summed, when the hand is over; ``"relative"``: as the trick
            falls, own minus the others' mean, zero-sum; ``"match"``: 1 split among the
            winners when the match is over, else 0.
        episode: ``"hand"``: every deal is an episode with a drawn dealer and totals 0;
            ``"match"``: dealer moves left and totals carry on until the match is over.
        history: Whether observations hold ``"history"``.
        deal_on: Whether ``step`` deals the next episode by itself; otherwise a table whose
            episode is over keeps its last hand, and no card is legal there until ``reset``.

    Raises:
        ValueError: An unknown name or an impossible number; the message says what fits.
        MemoryError: More tables than this machine has memory for.
    """

    def __init__(
        self,
        tables: int | ArrayLike,
        rules: RulesGiven = "three_player",
        *,
        seed: Seeds = 0,
        reward: str = "trick",
        episode: str = "hand",
        history: bool = False,
        deal_on: bool = True,
    ) -> None:
        """Seat everyone and deal the first hand."""
        self.rules = as_rules(rules)
        self.layout = layout_of(self.rules)
        history, self._deal_on = truth(history, "history"), truth(deal_on, "deal_on")
        self._args = engine.rules_record(self.rules, reward, episode), self.layout.record
        self._table_numbers = _table_numbers(tables, table_bytes(self.rules, history))
        count, seats = len(self._table_numbers), self.rules.seats
        seeds = _seeds(seed, count)

        self._states: NDArray[Any] = np.zeros(count, engine.STATE)
        self._every = np.ones(count, np.bool_)
        self._observation = np.zeros((count, self.layout.size), np.int8)
        self._mask = np.zeros((count, NUM_CARDS), np.int8)
        self._seat = np.zeros(count, np.int64)
        self._hand_keys, self._keys = np.zeros((2, count), np.uint64)
        self._rewards = np.zeros((count, seats), np.float32)
        self._done = np.zeros(count, np.bool_)
        shape = count, history_rows(self.rules), 3
        self._history: NDArray[np.int8] | None = np.zeros(shape, np.int8) if history else None
        self.reset(seeds)

    def __len__(self) -> int:
        """How many tables."""
        return len(self._states)

    def reset(
        self,
        seed: Seeds | None = None,
        where: ArrayLike | None = None,
        *,
        hand: SupportsIndex | ArrayLike = 0,
    ) -> None:
        """Start a new episode: a hand of a seed, or without one each table's next hand.

        Args:
            seed: 0 … 2⁶⁴ − 1, one for all tables or (N,), one for each.
            where: (N,) bool, the tables to start; all of them without it.
            hand: Number of the seed's hand to start with, from 0, or (N,), one for each table.

        Raises:
            ValueError: An impossible seed or hand, or wrong shapes; nothing has changed.
        """
        chosen = self._chosen(where)
        states = self._next(seed, chosen, hand)
        self._states[chosen] = states
        engine.deal_tables(self._states, self._args[0], chosen)
        self._observe(chosen)

    def start(
        self,
        *,
        deal: engine.CardsOfSeats | None = None,
        dealer: ArrayLike | None = None,
        totals: ArrayLike | None = None,
        number: ArrayLike | None = None,
        actions: Iterable[str | int] | None = None,
        seed: Seeds | None = None,
        hand: SupportsIndex | ArrayLike = 0,
        where: ArrayLike | None = None,
    ) -> None:
        """Start a given hand; what isn't given is as ``reset(seed, where, hand=hand)`` has it.

        Each of ``dealer``, ``totals``, ``number`` and ``deal`` is one for all tables, or has a
        leading axis with one for each of the K tables ``where`` it is true.

        Args:
            deal: The cards of each seat before passing: names or ids for all tables, or an
                integer array (K, seats, hand size).
            dealer: A seat.
            totals: Match points by seat, before the hand.
            number: Which hand of the seed, or of the match, it is, from 0: it decides where the
                pass goes.
            actions: Cards to pass and play first, the same at all tables. What they cost is in
                the hand's penalties, but earns no reward.
            seed: As for ``reset``.
            hand: As for ``reset``.
            where: (N,) bool, the tables to start; all of them without it.

        Raises:
            ValueError: Something that can't be, or wrong shapes; nothing has changed.
        """
        chosen = self._chosen(where)
        states = self._next(seed, chosen, hand)
        if not len(states):
            return
        engine.start(
            states, self.rules, self._args[0],
            deal=deal, dealer=dealer, totals=totals, number=number, actions=actions,
        )  # fmt: skip
        self._states[chosen] = states
        self._observe(chosen)

    def _next(self, seed: Seeds | None, chosen: NDArray[np.bool_], hand: Any) -> NDArray[Any]:
        """Records of the chosen tables that say which hand of which seed is to be dealt."""
        states: NDArray[Any] = self._states[chosen]
        numbers = wholes(hand, "hand", 0, engine.LAST_HAND)
        if numbers.shape not in ((), (1,), (len(self),)):
            raise ValueError(f"hand={shown(hand)}: give one for all {len(self)} tables or for each")
        if seed is not None:
            states["seed"] = _seeds(seed, len(self))[chosen]
            states["table"] = self._table_numbers[chosen]
            states["hand"] = np.broadcast_to(numbers, len(self))[chosen]
            return states
        if numbers.any():
            raise ValueError(f"hand={shown(hand)}: a number of a seed's hand needs the seed")
        states["hand"] += 1
        return states

    def observe(self) -> tuple[dict[str, NDArray[np.int8]], NDArray[np.int64]]:
        """What the acting seats see, and which they are.

        Returns:
            A dictionary of ``"observation"`` (N, F) int8, ``"action_mask"`` (N, 52) int8
            with 1 where a card may be chosen, with ``history=True`` also ``"history"``
            (N, rows, 3) int8; and the acting seats (N,) int64. Views: see ``Tables``.
        """
        observation = {"observation": self._observation, "action_mask": self._mask}
        if self._history is not None:
            engine.write_histories(self._states, self._args[0], self._history)
            observation["history"] = self._history
        return observation, self._seat

    def step(
        self, actions: ArrayLike, where: ArrayLike | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Play one card at every table, or at some.

        Args:
            actions: (N,) integers, card ids that are legal for the acting seats.
            where: (N,) bool, the tables that move. The others keep still, whatever their
                action; their rewards are 0 and they aren't done.

        Returns:
            Rewards (N, seats) float32 and done (N,) bool, true where this card ended the
            episode; that table has been dealt anew, unless ``deal_on=False``. Views: see
            ``Tables``.

        Raises:
            ValueError: Wrong shape or dtype, or an illegal card: the message names table,
                seat, card and clause. No table has moved.
        """
        given = array(actions)
        if given.shape != (len(self),) or given.dtype.kind not in "iu":
            raise ValueError(
                f"actions must be {len(self)} integers, shape ({len(self)},), "
                f"not {given.dtype} {given.shape}"
            )
        cards = plain(given, np.int64)
        moving = self._chosen(where)
        wrong = engine.find_illegal(self._states, cards, moving)
        if wrong >= 0:
            rules = self.rules_at(wrong)
            reason = engine.illegal_reason(self._states[wrong], rules, int(given[wrong]))
            raise ValueError(f"row {wrong}, table {self._states['table'][wrong]}, {reason}")
        return self._step(cards, moving)

    def revoke(self, where: ArrayLike) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Charge all points of the hand to the seats to move: they have revoked.

        The hand is over there. What it had given before is taken back with these rewards; a
        match goes on. 3–6 player book, "Renonce", for a revoke that is noticed too late.

        Args:
            where: (N,) bool, the tables where it happened. The others keep still.

        Returns:
            As ``step``.

        Raises:
            ValueError: Wrong shape or dtype, or an episode that is over; no table has moved.
        """
        chosen = self._chosen(where)
        over = chosen & (self._states["phase"] == engine.OVER)
        if over.any():
            raise ValueError(f"row {int(over.argmax())}: the episode is over, nobody is to move")
        return self._step(np.full(len(self), engine.REVOKE), chosen)

    def _step(
        self, cards: NDArray[np.int64], moving: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        engine.step_tables(
            self._states, *self._args, cards,
            self._rewards, self._done, self._observation, self._mask, self._seat,
            self._hand_keys, self._keys, self._deal_on, moving,
        )  # fmt: skip
        return self._rewards, self._done

    def keys(self) -> NDArray[np.uint64]:
        """Each acting seat's own randomness, (N,) uint64: a hash of (seed, deal, seat, ply)."""
        return self._keys.copy()

    def views(self, where: ArrayLike | None = None) -> NDArray[np.int8]:
        """What every seat sees, acting or not, at the K tables ``where`` it is true, or at all.

        Returns:
            (K, seats, F) int8, a fresh array.
        """
        states = self._states[self._chosen(where)]
        views = np.empty((len(states), self.rules.seats, self.layout.size), np.int8)
        engine.observe_all(states, *self._args, views)
        return views

    def states(self) -> NDArray[Any]:
        """The whole truth, (N,) records of ``engine.STATE``. A view; don't write to it."""
        return self._states

    def rules_at(self, row: int) -> Rules:
        """The rules that a table's hand is played by."""
        return self.rules

    def totals(self) -> NDArray[np.int32]:
        """Match totals, (N, seats) int32, unclipped. A view."""
        totals: NDArray[np.int32] = self._states["totals"][:, : self.rules.seats]
        return totals

    def save(self, tables: ArrayLike | None = None) -> NDArray[Any]:
        """A copy of some tables' games, (K,) records; of all without an argument.

        Args:
            tables: Their positions, 0 … N − 1: one or several, or (N,) bool.

        Raises:
            ValueError: There are no such tables.
        """
        saved: NDArray[Any] = self._states[self._places(tables)]
        return saved

    def load(self, saved: NDArray[Any], tables: ArrayLike | None = None) -> None:
        """Put saved games back, at these positions; at all of them without an argument.

        A saved game brings its deal's seed and table number along: it goes on as it would
        have gone on where it was saved. It knows its rules, and no reward or episode: those are
        of the tables that load it. So a hand of a match is an episode by itself where an episode
        is a hand, and a single hand is a match's first.

        Args:
            saved: (K,) records, as ``save`` gives them, also once pickled or kept by NumPy.
            tables: As for ``save``.

        Raises:
            ValueError: The saved games don't fit the tables, were played by other rules, or are
                damaged; nothing has changed.
        """
        places = self._places(tables)
        games = engine.check_states(saved, self.rules)
        if games.shape != places.shape:
            raise ValueError(f"{len(games)} saved games don't fit {len(places)} tables")
        self._states[places] = games
        self._observe(self._every)

    def _places(self, tables: ArrayLike | None) -> NDArray[np.int64]:
        every = np.arange(len(self))
        if tables is None:
            return every
        given = array(tables)
        if given.dtype == np.bool_:
            return every[chosen_rows(given, len(self), "tables")]
        places = wholes(tables, "tables", 0, len(self) - 1)
        if places.ndim > 1:
            raise ValueError(f"tables={shown(tables)}: give positions, or bool ({len(self)},)")
        return np.atleast_1d(places)

    def _chosen(self, where: ArrayLike | None) -> NDArray[np.bool_]:
        return self._every if where is None else chosen_rows(where, len(self))

    def _observe(self, where: NDArray[np.bool_]) -> None:
        """Let the seats to move see at some tables; rewards and done are 0 after that."""
        self._step(np.full(len(self), engine.STAY), where)


def table_bytes(rules: Rules, history: bool) -> int:
    """Memory of one table."""
    cells = layout_of(rules).size + NUM_CARDS + 3 * history_rows(rules) * history
    return engine.STATE.itemsize + cells + 4 * rules.seats + 42


def _table_numbers(tables: Any, each: int) -> NDArray[np.int64]:
    """Table numbers (N,); looks first whether N tables of so many bytes have room."""
    if (count := whole_or_none(tables)) is not None:
        if count < 1:
            raise ValueError(f"there must be at least one table, not {shown(count)}")
        room_for(count, each, "tables")
        return np.arange(count)
    if array(tables).ndim != 1:
        raise ValueError(f"tables must be a count or a list of table numbers, not {shown(tables)}")
    numbers = wholes(tables, "tables", 0, engine.LAST_HAND)
    if not len(numbers):
        raise ValueError("there must be at least one table, not an empty list of numbers")
    room_for(len(numbers), each, "tables")
    return numbers


def _seeds(seed: Any, count: int) -> NDArray[np.uint64]:
    """Seeds as (count,) uint64, from one for all or from ``count``."""
    if array(seed).ndim == 0:
        return np.full(count, engine.check_seed(seed), np.uint64)
    seeds = wholes(seed, "seed", 0, 2**64 - 1, np.uint64)
    if seeds.shape != (count,):
        raise ValueError(
            f"seed has shape {seeds.shape} for {count} tables: give one for all or for each"
        )
    return seeds
