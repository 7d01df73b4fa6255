"""Measuring: duplicate deals, rotations, intervals, stopping, where points came from."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from black_maria import black_maria_v0, deal, layout_of
from black_maria.bots import make_bot
from black_maria.cards import HEARTS, card_name, suit_of
from black_maria.record import of_states
from black_maria.rules import PROFILES, Rules
from black_maria.tables import Tables
from black_maria_agents import measuring
from black_maria_agents.measuring import (
    Arena,
    Estimate,
    Result,
    arena,
    both_ways,
    duplicate,
    edge,
    edges,
    gains,
    measure,
)
from black_maria_agents.measuring.duplicate import play_pairs
from black_maria_agents.measuring.pace import Pace
from black_maria_agents.measuring.stopping import look_points, settled
from black_maria_agents.network import Policy, PolicyAgent
from black_maria_agents.scoring import others_less_own
from black_maria_agents.seeds import TEST_SEEDS
from helpers import play

RANDOM, DUCK, HEURISTIC = (make_bot(name) for name in ("random", "duck", "heuristic"))
BOTS = {"random": RANDOM, "duck": DUCK, "heuristic": HEURISTIC}
RULES = Rules()


def play_deals(agent, others, deals, **options):
    return measuring.play_deals(agent, others, deals, **{"rules": RULES, **options})


def play_matches(agent, others, matches, **options):
    return measuring.play_matches(agent, others, matches, **{"rules": RULES, **options})


def few_tables(monkeypatch, tables):
    for module in (arena, duplicate):
        monkeypatch.setattr(module, "TABLES", tables)


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
    few_tables(monkeypatch, 3 * chunk)
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


@pytest.mark.parametrize(
    ("values", "quantile"),
    [
        ([0, 43], 12.706),
        ([0, 43, 13], 4.303),
        ([0, 43, 13, 7.5, 3, 9], 2.571),
        (np.arange(31) ** 0.5, 2.042),
        (np.arange(1000), 1.962),
    ],
)
def test_estimate__mean_and_95_percent_interval_over_deals(values, quantile):
    """Quantiles of Student's t from a table: 1, 2, 5, 30 and 999 degrees of freedom."""
    values = np.asarray(values, float)
    estimate = Estimate.of(values)
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    assert estimate.mean == pytest.approx(mean)
    assert estimate.half_width == pytest.approx(
        quantile * (variance / len(values)) ** 0.5, rel=0.001
    )


def test_estimate__one_deal_has_no_interval():
    estimate = Estimate.of(np.array([13.0]))
    assert estimate.mean == 13
    assert np.isnan(estimate.half_width)


def test_estimate__covers_the_truth_about_95_times_in_100():
    generator = np.random.default_rng(0)
    estimates = [Estimate.of(generator.normal(3, 2, 100)) for _ in range(2000)]
    hits = np.mean([abs(e.mean - 3) <= e.half_width for e in estimates])
    assert 0.93 < hits < 0.965


def test_par__one_agent_under_three_names_gets_par_with_width_0():
    for rules, games in ((RULES, {}), (RULES, {"whole_matches": True})):
        results = measure(dict.fromkeys("abc", HEURISTIC), both_ways("abc"), 40, seed=0,
                          rules=rules, **games)  # fmt: skip
        assert len(results) == 6
        for result in results:
            par = 1 / 3 if games else 43 / 3
            assert result.score.mean == pytest.approx(par, abs=1e-12)
            assert result.score.half_width < 1e-12


def test_seats__relabelled_through_the_aec_loop_the_scores_move_along():
    """The arena's scores, deal by deal, are those of the AEC loop, also with seats turned."""
    scores = play_deals(HEURISTIC, DUCK, range(4), seed=TEST_SEEDS)
    env = black_maria_v0.raw_env()
    for number, turn, own in np.ndindex(4, 3, 3):
        cards, dealer = deal(TEST_SEEDS, number, 0)
        options = {"deal": np.roll(cards, turn, axis=0).tolist(), "dealer": (dealer + turn) % 3}
        env.reset(seed=1, options=options)
        points = 0.0
        for agent in env.agent_iter():
            observation, reward, done, _, _ = env.last()
            seat = (int(agent[-1]) - turn) % 3
            points -= reward * (seat == own)
            rows = {name: array[None] for name, array in observation.items()}
            bot = HEURISTIC if seat == own else DUCK
            env.step(None if done else int(bot.act(rows, np.zeros(1, np.uint64))[0]))
        assert scores[number, own] == points


