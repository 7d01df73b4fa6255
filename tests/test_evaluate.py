"""evaluate.py and what it prints and writes: tables, JSON, CSV, pictures, records, processes."""

import csv
import dataclasses
import io
import json
import os
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
    Arena,
    Estimate,
    Result,
    both_ways,
    measure,
    plot,
    report,
    result_table,
    source_table,
    standing,
)
from black_maria_agents.measuring.scores import Scores
from black_maria_agents.measuring.standing import mixed_table, standings
from black_maria_agents.training import TrainConfig, Training
from helpers import wait_until
from test_scripts import ROOT, run, script

evaluate, ladder = script(ROOT / "evaluate.py"), script(ROOT / "scripts" / "ladder.py")


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


def test_output__names_are_no_markup():
    names = "exp[lr=2]", "[/x]:x:"
    rules = Rules()
    agents = {name: make_bot("duck", rules) for name in names}
    results = measure(agents, both_ways(agents), 2, seed=0, rules=rules)
    for table in (result_table(results, rules), source_table(results, rules)):
        assert all(narrow(table).count(name) == 2 for name in names)


def test_output__plays_on_one_thread_and_gives_the_callers_setting_back():
    torch.set_num_threads(3)
    main("champion", "duck", deals=1)
    assert torch.get_num_threads() == 3


# --- files ------------------------------------------------------------------------------------


def test_files__are_there_before_anything_is_printed(tmp_path, monkeypatch):
    """What a pipe on Windows gives: no ♠."""
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="cp1252"))
    with pytest.raises(UnicodeEncodeError):
        main("duck", "random", deals=2, out=tmp_path / "r.json", plot=tmp_path / "p.png")
    assert {path.name for path in tmp_path.iterdir()} == {"r.json", "r.csv", "p.png"}


def test_files__one_that_cannot_be_written_keeps_no_other_from_it(tmp_path, monkeypatch, capsys):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(report, "write_files", full)
    with pytest.raises(OSError, match="No space left"):
        main("duck", "random", deals=2, out=tmp_path / "r.json", plot=tmp_path / "p.png")
    assert [path.name for path in tmp_path.iterdir()] == ["p.png"]
    assert "par is 14.33" in capsys.readouterr().out


def test_files__a_disk_that_fills_up_ends_play_and_what_was_played_is_shown(
    tmp_path, monkeypatch, capsys
):
    save, saved = Scores.save, []

    def fill(scores):
        if len(saved) == 2:
            raise OSError(28, "No space left on device")
        saved.append(save(scores))

    monkeypatch.setattr(Scores, "save", fill)
    with pytest.raises(OSError, match="No space left"):
        main("duck", "random", deals=5000, out=tmp_path / "r.json", keep=tmp_path / "k.npz")
    assert "PARTIAL" in capsys.readouterr().out
    results = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["results"]
    assert all(result["partial"] and result["games"] > 8 for result in results)


def test_files__appear_whole_or_stay_what_they_were(tmp_path, monkeypatch):
    main("duck", "random", deals=2, out=tmp_path / "r.json")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(evaluate.EvaluateConfig, "check", lambda _: None)
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        main("duck", "random", deals=3, out=tmp_path / "r.json")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.skipif(sys.platform == "win32", reason="makes links")
def test_files__a_link_leads_to_the_file(tmp_path):
    (tmp_path / "real.json").write_text("")
    (tmp_path / "r.json").symlink_to(tmp_path / "real.json")
    main("duck", "random", deals=2, out=tmp_path / "r.json")
    assert (tmp_path / "r.json").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text(encoding="utf-8"))["results"]


@pytest.mark.parametrize("name", ["$x^$", "a$b", "$", "[/x]", "x" * 300])
def test_files__a_pictures_labels_are_no_formulas(name, tmp_path):
    def result(agent, others, mean):
        return Result(agent, others, "penalty", 9, Estimate(mean, 0.1), ())

    plot(tmp_path / "p.png", [result(name, "b", 10), result("b", name, 18)], Rules())
    assert (tmp_path / "p.png").stat().st_size > 1000


def test_files__json_and_csv_hold_all_that_was_measured(tmp_path):
    results = main("duck", "random", "heuristic", deals=20, out=tmp_path / "r.json")
    content = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert content["config"]["deals"] == 20
    assert content["config"]["rules"] == "three_player"
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


def test_keep__without_a_hand_to_play_there_is_none_to_review(tmp_path, monkeypatch):
    keep = tmp_path / "k.npz"
    main("duck", "random", deals=2, keep=keep)
    monkeypatch.setattr(Arena, "play", lambda *_, **__: pytest.fail("it has begun to play"))
    for wanted in ({"explain": True}, {"review": tmp_path / "r.html"}):
        with pytest.raises(ValueError, match="no hand would be played now: of earlier games only"):
            main("duck", "random", deals=2, keep=keep, **wanted)
    with pytest.raises(ValueError, match="no hand would be played now"):
        main("duck", "random", "heuristic", deals=2, keep=keep, explain=True)
    with pytest.raises(pytest.fail.Exception, match="it has begun"):
        main("duck", "random", "heuristic", deals=2, keep=keep, review=tmp_path / "r.html")


