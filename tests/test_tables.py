"""Many games side by side: stepping, refusing, saving, rewards, matches."""

import pickle
import threading
import tracemalloc

import numpy as np
import pytest

import oracle
from black_maria import PROFILES, black_maria_v0, engine
from black_maria.bots import make_bot
from black_maria.cards import card_name
from black_maria.contradictions import MAX_HAND_POINTS, MAX_HANDS, MAX_MATCH_POINTS
from black_maria.engine import EPISODES, MAX_SEATS, deal
from black_maria.rules import Rules
from black_maria.tables import Tables, history_rows
from helpers import names, outputs, play, random_legal, snapshot
from hostile import frozen, laid_out
from oracle import CARDS

NEXT_PLY = 60


def at_ply(plies: int, tables=8, **options) -> Tables:
    made = Tables(tables, **{"seed": 3, **options})
    play(made, plies)
    return made


# --- what is handed out -----------------------------------------------------------------------


def test_observe__shapes_and_types():
    tables = Tables(5, history=True)
    obs, seat = tables.observe()
    assert {name: (array.shape, array.dtype) for name, array in obs.items()} == {
        "observation": ((5, tables.layout.size), np.int8),
        "action_mask": ((5, 52), np.int8),
        "history": ((5, 57, 3), np.int8),
    }
    assert (seat.shape, seat.dtype) == ((5,), np.int64)
    assert (tables.keys().shape, tables.keys().dtype) == ((5,), np.uint64)
    assert (tables.views().shape, tables.views().dtype) == ((5, 3, tables.layout.size), np.int8)
    assert (tables.totals().shape, tables.totals().dtype) == ((5, 3), np.int32)
    assert len(tables) == 5


def test_observe__no_history_unless_asked_for():
    assert set(Tables(2).observe()[0]) == {"observation", "action_mask"}


def test_observe__is_the_acting_seats_view():
    tables = Tables(50, seed=1)
    for _ in range(NEXT_PLY):
        obs, seat = tables.observe()
        assert np.array_equal(obs["observation"], tables.views()[np.arange(50), seat])
        play(tables, 1)


def test_observe__twice_is_the_same():
    tables = at_ply(17, history=True)
    assert snapshot(tables) == snapshot(tables)


def test_step__shapes_and_types():
    tables = Tables(4)
    rewards, done = tables.step(tables.observe()[0]["action_mask"].argmax(axis=1))
    assert (rewards.shape, rewards.dtype) == ((4, 3), np.float32)
    assert (done.shape, done.dtype) == ((4,), np.bool_)


@pytest.mark.parametrize("kind", [list, np.int8, np.uint8, np.int32, np.uint64])
def test_step__any_integers(kind):
    tables, same = Tables(4, seed=9), Tables(4, seed=9)
    cards = tables.observe()[0]["action_mask"].argmax(axis=1)
    same.step(cards)
    tables.step(cards.tolist() if kind is list else cards.astype(kind))
    assert snapshot(tables) == snapshot(same)


# --- numbering --------------------------------------------------------------------------------


def test_tables__one_or_a_thousand_the_same_deals_and_games():
    many = Tables(1000, seed=6, episode="match", history=True)
    alone = {n: Tables([n], seed=6, episode="match", history=True) for n in (0, 1, 499, 999)}
    for ply in range(4 * NEXT_PLY):
        obs, seat = many.observe()
        if ply % 7 == 0:
            for n, one in alone.items():
                assert np.array_equal(one.views()[0], many.views()[n])
                own, own_seat = one.observe()
                assert all(np.array_equal(own[name][0], obs[name][n]) for name in obs)
                assert own_seat[0] == seat[n]
                assert one.keys()[0] == many.keys()[n]
        for one in (many, *alone.values()):
            play(one, 1)


def test_tables__order_of_the_numbers_changes_nothing():
    order = [5, 0, 3, 7]
    some, all_of_them = Tables(order, seed=2), Tables(8, seed=2)
    for _ in range(2 * NEXT_PLY):
        assert np.array_equal(some.views(), all_of_them.views()[order])
        assert np.array_equal(some.keys(), all_of_them.keys()[order])
        play(some, 1)
        play(all_of_them, 1)


def test_tables__a_number_twice_gets_the_same_deals():
    tables = Tables([4, 4, 1], seed=2)
    assert np.array_equal(tables.views()[0], tables.views()[1])
    assert not np.array_equal(tables.views()[0], tables.views()[2])


def test_tables__first_hand_is_deal():
    tables = Tables([0, 41, 7], seed=12)
    for row, number in enumerate((0, 41, 7)):
        cards, dealer = deal(12, number)
        held = tables.views()[row, :, tables.layout["holding"]]
        assert np.array_equal(held.nonzero()[1].reshape(3, 17), cards)
        assert tables.views()[row, 0, tables.layout["dealer"]].argmax() == dealer


