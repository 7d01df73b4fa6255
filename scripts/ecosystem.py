"""Run the examples of other learners and enter what came out: python scripts/ecosystem.py [NAME …].

Each runs in the environment `.venv-NAME`, if `make .venv-NAME/installed` has made that, else in
this one, if it has the packages of `examples/requirements/NAME.txt`; those that can't run are
named and left out. In the same environment our own trainer is timed, in processor time as well.
Writes `docs/ecosystem.json`, from which `make docs` makes the table of `docs/ecosystem.md`.
"""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parent.parent
FILE: Final = ROOT / "docs" / "ecosystem.json"


@dataclass(frozen=True)
class Learner:
    """A learner of others, and its example here."""

    title: str
    script: str
    """In `examples/`."""
    environment: str
    """Which of our environments it learns on."""
    note: str
    """What to know, and whose limit it is."""


LEARNERS: Final[Mapping[str, Learner]] = {
    "cleanrl": Learner(
        "PPO in a single file, after CleanRL",
        "cleanrl_ppo.py",
        "the vector environment",
        "the page to copy from; needs nothing but `black-maria[agents]`",
    ),
    "sb3": Learner(
        "sb3-contrib's `MaskablePPO`",
        "maskable_ppo.py",
        "`black_maria.sb3.BlackMariaVecEnv`",
        "masks are found by themselves; infos are dictionaries a row, Stable-Baselines3's way",
    ),
    "torchrl": Learner(
        "TorchRL's PPO with `MaskedCategorical`",
        "torchrl_ppo.py",
        "the vector environment, by `GymWrapper`",
        "needs `flatten=True` and `illegal=\"lose\"`: `GymWrapper` takes the mask from `info`, "
        "which it explores by a step without one",
    ),
    "tianshou": Learner(
        "Tianshou's DQN, all seats",
        "tianshou_dqn.py",
        "AEC, by `PettingZooEnv`",
        "Tianshou's next state is the next seat's, so the horizon is a whole hand; its on-policy "
        "learners drop what falls at another seat's step",
    ),
    "openspiel": Learner(
        "OpenSpiel's PPO; its MCTS",
        "openspiel_game.py",
        "a Python game registered with pyspiel",
        "OpenSpiel copies a Python state for every simulation and builds every seat's tensor at "
        "every step; its own C++ `hearts` is another game",
    ),
    "rllib": Learner(
        "RLlib's PPO, all seats, two rollout workers",
        "rllib_ppo.py",
        "AEC, by `PettingZooEnv`",
        "Ray pins gymnasium 1.2.2; its masking module wants floats under the key "
        "`\"observations\"`; seconds of the clock, for its workers are processes of their own",
    ),
    "optuna": Learner(
        "Optuna over our own trainer",
        "optuna_search.py",
        "`train.main`, self-play",
        "a trial is a run, with its folder under `runs/`",
    ),
}  # fmt: skip

SPEED: Final = """
import time
from dataclasses import replace
from black_maria_agents.training import PRESETS, Training
import torch
torch.set_num_threads(1)
run = Training(replace(PRESETS["quick"], threads=1))
run.step()
start, before = time.process_time(), run.decisions
run.step(), run.step()
print((run.decisions - before) / (time.process_time() - start))
"""
"""Prints how many decisions a second the `quick` preset learns from, in processor time."""


def pins(name: str) -> dict[str, str]:
    """The packages that an example needs, with their versions."""
    file = ROOT / "examples" / "requirements" / f"{name}.txt"
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    return dict(re.findall(r"^([\w-]+)(?:\[.*\])?==(\S+)", text, re.MULTILINE))


def python_of(name: str) -> Path | None:
    """The Python to run an example with; None where its packages aren't installed."""
    own = ROOT / f".venv-{name}"
    if (own / "installed").exists():  # make's last word
        return own / "bin" / "python"
    try:
        here = all(version(package) == pin for package, pin in pins(name).items())
    except PackageNotFoundError:
        here = False
    return Path(sys.executable) if here else None


def lines(script: Path) -> int:
    """Lines of code: what isn't blank, a comment or a docstring."""
    text = script.read_text(encoding="utf-8")
    words: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            words.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    every = enumerate(text.splitlines(), 1)
    return sum(
        number not in words and line.strip() != "" and not line.strip().startswith("#")
        for number, line in every
    )


def run(name: str, python: Path, *, beside_ours: bool = True) -> dict[str, Any]:
    """Run an example and read what it prints.

    Args:
        name: One of ``LEARNERS``.
        python: What to run it with.
        beside_ours: Time our own trainer as well.

    Raises:
        RuntimeError: It failed; with all that it said.
    """
    script = ROOT / "examples" / LEARNERS[name].script
    output = _said(python, str(script))
    learnt = re.search(r"learnt from ([\d,]+) decisions in ([\d.]+) s", output)
    score = re.search(r"alone against two random: ([\d.]+) ± ([\d.]+)", output)
    if learnt is None or score is None:
        raise RuntimeError(f"{script.name} doesn't say what came out:\n{output}")
    row = {
        "versions": pins(name),
        "lines": lines(script),
        "decisions": int(learnt.group(1).replace(",", "")),
        "seconds": float(learnt.group(2)),
        "score": [float(score.group(1)), float(score.group(2))],
    }
    if beside_ours:
        row["ours"] = round(float(_said(python, "-c", SPEED)))
    return row


def _said(python: Path, *arguments: str) -> str:
    done = subprocess.run(
        [str(python), "-W", "ignore", *arguments],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)[:80]} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def main(names: list[str]) -> None:
    """Run these examples, or all, and enter their rows."""
    if unknown := set(names) - LEARNERS.keys():
        raise SystemExit(f"no example {', '.join(unknown)}; there are: {', '.join(LEARNERS)}")
    for name in names or LEARNERS:
        if (python := python_of(name)) is None:
            print(f"{name}: left out, its packages aren't installed: make .venv-{name}/installed")
            continue
        row = run(name, python)
        print(name, row, flush=True)
        rows = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
        rows[name] = row
        FILE.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    from black_maria_agents.border import border  # not for those who import this file

    with border("ecosystem.py"):
        main(sys.argv[1:])
