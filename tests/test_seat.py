"""One seat for Gymnasium: opponents, rewards, episodes, errors; single and in batches."""

import copy
import importlib
import pickle
import sys
import warnings
from functools import partial

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import FlattenObservation, RecordEpisodeStatistics, TransformReward
from gymnasium.wrappers import vector as vector_wrappers

import black_maria
from black_maria import (
    BlackMaria,
    BlackMariaVectorEnv,
    Rules,
    Tables,
    black_maria_v0,
    deal,
    make_bot,
)
from helpers import fill, ids, names
from hostile import frozen

ID = "black_maria:BlackMaria-v0"
DECISIONS = 3 + 17  # of one seat in a three-player hand


def first_legal(mask):
    return int(mask.argmax())


def play(env, limit=10**5):
    """Play an episode that has been reset: every step's results."""
    steps, terminated = [], False
    while not terminated:
        steps.append(env.step(int(env.get_wrapper_attr("action_masks")().argmax())))
        terminated = steps[-1][2]
        assert len(steps) < limit
    return steps


def assert_same(ours, theirs):
    """Equal in structure, type and every number."""
    assert type(ours) is type(theirs), (ours, theirs)
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys()
        for name in ours:
            assert_same(ours[name], theirs[name])
    elif isinstance(ours, np.ndarray):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        if ours.dtype == object:
            for own, other in zip(ours.flat, theirs.flat, strict=True):
                assert_same(own, other)
        else:
            assert np.array_equal(ours, theirs)
    elif isinstance(ours, tuple):
        for own, other in zip(ours, theirs, strict=True):
            assert_same(own, other)
    else:
        assert ours == theirs


def legal_from_the_top(obs, keys):
    """An opponent as a plain function: its highest card."""
    return 51 - obs["action_mask"][:, ::-1].argmax(axis=1)


class Noting:
    """An agent that plays first legal cards and notes what it was asked."""

    def act(self, obs, keys):
        vars(self).setdefault("asked", []).append(
            ({name: array.copy() for name, array in obs.items()}, keys.copy())
        )
        return obs["action_mask"].argmax(axis=1)


# --- registered and conforming ----------------------------------------------------------------


def test_make__by_id_with_every_argument():
    env = gymnasium.make(
        ID, opponents=["duck", "random"], seat=2, rules="three_player", reward="relative",
        episode="match", illegal="lose", flatten=True, render_mode="ansi",
    )  # fmt: skip
    assert isinstance(env.unwrapped, BlackMaria)
    observation, info = env.reset(seed=1)
    assert observation.shape == (656,)
    assert info["seat"] == 2
    assert "three_player" in env.render()


def test_register__importing_twice_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        importlib.reload(black_maria)


@pytest.mark.skipif(not hasattr(pettingzoo, "aec_registry"), reason="no registry before 1.27")
def test_register__with_pettingzoo():
    aec = pettingzoo.make("aec", "BlackMaria-v0", rules="four_player")
    assert isinstance(aec.unwrapped, black_maria_v0.raw_env)
    assert aec.unwrapped.rules.seats == 4
    parallel = pettingzoo.make("parallel", "BlackMaria-v0")
    assert parallel.reset(seed=1)[0].keys() == {"player_0", "player_1", "player_2"}


def test_register__without_a_registry_of_pettingzoos(monkeypatch):
    for name in ("aec_registry", "parallel_registry", "register"):
        monkeypatch.delattr(pettingzoo, name, raising=False)
    importlib.reload(black_maria)


VARIANTS = [
    {},
    {"flatten": True},
    {"history": True, "seat": 1},
    {"episode": "match", "reward": "match", "opponents": "random"},
    {"rules": "cancellation", "opponents": "duck"},
]


@pytest.mark.parametrize("arguments", VARIANTS)
def test_conforms_to_gymnasium(arguments):
    check_env(BlackMaria(illegal="lose", **arguments), skip_render_check=True)
    made = gymnasium.make(ID, illegal="lose", **arguments)
    check_env(made.unwrapped, skip_render_check=True)


@pytest.mark.parametrize("arguments", [{}, {"flatten": True}, VARIANTS[3]])
def test_conforms_to_stable_baselines3(arguments):
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    checker.check_env(BlackMaria(illegal="lose", **arguments))


@pytest.mark.parametrize("arguments", VARIANTS)
def test_spaces__hold_everything_and_masks_agree(arguments):
    env = BlackMaria(**arguments)
    observation, info = env.reset(seed=5)
    for step in [(observation, 0.0, False, False, info), *play(env)]:
        observation, reward, terminated, truncated, info = step
        assert env.observation_space.contains(observation)
        assert type(reward) is float
        assert not truncated
        assert info["action_mask"].any() != terminated
        if not arguments.get("flatten"):
            assert np.array_equal(observation["action_mask"], info["action_mask"])
    assert not env.action_masks().any()