def test_keep__a_second_call_plays_only_what_is_new(tmp_path):
    keep, hands = tmp_path / "k.npz", tmp_path / "h.jsonl"
    main("duck", "random", deals=10, keep=keep)
    more = main("duck", "random", deals=14, keep=keep, record=hands)
    assert more == main("duck", "random", deals=14)
    assert len(hands.read_text().splitlines()) == 2 * 4 * 3


# --- the ladder -------------------------------------------------------------------------------


def test_ladder__a_sorted_page_with_intervals_deals_and_picture(tmp_path, monkeypatch, capsys):
    players = {"random": 30, "pimc:worlds=2,sims=5": 4, "duck": 30}
    for name, value in {"PLAYERS": players, "PANEL": ("duck",), "DEALS": 30}.items():
        monkeypatch.setattr(ladder, name, value)
    config = ladder.LadderConfig(
        ("heuristic",), share=0.001, keep=tmp_path / "runs" / "k.npz", out=tmp_path / "ladder.md"
    )
    ladder.main(dataclasses.replace(config, share=1.0, agents=()))
    results = ladder.main(config)  # one more agent, fewer deals: what was kept counts
    page = config.out.read_text(encoding="utf-8")
    assert "python scripts/ladder.py heuristic --share 0.001`" in page
    standing, _, rest = page.partition("## Alone")
    tables, _, mixed = rest.partition("## Three")
    names = [f"`{each.name}`" for each in standings(results, ("duck",))]
    assert [line.split(" | ")[1] for line in standing.splitlines() if "±" in line] == names
    assert [line.split(" | ")[1] for line in tables.splitlines() if "±" in line] == names
    games = {(result.agent, result.others): result.games for result in results}
    assert games["random", "duck"] == 30
    assert games["pimc:worlds=2,sims=5", "duck"] == 4
    assert games["heuristic", "duck"] == 2
    assert ("pimc:worlds=2,sims=5", "random") not in games, "slow players meet the panel alone"
    for result in results:
        assert result.score.text() in page
    (mixed_row,) = (line for line in mixed.splitlines() if "±" in line)
    assert all(name in mixed_row for name in ("`random`", "`duck`", "`heuristic`"))
    assert (tmp_path / "ladder.png").exists()
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_ladder__every_pair_plays_at_least_100_deals():
    assert min(ladder.PLAYERS.values()) >= 100
    assert set(ladder.PANEL) <= set(ladder.PLAYERS)


def pair_tables(scores, width=0.1):
    """Tables both ways of pairs, as (name, other): points of the one, alone, and of the other."""
    return [
        Result(*names, "penalty", 9, Estimate(points, width), ())
        for (a, b), both in scores.items()
        for names, points in zip(((a, b), (b, a)), both, strict=True)
    ]


FIGURES = {
    ("good", "duck"): (8, 20), ("good", "rules"): (12, 16), ("bad", "duck"): (20, 10),
    ("bad", "rules"): (22, 8), ("duck", "rules"): (19, 9), ("good", "bad"): (3, 30),
}  # fmt: skip
PANEL = ("duck", "rules")


def test_standings__the_mean_over_the_panel_and_the_worst_case_over_all():
    found = {each.name: each for each in standings(pair_tables(FIGURES), PANEL)}
    assert list(found) == ["good", "rules", "duck", "bad"]
    assert [each.place for each in found.values()] == [1, 2, 3, 4]
    assert found["good"].edge == Estimate(4, pytest.approx(0.05))
    assert found["duck"].edge == Estimate(-2.5, pytest.approx(0.1 * 2**0.5 / 4))
    assert (found["bad"].against, found["bad"].worst.mean) == ("good", -13.5)


def test_standings__ten_copies_of_duck_move_nobody_else():
    figures = dict(FIGURES)
    for k in range(10):
        copies = [f"duck{j}" for j in range(k)]
        figures |= {
            (name, f"duck{k}"): both for (name, other), both in FIGURES.items() if other == "duck"
        }
        figures |= {(f"duck{k}", "rules"): FIGURES["duck", "rules"]}
        figures |= {(copy, f"duck{k}"): (14.33, 14.33) for copy in ["duck", *copies]}
    before = {each.name: each for each in standings(pair_tables(FIGURES), PANEL)}
    after = {each.name: each for each in standings(pair_tables(figures), PANEL)}
    assert len(after) == 14
    for name, each in before.items():
        assert dataclasses.replace(after[name], against="") == dataclasses.replace(each, against="")
    copied = {(after[f"duck{k}"].place, after[f"duck{k}"].edge.mean) for k in range(10)}
    assert copied == {(before["duck"].place, before["duck"].edge.mean)}


