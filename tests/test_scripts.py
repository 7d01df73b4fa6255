"""train.py, run as a user runs it; evaluate.py has test_evaluate.py."""

import csv
import importlib.util
import json
import math
import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import tyro

from black_maria import Rules
from black_maria_agents import checkpoint, console, load_agent
from black_maria_agents.border import border
from black_maria_agents.measuring import play_deals
from black_maria_agents.seeds import TEST_SEEDS, VALIDATION_SEED
from black_maria_agents.training import (
    PRESETS,
    DivergenceError,
    PPOConfig,
    TrainConfig,
    Training,
    folder,
    scored,
)
from helpers import wait_until

ROOT = Path(__file__).parent.parent
SMALL = ["--tables", "16", "--width", "32", "--final-deals", "4"]
SMALL += ["--score-deals", "4", "--score-every", "2"]
TIMED = ("charts/SPS", "crc32")  # columns that hang on the clock
CONFIG = TrainConfig(
    decisions=4000, tables=16, width=32, final_deals=4, score_deals=4, score_every=2
)


def script(path):
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    sys.modules[path.stem] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


train = script(ROOT / "train.py")


@pytest.fixture
def ended(tmp_path, monkeypatch, capsys):
    """A function that runs train.py in this process, in an empty folder, to its untimely end.

    It gives the status and the words.
    """
    monkeypatch.chdir(tmp_path)

    def end(*arguments):
        monkeypatch.setattr(sys, "argv", ["train.py", *arguments])
        with pytest.raises(SystemExit) as found, border("train.py"):
            train.command_line()
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return found.value.code, said.out + said.err

    return end


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


def test_train__one_seed_one_result_and_a_taken_folder_is_kept(trained, monkeypatch):
    folder, _ = trained
    monkeypatch.chdir(folder)
    train.main(CONFIG)
    rows = [
        [
            {name: value for name, value in row.items() if name not in TIMED}
            for row in metrics(folder / "runs" / name)
        ]
        for name in ("first", "first-2")
    ]
    assert rows[0] == rows[1]


def test_curves__of_a_run_and_what_is_damaged_is_refused(trained, tmp_path):
    folder, _ = trained
    script = str(ROOT / "scripts" / "curves.py")
    broken = tmp_path / "runs" / "broken"
    shutil.copytree(folder / "runs" / "first", broken)
    text = (broken / "metrics.csv").read_text()
    (broken / "metrics.csv").write_text(text.replace("960,", "961,"))
    curves = runpy.run_path(script)["main"]
    curves(tmp_path / "curve.png", [[folder / "runs" / "first"]])
    points = list(csv.DictReader((tmp_path / "curve.csv").read_text().splitlines()))
    assert [int(row["decisions"]) for row in points] == [960, 2880, 4800]
    assert (tmp_path / "curve.png").stat().st_size > 10_000
    with pytest.raises(ValueError, match=r"broken/metrics.csv has lines that can't be believed"):
        curves(tmp_path / "curve.png", [[broken]])


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
    assert process.returncode == 130
    assert "train.py: stopped; go on with --resume runs/first" in output
    assert "Traceback" not in output
    load_agent(str(tmp_path / "runs" / "first" / "agent.pt"))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGKILL")
def test_train__killed_at_any_moment_it_goes_on_to_the_same_end(tmp_path):
    long = ["--decisions", "24000", "--snapshots", "2", "--opponent-share", "0.25"]
    run("train.py", "--run", "straight", *long, *SMALL, cwd=tmp_path)
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "train.py"), "--run", "killed", *long, *SMALL],
        cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    folder = tmp_path / "runs" / "killed"
    log = folder / "metrics.csv"
    wait_until(lambda: log.exists() and len(metrics(folder)) >= 5, process)
    process.kill()
    process.wait()
    reached = len(metrics(folder))
    assert "decisions in" in run("train.py", "--resume", "runs/killed", cwd=tmp_path)
    ends = [
        checkpoint.load(tmp_path / "runs" / name / "agent.pt") for name in ("straight", "killed")
    ]
    for name, weights in ends[0]["policy"].items():
        assert torch.equal(weights, ends[1]["policy"][name])
    columns = [name for name in metrics(folder)[0] if name not in TIMED]
    rows = [
        [[row[name] for name in columns] for row in metrics(tmp_path / "runs" / run_name)]
        for run_name in ("straight", "killed")
    ]
    assert rows[0] == rows[1]
    assert 5 <= reached < len(rows[0])