# --- the game ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seat", [0, 1, 2])
@pytest.mark.parametrize("reward", ["trick", "hand", "relative"])
def test_hand__is_the_one_that_the_same_players_play_at_tables(seat, reward):
    """Observations, masks and rewards beside Tables of the same seed, bots at two seats."""
    env = BlackMaria("duck", seat, reward=reward)
    tables, duck = Tables(1, seed=8, reward=reward), make_bot("duck")
    observation, info = env.reset(seed=8)
    assert info["dealer"] == deal(8).dealer
    earned, decisions = 0.0, 0
    for ply in range(60):
        obs, turn = tables.observe()
        card = duck.act(obs, tables.keys())
        if turn[0] == seat:
            assert_same(observation, {name: array[0].copy() for name, array in obs.items()})
            card = [first_legal(info["action_mask"])]
            observation, reward_now, terminated, _, info = env.step(card[0])
            earned, decisions = earned + reward_now, decisions + 1
            assert terminated == (decisions == DECISIONS)
        rewards, _ = tables.step(card)
        earned -= float(rewards[0, seat])
        if ply < 59 and tables.observe()[1][0] == seat:
            assert earned == pytest.approx(0)  # all that fell to it meanwhile, nothing else
    assert earned == pytest.approx(0, abs=1e-5)
    assert terminated


def test_final_observation__is_of_the_hand_that_is_over():
    env = BlackMaria(seat=0)
    env.reset(seed=3)
    steps = play(env)
    observation, _, _, _, info = steps[-1]
    blocks = env._table.layout.split(observation["observation"])
    assert not blocks["holding"].any()
    assert blocks["captured"].sum() == 51
    assert info["totals"].sum() == 43
    assert -sum(step[1] for step in steps) == info["totals"][0] == blocks["totals"][0]


def test_seat__drawn_from_seed_and_hand():
    env = BlackMaria("random")
    seats = [env.reset(seed=seed)[1]["seat"] for seed in range(300)]
    assert np.all(np.abs(np.bincount(seats) - 100) < 35)
    assert [env.reset(seed=seed)[1]["seat"] for seed in range(300)] == seats
    dealers = [deal(seed).dealer for seed in range(300)]
    assert abs(np.mean(np.equal(dealers, seats)) - 1 / 3) < 0.1
    env.reset(seed=1)
    assert len({env.reset()[1]["seat"] for _ in range(20)}) == 3


def test_reset__without_a_seed_the_next_hand():
    env = BlackMaria("duck", 0)
    for hand in range(3):
        observation, _ = env.reset(seed=4) if hand == 0 else env.reset()
        mine = env._table.layout.split(observation["observation"])["holding"].nonzero()[0]
        dealt = deal(4, 0, hand).cards[0]
        assert set(mine) <= set(dealt)
        assert len(mine) == 17
    assert BlackMaria().reset()[0]["observation"].any()


HOLDINGS = [names(cards) for cards in deal(9).cards]


def test_reset__options_start_any_hand():
    env = BlackMaria("duck", 1)
    options = {"deal": HOLDINGS, "dealer": 0, "totals": [3, 50, 7], "seed": "not ours"}
    observation, info = env.reset(seed=1, options=options)
    assert (info["dealer"], info["totals"].tolist()) == (0, [3, 50, 7])
    assert set(np.flatnonzero(info["action_mask"])) == set(ids(" ".join(HOLDINGS[1])))
    card = HOLDINGS[1][0]
    observation, info = env.reset(options=options | {"actions": [card]})
    assert env._table.layout.split(observation["observation"])["passed"].nonzero()[0] == ids(card)


@pytest.mark.parametrize(
    ("seed", "options", "words"),
    [(-1, None, "2\\*\\*64"), ("x", None, "integer"), (None, {"dealer": 3}, "seats are 0 … 2"),
     (5, {"deal": HOLDINGS[:2]}, "3 seats"), (None, {"actions": ["2C"]}, "2♣")],
)  # fmt: skip
def test_reset__bad_values_are_refused_and_nothing_changes(seed, options, words):
    env, twin = BlackMaria(), BlackMaria()
    for each in (env, twin):
        each.reset(seed=6)
        each.step(first_legal(each.action_masks()))
    with pytest.raises(ValueError, match=words):
        env.reset(seed=seed, options=options)
    assert_same(play(env)[-1], play(twin)[-1])
    assert_same(env.reset(), twin.reset())