def all_results(agents, games=30, **options):
    found = measure(agents, both_ways(agents), games, seed=1, rules=RULES, **options)
    return {(result.agent, result.others): result for result in found}


@pytest.mark.parametrize("whole_matches", [False, True])
def test_arena__independent_of_order_names_and_company(whole_matches, monkeypatch):
    whole = all_results(BOTS, whole_matches=whole_matches)
    others = all_results(dict(reversed(BOTS.items())), whole_matches=whole_matches)
    assert others == whole
    renamed = all_results({"a": DUCK, "b": HEURISTIC}, whole_matches=whole_matches)
    assert renamed["a", "b"] == replace(whole["duck", "heuristic"], agent="a", others="b")


@pytest.mark.parametrize(("tables", "seconds"), [(1, 2), (18, 2), (60, 1e-9), (10**6, 100)])
@pytest.mark.parametrize("whole_matches", [False, True])
def test_arena__independent_of_blocks(tables, seconds, whole_matches, monkeypatch):
    whole = all_results(BOTS, whole_matches=whole_matches)
    few_tables(monkeypatch, tables)
    monkeypatch.setattr(arena, "BLOCK_SECONDS", seconds)
    assert all_results(BOTS, whole_matches=whole_matches) == whole


def test_arena__plays_on_one_thread_and_gives_the_callers_setting_back():
    seen = []

    class Noting:
        name = identity = "noting"

        def act(self, obs, keys):
            seen.append(torch.get_num_threads())
            return DUCK.act(obs, keys)

    torch.set_num_threads(3)
    play_deals(Noting(), DUCK, range(2), seed=1)
    assert set(seen) == {1}
    assert torch.get_num_threads() == 3


# --- how many games at a time -----------------------------------------------------------------


def sizes(seconds_of, blocks=30, pace=None):
    """The sizes of blocks that take ``seconds_of(games)``."""
    pace, found = pace or Pace(2.0), []
    for _ in range(blocks):
        found.append(pace.size)
        pace.took(pace.size, seconds_of(pace.size))
    return found


def test_pace__blocks_grow_towards_their_time():
    found = sizes(lambda games: 0.01 + 0.002 * games)
    assert found[:4] == [1, 8, 64, 512]
    assert all(900 < size <= 1100 for size in found[5:])


def test_pace__a_search_plays_one_game_at_a_time():
    assert sizes(lambda games: 100.0 * games) == [1, 2] + 28 * [1]


def test_pace__a_busy_machine_does_not_shrink_blocks_to_where_time_is_lost():
    """Passes of a network: 3 s whatever their rows, and 20 ms a game."""
    found = sizes(lambda games: 3.0 + 0.02 * games)
    assert all(140 < size < 160 for size in found[4:])


def test_pace__blocks_grow_back_when_the_machine_is_free_again():
    pace = Pace(2.0)
    busy = sizes(lambda games: 10 * (0.26 + 0.002 * games), pace=pace)
    free = sizes(lambda games: 0.26 + 0.002 * games, pace=pace)
    assert all(100 < size < 150 for size in busy[3:])
    assert 600 < free[-1] < 1500


def test_pace__blocks_stay_large_enough_when_the_machine_gets_busy():
    pace = Pace(2.0)
    sizes(lambda games: 0.26 + 0.002 * games, pace=pace)
    busy = sizes(lambda games: 10 * (0.26 + 0.002 * games), pace=pace)
    assert all(100 < size < 150 for size in busy[-5:])


def test_pace__a_search_grows_back_too():
    pace = Pace(2.0)
    assert sizes(lambda games: 10.0 * games, pace=pace)[-1] == 1
    assert sizes(lambda games: 0.5 * games, pace=pace)[-1] == 4


