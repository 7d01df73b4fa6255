"""The PettingZoo environment: conformance, rewards, options, refusals, copies."""

import copy
import pickle
import random
from itertools import pairwise

import numpy as np
import pettingzoo
import pytest
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from pettingzoo.test import api_test, parallel_api_test, seed_test
from pettingzoo.utils import wrappers
from pettingzoo.utils.conversions import parallel_to_aec, turn_based_aec_to_parallel
from pettingzoo.utils.env import AECIterable
from pettingzoo.utils.env_logger import EnvLogger

from black_maria import (
    PROFILES,
    Rules,
    Tables,
    black_maria_v0,
    card_names,
    deal,
    engine,
    parse_card,
    parse_cards,
)
from black_maria.engine import EPISODES
from black_maria.layout import layout_of
from helpers import fill

EVERY_PROFILE = [(name, seats) for name, (choices, _) in PROFILES.items() for seats in choices]

# Two hints of api_test look for a bare array, and come up at PettingZoo's own classic games
# with a mask as well.
HINTS = "Observation is not a NumPy array", "Observation space for each agent probably should be"
masked_dict = pytest.mark.filterwarnings(
    *(f"ignore:{hint}:UserWarning:pettingzoo.test.api_test" for hint in HINTS)
)


def play(env, choose=None, *, limit=10**6):
    """Play to the end; everything that each agent got through last()."""
    rng = random.Random(0)
    choose = choose or (lambda agent, legal: rng.choice(legal))
    received = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter(limit):
        observation, reward, termination, truncation, _ = env.last()
        received[agent] += reward
        if termination or truncation:
            env.step(None)
        else:
            env.step(int(choose(agent, np.flatnonzero(observation["action_mask"]))))
    return received


@masked_dict
@pytest.mark.parametrize("episode", EPISODES)
@pytest.mark.parametrize("make", [black_maria_v0.env, black_maria_v0.raw_env])
@pytest.mark.parametrize("history", [False, True])
def test_conforms_to_pettingzoo(make, episode, history, capsys):
    api_test(make(episode=episode, history=history), num_cycles=300)


@masked_dict
@pytest.mark.filterwarnings(  # in a play-off the seats that have no part in it see zeros
    "ignore:Observation numpy array is all zeros:UserWarning:pettingzoo.test.api_test"
)
@pytest.mark.parametrize(("profile", "seats"), EVERY_PROFILE)
def test_conforms_to_pettingzoo__every_profile(profile, seats, capsys):
    rules = Rules.profile(profile, seats)
    api_test(black_maria_v0.env(rules=rules, episode="match", history=True), num_cycles=200)
    seed_test(lambda: black_maria_v0.env(rules=rules), num_cycles=40)


@pytest.mark.parametrize(("profile", "seats"), EVERY_PROFILE)
def test_spaces__hold_every_observation_of_every_profile(profile, seats):
    env = black_maria_v0.env(rules=Rules.profile(profile, seats), episode="match", history=True)
    env.reset(seed=1)
    rng = random.Random(1)
    for _ in range(400):
        for agent in env.agents:
            assert env.observation_space(agent).contains(env.observe(agent))
        assert env.unwrapped.state_space.contains(env.state())
        mask = env.last()[0]["action_mask"]
        env.step(int(rng.choice(np.flatnonzero(mask))) if mask.any() else None)
        if not env.agents:
            env.reset()


@pytest.mark.parametrize("episode", EPISODES)
def test_conforms_to_pettingzoo__parallel(episode, capsys):
    parallel_api_test(black_maria_v0.parallel_env(episode=episode), num_cycles=300)


@pytest.mark.parametrize(
    ("wrap", "hands"),
    [
        (wrappers.BaseWrapper, 1),
        (lambda env: wrappers.MultiEpisodeEnv(env, num_episodes=3), 3),
        (lambda env: parallel_to_aec(turn_based_aec_to_parallel(env)), 1),
    ],
)
def test_wrappers__that_make_sense_with_a_turn_game(wrap, hands):
    env = wrap(black_maria_v0.env())
    env.reset(seed=1)
    assert (
        sum(play(env, lambda agent, legal: legal[0] if len(legal) else 0).values()) == -43 * hands
    )


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="since PettingZoo 1.27")
def test_registry__pettingzoo_makes_it_by_name():
    env = pettingzoo.make("aec", "BlackMaria-v0", rules="four_player")
    env.reset(seed=1)
    assert len(env.agents) == 4
    env = pettingzoo.make("parallel", "BlackMaria-v0")
    assert len(env.reset(seed=1)[0]) == 3


