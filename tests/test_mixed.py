"""Environments of several rules: every episode draws its own, and says which."""

import copy
import pickle
from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, parallel_api_test, seed_test

from black_maria import BlackMaria, BlackMariaVectorEnv, Rules, black_maria_v0, deal, make_bot
from black_maria.mixed import Mixed, as_mixed
from black_maria.rules_vector import RULES_SIZE, rules_vector
from black_maria.rulesets import HELD_OUT, SEATS, as_played, draw
from helpers import fill, ids
from test_aec import masked_dict
from test_seat import ID, assert_same, compare, legal_from_the_top, play, singles

THREE = ["three_player", "face_value", {"pass_count": 5, "name": "five"}]
"""As a name, a name and clauses."""
SIX = [Rules.profile("traditional", 6), "cancellation"]
"""One pack and two."""


def first(env, seed, episodes):
    """The rules of the first episodes."""
    found = []
    for number in range(episodes):
        env.reset(seed=seed if number == 0 else None)
        found.append(env.unwrapped.rules)
    return found


# --- what is drawn ------------------------------------------------------------------------------


def test_drawn__of_a_list_by_seed_and_hand_about_equally_often():
    env, again = BlackMaria("random", rules=THREE), BlackMaria("random", rules=THREE)
    found = first(env, 3, 60)
    assert found == first(again, 3, 60)
    assert found != first(again, 4, 60)
    counts = [sum(rules.name == name for rules in found) for name in ("three_player", "five")]
    assert all(10 <= count <= 30 for count in counts)
    assert {rules.name for rules in found} == {"three_player", "face_value", "five"}


@pytest.mark.parametrize(("given", "seats"), [("mixed", 3), ("mixed:seats=5", 5)])
def test_drawn__house_rules_are_those_of_seed_and_hand(given, seats):
    found = first(black_maria_v0.env(rules=given), 7, 5)
    assert found == [draw((7, hand), seats) for hand in range(5)]


def test_drawn__never_a_held_out_one():
    held_out = {as_played(each.rules) for each in HELD_OUT.values()}
    mixed = as_mixed("mixed")
    assert not held_out & {as_played(mixed.of(seed, hand)) for seed in (0, 9) for hand in range(50)}


def test_drawn__a_match_is_played_by_one():
    env = BlackMaria("random", rules=THREE, episode="match", illegal="lose")
    for number in range(3):
        _, info = env.reset(seed=2 if number == 0 else None)
        steps = play(env)
        assert {step[4]["rules"] for step in steps} == {info["rules"]} == {env.rules.name}
        reached = steps[-1][4]["totals"].max()
        assert reached >= env.rules.match_points


# --- what is seen -------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["mixed", "mixed:seats=6", THREE, SIX])
def test_observation__says_the_rules_that_are_played(rules):
    env = black_maria_v0.env(rules=rules, history=True)
    for number in range(6):
        env.reset(seed=1 if number == 0 else None)
        raw = env.unwrapped
        for agent in env.agent_iter(4 * raw.rules.seats):
            observation, *_, info = env.last()
            assert env.observation_space(agent).contains(observation)
            assert np.array_equal(observation["rules"], rules_vector(raw.rules))
            assert info["rules"] == raw.rules.name
            env.step(int(observation["action_mask"].argmax()))
        observation["rules"][:] = 0  # the caller's own
        assert env.observe(agent)["rules"].any()


def test_observation__a_list_of_one_says_its_rules_too():
    env = BlackMaria(rules=["omnibus"])
    observation, info = env.reset(seed=1)
    assert np.array_equal(observation["rules"], rules_vector("omnibus"))
    assert info["rules"] == "omnibus"
    plain, told = BlackMaria(rules="omnibus").reset(seed=1)
    assert np.array_equal(plain["observation"], observation["observation"])
    assert "rules" not in plain
    assert "rules" not in told


@pytest.mark.parametrize("many", [False, True])
def test_observation__flattened_has_the_rules_behind_the_vector(many):
    env = BlackMariaVectorEnv(3, rules="mixed", flatten=True) if many else None
    env = env or BlackMaria(rules="mixed", flatten=True)
    observation, _ = env.reset(seed=4)
    row = observation[0] if many else observation
    rules = env.rules[0] if many else env.rules
    assert observation.dtype == np.float32
    assert env.observation_space.contains(observation)
    plain, _ = BlackMaria(rules=rules).reset(seed=4)
    assert np.array_equal(row, np.concatenate([plain["observation"], rules_vector(rules)]))


def test_history__has_room_for_the_longest_hand():
    env = BlackMaria("random", rules=THREE, history=True)
    assert env.observation_space["history"].shape == (51 + 2 * 5, 3)
    assert BlackMaria(rules="mixed", history=True).observation_space["history"].shape == (62, 3)
    for seed in range(5):
        env.reset(seed=seed)
        assert env.observation_space.contains(play(env)[-1][0])