def test_arena__blocks_are_sized_anew_for_other_pairs(monkeypatch):
    """Fast pairs that are done must not leave their large blocks to slow ones."""
    played = []

    def noting(pairs, games, **options):
        block = play_pairs(pairs, games, **options)
        played.append((len(pairs), len(games)))
        return replace(block, seconds=len(games) * (10.0 if len(pairs) == 1 else 0.001))

    monkeypatch.setattr(arena, "play_pairs", noting)
    pairs = both_ways({"duck": DUCK, "random": RANDOM})
    Arena({"duck": DUCK, "random": RANDOM}, RULES).play(pairs, {pairs[0]: 20, pairs[1]: 16})
    assert played == [(2, 1), (2, 8), (2, 7), (1, 1), (1, 2), (1, 1)]


def test_arena__slow_agents_may_get_fewer_games():
    pairs = both_ways(BOTS)
    games = {pair: 7 if "random" in pair else 20 for pair in pairs}
    played = Arena(BOTS, RULES, seed=1)
    played.play(pairs, games)
    for result in played.results(pairs, games):
        assert result.games == games[result.agent, result.others]
        assert not result.partial
        scores = play_deals(BOTS[result.agent], BOTS[result.others], range(result.games),
                            seed=TEST_SEEDS + 1)  # fmt: skip
        assert result.score == Estimate.of(scores.mean(axis=1))


def test_arena__an_agent_of_many_pairs_gets_one_batch_a_step():
    rows = []

    class Counting:
        name = identity = "counting"

        def act(self, obs, keys):
            rows.append(len(keys))
            return DUCK.act(obs, keys)

    counting = Counting()
    pairs = [(counting, RANDOM), (RANDOM, counting), (counting, DUCK), (DUCK, counting)]
    play_pairs(pairs, range(5), seed=0, rules=RULES)
    assert len(rows) == RULES.plies()
    assert sum(rows) == RULES.plies() * 5 * (1 + 2 + 1 + 2)


def test_arena__tells_progress_up_to_all_games(monkeypatch):
    few_tables(monkeypatch, 18)
    told = []
    Arena({"duck": DUCK, "random": RANDOM}, RULES).play(
        [("duck", "random"), ("random", "duck")], 20, progress=lambda *at: told.append(at)
    )
    done, total = np.array(told).T
    assert (np.diff(done) >= 0).all()
    assert done[-1] == pytest.approx(40)
    assert (total == 40).all()


# --- interrupted, kept, resumed ---------------------------------------------------------------


class Interrupting:
    """Ducks until a number of calls, then is interrupted as by Ctrl-C."""

    name = identity = "duck"

    def __init__(self, calls):
        """Take the number."""
        self.calls = calls

    def act(self, obs, keys):
        self.calls -= 1
        if self.calls < 0:
            raise KeyboardInterrupt
        return DUCK.act(obs, keys)


def test_interrupt__what_has_been_played_is_there_and_marked_partial(monkeypatch):
    few_tables(monkeypatch, 60)
    pairs = [("x", "random"), ("random", "x")]
    started = Arena({"x": Interrupting(60 * 4 + 30), "random": RANDOM}, RULES, seed=3)
    with pytest.raises(KeyboardInterrupt):
        started.play(pairs, 1000)
    first, second = started.results(pairs, 1000)
    assert 10 < first.games == second.games < 1000
    assert first.partial
    assert second.partial
    scores = play_deals(DUCK, RANDOM, range(first.games), seed=TEST_SEEDS + 3)
    assert first.score == Estimate.of(scores.mean(axis=1))