def test_conforms_to_pettingzoo__seeds():
    seed_test(black_maria_v0.env, num_cycles=100)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("reward", ["trick", "hand"])
def test_rewards__what_last_gives_sums_to_the_hands_penalties(reward, seed):
    env = black_maria_v0.env(reward=reward)
    env.reset(seed=seed)
    received = play(env)
    assert -np.array(list(received.values())) == pytest.approx(
        env.unwrapped._states["penalties"][0, :3]
    )
    assert sum(received.values()) == -43


def test_rewards__relative_is_zero_sum_and_own_minus_others_mean():
    env = black_maria_v0.env(reward="relative")
    env.reset(seed=1)
    received = np.array(list(play(env).values()))
    penalties = env.unwrapped._states["penalties"][0, :3].astype(float)
    assert received.sum() == 0
    assert received == pytest.approx((penalties.sum() - penalties) / 2 - penalties)


def test_rewards__match_splits_one_among_the_winners():
    for seed in range(20):
        env = black_maria_v0.env(reward="match", episode="match")
        env.reset(seed=seed)
        received = np.array(list(play(env).values()))
        totals = env.unwrapped._states["totals"][0, :3]
        winners = totals == totals.min()
        assert received == pytest.approx(winners / winners.sum())


def test_match__dealer_moves_left_totals_carry_and_100_ends_it():
    env = black_maria_v0.env(episode="match")
    env.reset(seed=4)
    seen = []

    def choose(agent, legal):
        info = env.infos[agent]
        if not seen or seen[-1] != info:
            seen.append(dict(info))
        return legal[0]

    received = play(env, choose)
    totals = tuple(env.unwrapped._states["totals"][0, :3].tolist())
    assert len(seen) >= 3
    for before, after in pairwise(seen):
        assert after["dealer"] == (before["dealer"] + 1) % 3
        assert sum(after["totals"]) == sum(before["totals"]) + 43
        assert max(before["totals"]) < 100
    assert max(totals) >= 100
    assert sum(received.values()) == -sum(totals) == -43 * len(seen)


def test_reset__same_seed_same_hand_and_without_a_seed_the_next():
    env = black_maria_v0.env()
    for seed, hand in ((7, 0), (None, 1), (None, 2), (7, 0)):
        env.reset(seed=seed)
        cards, dealer = deal(7, 0, hand)
        holding = layout_of()["holding"]
        for seat, agent in enumerate(env.agents):
            held = np.flatnonzero(env.observe(agent)["observation"][holding])
            assert held.tolist() == cards[seat].tolist()
            assert env.infos[agent]["dealer"] == dealer
        assert env.agent_selection == f"player_{(dealer + 1) % 3}"


@pytest.mark.parametrize("episode", EPISODES)
@pytest.mark.parametrize(("profile", "seats"), EVERY_PROFILE)
def test_reset__the_same_state_as_tables_and_nothing_left_of_the_last_hand(profile, seats, episode):
    rules = Rules.profile(profile, seats)
    env = black_maria_v0.raw_env(rules=rules, episode=episode)
    for seed in (3, 4):
        env.reset(seed=seed)
        tables = Tables(1, rules, seed=seed, episode=episode)
        for name in engine.STATE.names:
            assert np.array_equal(env._states[name], tables.states()[name]), name
        assert np.array_equal(env.last()[0]["action_mask"], tables.observe()[0]["action_mask"][0])
        play(env, limit=90)


def test_reset__unseeded_environments_differ():
    envs = black_maria_v0.env(), black_maria_v0.env()
    for env in envs:
        env.reset()
    assert not np.array_equal(envs[0].state(), envs[1].state())


def test_reset__leaves_global_generators_alone():
    before = random.getstate(), np.random.get_state()[1].tolist()
    env = black_maria_v0.env()
    env.reset(seed=3)
    env.reset()
    play(env, lambda agent, legal: legal[0])
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before


SUITED = [
    "3C 4C 5C 6C 7C 8C 9C TC JC QC KC AC 2D 3D 4D 5D 6D",
    "7D 8D 9D TD JD QD KD AD 2H 3H 4H 5H 6H 7H 8H 9H TH",
    "JH QH KH AH 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS AS",
]
"""A deal given from outside: clubs, then diamonds, hearts, spades."""