def test_tables__dealt_anew_after_each_hand_with_a_drawn_dealer():
    tables = Tables(30, seed=12)
    for hand in range(4):
        dealers = tables.views()[:, 0, tables.layout["dealer"]].argmax(axis=1)
        assert dealers.tolist() == [deal(12, t, hand).dealer for t in range(30)]
        assert not tables.totals().any()
        play(tables, NEXT_PLY)


@pytest.mark.parametrize("number", [0, -3, [], [0, -1], 2.0, "3", [[1]], True, None])
def test_tables__impossible_numbers_refused(number):
    with pytest.raises(ValueError, match=r"^tables( must be|=-1: it)|at least one"):
        Tables(number)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rules": "nope"}, "no profile 'nope'"),
        ({"reward": "trik"}, "reward='trik': choose from 'trick', 'hand', 'relative', 'match'"),
        ({"episode": "game"}, "episode='game': choose from 'hand', 'match'"),
        ({"reward": "match"}, "reward='match' is for episode='match'"),
        ({"seed": -1}, "a seed lies in"),
        ({"seed": 1.5}, "seed=1.5 is not an integer"),
    ],
)
def test_tables__impossible_options_refused(options, words):
    with pytest.raises(ValueError, match=words):
        Tables(2, **options)


def test_reset__starts_again_from_hand_0():
    tables = at_ply(200, episode="match")
    tables.reset(3)
    for seed in (3, 4):
        fresh = Tables(8, seed=seed, episode="match")
        tables.reset(seed)
        assert outputs(tables) == outputs(fresh)
        play(tables, 100)
        play(fresh, 100)
        assert outputs(tables) == outputs(fresh)


def test_reset__impossible_seed_changes_nothing():
    tables = at_ply(20)
    before = snapshot(tables)
    with pytest.raises(ValueError, match="a seed lies in"):
        tables.reset(2**64)
    assert snapshot(tables) == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"hand": 2**63}, r"hand=9223372036854775808: it lies in 0 … 2\*\*62"),
        ({"hand": -1}, "hand=-1"),
        ({"hand": float("inf")}, "hand=inf is not an integer"),
        ({"hand": 3.0}, "hand=3.0 is not an integer"),
        ({"hand": [0] * 7}, "hand=.*: give one for all 8 tables or for each"),
        ({"hand": [[0]] * 8}, "hand=.*: give one for all"),
        ({"hand": 1, "seed": None}, "hand=1: a number of a seed's hand needs the seed"),
        ({"where": [1] * 8}, "where must be bool"),
    ],
)
def test_reset__what_is_refused_changes_nothing(options, words):
    tables = at_ply(20)
    before = snapshot(tables)
    for refused in (tables.reset, tables.start):
        with pytest.raises(ValueError, match=words):
            refused(**{"seed": 7, **options})
        assert snapshot(tables) == before


@pytest.mark.parametrize("kind", ["f8", "m8[s]", "O", "U2"])
def test_step__numbers_of_another_kind_refused(kind):
    tables = at_ply(20)
    before = snapshot(tables)
    with pytest.raises(ValueError, match="actions must be 8 integers"):
        tables.step(legal_cards(tables).astype(kind))
    assert snapshot(tables) == before


def test_start__nowhere_changes_nothing():
    tables = at_ply(20)
    before = snapshot(tables)
    tables.start(dealer=0, where=np.zeros(8, np.bool_))
    assert snapshot(tables) == before


# --- the ends of the numbers --------------------------------------------------------------------


def last_hand(tables: Tables) -> np.ndarray:
    """Play a hand; how many points it brought each seat."""
    return -play(tables, NEXT_PLY).sum(axis=0).astype(int)


@pytest.mark.parametrize("total", [2**30, -(2**30)])
def test_totals__of_the_longest_match_fit(total):
    """The last hand from the outermost totals that may be given; and no match adds more."""
    rules = Rules(hands=99_999, match_points=None)
    tables = Tables(4, rules, seed=1, episode="match", deal_on=False)
    tables.start(totals=[total] * 3, number=99_998)
    points = last_hand(tables)
    assert (tables.totals() == total + points).all()
    assert 2**30 + MAX_HANDS * MAX_HAND_POINTS < 2**31


@pytest.mark.parametrize(
    ("totals", "words"),
    [
        ([2**31 - 1] * 3, "the match is over at 100"),
        ([-(2**30) - 1, 0, 0], "at most 1,073,741,824, or as far below 0"),
        ([-(2**63)] * 3, "or as far below 0"),
        ([-(2**29)] * 3, "together they are no less than -1,073,741,824"),
        ([2**70] * 3, "it lies in"),
        ({0: 1, 1: 2, 2: 3}, "give one for each of 3 seats"),
        ({1, 2, 3}, "give one for each of 3 seats"),
        (5, "give one for each of 3 seats"),
    ],
)
def test_totals__that_could_overflow_are_refused(totals, words):
    tables = at_ply(20, episode="match")
    before = snapshot(tables)
    with pytest.raises(ValueError, match=f"totals=.*{words}"):
        tables.start(totals=totals)
    assert snapshot(tables) == before