def test_keep__an_interrupted_evaluation_goes_on_and_ends_the_same(monkeypatch, tmp_path):
    few_tables(monkeypatch, 60)
    pairs, keep = [("duck", "random"), ("random", "duck")], tmp_path / "scores.npz"
    options = {"seed": 3, "keep": keep}
    started = Arena({"duck": Interrupting(60 * 4 + 30), "random": RANDOM}, RULES, **options)
    with pytest.raises(KeyboardInterrupt):
        started.play(pairs, 50)
    resumed = Arena({"duck": DUCK, "random": RANDOM}, RULES, **options)
    before = resumed.results(pairs, 50)
    assert before == started.results(pairs, 50)
    resumed.play(pairs, 50)
    whole = Arena({"duck": DUCK, "random": RANDOM}, RULES, seed=3)
    whole.play(pairs, 50)
    assert resumed.results(pairs, 50) == whole.results(pairs, 50)
    assert [path.name for path in tmp_path.iterdir()] == ["scores.npz"]


def test_keep__more_agents_join_and_those_of_others_stay(tmp_path):
    options = {"keep": tmp_path / "scores.npz"}
    two = {"duck": DUCK, "random": RANDOM}
    Arena(two, RULES, **options).play(both_ways(two), 10)
    other = {"duck": DUCK, "heuristic": HEURISTIC}
    Arena(other, RULES, **options).play(both_ways(other), 20)
    every = Arena(BOTS, RULES, **options)
    assert {r.games for r in every.results(both_ways(two))} == {10}
    assert {r.games for r in every.results(both_ways(other))} == {20}
    every.play(both_ways(BOTS), 20)
    whole = Arena(BOTS, RULES)
    whole.play(both_ways(BOTS), 20)
    assert every.results(both_ways(BOTS)) == whole.results(both_ways(BOTS))


class Called:
    """A bot under an identity that is given."""

    def __init__(self, bot, identity):
        """Take the bot over."""
        self.name, self.identity, self.act = bot.name, identity, bot.act


def test_keep__another_agent_of_that_name_starts_anew(tmp_path):
    keep = tmp_path / "scores.npz"
    one, two = ({"duck": DUCK, "x": Called(RANDOM, f"x {number}")} for number in (1, 2))
    Arena(one, RULES, keep=keep).play(both_ways(one), 10)
    assert not Arena(two, RULES, keep=keep).results(both_ways(two))
    assert Arena(one, RULES, keep=keep).results(both_ways(one))


def test_keep__scores_under_the_identities_of_an_older_version_are_found(tmp_path):
    """It put "sampled" behind every agent of such an evaluation; only networks play otherwise."""
    policy = Policy(layout_of(RULES), 16)
    sampled, greedy = (PolicyAgent(policy, RULES, greedy=greedy) for greedy in (False, True))
    old = {"x": Called(sampled, "network sampled"), "duck": Called(DUCK, "duck sampled")}
    keep = tmp_path / "scores.npz"
    Arena(old, RULES, keep=keep).play(both_ways(old), 3)
    for network, games in ((sampled, [3, 3]), (greedy, [])):
        today = {"x": network, "duck": DUCK}
        results = Arena(today, RULES, keep=keep).results(both_ways(today))
        assert [result.games for result in results] == games


@pytest.mark.parametrize(
    "other",
    [
        {"seed": 1},
        {"whole_matches": True},
        {"rules": Rules.profile("four_player")},
        {"rules": RULES.replace(match_points=50)},
    ],
)
def test_keep__scores_of_another_kind_are_refused_in_words(other, tmp_path):
    two = {"duck": DUCK, "random": RANDOM}
    keep = tmp_path / "scores.npz"
    Arena(two, RULES, keep=keep).play(both_ways(two), 2)
    with pytest.raises(ValueError, match=r"keeps penalty under 'three_player' with seed 0"):
        Arena(two, **{"rules": RULES, "keep": keep, **other})


@pytest.mark.parametrize("damage", [lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b"{}"])
def test_keep__a_damaged_file_is_refused_in_words(damage, tmp_path):
    two = {"duck": DUCK, "random": RANDOM}
    keep = tmp_path / "scores.npz"
    Arena(two, RULES, keep=keep).play(both_ways(two), 2)
    keep.write_bytes(damage(keep.read_bytes()))
    with pytest.raises(ValueError, match="can't be read as an arena's scores"):
        Arena(two, RULES, keep=keep)


# --- stopping by the half-width ---------------------------------------------------------------


