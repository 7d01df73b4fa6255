"""Determinised search: milliseconds a decision on one core, at three budgets.

A three-player hand is played by search in all seats, and every decision with a choice is timed;
the median over a few hands is printed for each budget. Beside it OpenSpiel's MCTS bot on its
``hearts``, random rollouts, one a simulation: it searches the true deal, with all cards
open, so that only the cost of a simulation compares. Both run in turns, so that a busy machine
slows both; times are of the thread, not of the clock.

    python benchmarks/bench_search.py
"""

import random
import statistics
import time

import numpy as np
import pyspiel

from black_maria import Tables
from black_maria_agents import SearchAgent

BUDGETS = ((10, 50), (30, 333), (100, 1000))
HANDS = 3
MOST_OF_ALL = 50_000
"""Beyond so many simulations one hand is enough."""
PEER_SIMS = 200


def decisions(worlds: int, sims: int, seed: int) -> list[float]:
    """Seconds of every decision of one hand that has a choice."""
    tables, agent = Tables(1, seed=seed), SearchAgent(worlds=worlds, sims=sims, threads=1)
    times = []
    for _ in range(tables.rules.plies()):
        obs, _ = tables.observe()
        keys = tables.keys()
        start = time.thread_time()
        actions = agent.act(obs, keys)
        if obs["action_mask"].sum() > 1:
            times.append(time.thread_time() - start)
        tables.step(actions)
    return times


def peer(seed: int) -> list[float]:
    """Seconds a simulation of OpenSpiel's bot, for every tenth decision of one hand."""
    game = pyspiel.load_game("hearts")
    state = game.new_initial_state()
    generator = random.Random(seed)
    times = []
    while not state.is_terminal():
        actions = state.legal_actions()
        if state.is_chance_node() or len(actions) == 1 or generator.random() < 0.9:
            state.apply_action(generator.choice(actions))
            continue
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
        bot = pyspiel.MCTSBot(game, evaluator, 2.0, PEER_SIMS, 1000, False, seed, False)
        start = time.thread_time()
        action = bot.step(state)
        times.append((time.thread_time() - start) / PEER_SIMS)
        state.apply_action(action)
    return times


def main() -> None:
    """Time all in alternation."""
    decisions(1, 1, 0)  # compile, warm up
    ours: dict[tuple[int, int], list[float]] = {budget: [] for budget in BUDGETS}
    theirs: list[float] = []
    for seed in range(HANDS):
        theirs += peer(seed)
        for worlds, sims in BUDGETS:
            if seed == 0 or worlds * sims < MOST_OF_ALL:
                ours[worlds, sims] += decisions(worlds, sims, seed)
    print("worlds × sims   median ms   longest ms   µs a simulation")
    for (worlds, sims), times in ours.items():
        median = statistics.median(times)
        print(
            f"{worlds:6} × {sims:<6} {1e3 * median:10.1f} {1e3 * max(times):12.1f}"
            f" {1e6 * float(np.mean(times)) / worlds / sims:17.2f}"
        )
    worlds, sims = 30, 333
    each = float(np.mean(ours[worlds, sims])) / worlds / sims
    print(f"OpenSpiel MCTS, hearts {1e6 * statistics.mean(theirs):37.2f}")
    print(f"ratio at {worlds} × {sims} {statistics.mean(theirs) / each:43.1f}")


if __name__ == "__main__":
    main()
