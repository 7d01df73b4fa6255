"""Kinds of clauses: what a field of ``Rules`` may be, declared once, in its annotation.

``Annotated[int, Whole(3, 10)]`` takes whole numbers from 3 to 10; a plain ``bool`` is a ``Truth``,
a plain ``str`` a ``Text``, and ``… | None`` lets a clause be left open. Whoever handles clauses one
by one (what was given is checked, a hand is recorded, kernels read numbers) asks for their kinds
and keeps no list of its own.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from math import prod
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

import numpy as np

from black_maria.cards import NUM_CARDS, card_name, card_names, parse_card
from black_maria.given import items, shown, whole_or_none

ALL_CARDS: Final = tuple(card_name(card) for card in range(NUM_CARDS))
"""The cards' names by their ids."""
_FEW: Final = 16
"""Whole numbers that get an entry each in a vector."""


class Kind(ABC):
    """What values a clause takes."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What is right, in words that follow "it takes"."""

    @abstractmethod
    def read(self, value: Any, name: str) -> Any:
        """The clause's value from what was given for it; equal content gives equal values.

        Args:
            value: Anything.
            name: The clause's name, for messages.

        Raises:
            ValueError: It can't be; the message names the clause and says what is right.
        """

    @property
    def number_type(self) -> tuple[Any, ...]:
        """What a kernel's record stores for it: a dtype, and a shape for several numbers."""
        return (np.int64,)

    def number(self, value: Any) -> Any:
        """The number, or the numbers, that stand for a value in a kernel's record."""
        return value

    @property
    @abstractmethod
    def axes(self) -> tuple[tuple[str, ...], ...]:
        """What each index along each axis of ``vector`` stands for; an empty axis: no numbers."""

    @abstractmethod
    def vector(self, value: Any) -> Iterable[float]:
        """A value as numbers for a network, flat, about −1 … 2 each.

        Values that differ have vectors that differ, also as float32.
        """

    def refuse(self, value: Any, name: str) -> ValueError:
        """The error for a value that isn't of this kind."""
        return ValueError(f"{name}={shown(value)}: it takes {self.words}")


@dataclass(frozen=True)
class Text(Kind):
    """A text that can be printed; kernels have no number for it."""

    words = "a text that can be printed"

    def read(self, value: Any, name: str) -> str:
        """A plain ``str``, of any kind of text."""
        if not isinstance(value, str) or not value.isprintable():
            raise self.refuse(value, name)
        return str.__str__(value)

    @property
    def number_type(self) -> tuple[Any, ...]:
        """Nothing."""
        return ()

    axes = ((),)

    def vector(self, value: str) -> Iterable[float]:
        """Nothing: what it says changes no play."""
        return ()