# --- what is played -----------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["mixed", THREE])
def test_episode__is_that_of_its_rules_alone(rules):
    env = BlackMaria(["heuristic", "random"], rules=rules, reward="relative")
    for number in range(4):
        own = env.reset(seed=5 if number == 0 else None)
        plain = BlackMaria(["heuristic", "random"], rules=env.rules, reward="relative")
        plain.reset(seed=5)
        for _ in range(number):
            theirs = plain.reset()
        steps = [(*theirs[:1], 0, theirs[1])] if number else []
        for one, other in zip(
            [(own[0], 0, own[1])] * bool(number) + play(env), steps + play(plain), strict=True
        ):
            for name in ("observation", "action_mask"):
                assert np.array_equal(one[0][name], other[0][name])
            assert one[1] == other[1]
            assert np.array_equal(one[-1]["totals"], other[-1]["totals"])


@pytest.mark.parametrize(
    ("arguments", "steps", "wrong"),
    [
        ({"rules": "mixed"}, 45, 0),
        ({"rules": "mixed:seats=5", "illegal": "lose", "history": True, "reward": "hand",
          "opponents": "duck"}, 25, 0.05),
        ({"rules": THREE, "flatten": True, "seat": 1, "opponents": ["duck", legal_from_the_top]},
         45, 0),
        ({"rules": SIX, "history": True, "opponents": "random"}, 25, 0),
        ({"rules": [*THREE, Rules.profile("traditional", 3, hands=3)], "episode": "match",
          "illegal": "lose", "reward": "relative", "opponents": "random"}, 110, 0.05),
    ],
)  # fmt: skip
def test_vector__equals_single_ones_game_for_game(arguments, steps, wrong):
    ours = BlackMariaVectorEnv(4, **arguments)
    assert compare(ours, singles(ours, 4, **arguments), 21, steps, wrong) >= 4
    assert len({rules.name for rules in ours.rules}) > 1


def test_vector__rows_do_not_depend_on_how_many_there_are():
    many, few = (BlackMariaVectorEnv(n, rules="mixed", opponents="random") for n in (9, 2))
    own, other = many.reset(seed=4), few.reset(seed=4)
    for _ in range(25):
        for name in own[0]:
            assert np.array_equal(own[0][name][:2], other[0][name])
        own = many.step(many.action_masks().argmax(axis=1))
        other = few.step(few.action_masks().argmax(axis=1))


def test_vector__resets_of_some_rows_and_with_options():
    ours = BlackMariaVectorEnv(3, opponents="random", rules=THREE)
    theirs = singles(ours, 3, opponents="random", rules=THREE)
    mask = np.array([True, False, True])
    for seed, options in [
        (5, None), (None, None), ([7, None, 2**64 - 1], None), (None, {"dealer": 1}),
        (3, {"totals": [1, 2, 3], "number": 4}), (None, {"reset_mask": mask}),
        (8, {"reset_mask": mask, "dealer": 2}), (None, {"deal": deal(1).cards}),
    ]:  # fmt: skip
        own = ours.reset(seed=seed, options=options)
        assert_same(own, theirs.reset(seed=seed, options=options))


def test_vector__cards_to_play_first_may_be_an_iterator():
    envs = BlackMariaVectorEnv(4, opponents="random", seat=0, rules=THREE)
    card = int(deal(1).cards[0, 0])
    options = {"deal": deal(1).cards, "dealer": 2, "actions": iter([card])}
    observation, _ = envs.reset(seed=1, options=options)
    assert not observation["action_mask"][:, card].any()


@pytest.mark.parametrize("make", [BlackMaria, partial(BlackMariaVectorEnv, 2)])
def test_reset__a_deal_that_does_not_fit_the_rules_is_refused_and_nothing_changes(make):
    fits = Rules.profile("four_player")
    rules = [fits, fits.replace(name="short", removed="2C 2D 2H 2S")]
    seed = next(seed for seed in range(99) if as_mixed(rules).of(seed, 0).name == "short")
    env = make(opponents="random", rules=rules)
    env.reset(seed=1)
    before = env.action_masks(), env.rules
    with pytest.raises(ValueError, match="2♠: not in the pack"):
        env.reset(seed=seed, options={"deal": deal(1, rules=fits).cards})
    assert np.array_equal(env.action_masks(), before[0])
    assert env.rules == before[1]


def test_illegal__says_why_by_the_rules_of_the_row():
    free = Rules(name="free", pass_count=0)
    waiting = free.replace(name="waiting", break_hearts=True)
    envs = BlackMariaVectorEnv(6, opponents="random", seat=0, rules=[waiting, free])
    envs.reset(seed=1, options={"deal": fill("AH 3C 4C 5C", "", ""), "dealer": 2})
    assert {rules.name for rules in envs.rules} == {"waiting", "free"}
    (heart,) = ids("AH")
    legal = [not rules.break_hearts for rules in envs.rules]
    assert envs.action_masks()[:, heart].tolist() == legal
    with pytest.raises(ValueError, match=f"row {legal.index(False)}, .*A♥.*broken"):
        envs.step(np.full(6, heart))


# --- opponents ----------------------------------------------------------------------------------


