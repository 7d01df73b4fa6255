"""Compile everything now, rather than at the first card: ``python -m black_maria.warm``.

Numba compiles a kernel when it is first called and keeps it on disk (``kernels``). This calls all
of them, those of other installed packages too that name their steps in the entry points'
group ``black_maria.warm``.
"""

import contextlib
import logging
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from typing import Final

import numpy as np

from black_maria import record
from black_maria.aec import env
from black_maria.bots import BOTS, make_bot
from black_maria.seat import BlackMaria
from black_maria.tables import Tables
from black_maria.vector import BlackMariaVectorEnv

GROUP: Final = "black_maria.warm"
"""Entry points of this group are functions like ``steps``."""

Step = tuple[str, Callable[[], object]]
"""What is done, in words, and a function that does it."""


def steps() -> Iterator[Step]:
    """What compiles the kernels of this package, each once."""
    yield "tables", _play_tables
    for bot in BOTS:
        yield bot, lambda bot=bot: _ask(bot)  # type: ignore[misc]
    yield "env()", _play_env
    yield "Gymnasium", _play_seats


def _play_tables() -> None:
    tables = Tables(2, seed=1, history=True, deal_on=False)
    first = tables.observe()[0]["action_mask"].argmax(axis=1)
    tables.start(deal=[range(seat, 52, 3) for seat in (1, 2, 3)], dealer=2, actions=["3C"])
    tables.load(tables.save())
    tables.reset(1)
    tables.views()
    tables.step(first)
    done = np.zeros(2, np.bool_)
    while not done.any():
        obs, _ = tables.observe()
        tables.keys()
        _, done = tables.step(obs["action_mask"].argmax(axis=1))
    record.of_states(tables.states(), tables.rules)


def _ask(bot: str) -> None:
    tables = Tables(1)
    make_bot(bot).act(tables.observe()[0], tables.keys())


def _play_env() -> None:
    game = env(history=True)
    game.reset(seed=1)
    for _ in game.agent_iter():
        observation, _, termination, truncation, _ = game.last()
        done = termination or truncation
        game.step(None if done else int(observation["action_mask"].argmax()))


def _play_seats() -> None:
    single = BlackMaria("random")
    single.reset(seed=1)
    many = BlackMariaVectorEnv(2, opponents="random", history=True)
    _, infos = many.reset(seed=1)
    done = np.zeros(2, np.bool_)
    while not done.any():
        _, _, done, _, infos = many.step(infos["action_mask"].argmax(axis=1))


def main() -> None:
    """Take all steps, with a line that says how far it is."""
    logging.getLogger("black_maria").setLevel(logging.ERROR)  # the line below says it
    every = []
    for found in entry_points(group=GROUP):
        with contextlib.suppress(ImportError):  # the agents, where there is no PyTorch
            every += found.load()()
    start = time.perf_counter()
    for number, (name, do) in enumerate(every):
        bar = "#" * (20 * number // len(every))
        line = f"\rcompiling [{bar:<20}] {number} of {len(every)}, {name:<24}"
        print(line, end="", file=sys.stderr, flush=True)
        do()
    seconds = time.perf_counter() - start
    print(f"\rblack_maria: all compiled, in {seconds:.0f} s{'':<40}", file=sys.stderr)


if __name__ == "__main__":
    main()
