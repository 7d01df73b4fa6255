"""The arena beside the AEC loop: the same pairs on the same deals, batched and one by one.

Rounds alternate, so that a busy machine slows both; the ratio printed is the median of the
rounds' ratios. Both must find the same penalties, but for `random`, whose draws the loop can't
repeat. The
heuristic itself takes 2 µs a decision, four times what all else takes in the arena.

    python benchmarks/bench_arena.py
"""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from black_maria import Rules, black_maria_v0, deal, layout_of
from black_maria_agents import Agent, load_agent, network
from black_maria_agents.measuring import play_deals
from black_maria_agents.seeds import TEST_SEEDS

ROUNDS = 7
BATCHED, ONE_BY_ONE = 1000, 2  # deals a round, each in three rotations
WIDTH = 128
RULES = Rules()


def one_by_one(env: Any, alone: Agent, others: Agent, deals: range) -> NDArray[np.float64]:
    """The lone agent's penalties (D, 3), a hand after the other through the AEC loop."""
    key = np.zeros(1, np.uint64)
    penalties = np.zeros((len(deals), 3))
    for row, own in np.ndindex(penalties.shape):
        cards, dealer = deal(TEST_SEEDS, deals[row], 0)
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


def times(pair: Sequence[Agent], check: bool) -> tuple[float, float, float]:
    """Seconds a deal: in the arena, through ``env`` and through ``raw_env``."""
    start = time.perf_counter()
    scores = play_deals(*pair, range(BATCHED), seed=TEST_SEEDS, rules=RULES)
    found = [(time.perf_counter() - start) / BATCHED]
    for env in (black_maria_v0.env(), black_maria_v0.raw_env()):
        start = time.perf_counter()
        again = one_by_one(env, *pair, range(ONE_BY_ONE))
        found.append((time.perf_counter() - start) / ONE_BY_ONE)
        if check and not np.array_equal(again, scores[:ONE_BY_ONE]):
            raise AssertionError("the arena and the loop differ")
    return found[0], found[1], found[2]


def main() -> None:
    """Time all in alternation and print the ratios."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    agents: dict[str, Agent] = {name: load_agent(name) for name in ("random", "duck", "heuristic")}
    agents["network"] = network.PolicyAgent(network.Policy(layout_of(RULES), WIDTH), RULES)
    print("deals/s, each in three rotations     arena       env   ratio   raw_env   ratio")
    for alone, others in (
        ("random", "duck"),
        ("duck", "random"),
        ("heuristic", "duck"),
        ("network", "duck"),
        ("network", "network"),
    ):
        pair, check = (agents[alone], agents[others]), "random" not in (alone, others)
        times(pair, check)  # compile, warm up
        rounds = np.array([times(pair, check) for _ in range(ROUNDS)])
        arena, env, raw = 1 / np.median(rounds, axis=0)
        ratios = np.median(rounds[:, 1:] / rounds[:, :1], axis=0)
        print(
            f"{alone + ', 2 × ' + others:<32}{arena:10,.0f}{env:10,.1f}{ratios[0]:8.1f}"
            f"{raw:10,.1f}{ratios[1]:8.1f}"
        )


if __name__ == "__main__":
    main()
