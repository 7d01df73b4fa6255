"""Random legal play with observation and mask, one core: Tables beside OpenSpiel's hearts.

Both sides get, for every decision, the acting seat's observation and legal-action mask, and
play a uniformly random legal card; deals included. OpenSpiel is driven from Python through
its observer, as its users do it. Rounds alternate, so that a busy machine slows both; the
ratio printed is the median of the rounds' ratios.

    python benchmarks/bench_tables.py
"""

import random
import statistics
import time

import numpy as np
import pyspiel
from open_spiel.python.observation import make_observation

from black_maria import Tables, make_bot

TABLES = 512
ROUNDS = 9


def black_maria(decisions: int) -> float:
    """Decisions a second of ``Tables`` with the ``random`` bot."""
    tables, bot = Tables(TABLES, seed=1), make_bot("random")
    start = time.perf_counter()
    steps = decisions // TABLES
    for _ in range(steps):
        obs, _ = tables.observe()
        tables.step(bot.act(obs, tables.keys()))
    return steps * TABLES / (time.perf_counter() - start)


def open_spiel(decisions: int) -> float:
    """Decisions a second of OpenSpiel's ``hearts``."""
    game = pyspiel.load_game("hearts")
    observation = make_observation(game, pyspiel.IIGObservationType(perfect_recall=True))
    played = 0
    start = time.perf_counter()
    while played < decisions:
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(random.choice(state.legal_actions()))
                continue
            player = state.current_player()
            observation.set_from(state, player)
            state.legal_actions_mask(player)
            state.apply_action(random.choice(state.legal_actions(player)))
            played += 1
    return played / (time.perf_counter() - start)


def main() -> None:
    """Time both in alternation and print the ratio."""
    black_maria(200_000), open_spiel(2_000)  # compile, warm up
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(black_maria(1_500_000))
        theirs.append(open_spiel(40_000))
    ratio = statistics.median(np.divide(ours, theirs))
    print(f"black_maria Tables   {statistics.median(ours):12,.0f} decisions/s")
    print(f"OpenSpiel hearts     {statistics.median(theirs):12,.0f} decisions/s")
    print(f"ratio                {ratio:12.1f}")


if __name__ == "__main__":
    main()