def test_standings__who_overlap_share_a_place():
    wide = standings(pair_tables(FIGURES, width=6.0), PANEL)
    assert [(each.name, each.place) for each in wide] == [
        ("good", 1), ("rules", 1), ("duck", 2), ("bad", 2),
    ]  # fmt: skip


def test_standings__who_overlaps_anybody_above_is_not_below_them(monkeypatch):
    """One whose interval is wide holds those together who stand between."""
    rated = {"good": Estimate(10, 9), "rules": Estimate(8, 0.5), "duck": Estimate(5, 1),
             "bad": Estimate(0, 0.5)}  # fmt: skip
    monkeypatch.setattr(standing, "panel_edge", lambda results, name, panel: rated[name])
    found = standings(pair_tables(FIGURES), PANEL)
    assert [(each.name, each.place) for each in found] == [
        ("good", 1), ("rules", 1), ("duck", 1), ("bad", 2),
    ]  # fmt: skip


def test_standings__refuse_who_has_not_met_the_panel():
    with pytest.raises(ValueError, match=r"good and cat, of the panel, haven't met both ways"):
        standings(pair_tables(FIGURES), ("duck", "cat"))


def test_mixed_table__adds_up_and_one_agent_in_all_seats_gets_par():
    rules, duck = Rules(), make_bot("duck")
    table = mixed_table(
        {"duck": duck, "random": make_bot("random"), "heuristic": make_bot("heuristic")},
        20, seed=1, rules=rules,
    )  # fmt: skip
    assert sum(each.mean for each in table.values()) == pytest.approx(43)
    assert sorted(table, key=lambda name: table[name].mean) == ["heuristic", "duck", "random"]
    same = mixed_table({"a": duck, "b": duck, "c": duck}, 5, seed=1, rules=rules)
    assert [each.mean for each in same.values()] == pytest.approx([rules.par] * 3)


@pytest.mark.parametrize("share", [0.0, -1.0, float("nan"), float("inf")])
def test_ladder__a_share_that_is_none_is_refused(share, tmp_path):
    with pytest.raises(ValueError, match="share="):
        ladder.main(ladder.LadderConfig(share=share, out=tmp_path / "x.md"))


def test_ladder__what_cannot_be_written_is_refused_before_it_plays(tmp_path):
    (tmp_path / "ladder.png").mkdir()
    with pytest.raises(ValueError, match=r"ladder.png can't be written: it is a folder"):
        ladder.main(ladder.LadderConfig(keep=tmp_path / "k.npz", out=tmp_path / "ladder.md"))


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
        (("duck", "random"), {"matches": 0}, "at least one"),
        (("duck", "random"), {"matches": -3}, "at least one"),
        (("duck", "random"), {"deals": 3, "matches": 3}, "give --deals or --matches, not both"),
        (("duck", "random"), {"until": 0.0}, "until=0.0: give a half-width above 0"),
        (("duck", "random"), {"until": float("nan")}, "until=nan: give a half-width above 0"),
        (("duck", "random"), {"until": float("inf")}, "until=inf: give a half-width above 0"),
        (("duck", 5000 * "a"), {}, "no agent 'aaa"),
        (("duck", ""), {}, "no agent ''"),
        (("duck", "."), {}, "'.' is a folder: give the checkpoint in it, agent.pt"),
        (("duck", "pimc:worlds=99999999999999999999"), {}, "a whole number from 1 to 1,000,000"),
        (("duck", "random"), {"out": Path(f"{300 * 'a'}.json")}, "(?i)name too long"),
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


def test_refused__an_output_whose_csv_cannot_be_written(tmp_path):
    (tmp_path / "r.csv").mkdir()
    with pytest.raises(ValueError, match=r"r.csv can't be written: it is a folder"):
        main("duck", "random", deals=2, out=tmp_path / "r.json")


def test_refused__on_the_command_line_without_a_traceback(tmp_path):
    output = run("evaluate.py", "dukc", "random", cwd=tmp_path, code=1)
    assert output.startswith("evaluate.py: no agent 'dukc'")
    assert "Traceback" not in output


def test_help__needs_no_pytorch_and_any_terminal(tmp_path):
    done = subprocess.run(
        [sys.executable, "-X", "importtime", str(ROOT / "evaluate.py"), "--help"], cwd=tmp_path,
        env=os.environ | {"PYTHONIOENCODING": "ascii"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "Stop a pair when its interval's half-width" in done.stdout
    modules = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "tyro" in modules
    assert not modules & {"torch", "numba", "scipy", "matplotlib", "black_maria"}


def test_imports__measuring_and_training_need_no_pictures_and_no_tensorboard():
    code = (
        "import sys, black_maria_agents.measuring, black_maria_agents.training.folder\n"
        "print(sorted({'matplotlib', 'scipy.special', 'tensorboard', 'torch.utils.tensorboard'} "
        "& set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    folder = tmp_path_factory.mktemp("train") / "runs" / "first"
    folder.mkdir(parents=True)
    training = Training(TrainConfig(tables=16, width=32, decisions=960))
    training.step()
    training.save(folder / "agent.pt")
    return folder / "agent.pt"


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
