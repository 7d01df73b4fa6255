"""Edges under many rules: by hand, in tables and files; what isn't there is refused."""

import csv
import io
import json
import sys
from functools import partial
from itertools import islice

import numpy as np
import pytest
from rich.console import Console

from black_maria import Rules
from black_maria.rulesets import HELD_OUT
from black_maria_agents import load_agent
from black_maria_agents.measuring import Estimate, generalisation
from black_maria_agents.measuring.generalisation import (
    Generalisation,
    generalisation_tables,
    mean_edge,
    measure_rule_sets,
    rule_sets,
    summary,
)
from black_maria_agents.seeds import TEST_SEEDS


def entry(agent, rules, seats, mean, width=1.0):
    return Generalisation(agent, rules, seats, 5, Estimate(mean, width))


ENTRIES = [
    entry("a", "one", 3, 2.0), entry("a", "two", 3, -1.0), entry("a", "three", 5, 3.0),
    entry("b", "one", 3, 0.5), entry("b", "two", 3, 0.5), entry("b", "three", 5, 0.5),
]  # fmt: skip


def test_rule_sets__are_the_held_out_ones_or_the_profiles_of_one_pack():
    assert rule_sets("held-out") == {name: each.rules for name, each in HELD_OUT.items()}
    profiles = rule_sets("profiles")
    assert profiles["three_player"] == Rules()
    assert profiles["omnibus, 5 seats"] == Rules.profile("omnibus", 5)
    assert len(profiles) == 25
    assert {rules.packs for rules in profiles.values()} == {1}
    with pytest.raises(ValueError, match="rulesets='whist': there are held-out and profiles"):
        rule_sets("whist")


def test_edges__are_others_mean_less_own_of_43_points():
    rules = Rules(penalties=tuple(2 * points for points in Rules().penalties))
    assert generalisation._edges(np.array([[20.0]]), rules) == pytest.approx((33 - 20) / 2)
    moon = Rules(moon="subtract")  # there scores are that already
    assert generalisation._edges(np.array([[4.0]]), moon) == pytest.approx(4)


def test_measure__plays_the_test_seeds_deals(monkeypatch):
    played = []

    def noting(player, rival, deals, *, seed, rules):
        played.append((rival.name, deals, seed, rules))
        return np.zeros((len(deals), rules.seats))

    monkeypatch.setattr(generalisation, "play_deals", noting)
    measure_rule_sets({"duck": partial(load_agent, "duck")}, {"page": Rules()}, 4, seed=5)
    assert played == [("heuristic", range(4), TEST_SEEDS + 5, Rules())]


def test_measure__heuristic_among_its_likes_has_no_edge_and_random_a_bad_one():
    sets = {"three_player": Rules(), "four": Rules.profile("four_player")}
    said = []
    results = measure_rule_sets(
        {name: partial(load_agent, name) for name in ("heuristic", "random")},
        sets, 30, progress=lambda *words: said.append(words),
    )  # fmt: skip
    assert [(each.agent, each.rules, each.seats) for each in results] == [
        ("heuristic", "three_player", 3), ("heuristic", "four", 4),
        ("random", "three_player", 3), ("random", "four", 4),
    ]  # fmt: skip
    assert results[0].edge.mean == pytest.approx(0)  # all rotations of a deal add up to par
    assert results[1].edge.mean == pytest.approx(0)
    assert all(each.edge.mean + each.edge.half_width < 0 for each in results[2:])
    assert said[0] == (0, 4, "heuristic: three_player")


def test_summary__means_of_three_seats_of_more_and_of_all_with_the_worst():
    rows = summary(ENTRIES)
    assert [(agent, which) for agent, which, _, _ in rows] == [
        (agent, which) for agent in "ab" for which in ("three seats", "more seats", "all")
    ]
    assert [mean.mean for _, _, mean, _ in rows[:3]] == pytest.approx([0.5, 3.0, 4 / 3])
    assert [worst.mean for _, _, _, worst in rows[:3]] == [-1.0, 3.0, -1.0]
    assert mean_edge(ENTRIES[:2]).half_width == pytest.approx(2**0.5 / 2)


