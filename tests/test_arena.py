"""Measuring: duplicate deals, rotations, intervals."""

import numpy as np
import pytest

from black_maria.bots import make_bot
from black_maria.rules import Rules
from black_maria.tables import Tables
from black_maria_agents import arena
from black_maria_agents.arena import TEST_SEEDS, Estimate, both_ways, measure
from helpers import play

RANDOM, DUCK = make_bot("random"), make_bot("duck")
RULES = Rules()


def play_deals(agent, others, deals, **options):
    return arena.play_deals(agent, others, deals, **{"rules": RULES, **options})


def play_matches(agent, others, matches, **options):
    return arena.play_matches(agent, others, matches, **{"rules": RULES, **options})


@pytest.mark.parametrize("bot", [RANDOM, DUCK], ids=["random", "duck"])
def test_par__one_agent_in_all_seats_scores_43_thirds_on_every_deal(bot):
    penalties = play_deals(bot, bot, range(300), seed=1)
    assert penalties.shape == (300, 3)
    assert (penalties.sum(axis=1) == 43).all()
    assert (penalties.mean(axis=1) == RULES.par).all()


@pytest.mark.parametrize("deals", [2, 7, 100, 300, 1000])
def test_par__estimate_is_exact_with_width_0(deals):
    estimate = Estimate.of(np.full(deals, RULES.par))
    assert estimate.mean == RULES.par
    assert estimate.half_width == 0
    assert estimate.text() == "14.33 ± 0.00"
    assert estimate.text(3) == "14.333 ± 0.000"


def test_play_deals__sits_once_in_each_seat_of_deal_t():
    """Column s: the agent's penalty in seat s of hand 0 at table t, against the others."""
    penalties = play_deals(DUCK, RANDOM, range(5, 9), seed=3)
    for row, number in enumerate(range(5, 9)):
        for seat in range(3):
            tables = Tables([number], seed=3)
            score = np.zeros(3)
            for _ in range(60):
                obs, mover = tables.observe()
                bot = DUCK if mover[0] == seat else RANDOM
                score -= tables.step(bot.act(obs, tables.keys()))[0][0]
            assert penalties[row, seat] == score[seat]


@pytest.mark.parametrize("play_games", [play_deals, play_matches])
@pytest.mark.parametrize("chunk", [1, 7, 30, 64])
def test_play__independent_of_how_many_run_side_by_side(chunk, play_games, monkeypatch):
    whole = play_games(DUCK, RANDOM, range(30), seed=2)
    monkeypatch.setattr(arena, "CHUNK", chunk)
    assert np.array_equal(play_games(DUCK, RANDOM, range(30), seed=2), whole)


@pytest.mark.parametrize("play_games", [play_deals, play_matches])
def test_play__no_games_refused_in_words(play_games):
    with pytest.raises(ValueError, match="at least one game"):
        play_games(DUCK, RANDOM, range(0), seed=2)


def test_play_deals__independent_of_the_other_deals():
    whole = play_deals(DUCK, RANDOM, range(50), seed=2)
    assert np.array_equal(play_deals(DUCK, RANDOM, range(20, 30), seed=2), whole[20:30])
    assert not np.array_equal(play_deals(DUCK, RANDOM, range(50), seed=3), whole)


def test_play_deals__a_range_with_steps_plays_those_deals():
    whole = play_deals(DUCK, RANDOM, range(20), seed=2)
    assert np.array_equal(play_deals(DUCK, RANDOM, range(0, 20, 4), seed=2), whole[::4])


def test_play_deals__tells_how_many_are_done(monkeypatch):
    monkeypatch.setattr(arena, "CHUNK", 8)
    told = []
    play_deals(DUCK, RANDOM, range(20), seed=2, progress=told.append)
    assert sum(told) == 20
    assert all(number > 0 for number in told)


def test_play_deals__duck_alone_against_two_randoms():
    penalties = play_deals(DUCK, RANDOM, range(4000), seed=5)
    estimate = Estimate.of(penalties.mean(axis=1))
    assert estimate.mean == pytest.approx(2.36, abs=0.1)
    assert 0 < estimate.half_width < 0.1


def test_play_matches__one_agent_shares_every_match_among_its_seats():
    shares = play_matches(RANDOM, RANDOM, range(200), seed=1)
    assert shares.shape == (200, 3)
    assert shares.sum(axis=1) == pytest.approx(1)


def test_play_matches__is_the_first_match_of_table_t():
    """Column s: the share of the agent in seat s, whenever the match ends."""
    shares = play_matches(DUCK, RANDOM, range(3, 6), seed=8)
    for row, number in enumerate(range(3, 6)):
        for seat in range(3):
            tables = Tables([number], seed=8, episode="match", reward="match")
            done = [False]
            while not done[0]:
                obs, mover = tables.observe()
                bot = DUCK if mover[0] == seat else RANDOM
                rewards, done = tables.step(bot.act(obs, tables.keys()))
            assert shares[row, seat] == rewards[0, seat]


def test_play_matches__duck_beats_two_randoms():
    shares = play_matches(DUCK, RANDOM, range(100), seed=5)
    assert shares.mean() > 0.9


def test_both_ways__every_pair_once_alone_and_once_as_the_others():
    assert sorted(both_ways(["a", "b", "c"])) == [
        ("a", "b"), ("a", "c"), ("b", "a"), ("b", "c"), ("c", "a"), ("c", "b")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("whole_matches", "unit", "play_games"),
    [(False, "penalty", play_deals), (True, "win share", play_matches)],
)
def test_measure__plays_pairs_on_test_seeds(whole_matches, unit, play_games):
    agents = {"duck": DUCK, "random": RANDOM}
    pairs = both_ways(agents)
    results = measure(agents, pairs, 12, seed=3, rules=RULES, whole_matches=whole_matches)
    assert [(result.agent, result.others) for result in results] == pairs
    for result in results:
        scores = play_games(
            agents[result.agent], agents[result.others], range(12), seed=TEST_SEEDS + 3
        )
        assert (result.unit, result.games) == (unit, 12)
        assert result.score == Estimate.of(scores.mean(axis=1))
        assert result.by_seat == tuple(Estimate.of(scores[:, seat]) for seat in range(3))


def test_play_deals__leaves_nothing_behind():
    """Two calls in a row, with other play in between, give the same."""
    first = play_deals(RANDOM, DUCK, range(10), seed=4)
    play(Tables(3, seed=4), 30)
    assert np.array_equal(play_deals(RANDOM, DUCK, range(10), seed=4), first)


@pytest.mark.parametrize("values", [[1.0, 2.0], [0.0, 43.0, 13.0, 7.5], np.arange(1000.0) ** 0.5])
def test_estimate__mean_and_95_percent_interval_over_deals(values):
    values = np.asarray(values)
    estimate = Estimate.of(values)
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    assert estimate.mean == pytest.approx(mean)
    assert estimate.half_width == pytest.approx(1.96 * (variance / len(values)) ** 0.5)


def test_estimate__one_deal_has_no_interval():
    estimate = Estimate.of(np.array([13.0]))
    assert estimate.mean == 13
    assert np.isnan(estimate.half_width)


def test_estimate__covers_the_truth_about_95_times_in_100():
    generator = np.random.default_rng(0)
    estimates = [Estimate.of(generator.normal(3, 2, 100)) for _ in range(2000)]
    hits = np.mean([abs(e.mean - 3) <= e.half_width for e in estimates])
    assert 0.93 < hits < 0.965
