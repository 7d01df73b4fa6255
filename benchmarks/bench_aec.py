"""The AEC loop beside PettingZoo's tic-tac-toe: raw against raw, wrapped against wrapped.

The same loop drives both: `last()`, the first legal action, `step()`; resets and dead steps
count. What is the loop's own, 500 ns of a step, the first of 52 actions or of 9 among it (235 and
207), both pay alike. A game of tic-tac-toe has 9 steps, 2 of them dead, a hand of ours 63 with 3:
dead ones are its cheapest, and make its step look cheaper than a move is.

    python benchmarks/bench_aec.py
"""

from collections.abc import Callable, Iterator
from typing import Any

from harness import Row, Side, main
from pettingzoo.classic.tictactoe import tictactoe

from black_maria import black_maria_v0


def loop(env: Any) -> Callable[[int], int]:
    """Play so many steps, to the end of the last game."""

    def play(most: int) -> int:
        steps, seed = 0, 0
        while steps < most:
            seed += 1
            env.reset(seed=seed)
            for _ in env.agent_iter():
                observation, _, termination, truncation, _ = env.last()
                done = termination or truncation
                env.step(None if done else int(observation["action_mask"].argmax()))
                steps += 1
        return steps

    return play


def rows() -> Iterator[Row]:
    """Without and with the wrappers."""
    for name, peer in (("raw_env", tictactoe.raw_env()), ("env", tictactoe.env())):
        yield Row(
            f"AEC loop, `{name}()`",
            "step",
            Side(f"`{name}()`", loop(getattr(black_maria_v0, name)()), 6_000),
            Side(f"tic-tac-toe's `{name}()`", loop(peer), 6_000),
        )


if __name__ == "__main__":
    main(rows(), __file__, __doc__)
