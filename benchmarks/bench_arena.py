"""The arena beside the AEC loop: the same pairs on the same deals, batched and one by one.

Both must find the same penalties, but for `random`, whose draws the loop can't repeat.

    python benchmarks/bench_arena.py
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from harness import Row, Side, main
from numpy.typing import NDArray

from black_maria import Rules, black_maria_v0, deal
from black_maria_agents import Agent, load_agent
from black_maria_agents.measuring import play_deals
from black_maria_agents.seeds import TEST_SEEDS

RULES = Rules()
PAIRS = (
    ("duck", "random"), ("heuristic", "duck"), ("champion", "duck"), ("champion", "champion"),
)  # fmt: skip


def one_by_one(env: Any, alone: Agent, others: Agent, deals: int) -> NDArray[np.float64]:
    """The lone agent's penalties (D, 3), a hand after the other through the AEC loop."""
    key = np.zeros(1, np.uint64)
    penalties = np.zeros((deals, 3))
    for row, own in np.ndindex(penalties.shape):
        cards, dealer = deal(TEST_SEEDS, row, 0)
        env.reset(seed=1, options={"deal": cards, "dealer": dealer})
        for agent in env.agent_iter():
            observation, reward, termination, truncation, _ = env.last()
            mine = agent == env.possible_agents[own]
            if mine:
                penalties[row, own] -= reward
            action = None
            if not (termination or truncation):
                rows = {name: array[None] for name, array in observation.items()}
                action = int((alone if mine else others).act(rows, key)[0])
            env.step(action)
    return penalties


def sides(alone: Agent, others: Agent) -> tuple[Callable[[int], int], Callable[[int], int]]:
    """The arena and the loop, for so many deals."""
    env = black_maria_v0.env()

    def arena(deals: int) -> NDArray[np.float64]:
        return play_deals(alone, others, range(deals), seed=TEST_SEEDS, rules=RULES)

    def loop(deals: int) -> NDArray[np.float64]:
        return one_by_one(env, alone, others, deals)

    if "random" not in (alone.name, others.name) and not np.array_equal(arena(2), loop(2)):
        raise AssertionError("the arena and the loop differ")
    return lambda deals: len(arena(deals)), lambda deals: len(loop(deals))


def rows() -> Iterator[Row]:
    """Bots, a network, networks alone."""
    torch.set_num_threads(1)
    agents = {name: load_agent(name) for name in {name for pair in PAIRS for name in pair}}
    for alone, others in PAIRS:
        arena, loop = sides(agents[alone], agents[others])
        yield Row(
            f"arena, `{alone}` against two `{others}`",
            "deal in three rotations",
            Side("`play_deals`", arena, 500),
            Side("the same through `env()`", loop, 2),
            rounds=7,
        )


if __name__ == "__main__":
    main(rows(), __file__, __doc__)
