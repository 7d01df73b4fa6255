"""The engine of this tree beside that of another commit: three-player random play, one core.

Two processes, one on each engine, play in turns, so that a busy machine slows both; the ratio
printed is the median of the rounds' ratios.

    python benchmarks/bench_commit.py HEAD~1
"""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import tell

ROOT = Path(__file__).parent.parent
ROUNDS = 15
PLAY = """
import sys, time
from black_maria import Tables, make_bot
tables, bot = Tables(512, seed=1), make_bot("random")
def play(steps):
    start = time.perf_counter()
    for _ in range(steps):
        obs, _ = tables.observe()
        tables.step(bot.act(obs, tables.keys()))
    return steps * 512 / (time.perf_counter() - start)
play(200)
for line in sys.stdin:
    print(play(2000), flush=True)
"""


def player(envs: Path) -> subprocess.Popen[str]:
    """A process that plays a round for every line it gets, on the engine in a folder."""
    return subprocess.Popen(
        [sys.executable, "-c", PLAY],
        env={**os.environ, "PYTHONPATH": str(envs)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def play(process: subprocess.Popen[str]) -> float:
    """Decisions a second of one round."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def main(commit: str) -> None:
    """Time both in alternation and print the ratio."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", commit, "envs"], cwd=ROOT, check=True, capture_output=True
        ).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        ours, theirs = player(ROOT / "envs"), player(Path(folder) / "envs")
        rounds = [(play(ours), play(theirs)) for _ in range(ROUNDS)]
        for process in (ours, theirs):
            process.communicate()
    tell(f"this tree   {statistics.median(round[0] for round in rounds):12,.0f} decisions/s")
    tell(f"{commit:<11} {statistics.median(round[1] for round in rounds):12,.0f} decisions/s")
    tell(f"ratio       {statistics.median(a / b for a, b in rounds):12.2f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "HEAD")