def test_reset__options_start_any_hand():
    env = black_maria_v0.env(episode="match")
    passes = "3C 4C 5C  7D 8D 9D  JH QH KH"
    env.reset(
        options={"deal": SUITED, "dealer": 2, "totals": [90, 3, 0], "actions": passes + " AC"}
    )
    assert env.agent_selection == "player_1"
    assert env.infos["player_0"] == {"dealer": 2, "totals": (90, 3, 0)}
    blocks = layout_of().split(env.observe("player_1")["observation"])
    assert card_names(np.flatnonzero(blocks["received"])) == "J♥ Q♥ K♥"  # from its left
    assert card_names(np.flatnonzero(blocks["passed"])) == "7♦ 8♦ 9♦"
    assert card_names(np.flatnonzero(blocks["trick"][2])) == "A♣"
    assert blocks["totals"].tolist() == [3, 0, 90]
    assert blocks["dealer"].tolist() == [0, 1, 0]


def test_reset__a_new_dealer_keeps_the_deal():
    cards, dealer = deal(5)
    env = black_maria_v0.raw_env()
    env.reset(seed=5, options={"dealer": (dealer + 1) % 3})
    held = env.observe("player_1")["observation"][layout_of()["holding"]]
    assert np.flatnonzero(held).tolist() == cards[1].tolist()
    assert env.agent_selection == f"player_{(dealer + 2) % 3}"


def test_reset__exact_totals_are_in_the_info_and_clipped_in_the_observation():
    env = black_maria_v0.env()
    env.reset(seed=0, options={"totals": [1000, -500, 5]})
    assert env.infos["player_2"]["totals"] == (1000, -500, 5)
    totals = env.observe("player_2")["observation"][layout_of()["totals"]]
    assert totals.tolist() == [5, 127, -128]
    assert env.observation_space("player_2").contains(env.observe("player_2"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"deal": SUITED[:2]}, "3 seats, not of 2"),
        ({"deal": ["2C" + SUITED[0][2:], *SUITED[1:]]}, "2♣: not in the pack"),
        ({"deal": ["AS" + SUITED[0][2:], *SUITED[1:]]}, "A♠ at seats 0 and 2"),
        ({"deal": ["4C" + SUITED[0][2:], *SUITED[1:]]}, "4♣ twice at seat 0"),
        ({"deal": [SUITED[0][3:], *SUITED[1:]]}, "16 cards instead of 17; nobody holds 3♣"),
        ({"deal": ["1X" + SUITED[0][2:], *SUITED[1:]]}, "'1X' is not a card"),
        ({"dealer": 3}, "seats are 0 … 2"),
        ({"dealer": "north"}, "not an integer"),
        ({"totals": [1, 2]}, "one for each of 3 seats"),
        ({"totals": [0, 100, 0]}, "the match is over at 100"),
        ({"totals": [0, 1.5, 0]}, "not an integer"),
        ({"deal": SUITED, "dealer": 2, "actions": "3C 4C AS"}, r"action 2 .*may not pass A♠"),
        ({"actions": [99]}, "99 is not a card"),
    ],
)
def test_reset__bad_options_are_refused_and_nothing_changes(options, message):
    env = black_maria_v0.env(episode="match")
    env.reset(seed=1)
    before = env.state(), env.agent_selection
    with pytest.raises(ValueError, match=message):
        env.reset(seed=2, options=options)
    assert np.array_equal(env.state(), before[0])
    assert env.agent_selection == before[1]
    env.reset()
    reference = black_maria_v0.env(episode="match")
    reference.reset(seed=1)
    reference.reset()
    assert np.array_equal(env.state(), reference.state())


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "one"])
def test_reset__impossible_seeds_are_refused(seed):
    with pytest.raises(ValueError, match="seed"):
        black_maria_v0.env().reset(seed=seed)


def test_reset__actions_that_end_the_hand_are_refused():
    env = black_maria_v0.raw_env()
    env.reset(seed=0)
    actions = []
    play(env, lambda agent, legal: actions.append(int(legal[0])) or legal[0])
    with pytest.raises(ValueError, match=r"action 59 .*ends the hand"):
        env.reset(seed=0, options={"actions": actions})
    env.reset(seed=0, options={"actions": actions[:-1]})
    assert sum(play(env).values()) == -env.unwrapped._states["penalties"][0, :3].sum() + sum(
        penalties_before_last_trick(actions)
    )


