"""With ``NUMBA_DISABLE_JIT=1`` the same code runs as plain Python, to the same bytes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import digest


@pytest.mark.parametrize(
    ("name", "seats", "plies"),
    [
        ("three_player", 3, 130),
        ("four_player", 4, 130),
        ("american_hearts", 4, 256),  # every pass direction
        ("slippery_anne", 4, 256),  # play-offs
        ("dirty_lady", 6, 130),
        ("cancellation", 10, 140),  # 104 cards and a kitty
    ],
)
def test_plain_python__plays_the_same_hands_without_a_warning(name, seats, plies):
    """The digest covers views, masks, histories, keys, bots, rewards."""
    arguments = f"{name!r}, {seats}, {plies}"
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "error",
            "-c",
            f"import helpers; print(helpers.digest({arguments}))",
        ],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.strip() == digest(name, seats, plies)
