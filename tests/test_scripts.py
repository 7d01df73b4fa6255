"""train.py and evaluate.py, run as a user runs them."""

import csv
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from black_maria_agents import load_agent

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


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_train__ctrl_c_leaves_a_usable_checkpoint(tmp_path):
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "train.py"), "--decisions", "10000000", *SMALL],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    metrics = tmp_path / "runs" / "first" / "metrics.csv"
    deadline = time.monotonic() + 120
    while not (metrics.exists() and metrics.read_text().count("\n") > 3):
        assert process.poll() is None, process.stdout.read()
        assert time.monotonic() < deadline
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "stopped" in output
    assert "Traceback" not in output
    load_agent(str(tmp_path / "runs" / "first" / "agent.pt"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rules", "whist"], "no profile 'whist'"),
        (["--tables", "0"], "must be at least 1"),
        (["--seed", str(2**63)], "training seeds are"),
        (["--precision", "float8"], "precision='float8'"),
    ],
)
def test_train__impossible_settings_are_refused_before_anything_is_written(
    tmp_path, arguments, message
):
    assert message in run("train.py", *arguments, cwd=tmp_path, code=1)
    assert not list(tmp_path.iterdir())


def test_train__misspelt_options_are_refused(tmp_path):
    assert "--decisons" in run("train.py", "--decisons", "5", cwd=tmp_path, code=2)


def test_evaluate__both_tables_intervals_seats_and_par(tmp_path):
    output = run("evaluate.py", "duck", "random", "--deals", "200", "--out", "r.json", cwd=tmp_path)
    assert "par is 14.33" in output
    content = json.loads((tmp_path / "r.json").read_text())
    first, second = content["results"]
    assert (first["agent"], first["others"]) == ("duck", "random")
    assert (second["agent"], second["others"]) == ("random", "duck")
    assert first["score"]["mean"] < 3.5 < 30 < second["score"]["mean"]
    assert 0 < first["score"]["half_width"] < 1
    assert len(first["by_seat"]) == 3
    assert content["par"] == pytest.approx(43 / 3)


def test_evaluate__a_path_is_an_agent(trained, tmp_path):
    folder, _ = trained
    path = str(folder / "runs" / "first" / "agent.pt")
    assert "duck" in run("evaluate.py", path, "duck", "--deals", "3", cwd=tmp_path)
    assert "duck" in run("evaluate.py", path, "duck", "--deals", "3", "--sampled", cwd=tmp_path)


def test_evaluate__matches_give_win_shares(tmp_path):
    output = run(
        "evaluate.py", "duck", "random", "--matches", "50", "--out", "r.json", cwd=tmp_path
    )
    assert "win share" in output
    assert "par is a win share of 0.333" in output
    first, second = json.loads((tmp_path / "r.json").read_text())["results"]
    assert first["score"]["mean"] > 0.9 > 0.1 > second["score"]["mean"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dukc", "random"], "no agent 'dukc'"),
        (["duck"], "two or more different agents"),
        (["duck", "duck"], "two or more different agents"),
        (["duck", "random", "--rules", "whist"], "no profile 'whist'"),
        (["duck", "random", "--deals", "0"], "at least one"),
        (["duck", "random", "--out", "nowhere/r.json"], "there is no folder nowhere"),
        (["duck", "missing.pt"], "there is no checkpoint missing.pt"),
    ],
)
def test_evaluate__refuses_in_words(tmp_path, arguments, message):
    output = run("evaluate.py", *arguments, cwd=tmp_path, code=1)
    assert message in " ".join(output.split())
    assert "Traceback" not in output


@pytest.mark.slow
def test_learning__a_short_training_beats_random_both_ways(tmp_path):
    arguments = ["--decisions", "300_000", "--final-deals", "400"]
    run("train.py", *arguments, cwd=tmp_path)
    path = "runs/first/agent.pt"
    run("evaluate.py", path, "random", "--deals", "400", "--out", "r.json", cwd=tmp_path)
    against_random, random_alone = json.loads((tmp_path / "r.json").read_text())["results"]
    assert against_random["score"]["mean"] < 7
    assert random_alone["score"]["mean"] > 21