def test_totals__by_points_nobody_can_fall_below_32_bits():
    """The others take all that they can, and one gets as much less than nothing."""
    seats, lowest_sum = MAX_SEATS, -(2**30)
    assert lowest_sum - (seats - 1) * (MAX_MATCH_POINTS + 1 + MAX_HAND_POINTS) >= -(2**31)


def test_hand__goes_on_from_the_last_that_may_be_given():
    tables = Tables(2, seed=1)
    tables.reset(1, hand=engine.LAST_HAND)
    play(tables, NEXT_PLY)
    tables.reset()
    assert tables.states()["hand"].tolist() == [engine.LAST_HAND + 2] * 2
    env = black_maria_v0.raw_env()
    env.reset(options={"number": engine.LAST_HAND})
    env.reset()
    assert env._states["hand"][0] == engine.LAST_HAND + 1


# --- refusing ---------------------------------------------------------------------------------


def legal_cards(tables: Tables) -> np.ndarray:
    return tables.observe()[0]["action_mask"].argmax(axis=1)


@pytest.mark.parametrize("ply", [0, 4, 9, 25, 59])
@pytest.mark.parametrize(
    "change",
    [
        lambda cards: cards[:-1],
        lambda cards: np.append(cards, cards[0]),
        lambda cards: cards[:, None],
        lambda cards: cards[0],
        lambda cards: cards.astype(float),
        lambda cards: cards > 0,
        lambda cards: cards.astype(str),
        lambda cards: [None] * len(cards),
        lambda cards: [],
    ],
)
def test_step__wrong_shape_or_type_refused_and_nothing_moved(ply, change):
    tables = at_ply(ply)
    before = snapshot(tables)
    with pytest.raises(ValueError, match=r"actions must be 8 integers, shape \(8,\), not "):
        tables.step(change(legal_cards(tables)))
    assert snapshot(tables) == before


@pytest.mark.parametrize("action", [-1, 52, 53, 127, -128, 10**9, -(2**62)])
def test_step__no_card_refused(action):
    tables = at_ply(12)
    before = snapshot(tables)
    cards = legal_cards(tables)
    cards[6] = action
    seat = tables.observe()[1][6]
    with pytest.raises(ValueError, match=rf"table 6, seat {seat}: action {action} is not a card"):
        tables.step(cards)
    assert snapshot(tables) == before


def test_step__a_huge_unsigned_number_refused():
    tables = at_ply(12)
    before = snapshot(tables)
    with pytest.raises(ValueError, match=r"table 0, seat . may not|is not a card"):
        tables.step(np.full(8, 2**64 - 1, np.uint64))
    assert snapshot(tables) == before


@pytest.mark.parametrize("ply", [0, 5, 9, 20, 41, 59])
def test_step__every_illegal_card_refused_with_table_seat_card_and_clause(ply):
    numbers = [11, 30, 4]
    tables = at_ply(ply, tables=numbers)
    before = snapshot(tables)
    obs, seats = tables.observe()
    mask, seats = obs["action_mask"].copy(), seats.copy()
    for row, card in zip(*np.nonzero(mask == 0), strict=True):
        cards = mask.argmax(axis=1)
        cards[row] = card
        holding = tables.views()[row, seats[row], tables.layout["holding"]]
        verb = "pass" if ply < 9 else "play"
        why = "it must follow suit" if holding[card] else "it holds"
        name = card_name(int(card))
        words = f"row {row}, table {numbers[row]}, seat {seats[row]} may not {verb} {name}: {why}"
        with pytest.raises(ValueError, match=f"^{words}"):
            tables.step(cards)
    assert snapshot(tables) == before


def test_step__goes_on_after_a_refusal_as_if_nothing_had_been():
    tables, same = at_ply(30), at_ply(30)
    with pytest.raises(ValueError, match="table 7, seat"):
        tables.step(np.append(legal_cards(tables)[:-1], 0))
    play(tables, 100)
    play(same, 100)
    assert snapshot(tables) == snapshot(same)


# --- saving and loading -----------------------------------------------------------------------


@pytest.mark.parametrize("ply", [0, 4, 9, 31, 59, 100])
def test_save__round_trip(ply):
    tables = at_ply(ply, episode="match", history=True)
    saved, before = tables.save(), snapshot(tables)
    first = play(tables, 150)
    end = snapshot(tables)
    tables.load(saved)
    assert snapshot(tables) == before
    assert np.array_equal(play(tables, 150), first)
    assert snapshot(tables) == end


def test_save__is_a_copy():
    tables = at_ply(20)
    for which in (None, [1, 2]):
        saved = tables.save(which)
        bytes_before = saved.tobytes()
        play(tables, 5)
        assert saved.tobytes() == bytes_before
        before = snapshot(tables)
        saved["holding"] = saved["legal"] = 0
        assert snapshot(tables) == before


