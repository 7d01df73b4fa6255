"""Several processes train as one: gradients, rollouts, one writer, and a process that dies."""

import csv
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import distributed, multiprocessing

from black_maria import Rules, layout_of
from black_maria_agents import checkpoint
from black_maria_agents.distributed import Ranks
from black_maria_agents.network import OracleCritic, Policy
from black_maria_agents.training import PPO, PPOConfig, SelfPlay, TrainConfig, Training
from helpers import wait_until

ROOT = Path(__file__).parent.parent
RULES = Rules.profile("three_player")
SMALL = ["--tables", "16", "--width", "16", "--threads", "1", "--final-deals", "4"]
SMALL += ["--score-deals", "4"]
pytestmark = pytest.mark.skipif(not distributed.is_gloo_available(), reason="needs gloo")


def first_step(ranks: Ranks) -> dict[str, torch.Tensor]:
    """Losses and gradients of the first step, on this process's part of one minibatch."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    ppo = PPO(
        Policy(layout_of(RULES), 32), OracleCritic(layout_of(RULES), 32), PPOConfig(), ranks=ranks
    )
    batch = PPO(ppo.policy, ppo.critic, PPOConfig()).batch(
        SelfPlay(RULES, tables=16, hands=1, seed=3).collect(ppo.policy)
    )
    half = batch.rows(torch.arange(600))
    rows = half.rows(torch.arange(600).tensor_split(ranks.size)[ranks.rank])
    figures = torch.stack(list(ppo.step(rows, 0.5).values()))
    gradients = torch.cat([p.grad.view(-1) for p in ppo.optimizer.param_groups[0]["params"]])
    return {
        "figures": ranks.sum(figures) / ranks.size,
        "gradients": gradients,
        "weights": torch.cat([p.detach().view(-1) for p in ppo.policy.parameters()]),
    }


def normalised(ranks: Ranks) -> torch.Tensor:
    """Advantages of unequal parts, normalised over all."""
    values = torch.arange(100.0).square()[ranks.rank * 30 : 30 + ranks.rank * 100]
    ppo = PPO(Policy(layout_of(RULES), 8), OracleCritic(layout_of(RULES), 8), PPOConfig(),
              ranks=ranks)  # fmt: skip
    return ppo._normalised(values)


def work(rank: int, folder: Path) -> None:
    distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2
    )
    ranks = Ranks(rank, 2)
    results = {"step": first_step(ranks), "normalised": normalised(ranks)}
    distributed.destroy_process_group()
    names = [task.read_text().strip() for task in Path("/proc/self/task").glob("*/comm")]
    results["threads"] = [name for name in names if "gloo" in name]
    torch.save(results, folder / f"rank{rank}.pt")


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranks")
    multiprocessing.spawn(work, (folder,), nprocs=2)
    return [torch.load(folder / f"rank{rank}.pt", weights_only=True) for rank in range(2)]


def test_step__halves_of_a_minibatch_give_its_losses_and_gradients(two):
    whole = first_step(Ranks())
    for rank in two:
        close = torch.isclose(rank["step"]["figures"], whole["figures"], atol=1e-5)
        assert close[:-1].all(), "the last figure is a maximum"
        assert torch.allclose(rank["step"]["gradients"], whole["gradients"], atol=1e-5)
    assert whole["gradients"].abs().max() > 1e-2
    assert torch.equal(two[0]["step"]["weights"], two[1]["step"]["weights"])


def test_advantages__are_normalised_over_all_processes(two):
    values = torch.arange(100.0).square()
    expected = (values - values.mean()) / values.std(correction=0)
    assert torch.allclose(torch.cat([rank["normalised"] for rank in two]), expected, atol=1e-4)


@pytest.mark.skipif(sys.platform != "linux", reason="looks for the threads in /proc")
def test_joined__leaving_ends_the_threads(two):
    assert [rank["threads"] for rank in two] == [[], []], "they may abort the ending process"


def test_training__processes_share_the_tables_of_one():
    config = TrainConfig(tables=12, width=16, threads=1, precision="float32")
    whole = Training(config).games
    parts = [Training(config, Ranks(rank, 2)).games for rank in range(2)]
    states = [games.tables.states() for games in (whole, *parts)]
    assert np.array_equal(np.concatenate(states[1:]), states[0])
    with pytest.raises(ValueError, match="tables=13 can't be shared evenly by 2"):
        Training(replace(config, tables=13), Ranks(0, 2))


def torchrun(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2",
         "--", str(ROOT / "train.py"), *SMALL, *arguments],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


@pytest.mark.slow
def test_torchrun__two_processes_make_one_run(tmp_path):
    process = torchrun(tmp_path, "--run", "pair", "--decisions", "3000")
    output, _ = process.communicate(timeout=200)
    assert process.returncode == 0, output
    assert output.count("par is 14.33") == 1
    assert "2 processes" in output
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["pair"]
    with (tmp_path / "runs" / "pair" / "metrics.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["decisions"]) for row in rows] == [960, 1920, 2880, 3840]
    assert checkpoint.load(tmp_path / "runs" / "pair" / "agent.pt")["decisions"] == 3840


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for the processes in /proc")
def test_torchrun__a_dead_process_ends_the_run_in_words_and_the_checkpoint_is_whole(tmp_path):
    process = torchrun(tmp_path, "--decisions", "100000000")
    metrics = tmp_path / "runs" / "first" / "metrics.csv"
    wait_until(lambda: metrics.exists() and metrics.read_text().count("\n") > 3, process)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    ranks = {}
    for child in map(int, children):
        variables = Path(f"/proc/{child}/environ").read_text().split("\0")
        ranks.update({v: child for v in variables if v.startswith("RANK=")})
    os.kill(ranks["RANK=1"], signal.SIGKILL)
    output, _ = process.communicate(timeout=100)
    assert process.returncode != 0
    assert "go on with --resume runs/first" in output
    assert checkpoint.load(tmp_path / "runs" / "first" / "agent.pt")["decisions"] > 0