def test_match__totals_carry_on_and_the_winner_is_paid():
    env = BlackMaria("random", 0, episode="match", reward="match")
    paid = []
    for seed in range(6):
        env.reset(seed=seed)
        steps = play(env)
        totals = steps[-1][4]["totals"]
        assert totals.max() >= 100
        assert len(steps) % DECISIONS == 0
        lowest = (totals == totals.min()).sum()
        paid.append(sum(step[1] for step in steps))
        assert paid[-1] == pytest.approx((totals[0] == totals.min()) / lowest)
    assert set(paid) >= {0.0, 1.0}


PLAYOFF = black_maria.Rules(playoff=True, match_points=1)


def playoff_seed(out):
    """A seed whose first hand, all seats played by duck, ends in a play-off with or without 0."""
    for seed in range(400):
        tables, duck = Tables(1, PLAYOFF, seed=seed, episode="match"), make_bot("duck", PLAYOFF)
        for _ in range(60):
            tables.step(duck.act(tables.observe()[0], tables.keys()))
        state = tables.states()[0]
        if state.playoff and bool(state.playing & 1) != out:
            return seed
    raise AssertionError("no play-off")


def duck_steps(env, seed, until=10**6):
    """The learner plays duck's cards as well."""
    duck, steps = make_bot("duck", PLAYOFF), []
    observation, _ = env.reset(seed=seed)
    while len(steps) < until and (not steps or not steps[-1][2]):
        batch = {name: array[None] for name, array in observation.items()}
        steps.append(env.step(int(duck.act(batch, np.zeros(1, np.uint64))[0])))
        observation = steps[-1][0]
    return steps


@pytest.mark.parametrize("out", [True, False])
def test_match__a_play_off_ends_the_episode_of_a_seat_that_has_no_part(out):
    seed = playoff_seed(out)
    env = BlackMaria("duck", 0, rules=PLAYOFF, episode="match", reward="match")
    steps = duck_steps(env, seed)
    assert (len(steps) == DECISIONS) == out
    if out:
        assert sum(step[1] for step in steps) == 0
        assert not steps[-1][0]["observation"].any()  # absent from the play-off
    env.reset()
    assert len(play(env)) >= DECISIONS


def test_vector__equals_single_ones_through_play_offs():
    arguments = {"opponents": "duck", "rules": PLAYOFF, "episode": "match", "reward": "match"}
    ours = BlackMariaVectorEnv(30, **arguments)
    assert compare(ours, singles(ours, 30, **arguments), 1, 5 * DECISIONS) > 100


# --- opponents --------------------------------------------------------------------------------


def test_opponents__left_neighbour_first_with_their_own_view_and_key():
    left, right = Noting(), Noting()
    env = BlackMaria([left, right], 1, history=True)
    tables = Tables(1, seed=2, history=True)
    env.reset(seed=2)
    play(env)
    asked = {2: iter(left.asked), 0: iter(right.asked)}
    for _ in range(60):
        obs, turn = tables.observe()
        if turn[0] != 1:
            batch, keys = next(asked[int(turn[0])])
            assert_same(batch, {name: array.copy() for name, array in obs.items()})
            assert_same(keys, tables.keys())
        tables.step(obs["action_mask"].argmax(axis=1))
    assert not any(list(rest) for rest in asked.values())


@pytest.mark.parametrize("opponents", ["heuristic", make_bot("heuristic"),
                                       make_bot("heuristic").act, ["heuristic"] * 2,
                                       ("heuristic", make_bot("heuristic"))])  # fmt: skip
def test_opponents__by_name_object_function_or_list_are_the_same(opponents):
    env, same = BlackMaria(opponents), BlackMaria()
    assert_same(env.reset(seed=1), same.reset(seed=1))
    for own, other in zip(play(env), play(same), strict=True):
        assert_same(own, other)


def test_opponents__what_they_write_changes_nothing():
    def scribbler(obs, keys):
        cards = legal_from_the_top(obs, keys)
        for array in (*obs.values(), keys):
            array[:] = 1
        return cards

    for make in (BlackMaria, partial(BlackMariaVectorEnv, 3)):
        env, twin = make(opponents=scribbler), make(opponents=legal_from_the_top)
        assert_same(env.reset(seed=1), twin.reset(seed=1))
        for _ in range(DECISIONS - 1):
            cards = env.action_masks().argmax(axis=-1)
            assert_same(env.step(cards), twin.step(cards))


def clumsy(obs, keys):
    return obs["action_mask"].argmin(axis=1)


def lost(obs, keys):
    raise KeyError("way")


