"""The PettingZoo environment: conformance, rewards, options, refusals, copies."""

import copy
import pickle
import random
from itertools import pairwise

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, parallel_api_test, seed_test
from pettingzoo.utils import wrappers
from pettingzoo.utils.conversions import parallel_to_aec, turn_based_aec_to_parallel

from black_maria import PROFILES, Rules, black_maria_v0, card_names, deal, parse_card, parse_cards
from black_maria.engine import EPISODES
from black_maria.layout import layout_of

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


@pytest.mark.filterwarnings("ignore:.*Illegal move:UserWarning")
def test_illegal__env_ends_the_episode_and_the_offender_gets_all_points():
    env = black_maria_v0.env()
    env.reset(seed=0)
    offender = env.agent_selection
    mask = env.last()[0]["action_mask"]
    env.step(int(np.flatnonzero(mask == 0)[0]))
    received = play(env)
    assert received == {agent: -43.0 if agent == offender else 0.0 for agent in received}
    assert not env.agents


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


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
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