def test_until__looks_are_fixed_and_double():
    assert look_points(128_000) == [250 * 2**k for k in range(10)]
    assert look_points(1500) == [250, 500, 1000, 1500]
    assert look_points(100) == [100]


def test_until__each_pair_stops_at_its_first_look_that_is_narrow_enough(monkeypatch):
    few_tables(monkeypatch, 1300)  # blocks of 72 deals end everywhere
    pairs, until = both_ways(BOTS), 0.3
    played = Arena(BOTS, RULES)
    played.play(pairs, 1000, until=until)
    counts = set()
    for result in played.results(pairs, 1000, until):
        counts.add(result.games)
        scores = play_deals(BOTS[result.agent], BOTS[result.others], range(1000), seed=TEST_SEEDS)
        widths = {look: Estimate.of(scores[:look].mean(axis=1)).half_width
                  for look in (250, 500, 1000)}  # fmt: skip
        narrow = [look for look, width in widths.items() if width <= until]
        assert result.games == (narrow or [1000])[0]
        assert not result.partial
        assert result.score.half_width == widths[result.games]
    assert len(counts) > 1


def test_until__never_looks_elsewhere():
    same = np.full((1000, 3), 5.0)
    assert [n for n in range(2, 1001) if settled(same[:n], 0.1)] == [250, 500, 1000]


def test_until__progress_expects_what_the_width_needs():
    told = []
    two = {"duck": DUCK, "random": RANDOM}
    Arena(two, RULES).play(both_ways(two), 64_000, until=0.2, progress=lambda *at: told.append(at))
    done, total = told[-1]
    assert done == pytest.approx(total)
    assert total < 64_000


@pytest.mark.parametrize("until", [0.11, 0.15, 0.19, 0.22, 0.26, 0.3])
def test_until__intervals_still_cover_the_truth_about_95_times_in_100(until):
    """Deals' scores are skewed: many small ones, a few of 30 and more."""
    generator = np.random.default_rng(int(1000 * until))
    hits = []
    for _ in range(1000):
        scores = generator.gamma(1.2, 2.0, size=4000)
        scores *= generator.random(4000) < 0.8
        for look in look_points(4000):
            estimate = Estimate.of(scores[:look])
            if settled(scores[:look, None], until):
                break
        hits.append(abs(estimate.mean - 0.8 * 2.4) <= estimate.half_width)
    assert 0.93 < np.mean(hits) < 0.97


# --- where the points came from ---------------------------------------------------------------


def test_scoring__others_mean_less_own_adds_up_to_nothing():
    penalties = np.array([[0.0, 26, 26, 26], [3, 6, 0, 0]])
    advantage = [[26, -26 / 3, -26 / 3, -26 / 3], [-1, -5, 3, 3]]
    assert others_less_own(penalties) == pytest.approx(np.array(advantage))


def recorded(agents, games, rules=RULES, **options):
    """Results, and all hands with the lone agent's seat."""
    hands = []

    def keep(states, names):
        episode = "match" if options.get("whole_matches") else "hand"
        hands.extend(of_states(states, rules, names, episode=episode))

    played = Arena(agents, rules, on_hands=keep, **options)
    played.play(both_ways(agents), games)
    return played.results(both_ways(agents), games), hands