def test_load__keeps_no_hold_of_what_was_saved():
    tables = at_ply(20)
    saved = tables.save()
    tables.load(saved)
    before = snapshot(tables)
    saved["holding"] = saved["legal"] = 0
    assert snapshot(tables) == before


@pytest.mark.parametrize("ply", [5, 40])
def test_load__into_other_positions_and_other_tables(ply):
    source = at_ply(ply, tables=10, seed=21, episode="match")
    target = Tables(6, seed=22, episode="match", history=True)
    target.load(source.save([7, 2]), [0, 5])
    untouched = Tables(6, seed=22, episode="match", history=True)
    for _ in range(4 * NEXT_PLY):
        obs, seat = target.observe()
        assert np.array_equal(target.views()[[0, 5]], source.views()[[7, 2]])
        assert np.array_equal(
            obs["observation"][[0, 5]], source.observe()[0]["observation"][[7, 2]]
        )
        assert np.array_equal(seat[[0, 5]], source.observe()[1][[7, 2]])
        assert np.array_equal(target.keys()[[0, 5]], source.keys()[[7, 2]])
        assert np.array_equal(target.views()[1:5], untouched.views()[1:5])
        for tables in (source, target, untouched):
            play(tables, 1)


def test_load__one_game_at_many_tables():
    tables = Tables(5, seed=1)
    play(tables, 22)
    tables.load(tables.save([3]).repeat(5))
    assert len({view.tobytes() for view in tables.views()}) == 1


def test_load__misfits_refused_and_nothing_moved():
    tables = at_ply(13)
    before = snapshot(tables)
    states = tables.save()
    four = Tables(8, Rules(name="four", seats=4, removed=())).save()
    same_layout = Tables(8, "face_value").save()
    for saved, where, words in [
        (tables.save([0, 1]), None, "2 saved games don't fit 8 tables"),
        (states, [0, 1], "8 saved games don't fit 2 tables"),
        (np.zeros(8, np.int64), None, "an array of records"),
        ((states, tables.views()), None, "an array of records"),
        (states.reshape(2, 4), None, "an array of records"),
        (four, None, "saved game 0 was played by other rules than 'three_player'"),
        (same_layout, None, "saved game 0 was played by other rules than 'three_player'"),
    ]:
        with pytest.raises(ValueError, match=words):
            tables.load(saved, where)
        assert snapshot(tables) == before


@pytest.mark.parametrize("layout", ["plain", "read-only", "strided"])
@pytest.mark.parametrize("keep", ["pickle", "file"])
def test_load__games_from_files_and_pickles(keep, layout, tmp_path):
    tables = at_ply(20)
    saved, before = tables.save(), snapshot(tables)
    if keep == "file":
        np.save(tmp_path / "games.npy", saved)
        saved = np.load(tmp_path / "games.npy")
    else:
        saved = pickle.loads(pickle.dumps(saved))
    tables.reset(9)
    tables.load(laid_out(saved, layout))
    assert snapshot(tables) == before
    with pytest.raises(ValueError, match=r"seat . may not"):
        tables.step(np.zeros(8, int))


@pytest.mark.parametrize("tables", [8, -1, 0.5, [0, 8], [[0]], "0", [True], np.ones(7, np.bool_)])
def test_save__no_such_tables(tables):
    eight = at_ply(20)
    with pytest.raises(ValueError, match="tables"):
        eight.save(tables)
    with pytest.raises(ValueError, match="tables"):
        eight.load(eight.save([0]), tables)


def test_save__none_some_and_by_mask():
    tables = at_ply(20)
    everything = tables.save()
    where = np.arange(8) % 3 == 0
    assert len(tables.save([])) == 0
    assert frozen(tables.save(where)) == frozen(everything[where])
    assert frozen(tables.save(np.uint8(3))) == frozen(everything[3:4])


def test_load__reward_and_episode_are_those_of_the_tables():
    match = Tables(8, seed=3, episode="match", reward="relative")
    play(match, 2 * NEXT_PLY + 20)
    hands = Tables(8, seed=5, reward="hand")
    hands.load(match.save())
    assert np.array_equal(hands.views(), match.views())
    cards = hands.observe()[0]["action_mask"].argmax(axis=1)
    for _ in range(NEXT_PLY - 20):
        cards = hands.observe()[0]["action_mask"].argmax(axis=1)
        rewards, done = hands.step(cards)
        match.step(cards)
    assert done.all()
    assert (rewards.sum(axis=1) == -43).all()
    assert not hands.totals().any()
    assert (match.totals().sum(axis=1) % 43 == 0).all()


