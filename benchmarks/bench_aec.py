"""The AEC loop beside PettingZoo's tic-tac-toe: raw against raw, wrapped against wrapped.

The same loop drives both: `last()`, the first legal action, `step()`. Rounds alternate, so
that a busy machine slows both; the ratio printed is the median of the rounds' ratios.

    python benchmarks/bench_aec.py
"""

import statistics
import time
from typing import Any

import numpy as np
from pettingzoo.classic.tictactoe import tictactoe

from black_maria import black_maria_v0

ROUNDS = 15
STEPS = 6_000


def step_time(env: Any) -> float:
    """Microseconds a step of the AEC loop, resets and dead steps included."""
    steps, seed = 0, 0
    start = time.perf_counter()
    while steps < STEPS:
        seed += 1
        env.reset(seed=seed)
        for _ in env.agent_iter():
            observation, _, termination, truncation, _ = env.last()
            done = termination or truncation
            env.step(None if done else int(observation["action_mask"].argmax()))
            steps += 1
    return (time.perf_counter() - start) / steps * 1e6


def main() -> None:
    """Time both in alternation and print the ratios."""
    for kind in ("raw", "wrapped"):
        name = "raw_env" if kind == "raw" else "env"
        ours, theirs = (getattr(module, name)() for module in (black_maria_v0, tictactoe))
        step_time(ours), step_time(theirs)  # compile, warm up
        times = np.array([(step_time(ours), step_time(theirs)) for _ in range(ROUNDS)])
        print(
            f"{kind:<8} black_maria {np.median(times[:, 0]):6.1f} µs   "
            f"tictactoe {np.median(times[:, 1]):6.1f} µs   "
            f"ratio {statistics.median(times[:, 1] / times[:, 0]):.2f}"
        )


if __name__ == "__main__":
    main()
