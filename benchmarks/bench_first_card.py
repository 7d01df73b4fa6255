"""What the first card costs: CPU seconds of a new process, its kernels compiled or not yet.

python benchmarks/bench_first_card.py
"""

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator

from harness import Row, Side, main

CODE = {
    "`import black_maria`": "import black_maria",
    "`import black_maria_agents`": "import black_maria_agents",
    "one hand of `Tables` in a new process": """
from black_maria import Tables, make_bot
tables, bot = Tables(1), make_bot("random")
for _ in range(tables.rules.plies()):
    tables.step(bot.act(tables.observe()[0], tables.keys()))
""",
    "one hand of `env()` in a new process": """
from black_maria import black_maria_v0
env = black_maria_v0.env()
env.reset(seed=1)
for _ in env.agent_iter():
    observation, _, termination, truncation, _ = env.last()
    done = termination or truncation
    env.step(None if done else int(observation["action_mask"].argmax()))
""",
}
COLD = [name for name in CODE if name.startswith("one hand")]


def of_children() -> float:
    """CPU seconds of all processes that have been started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def process(code: str, *, cold: bool) -> Callable[[int], int]:
    """Start so many processes one after another, each on an empty kernel cache if it is cold."""

    def start(times: int) -> int:
        for _ in range(times):
            with tempfile.TemporaryDirectory() as folder:
                cache = {"NUMBA_CACHE_DIR": folder} if cold else {}
                subprocess.run(
                    [sys.executable, "-c", code],
                    check=True,
                    stderr=subprocess.DEVNULL,
                    env={**os.environ, **cache},
                )
        return times

    return start


def rows() -> Iterator[Row]:
    """Imports, a hand when all is compiled, and a hand when nothing is."""
    for name, code in CODE.items():
        side = Side("", process(code, cold=False), 1)
        yield Row(name, "process (CPU)", side, clock=of_children, rounds=5)
    for name in COLD:
        side = Side("", process(CODE[name], cold=True), 1)
        what = f"{name}, nothing compiled"
        yield Row(what, "process (CPU)", side, clock=of_children, rounds=3, warm=False)


if __name__ == "__main__":
    main(rows(), __file__, __doc__)