FIELDS = [
    ("turn", 3), ("turn", -1), ("dealer", 9), ("playing", 0), ("playing", 9), ("num_playing", 2),
    ("phase", 3), ("phase", -1), ("num_played", 21), ("num_played", -1), ("to_play", 105),
    ("to_play", 0), ("in_trick", 3), ("in_trick", -2), ("pile_start", 30), ("pile_start", -1),
    ("taken_from", -3), ("leader", 5), ("best_seat", -1), ("last_taker", 3), ("led", 4),
    ("pass_steps", 3), ("num_passed", 8), ("legal", 0), ("legal", -1), ("hand", -1),
    ("match_hand", -1), ("table", -5), ("winners", 8), ("rules", 1),
]  # fmt: skip


@pytest.mark.parametrize(("field", "value"), FIELDS)
def test_load__damaged_games_refused(field, value):
    tables = at_ply(26)
    before = snapshot(tables)
    saved = tables.save()
    saved[field][5] = value
    with pytest.raises(ValueError, match=r"saved game 5 is damaged|other rules"):
        tables.load(saved)
    assert snapshot(tables) == before


@pytest.mark.parametrize("place", ["holding", "played", "given", "kitty"])
def test_load__games_with_a_card_too_many_refused(place):
    for ply in (4, 26):
        tables = at_ply(ply)
        saved = tables.save()
        planes = saved[place][5]
        planes.reshape(-1)[0] ^= 1 << 30
        if place == "given" and ply > 9:
            tables.load(saved)  # what was given away is known, and decides nothing
            continue
        with pytest.raises(ValueError, match="saved game 5 is damaged"):
            tables.load(saved)


def test_load__every_game_of_every_profile():
    for name, (choices, _) in PROFILES.items():
        rules = Rules.profile(name, choices[-1])
        tables = Tables(20, rules, seed=2, episode="match", deal_on=False)
        for _ in range(9 * 17):
            saved = tables.save()
            tables.load(saved)
            going = saved["phase"] != engine.OVER
            cards = np.where(going, tables.observe()[0]["action_mask"].argmax(axis=1), 0)
            tables.step(cards, going)
            if not going.any():
                break
        tables.revoke(tables.states()["phase"] != engine.OVER)
        tables.load(tables.save())


# --- rewards ----------------------------------------------------------------------------------


def side_by_side(kinds, plies, count=40, **options):
    """Rewards of the same play under several kinds: kind → (plies, N, seats), and done."""
    tables = {kind: Tables(count, seed=14, reward=kind, **options) for kind in kinds}
    generator = np.random.default_rng(14)
    rewards = {kind: [] for kind in kinds}
    done = []
    for _ in range(plies):
        cards = random_legal(tables[kinds[0]].observe()[0]["action_mask"], generator)
        for kind in kinds:
            given, over = tables[kind].step(cards)
            rewards[kind].append(given.copy())
        done.append(over.copy())
    assert len({t.views().tobytes() for t in tables.values()}) == 1
    return {kind: np.array(r, np.float64) for kind, r in rewards.items()}, np.array(done)


def test_reward__a_hand_is_over_after_60_cards():
    _, done = side_by_side(["trick"], 3 * NEXT_PLY)
    assert np.flatnonzero(done.any(axis=1)).tolist() == [59, 119, 179]
    assert done[59].all()


def test_reward__trick_takes_43_a_hand_from_the_takers():
    rewards, _ = side_by_side(["trick"], 3 * NEXT_PLY)
    trick = rewards["trick"].reshape(3, NEXT_PLY, 40, 3)
    assert (trick <= 0).all()
    assert (trick.sum(axis=(1, 3)) == -43).all()
    assert ((trick != 0).sum(axis=3) <= 1).all()
    played_last = np.arange(NEXT_PLY) >= 11
    played_last &= np.arange(NEXT_PLY) % 3 == 2
    assert not trick[:, ~played_last].any()
    assert trick[:, played_last].any(axis=(0, 2, 3)).all()


@pytest.mark.parametrize("episode", EPISODES)
def test_reward__hand_is_the_tricks_summed_at_its_end(episode):
    rewards, _ = side_by_side(["trick", "hand"], 8 * NEXT_PLY, episode=episode)
    trick = rewards["trick"].reshape(8, NEXT_PLY, 40, 3)
    hand = rewards["hand"].reshape(8, NEXT_PLY, 40, 3)
    assert not hand[:, :-1].any()
    assert np.array_equal(hand[:, -1], trick.sum(axis=1))


@pytest.mark.parametrize("episode", EPISODES)
def test_reward__relative_is_others_mean_minus_own_and_zero_sum(episode):
    rewards, _ = side_by_side(["trick", "relative"], 8 * NEXT_PLY, episode=episode)
    penalty = -rewards["trick"]
    others = (penalty.sum(axis=2, keepdims=True) - penalty) / 2
    assert np.array_equal(rewards["relative"], others - penalty)
    assert not rewards["relative"].sum(axis=2).any()
    assert rewards["relative"].any()


