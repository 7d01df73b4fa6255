"""What playing for the match can gain: chances whose answer is known, sums by hand, the script."""

import importlib.util
import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from black_maria import Rules
from black_maria_agents import load_agent
from black_maria_agents.measuring import match_play
from black_maria_agents.measuring.match_hands import gained
from black_maria_agents.measuring.match_play import decisions, gains, prospects, summaries
from black_maria_agents.seeds import TEST_SEEDS
from black_maria_agents.training.match import hand_outcomes, win_chances

ROOT = Path(__file__).parent.parent
OUTCOMES = np.array([[2, 0, 0], [0, 1, 1], [0, 2, 0], [0, 2, 0]])
SLOPE = 0.01


@pytest.fixture(scope="module")
def champion():
    return load_agent("champion")


@pytest.fixture(scope="module")
def hands(champion):
    """Two hands from nothing, and their decisions."""
    totals = np.zeros((2, 3), np.int64)
    return totals, decisions(champion, totals, range(2), seed=TEST_SEEDS)


def by_points(*seats):
    """Chances that fall by ``SLOPE`` a point, of these seats counted from the next dealer."""
    totals = np.stack(np.meshgrid(*[np.arange(100)] * 3, indexing="ij"), axis=-1)
    chances = np.zeros(totals.shape)
    chances[..., list(seats)] = 1 - SLOPE * totals[..., list(seats)]
    return chances


def measured(champion, hands, chances, worlds=4):
    totals, found = hands
    slopes = np.full(totals.shape, SLOPE)
    return found, gains(champion, found, totals, chances, slopes, worlds=worlds, lots=2)


def test_decisions__are_those_with_several_likely_cards(champion, hands):
    _, found = hands
    likely = np.isfinite(found.log_probs)
    assert (likely.sum(axis=1) > 1).all()
    assert (found.log_probs[likely] >= np.log(match_play.LIKELY)).all()
    assert (found.states["turn"] == found.seat).all()
    assert set(found.hand) == {0, 1}


def test_gains__are_nothing_where_few_points_are_all_that_counts(champion, hands):
    _, found = measured(champion, hands, by_points(0, 1, 2))
    assert (found.best[:, 1] == found.best[:, 2]).all()
    assert (found.best[:, 0] != found.best[:, 1]).any()
    assert found.chance == pytest.approx(SLOPE * found.points)
    assert found.points.any()


def test_gains__are_the_seats_own(champion, hands):
    """Seat 2 alone can win: the next dealer is seat 1, so it stands second from there."""
    found, gained = measured(champion, hands, by_points(1))
    mine = found.seat == 2
    assert gained.chance[mine] == pytest.approx(SLOPE * gained.points[mine])
    assert (gained.chance[~mine] == 0).all()
    assert (gained.best[~mine, 2] == gained.best[~mine, 0]).all()  # its opinion alone is left


def test_gains__show_when_others_points_are_what_counts(champion, hands):
    """Only what the player on its left takes counts: to keep few points misses it."""
    totals = np.stack(np.meshgrid(*[np.arange(100)] * 3, indexing="ij"), axis=-1)
    chances = SLOPE * np.roll(totals, -1, axis=-1)
    totals, found = hands
    late = found.only(np.flatnonzero(found.states["num_played"] >= 15))
    _, found = measured(champion, (totals, late), chances, worlds=24)
    for_match = found.chance[:, 1] - found.chance[:, 0]
    assert for_match.sum() > 0
    assert found.flattered.sum() > for_match.sum()
    assert found.points[:, 1].sum() < found.points[:, 0].sum()


def test_prospects__of_four_ways_a_hand_ends():
    found = prospects(np.array([[4, 1, 0], [0, 0, 0]]), OUTCOMES, win_chances(OUTCOMES, 5))
    assert found.last.tolist() == [0.25, 0]
    assert found.slopes[0, 0] > 0
    assert ((found.told >= 0) & (found.told <= 1 + 1e-9)).all()


def test_prospects__of_points_that_tell_all():
    found = prospects(np.array([[4, 1, 0]]), OUTCOMES, by_points(0, 1, 2))
    assert found.slopes == pytest.approx(np.full((1, 3), SLOPE))
    assert found.told == pytest.approx(np.ones((1, 3)))
    own = OUTCOMES * SLOPE
    assert found.moved == pytest.approx(own.var(axis=0)[None])


def test_summaries__add_a_matchs_hands_up():
    def row(period, points, chance):
        return {"period": period, "points": points, "chance": chance, "flattered": 0.5}

    rows = [
        row("early", [2, 1], [0.02, 0.03]), row("early", [0, 0], [0.0, 0.01]),
        row("late", [1, 1], [0.1, 0.2]), row("late", [1, 1], [0.1, 0.2]),
    ]  # fmt: skip
    found = summaries(rows, {"early": 4.0, "late": 0.5})
    assert found["early"].by_points.mean == pytest.approx(0.04)
    assert found["early"].for_match.mean == pytest.approx(0.04)
    assert found["early"].for_match.half_width == pytest.approx(0)
    assert found["late"].for_match.mean == pytest.approx(0.05)
    match = found["match"]
    assert match.for_match.mean == pytest.approx(0.09)
    assert match.by_points.half_width == pytest.approx(found["early"].by_points.half_width)
    assert match.points.mean == pytest.approx(4.5)
    assert (match.hands, match.measured) == (4.5, 4)


def test_script__goes_on_where_it_was_stopped(tmp_path, monkeypatch, capsys):
    spec = importlib.util.spec_from_file_location("match", ROOT / "scripts" / "match_play.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    outcomes = hand_outcomes(load_agent("duck"), Rules(), 60)
    monkeypatch.setattr(script, "hand_outcomes", lambda *_: outcomes)
    monkeypatch.setattr(script, "MATCHES", 50)
    monkeypatch.setattr(script, "gains", partial(gains, worlds=1, lots=1))
    whole, parts = tmp_path / "whole.json", tmp_path / "parts.json"
    script.main(script.Config(hands=7, out=whole, at_once=4))
    for hands in (1, 7):
        script.main(script.Config(hands=hands, out=parts, at_once=4))
    assert whole.read_text() == parts.read_text()
    content = json.loads(whole.read_text())
    assert [hand["period"] for hand in content["hands"]][:4] == ["early", "middle", "late", "early"]
    assert content["match"]["match"]["measured"] == 7
    assert "for the match" in capsys.readouterr().out
    script.main(script.Config(hands=9, alone="champion"))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-3:] for line in lines[1:4]] == [["0.00", "±", "0.00"]] * 3


def test_gained__is_nothing_for_one_of_the_others(champion):
    totals = np.array([[95, 60, 50], [0, 0, 0]])
    found = gained(champion, champion, Rules(), totals, by_points(0, 1, 2), seed=TEST_SEEDS)
    assert (found.chance == 0).all()
    assert (found.points == 0).all()


def test_gained__is_counted_for_the_agents_own_seat(champion):
    """Where a point costs as much everywhere, a weak agent loses its points in chances."""
    totals, duck = np.zeros((20, 3), np.int64), load_agent("duck")
    found = gained(duck, champion, Rules(), totals, by_points(0, 1, 2), seed=TEST_SEEDS)
    assert found.chance == pytest.approx(SLOPE * found.points)
    assert found.points.mean() < -3
