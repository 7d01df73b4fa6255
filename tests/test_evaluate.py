"""evaluate.py and what it prints and writes: tables, JSON, CSV, pictures, records, processes."""

import csv
import dataclasses
import importlib.util
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import matplotlib.image
import pytest
import torch
from rich.console import Console

from black_maria import record
from black_maria.bots import make_bot
from black_maria.rules import PROFILES, Rules
from black_maria_agents.checkpoint import write
from black_maria_agents.measuring import (
    both_ways,
    edges,
    measure,
    plot,
    result_table,
    source_table,
)
from helpers import wait_until
from test_scripts import ROOT, SMALL, run


def script(path):
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    sys.modules[path.stem] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


evaluate, ladder = script(ROOT / "evaluate.py"), script(ROOT / "scripts" / "ladder.py")


@pytest.fixture(autouse=True)
def _threads_as_before():
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def main(*agents, **options):
    return evaluate.main(evaluate.EvaluateConfig(agents, **options))


def csv_rows(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def narrow(table):
    """A table as a terminal of 80 columns shows it."""
    console = Console(width=80)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


# --- output -----------------------------------------------------------------------------------


def test_output__both_tables_intervals_seats_sources_and_par(capsys):
    first, second = main("duck", "random", deals=50)
    output = capsys.readouterr().out
    assert (first.agent, first.others) == ("duck", "random")
    assert (second.agent, second.others) == ("random", "duck")
    assert first.score.mean < 5 < 25 < second.score.mean
    for words in ("50 deals × 3 rotations", "par is 14.33", first.score.text(), "in seat 0, 1, 2",
                  "hearts", "Q♠", "early", "test seed 0", "play their likeliest card"):  # fmt: skip
        assert words in output
    assert max(map(len, output.splitlines())) <= 80


def test_output__says_how_checkpoints_play(capsys):
    main("duck", "random", deals=2, sampled=True)
    assert "checkpoints draw from their policy" in capsys.readouterr().out


@pytest.mark.parametrize("name", PROFILES)
def test_output__tables_fit_80_columns_in_every_profile(name):
    for seats in PROFILES[name][0]:
        rules = Rules.profile(name, seats)
        agents = {
            "runs/a-run-with-a-long-name-7": make_bot("random", rules),
            "pimc:worlds=100,sims=1000": make_bot("duck", rules),
        }
        results = measure(agents, both_ways(agents), 4, seed=0, rules=rules)
        for table in (result_table(results, rules), source_table(results, rules)):
            text = narrow(table)
            assert max(map(len, text.splitlines())) <= 80
            assert "…" not in text


def test_output__matches_give_win_shares_and_hands(capsys, tmp_path):
    first, second = main("duck", "random", matches=10, out=tmp_path / "r.json")
    output = capsys.readouterr().out
    assert "par is a win share of 0.333; more is better" in output
    assert "10 matches" in output
    assert "hands" in output
    assert first.score.mean > 0.9 > 0.1 > second.score.mean
    rows = csv_rows(tmp_path / "r.csv")
    assert float(rows[0]["hands"]) == first.hands > 2


def test_until__stops_each_pair_and_says_where_it_looked(capsys):
    results = main("duck", "random", until=0.35)
    output = capsys.readouterr().out
    assert {result.games for result in results} <= {250, 500, 1000}
    assert all(result.score.half_width <= 0.35 for result in results)
    assert "looks after 250, 500, 1000, … games for ± 0.35" in output
    assert "never got there" not in output


def test_until__the_most_deals_may_come_first_and_it_says_so(capsys):
    results = main("duck", "random", until=0.001, deals=20)
    assert [result.games for result in results] == [20, 20]
    assert "; 2 of 2 tables never got there" in capsys.readouterr().out


# --- files ------------------------------------------------------------------------------------


def test_files__json_and_csv_hold_all_that_was_measured(tmp_path):
    results = main("duck", "random", "heuristic", deals=20, out=tmp_path / "r.json")
    content = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert content["config"]["deals"] == 20
    assert content["par"] == pytest.approx(43 / 3)
    rows = csv_rows(tmp_path / "r.csv")
    assert len(results) == len(content["results"]) == len(rows) == 6
    for result, entry, row in zip(results, content["results"], rows, strict=True):
        assert (entry["agent"], row["agent"]) == (result.agent, result.agent)
        assert entry["score"] == {
            "mean": result.score.mean, "half_width": result.score.half_width
        }  # fmt: skip
        assert float(row["mean"]) == result.score.mean
        assert float(row["seat_2"]) == entry["by_seat"][2]["mean"] == result.by_seat[2].mean
        assert sum(entry["sources"].values()) == pytest.approx(result.score.mean)
        assert sum(entry["periods"].values()) == pytest.approx(result.score.mean)
        assert float(row["Q♠"]) == result.sources["Q♠"]
        assert int(row["games"]) == entry["games"] == 20
        assert not entry["partial"]


def test_files__a_picture_with_cross_table_and_chart(tmp_path):
    main("duck", "random", "heuristic", deals=5, plot=tmp_path / "cross.png")
    picture = matplotlib.image.imread(tmp_path / "cross.png")
    assert picture.shape[0] > 400
    assert picture.shape[1] > 900


def test_files__an_unknown_width_is_null(tmp_path):
    main("duck", "random", deals=1, out=tmp_path / "r.json")
    text = (tmp_path / "r.json").read_text(encoding="utf-8")
    entry = json.loads(text, parse_constant=pytest.fail)["results"][0]
    assert entry["score"]["half_width"] is None


@pytest.mark.parametrize("whole_matches", [False, True])
def test_files__a_picture_of_one_game_and_of_one_pair(whole_matches, tmp_path):
    """Intervals are unknown, and a table is missing."""
    rules = Rules.profile("american_hearts")
    agents = {"random": make_bot("random", rules), "duck": make_bot("duck", rules)}
    pairs = [("duck", "random")]
    results = measure(agents, pairs, 1, seed=0, rules=rules, whole_matches=whole_matches)
    plot(tmp_path / "cross.png", results, rules)
    assert (tmp_path / "cross.png").stat().st_size > 1000
    assert "nan" in narrow(result_table(results, rules))


def test_record__all_hands_with_names_check_and_cost_what_was_measured(tmp_path):
    first, second = main("duck", "random", deals=6, record=tmp_path / "h.jsonl")
    hands, damages = record.read(tmp_path / "h.jsonl")
    assert not damages
    assert len(hands) == 2 * 6 * 3
    for result in (first, second):
        own = [hand.penalties[hand.agents.index(result.agent)] for hand in hands
               if hand.agents.count(result.agent) == 1]  # fmt: skip
        assert sum(own) / len(own) == pytest.approx(result.score.mean)
    for hand in hands:
        hand.replay()


def test_record__matches_too(tmp_path):
    first, second = main("duck", "random", matches=2, record=tmp_path / "h.jsonl")
    hands, damages = record.read(tmp_path / "h.jsonl")
    assert not damages
    assert len(hands) == pytest.approx(6 * (first.hands + second.hands))


def test_keep__a_second_call_plays_only_what_is_new(tmp_path):
    keep, hands = tmp_path / "k.npz", tmp_path / "h.jsonl"
    main("duck", "random", deals=10, keep=keep)
    more = main("duck", "random", deals=14, keep=keep, record=hands)
    assert more == main("duck", "random", deals=14)
    assert len(hands.read_text().splitlines()) == 2 * 4 * 3


# --- the ladder -------------------------------------------------------------------------------


def test_ladder__a_sorted_page_with_intervals_deals_and_picture(tmp_path, monkeypatch, capsys):
    players = {"random": 30, "pimc:worlds=2,sims=5": 4, "duck": 30}
    monkeypatch.setattr(ladder, "PLAYERS", players)
    config = ladder.LadderConfig(
        ("heuristic",), share=0.001, keep=tmp_path / "runs" / "k.npz", out=tmp_path / "ladder.md"
    )
    ladder.main(dataclasses.replace(config, share=1.0, agents=()))
    results = ladder.main(config)  # one more agent, fewer deals: what was kept counts
    page = config.out.read_text(encoding="utf-8")
    assert "python scripts/ladder.py heuristic --share 0.001`" in page
    rows = [line.split(" | ") for line in page.splitlines() if "±" in line]
    assert [row[1] for row in rows] == [f"`{name}`" for name in edges(results)]
    games = {(result.agent, result.others): result.games for result in results}
    assert games["random", "duck"] == 30
    assert games["pimc:worlds=2,sims=5", "duck"] == 4
    assert games["heuristic", "duck"] == 2
    for result in results:
        assert result.score.text() in page
    assert (tmp_path / "ladder.png").exists()
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


# --- refusals ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agents", "options", "message"),
    [
        (("dukc", "random"), {}, "no agent 'dukc'"),
        (("duck",), {}, "two or more different agents"),
        (("duck", "duck"), {}, "duck is given twice: give different agents"),
        (("duck", "random"), {"rules": "whist"}, "no profile 'whist'"),
        (("duck", "random"), {"seats": 5}, "is for 3 seats"),
        (("duck", "random"), {"deals": 0}, "at least one"),
        (("duck", "random"), {"until": 0.0}, "until"),
        (("duck", "random"), {"out": Path("r.txt")}, "ends in .json"),
        (("duck", "random"), {"plot": Path("r.jpg")}, "ends in .png"),
        (("duck", "random"), {"seed": -1}, "test seeds are 0"),
        (("duck", "random"), {"seed": 2**63}, "test seeds are 0"),
        (("duck", "random"), {"out": Path("nowhere/r.json")}, "there is no folder nowhere"),
        (("duck", "random"), {"plot": Path("nowhere/p.png")}, "there is no folder nowhere"),
        (("duck", "random"), {"record": Path("nowhere/h.jsonl")}, "there is no folder nowhere"),
        (("duck", "missing.pt"), {}, "there is no checkpoint missing.pt"),
    ],
)
def test_refused__in_words_before_anything_is_played(agents, options, message):
    with pytest.raises(ValueError, match=message):
        main(*agents, **options)


