"""Train an agent by self-play: PPO with an oracle critic.

    python train.py
    python train.py --preset standard --seed 2
    python train.py --run wide --width 256 --decisions 20_000_000
    python train.py --best-response-to runs/first/agent.pt
    python train.py --resume runs/first
    torchrun --nproc_per_node 2 -- train.py --threads 1
    tensorboard --logdir runs

A preset (quick, standard, champion) gives every option its default. Every run has a folder,
``runs/<run>/``: config.json, metrics.csv, TensorBoard events, and agent.pt, the checkpoint
after the last finished update. ``--resume`` goes on from there, with the same result as a run
that was never stopped.
"""

import dataclasses
import signal
import sys
import time
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import tyro
from rich.console import Console

from black_maria_agents import CheckpointError, load_agent
from black_maria_agents.distributed import joined
from black_maria_agents.measuring import Result, gains, measure, play_deals, result_table
from black_maria_agents.training import PRESETS, TrainConfig, Training
from black_maria_agents.training import folder as run_folder


@dataclass(frozen=True)
class Start:
    """What a run starts from."""

    preset: Literal["quick", "standard", "champion"] = "quick"
    """Where the other options' defaults come from."""
    resume: Path | None = None
    """The folder of a run to go on with."""


def main(config: TrainConfig | None = None, resume: Path | None = None) -> list[Result]:
    """Train a new run, or go on with one, and measure the agent.

    Raises:
        ValueError: An impossible setting.
        CheckpointError: A checkpoint that can't be used.
    """
    config = config or PRESETS["quick"]
    with joined() as ranks, ExitStack() as stack:
        if resume:
            stack.enter_context(run_folder.alone(resume, ranks))
        run = Training.resume(resume / "agent.pt", ranks) if resume else Training(config, ranks)
        console = Console(quiet=not ranks.first)
        folder = resume or Path("runs") / run.config.run
        if ranks.first:
            if not resume:
                folder = run_folder.new_folder(folder)
                stack.enter_context(run_folder.alone(folder))
            settings = dataclasses.asdict(run.config) | {"precision": run.precision}
            run_folder.write_config(folder, settings)
            run.save(folder / "agent.pt")
        console.print(
            f"{folder}: {run.precision} on {run.config.device}, {run.config.threads} threads"
            + (f", {ranks.size} processes" if ranks.size > 1 else "")
        )
        try:
            train(run, folder, console)
        except KeyboardInterrupt:
            sys.exit(f"\nstopped; go on with --resume {folder}")
        except RuntimeError as error:
            if ranks.size == 1:
                raise
            sys.exit(
                f"process {ranks.rank} lost another one ({str(error).splitlines()[0]}); "
                f"go on with --resume {folder}"
            )
        return final_table(run, str(folder), console) if ranks.first else []


def train(run: Training, folder: Path, console: Console) -> None:
    """Update after update; the first process logs and saves each."""
    config, first = run.config, run.ranks.first
    rival = config.best_response_to or "duck"
    others = load_agent(rival, run.rules)
    start, made, score = time.perf_counter(), -run.decisions, float("nan")
    logged = closing(run_folder.Log(folder, run.decisions)) if first else nullcontext()
    with logged as log, run_folder.progress_bar(console) as bar:
        if log is not None and log.aside is not None:
            console.print(f"lines of metrics.csv can't be read: it is kept as {log.aside}")
        task = bar.add_task("training", total=config.decisions, completed=run.decisions, text="")
        while not run.done:
            run.step()
            if log is None:
                continue
            speed = (made + run.decisions) / (time.perf_counter() - start)
            figures = {f"losses/{name}": value for name, value in run.figures.items()}
            figures["charts/SPS"] = speed
            if (run.ppo.updates - 1) % config.score_every == 0 or run.done:
                deals = range(config.score_deals)
                scores = play_deals(run.agent, others, deals, seed=config.seed, rules=run.rules)
                figures["charts/penalty"] = score = scores.mean()
            log.write(run.decisions, figures)
            run.save(folder / "agent.pt")
            bar.update(task, completed=run.decisions, text=(
                f"{speed:,.0f} decisions/s, entropy {run.figures['entropy']:.2f}, "
                f"value {run.figures['value_loss']:.3f}, {rival} {score:.1f}"
            ))  # fmt: skip
    taken, made = time.perf_counter() - start, made + run.decisions
    shares = ", ".join(f"{what} {part / taken:.0%}" for what, part in run.seconds.items())
    console.print(f"{made:,} decisions in {taken:.0f} s: {made / taken:,.0f}/s ({shares})")


def final_table(run: Training, name: str, console: Console) -> list[Result]:
    """Measure the agent, against bots both ways, or alone against whom it responds to."""
    rules, target = run.rules, run.config.best_response_to
    rivals = (target,) if target else ("duck", "heuristic")
    agents = {name: run.agent} | {rival: load_agent(rival, rules) for rival in rivals}
    pairs = [pair for rival in rivals for pair in ((name, rival), (rival, name))]
    pairs = pairs[:1] if target else pairs
    results = measure(agents, pairs, run.config.final_deals, seed=0, rules=rules)
    console.print(result_table(results, rules))
    if target:
        console.print(gains(results, rules))
    return results


def command_line() -> None:
    """Read the options, and train."""
    begin, rest = tyro.cli(Start, return_unknown_args=True, add_help=False)
    if begin.resume and (rest or begin.preset != "quick"):
        raise ValueError(
            f"--resume goes on with the run's own settings; leave out {' '.join(rest)}"
        )
    main(tyro.cli(TrainConfig, args=rest, default=PRESETS[begin.preset], description=__doc__),
         begin.resume)  # fmt: skip


def stop(*_: Any) -> None:
    """End as with Ctrl-C when asked to terminate."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, stop)
    try:
        command_line()
    except (CheckpointError, ValueError) as error:
        sys.exit(f"train.py: {error}")
