"""Optuna looks for settings of our trainer: a trial is a small run of `train.py`.

    pip install "black-maria[agents]" -r examples/requirements/optuna.txt
    python examples/optuna_search.py

Every trial leaves a run's folder `runs/optuna-…`, with its metrics, and is judged by the arena,
alone against two `duck` on the same deals; the best one then plays against two random players.
Give `create_study` a `storage`, such as "sqlite:///runs/optuna.db", and several of these search
side by side. A search worth its name takes longer trials than these: 5 million decisions.
"""

import sys
import time
from dataclasses import replace
from pathlib import Path

import optuna

sys.path.insert(0, str(Path(__file__).parent.parent))  # where train.py is

import train

from black_maria import Rules, make_bot
from black_maria_agents import load_agent
from black_maria_agents.measuring import Estimate, play_deals
from black_maria_agents.training import PRESETS, PPOConfig

TRIALS, DECISIONS = 4, 80_000


def objective(trial: optuna.Trial) -> float:
    """Train with what Optuna suggests; points a hand alone against two `duck`."""
    ppo = PPOConfig(
        learning_rate=trial.suggest_float("learning_rate", 3e-4, 5e-3, log=True),
        epochs=trial.suggest_int("epochs", 1, 4),
        entropy_start=trial.suggest_float("entropy_start", 1e-3, 3e-2, log=True),
        minibatch=trial.suggest_categorical("minibatch", [512, 1024, 2048]),
    )
    config = replace(
        PRESETS["quick"],
        run=f"optuna-{trial.number}",
        decisions=DECISIONS,
        tables=trial.suggest_categorical("tables", [64, 128]),
        width=64,
        score_deals=50,
        final_deals=100,
        ppo=ppo,
    )
    against_duck, *_ = train.main(config)
    trial.set_user_attr("agent", f"{against_duck.agent}/agent.pt")
    return against_duck.score.mean


def main() -> float:
    """Search, then measure the best alone against two random players; the points a hand."""
    start = time.process_time()
    sampler = optuna.samplers.TPESampler(seed=1)
    study = optuna.create_study(direction="minimize", sampler=sampler)
    study.optimize(objective, n_trials=TRIALS)
    seconds = time.process_time() - start
    print(f"learnt from {TRIALS * DECISIONS:,} decisions in {seconds:.1f} s")
    best = study.best_trial
    print(f"{best.user_attrs['agent']}: {best.value:.1f} against two duck, {best.params}")
    agent, rules = load_agent(best.user_attrs["agent"]), Rules.profile("three_player")
    points = play_deals(agent, make_bot("random"), range(500), seed=1, rules=rules)
    score = Estimate.of(points.mean(axis=1))
    print(f"alone against two random: {score.text()} points a hand, par {rules.par:.2f}")
    return score.mean


if __name__ == "__main__":
    assert main() < 10, "clearly better than random"