def test_reward__match_splits_1_at_the_matchs_end():
    rewards, done = side_by_side(["match", "trick"], 12 * NEXT_PLY, episode="match")
    shares = rewards["match"]
    assert not shares[~done].any()
    assert done.sum() >= 40
    assert shares[done].sum(axis=1) == pytest.approx(1)
    assert {round(float(share), 4) for share in np.unique(shares)} <= {0, 0.3333, 0.5, 1}


# --- revokes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("episode", EPISODES)
@pytest.mark.parametrize("ply", [0, 5, 9, 30, 59])
def test_revoke__where_it_happened_only(ply, episode):
    tables, others = at_ply(ply, episode=episode), at_ply(ply, episode=episode)
    where, seat = np.arange(8) % 3 == 0, tables.observe()[1].copy()
    before = tables.save()
    rewards, done = tables.revoke(where)
    taken = before["penalties"][:, :3]
    price = 43 * (np.arange(3) == seat[:, None])
    assert rewards.tolist() == np.where(where[:, None], taken - price, 0).tolist()
    assert done.tolist() == (where if episode == "hand" else where & False).tolist()
    totals = np.where(where[:, None] & (episode == "match"), price, 0)
    assert tables.totals().tolist() == totals.tolist()
    for name in engine.STATE.names:
        assert np.array_equal(tables.states()[name][~where], before[name][~where])
    others.reset(where=where)  # deals the next hand
    held = tables.layout["holding"]
    assert np.array_equal(tables.views()[:, :, held], others.views()[:, :, held])
    obs, seat = tables.observe()
    assert np.array_equal(obs["observation"], tables.views()[np.arange(8), seat])


def test_revoke__a_waiting_table_shows_the_hand_that_is_over():
    tables = at_ply(30, deal_on=False)
    where = np.ones(8, np.bool_)
    views = tables.views()
    _, done = tables.revoke(where)
    assert done.all()
    assert not tables.observe()[0]["action_mask"].any()
    same = [name for name in tables.layout.blocks if name not in ("phase", "totals")]
    for name in same:
        assert np.array_equal(tables.views()[:, :, tables.layout[name]],
                              views[:, :, tables.layout[name]])  # fmt: skip
    assert not tables.views()[:, :, tables.layout["phase"]].any()
    before = snapshot(tables)
    with pytest.raises(ValueError, match="row 2: the episode is over, nobody is to move"):
        tables.revoke(np.arange(8) >= 2)
    assert snapshot(tables) == before


@pytest.mark.parametrize("where", [[True], np.ones(8, np.int8), True, np.arange(8), "all"])
def test_revoke__of_another_shape_or_type_is_refused(where):
    tables = at_ply(5)
    before = snapshot(tables)
    with pytest.raises(ValueError, match="where must be bool"):
        tables.revoke(where)
    assert snapshot(tables) == before


# --- matches ----------------------------------------------------------------------------------


def test_match__dealer_totals_end_and_shares():
    """Hand by hand: the deal moves left, totals carry on, ≥ 100 ends it, lowest wins."""
    count = 300
    tables = Tables(count, seed=15, episode="match", reward="match")
    watch = Tables(count, seed=15, episode="match")
    hands = np.zeros(count, int)
    lengths, ties = [], 0
    for hand in range(16):
        totals = tables.totals().copy()
        dealers = tables.views()[:, 0, tables.layout["dealer"]].argmax(axis=1)
        shares = play(tables, NEXT_PLY)
        penalties = -play(watch, NEXT_PLY).sum(axis=0)
        after = totals + penalties
        done = (after >= 100).any(axis=1)
        assert np.array_equal(shares.any(axis=(0, 2)), done)
        hands += 1
        lowest = after == after.min(axis=1, keepdims=True)
        expected = lowest / lowest.sum(axis=1, keepdims=True) * done[:, None]
        assert shares[-1] == pytest.approx(expected)
        ties += (lowest[done].sum(axis=1) > 1).sum()
        assert np.array_equal(tables.totals(), np.where(done[:, None], 0, after))
        drawn = np.array([deal(15, t, hand + 1).dealer for t in range(count)])
        now = tables.views()[:, 0, tables.layout["dealer"]].argmax(axis=1)
        assert np.array_equal(now, np.where(done, drawn, (dealers + 1) % 3))
        lengths += hands[done].tolist()
        hands[done] = 0
        assert after.max() <= 142
    assert ties > 5
    assert set(lengths) <= {3, 4, 5, 6, 7}
    assert len(set(lengths)) >= 4


def test_match__done_says_when():
    tables = Tables(60, seed=16, episode="match")
    generator = np.random.default_rng(16)
    totals = np.zeros((60, 3))
    for _ in range(8 * NEXT_PLY):
        rewards, done = tables.step(random_legal(tables.observe()[0]["action_mask"], generator))
        totals -= rewards
        hand_over = (tables.views()[:, 0, tables.layout["phase"]][:, 0] == 1) & (
            tables.save()["num_passed"] == 0
        )
        assert np.array_equal(done, hand_over & (totals >= 100).any(axis=1))
        totals[done] = 0