BAD = [
    (clumsy, r"opponent clumsy at seat \d, hand 0 of seed 5: seat \d may not"),
    (lost, r"opponent lost at seat \d, hand 0 of seed 5: KeyError: 'way'"),
    (lambda obs, keys: [0.5] * len(keys), r"float64 \(\d,\), not \d cards"),
    (lambda obs, keys: 3, r"int64 \(\), not \d cards"),
    (lambda obs, keys: np.full(len(keys), 99), "99 is not a card"),
    (lambda obs, keys: np.full(len(keys), -1), "-1 is not a card"),
    (lambda obs, keys: None, "object"),
    (lambda obs, keys: np.full(len(keys), np.nan), r"float64 \(\d,\), not \d cards"),
    (lambda obs, keys: obs["action_mask"].argmax(axis=1).astype("m8[s]"), "timedelta64"),
    (lambda obs, keys: np.full(len(keys), 2**64 - 1, np.uint64), "18446744073709551615 is not a"),
    (lambda obs, keys: [[1], [2, 3]], "ValueError"),
]


@pytest.mark.parametrize(("opponent", "words"), BAD)
@pytest.mark.parametrize("make", [BlackMaria, partial(BlackMariaVectorEnv, 1)])
def test_opponents__one_that_errs_is_named_with_seat_and_hand(opponent, words, make):
    env = make(opponents=opponent, seat=(deal(5).dealer + 2) % 3)  # its left neighbour passes
    with pytest.raises(RuntimeError, match=words):
        env.reset(seed=5)
    with pytest.raises(ResetNeeded):
        env.step(env.action_masks().argmax(axis=-1))


def test_opponents__the_next_reset_goes_on_after_an_error():
    failing = [True]

    def moody(obs, keys):
        if failing[0]:
            raise OSError
        return obs["action_mask"].argmax(axis=1)

    for make in (BlackMaria, partial(BlackMariaVectorEnv, 4)):
        env = make(opponents=moody, seat=0)
        failing[0] = True
        with pytest.raises(RuntimeError):
            env.reset(options={"dealer": 0})
        failing[0] = False
        env.reset(seed=1)
        env.step(env.action_masks().argmax(axis=-1))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"opponents": "nobody"}, "no bot 'nobody'"),
        ({"opponents": ["duck"]}, "1 opponents for 2 seats"),
        ({"opponents": ["duck"] * 3}, "3 opponents for 2 seats"),
        ({"seat": 3}, "seats are 0 … 2"),
        ({"seat": -1}, "seats are 0 … 2"),
        ({"seat": "left"}, "seats are 0 … 2"),
        ({"illegal": "ignore"}, "'raise', 'lose'"),
        ({"reward": "points"}, "'trick'"),
        ({"reward": "match"}, "episode='match'"),
        ({"episode": "day"}, "'match'"),
        ({"rules": "poker"}, "no profile 'poker'"),
        ({"render_mode": "hologram"}, "hologram"),
        ({"flatten": True, "history": True}, "history=True has no place"),
    ],
)
def test_arguments__bad_ones_are_refused_in_words(arguments, words):
    for make in (BlackMaria, BlackMariaVectorEnv):
        with pytest.raises(ValueError, match=words):
            make(**arguments)


def test_arguments__an_opponent_that_cannot_act():
    with pytest.raises(TypeError, match="no act"):
        BlackMaria(3.5)


# --- illegal cards ----------------------------------------------------------------------------


def test_illegal__raise_says_why_and_nothing_changes():
    env, twin = BlackMaria(seat=0), BlackMaria(seat=0)
    for each in (env, twin):
        each.reset(seed=7)
    for action in (first_legal(~env.action_masks()), 52, -1):
        with pytest.raises(ValueError, match="seat 0"):
            env.step(action)
    with pytest.raises(ValueError, match=r"action=1\.5 is not an integer"):
        env.step(1.5)
    for own, other in zip(play(env), play(twin), strict=True):
        assert_same(own, other)


SHORT = black_maria.Rules(pass_count=0)
TAKEN = fill("AC 3D 4D", "QS AD KD", "3C KS 4C", void={1: "C", 2: "D"})


def takes_and_throws(obs, keys):
    """Q♠, K♠, A♦ or K♦ if it may, else its lowest club or diamond."""
    first = ids("QS KS AD KD")
    order = np.array([*first, *(card for card in range(52) if card not in first)])
    return order[obs["action_mask"][:, order].argmax(axis=1)]


@pytest.mark.parametrize("make", [BlackMaria, partial(BlackMariaVectorEnv, 1)])
@pytest.mark.parametrize(
    ("reward", "given", "last"),
    [("trick", [-13, 0], -30), ("hand", [0, 0], -43), ("relative", [-13, 5], -35)],
)
def test_illegal__lose_takes_back_what_the_hand_had_given(make, reward, given, last):
    """Seat 0 takes 13, seat 1 takes 10, and then seat 0 doesn't follow."""
    env = make(opponents=takes_and_throws, seat=0, rules=SHORT, reward=reward, illegal="lose")
    env.reset(options={"deal": TAKEN, "dealer": 2})
    take, then, revoke = (np.full(env.action_space.shape, card) for card in ids("AC 3D AS"))
    assert [np.sum(env.step(card)[1]) for card in (take, then)] == given
    _, reward, terminated, truncated, info = env.step(revoke)
    assert (reward, terminated, truncated) == (last, True, False)
    totals = info["totals"] if make is BlackMaria else info["final_info"]["totals"][0]
    assert totals.tolist() == [43, 0, 0]


