"""Sampled worlds: each agrees with all that a seat knows, and all such are equally likely."""

from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
import pytest

from black_maria import engine
from black_maria.bots import make_bot
from black_maria.rules import PROFILES, Rules
from black_maria.tables import Tables
from black_maria_agents.worlds import Worlds, sample_worlds
from helpers import Hand, cards_in, names, play, play_off
from oracle import ID

EVERY = [(name, seats) for name, (choices, _) in PROFILES.items() for seats in choices]


def rotated(table, rules, seat: int) -> list:
    """A field of the true state by seat, as the observer counts."""
    return [table[(seat + k) % rules.seats] for k in range(rules.seats)]


def replayed(world, rules: Rules, history: np.ndarray, number: int) -> Hand:
    """The hand that the world says was dealt, passed and played, from its start."""
    seats, passing = rules.seats, world.phase == engine.PASSING
    played: list[list[str]] = [[] for _ in range(seats)]
    plays = [(int(seat), int(card)) for kind, seat, card in history if kind == 2]
    for seat, card in plays:
        played[seat] += names([card])
    given = [cards_in(world.given[s]) for s in range(seats)]
    dealt = []
    for seat in range(seats):
        cards = Counter(cards_in(world.holding[seat]) + played[seat])
        if not passing and world.pass_steps:
            came = given[(seat - world.pass_steps) % seats]
            assert not Counter(came) - cards, "cards that a seat was given are with it"
            cards -= Counter(came)
        dealt.append(sorted((cards + Counter(given[seat])).elements(), key=ID.get))
    totals = world.totals[:seats].tolist()
    hand = Hand(dealt, int(world.dealer), totals, rules=rules, number=number)
    for k in range(seats):
        seat = (world.dealer + 1 + k) % seats
        for card in given[seat]:
            assert hand.turn == seat
            hand.act(card)
    for seat, card in plays:
        assert hand.turn == seat
        hand.do(names([card])[0])
    return hand


def check(worlds: Worlds, tables: Tables, history: np.ndarray, told: bool) -> None:
    """Every world of one table's acting seat is a hand that looks to it just like this one."""
    rules, truth = tables.rules, tables.states()[0]
    obs, seat = tables.observe()
    observation, seat = obs["observation"][0], int(seat[0])
    states, views = worlds.states(), worlds.views()
    n = len(states)
    assert views.shape == (n, rules.seats, tables.layout.size)
    assert (views[:, 0] == observation).all()
    seen = Tables(n, rules)
    seen.load(states)
    assert (seen.observe()[0]["action_mask"] == obs["action_mask"][0]).all()
    assert (seen.observe()[0]["observation"] == observation).all()
    for state, view in zip(states, views, strict=True):
        hand = replayed(state, rules, history, int(truth.hand))
        assert np.array_equal(hand.views, view)
        for field in engine.STATE.names:
            ours, theirs = state[field], hand.state[field]
            free = {"seed", "table", "hand"}
            free |= set() if told else {"cards", "seats", "taken_from"}
            free |= set() if state.in_trick else {"best_card", "best_seat", "leader"}
            if field in ("cards", "seats"):
                ours, theirs = ours[: state.num_played], theirs[: state.num_played]
            if field in free:
                continue
            assert np.array_equal(ours, theirs), field


def sampled(tables: Tables, history: np.ndarray, n: int, key: int, told: bool) -> Worlds:
    obs, _ = tables.observe()
    told_history = history if told else None
    return sample_worlds(obs["observation"][0], n, key, tables.rules, told_history)


@pytest.mark.parametrize(("name", "seats"), EVERY)
def test_worlds__replayed_they_are_hands_that_look_the_same(name, seats):
    """In every phase of several hands, so in every pass direction too, by all kinds of play."""
    rules = Rules.profile(name, seats)
    tables = Tables(1, rules, seed=seats, history=True)
    bots = [make_bot(name, rules) for name in ("random", "duck", "heuristic")]
    generator = np.random.default_rng(seats)
    for ply in range(4 * rules.most_plies):
        obs, _ = tables.observe()
        if generator.random() < (0.3 if name == "three_player" else 0.08):
            told = rules.packs == 2 or ply % 2 == 0
            history = obs["history"][0].copy()
            check(sampled(tables, history, 2, ply, told), tables, history, told)
        tables.step(bots[ply % 3].act(obs, tables.keys()))


