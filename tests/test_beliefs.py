"""Who holds the unseen cards: the log loss of weighted worlds."""

import numpy as np

from black_maria_agents import load_agent
from black_maria_agents.measuring.beliefs import CAUTION, belief_losses, log_loss
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


def test_belief_losses__tempered_likelihood_tells_more_than_even_odds_and_than_likelihood():
    losses = belief_losses(load_agent("champion"), 40, seed=2, worlds=64, effective=6)
    mean = {name: loss.mean() for name, loss in losses.items()}
    assert mean["tempered"] < mean["uniform"] - 0.03
    assert mean["tempered"] < mean["likelihood"]
    assert 0.5 < mean["uniform"] < np.log(2)