def penalties_before_last_trick(actions):
    env = black_maria_v0.raw_env()
    env.reset(seed=0, options={"actions": actions[:-1]})
    return env._states["penalties"][0, :3].tolist()


def test_illegal__raw_env_says_why_and_nothing_changes():
    env = black_maria_v0.raw_env()
    env.reset(options={"deal": SUITED, "dealer": 2, "actions": "3C 4C 5C 7D 8D 9D JH QH AH"})
    env.step(parse_card("AC"))
    env.step(parse_card("AD"))  # no clubs: may throw anything

    def told() -> bytes:
        return pickle.dumps((env._desk, env._observation, env.rewards, env.agent_selection))

    before = told()
    for action, why in (
        (parse_card("AC"), "seat 2 may not play A♣: it holds"),
        (parse_card("2H"), "seat 2 may not play 2♥: it holds"),
        (52, "not a card"),
        (-1, "not a card"),
        (None, "not an integer"),
        ("QS", "not an integer"),
        (1.0, "not an integer"),
    ):
        with pytest.raises(ValueError, match=why):
            env.step(action)
        assert told() == before


def test_illegal__not_following_suit_names_the_suit():
    env = black_maria_v0.raw_env()
    env.reset(options={"deal": SUITED, "dealer": 2, "actions": "AC KC 6D 7D 8D 9D JH QH KH QC"})
    env.step(parse_card("TD"))  # void in clubs
    with pytest.raises(ValueError, match="seat 2 may not play 2♠: it must follow suit, clubs"):
        env.step(parse_card("2S"))


SHORT = Rules(pass_count=0)
TAKEN = fill("AC 3D 4D", "QS AD KD", "3C KS 4C", void={1: "C", 2: "D"})
TAKE = parse_cards("AC QS 3C 3D AD KS KD 4C")
"""Seat 0 takes 13, seat 1 takes 10, and then seat 0 must follow K♦."""


def revoking_at(ply):
    """Chooses at random, and at one ply an illegal card; for ``play``."""
    rng, count = random.Random(ply), iter(range(10**6))

    def choose(agent, legal):
        illegal = [card for card in range(52) if card not in legal]
        return rng.choice(illegal if next(count) == ply else legal)

    return choose


def test_revoke__costs_43_over_the_hand_and_the_others_nothing():
    env = black_maria_v0.env(rules=SHORT)
    env.reset(options={"deal": TAKEN, "dealer": 2})
    cards = iter([*TAKE, parse_card("AS")])
    received = play(env, lambda agent, legal: next(cards))
    assert received == {"player_0": -43, "player_1": 0, "player_2": 0}
    assert not env.agents


