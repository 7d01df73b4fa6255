"""Train an agent by self-play: PPO with an oracle critic.

    python train.py
    python train.py --preset standard --seed 2
    python train.py --run wide --width 256 --decisions 20_000_000
    python train.py --best-response-to runs/first/agent.pt
    python train.py --resume runs/first
    torchrun --nproc_per_node 2 -- train.py
    tensorboard --logdir runs

A preset (quick, standard, champion, gpu) gives every option its default. Every run has a folder,
``runs/<run>/``: config.json, metrics.csv, TensorBoard events, and agent.pt, the checkpoint
after the last finished update. ``--resume`` goes on from there, with the same result as a run
that was never stopped.
"""

import os
import signal

if __name__ == "__main__":  # as long as it starts, which takes seconds; then border() takes over

    def _stop(*_: object) -> None:
        os.write(2, b"train.py: stopped while it started\n")
        os._exit(130)

    for _number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(_number) is not signal.SIG_IGN:
            signal.signal(_number, _stop)

    from black_maria import extras

    extras.check("agents", by="train.py")

import time
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tyro

from black_maria_agents import load_agent
from black_maria_agents.border import border
from black_maria_agents.console import PlainConsole, progress_on
from black_maria_agents.distributed import joined
from black_maria_agents.measuring import Result
from black_maria_agents.training import PRESETS, DivergenceError, TrainConfig, Training
from black_maria_agents.training import folder as run_folder
from black_maria_agents.training.scored import final_table, score


@dataclass(frozen=True)
class Start:
    """What a run starts from."""

    preset: Literal["quick", "standard", "champion", "gpu"] | None = None
    """Where the other options' defaults come from, quick unless told."""
    resume: Path | None = None
    """The folder of a run to go on with."""


def main(config: TrainConfig | None = None, resume: Path | None = None) -> list[Result]:
    """Train a new run, or go on with one, and measure the agent.

    Raises:
        ValueError: An impossible setting, or both a configuration and a run to go on with.
        CheckpointError: A checkpoint that can't be used.
        DivergenceError: Something isn't finite any more; the last checkpoint stays.
        OSError: The run's folder can't be written.
    """
    if resume and config:
        raise ValueError("resume goes on with the run's own settings: give no config")
    config = config or PRESETS["quick"]
    if not resume:
        config.check_start()
    with joined() as ranks, ExitStack() as stack:
        if resume:
            stack.enter_context(run_folder.alone(resume, ranks))
        run = Training.resume(resume / "agent.pt", ranks) if resume else Training(config, ranks)
        console = PlainConsole(quiet=not ranks.first)
        folder = resume or Path("runs") / run.config.run
        if ranks.first and not resume:
            folder = run_folder.new_run(run, folder)
            stack.enter_context(run_folder.alone(folder))
        console.print(f"{folder}: {run.where}")
        try:
            train(run, folder, console)
            results = final_table(run, str(folder), console) if ranks.first else []
        except DivergenceError as error:
            error.add_note(f"{folder / 'agent.pt'} is the agent before it")
            raise
        except (KeyboardInterrupt, Exception) as error:
            error.add_note(f"go on with --resume {folder}")
            raise
        console.check()
        return results


def train(run: Training, folder: Path, console: PlainConsole) -> None:
    """Update after update; the first process logs and saves each."""
    config, first = run.config, run.ranks.first
    rival = config.best_response_to or "duck"
    others = load_agent(rival, run.rules)
    start, made, penalty = time.perf_counter(), -run.decisions, float("nan")
    logged = closing(run_folder.Log(folder, run.decisions)) if first else nullcontext()
    with logged as log, progress_on(console, "training", transient=False) as progress:
        if log is not None and log.aside is not None:
            console.print(f"lines of metrics.csv can't be read: it is kept as {log.aside}")
        while not run.done:
            run.step()
            if log is None:
                continue
            speed = (made + run.decisions) / (time.perf_counter() - start)
            figures = {f"losses/{name}": value for name, value in run.figures.items()}
            figures["charts/SPS"] = speed
            if (run.ppo.updates - 1) % config.score_every == 0 or run.done:
                figures["charts/penalty"] = penalty = score(run, others)
            log.write(run.decisions, figures)
            run.save(folder / "agent.pt")
            progress(run.decisions, config.decisions, (
                f"{speed:,.0f} decisions/s, entropy {run.figures['entropy']:.2f}, "
                f"value {run.figures['value_loss']:.3f}, {rival} {penalty:.1f}"
            ))  # fmt: skip
    taken, made = time.perf_counter() - start, made + run.decisions
    shares = ", ".join(f"{what} {part / taken:.0%}" for what, part in run.seconds.items())
    console.print(f"{made:,} decisions in {taken:.0f} s: {made / taken:,.0f}/s ({shares})")


def command_line() -> None:
    """Read the options, and train; ``--resume`` has its run's own and takes no others."""
    begin, rest = tyro.cli(Start, return_unknown_args=True, add_help=False)
    if begin.resume is None:
        preset = PRESETS[begin.preset or "quick"]
        main(tyro.cli(TrainConfig, args=rest, default=preset, description=__doc__))
        return
    if begin.preset is not None:
        rest = ["--preset", begin.preset, *rest]
    if rest:
        raise ValueError(
            f"--resume goes on with the run's own settings; leave out {' '.join(rest)}"
        )
    main(resume=begin.resume)


if __name__ == "__main__":
    with border("train.py"):
        command_line()