def test_refused__on_the_command_line_without_a_traceback(tmp_path):
    output = run("evaluate.py", "dukc", "random", cwd=tmp_path, code=1)
    assert output.startswith("evaluate.py: no agent 'dukc'")
    assert "Traceback" not in output


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    folder = tmp_path_factory.mktemp("train")
    run("train.py", "--decisions", "960", *SMALL, cwd=folder)
    return folder / "runs" / "first" / "agent.pt"


def test_checkpoint__plays_greedily_or_sampled(checkpoint):
    greedy, sampled = (
        main(str(checkpoint), "duck", deals=5, sampled=sampled) for sampled in (False, True)
    )
    assert greedy[0].agent == str(checkpoint.parent)
    assert greedy != sampled
    assert greedy == main(str(checkpoint), "duck", deals=5)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:1000]), "can't be read as a checkpoint"),
        (lambda path: path.write_bytes(b""), "can't be read as a checkpoint"),
        (lambda path: torch.save({"weights": 1}, path), "not a Black Maria checkpoint"),
        (
            lambda path: write(path, torch.load(path) | {"blocks": {"mood": (3,)}}),
            "reads the block 'mood', which the observation of 'three_player' hasn't",
        ),
    ],
    ids=["cut", "empty", "foreign", "other blocks"],
)
def test_checkpoint__that_cannot_be_used_is_refused_in_words(damage, message, checkpoint, tmp_path):
    path = shutil.copy(checkpoint, tmp_path / "agent.pt")
    damage(Path(path))
    with pytest.raises(ValueError, match=message):
        main(str(path), "duck", deals=2)