def test_train__resume_takes_no_other_options_and_needs_a_run(tmp_path, ended):
    code, words = ended("--resume", "runs/x", "--seed", "2")
    assert code == 1
    assert "leave out --seed 2" in words
    code, words = ended("--resume", "runs/x", "--preset", "quick")
    assert code == 1
    assert "leave out --preset quick" in words
    code, words = ended("--resume", "x")
    assert code == 1
    assert "there is no checkpoint" in words
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
        (["--minibatch", "0"], 2, "minibatch=0: must be at least 1"),
        (["--epochs", "0"], 2, "epochs=0: must be at least 1"),
        (["--clip", "-0.2"], 2, "clip=-0.2: must be above 0"),
        (["--gae-lambda", "5"], 2, "gae_lambda=5.0: must lie in 0 … 1"),
        (["--reward-scale", "0"], 2, "reward_scale=0.0: must be above 0"),
        (["--learning-rate", "nan"], 2, "learning_rate=nan: must be a finite number"),
        (["--threads", "1000000000"], 1, "threads=1000000000: there are"),
        (["--device", "tpu"], 1, "device='tpu': give cpu, cuda or cuda:1"),
        (["--device", "cuda:99"], 1, "device='cuda:99': PyTorch finds"),
        (["--run", "../outside"], 1, "run='../outside': must be a plain folder's name"),
        (["--run", "/tmp/outside"], 1, "run='/tmp/outside': must be a plain folder's name"),
        (["--run", "a/b"], 1, "run='a/b': must be a plain folder's name"),
        (["--run", "."], 1, "run='.': must be a plain folder's name"),
        (["--run", ""], 1, "run='': must be a plain folder's name"),
        (["--run", "a\0b"], 1, "must be a plain folder's name"),
        (["--run", 300 * "a"], 1, "must be a plain folder's name"),
    ],
)
def test_train__impossible_settings_are_refused_before_anything_is_written(
    tmp_path, arguments, code, message, ended
):
    ended_with, words = ended(*arguments)
    assert message in " ".join(words.replace("│", " ").split())
    assert ended_with == code
    assert not list(tmp_path.iterdir())


