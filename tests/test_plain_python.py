"""With ``NUMBA_DISABLE_JIT=1`` the same code runs as plain Python, to the same bytes."""

import pytest

from helpers import digest, plain_python


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
    printed = plain_python(f"import helpers; print(helpers.digest({arguments}))")
    assert printed == digest(name, seats, plies)
