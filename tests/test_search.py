"""Determinised search: what it finds, and its manners."""

import pickle

import numpy as np
import pytest

from black_maria import engine
from black_maria.bots import make_bot
from black_maria.engine import apply
from black_maria.kernels import kernel
from black_maria.rules import PROFILES, Rules
from black_maria.tables import Tables
from black_maria_agents import Agent, SearchAgent, load_agent, sample_worlds
from black_maria_agents.measuring import play_deals
from black_maria_agents.search.pimc import search_agent
from helpers import Hand, fill, plain_python, play, playing
from oracle import CARDS

EVERY = [(name, seats) for name, (choices, _) in PROFILES.items() for seats in choices]
KEY = np.ones(1, np.uint64)


def choice(hand: Hand, worlds: int = 20, sims: int = 100) -> str:
    """The card that search chooses for the seat to move."""
    agent = SearchAgent(hand.rules, worlds=worlds, sims=sims)
    return CARDS[agent.act(hand.obs(), KEY)[0]]


# --- by name --------------------------------------------------------------------------------------


def test_load_agent__by_name():
    agent = load_agent("pimc:worlds=4,sims=7")
    assert isinstance(agent, SearchAgent)
    assert isinstance(agent, Agent)
    assert (agent.worlds, agent.sims, agent.rules.name) == (4, 7, "three_player")
    assert (
        agent.name == agent.identity == "pimc:worlds=4,sims=7" == SearchAgent(worlds=4, sims=7).name
    )
    default = load_agent("pimc", "omnibus")
    assert (default.worlds, default.sims, default.rules.name) == (30, 333, "omnibus")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("pimc:worlds=0", "worlds must be a whole number from 1 to [0-9,]+, not '0'"),
        ("pimc:worlds=x", "worlds must be a whole number from 1 to [0-9,]+, not 'x'"),
        ("pimc:sims=-3", "sims must be a whole number from 1 to 1,000,000, not '-3'"),
        ("pimc:sims=", "sims must be a whole number from 1 to 1,000,000, not ''"),
        ("pimc:foo=1", "no option 'foo'; there are: worlds, sims, threads, as in pimc:worlds=30"),
        ("pimc:worlds=99999999999999999999", "worlds must be a whole number from 1 to 1,000,000"),
        (f"pimc:worlds={'9' * 5000}", "worlds must be a whole number from 1 to 1,000,000"),
        ("search:worlds=2501", "worlds must be a whole number from 1 to 2,500, not '2501'"),
        ("pimc:sims=1,sims=2", "sims is given twice"),
        ("", "no agent ''"),
        ("a" * 5000, "no agent 'aaa"),
        ("a\0b", r"no agent 'a\\x00b'"),
        ("pimcs", "no agent 'pimcs': give one of random, duck, heuristic, .*pimc, "),
    ],
)
def test_load_agent__what_does_not_fit_is_refused_and_what_would_is_said(name, words):
    with pytest.raises(ValueError, match=words):
        load_agent(name)


def test_agent__impossible_budgets_refused():
    with pytest.raises(
        ValueError, match="pimc: sims must be a whole number from 1 to 1,000,000, not 0"
    ):
        SearchAgent(sims=0)
    with pytest.raises(ValueError, match="worlds must be a whole number from 1 to 1,000,000"):
        SearchAgent(worlds=10**20)
    with pytest.raises(ValueError, match="no search 'uct:sims=1'"):
        search_agent("uct:sims=1")


# --- manners --------------------------------------------------------------------------------------


def test_act__the_same_card_whatever_the_batch_and_the_threads():
    tables = Tables(12, seed=4)
    agents = [SearchAgent(worlds=3, sims=20, threads=threads) for threads in (1, 2, 5)]
    copy = pickle.loads(pickle.dumps(agents[1]))
    assert (copy.worlds, copy.sims, copy.threads, copy.name) == (3, 20, 2, agents[1].name)
    order = np.random.default_rng(0).permutation(12)
    for ply in range(60):
        obs, _ = tables.observe()
        key = tables.keys()
        before = [array.tobytes() for array in (*obs.values(), key)]
        actions = agents[0].act(obs, key)
        if ply % 6 == 0:
            for agent in (*agents[1:], copy):
                assert np.array_equal(agent.act(obs, key), actions)
            mixed = {name: array[order] for name, array in obs.items()}
            assert np.array_equal(agents[2].act(mixed, key[order]), actions[order])
            alone = {name: array[ply % 12 : ply % 12 + 1] for name, array in obs.items()}
            assert agents[1].act(alone, key[[ply % 12]])[0] == actions[ply % 12]
        assert [array.tobytes() for array in (*obs.values(), key)] == before
        assert (actions.shape, actions.dtype) == ((12,), np.int64)
        tables.step(actions)  # refuses what isn't legal


def test_act__hangs_on_the_key():
    tables = Tables(1, seed=0)
    obs, _ = tables.observe()
    many = {name: array.repeat(20, axis=0) for name, array in obs.items()}
    actions = SearchAgent(worlds=1, sims=5).act(many, np.arange(20, dtype=np.uint64))
    assert len(set(actions)) > 1


def test_act__an_empty_batch_is_fine():
    obs = {"observation": np.zeros((0, 656), np.int8), "action_mask": np.zeros((0, 52), np.int8)}
    assert SearchAgent().act(obs, np.zeros(0, np.uint64)).shape == (0,)