@pytest.mark.parametrize("reward", ["trick", "hand", "relative"])
@pytest.mark.parametrize("decision", [0, 2, 3, 10, 19])
def test_illegal__lose_costs_all_points_over_the_hand(reward, decision):
    env = BlackMaria("random", reward=reward, illegal="lose")
    env.reset(seed=decision)
    earned = 0.0
    for _ in range(decision):
        earned += env.step(first_legal(env.action_masks()))[1]
    _, reward_now, terminated, _, info = env.step(first_legal(~env.action_masks()))
    assert earned + reward_now == -43
    assert terminated
    assert info["totals"].tolist() == [43 * (seat == info["seat"]) for seat in range(3)]


@pytest.mark.parametrize("reward", ["trick", "hand", "relative", "match"])
def test_illegal__lose_lets_a_match_go_on(reward):
    """Three hands given away: 129 points, and the match is over."""
    env = BlackMaria("duck", 1, episode="match", reward=reward, illegal="lose")
    _, before = env.reset(seed=2)
    earned = 0.0
    for hand in range(1, 4):
        _, reward_now, terminated, truncated, info = env.step(52)
        earned += reward_now
        assert (terminated, truncated) == (hand == 3, False)
        assert info["action_mask"].any() != terminated
        assert info["dealer"] == (before["dealer"] + min(hand, 2)) % 3
        assert info["totals"].tolist() == [0, 43 * hand, 0]
    assert earned == (0 if reward == "match" else -129)
    with pytest.raises(ResetNeeded):
        env.step(52)


def test_illegal__lose_in_a_play_off_decides_it():
    env = BlackMaria("duck", 0, rules=PLAYOFF, episode="match", reward="match", illegal="lose")
    seed = playoff_seed(out=False)
    steps = duck_steps(env, seed, until=DECISIONS)
    totals = steps[-1][4]["totals"].tolist()
    assert not steps[-1][2]
    _, reward, terminated, _, info = env.step(52)
    assert terminated
    assert reward == 0
    assert info["totals"].tolist() == totals


@pytest.mark.parametrize("card", [None, 52, -1])
def test_illegal__lose_costs_all_points_and_ends_the_episode(card):
    env = BlackMaria(illegal="lose")
    env.reset(seed=7)
    card = first_legal(~env.action_masks()) if card is None else card
    observation, reward, terminated, truncated, info = env.step(card)
    assert (reward, terminated, truncated) == (-43.0, True, False)
    assert not observation["action_mask"].any()
    assert not info["action_mask"].any()
    with pytest.raises(ResetNeeded):
        env.step(card)
    twin = BlackMaria()
    twin.reset(seed=7)
    assert_same(env.reset(), twin.reset())  # on to the next hand


def test_step__before_reset_and_after_the_end():
    env = BlackMaria()
    with pytest.raises(ResetNeeded):
        env.step(0)
    env.reset(seed=1)
    play(env)
    with pytest.raises(ResetNeeded):
        env.step(0)
    with pytest.raises(ResetNeeded):
        BlackMariaVectorEnv(2).step([0, 0])


# --- what belongs to whom ---------------------------------------------------------------------


@pytest.mark.parametrize("make", [BlackMaria, partial(BlackMariaVectorEnv, 3)])
def test_arrays__belong_to_the_caller(make):
    def arrays(step):
        if isinstance(step, np.ndarray):
            if step.dtype == object:
                step = tuple(each for each in step if each is not None)
            else:
                return [step]
        parts = step.values() if isinstance(step, dict) else step
        nested = [part for part in parts if isinstance(part, dict | tuple | np.ndarray)]
        return [array for part in nested for array in arrays(part)]

    env, twin = make(history=True), make(history=True)
    results, kept = [(env.reset(seed=6), twin.reset(seed=6))], []
    for _ in range(DECISIONS + 2):
        own, other = results[-1]
        kept.append((other, copy.deepcopy(other)))
        for array in arrays(own):
            array[...] = 7
        for array in arrays(env.action_masks()):
            array[...] = True
        if make is BlackMaria and len(results) == DECISIONS + 1:
            break
        cards = twin.action_masks().argmax(axis=-1)
        results.append((env.step(cards), twin.step(cards)))
        assert_same(copy.deepcopy(results[-1][0]), copy.deepcopy(results[-1][1]))
    for now, then in kept:
        assert_same(now, then)