@pytest.mark.parametrize(
    ("name", "games", "ends", "sources"),
    [
        ("three_player", 20, (6, 12), ["hearts", "Q♠", "K♠", "A♠"]),
        ("american_hearts", 60, (5, 9), ["hearts", "Q♠", "moon"]),
    ],
)
def test_sources__are_the_cards_taken_trick_by_trick(name, games, ends, sources):
    """Counted again from the recorded hands: by card and by third of the 17 or 13 tricks."""
    rules = Rules.profile(name)
    seats, bots = rules.seats, {bot: make_bot(bot, rules) for bot in ("duck", "random")}
    results, hands = recorded(bots, games, rules)
    counted = {}
    for hand in hands:
        alone = next(name for name in bots if hand.agents.count(name) == 1)
        seat, figures = hand.agents.index(alone), counted.setdefault(alone, {})
        leader = int(hand.replay()["seats"][0])
        for trick in range(rules.hand_size):
            cards = hand.cards[seats * trick : seats * trick + seats]
            best = max(cards, key=lambda card: (card // 13 == cards[0] // 13, card))
            leader = (leader + cards.index(best)) % seats
            third = "early" if trick < ends[0] else "middle" if trick < ends[1] else "late"
            for card in cards if leader == seat else ():
                points = rules.penalties[card]
                source = "hearts" if suit_of(card) == HEARTS else card_name(card)
                for name in (source, third) if points else ():
                    figures[name] = figures.get(name, 0) + points
    assert "moon" not in sources or any(result.sources["moon"] for result in results)
    for result in results:
        found = {**result.sources, **result.periods}
        assert list(found) == [*sources, "early", "middle", "late"]
        for name, mean in found.items():
            if name != "moon":
                assert mean == pytest.approx(counted[result.agent][name] / (seats * games))


@pytest.mark.parametrize("name", PROFILES)
def test_sources__add_up_to_the_points_in_every_profile(name):
    rules = Rules.profile(name)
    bots = {bot: make_bot(bot, rules) for bot in ("random", "duck")}
    results, hands = recorded(bots, 12, rules)
    for result in results:
        own = [
            hand.penalties[hand.agents.index(result.agent)]
            for hand in hands
            if hand.agents.count(result.agent) == 1
        ]
        moon = result.sources.get("moon", 0)
        assert sum(result.sources.values()) == pytest.approx(np.mean(own))
        assert sum(result.periods.values()) + moon == pytest.approx(np.mean(own))
        if not rules.total_varies:
            assert result.score.mean == pytest.approx(np.mean(own))


def test_sources__a_moon_is_told_apart():
    """Whoever takes everything under American Hearts pays nothing, and the others 26 each."""
    rules = Rules.profile("american_hearts")
    bots = {"random": make_bot("random", rules), "duck": make_bot("duck", rules)}
    results, hands = recorded(bots, 150, rules)
    by_name = {result.agent: result for result in results}
    shot = [hand for hand in hands if sorted(hand.penalties) == [0, 26, 26, 26]]
    assert shot
    shots = [hand for hand in shot if hand.agents.count("random") == 1]
    changes = [-26 if hand.penalties[hand.agents.index("random")] == 0 else 26 for hand in shots]
    assert by_name["random"].sources["moon"] == pytest.approx(sum(changes) / 600)
    assert by_name["random"].unit == "advantage"


def test_sources__bonus_cards_count_below_zero():
    rules = Rules.profile("omnibus")
    results, _ = recorded({name: make_bot(name, rules) for name in ("random", "duck")}, 30, rules)
    assert all(result.sources["J♦"] < 0 for result in results)


def test_deals__every_direction_of_the_pass_comes_up():
    rules = Rules.profile("rotating_pass")
    bots = {"random": make_bot("random", rules), "duck": make_bot("duck", rules)}
    _, hands = recorded(bots, 8, rules)
    numbers = [(hand.table, hand.hand) for hand in hands]
    assert numbers == [(number, number % 4) for number in range(8) for _ in range(2 * 4)]
    assert {bool(hand.passes[0]) for hand in hands if hand.hand == 3} == {False}


# --- matches and records ----------------------------------------------------------------------


def test_matches__hands_per_match_are_counted():
    two = {"duck": DUCK, "random": RANDOM}
    results, hands = recorded(two, 10, whole_matches=True)
    for result in results:
        mine = [hand for hand in hands if hand.agents.count(result.agent) == 1]
        assert result.hands == pytest.approx(len(mine) / 30)
        assert not result.sources
    played = [hand.match_hand for hand in hands]
    assert all(after in (0, before + 1) for before, after in pairwise(played))


def test_matches__a_fixed_length_is_as_long_as_the_rules_say():
    rules = Rules.profile("traditional").replace(playoff=False)
    bots = {"random": make_bot("random", rules), "duck": make_bot("duck", rules)}
    results = measure(bots, both_ways(bots), 5, seed=0, rules=rules, whole_matches=True)
    assert [result.hands for result in results] == [9, 9]


def test_matches__ties_are_played_off_where_the_rules_say_so():
    rules = Rules.profile("traditional")
    bots = dict.fromkeys(("a", "b"), make_bot("random", rules))
    scores = measuring.play_matches(bots["a"], bots["b"], range(150), seed=0, rules=rules)
    assert set(np.unique(scores)) == {0, 1}
    results = measure(bots, both_ways(bots), 150, seed=0, rules=rules, whole_matches=True)
    assert results[0].hands > 9


def test_record__hands_come_by_deal_pair_and_rotation(monkeypatch):
    two = {"duck": DUCK, "random": RANDOM}
    _, hands = recorded(two, 9)
    rotations = [("duck", "random", "random"), ("random", "duck", "random"),
                 ("random", "random", "duck")]  # fmt: skip
    swapped = [tuple({"duck": "random", "random": "duck"}[name] for name in row)
               for row in rotations]  # fmt: skip
    assert [hand.agents for hand in hands] == (rotations + swapped) * 9
    assert [hand.table for hand in hands] == [number for number in range(9) for _ in range(6)]
    few_tables(monkeypatch, 24)
    assert recorded(two, 9)[1] == hands


# --- standing ---------------------------------------------------------------------------------


def test_edges__half_the_difference_of_both_tables_best_first():
    def result(agent, others, mean, unit="penalty"):
        return Result(agent, others, unit, 9, Estimate(mean, 0.1), ())

    pairs = [result("a", "b", 10), result("b", "a", 18), result("a", "c", 13),
             result("c", "a", 15)]  # fmt: skip
    assert {name: edge.mean for name, edge in edges(pairs).items()} == {"a": 2.5, "c": -1, "b": -4}
    assert list(edges(pairs)) == ["a", "c", "b"]
    pairs = [result("a", "b", 0.3, "win share"), result("b", "a", 0.4, "win share")]
    assert edges(pairs)["b"].mean == pytest.approx(0.05)
    assert edges(pairs)["a"].mean == pytest.approx(-0.05)
    assert np.isnan(edges(pairs[:1])["a"].mean)


def test_edges__widths_add_up_as_of_independent_tables():
    def result(agent, others, mean, width):
        return Result(agent, others, "penalty", 9, Estimate(mean, width), ())

    pairs = [result("a", "b", 10, 0.3), result("b", "a", 18, 0.4)]
    assert edge(pairs, "a", "b") == Estimate(4.0, pytest.approx(0.25))
    assert edge(pairs, "b", "a") == Estimate(-4.0, pytest.approx(0.25))
    assert np.isnan(edge(pairs, "a", "c").mean)
    pairs += [result("a", "c", 13, 0), result("c", "a", 15, 0)]
    assert edges(pairs)["a"] == Estimate(2.5, pytest.approx(0.125))
    assert edges(pairs)["b"] == Estimate(-4.0, pytest.approx(0.25))


def test_edges__cover_the_truth_where_both_tables_are_of_the_same_deals():
    """The better or worse a deal is for both, the wider than needed the interval."""
    generator = np.random.default_rng(1)
    hits = []
    for _ in range(1000):
        luck = generator.normal(0, 5, 50)
        mine, theirs = (
            Estimate.of(mean + luck + generator.normal(0, 5, 50)) for mean in (14.0, 15.0)
        )
        pairs = [
            Result("a", "b", "penalty", 50, mine, ()),
            Result("b", "a", "penalty", 50, theirs, ()),
        ]
        found = edge(pairs, "a", "b")
        hits.append(abs(found.mean - 0.5) <= found.half_width)
    assert np.mean(hits) > 0.95


def test_gains__are_the_distance_to_par_and_negative_for_who_loses():
    agents = {"duck": DUCK, "random": RANDOM}
    results = measure(agents, both_ways(agents), 40, seed=3, rules=RULES)
    words = gains(results, RULES)
    for result in results:
        gain = RULES.par - result.score.mean
        assert f"{result.agent} {gain:+.2f} ± {result.score.half_width:.2f}" in words
    assert "duck +" in words
    assert "random -" in words