def test_match__views_show_the_totals_from_each_seat():
    tables = Tables(10, seed=17, episode="match")
    play(tables, 2 * NEXT_PLY)
    shown = tables.views()[:, :, tables.layout["totals"]]
    for seat in range(3):
        assert np.array_equal(shown[:, seat], np.roll(tables.totals(), -seat, axis=1))
    assert (tables.totals().sum(axis=1) == 86).all()


# --- history ----------------------------------------------------------------------------------


def test_history__what_the_acting_seat_saw():
    tables = Tables(20, seed=18, history=True)
    games = []
    for t in range(20):
        cards, dealer = deal(18, t)
        games.append(oracle.Game([names(row) for row in cards], dealer))
    expected = np.zeros((history_rows(tables.rules), 3), np.int8)
    generator = np.random.default_rng(18)
    for _ in range(NEXT_PLY):
        obs, seat = tables.observe()
        for game, rows, observer in zip(games, obs["history"], seat, strict=True):
            oracle.encode_history(game.history(int(observer)), expected)
            assert np.array_equal(rows, expected)
        cards = random_legal(obs["action_mask"], generator)
        tables.step(cards)
        for game, card in zip(games, cards, strict=True):
            game.act(CARDS[card])
    assert (tables.observe()[0]["history"] == -1).all()  # a new hand, a new history


# --- keys -------------------------------------------------------------------------------------


def test_keys__a_hash_of_seed_table_hand_seat_and_ply():
    seen = set()
    for seed in (1, 2):
        tables = Tables(50, seed=seed)
        for _ in range(3 * NEXT_PLY):
            keys = tables.keys()
            assert np.array_equal(keys, tables.keys())
            seen.update(keys.tolist())
            play(tables, 1)
    assert len(seen) == 2 * 50 * 3 * NEXT_PLY


def test_keys__the_same_whatever_was_played():
    """Only (seed, table, hand, seat, ply) count: during the pass those don't depend on play."""
    random, duck = Tables(30, seed=4), Tables(30, seed=4)
    for _ in range(10):
        assert np.array_equal(random.keys(), duck.keys())
        play(random, 1, "random")
        play(duck, 1, "duck")
    assert not np.array_equal(random.views(), duck.views())


def test_keys__the_seat_counts():
    states, keys = Tables([0, 0, 0], seed=4).save(), np.zeros(3, np.uint64)
    states["turn"] = [0, 1, 2]
    engine.choice_keys(states, keys)
    assert len(set(keys.tolist())) == 3


def test_keys__are_those_of_the_states_whatever_is_called():
    def check():
        expected = np.zeros(len(tables), np.uint64)
        engine.choice_keys(tables.states(), expected)
        assert np.array_equal(tables.keys(), expected)

    tables, some = Tables(6, seed=3), np.arange(6) % 2 == 0
    check()
    for _ in range(70):  # into the second hand
        play(tables, 1)
        check()
    saved = tables.save()
    tables.step(tables.observe()[0]["action_mask"].argmax(axis=1), some)
    check()
    tables.revoke(some)
    check()
    tables.reset(9, some, hand=4)
    check()
    tables.start(dealer=1, seed=5, where=some)
    check()
    tables.load(saved)
    check()


def test_keys__a_copy():
    tables = Tables(3)
    keys = tables.keys()
    before = keys.copy()
    play(tables, 1)
    assert np.array_equal(keys, before)


# --- threads ----------------------------------------------------------------------------------


