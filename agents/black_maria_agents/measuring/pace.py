"""How many games are played at a time: few enough to put results together often, not fewer."""

import math
from typing import Final

FASTEST: Final = 8
"""A block is at most this many times as large as the one before."""
NOTABLY: Final = 1.5
"""Sizes that differ by this factor tell what hangs on the size, and not chance alone."""


class Pace:
    """Sizes of blocks of games, from the time that earlier ones took.

    Blocks grow towards a given time. But part of a block's time may not hang on its size: a
    network's pass takes as long for one row as for hundreds. Two blocks of different sizes tell
    that part, and no block is so small that it is the larger one: a busy machine can't make
    blocks shrink to where nearly all time is lost. A search has no such part; its blocks may be
    of one game.

    Args:
        seconds: The time that a block should take.

    Attributes:
        size: Games of the next block, at least 1.
    """

    def __init__(self, seconds: float) -> None:
        """Begin with one game."""
        self.size = 1
        self._seconds = seconds
        self._before = 0, 0.0
        self._least = 2  # so that there are two blocks

    def took(self, games: int, seconds: float) -> None:
        """Learn from a block of so many games."""
        games_before, seconds_before = self._before
        fewer, more = sorted((games, games_before))
        if fewer and more >= NOTABLY * fewer:
            a_game = (seconds - seconds_before) / (games - games_before)
            if a_game > 0:  # otherwise the machine was not as busy as before
                self._least = math.ceil(seconds / a_game - games)
        self._before = games, seconds
        wanted = math.ceil(games * self._seconds / max(seconds, 1e-9))
        self.size = max(1, min(max(wanted, self._least), FASTEST * games))