@pytest.mark.parametrize("ply", [0, 1, 8, 9, 20, 40, 59])
@pytest.mark.parametrize(("reward", "others"), [("trick", 0), ("hand", 0), ("relative", 21.5)])
def test_revoke__what_last_gives_adds_up_to_the_price(reward, others, ply):
    env = black_maria_v0.env(reward=reward)
    env.reset(seed=3)
    seat = (deal(3).dealer + 1 + ply // 3) % 3 if ply < 9 else None
    received = play(env, revoking_at(ply))
    assert sorted(received.values()) == [-43, others, others]
    assert seat is None or received[f"player_{seat}"] == -43


@pytest.mark.parametrize(
    ("profile", "seats", "points"),
    [("four_player", 4, 43), ("traditional", 6, 42), ("dirty_lady", 3, 36), ("omnibus", 5, 33),
     ("american_hearts", 4, 26), ("face_value", 3, 134), ("cancellation", 6, 86)],
)  # fmt: skip
@pytest.mark.parametrize("ply", [4, 30])
def test_revoke__costs_all_that_counts_in_the_hand(profile, seats, points, ply):
    env = black_maria_v0.env(rules=Rules.profile(profile, seats))
    env.reset(seed=4)
    received = play(env, revoking_at(ply))
    assert sorted(received.values()) == [-points] + [0] * (seats - 1)


def test_revoke__ends_a_single_hand_by_its_rules():
    env = black_maria_v0.env(history=True)
    env.reset(seed=0)
    offender = env.agent_selection
    env.step(int(env.last()[0]["action_mask"].argmin()))
    assert env.terminations == dict.fromkeys(env.possible_agents, True)
    assert env.truncations == dict.fromkeys(env.possible_agents, False)
    seat = env.possible_agents.index(offender)
    for agent in env.agents:
        observation = env.observe(agent)
        assert env.infos[agent]["totals"][seat] == sum(env.infos[agent]["totals"]) == 43
        assert not observation["action_mask"].any()
        assert env.observation_space(agent).contains(observation)
    assert play(env) == {agent: -43 if agent == offender else 0 for agent in env.possible_agents}
    assert env.agents == []
    env.reset()
    cards, _ = deal(0, 0, 1)
    held = env.observe("player_0")["observation"][layout_of()["holding"]]
    assert np.flatnonzero(held).tolist() == cards[0].tolist()


def test_revoke__a_match_goes_on():
    env = black_maria_v0.env(rules=SHORT, episode="match")
    env.reset(options={"deal": TAKEN, "dealer": 2, "totals": [10, 20, 30]})
    for card in TAKE:
        env.step(card)
    env.step(parse_card("AS"))
    assert env.agents == env.possible_agents
    assert not any(env.terminations.values())
    assert not any(env.truncations.values())
    assert env.rewards == {"player_0": -30, "player_1": 10, "player_2": 0}
    for agent in env.agents:
        assert env.infos[agent] == {"dealer": 0, "totals": (53, 20, 30)}
    assert env.agent_selection == "player_1"
    assert env.last()[0]["action_mask"].sum() == 17
    assert [env._cumulative_rewards[agent] for agent in env.agents] == [-30, 10, 0]


@pytest.mark.parametrize("reward", ["trick", "hand", "relative", "match"])
def test_revoke__whole_matches_add_up(reward):
    """Somebody revokes now and then; totals and rewards say the same all along."""
    for seed in range(4):
        env = black_maria_v0.env(episode="match", reward=reward)
        env.reset(seed=seed)
        rng = random.Random(seed)

        def choose(agent, legal, rng=rng):
            return rng.choice(legal if rng.random() < 0.97 else range(52))

        received = np.array(list(play(env, choose).values()))
        totals = np.array(env.unwrapped._states["totals"][0, :3], float)
        assert totals.sum() % 43 == 0
        assert totals.max() >= 100
        winners = totals == totals.min()
        others = (totals.sum() - totals) / 2
        expected = {"relative": others - totals, "match": winners / winners.sum()}
        assert received == pytest.approx(expected.get(reward, -totals), abs=1e-4)


def test_revoke__may_end_a_match():
    env = black_maria_v0.env(rules=SHORT, episode="match", reward="match")
    env.reset(options={"deal": TAKEN, "dealer": 2, "totals": [57, 5, 5]})
    cards = iter([*TAKE, parse_card("AS")])
    received = play(env, lambda agent, legal: next(cards))
    assert received == {"player_0": 0, "player_1": 0.5, "player_2": 0.5}
    assert env.unwrapped.terminations == {}


def test_revoke__a_number_that_is_no_card_is_refused_and_nothing_changes():
    env = black_maria_v0.env()
    env.reset(seed=1)
    before = env.state(), env.agent_selection
    for action in (52, -1, None, 1.0, "QS", np.array([1]), np.array(1.0), 2**70):
        with pytest.raises(AssertionError, match="not in action space"):
            env.step(action)
        assert np.array_equal(env.state(), before[0])
        assert env.agent_selection == before[1]
    env.step(np.array(env.last()[0]["action_mask"].argmax()))
    assert not np.array_equal(env.state(), before[0])


def test_revoke__raw_env_has_it_as_a_call():
    raw, env = black_maria_v0.raw_env(reward="relative"), black_maria_v0.env(reward="relative")
    for each in (raw, env):
        with pytest.raises((ValueError, AttributeError)):
            each.revoke()
        each.reset(seed=5)
        play(each, limit=20)
    raw.revoke()
    env.step(int(env.last()[0]["action_mask"].argmin()))
    assert raw.rewards == env.rewards
    assert np.array_equal(raw.state(), env.state())
    with pytest.raises(ValueError, match="no agent is to move"):
        raw.revoke()


def test_revoke__in_the_parallel_env():
    env = black_maria_v0.parallel_env(episode="match")
    env.reset(seed=1)
    for hand in range(3):
        observations, rewards, terminations, truncations, infos = env.step(
            dict.fromkeys(env.agents, 0)  # 2♣ is nobody's
        )
        assert sorted(rewards.values()) == [-43, 0, 0]
        assert not any(truncations.values())
        totals = infos["player_0"]["totals"]
        assert sum(totals) == 43 * (hand + 1)
        assert all(terminations.values()) == (max(totals) >= 100)
        assert env.agents == ([] if max(totals) >= 100 else env.possible_agents)
        if env.agents:
            assert sum(each["action_mask"].any() for each in observations.values()) == 1


def test_order__is_enforced_as_pettingzoo_does():
    env = black_maria_v0.env()
    for name in ("rewards", "terminations", "truncations", "infos", "agent_selection", "agents"):
        with pytest.raises(AttributeError, match="cannot be accessed before reset"):
            getattr(env, name)
    for call in (
        lambda: env.step(1), env.last, lambda: env.observe("player_0"), env.state, env.render,
        env.agent_iter,
    ):  # fmt: skip
        with pytest.raises(AssertionError, match="reset"):
            call()
    env.reset(seed=1)
    with pytest.raises(AssertionError, match="need to call step"):
        for _ in env.agent_iter():
            pass
    assert str(env) == str(black_maria_v0.raw_env()) == "black_maria_v0"
    assert type(env.unwrapped) is black_maria_v0.raw_env


@pytest.mark.parametrize("make", [black_maria_v0.env, black_maria_v0.raw_env])
@pytest.mark.parametrize(("most", "turns"), [(-1, 0), (0, 0), (5, 5), (63, 63), (64, 63)])
def test_agent_iter__as_pettingzoos_also_the_second_time(make, most, turns):
    env = make()
    env.reset(seed=1)
    agents = env.agent_iter(most)
    assert isinstance(agents, AECIterable)
    for _ in range(2):
        env.reset(seed=1)
        moved = []
        for agent in agents:
            assert agent == env.agent_selection
            moved.append(agent)
            mask = env.last()[0]["action_mask"]
            env.step(int(mask.argmax()) if mask.any() else None)
        assert len(moved) == turns


@pytest.fixture
def warned():
    """What PettingZoo's logger has warned of."""
    EnvLogger.flush()
    EnvLogger.suppress_output()
    yield EnvLogger.mqueue
    EnvLogger.unsuppress_output()
    EnvLogger.flush()


def test_order__warnings_are_pettingzoos(warned):
    env = black_maria_v0.env()
    env.reset(seed=1)
    env.step(int(env.last()[0]["action_mask"].argmax()))
    assert warned == []
    env.step(int(env.last()[0]["action_mask"].argmin()))
    assert len(warned) == 1
    assert "Illegal move" in str(warned[0])
    play(env)
    warned.clear()
    env.step(None)
    assert len(warned) == 1
    assert "step()" in str(warned[0])


def test_wrappers__pettingzoos_own_price_for_an_illegal_card():
    """Around ``raw_env``, where it ends everything, what was paid before included."""
    env = wrappers.TerminateIllegalWrapper(black_maria_v0.raw_env(rules=SHORT), illegal_reward=-43)
    env.reset(options={"deal": TAKEN, "dealer": 2})
    cards = iter([*TAKE, parse_card("AS")])
    received = play(env, lambda agent, legal: next(cards))
    assert received == {"player_0": -56, "player_1": -10, "player_2": 0}


def test_mask__only_the_agent_to_move_has_one():
    env = black_maria_v0.env()
    env.reset(seed=2)
    for _ in range(30):
        for agent in env.agents:
            mask = env.observe(agent)["action_mask"]
            assert mask.any() == (agent == env.agent_selection)
        env.step(int(env.last()[0]["action_mask"].argmax()))
    play(env, limit=30)
    assert all(env.terminations.values())
    assert not any(env.observe(agent)["action_mask"].any() for agent in env.agents)


def test_spaces__are_the_same_objects_and_hold_every_observation():
    env = black_maria_v0.env(history=True, episode="match")
    env.reset(seed=9)
    spaces = {agent: env.observation_space(agent) for agent in env.possible_agents}
    for _ in range(200):
        for agent in env.agents:
            assert env.observation_space(agent) is spaces[agent]
            assert spaces[agent].contains(env.observe(agent))
        assert env.unwrapped.state_space.contains(env.state())
        env.step(int(env.last()[0]["action_mask"].argmax()))


def test_arrays__belong_to_the_caller():
    env, untouched = black_maria_v0.raw_env(history=True), black_maria_v0.raw_env(history=True)
    for each in (env, untouched):
        each.reset(seed=6)
    kept = []
    for _ in range(40):
        action = int(untouched.last()[0]["action_mask"].argmax())
        observation, _, _, _, info = env.last()
        kept.append((observation, copy.deepcopy(observation), info, copy.deepcopy(info)))
        for array in env.last()[0].values():
            array[:] = 77
        env.state()[:] = 77
        env.step(action)
        untouched.step(action)
        assert np.array_equal(env.state(), untouched.state())
    for observation, before, info, info_before in kept:
        assert all(np.array_equal(observation[name], before[name]) for name in before)
        assert info == info_before


def test_parallel__what_a_caller_keeps_never_changes():
    env = black_maria_v0.parallel_env()
    observations, infos = env.reset(seed=6)
    kept = []
    while env.agents:
        actions = {
            agent: int(observation["action_mask"].argmax())
            for agent, observation in observations.items()
        }
        observations, _, _, _, infos = env.step(actions)
        kept.append((infos, copy.deepcopy(infos)))
    assert all(infos == before for infos, before in kept)


def unpickled_from_read_only_memory(env):
    """As another process gets it that shares arrays instead of copying them."""
    buffers = []
    pickled = pickle.dumps(env, protocol=5, buffer_callback=buffers.append)
    assert buffers
    return pickle.loads(pickled, buffers=[bytes(buffer) for buffer in buffers])


@pytest.mark.parametrize(
    "duplicate",
    [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env)), unpickled_from_read_only_memory],
)
@pytest.mark.parametrize("make", [black_maria_v0.env, black_maria_v0.raw_env])
def test_copies__go_on_alone_and_alike(make, duplicate):
    env = make(episode="match", reward="relative", history=True)
    env.reset(seed=8)
    play(env, limit=100)
    twin = duplicate(env)
    state = env.state()
    first = play(twin)
    assert np.array_equal(env.state(), state), "playing the copy moved the original"
    assert play(env) == first
    env.reset()
    twin.reset()
    assert np.array_equal(env.state(), twin.state())