@pytest.mark.parametrize("opponents", ["heuristic", legal_from_the_top, ["duck", "random"]])
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("make", [BlackMaria, partial(BlackMariaVectorEnv, 3)])
def test_copies__go_on_alone_and_alike(make, duplicate, opponents):
    env = make(opponents=opponents, episode="match", reward="relative", rules="three_player")
    env.reset(seed=11)
    for _ in range(7):
        env.step(env.action_masks().argmax(axis=-1))
    twin = duplicate(env)
    for _ in range(30):
        cards = env.action_masks().argmax(axis=-1)
        ours = env.step(cards)
        assert_same(ours, twin.step(cards))
        if make is BlackMaria and ours[2]:
            break
    assert_same(env.reset(), twin.reset())


def test_options__survive_resets_and_copies():
    env = BlackMaria("random", 2, rules="omnibus", reward="hand", history=True)
    for each in (env, copy.deepcopy(env)):
        for _ in range(3):
            observation, info = each.reset()
            assert info["seat"] == 2
            assert "history" in observation
            steps = play(each)
            assert not any(step[1] for step in steps[:-1])
            assert steps[-1][1] == -steps[-1][4]["totals"][2]


# --- many at once -----------------------------------------------------------------------------


def singles(like, count, **arguments):
    return SyncVectorEnv(
        [partial(BlackMaria, **arguments) for _ in range(count)],
        autoreset_mode=like.metadata["autoreset_mode"],
    )


def compare(ours, theirs, seed, steps, wrong=0.0):
    """Step both with the same cards; now and then an illegal one. How many episodes ended."""
    generator, ended = np.random.default_rng(seed), 0
    own, other = ours.reset(seed=seed), theirs.reset(seed=seed)
    assert_same(own, other)
    for _ in range(steps):
        masks = other[-1]["action_mask"]
        cards = (generator.random(masks.shape) * masks).argmax(axis=1)
        err = generator.random(len(masks)) < wrong
        cards = np.where(err, masks.argmin(axis=1), cards)
        own, other = ours.step(cards), theirs.step(cards)
        assert_same(own, other)
        ended += other[2].sum()
    return ended


def test_vector__declares_same_step():
    envs = gymnasium.make_vec(ID, 3, vectorization_mode="vector_entry_point", flatten=True)
    assert isinstance(envs, BlackMariaVectorEnv)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert envs.num_envs == 3
    assert envs.single_observation_space.shape == (656,)
    observation, _ = envs.reset(seed=1)
    assert envs.observation_space.contains(observation)
    assert envs.action_space.contains(envs.action_masks().argmax(axis=1))


@pytest.mark.parametrize(
    ("arguments", "steps", "wrong"),
    [
        ({}, 50, 0),
        ({"illegal": "lose", "opponents": ["duck", legal_from_the_top]}, 60, 0.03),
        ({"illegal": "lose", "flatten": True, "opponents": "random", "seat": 1}, 40, 0.05),
        (
            {"illegal": "lose", "episode": "match", "reward": "relative", "history": True,
             "opponents": "random"},
            150, 0.04,
        ),
        (
            {"illegal": "lose", "episode": "match", "reward": "match", "opponents": "random"},
            150, 0.03,
        ),
        (
            {"illegal": "lose", "episode": "match", "rules": PLAYOFF, "opponents": "duck"},
            150, 0.02,
        ),
        (
            {"illegal": "lose", "rules": "cancellation", "opponents": "random", "reward": "hand"},
            40, 0.05,
        ),
        ({"rules": "dirty_lady", "history": True, "reward": "relative"}, 40, 0),
        ({"rules": "cancellation", "opponents": "random", "reward": "hand"}, 30, 0),
        ({"rules": "traditional", "episode": "match", "opponents": "random"}, 190, 0),
        ({"episode": "match", "reward": "match", "opponents": "duck"}, 200, 0),
    ],
)  # fmt: skip
def test_vector__equals_single_ones_hand_for_hand(arguments, steps, wrong):
    ours = BlackMariaVectorEnv(4, **arguments)
    assert compare(ours, singles(ours, 4, **arguments), 21, steps, wrong) >= 4


@pytest.mark.parametrize("card", [-1, 52, 255, 2**63 - 1])
def test_vector__a_number_that_is_no_card_is_illegal(card):
    ours = BlackMariaVectorEnv(2, illegal="lose")
    theirs = singles(ours, 2, illegal="lose")
    assert_same(ours.reset(seed=1), theirs.reset(seed=1))
    cards = np.array([card, ours.action_masks()[1].argmax()])
    own = ours.step(cards)
    assert_same(own, theirs.step(cards))
    assert own[1].tolist() == [-43, 0]
    assert own[2].tolist() == [True, False]