@pytest.mark.parametrize("bot", ["random", "heuristic"])
def test_worlds__thousands_of_observations_in_every_phase_agree_with_what_is_known(bot):
    """Own cards, what I gave and got, cards played, voids, sizes: the observer's view is whole."""
    tables = Tables(200, seed=4)
    player = make_bot(bot)
    for ply in range(60):
        obs, seat = tables.observe()
        if ply % 5 == 2:
            sampled = sample_worlds(obs["observation"], 2, tables.keys())
            states, views = sampled.states(), sampled.views()
            rows = np.arange(200).repeat(2)
            assert (views[:, 0] == obs["observation"][rows]).all()
            truth = tables.states()[rows]
            turned = (np.arange(3) + seat[rows, None]) % 3
            size = sampled.holding.sum(axis=-1).reshape(-1, 3)
            true_size = np.bitwise_count(truth["holding"][:, :3, 0])
            assert (size == np.take_along_axis(true_size, turned, axis=1)).all()
            passed = tables.layout.split(obs["observation"])["passed"]
            played = tables.layout.split(obs["observation"])["played"][:, 2]
            if ply >= 9:  # my right neighbour holds what I gave it and it hasn't played
                there = sampled.holding[:, :, 2] + played[:, None]
                assert (there >= passed[:, None]).all()
            end = Tables(400, deal_on=False)
            end.load(states)
            for _ in range(60 - ply):
                part, _ = end.observe()
                end.step(player.act(part, end.keys()))
            assert (end.states()["penalties"].sum(axis=1) == 43).all()
        tables.step(player.act(obs, tables.keys()))


SHORT = {"hands": None, "match_points": 1, "exceed": False}  # then seats play off soon