def test_copies__before_the_first_reset():
    for env in (black_maria_v0.env(), black_maria_v0.raw_env()):
        for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
            twin.reset(seed=1)
            assert sum(play(twin).values()) == -43


def test_state__is_every_seats_view():
    env = black_maria_v0.env()
    env.reset(seed=1)
    views = [env.observe(agent)["observation"] for agent in env.possible_agents]
    assert np.array_equal(env.state(), np.concatenate(views))


def test_history__is_what_the_seat_saw_in_order():
    env = black_maria_v0.raw_env(history=True)
    env.reset(options={"deal": SUITED, "dealer": 2, "actions": "5C 4C 3C 7D 8D 9D JH QH KH AC"})
    given = [(0, 2, card) for card in parse_cards("3C 4C 5C")]  # sorted, to the right
    received = [(1, 1, card) for card in parse_cards("7D 8D 9D")]  # from the left
    played = [(2, 0, parse_card("AC"))]
    history = env.observe("player_0")["history"]
    assert history[:7].tolist() == [list(row) for row in given + received + played]
    assert (history[7:] == -1).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rules": "bridge"}, "no profile 'bridge'"),
        ({"reward": "points"}, "reward='points'"),
        ({"episode": "day"}, "episode='day'"),
        ({"reward": "match"}, "single hand has no winner"),
        ({"render_mode": "hologram"}, "render_mode='hologram'"),
    ],
)
def test_arguments__unknown_values_are_refused_in_words(arguments, message):
    with pytest.raises(ValueError, match=message):
        black_maria_v0.env(**arguments)