@dataclass(frozen=True)
class Truth(Kind):
    """True or False and nothing else: ``"no"`` counts as true where one doesn't look."""

    words = "True or False"

    def read(self, value: Any, name: str) -> bool:
        """A plain ``bool``, NumPy's included."""
        if not isinstance(value, bool | np.bool_):
            raise self.refuse(value, name)
        return bool(value)

    @property
    def number_type(self) -> tuple[Any, ...]:
        """A bool."""
        return (np.bool_,)

    axes = (("yes",),)

    def vector(self, value: bool) -> Iterable[float]:
        """1 or 0."""
        return (float(value),)


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number within bounds, both included."""

    least: int
    most: int

    @property
    def words(self) -> str:
        """The bounds."""
        return f"a whole number from {self.least} to {self.most}"

    def read(self, value: Any, name: str) -> int:
        """A plain ``int``; True is no number, and neither is 9.0."""
        number = whole_or_none(value)
        if number is None or not self.least <= number <= self.most:
            raise self.refuse(value, name)
        return number

    @property
    def _few(self) -> bool:
        return self.most - self.least < _FEW

    @property
    def axes(self) -> tuple[tuple[str, ...], ...]:
        """The numbers themselves where they are few; otherwise how large, and the last digits."""
        few = (str(number) for number in range(self.least, self.most + 1))
        return (tuple(few) if self._few else ("size", "modulo 1024"),)

    def vector(self, value: int) -> Iterable[float]:
        """A 1 among zeros; or ¼ log₂(1 + value), and what float32 loses of it."""
        if self._few:
            return (float(number == value) for number in range(self.least, self.most + 1))
        return (math.log2(1 + value) / 4, value % 1024 / 1024)


@dataclass(frozen=True)
class OneOf(Kind):
    """A text of a few. Its number is its place among them."""

    options: tuple[str, ...]

    @property
    def words(self) -> str:
        """The options."""
        return f"one of {', '.join(map(repr, self.options))}"

    def read(self, value: Any, name: str) -> str:
        """The option itself."""
        if not isinstance(value, str) or value not in self.options:
            raise self.refuse(value, name)
        return str.__str__(value)

    def number(self, value: str) -> int:
        """Its place among the options."""
        return self.options.index(value)

    @property
    def axes(self) -> tuple[tuple[str, ...], ...]:
        """The options."""
        return (self.options,)

    def vector(self, value: str) -> Iterable[float]:
        """A 1 among zeros."""
        return (float(option == value) for option in self.options)


@dataclass(frozen=True)
class Several(Kind):
    """A sequence of texts, each one of a few; at least one, at most ``most``."""

    options: tuple[str, ...]
    most: int

    @property
    def words(self) -> str:
        """The options, in the form that is right."""
        return f"a sequence of 1 to {self.most} of {', '.join(map(repr, self.options))}"

    def read(self, value: Any, name: str) -> tuple[str, ...]:
        """A tuple of options; a text alone isn't taken for its letters."""
        texts = items(value, self.most, ordered=True)
        if texts is None or not 1 <= len(texts) <= self.most:
            alone = isinstance(value, str) and value in self.options
            hint = f", as in ({value!r},)" if alone else ""
            raise ValueError(f"{self.refuse(value, name)}{hint}")
        return tuple(OneOf(self.options).read(text, name) for text in texts)

    @property
    def number_type(self) -> tuple[Any, ...]:
        """Places among the options; behind the last one zeros."""
        return np.int8, (self.most,)

    def number(self, value: Sequence[str]) -> list[int]:
        """Places among the options."""
        places = [self.options.index(text) for text in value]
        return places + [0] * (self.most - len(places))

    @property
    def axes(self) -> tuple[tuple[str, ...], ...]:
        """Places in the sequence, and the options."""
        return (tuple(str(place) for place in range(self.most)), self.options)

    def vector(self, value: Sequence[str]) -> Iterable[float]:
        """A 1 among zeros for each place that there is."""
        filled = [*value, *[""] * (self.most - len(value))]
        return (float(option == text) for text in filled for option in self.options)


@dataclass(frozen=True)
class Card(Kind):
    """A card, by name or id."""

    words = "a card's name or id"

    def read(self, value: Any, name: str) -> int:
        """The card's id."""
        try:
            return _card(value)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None

    axes = (ALL_CARDS,)

    def vector(self, value: int) -> Iterable[float]:
        """A 1 among zeros."""
        return (float(card == value) for card in range(NUM_CARDS))


@dataclass(frozen=True)
class Cards(Kind):
    """A set of cards, by names or ids in any order. Its number has bit c for card c."""

    words = "cards by name or id, as in 'QS 10H' or (49, 34), each of them once"

    def read(self, value: Any, name: str) -> tuple[int, ...]:
        """The ids, ascending."""
        if isinstance(value, str):
            value = value.replace(",", " ").split()
        given = items(value, NUM_CARDS)
        if given is None:
            raise self.refuse(value, name)
        try:
            cards = sorted(_card(card) for card in given)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        twice = [card for card, after in pairwise(cards) if card == after]
        if twice:
            raise ValueError(f"{name} names {card_names(twice[:1])} twice: it takes {self.words}")
        return tuple(cards)

    def number(self, value: Iterable[int]) -> int:
        """A bit for each card."""
        return sum(1 << card for card in value)

    axes = (ALL_CARDS,)

    def vector(self, value: Iterable[int]) -> Iterable[float]:
        """A 1 for each card."""
        return (float(card in value) for card in range(NUM_CARDS))


