"""Train an agent by self-play: PPO with an oracle critic.

    python train.py
    python train.py --run wide --width 512 --decisions 20_000_000
    tensorboard --logdir runs

Every run has a folder, ``runs/<run>/``: config.json, metrics.csv, TensorBoard events, and
agent.pt, the checkpoint after the last finished update (Ctrl-C loses at most one).
"""

import csv
import dataclasses
import json
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any

import torch
import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from torch.utils.tensorboard import SummaryWriter

from black_maria.layout import layout_of
from black_maria.rules import Rules
from black_maria_agents import checkpoint, load_agent
from black_maria_agents.arena import TEST_SEEDS, Result, measure, play_deals, result_table
from black_maria_agents.network import OracleCritic, Policy, PolicyAgent
from black_maria_agents.ppo import PPO, PPOConfig, choose_precision
from black_maria_agents.selfplay import SelfPlay


@dataclass(frozen=True)
class TrainConfig:
    """One seed, one result: a run is a fixed number of decisions."""

    run: str = "first"
    """Folder under ``runs/``; a number is added if it exists."""
    seed: int = 1
    """Of weights, deals, choices and minibatches; below 2**63, where the test seeds start."""
    rules: str = "three_player"
    """The profile to play by."""
    seats: int | None = None
    """Players at the table, where the profile leaves it open."""
    decisions: int = 8_000_000
    """Decisions of all seats, rounded up to whole rollouts."""
    tables: int = 512
    """Tables played side by side."""
    hands: int = 1
    """Hands of each table in a rollout."""
    width: int = 128
    """Units of each of the two hidden layers, of policy and critic."""
    precision: str = "auto"
    """``float32``, ``bfloat16`` (autocast), or ``auto``: what multiplies faster here."""
    threads: int = 2
    """PyTorch's threads; another number may change the last bits of a result."""
    score_every: int = 10
    """Updates between two scores against ducks."""
    score_deals: int = 200
    """Deals of such a score."""
    final_deals: int = 2000
    """Deals of each pair in the final table."""
    ppo: tyro.conf.OmitArgPrefixes[PPOConfig] = field(default_factory=PPOConfig)
    """The update's settings."""


def main(config: TrainConfig) -> list[Result]:
    """Train, then measure against ``duck`` and ``heuristic``, both ways.

    Raises:
        ValueError: An impossible setting.
    """
    rules = Rules.profile(config.rules, config.seats)
    if not 0 <= config.seed < TEST_SEEDS:
        raise ValueError(f"seed={config.seed}: training seeds are 0 … 2**63 - 1")
    if min(config.decisions, config.tables, config.hands, config.width, config.threads) < 1:
        raise ValueError("decisions, tables, hands, width and threads must be at least 1")
    torch.set_num_threads(config.threads)
    torch.manual_seed(config.seed)
    layout = layout_of(rules)
    precision = choose_precision(config.precision, config.width)
    ppo = PPO(
        Policy(layout, config.width),
        OracleCritic(layout, config.width),
        config.ppo,
        autocast=precision == "bfloat16",
        seed=config.seed,
    )
    games = SelfPlay(rules, tables=config.tables, hands=config.hands, seed=config.seed)
    folder = new_folder(Path("runs") / config.run)
    console = Console()
    console.print(f"{folder}: {precision}, {config.threads} threads")
    settings = dataclasses.asdict(config) | {"precision": precision}
    write_config(folder / "config.json", settings)

    def save(decisions: int) -> None:
        checkpoint.save(
            folder / "agent.pt",
            policy=ppo.policy,
            critic=ppo.critic,
            optimizer=ppo.optimizer,
            rules=rules,
            config=settings,
            decisions=decisions,
        )

    save(0)
    agent = PolicyAgent(ppo.policy, rules)
    duck = load_agent("duck", rules)
    start = time.perf_counter()
    try:
        with log_to(folder) as log, progress_bar(console) as bar:
            task = bar.add_task("training", total=config.decisions, text="")
            decisions, score = 0, float("nan")
            for update in count(1):
                with ppo.precision():
                    rollout = games.collect(ppo.policy)
                figures = ppo.update(rollout, decisions / config.decisions)
                decisions += rollout.action.numel()
                save(decisions)
                if (update - 1) % config.score_every == 0 or decisions >= config.decisions:
                    deals = range(config.score_deals)
                    score = play_deals(agent, duck, deals, seed=config.seed, rules=rules).mean()
                speed = decisions / (time.perf_counter() - start)
                log(decisions, {f"losses/{name}": value for name, value in figures.items()}
                    | {"charts/SPS": speed, "charts/penalty_against_ducks": score})  # fmt: skip
                bar.update(task, completed=decisions, text=(
                    f"{speed:,.0f} decisions/s, entropy {figures['entropy']:.2f}, "
                    f"value {figures['value_loss']:.3f}, ducks {score:.1f}"
                ))  # fmt: skip
                if decisions >= config.decisions:
                    break
    except KeyboardInterrupt:
        sys.exit(f"\nstopped; the last finished update is in {folder / 'agent.pt'}")
    seconds = time.perf_counter() - start
    console.print(f"{decisions:,} decisions in {seconds:.0f} s: {decisions / seconds:,.0f}/s")

    name = str(folder)
    agents = {name: agent} | {bot: load_agent(bot, rules) for bot in ("duck", "heuristic")}
    pairs = [pair for bot in ("duck", "heuristic") for pair in ((name, bot), (bot, name))]
    results = measure(agents, pairs, config.final_deals, seed=0, rules=rules)
    console.print(result_table(results, rules))
    return results


def new_folder(path: Path) -> Path:
    """Make a folder, with a number added to its name if it is taken."""
    number = 1
    folder = path
    while folder.exists():
        number += 1
        folder = path.with_name(f"{path.name}-{number}")
    folder.mkdir(parents=True)
    return folder


def write_config(path: Path, settings: dict[str, Any]) -> None:
    """Write the run's settings, with the versions and the commit that it ran on."""
    git = subprocess.run(
        ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False,
        cwd=Path(__file__).parent,
    )  # fmt: skip
    packages = ("black-maria", "torch", "numpy", "numba", "gymnasium", "pettingzoo")
    content = settings | {
        "versions": {"python": platform.python_version()} | {p: version(p) for p in packages},
        "commit": git.stdout.strip() or None,
    }
    path.write_text(json.dumps(content, indent=2) + "\n")


@contextmanager
def log_to(folder: Path) -> Iterator[Any]:
    """A function (decisions, figures) that writes metrics.csv and TensorBoard events."""
    board = SummaryWriter(str(folder))
    with (folder / "metrics.csv").open("w", newline="") as file:
        writer = csv.writer(file)

        def log(decisions: int, figures: dict[str, float]) -> None:
            if file.tell() == 0:
                writer.writerow(["decisions", *figures])
            writer.writerow([decisions, *figures.values()])
            file.flush()
            for name, value in figures.items():
                board.add_scalar(name, value, decisions)

        yield log
    board.close()


def progress_bar(console: Console) -> Progress:
    """A bar with the figures of the last update and the time left."""
    return Progress(
        BarColumn(8), TextColumn("{task.percentage:3.0f} %"), TimeRemainingColumn(),
        TextColumn("{task.fields[text]}"), console=console,
    )  # fmt: skip


if __name__ == "__main__":
    try:
        main(tyro.cli(TrainConfig))
    except ValueError as error:
        sys.exit(f"train.py: {error}")