def test_tables__have_a_row_for_each_set_and_a_column_for_each_agent():
    console = Console(record=True, width=100, file=io.StringIO())
    for table in generalisation_tables(ENTRIES):
        console.print(table)
    text = console.export_text()
    assert "-1.00 ± 1.00" in text
    assert all(word in text for word in ("one", "two", "three", "more seats", "mean edge"))


def test_command__measures_prints_and_writes(tmp_path, capsys, monkeypatch):
    sets = {"no pass": HELD_OUT["no pass"].rules}
    monkeypatch.setattr(generalisation, "rule_sets", lambda which: sets)
    out, picture = tmp_path / "edges.json", tmp_path / "edges.png"
    results = generalisation.command(("duck",), "held-out", 4, out=out, picture=picture)
    assert "no pass" in capsys.readouterr().out
    kept = json.loads(out.read_text())
    assert kept["rulesets"] == "held-out"
    assert kept["results"][0]["edge"]["mean"] == results[0].edge.mean
    with out.with_suffix(".csv").open() as file:
        (row,) = csv.DictReader(file)
    assert float(row["edge"]) == results[0].edge.mean
    assert picture.read_bytes().startswith(b"\x89PNG")


def interrupted_after(number, monkeypatch):
    """Ctrl-C after so many sets of rules."""
    each = generalisation.measure_each

    def measure(*arguments, **options):
        yield from islice(each(*arguments, **options), number)
        raise KeyboardInterrupt

    sets = {name: HELD_OUT[name].rules for name in ("no pass", "short pack")}
    monkeypatch.setattr(generalisation, "rule_sets", lambda which: sets)
    monkeypatch.setattr(generalisation, "measure_each", measure)


def test_command__what_was_measured_before_an_interrupt_is_written_and_told(
    tmp_path, capsys, monkeypatch
):
    interrupted_after(1, monkeypatch)
    out = tmp_path / "edges.json"
    assert generalisation.command(("duck",), "held-out", 2, out=out) == []
    said = capsys.readouterr().out
    assert "interrupted; this is what has been measured" in said
    assert "no pass" in said
    assert "short pack" not in said
    kept = json.loads(out.read_text())
    assert kept["partial"]
    assert [each["rules"] for each in kept["results"]] == ["no pass"]


def test_command__an_interrupt_before_anything_was_measured_writes_nothing(
    tmp_path, capsys, monkeypatch
):
    interrupted_after(0, monkeypatch)
    assert generalisation.command(("duck",), "held-out", 2, out=tmp_path / "edges.json") == []
    assert capsys.readouterr().out.strip() == ""
    assert not list(tmp_path.iterdir())


def test_command__edges_are_written_before_they_are_printed(tmp_path, monkeypatch):
    monkeypatch.setattr(generalisation, "rule_sets", lambda which: {"three_player": Rules()})
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))  # no ±
    with pytest.raises(UnicodeEncodeError):
        generalisation.command(("duck",), "held-out", 2, out=tmp_path / "edges.json")
    assert json.loads((tmp_path / "edges.json").read_text())["results"]


def test_command__edges_are_printed_where_they_cannot_be_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(generalisation, "rule_sets", lambda which: {"three_player": Rules()})
    with pytest.raises(OSError, match="No such file"):
        generalisation.command(("duck",), "held-out", 2, out=tmp_path / "nowhere" / "edges.json")
    assert "three_player" in capsys.readouterr().out


def test_command__an_agent_that_cannot_play_by_all_is_refused_before_any_card():
    with pytest.raises(ValueError, match="no agent 'nobody'"):
        generalisation.command(("duck", "nobody"), "held-out", 10**6)
