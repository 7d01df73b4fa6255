"""train.py, run as a user runs it; evaluate.py has test_evaluate.py."""

import csv
import importlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import tyro

from black_maria_agents import checkpoint, load_agent
from black_maria_agents.training import PRESETS, TrainConfig
from helpers import wait_until

ROOT = Path(__file__).parent.parent
SMALL = ["--tables", "16", "--width", "32", "--threads", "1", "--final-deals", "4"]
SMALL += ["--score-deals", "4", "--score-every", "2"]


def run(script, *arguments, cwd, code=0):
    done = subprocess.run(
        [sys.executable, str(ROOT / script), *arguments],
        cwd=cwd, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def metrics(run_folder):
    return list(csv.DictReader((run_folder / "metrics.csv").read_text().splitlines()))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("train")
    output = run("train.py", "--decisions", "4000", *SMALL, cwd=folder)
    return folder, output


def test_train__prints_the_table_of_the_agent_against_both_bots(trained):
    _, output = trained
    assert "duck" in output
    assert "heuristic" in output
    assert "par is 14.33" in output
    assert "float32" in output or "bfloat16" in output
    assert "decisions in" in output


def test_train__leaves_config_metrics_events_and_checkpoint(trained):
    folder, _ = trained
    run_folder = folder / "runs" / "first"
    names = {path.name.partition(".")[0] for path in run_folder.iterdir()}
    assert names == {"config", "metrics", "events", "agent"}
    config = json.loads((run_folder / "config.json").read_text())
    assert config["decisions"] == 4000
    assert "torch" in config["versions"]
    rows = metrics(run_folder)
    assert [int(row["decisions"]) for row in rows] == [960, 1920, 2880, 3840, 4800]
    assert float(rows[-1]["losses/entropy"]) > 0
    load_agent(str(run_folder / "agent.pt"))


def test_train__one_seed_one_result_and_a_taken_folder_is_kept(trained):
    folder, _ = trained
    run("train.py", "--decisions", "4000", *SMALL, cwd=folder)
    rows = [
        [
            {name: value for name, value in row.items() if "SPS" not in name}
            for row in metrics(folder / "runs" / name)
        ]
        for name in ("first", "first-2")
    ]
    assert rows[0] == rows[1]


@pytest.mark.skipif(
    sys.platform == "win32" or signal.getsignal(signal.SIGINT) == signal.SIG_IGN,
    reason="sends SIGINT, which a process in the background may ignore",
)
def test_train__ctrl_c_leaves_a_usable_checkpoint(tmp_path):
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "train.py"), "--decisions", "10000000", *SMALL],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    metrics = tmp_path / "runs" / "first" / "metrics.csv"
    wait_until(lambda: metrics.exists() and metrics.read_text().count("\n") > 3, process)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "stopped" in output
    assert "Traceback" not in output
    load_agent(str(tmp_path / "runs" / "first" / "agent.pt"))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGKILL")
def test_train__killed_at_any_moment_it_goes_on_to_the_same_end(tmp_path):
    long = ["--decisions", "60000", "--snapshots", "2", "--opponent-share", "0.25"]
    run("train.py", "--run", "straight", *long, *SMALL, cwd=tmp_path)
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "train.py"), "--run", "killed", *long, *SMALL],
        cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    folder = tmp_path / "runs" / "killed"
    log = folder / "metrics.csv"
    wait_until(lambda: log.exists() and len(metrics(folder)) >= 10, process)
    process.kill()
    process.wait()
    reached = len(metrics(folder))
    assert "100 %" in run("train.py", "--resume", "runs/killed", cwd=tmp_path)
    ends = [
        checkpoint.load(tmp_path / "runs" / name / "agent.pt") for name in ("straight", "killed")
    ]
    for name, weights in ends[0]["policy"].items():
        assert torch.equal(weights, ends[1]["policy"][name])
    columns = [name for name in metrics(folder)[0] if "SPS" not in name]
    rows = [
        [[row[name] for name in columns] for row in metrics(tmp_path / "runs" / run_name)]
        for run_name in ("straight", "killed")
    ]
    assert rows[0] == rows[1]
    assert 10 <= reached < len(rows[0])


def test_train__resume_takes_no_other_options_and_needs_a_run(tmp_path):
    assert "leave out --seed 2" in run(
        "train.py", "--resume", "runs/x", "--seed", "2", cwd=tmp_path, code=1
    )
    assert "there is no checkpoint" in run("train.py", "--resume", "x", cwd=tmp_path, code=1)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--rules", "whist"], 1, "no profile 'whist'"),
        (["--tables", "0"], 2, "tables=0: must be at least 1"),
        (["--width", "30"], 2, "width=30: must be a multiple of 4"),
        (["--seed", str(2**63)], 2, "training seeds are"),
        (["--best-response-to", "none.pt"], 1, "there is no checkpoint none.pt"),
        (["--init-from", "champion"], 1, "width=128: must be 192, the width of init_from=champion"),
        (["--teachers", "duck"], 1, "teachers: duck isn't a network"),
        (["--precision", "float8"], 1, "precision='float8'"),
    ],
)
def test_train__impossible_settings_are_refused_before_anything_is_written(
    tmp_path, arguments, code, message
):
    assert message in run("train.py", *arguments, cwd=tmp_path, code=code)
    assert not list(tmp_path.iterdir())


def test_train__misspelt_options_are_refused(tmp_path):
    assert "--decisons" in run("train.py", "--decisons", "5", cwd=tmp_path, code=2)


def test_champions_script__has_options_that_train_py_takes_and_makes_agents_before_it_needs_them(
    tmp_path, monkeypatch
):
    monkeypatch.syspath_prepend(ROOT)
    start = importlib.import_module("train").Start
    for name in ("python", "torchrun"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n')
        (tmp_path / name).chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    script = ["sh", str(ROOT / "scripts" / "champions.sh")]
    subprocess.run(script, env={"PATH": path}, stdin=subprocess.DEVNULL, check=True)
    made = set()
    for call in (tmp_path / "calls").read_text().splitlines():
        _, is_training, options = call.partition("train.py ")
        if is_training:
            begin, rest = tyro.cli(
                start, args=options.split(), return_unknown_args=True, add_help=False
            )
            config = tyro.cli(TrainConfig, args=rest, default=PRESETS[begin.preset])
            needed = {word for word in options.split() if word.endswith(".pt")}
            assert needed <= made, config.run
            made.add(f"runs/{config.run}/agent.pt")
    assert {"runs/student-5/agent.pt", "runs/american-3/agent.pt"} <= made


@pytest.mark.slow
def test_learning__a_short_training_beats_random_both_ways(tmp_path):
    arguments = ["--decisions", "300_000", "--final-deals", "40", "--threads", "1"]
    run("train.py", *arguments, cwd=tmp_path)
    path = "runs/first/agent.pt"
    run("evaluate.py", path, "random", "--deals", "400", "--out", "r.json", cwd=tmp_path)
    against_random, random_alone = json.loads((tmp_path / "r.json").read_text())["results"]
    assert against_random["score"]["mean"] < 7
    assert random_alone["score"]["mean"] > 21