@pytest.mark.parametrize(
    ("name", "seats"), [("traditional", 3), ("slippery_anne", 4), ("omnibus", 5), ("omnibus", 6),
                        ("american_hearts", 4)]
)  # fmt: skip
def test_worlds__in_matches_and_play_offs_they_are_played_to_the_end(name, seats):
    rules = Rules.profile(name, seats)
    rules = rules.replace(**SHORT) if rules.playoff else rules
    tables = Tables(8, rules, seed=1, episode="match")
    bot, worlds, playoffs = make_bot("random", rules), 3, 0
    for ply in range(3 * rules.most_plies):
        obs, _ = tables.observe()
        keys = tables.keys()
        if ply % 5 == 0:
            playoffs += int(tables.states()["playoff"].sum())
            sampled = sample_worlds(obs["observation"], worlds, keys, rules)
            states, views = sampled.states(), sampled.views()
            rows = np.arange(8).repeat(worlds)
            assert (views[:, 0] == obs["observation"][rows]).all()
            truth = tables.states()[rows]
            for field in ("num_playing", "num_played", "num_passed", "pass_steps", "to_play"):
                assert (states[field] == truth[field]).all()
            count = truth["num_playing"] * (truth["to_play"] // truth["num_playing"])
            seen = Tables(len(rows), rules, deal_on=False)
            seen.load(states)
            assert (seen.observe()[0]["action_mask"] == obs["action_mask"][rows]).all()
            going = np.ones(len(rows), np.bool_)
            while going.any():
                part = seen.observe()[0]
                actions = np.zeros(len(rows), np.int64)
                alive = {key: array[going] for key, array in part.items()}
                actions[going] = bot.act(alive, seen.keys()[going])
                going &= ~seen.step(actions, going)[1]
            ended = seen.states()
            assert (ended["num_played"] == count).all()
            if not rules.total_varies and not rules.playoff:
                assert (ended["penalties"].sum(axis=1) == rules.hand_points).all()
        tables.step(bot.act(obs, keys))
    assert playoffs or name != "slippery_anne"


@pytest.mark.parametrize("total", [40, -40, 0])
@pytest.mark.parametrize("seats", [6, 8, pytest.param(10, marks=pytest.mark.slow)])
def test_worlds__of_play_offs_with_one_of_two_packs(seats, total):
    """Three of six seats are dealt 17 cards, as all six are: the observation tells them apart.

    At 0 nobody is known by its points, and only the cards played tell, from the second trick on.
    """
    rules, generator = Rules.profile("cancellation", seats), np.random.default_rng(seats)
    bot, told = make_bot("heuristic", rules), Counter()
    for count in range(2, seats + 1):
        playing = sorted(generator.choice(seats, count, replace=False).tolist())
        tables = play_off(rules, playing, total, count)
        for ply in range(count * (3 + 52 // count)):
            obs, _ = tables.observe()
            truth = tables.states()[0].copy()
            if ply % 3 == 0:
                history = obs["history"][0] if ply % 2 else None
                key = int(tables.keys()[0])
                worlds = sample_worlds(obs["observation"][0], 2, key, rules, history)
                assert (worlds.views()[:, 0] == obs["observation"]).all()
                right = (worlds.states()["num_playing"] == count).all()
                right &= (worlds.states()["to_play"] == truth.to_play).all()
                assert right or (total == 0 and truth.num_played < 2 * count)
                told[bool(right)] += 1
            tables.step(bot.act(obs, tables.keys()))
            if tables.states()["match_hand"][0] != truth.match_hand:
                break
    assert told[True] > 4 * told[False]
    assert (told[False] > 0) == (total == 0)


@pytest.mark.parametrize(
    ("seats", "totals"),
    [(6, [5, 0, 5, 0, 5, 0]), (8, [9, 9, 9, 9, 0, 0, 0, 0]), (6, [3, 1, 4, 1, 5, 9]),
     (6, [0, 0, 0, 7, 7, 7])],
)  # fmt: skip
def test_worlds__of_hands_with_two_packs_whatever_the_totals(seats, totals):
    """Totals as in a play-off, but cards that are not: of all plies few look like one."""
    rules = Rules.profile("cancellation", seats)
    tables = Tables(10, rules, seed=3, history=True, deal_on=False)
    tables.start(totals=totals)
    bot, told = make_bot("heuristic", rules), Counter()
    for ply in range(rules.plies() - 1):
        obs, _ = tables.observe()
        if ply % 3 == 0:
            worlds = sample_worlds(obs["observation"], 1, tables.keys(), rules)
            assert (worlds.views()[:, 0] == obs["observation"]).all()
            right = worlds.states()["num_playing"] == seats
            assert right.all() or (len(set(totals)) == 2 and ply < 4 * seats)
            told.update(right.tolist())
        tables.step(bot.act(obs, tables.keys()))
    assert told[True] > 10 * told[False]


# --- uniform --------------------------------------------------------------------------------------


def chi_square(counts: Counter, every: list) -> tuple[float, float]:
    """The statistic of equally likely outcomes, and a bound far beyond 0.001."""
    total, free = sum(counts.values()), len(every) - 1
    assert set(counts) <= set(every)
    expected = total / len(every)
    value = sum((counts[each] - expected) ** 2 / expected for each in every)
    return value, free + 4 * (2 * free) ** 0.5 + 6


def late(plays: int) -> Hand:
    """A hand that ``heuristic`` has played this far."""
    tables = Tables(1, seed=11)
    play(tables, 9 + plays, "heuristic")
    hand = Hand([names(row) for row in engine.deal(11).cards], engine.deal(11).dealer)
    hand.states[:] = tables.states()
    return hand


@pytest.mark.parametrize("plays", [36, 38, 40])
def test_uniform__every_deal_of_a_late_hand_equally_often(plays):
    hand = late(plays)
    me = hand.turn
    observation = hand.views[me].copy()
    blocks = hand.layout.split(observation)
    truth = [hand.holding((me + k) % 3) for k in range(3)]
    unseen = sorted(truth[1] | truth[2], key=ID.get)
    sent = set(names(np.flatnonzero(blocks["passed"])))
    to = int(blocks["pass_to"].argmax())
    gone = set(names(np.flatnonzero(blocks["played"].sum(axis=0))))
    void = [{"CDHS"[s] for s in np.flatnonzero(row)} for row in blocks["voids"]]
    every = []
    for first in combinations(unseen, len(truth[1])):
        split = [set(), set(first), set(unseen) - set(first)]
        fits = all(card[-1] not in void[k] for k in (1, 2) for card in split[k])
        if fits and sent - gone <= split[to]:
            every.append(tuple(first))
    assert 5 < len(every) < 1000, "a position worth the test"
    worlds = sample_worlds(observation, 20_000, plays)
    counts = Counter(tuple(names(np.flatnonzero(row))) for row in worlds.holding[:, 1])
    value, bound = chi_square(counts, every)
    assert value < bound


def test_games__know_the_trick_on_the_table_and_which_way_the_pass_went():
    rules = Rules.profile("rotating_pass", 3)
    tables, plays = Tables(6, rules, seed=4), 0
    tables.reset(4, hand=np.arange(6) % 3)
    for ply in range(40):
        now, (obs, seat) = tables.states(), tables.observe()
        for k in np.flatnonzero(now["phase"] == engine.PLAYING):
            games = sample_worlds(obs["observation"][k], 2, ply, rules).games
            assert (games["hand"] % 3 == now["hand"][k] % 3).all()
            if now["in_trick"][k]:
                assert (games["best_card"] == now["best_card"][k]).all()
                assert ((games["best_seat"] + seat[k]) % 3 == now["best_seat"][k]).all()
                plays += 1
        tables.step(obs["action_mask"].argmax(axis=1))
    assert plays > 100


@pytest.mark.parametrize("seed", [6, 12, 13, 14, 17])
def test_uniform__where_each_of_three_seats_may_hold_other_suits(seed):
    """Nine cards unseen; how many of each suit go to whom isn't settled by the voids."""
    rules = Rules.profile("four_player").replace(pass_count=0)
    tables = Tables([seed], rules, seed=seed)
    play(tables, rules.plies() - 12, "heuristic")
    obs, (me,) = tables.observe()
    holding = tables.states()["holding"][0, :, 0]
    held = [{card for card in range(52) if holding[(me + k) % 4] >> card & 1} for k in (1, 2, 3)]
    voids = tables.layout.split(obs["observation"][0])["voids"][1:]
    unseen = set.union(*held)
    every = []
    for left in combinations(sorted(unseen), 3):
        for across in combinations(sorted(unseen - set(left)), 3):
            cards = [left, across, tuple(sorted(unseen - {*left, *across}))]
            if not any(voids[k][card // 13] for k in range(3) for card in cards[k]):
                every.append(tuple(cards))
    assert [len(cards) for cards in held] == [3, 3, 3]
    assert 100 < len(every) < 600, "a position worth the test"
    worlds = sample_worlds(obs["observation"][0], 20_000, seed, rules)
    counts = Counter(
        tuple(tuple(np.flatnonzero(row).tolist()) for row in world)
        for world in worlds.holding[:, 1:]
    )
    value, bound = chi_square(counts, every)
    assert value < bound


def test_uniform__hidden_passes_are_any_cards_of_the_receiver():
    """What the seat on my right gave the seat on my left: three of its cards, held or played."""
    hand = late(24)
    me = hand.turn
    worlds = sample_worlds(hand.views[me], 20_000, 3)
    at_left = worlds.holding[:, 1] + hand.layout.split(hand.views[me])["played"][1]
    given = worlds.given[:, 2]
    assert (given.sum(axis=1) == 3).all()
    assert (given <= at_left).all()
    played = np.flatnonzero(hand.layout.split(hand.views[me])["played"][1])
    share = given[:, played].mean(axis=0)
    assert np.allclose(share, 3 / 17, atol=5 * (3 / 17 / 20_000) ** 0.5)
    received = hand.layout.split(hand.views[me])["received"]
    assert (worlds.given[:, 1] == received).all()


def test_uniform__a_card_that_may_not_be_passed_is_likelier_with_who_has_yet_to_pass():
    """Each deal counts as often as there are ways to pass from it: 560 to 680 here."""
    rules = Rules.profile("dirty_lady", 3)
    hand = Hand([names(row) for row in engine.deal(2, rules=rules).cards], 0, rules=rules)
    me = (1 + 1) % 3
    for card in sorted(hand.legal)[:3]:
        hand.act(card)
    assert hand.turn == me
    assert "QS" not in hand.holding(me)
    worlds = sample_worlds(hand.views[me], 40_000, 1, rules)
    queen = worlds.holding[..., ID["QS"]].mean(axis=0)
    ways = comb(16, 3), comb(17, 3)
    assert queen[2] == pytest.approx(ways[0] / sum(ways), abs=0.012)  # it has picked its cards
    assert queen[1] == pytest.approx(ways[1] / sum(ways), abs=0.012)
    assert worlds.given[..., ID["QS"]].sum() == 0


def test_ban__who_throws_a_heart_on_the_first_trick_holds_no_other_card():
    rules = Rules.profile("american_hearts")
    suits = ["C", "D", "H", "S"]
    deal = [{card for card in ID if card[-1] == name} for name in suits]
    deal[0] = deal[0] - {"AC"} | {"2D"}
    deal[1] = deal[1] - {"2D"} | {"AC"}
    hand = Hand([sorted(cards, key=ID.get) for cards in deal], rules=rules, number=3)
    hand.do("2C AC 5H")
    assert hand.turn == 3
    observation, history = hand.views[3], hand.history(3)
    for told in (None, history):
        held = sample_worlds(observation, 50, 4, rules, told).holding[:, 3]
        assert set(names(np.flatnonzero(held.sum(axis=0)))) <= deal[2] | {"QS"}


def test_kitty__a_guess_that_leaves_no_deal_is_made_again():
    """Of two packs and without a history it isn't told which twin of a card was in the kitty."""
    rules = Rules.profile("cancellation", 6)
    tables = Tables([3], rules, seed=3)
    play(tables, 114, "heuristic")
    observation = tables.observe()[0]["observation"][0]
    for key in range(60):  # with a single guess, 11 of these failed
        worlds = sample_worlds(observation, 2, key, rules)
        assert (worlds.views()[:, 0] == observation).all()


# --- what must hold -------------------------------------------------------------------------------


def test_worlds__passed_cards_stay_with_the_right_neighbour_until_played():
    tables = Tables(50, seed=3)
    play(tables, 9)
    bot = make_bot("random")
    for _ in range(45):
        obs, _ = tables.observe()
        worlds = sample_worlds(obs["observation"], 4, tables.keys())
        blocks = tables.layout.split(obs["observation"])
        at_right = worlds.holding[:, :, 2] + blocks["played"][:, None, 2]
        assert (at_right >= blocks["passed"][:, None]).all()
        assert (worlds.given[:, :, 0] == blocks["passed"][:, None]).all()
        void = blocks["voids"][:, None].repeat(13, axis=-1) > 0
        assert (worlds.holding[void.repeat(4, axis=1)] == 0).all()
        tables.step(bot.act(obs, tables.keys()))


def test_sample__the_same_for_a_row_whatever_the_batch_and_the_number():
    tables = Tables(20, seed=8)
    play(tables, 30)
    obs, _ = tables.observe()
    key = tables.keys()
    before = obs["observation"].tobytes()
    worlds = sample_worlds(obs["observation"], 9, key)
    assert obs["observation"].tobytes() == before
    assert worlds.holding.shape == worlds.given.shape == (20, 9, 3, 52)
    assert worlds.holding.dtype == worlds.given.dtype == worlds.kitty.dtype == np.int8
    for row in (0, 7, 19):
        alone = sample_worlds(obs["observation"][row], 4, int(key[row]))
        assert alone.holding.shape == (4, 3, 52)
        assert np.array_equal(alone.holding, worlds.holding[row, :4])
        assert np.array_equal(alone.given, worlds.given[row, :4])
        assert np.array_equal(alone.states(), worlds.states().reshape(20, 9)[row, :4])
    other = sample_worlds(obs["observation"], 9, key + np.uint64(1))
    assert not np.array_equal(other.holding, worlds.holding)


def broken(change) -> np.ndarray:
    """An observation of a hand under way, the observer third in the trick, made impossible."""
    tables = Tables(1, seed=5)
    play(tables, 9 + 23)
    observation = tables.observe()[0]["observation"][0].copy()
    blocks = tables.layout.split(observation)
    change(blocks)
    return observation


def take(block, card=None):
    """Take a card out of a block (of those that are there, the first)."""
    flat = block.reshape(-1)
    flat[np.flatnonzero(flat)[0] if card is None else card] -= 1


def give(block, card):
    block.reshape(-1)[card] += 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda b: give(b["holding"], np.flatnonzero(b["holding"])[0]), "counted 2 times"),
        (lambda b: b["phase"].fill(0), "the hand is over"),
        (lambda b: take(b["holding"]), "16 cards dealt to a seat isn't"),
        (lambda b: (take(b["holding"]), give(b["holding"], 0)), "2♣ is seen more often"),
        (lambda b: take(b["trick"]), "the cards played don't make tricks|isn't to move"),
        (lambda b: take(b["played"][1]), "the cards played don't make tricks"),
        (lambda b: take(b["captured"]), "the cards captured aren't the ones played"),
        (lambda b: take(b["passed"]), "the cards passed and received don't fit"),
        (lambda b: take(b["received"]), "the cards passed and received don't fit"),
        (lambda b: (b["pass_to"].fill(0), give(b["pass_to"], 1)), "who passes to whom"),
        (lambda b: b["voids"].fill(1), "no deal fits"),
        (lambda b: give(b["hearts_broken"], 0), "hearts_broken doesn't fit"),
        (lambda b: b["dealer"].fill(1), "contradictory"),
        (lambda b: np.copyto(b["led"], np.roll(b["led"], 1)), "contradictory"),
    ],
)
def test_sample__an_impossible_observation_is_refused_in_words(change, words):
    with pytest.raises(ValueError, match=f"impossible observation: .*({words})"):
        sample_worlds(broken(change), 1, 0)


def test_sample__cards_that_nobody_may_hold_are_refused():
    """Both others are void of diamonds alone, and some are unseen: one group has all the places."""
    tables = Tables(1, Rules(pass_count=0), seed=5)
    play(tables, 23)
    observation = tables.observe()[0]["observation"][0].copy()
    voids = tables.layout.split(observation)["voids"]
    voids[1:] = 0
    assert len(sample_worlds(observation, 1, 0, tables.rules).games) == 1
    voids[1:, 1] = 1
    with pytest.raises(ValueError, match="impossible observation: no deal fits"):
        sample_worlds(observation, 1, 0, tables.rules)


def test_sample__refuses_seats_not_to_move_and_other_peoples_histories():
    tables = Tables(2, seed=5, history=True)
    play(tables, 9 + 23)
    obs, seat = tables.observe()
    other = tables.views()[0, (seat[0] + 1) % 3]
    with pytest.raises(ValueError, match=r"isn't to move|don't make tricks"):
        sample_worlds(other, 1, 0)
    with pytest.raises(ValueError, match=r"row 0: .*the history doesn't tell this observation"):
        sample_worlds(obs["observation"], 1, 0, history=obs["history"][::-1].copy())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"observation": np.zeros(655, np.int8)},
            r"int8 \(656,\) or .*, not int8 \(655,\)",
        ),
        ({"observation": np.zeros(656)}, r"not float64 \(656,\)"),
        ({"n": 0}, "n must be a whole number from 1, not 0"),
        ({"n": 1.5}, "not 1.5"),
        ({"key": -1}, "a key lies in 0 … "),
        ({"key": np.zeros(2, np.uint64)}, r"keys must be uint64 \(1,\)"),
        ({"history": np.zeros((3, 2), np.int8)}, r"history must be int8 \(R, 3\)"),
        ({"rules": "nope"}, "no profile 'nope'"),
    ],
)
def test_sample__wrong_arguments_refused(change, words):
    observation = Tables(1, seed=0).observe()[0]["observation"][0]
    with pytest.raises(ValueError, match=words):
        sample_worlds(**({"observation": observation, "n": 1, "key": 0} | change))