def test_checkpoint__of_other_rules_is_refused_in_words(checkpoint):
    with pytest.raises(ValueError, match=r"trained for 'three_player'.*'four_player'"):
        main(str(checkpoint), "duck", deals=2, rules="four_player")


# --- interrupts and processes -----------------------------------------------------------------


@pytest.mark.skipif(
    sys.platform == "win32" or signal.getsignal(signal.SIGINT) == signal.SIG_IGN,
    reason="sends SIGINT, which a process in the background may ignore",
)
def test_interrupt__prints_and_writes_what_there_is(tmp_path):
    keep = tmp_path / "k.npz"
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "evaluate.py"), "duck", "random", "--deals", "100_000_000",
         "--keep", str(keep), "--out", str(tmp_path / "r.json")],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    wait_until(keep.exists, process)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in output
    assert "PARTIAL" in output
    assert "Traceback" not in output
    results = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["results"]
    assert all(result["partial"] for result in results)
    assert f"{results[0]['games']}*" in output


@pytest.mark.parametrize("options", [{"until": 1.0, "deals": 253}, {"matches": 3}])
def test_torchrun__two_processes_give_the_numbers_of_one(options, checkpoint, tmp_path):
    flags = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    done = subprocess.run(
        [str(Path(sys.executable).with_name("torchrun")), "--standalone", "--nproc_per_node", "2",
         str(ROOT / "evaluate.py"), str(checkpoint), "duck", *flags,
         "--out", "two.json", "--record", "two.jsonl"],
        cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("rotations") == 1
    files = {"out": tmp_path / "one.json", "record": tmp_path / "one.jsonl"}
    main(str(checkpoint), "duck", **options, **files)
    one, two = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("one", "two"))
    assert one["results"] == two["results"]
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
