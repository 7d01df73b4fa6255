"""What callers give, checked at the border: numbers, choices, arrays, counts.

Every refusal is a ``ValueError`` that names the argument and says what is right. Nothing here
trusts a type: True is no number, ``"no"`` is not False, and a float is no card.
"""

import os
import reprlib
from collections.abc import Collection, Iterator, Mapping, Set
from itertools import islice
from operator import index
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_MEMORY: Final = (
    os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 2**47
)
"""Bytes that this machine has, or, where that can't be told, more than any."""


def shown(value: Any) -> str:
    """A value of any size for a message, on one line."""
    try:
        return " ".join(reprlib.repr(value).split())
    except ValueError:  # Python writes no number of more than 4300 digits
        return "a huge number"


def whole_or_none(value: Any) -> int | None:
    """A whole number as ``int``; None for anything else, True and 9.0 included."""
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return index(value)
    except TypeError:
        return None


def whole(value: Any, name: str = "") -> int:
    """A whole number of any integer type.

    Raises:
        ValueError: It isn't one; says so of ``name``.
    """
    number = whole_or_none(value)
    if number is None:
        raise ValueError(f"{name}{'=' * bool(name)}{shown(value)} is not an integer")
    return number


def wholes(value: Any, name: str, least: int, most: int, kind: Any = np.int64) -> NDArray[Any]:
    """Whole numbers of any integer type, from ``least`` to ``most``, as an array.

    Args:
        value: One number or nested sequences of them; the array has their shape.
        name: For messages.
        least: The least number that may be.
        most: The greatest.
        kind: The dtype that all of them fit.

    Raises:
        ValueError: One isn't a whole number, or out of bounds.
    """
    given = array(value)
    if given.dtype.kind not in "iu":
        given = array(value, object)
        numbers = [whole(each, name) for each in given.reshape(-1)]
    else:
        numbers = [int(bound(given)) for bound in (np.min, np.max)] if given.size else []
    for number in numbers:
        if not least <= number <= most:
            raise ValueError(f"{name}={shown(number)}: it lies in {least} … {_power(most)}")
    if given.dtype == object:
        return np.array(numbers, kind).reshape(given.shape)
    return given.astype(kind)


def _power(number: int) -> str:
    """A bound as people read it: 2**62 rather than 19 digits."""
    for bits in (62, 63, 64):
        for less, words in ((0, ""), (1, " - 1")):
            if number == 2**bits - less:
                return f"2**{bits}{words}"
    return str(number)


def array(value: Any, kind: Any = None) -> NDArray[Any]:
    """Anything as an array, without subclasses; of objects where NumPy can't make one."""
    for each in (kind, object):
        try:
            return np.asarray(value, each)
        except Exception:  # ragged, nested too deep, or what an object's own __array__ raises
            continue
    cell = np.empty((), object)
    cell[()] = value
    return cell


def plain(values: NDArray[Any], kind: Any) -> NDArray[Any]:
    """The same values as kernels are compiled for: contiguous, native, writable."""
    if values.dtype == kind and values.flags.carray:
        return values
    return np.require(values, kind, ["C", "A", "W"])


def chosen_rows(where: Any, count: int, name: str = "where") -> NDArray[np.bool_]:
    """Which of ``count`` rows are chosen, (count,) bool.

    Raises:
        ValueError: Another shape or dtype.
    """
    rows = array(where)
    if rows.shape != (count,) or rows.dtype != np.bool_:
        raise ValueError(f"{name} must be bool, shape ({count},), not {rows.dtype} {rows.shape}")
    return plain(rows, np.bool_)


def truth(value: Any, name: str) -> bool:
    """True or False, NumPy's included.

    Raises:
        ValueError: Anything else: ``"no"`` counts as true where one doesn't look.
    """
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name}={shown(value)}: it takes True or False")
    return bool(value)


def choice(value: Any, name: str, options: Collection[str]) -> str:
    """One of a few texts.

    Raises:
        ValueError: Anything else; the message lists them.
    """
    if not isinstance(value, str) or value not in options:
        raise ValueError(f"{name}={shown(value)}: choose from {', '.join(map(repr, options))}")
    return str.__str__(value)


def given_seat(value: Any, name: str, seats: int, otherwise: str) -> int:
    """A seat, 0 … ``seats`` − 1; ``otherwise`` says for the message what else may be given.

    Raises:
        ValueError: There is no such seat.
    """
    seat = whole_or_none(value)
    if seat is None or not 0 <= seat < seats:
        raise ValueError(f"{name}={shown(value)}: seats are 0 … {seats - 1}, or {otherwise}")
    return seat


def items(value: Any, most: int, *, ordered: bool = False) -> list[Any] | None:
    """Up to ``most`` + 1 items of a collection; None where it is none, or not in order."""
    if isinstance(value, str | bytes | bytearray | Mapping) or (ordered and isinstance(value, Set)):
        return None
    try:
        return list(islice(value, most + 1))
    except TypeError:
        return None


def in_order(value: Any, name: str) -> Iterator[Any]:
    """The items of a sequence or an iterator, one after the other.

    Raises:
        ValueError: It has none, or in no order.
    """
    if not isinstance(value, str | bytes | bytearray | Mapping | Set):
        try:
            each: Iterator[Any] = iter(value)
            return each
        except TypeError:
            pass
    raise ValueError(f"{name}={shown(value)}: give a sequence")


def room_for(count: int, each: int, what: str) -> None:
    """Look whether so many things of ``each`` bytes fit this machine, before memory is asked for.

    Raises:
        MemoryError: They don't; says how much they take.
    """
    needed = count * each
    if needed > _MEMORY:
        raise MemoryError(
            f"{shown(count)} {what} need {shown(needed >> 30)} GiB: there are {_MEMORY >> 30}"
        )