def test_vector__rows_do_not_depend_on_how_many_there_are():
    many, few = BlackMariaVectorEnv(1000), BlackMariaVectorEnv(2)
    own, other = many.reset(seed=4), few.reset(seed=4)
    for _ in range(2 * DECISIONS):
        assert np.array_equal(own[0]["observation"][:2], other[0]["observation"])
        own = many.step(many.action_masks().argmax(axis=1))
        other = few.step(few.action_masks().argmax(axis=1))
        assert np.array_equal(own[1][:2], other[1])


def test_vector__resets():
    ours = BlackMariaVectorEnv(3, opponents="random")
    theirs = singles(ours, 3, opponents="random")
    mask = np.array([True, False, True])
    for seed, options in [
        (5, None), (None, None), ([7, None, 2**64 - 1], None), (None, {"dealer": 1}),
        (3, {"deal": HOLDINGS, "totals": [1, 2, 3], "other": 1}), (None, {"reset_mask": mask}),
        (8, {"reset_mask": mask, "dealer": 2}), (None, {"actions": ()}),
    ]:  # fmt: skip
        own = ours.reset(seed=seed, options=options)
        other = theirs.reset(seed=seed, options=None if options is None else dict(options))
        assert_same(own, other)
        cards = ours.action_masks().argmax(axis=1)
        assert_same(ours.step(cards), theirs.step(cards))


def test_vector__unseeded_ones_differ():
    first, second = (BlackMariaVectorEnv(2).reset()[0]["observation"] for _ in range(2))
    assert not np.array_equal(first, second)
    assert not np.array_equal(first[0], first[1])


@pytest.mark.parametrize(
    ("seed", "options", "words"),
    [(-1, None, "2\\*\\*64"), (2**64 - 1, None, "2\\*\\*64"), ([1], None, "each of 2 rows"),
     ([1, 0.5], None, "integer"), (None, {"dealer": 5}, "seats are"),
     (None, {"reset_mask": [1, 0]}, "must be bool")],
)  # fmt: skip
def test_vector__bad_resets_are_refused_and_nothing_changes(seed, options, words):
    env, twin = BlackMariaVectorEnv(2), BlackMariaVectorEnv(2)
    for each in (env, twin):
        each.reset(seed=6)
    with pytest.raises(ValueError, match=words):
        env.reset(seed=seed, options=options)
    cards = env.action_masks().argmax(axis=1)
    assert_same(env.step(cards), twin.step(cards))
    assert_same(env.reset(), twin.reset())


def test_vector__bad_actions_are_refused_and_nothing_changes():
    env, twin = BlackMariaVectorEnv(2, seat=1), BlackMariaVectorEnv(2, seat=1)
    for each in (env, twin):
        each.reset(seed=6)
    cards = env.action_masks().argmax(axis=1)
    for actions, words in [
        ([0], "must be 2 integers"), ([0.5, 1], "must be 2 integers"),
        ([cards[0], 99], "row 1, seat 1: action 99"),
        ([cards[0], env.action_masks()[1].argmin()], "row 1, seat 1 may not pass"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=words):
            env.step(actions)
    assert_same(env.step(cards), twin.step(cards))


def test_vector__render():
    envs = BlackMariaVectorEnv(2, render_mode="ansi")
    envs.reset(seed=1)
    one = BlackMaria(render_mode="ansi")
    one.reset(seed=2)
    assert envs.render()[1] == one.render()
    with pytest.raises(ValueError, match="human"):
        BlackMariaVectorEnv(2, render_mode="human")


# --- Gymnasium's own wrappers and vectors -----------------------------------------------------


def test_wrappers__record_flatten_and_transform():
    env = gymnasium.make(ID, opponents="duck")
    env = TransformReward(RecordEpisodeStatistics(FlattenObservation(env)), lambda reward: -reward)
    observation, _ = env.reset(seed=1)
    assert observation.shape == (656 + 52,)
    steps = play(env)
    episode = steps[-1][4]["episode"]
    assert episode["l"] == DECISIONS
    assert episode["r"] == -sum(step[1] for step in steps)


def test_wrappers__record_statistics_of_the_vector():
    envs = vector_wrappers.RecordEpisodeStatistics(BlackMariaVectorEnv(3, opponents="duck"))
    _, infos = envs.reset(seed=1)
    returns = np.zeros(3)
    for _ in range(DECISIONS):
        _, rewards, ended, _, infos = envs.step(infos["action_mask"].argmax(axis=1))
        returns += rewards
    assert ended.all()
    assert np.array_equal(infos["episode"]["r"], returns)
    assert np.array_equal(infos["episode"]["l"], [DECISIONS] * 3)


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_make_vec__other_modes_too(mode):
    envs = gymnasium.make_vec(ID, 2, vectorization_mode=mode, opponents="random")
    ours = BlackMariaVectorEnv(2, opponents="random")
    assert_same(envs.reset(seed=3), ours.reset(seed=3))
    envs.close()


@pytest.mark.parametrize("context", ["spawn", "forkserver"])
@pytest.mark.skipif(sys.platform == "win32", reason="no forkserver there")
def test_async__in_processes_of_any_kind(context):
    arguments = {"opponents": ["heuristic", legal_from_the_top], "history": True}
    makers = [partial(gymnasium.make, ID, **arguments)] * 2
    envs = AsyncVectorEnv(makers, context=context, autoreset_mode=AutoresetMode.SAME_STEP)
    try:
        assert compare(BlackMariaVectorEnv(2, **arguments), envs, 3, DECISIONS + 2) == 2
    finally:
        envs.close()


# --- borders ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ({"seat": 1.0}, r"seat=1\.0: seats are 0 … 2, or None"),
        ({"seat": True}, "seat=True"),
        ({"flatten": "no"}, "flatten='no': it takes True or False"),
        ({"history": 1}, "history=1: it takes True or False"),
        ({"illegal": ["lose"]}, "illegal=.*'raise', 'lose'"),
        ({"render_mode": np.zeros(2)}, "render_mode=.*'human', 'ansi'"),
    ],
)
def test_arguments__of_the_wrong_kind_are_refused_in_words(argument, words):
    for make in (BlackMaria, BlackMariaVectorEnv):
        with pytest.raises(ValueError, match=words):
            make(**argument)


