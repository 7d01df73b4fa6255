"""Who holds the unseen cards: the log loss of weighted worlds."""

import importlib
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from black_maria import Rules, layout_of, make_bot
from black_maria_agents import dataset, load_agent
from black_maria_agents.guesser import Guesser, fit, guess_for
from black_maria_agents.measuring.beliefs import (
    CAUTION,
    Calibration,
    belief_losses,
    log_loss,
    of_worlds,
    positions,
)
from helpers import ids


def held(*seats):
    """Cards of the seats as counts, (3, 52)."""
    counts = np.zeros((3, 52), np.int8)
    for seat, cards in enumerate(seats):
        counts[seat, ids(cards)] = 1
    return counts


def test_log_loss__is_that_of_the_weighted_share_of_worlds():
    """The ace lies left in three quarters of the worlds by weight; the two is known."""
    worlds = np.stack([held("3C", "QS AS 2D", ""), held("3C", "QS 2D", "AS")])[None]
    truth = held("3C", "QS AS 2D", "")[None]
    left = (1 - CAUTION) * 0.75 + CAUTION / 2
    assert np.allclose(log_loss(worlds, np.array([[0.75, 0.25]]), truth), -np.log(left))


def test_log_loss__without_an_open_card_is_nothing():
    worlds = held("3C", "QS", "2D")[None, None]
    assert log_loss(worlds, np.ones((1, 1)), worlds[0]) == 0


def test_belief_losses__tempered_likelihood_tells_more_than_even_odds_and_a_guess_tells_more():
    guess = guess_for(Rules())
    losses = belief_losses(load_agent("champion"), 40, seed=2, worlds=64, effective=6, guess=guess)
    mean = {name: loss.mean() for name, loss in losses.items()}
    assert mean["guided"] < mean["tempered"] - 0.03
    assert mean["tempered"] < mean["uniform"] - 0.03
    assert mean["tempered"] < mean["likelihood"]
    assert 0.5 < mean["uniform"] < np.log(2)


def test_calibration__says_how_often_what_was_said_came_true():
    """Of four cards said to lie left with 0.75, three do."""
    belief = np.full((1, 2, 52), 0.5)
    cards = ids("2D 3D 4D 5D")
    belief[0, 0, cards], belief[0, 1, cards] = 0.75, 0.25
    counts = held("", "2D 3D 4D", "5D")[None, 1:]
    found = Calibration.of(belief, counts)
    assert found.count.tolist() == [0, 0, 4, 0, 0, 0, 0, 4, 0, 0]  # 0.2 … 0.3 and 0.7 … 0.8
    assert (found.came[7], found.came[2]) == (0.75, 0.25)
    assert found.error == 0
    belief[0, 0, cards], belief[0, 1, cards] = 0.95, 0.05
    assert np.isclose(Calibration.of(belief, counts).error, 0.2)


def test_positions__lie_where_they_were_asked_for_and_tell_the_truth():
    stop = np.array([0, 1, 7, 50])
    at = positions(load_agent("champion"), stop, seed=2)
    assert at.truth.sum(axis=(1, 2)).tolist() == [51, 50, 44, 1]
    blocks = layout_of().split(at.observation)
    assert np.array_equal(blocks["holding"], at.truth[:, 0])
    assert blocks["phase"].tolist() == [[0, 1]] * 4
    assert blocks["played"].sum(axis=(1, 2)).tolist() == stop.tolist()
    assert [len(part) for part in at.parts(3)] == [3, 1]


def test_of_worlds__scores_what_others_hold_that_either_may_hold():
    at = positions(load_agent("champion"), np.array([0, 20]), seed=2)
    beliefs, asked = of_worlds(load_agent("champion"), at, worlds=16)
    assert (asked <= at.truth[:, 1:]).all()
    assert asked[0].sum() == 34 - 3  # it knows who has the three that it passed
    for belief in beliefs.values():
        of_asked = belief.sum(axis=1)[asked.sum(axis=1) > 0]
        assert np.allclose(of_asked, 1)


def test_guesser__learns_from_a_data_set_who_holds_what(tmp_path):
    pytest.importorskip("pyarrow")
    dataset.make(tmp_path / "data", {"duck": make_bot("duck")}, 40, rules=Rules(), seed=1)
    data = dataset.load(tmp_path / "data", shuffle=1, batch=32)
    guesser, losses = fit(data, epochs=4, width=16)
    assert losses[-1] < np.log(2) - 0.02
    log_probs = guesser(next(iter(data))["observation"])
    assert log_probs.shape == (32, 2, 52)
    assert torch.allclose(log_probs.exp().sum(1), torch.ones(32, 52))


def test_script__has_a_row_for_every_trick_and_every_class_of_probabilities(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parent.parent / "scripts")
    script = importlib.import_module("beliefs")
    about = {"hands": 5, "times": "once"}
    text = script.page(load_agent("champion"), Guesser(layout_of(), 16), 2, about=about)
    assert re.findall(r"^\| (\d+) \|", text, re.MULTILINE) == [str(k) for k in range(1, 18)]
    (learnt,) = re.findall(r"^\| \*\*all\*\* .* ([\d.]+) ± [\d.]+ \|$", text, re.MULTILINE)
    assert 0.6 < float(learnt) < 0.8  # it has learnt nothing
    assert len(re.findall(r"^\| 0.\d to ", text, re.MULTILINE)) == 5
    assert "34 positions" in text.replace("\n", " ")