def test_opponents__that_read_are_told_the_rules():
    told = []

    def reader(obs, keys):
        told.append(obs["rules"].copy())
        return obs["action_mask"].argmax(axis=1)

    envs = BlackMariaVectorEnv(3, opponents=reader, rules="mixed")
    envs.reset(seed=1)
    for _ in range(4):
        envs.step(envs.action_masks().argmax(axis=1))
    rows = {row.tobytes() for batch in told for row in batch}
    assert rows == {rules_vector(rules).tobytes() for rules in envs.rules}
    assert max(map(len, told)) > 1, "asked for all rows at once"


@pytest.mark.parametrize("rules", ["mixed", THREE])
def test_opponents__that_play_by_other_rules_are_refused(rules):
    bot = make_bot("heuristic")
    with pytest.raises(ValueError, match="heuristic plays by 'three_player' alone"):
        BlackMaria(bot, rules=rules)
    with pytest.raises(ValueError, match="heuristic plays by 'three_player' alone"):
        BlackMariaVectorEnv(2, opponents=[bot, "random"], rules=rules)
    BlackMaria(bot, rules=["three_player"]).reset(seed=1)
    with pytest.raises(ValueError, match="no bot 'shark'"):
        BlackMaria("shark", rules=rules)


# --- conforming ---------------------------------------------------------------------------------


@masked_dict
@pytest.mark.parametrize("rules", ["mixed", SIX])
def test_conforms_to_pettingzoo(rules, capsys):
    make = partial(black_maria_v0.env, rules=rules, history=True)
    api_test(make(), num_cycles=150)
    seed_test(make, num_cycles=30)
    parallel_api_test(black_maria_v0.parallel_env(rules=rules), num_cycles=60)


@pytest.mark.parametrize("arguments", [{"rules": "mixed"}, {"rules": THREE, "flatten": True}])
def test_conforms_to_gymnasium(arguments):
    env = gymnasium.make(ID, illegal="lose", opponents="random", **arguments)
    check_env(env.unwrapped, skip_render_check=True)


@pytest.mark.parametrize(
    "rules", ["mixed", "mixed:seats=4", THREE, [Rules(), Rules.profile("omnibus", 3)]]
)
def test_spec__survives_json(rules):
    env = gymnasium.make(ID, rules=rules, opponents="random")
    spec = EnvSpec.from_json(env.spec.to_json())
    assert first(gymnasium.make(spec), 2, 3) == first(env, 2, 3)
    envs = gymnasium.make_vec(spec, 2, vectorization_mode="vector_entry_point")
    envs.reset(seed=2)
    assert envs.unwrapped.rules[0] == first(env, 2, 1)[0]


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("make", [BlackMaria, partial(BlackMariaVectorEnv, 3)])
def test_copies__go_on_alone_and_alike(make, duplicate):
    env = make(opponents="random", rules="mixed")
    env.reset(seed=1)
    twin = duplicate(env)
    for _ in range(3):
        card = env.action_masks().argmax(axis=-1)
        assert_same(env.step(card), twin.step(card))
    assert_same(env.reset(), twin.reset())


def test_render__shows_the_rules_of_the_episode():
    env = BlackMaria(rules=THREE, render_mode="ansi")
    envs = BlackMariaVectorEnv(4, rules=THREE, render_mode="ansi")
    for seed in range(4):
        env.reset(seed=seed)
        assert env.rules.name in env.render()
    envs.reset(seed=0)
    assert all(rules.name in text for rules, text in zip(envs.rules, envs.render(), strict=True))


# --- what is given ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "error", "words"),
    [
        (["three_player", "four_player"], ValueError,
         "'three_player' is for 3 seats and 'four_player' for 4.* equal seats"),
        ([], ValueError, "1 to 10,000"),
        (["three_player", "bridge"], ValueError, "no profile 'bridge'"),
        (["three_player", 3], TypeError, "rules must be"),
        ([["three_player"]], TypeError, "rules must be"),
        (["mixed", "mixed"], ValueError, "no profile 'mixed'"),
        ([{"pass_count": 99}], ValueError, "pass_count"),
        ("mixed:", ValueError, "'mixed:seats=4'"),
        ("mixed:seats=7", ValueError, "'mixed:seats=6'"),
        ("mixed:4", ValueError, "house rules are 'mixed' or"),
        ("mixedness", ValueError, "no profile"),
        ({"three_player", "face_value"}, TypeError, "rules must be"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("make", [black_maria_v0.env, BlackMaria, partial(BlackMariaVectorEnv, 2)])
def test_rules__that_cannot_be_drawn_are_refused_in_words(make, rules, error, words):
    with pytest.raises(error, match=words):
        make(rules=rules)


def test_rules__given_once_are_no_draw():
    for rules in ("three_player", Rules(), {"pass_count": 2}):
        assert as_mixed(rules) is None
    assert as_mixed("mixed") == Mixed(3) == as_mixed("mixed:seats=3")
    assert [as_mixed(f"mixed:seats={seats}").seats for seats in SEATS] == list(SEATS)
    assert as_mixed(iter(["omnibus", "omnibus"])).sets == (Rules.profile("omnibus"),) * 2
    assert BlackMaria(rules="mixed").observation_space["rules"].shape == (RULES_SIZE,)
