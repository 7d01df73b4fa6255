"""Values of every kind, where something else is due; and right ones that are oddly kept."""

import itertools
import math
from collections import OrderedDict
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

_NUMBERS = [
    True, False, 0, 1, -1, 2, 3, 7, 51, 52, 60, 127, 128, 255, -128, 2**15, 2**30, 2**30 + 1,
    2**31 - 1, 2**31, -(2**31), 2**62, 2**62 + 1, 2**63 - 1, 2**63, -(2**63), 2**64 - 1, 2**64,
    -(2**64), 10**30, 0.0, -0.0, 1.0, 1.5, 3.0, 1e300, math.nan, math.inf, -math.inf, 1j,
    Decimal(3), Decimal("NaN"), Fraction(3), Fraction(7, 2),
]  # fmt: skip
_SCALARS = [np.zeros((), code)[()] for code in np.typecodes["All"] if code not in "OV"] + [
    np.ones((), code)[()] for code in np.typecodes["AllInteger"]
] + [np.datetime64("NaT"), np.timedelta64(3, "s"), np.float64("nan"), np.void(b"abc")]  # fmt: skip
_OBJECTS = [
    None, ..., NotImplemented, object(), len, int, print, slice(None), range(3), range(0),
    "", "no", "all", "QS", "QS 4H", "three_player", "player_0", "nobody", "match", "hand", "\x00",
    "\ud800", "♠" * 5000, b"", b"QS", bytearray(b"QS"), memoryview(b"QS"),
    (), [], {}, set(), frozenset({1, 2, 3}), [None], [[]], [[1], [2, 3]], [1, "2", None],
    (0.5,) * 3, [math.nan] * 3, [0, 0, 0], [1, 2, 3], ["QS", "4H", "2D"], [2**70] * 3,
    [-(2**63)] * 3, [2**31 - 1] * 3, [-(2**30)] * 3, [True] * 3, [np.nan, 1, 2], [[0, 0, 0]] * 3,
    ["QS"] * 3, [range(17), range(17, 34), range(34, 51)], {"deal": None}, {"totals": [1, 2, 3]},
    {0: 1, 1: 2}, {"nobody": 1}, OrderedDict(dealer=1), {"dealer": 99}, {"reset_mask": "no"},
]  # fmt: skip


class _Odd:
    """An object whose methods aren't what their names promise."""

    def __index__(self):
        return "three"

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no array")

    def __len__(self):
        return -1

    def __iter__(self):
        raise TypeError("no items")


class _Huge:
    """A whole number of more digits than Python writes."""

    def __index__(self):
        return 10**5000


class _Nested(list):
    """A list that is its own item."""

    def __init__(self):
        super().__init__()
        self.append(self)


_FRESH: list[Callable[[], Any]] = [  # used up or changed by a look at them
    lambda: (k for k in range(3)),
    lambda: iter([]),
    lambda: iter(["QS", "4H"]),
    lambda: map(str, range(3)),
    lambda: itertools.repeat(0),
    lambda: itertools.count(),
    lambda: {"a": 1}.keys(),
    _Odd,
    _Huge,
    _Nested,
]


ARRAY_KINDS = ["?", "i1", "u1", ">i2", "i8", ">i8", "u8", "f4", "f8", "c16", "O", "U3", "S3",
               "m8[s]", "M8[s]", [("a", "i8")]]  # fmt: skip
LAYOUTS = ["plain", "read-only", "strided", "backwards", "unaligned", "masked"]


def laid_out(values: np.ndarray, layout: str) -> np.ndarray:
    """The same values, kept in another way."""
    if layout == "read-only":
        values = values.copy()
        values.flags.writeable = False
    elif layout == "strided" and values.ndim:
        values = np.repeat(values, 2, axis=0)[::2]
    elif layout == "backwards" and values.ndim:
        values = values[::-1].copy()[::-1]
    elif layout == "unaligned" and not values.dtype.hasobject:
        store = np.zeros(values.nbytes + 1, np.uint8)
        shifted = store[1:].view(values.dtype).reshape(values.shape)
        shifted[...] = values
        values = shifted
    elif layout == "masked":
        values = np.ma.masked_array(values)
    return values


@st.composite
def arrays(draw: Any, rows: int, columns: int = 3) -> np.ndarray:
    """Arrays of any type, of shapes like those that are due."""
    shapes = [(), (0,), (1,), (rows,), (rows + 1,), (rows, 1), (1, rows), (rows, columns),
              (columns,), (rows, columns, 17), (0, 3)]  # fmt: skip
    shape, kind = draw(st.sampled_from(shapes)), draw(st.sampled_from(ARRAY_KINDS))
    numbers = np.full(shape, draw(st.sampled_from([0, 1, 2, 51, 52, 127])))
    values = np.zeros(shape, kind) if isinstance(kind, list) else numbers.astype(kind)
    if kind in ("u8", "i8", "f8") and draw(st.booleans()):
        values = np.full(shape, {"u8": 2**64 - 1, "i8": -(2**63), "f8": math.nan}[kind], kind)
    return laid_out(values, draw(st.sampled_from(LAYOUTS)))


def hostile(rows: int = 3, columns: int = 3) -> st.SearchStrategy[Any]:
    """Values of every kind. Some of them are right in one place or another."""
    ready = [*_NUMBERS, *_SCALARS, *_OBJECTS]
    return st.one_of(
        st.integers(0, len(ready) - 1).map(lambda k: ready[k]),
        st.integers(0, len(_FRESH) - 1).map(lambda k: _FRESH[k]()),
        arrays(rows, columns),
    )


@st.composite
def dressed(draw: Any, values: np.ndarray) -> Any:
    """Whole numbers below 128 as any type, sequence or layout keeps them."""
    kind = draw(
        st.sampled_from(["list", "tuple", "objects", "numpy", "i1", "u1", ">i4", "u8", ">i8"])
    )
    if kind == "list":
        return values.tolist()
    if kind == "tuple":
        return tuple(values.tolist())
    if kind == "numpy":
        return list(values.astype(np.uint8))
    if kind == "objects":
        return values.astype(object).tolist()
    return laid_out(values.astype(kind), draw(st.sampled_from(LAYOUTS)))


def frozen(value: Any) -> Any:
    """All that an object of the package is, to be compared: a change anywhere shows."""
    if isinstance(value, np.ndarray):
        if value.dtype.names:
            return tuple(frozen(value[name]) for name in value.dtype.names)
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, np.random.Generator):
        return repr(value.bit_generator.state)
    if isinstance(value, dict):
        return tuple((name, frozen(each)) for name, each in value.items())
    if isinstance(value, list | tuple):
        return tuple(frozen(each) for each in value)
    if type(value).__module__ in ("black_maria.aec", "black_maria.seat", "black_maria.tables",
                                  "black_maria.vector", "black_maria.revoke"):  # fmt: skip
        return frozen(vars(value))
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return id(value)