def test_train__misspelt_options_are_refused(ended):
    code, words = ended("--decisons", "5")
    assert code == 2
    assert "--decisons" in words


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGTERM and SIGINT")
@pytest.mark.parametrize("name", ["train.py", "evaluate.py", "scripts/ladder.py"])
@pytest.mark.parametrize(
    "number",  # those that a process in the background doesn't ignore
    [n for n in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(n) != signal.SIG_IGN],
)
def test_start__a_signal_while_it_imports_ends_it_in_a_line(name, number, tmp_path):
    arguments = [] if name == "train.py" else ["duck", "random"]
    with subprocess.Popen(
        [sys.executable, "-X", "importtime", str(ROOT / name), *arguments],
        cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        said = iter(process.stderr)
        while "torch" not in next(said):  # one of its hundreds of modules
            pass
        process.send_signal(number)
        rest = [line for line in said if not line.startswith("import time:")]
    assert process.returncode == 130
    assert rest == [f"{Path(name).name}: stopped while it started\n"]
    assert not list(tmp_path.iterdir())


# --- what a run leaves --------------------------------------------------------------------------


def test_run__without_git_it_has_no_commit(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    folder.write_config(tmp_path, {"seed": 1})
    assert json.loads((tmp_path / "config.json").read_text())["commit"] is None


def test_run__folders_that_appear_meanwhile_are_no_error(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(folder.new_folder, 24 * [tmp_path / "runs" / "first"]))
    assert {path.name for path in made} == {"first", *(f"first-{k}" for k in range(2, 25))}


@pytest.mark.parametrize("failing", ["write_config", "save"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_run__one_that_cannot_start_leaves_no_folder(failing, error, tmp_path, ended, monkeypatch):
    def fail(*_):
        raise error

    monkeypatch.setattr(
        *(folder, failing) if failing == "write_config" else (Training, failing), fail
    )
    code, words = ended("--decisions", "4000", *SMALL)
    assert code == (1 if isinstance(error, OSError) else 130)
    assert "No space left" in words or "stopped" in words
    assert not list((tmp_path / "runs").iterdir())


def test_run__a_full_disk_later_keeps_the_last_checkpoint(tmp_path, ended, monkeypatch):
    save, saved = Training.save, []

    def fill(run, path):
        if len(saved) == 3:
            raise OSError(28, "No space left on device", str(path))
        saved.append(run.decisions)
        save(run, path)

    monkeypatch.setattr(Training, "save", fill)
    code, words = ended("--decisions", "4000", *SMALL)
    assert code == 1
    agent = Path("runs/first/agent.pt")
    assert f"train.py: {agent}: No space left on device; go on with --resume runs/first" in words
    assert checkpoint.load(tmp_path / agent)["decisions"] == saved[-1] == 1920


def test_run__a_name_is_printed_as_it_is(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    name = "exp[lr=2][red]:heart:"
    train.main(replace(CONFIG, run=name, decisions=900))
    output = capsys.readouterr().out
    assert output.startswith(f"runs/{name}: ")
    assert output.count("exp[lr=2]") >= 3
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [name]


def test_run__off_a_terminal_lines_say_how_far_it_is(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(console, "LINE_SECONDS", 0.0)
    train.main(CONFIG)
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith("training: ")]
    assert len(said) == 5
    assert said[0].startswith("training: 24%, 0:00:")
    assert all("decisions/s, entropy" in line and ", duck " in line for line in said)


def test_run__its_curve_is_of_deals_that_nobody_trains_on_or_is_measured_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    play, seeds = scored.play_deals, []

    def noting(*arguments, seed, **options):
        seeds.append(seed)
        return play(*arguments, seed=seed, **options)

    monkeypatch.setattr(scored, "play_deals", noting)
    train.main(CONFIG)
    assert set(seeds) == {VALIDATION_SEED}
    with pytest.raises(ValueError, match="training seeds are"):
        TrainConfig(seed=VALIDATION_SEED)


def test_run__one_that_diverges_stops_in_words_and_keeps_the_last_good_checkpoint(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DivergenceError, match="try a lower learning rate than 1e") as found:
        train.main(replace(CONFIG, decisions=100_000, ppo=PPOConfig(learning_rate=1e6)))
    assert re.match(r"update \d+ of the run: ", str(found.value))
    path = Path("runs/first/agent.pt")
    assert found.value.__notes__ == [f"{path} is the agent before it"]
    content = checkpoint.load(path)
    for network in ("policy", "critic"):
        assert all(weights.isfinite().all() for weights in content[network].values())
    load_agent(str(path))
    for row in metrics(path.parent):
        assert all(math.isfinite(float(figure)) for figure in row.values() if figure)


def test_champions_script__has_options_that_train_py_takes_and_makes_agents_before_it_needs_them(
    tmp_path,
):
    start = train.Start
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
            config = tyro.cli(TrainConfig, args=rest, default=PRESETS[begin.preset or "quick"])
            needed = {word for word in options.split() if word.endswith(".pt")}
            assert needed <= made, config.run
            made.add(f"runs/{config.run}/agent.pt")
    assert {"runs/student-5/agent.pt", "runs/american-3/agent.pt"} <= made


@pytest.mark.slow
def test_learning__a_short_training_beats_random_both_ways(tmp_path):
    arguments = ["--decisions", "150_000", "--final-deals", "40", "--threads", "1"]
    run("train.py", *arguments, cwd=tmp_path)
    agent, bot = load_agent(str(tmp_path / "runs" / "first" / "agent.pt")), load_agent("random")
    deals = {"deals": range(400), "seed": TEST_SEEDS, "rules": Rules()}
    assert play_deals(agent, bot, **deals).mean() < 7
    assert play_deals(bot, agent, **deals).mean() > 21