def test_arguments__unknown_names_are_refused():
    with pytest.raises(TypeError, match="colour"):
        black_maria_v0.env(colour=True)
    with pytest.raises(TypeError, match="rules must be"):
        black_maria_v0.env(rules=3)


def test_arguments__rules_may_be_an_object():
    env = black_maria_v0.env(rules=Rules(name="short", match_points=50), episode="match")
    env.reset(seed=0)
    play(env)
    assert 50 <= max(env.unwrapped._states["totals"][0, :3]) < 93


def test_render__ansi_shows_holdings_trick_captures_and_totals(capsys):
    env = black_maria_v0.env(render_mode="ansi")
    env.reset(
        options={
            "deal": SUITED,
            "dealer": 2,
            "totals": [61, 7, 0],
            "actions": "3C 4C 5C 7D 8D 9D JH QH KH  AC QH 3C  6D KD",
        }
    )
    text = env.render()
    assert "> player_2" in text
    assert "trick 2 of 17" in text
    assert "player_0       61     1  Q♥" in text
    assert "trick: player_0 6♦  player_1 K♦" in text
    assert "♣ 4 5" in text  # held by player_2, whom player_0 passed them to
    assert capsys.readouterr().out == ""


# --- in order, and nobody else ------------------------------------------------------------------


