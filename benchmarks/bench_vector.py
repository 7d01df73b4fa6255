"""One seat against bots: the vector environment beside AsyncVectorEnv of the single one.

Both sides play the first legal card; the learner's own decisions are counted, not those of its
opponents. Each side gets the size that suits it: thousands of rows, and as many processes as
there are cores or a few more. Rounds alternate, so that a busy machine slows both; the ratio
printed is the median of the rounds' ratios.

    python benchmarks/bench_vector.py
"""

import os
import statistics
import time
from typing import Any

import gymnasium

ID = "black_maria:BlackMaria-v0"
ROWS = 1024
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
PROCESSES = (CORES, 4 * CORES)
ROUNDS = 7


def speed(envs: Any, steps: int) -> float:
    """Decisions a second."""
    obs, _ = envs.reset(seed=1)
    start = time.perf_counter()
    for _ in range(steps):
        obs, *_ = envs.step(obs["action_mask"].argmax(axis=1))
    return steps * envs.num_envs / (time.perf_counter() - start)


def main() -> None:
    """Time both in alternation and print the ratios."""
    for opponents in ("random", "heuristic"):
        ours = gymnasium.make_vec(
            ID, ROWS, vectorization_mode="vector_entry_point", opponents=opponents
        )
        theirs = {
            count: gymnasium.make_vec(ID, count, vectorization_mode="async", opponents=opponents)
            for count in PROCESSES
        }
        speed(ours, 20), [speed(envs, 20) for envs in theirs.values()]  # compile, warm up
        rounds = [
            (speed(ours, 200), {count: speed(envs, 300) for count, envs in theirs.items()})
            for _ in range(ROUNDS)
        ]
        for envs in (ours, *theirs.values()):
            envs.close()
        print(f"against {opponents}, the learner's decisions a second")
        print(f"  vector, {ROWS} rows      {statistics.median(own for own, _ in rounds):10,.0f}")
        for count in PROCESSES:
            rate = statistics.median(other[count] for _, other in rounds)
            ratio = statistics.median(own / other[count] for own, other in rounds)
            print(f"  async, {count:4} processes {rate:10,.0f}   ratio {ratio:.1f}")


if __name__ == "__main__":
    main()