def test_threads__two_tables_at_once_as_one_after_the_other():
    def run(seed):
        tables = Tables(150, seed=seed, episode="match", history=True)
        bot = make_bot("duck")
        record = []
        for _ in range(5 * NEXT_PLY):
            obs, _ = tables.observe()
            rewards, done = tables.step(bot.act(obs, tables.keys()))
            record += [rewards.tobytes(), done.tobytes()]
        results[seed] = snapshot(tables), record

    results = {}
    for seed in (1, 2):
        run(seed)
    alone, results = results, {}
    threads = [threading.Thread(target=run, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert alone == results


def test_tables__halves_on_two_threads_play_what_all_play_on_one():
    """The engine lets go of the interpreter: two threads are nearly twice as fast as one."""
    bot, every = make_bot("random"), np.arange(64)
    played: dict[int, list[np.ndarray]] = {}

    def run(numbers):
        tables, cards = Tables(numbers, seed=7), []
        for _ in range(2 * NEXT_PLY):
            cards.append(bot.act(tables.observe()[0], tables.keys()))
            tables.step(cards[-1])
        played[int(numbers[0])] = [np.stack(cards, axis=1), tables.save()["penalties"]]

    threads = [threading.Thread(target=run, args=(half,)) for half in np.split(every, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    halves = [np.concatenate(both) for both in zip(played[0], played[32], strict=True)]
    run(every)
    for both, alone in zip(halves, played[0], strict=True):
        assert np.array_equal(both, alone)


def test_tables__keep_little_beside_what_they_hand_out():
    """So thousands of them fit into a processor's cache: 1.2 KB a table."""
    tracemalloc.start()
    tables = Tables(1000, history=True)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    obs, seat = tables.observe()
    handed_out = [*obs.values(), seat, *tables.step(obs["action_mask"].argmax(axis=1))]
    assert (kept - sum(array.nbytes for array in handed_out)) / len(tables) < 1.2 * 1024
    assert engine.STATE.itemsize < 1.2 * 1024


# --- some tables only, a seed for each, waiting at the end ------------------------------------


def test_step__where_moves_those_tables_only():
    tables, all_of_them = at_ply(NEXT_PLY - 1), at_ply(NEXT_PLY - 1)
    where = np.arange(8) % 3 == 0
    before = tables.save()
    cards = tables.observe()[0]["action_mask"].argmax(axis=1)
    rewards, done = tables.step(np.where(where, cards, -1), where)
    expected, _ = all_of_them.step(cards)
    assert np.array_equal(rewards, expected * where[:, None])
    assert np.array_equal(done, where)
    after, moved = tables.save(), all_of_them.save()
    for name in engine.STATE.names:
        assert np.array_equal(after[name][where], moved[name][where])
        assert np.array_equal(after[name][~where], before[name][~where])
    obs, seat = tables.observe()
    assert np.array_equal(obs["observation"], tables.views()[np.arange(8), seat])


@pytest.mark.parametrize("where", [[True], np.ones(8, np.int8), True, np.ones((8, 1), bool)])
def test_where__of_another_shape_or_type_is_refused(where):
    tables = at_ply(5)
    before = snapshot(tables)
    cards = tables.observe()[0]["action_mask"].argmax(axis=1)
    with pytest.raises(ValueError, match="where must be bool"):
        tables.step(cards, where)
    with pytest.raises(ValueError, match="where must be bool"):
        tables.reset(1, where)
    assert snapshot(tables) == before


def test_step__where_names_the_illegal_card_among_those_that_move():
    tables = at_ply(5)
    before = snapshot(tables)
    where = np.arange(8) >= 6
    with pytest.raises(ValueError, match="row 6, table 6"):
        tables.step(np.full(8, 99), where)
    assert snapshot(tables) == before


@pytest.mark.parametrize("kind", [list, np.uint64, tuple])
def test_seed__one_for_each_table(kind):
    seeds = [5, 0, 2**64 - 1, 5]
    mixed = Tables([0, 0, 3, 1], seed=kind(seeds))
    alone = [Tables([t], seed=s) for t, s in zip([0, 0, 3, 1], seeds, strict=True)]
    for _ in range(NEXT_PLY + 5):
        assert np.array_equal(mixed.views(), np.concatenate([one.views() for one in alone]))
        for tables in (mixed, *alone):
            play(tables, 1)


@pytest.mark.parametrize("seed", [[1, 2], [1, -1, 2], [1, 2.5, 3], [[1], [2], [3]], "abc", {1, 2}])
def test_seed__bad_ones_are_refused_and_nothing_changes(seed):
    tables = Tables(3, seed=4)
    before = snapshot(tables)
    with pytest.raises(ValueError, match="seed"):
        tables.reset(seed)
    assert snapshot(tables) == before


def test_reset__without_a_seed_deals_the_next_hand():
    tables, other = at_ply(7, episode="match"), at_ply(NEXT_PLY)
    where = np.arange(8) < 5
    before = tables.views().copy()
    tables.reset(where=where)
    assert np.array_equal(tables.views()[where], other.views()[where])
    assert np.array_equal(tables.views()[~where], before[~where])


@pytest.mark.parametrize("episode", EPISODES)
def test_deal_on__false_leaves_the_last_hand_until_reset(episode):
    waiting, going = (Tables(6, seed=1, episode=episode, deal_on=on) for on in (False, True))
    for _ in range(20 * NEXT_PLY):
        cards = going.observe()[0]["action_mask"].argmax(axis=1)
        assert snapshot(waiting) == snapshot(going)
        rewards, done = (array.copy() for array in waiting.step(cards))
        expected, expected_done = going.step(cards)
        assert np.array_equal(rewards, expected)
        assert np.array_equal(done, expected_done)
        if done.any():
            assert not waiting.observe()[0]["action_mask"][done].any()
            assert (waiting.states()["phase"][done] == engine.OVER).all()
            assert (waiting.totals()[done].sum(axis=1) % 43 == 0).all()
            with pytest.raises(ValueError, match="row"):
                waiting.step(going.observe()[0]["action_mask"].argmax(axis=1))
            waiting.reset(where=done)
    assert not waiting.states()["playoff"].any()