@pytest.mark.parametrize("call", ["last", "state", "step", "observe"])
def test_order__nothing_before_the_first_reset(call):
    arguments = {"step": [0], "observe": ["player_0"]}.get(call, [])
    for env, error in (
        (black_maria_v0.raw_env(), ResetNeeded),
        (black_maria_v0.env(), AssertionError),
    ):
        with pytest.raises(error, match=r"reset\(\)"):
            getattr(env, call)(*arguments)


def test_order__a_reset_that_is_refused_is_none():
    env = black_maria_v0.env()
    with pytest.raises(ValueError, match="dealer=9"):
        env.reset(seed=1, options={"dealer": 9})
    with pytest.raises(AssertionError, match=r"reset\(\)"):
        env.last()
    with pytest.raises(AttributeError, match="before reset"):
        _ = env.agents


def test_order__nothing_after_the_last_agent_is_done():
    env = black_maria_v0.raw_env()
    env.reset(seed=1)
    play(env)
    for call in (env.last, lambda: env.step(None), lambda: env.step(3)):
        with pytest.raises(ResetNeeded, match=r"no agent is to move: call reset\(\)"):
            call()
    assert not env.observe("player_0")["action_mask"].any()


@pytest.mark.parametrize("agent", ["nobody", "player_3", "", None, 0, [], {}])
@pytest.mark.parametrize("call", ["observe", "observation_space", "action_space"])
def test_agents__others_are_refused_and_those_that_are_named(call, agent):
    for env in (black_maria_v0.raw_env(), black_maria_v0.env()):
        env.reset(seed=1)
        with pytest.raises(ValueError, match=r"^no agent .*; there are: player_0, player_1, pl"):
            getattr(env, call)(agent)


@pytest.mark.parametrize("action", [None, 1.5, "QS", [3], True, np.array([3]), 52, -1, 2**70])
def test_action__that_is_no_card_is_an_assertion_error_as_pettingzoos(action):
    env = black_maria_v0.env()
    env.reset(seed=1)
    before = env.state()
    with pytest.raises(AssertionError, match=r"action is not in action space: .* is no card"):
        env.step(action)
    assert np.array_equal(env.state(), before)


@pytest.mark.parametrize("options", [[], "deal", 3, [("dealer", 1)], {1, 2}])
def test_options__no_mapping_is_refused(options):
    env = black_maria_v0.env()
    with pytest.raises(ValueError, match=r"^options=.*: give a mapping, as in {'dealer': 0}"):
        env.reset(seed=1, options=options)


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ({"view": 3}, "view=3: seats are 0 … 2, or 'all'"),
        ({"view": 1.0}, r"view=1\.0: seats"),
        ({"view": None}, "view=None"),
        ({"view": np.zeros(3)}, "view="),
        ({"history": "no"}, "history='no': it takes True or False"),
        ({"render_mode": ["ansi"]}, "render_mode=.*'human', 'ansi'"),
        ({"reward": []}, "reward=.*: choose from"),
        ({"episode": None}, "episode=None: choose from"),
        ({"rules": {"moons": "none"}}, "rules: no clause 'moons'; there are: name, seats"),
    ],
)
def test_arguments__of_the_wrong_kind_are_refused_in_words(argument, words):
    with pytest.raises(ValueError, match=words):
        black_maria_v0.env(**argument)


# --- spaces that print on a line ----------------------------------------------------------------


def test_spaces__print_shortly_and_are_gymnasiums_all_the_same():
    env = black_maria_v0.raw_env(history=True)
    space = env.observation_space("player_0")
    assert repr(space["observation"]) == ("Box([0 0 … -128 -128], [1 1 … 127 127], (656,), int8)")
    for own in (space, env.state_space):
        assert len(repr(own)) < 200
        for twin in (pickle.loads(pickle.dumps(own)), copy.deepcopy(own)):
            assert repr(twin) == repr(own)
            assert twin == own
    plain = spaces.Box(space["observation"].low, space["observation"].high, dtype=np.int8)
    assert plain == space["observation"]
    assert space["observation"] == plain
    assert type(space["observation"]) is spaces.Box