@dataclass(frozen=True)
class Points(Kind):
    """Points of every card id, whole numbers from −``most`` to ``most``."""

    most: int

    @property
    def words(self) -> str:
        """How many, and within which bounds."""
        return (
            f"{NUM_CARDS} whole numbers from {-self.most} to {self.most}, one for each card id, "
            "as penalty_points(hearts=1, QS=13) gives them"
        )

    def read(self, value: Any, name: str) -> tuple[int, ...]:
        """A tuple (52,) of ``int``."""
        given = items(value, NUM_CARDS, ordered=True)
        if given is None or len(given) != NUM_CARDS:
            raise self.refuse(value, name)
        return tuple(Whole(-self.most, self.most).read(each, name) for each in given)

    @property
    def number_type(self) -> tuple[Any, ...]:
        """One for each card id."""
        return np.int16, (NUM_CARDS,)

    axes = (ALL_CARDS,)

    def vector(self, value: Sequence[int]) -> Iterable[float]:
        """Ten times each card's part of all points, signs left out: those are ``stake_of``."""
        stake = stake_of(value)
        return (10 * points / stake for points in value)


@dataclass(frozen=True)
class OrNone(Kind):
    """What another kind takes, or None. None's number is one that no value has."""

    kind: Kind

    @property
    def words(self) -> str:
        """The other kind's, or None."""
        return f"{self.kind.words}, or None"

    def read(self, value: Any, name: str) -> Any:
        """None, or what the other kind makes of it."""
        if value is None:
            return None
        try:
            return self.kind.read(value, name)
        except ValueError as error:
            raise ValueError(f"{error}, or None") from None

    @property
    def number_type(self) -> tuple[Any, ...]:
        """As the other kind's."""
        return self.kind.number_type

    def number(self, value: Any) -> Any:
        """For None one less than the least: 0 for numbers from 1, −1 for a card."""
        if value is not None:
            return self.kind.number(value)
        return self.kind.least - 1 if isinstance(self.kind, Whole) else -1

    @property
    def axes(self) -> tuple[tuple[str, ...], ...]:
        """As the other kind's."""
        return self.kind.axes

    def vector(self, value: Any) -> Iterable[float]:
        """Zeros for None, which no other value has."""
        if value is None:
            return (0.0 for _ in range(prod(map(len, self.axes))))
        return self.kind.vector(value)


def stake_of(points: Iterable[int]) -> int:
    """All points together, signs left out; 1 where there are none."""
    return sum(map(abs, points)) or 1


_PLAIN: Final[Mapping[type, Kind]] = {bool: Truth(), str: Text()}


def kinds_of(dataclass_: type) -> dict[str, Kind]:
    """The kinds of a dataclass's fields by name, in their order.

    Raises:
        TypeError: A field's annotation tells no kind.
    """
    hints = get_type_hints(dataclass_, include_extras=True)
    return {field.name: _kind(hints[field.name], field.name) for field in fields(dataclass_)}


def _kind(hint: Any, name: str) -> Kind:
    if get_origin(hint) in (Union, UnionType):
        options = [each for each in get_args(hint) if each is not NoneType]
        return OrNone(_kind(options[0], name))
    marks = [mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, Kind)]
    if marks:
        return marks[0]
    if hint in _PLAIN:
        return _PLAIN[hint]
    raise TypeError(f"{name}: write its kind as in Annotated[int, Whole(0, 9)], not {hint}")


def _card(value: Any) -> int:
    """The id of a card by name or id."""
    if isinstance(value, str):
        return parse_card(value)
    number = whole_or_none(value)
    if number is None or number.bit_length() > 64:
        raise ValueError(f"{shown(value)} is neither a card's name nor its id")
    return parse_card(number)
