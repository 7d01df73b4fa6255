"""What callers give: numbers, choices and arrays at the border, refused in words or taken."""

import math
from decimal import Decimal

import numpy as np
import pytest

from black_maria import BlackMariaVectorEnv, Tables, given
from hostile import LAYOUTS, laid_out


@pytest.mark.parametrize("value", [None, True, np.True_, 3.0, "3", [3], math.nan, Decimal(3), 1j])
def test_whole__nothing_but_whole_numbers(value):
    with pytest.raises(ValueError, match=r"^hand=.* is not an integer$"):
        given.whole(value, "hand")


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3), np.array(3)])
def test_whole__of_any_type_is_an_int(value):
    assert type(given.whole(value)) is int
    assert given.whole(value) == 3


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (-1, "n=-1: it lies in 0 … 9"),
        ([1, 10], "n=10: it lies in 0 … 9"),
        (np.array([2**64 - 1], np.uint64), "n=18446744073709551615: it lies in 0 … 9"),
        pytest.param(10**5000, "n=a huge number: it lies in 0 … 9", id="huge"),
        ([1, 2.0], r"n=.*2\.0.* is not an integer"),
        ([1, None], "n=None is not an integer"),
        ([[1], [2, 3]], r"n=\[1\] is not an integer"),
        ({1, 2}, "n={1, 2} is not an integer"),
        (np.array([1], "m8[s]"), "n=.* is not an integer"),
        ("12", "n='12' is not an integer"),
    ],
)
def test_wholes__out_of_bounds_or_no_numbers_refused(value, words):
    with pytest.raises(ValueError, match=words):
        given.wholes(value, "n", 0, 9)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["i1", "u1", ">i4", ">u8", "i8", "O"])
def test_wholes__of_any_type_and_layout(kind, layout):
    numbers = given.wholes(laid_out(np.arange(4).astype(kind), layout), "n", 0, 9)
    assert numbers.tolist() == [0, 1, 2, 3]
    assert numbers.dtype == np.int64
    assert type(numbers) is np.ndarray


@pytest.mark.parametrize("layout", LAYOUTS)
def test_plain__is_what_kernels_are_compiled_for(layout):
    values = given.plain(laid_out(np.arange(4).astype(">i8"), layout), np.int64)
    assert values.tolist() == [0, 1, 2, 3]
    assert values.dtype == np.int64
    assert values.dtype.isnative
    assert values.flags.c_contiguous
    assert values.flags.writeable
    assert values.flags.aligned


@pytest.mark.parametrize("value", ["no", 1, 0, None, [], np.array([True])])
def test_truth__nothing_but_true_and_false(value):
    with pytest.raises(ValueError, match=r"^history=.*: it takes True or False$"):
        given.truth(value, "history")


@pytest.mark.parametrize("value", [None, [], np.array(["hand"]), b"hand", "day", "han"])
def test_choice__nothing_but_the_options(value):
    with pytest.raises(ValueError, match=r"^episode=.*: choose from 'hand', 'match'$"):
        given.choice(value, "episode", ("hand", "match"))


def test_shown__is_short_and_on_one_line():
    for value in (10**5000, "x" * 10**6, np.zeros((99, 99)), [[1] * 999] * 999, "a\nb"):
        assert len(given.shown(value)) < 400
        assert "\n" not in given.shown(value)


@pytest.mark.parametrize("count", [10**9, 2**63, 10**30, np.uint64(2**63)])
@pytest.mark.parametrize(
    ("make", "what"), [(Tables, "tables"), (BlackMariaVectorEnv, "environments")]
)
def test_room__more_than_memory_is_refused_before_it_is_asked_for(make, what, count):
    with pytest.raises(MemoryError, match=rf"^{int(count)} {what} need \S+ GiB: there are \d+$"):
        make(count)
