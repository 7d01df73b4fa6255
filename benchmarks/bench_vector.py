"""One seat against bots: the vector environment beside AsyncVectorEnv of the single one.

Both sides play the first legal card; the learner's own decisions are counted, not those of its
opponents. Each side gets the size that suits it: thousands of rows, and as many processes as
there are cores or a few more. Times are of the clock, as there are several processes.

    python benchmarks/bench_vector.py
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
from harness import Row, Side, main

from black_maria.threads import cores

ID = "black_maria:BlackMaria-v0"
ROWS = 1024


def loop(envs: Any) -> Callable[[int], int]:
    """Take so many steps of all rows."""

    def play(steps: int) -> int:
        obs, _ = envs.reset(seed=1)
        for _ in range(steps):
            obs, *_ = envs.step(obs["action_mask"].argmax(axis=1))
        return steps * int(envs.num_envs)

    return play


def rows() -> Iterator[Row]:
    """Two opponents, two numbers of processes."""
    for opponents in ("random", "heuristic"):
        for times, words in ((1, "a process a core"), (4, "four processes a core")):
            ours = gymnasium.make_vec(
                ID, ROWS, vectorization_mode="vector_entry_point", opponents=opponents
            )
            theirs = gymnasium.make_vec(
                ID, times * cores(), vectorization_mode="async", opponents=opponents
            )
            yield Row(
                f"vector environment against `{opponents}`, {ROWS:,} rows; peer with {words}",
                "decision",
                Side("ours", loop(ours), 200),
                Side("Gymnasium's `AsyncVectorEnv` of the single one", loop(theirs), 300),
                clock=time.perf_counter,
                rounds=7,
            )
            ours.close(), theirs.close()


if __name__ == "__main__":
    main(rows(), __file__, __doc__)