def test_act__one_legal_card_needs_no_search():
    obs = {"observation": np.zeros((1, 656), np.int8), "action_mask": np.zeros((1, 52), np.int8)}
    obs["action_mask"][0, 7] = 1
    assert SearchAgent().act(obs, KEY)[0] == 7


def test_act__impossible_observations_refused_in_words():
    tables = Tables(2, seed=0)
    play(tables, 12)
    obs = {name: array.copy() for name, array in tables.observe()[0].items()}
    obs["observation"][1, :52] = 0
    with pytest.raises(ValueError, match="row 1: impossible observation: 1 cards dealt"):
        SearchAgent(worlds=1, sims=1).act(obs, tables.keys())
    obs, _ = tables.observe()
    obs["action_mask"][0] = 1 - obs["observation"][0, :52]
    with pytest.raises(ValueError, match="row 0: action_mask doesn't fit the observation"):
        SearchAgent(worlds=1, sims=1).act(obs, tables.keys())


@pytest.mark.parametrize(("name", "seats"), EVERY)
def test_act__plays_every_profile_and_play_offs(name, seats):
    rules = Rules.profile(name, seats)
    if rules.playoff:
        rules = rules.replace(hands=None, match_points=1, exceed=False)
    tables = Tables(2, rules, seed=3, episode="match")
    agent, bot = SearchAgent(rules, worlds=2, sims=6, threads=1), make_bot("random", rules)
    for ply in range(2 * rules.most_plies):
        obs, _ = tables.observe()
        player = agent if ply // 3 % 2 else bot
        tables.step(player.act(obs, tables.keys()))


def test_plain_python__finds_the_same_card():
    tables = Tables(2, seed=6)
    play(tables, 9 + 33)
    obs, _ = tables.observe()
    actions = SearchAgent(worlds=2, sims=8).act(obs, tables.keys())
    code = (
        "from black_maria import Tables\n"
        "from black_maria_agents import SearchAgent\n"
        "from helpers import play\n"
        "tables = Tables(2, seed=6)\n"
        "play(tables, 9 + 33)\n"
        "agent = SearchAgent(worlds=2, sims=8)\n"
        "print(agent.act(tables.observe()[0], tables.keys()).tolist())\n"
    )
    assert plain_python(code) == str(actions.tolist())


# --- known answers --------------------------------------------------------------------------------


def test_known__the_queen_is_thrown_on_anothers_trick():
    hand = playing(fill("AC 3C", "QS 2H 4D 5D", "5C 6C", void={1: "C"})).do("AC")
    assert choice(hand) == "QS"


def test_known__the_queen_is_thrown_under_the_king():
    hand = playing(fill("KS", "QS 2S 3S", "AS", void={0: ""})).do("KS")
    assert choice(hand) == "QS"


def test_known__last_to_play_ducks_under_a_trick_with_points():
    hand = playing(fill("10C", "QS", "AC JC 9C 3C", void={1: "C"})).do("10C QS")
    assert choice(hand) in {"9C", "8C", "7C", "6C", "5C", "4C", "3C"}


def test_known__spades_are_not_led_from_king_or_ace():
    hand = playing(fill("AS KS 3C 3D 4D", "QS", ""))
    assert choice(hand) not in {"AS", "KS"}


def test_known__in_the_last_two_tricks_it_plays_as_well_as_seeing_all():
    """Both others show two voids, so that all cards are known: solved by trying everything."""
    solved, seed = 0, 0
    while solved < 12:
        seed += 1
        tables = Tables(32, seed=seed)
        play(tables, 9 + 42, "duck")  # three tricks left
        obs, seat = tables.observe()
        worlds = sample_worlds(obs["observation"], 30, tables.keys())
        known = (worlds.holding == worlds.holding[:, :1]).all(axis=(1, 2, 3))
        rows = np.flatnonzero(known & (obs["action_mask"].sum(axis=1) > 1))
        part = {name: array[rows] for name, array in obs.items()}
        if not len(rows):
            continue
        actions = SearchAgent(worlds=2, sims=2000).act(part, tables.keys()[rows])
        for row, action in zip(rows, actions, strict=True):
            state, me = tables.states()[row : row + 1].copy(), int(seat[row])
            costs = {
                int(card): best_for_all(state, tables.rules, int(card))[me]
                for card in np.flatnonzero(obs["action_mask"][row])
            }
            if min(costs.values()) < max(costs.values()):
                assert costs[int(action)] == min(costs.values())
                solved += 1


def best_for_all(states: np.ndarray, rules: Rules, card: int) -> tuple[int, ...]:
    """Final penalties by seat after a card, each seat then playing its best: max^n."""
    states = states.copy()
    apply_card(states, engine.rules_record(rules), card)
    state = states[0]
    if state.phase == engine.OVER:
        return tuple(state.penalties[: rules.seats].tolist())
    moves = [card for card in range(52) if int(state.legal) >> card & 1]
    return min(
        (best_for_all(states, rules, move) for move in moves), key=lambda end: end[int(state.turn)]
    )


@kernel
def apply_card(states, rules, card):
    """The engine's ``apply``."""
    apply(states[0], rules[0], card)


# --- strength -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_strength__beats_duck_both_ways_even_on_a_small_budget():
    """10 × 50 takes 8 to 9 points a hand where duck takes 14.33, which is par."""
    rules, agent, duck = Rules(), SearchAgent(worlds=10, sims=50), make_bot("duck")
    alone = play_deals(agent, duck, range(30), seed=2**63, rules=rules)
    assert alone.mean() < 12
    against = play_deals(duck, agent, range(30), seed=2**63, rules=rules)
    assert against.mean() > 16.5
