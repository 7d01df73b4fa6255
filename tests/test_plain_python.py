"""With ``NUMBA_DISABLE_JIT=1`` the same code runs as plain Python, to the same bytes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import digest


@pytest.mark.parametrize("seats", [3, 4])
def test_plain_python__plays_the_same_hands_without_a_warning(seats):
    """The digest covers views, masks, histories, keys, bots, rewards; more seats, wider ints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"import helpers; print(helpers.digest({seats}))"],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.strip() == digest(seats)
