"""Random legal play with observation and mask, one core: Tables beside OpenSpiel's hearts.

Both sides get, for every decision, the acting seat's observation and legal-action mask, and
play a uniformly random legal card; deals included. OpenSpiel is driven from Python through
its observer, as its users do it.

What a decision costs hangs on how many tables there are. A step's four calls take some 5 µs of
Python: 80 ns a decision at 64 tables, 10 at 512. And a table is 1.8 KB, of which a decision writes
the observation, 656 bytes, and goes through the state, 1,048: beyond 1,000 tables, where a core's
own cache (2 MB) is full, that much comes and goes. Loops that do nothing else take 14 and 22 ns a
table at 512 tables, 84 and 78 at 65,536: of some 215 ns a decision there, 160 are memory.

Then two threads, each with half of the tables, beside one. Python holds its lock for 4 µs of a
round of 1,024 tables, 110 in all; kernels run without it. What keeps two threads from twice the
speed is the machine: so a loop that does nothing but compute is timed on two threads and on one in
the same rounds, and its ratio stands beside.

    python benchmarks/bench_tables.py
"""

import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyspiel
from harness import Row, Side, main
from numba import njit
from open_spiel.python.observation import make_observation

from black_maria import Rules, Tables, make_bot

SIZES = (64, 512, 2048, 8192, 65536)
THREADED = 2048
DECISIONS = 1_500_000
"""Of a round, at least: whole hands."""
STEPS = 150_000_000
"""Of arithmetic: as long as the decisions of a round."""
HAND = Rules().plies()


def black_maria(numbers: np.ndarray) -> Callable[[int], int]:
    """``Tables`` with the ``random`` bot, for so many hands."""
    tables, bot = Tables(numbers, seed=1), make_bot("random")

    def play(hands: int) -> int:
        for _ in range(hands * HAND):
            obs, _ = tables.observe()
            tables.step(bot.act(obs, tables.keys()))
        return hands * HAND * len(tables)

    return play


def open_spiel(hands: int) -> int:
    """OpenSpiel's ``hearts``."""
    game = pyspiel.load_game("hearts")
    observation = make_observation(game, pyspiel.IIGObservationType(perfect_recall=True))
    decisions = 0
    for _ in range(hands):
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(random.choice(state.legal_actions()))
                continue
            player = state.current_player()
            observation.set_from(state, player)
            state.legal_actions_mask(player)
            state.apply_action(random.choice(state.legal_actions(player)))
            decisions += 1
    return decisions


def on_two_threads(numbers: np.ndarray) -> Callable[[int], int]:
    """Half of the tables on each."""
    plays = [black_maria(half) for half in np.split(numbers, 2)]

    def play(hands: int) -> int:
        with ThreadPoolExecutor(len(plays)) as pool:
            return sum(pool.map(lambda play: play(hands), plays))

    return play


def on_threads(count: int) -> Callable[[int], int]:
    """Steps of arithmetic alone, shared out among so many threads."""

    def play(steps: int) -> int:
        with ThreadPoolExecutor(count) as pool:
            list(pool.map(arithmetic, [steps // count] * count))
        return steps

    return play


@njit(nogil=True)
def arithmetic(steps: int) -> int:
    """A step takes a nanosecond or two, and no memory."""
    number = 1
    for _ in range(steps):
        number = number * 6364136223846793005 + 1442695040888963407 ^ number >> 7
    return number


def rows() -> Iterator[Row]:
    """Each size beside OpenSpiel; two threads beside one."""
    for size in SIZES:
        yield Row(
            f"`Tables`, random legal play with observation and mask, {size:,} tables",
            "decision",
            Side("`Tables`", black_maria(np.arange(size)), -(-DECISIONS // (size * HAND))),
            Side("OpenSpiel `hearts` from Python", open_spiel, 700),
        )
    every, hands = np.arange(THREADED), -(-DECISIONS // (THREADED * HAND))
    yield Row(
        f"the same, {THREADED:,} tables, half of them on each of two threads",
        "decision",
        Side("two threads", on_two_threads(every), hands),
        Side("one thread", black_maria(every), hands),
        clock=time.perf_counter,
        bare=(
            Side("arithmetic on two threads", on_threads(2), STEPS),
            Side("arithmetic on one", on_threads(1), STEPS),
        ),
    )


if __name__ == "__main__":
    main(rows(), __file__, __doc__)