@pytest.mark.parametrize("count", [0, -1, 1.5, "3", True, None, [2], np.array([2])])
def test_vector__impossible_numbers_refused(count):
    with pytest.raises(ValueError, match=r"^num_envs="):
        BlackMariaVectorEnv(count)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "options=.*: give a mapping"),
        ({"reset_mask": [1, 0]}, r"reset_mask must be bool, shape \(2,\), not int64 \(2,\)"),
        ({"reset_mask": True}, "reset_mask must be bool"),
        ({"reset_mask": [True]}, "reset_mask must be bool"),
        ({"dealer": [0, 1, 2]}, "dealer=.*: give one for each of 2 tables"),
    ],
)
def test_vector__impossible_options_change_nothing(options, words):
    envs = BlackMariaVectorEnv(2)
    envs.reset(seed=1)
    before = frozen(envs)
    with pytest.raises(ValueError, match=words):
        envs.reset(seed=2, options=options)
    assert frozen(envs) == before


def test_vector__a_reset_of_no_row_changes_nothing():
    envs = BlackMariaVectorEnv(2)
    envs.reset(seed=1)
    before = frozen(envs)
    envs.reset(options={"reset_mask": np.zeros(2, np.bool_)})
    assert frozen(envs) == before


def test_vector__hands_out_no_hand_that_nobody_asked_for():
    envs = BlackMariaVectorEnv(3, render_mode="ansi", history=True)
    assert not envs.action_masks().any()
    with pytest.raises(ResetNeeded, match=r"call reset\(\)"):
        envs.render()
    where = np.array([True, False, True])
    observation, info = envs.reset(seed=1, options={"reset_mask": where})
    for values in (*observation.values(), info["action_mask"], envs.action_masks()):
        assert values.reshape(3, -1).any(axis=1).tolist() == where.tolist()
    with pytest.raises(ResetNeeded, match=r"call reset\(\)"):
        envs.render()
    envs.reset(options={"reset_mask": ~where})
    assert len(envs.render()) == 3


def test_vector__has_gymnasiums_attribute_for_the_autoreset_mode():
    envs = BlackMariaVectorEnv(2)
    assert envs.autoreset_mode is envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP


@pytest.mark.parametrize("flatten", [False, True])
def test_vector__spaces_print_shortly(flatten):
    envs = BlackMariaVectorEnv(64, flatten=flatten)
    for space in (envs.observation_space, envs.single_observation_space):
        assert len(repr(space)) < 200
        assert pickle.loads(pickle.dumps(space)) == space


def test_spec__rules_survive_json():
    rules = Rules.profile("omnibus", 4, moon="subtract")
    env = gymnasium.make(ID, rules=rules, opponents="duck")
    spec = EnvSpec.from_json(env.spec.to_json())
    assert isinstance(spec.kwargs["rules"], dict)
    assert gymnasium.make(spec).unwrapped.rules == rules
    envs = gymnasium.make_vec(spec, 2, vectorization_mode="vector_entry_point")
    assert envs.rules == rules
    envs.reset(seed=1)
