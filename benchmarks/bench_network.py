"""The champion's decisions on one core: one alone, and in batches.

python benchmarks/bench_network.py
"""

from collections.abc import Callable, Iterator

import numpy as np
import torch
from harness import Row, Side, main

from black_maria import Tables
from black_maria_agents import load_agent

DECISIONS = 8192


def decide(rows: int) -> Callable[[int], int]:
    """So many batches of decisions in the middle of the hand."""
    tables, agent = Tables(rows, seed=1), load_agent("champion")
    for _ in range(20):
        obs, _ = tables.observe()
        tables.step(obs["action_mask"].argmax(axis=1))
    obs, _ = tables.observe()
    keys: np.ndarray = tables.keys()

    def ask(batches: int) -> int:
        for _ in range(batches):
            agent.act(obs, keys)
        return batches * rows

    return ask


def rows() -> Iterator[Row]:
    """Three sizes."""
    torch.set_num_threads(1)
    for count in (1, 64, 1024):
        among = "alone" if count == 1 else f"among {count:,}"
        yield Row(
            f"a decision of the champion, {among}",
            "decision",
            Side(
                "`champion`", decide(count), max(DECISIONS // count, 50) // (8 if count == 1 else 1)
            ),
        )


if __name__ == "__main__":
    main(rows(), __file__, __doc__)
