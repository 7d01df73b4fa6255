"""Instructions that kernels are made of do what their plain Python does."""

import numpy as np
import pytest

from black_maria import machine
from black_maria.kernels import kernel
from black_maria.machine import collect, spread

PLANES = [0, 1, 1 << 51, (1 << 52) - 1, 0b1011 << 30]


@kernel
def write(plane, row):
    spread(plane, row)


@kernel
def read(row):
    return collect(row)


@pytest.mark.parametrize("plane", PLANES)
def test_spread__writes_52_entries_and_no_more(plane):
    row, plain = np.full(60, 7, np.int8), np.full(60, 7, np.int8)
    write(np.int64(plane), row[3:])
    machine._spread(plane, plain[3:])
    assert row.tolist() == plain.tolist()
    assert set(row[:3]) | set(row[55:]) == {7}


@pytest.mark.parametrize("plane", PLANES)
def test_collect__reads_what_spread_writes(plane):
    row = np.full(60, 1, np.int8)
    write(np.int64(plane), row[3:])
    assert read(row[3:]) == machine._collect(row[3:]) == plane
