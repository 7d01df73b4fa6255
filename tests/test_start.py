"""Starting a given hand: one way in, through every door."""

import ast
from pathlib import Path

import numpy as np
import pytest

from black_maria import BlackMariaVectorEnv, Rules, Tables, black_maria_v0, deal, engine, layout_of
from black_maria.engine import observation
from black_maria.record import of_states
from helpers import names, play

SUITED = (
    "3C 4C 5C 6C 7C 8C 9C 10C JC QC KC AC 2D 3D 4D 5D 6D",
    "7D 8D 9D 10D JD QD KD AD 2H 3H 4H 5H 6H 7H 8H 9H 10H",
    "JH QH KH AH 2S 3S 4S 5S 6S 7S 8S 9S 10S JS QS KS AS",
)
PASSES = ["3C", "4C", "5C", "7D", "8D", "9D", "JH", "QH", "AH"]

OPTIONS = {
    "a deal": {"deal": SUITED},
    "a dealer": {"dealer": 1},
    "totals": {"totals": [90, -4, 0]},
    "a number": {"number": 2},
    "cards already played": {"deal": SUITED, "dealer": 2, "actions": [*PASSES, "AC"]},
    "all at once": {
        "deal": SUITED, "dealer": 2, "totals": [1, 2, 3], "number": 1, "actions": PASSES,
    },
}  # fmt: skip


def fields(states: np.ndarray) -> dict[str, list]:
    return {name: states[name].tolist() for name in engine.STATE.names}


@pytest.mark.parametrize("episode", ["hand", "match"])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_start__tables_and_environments_start_the_same_hand(options, episode):
    rules = Rules(pass_cycle=("right", "left", "none"))
    if options.get("number") == 2 and "actions" in options:
        options = options | {"actions": None}
    env = black_maria_v0.raw_env(rules=rules, episode=episode)
    env.reset(seed=5, options=options)
    tables = Tables(3, rules, seed=9, episode=episode)
    where = np.array([True, False, False])
    others = tables.save([1, 2])
    tables.start(seed=5, where=where, **options)
    assert fields(tables.save([0])) == fields(env._states)
    assert fields(tables.save([1, 2])) == fields(others)
    obs, seat = tables.observe()
    assert np.array_equal(obs["observation"][0], env.last()[0]["observation"])
    assert seat[0] == env._turn


def test_start__a_vector_environment_starts_it_in_every_row():
    envs = BlackMariaVectorEnv(3, opponents="duck", seat=0)
    envs.reset(seed=5, options={"deal": SUITED, "dealer": 2})
    states = envs._tables.states()
    assert states["seed"].tolist() == [5, 6, 7]
    assert len({row.tobytes() for row in states["holding"]}) == 1


def test_start__each_table_its_own_deal_dealer_totals_and_number():
    deals = np.stack([deal(seed).cards for seed in range(4)])
    totals = np.arange(12).reshape(4, 3)
    dealers, numbers = [2, 0, 1, 2], [0, 5, 1, 1]
    tables = Tables(4, seed=3)
    tables.start(deal=deals, dealer=dealers, totals=totals, number=numbers)
    for k in range(4):
        one = Tables([k], seed=3)
        one.start(deal=deals[k].tolist(), dealer=dealers[k], totals=totals[k], number=numbers[k])
        assert fields(tables.save([k])) == fields(one.save())


def test_start__a_recorded_hand_and_its_replay():
    tables = Tables(1, seed=8, episode="match", deal_on=False)
    tables.start(deal=SUITED, dealer=1, totals=[7, 8, 9], number=3)
    play(tables, 59)
    hand = of_states(tables.save(), Rules(), episode="match")[0]
    assert [names(cards) for cards in hand.deal] == [cards.split() for cards in SUITED]
    assert (hand.dealer, hand.totals, hand.match_hand) == (1, (7, 8, 9), 3)
    again = black_maria_v0.raw_env(episode="match")
    again.reset(seed=8, options=hand.options())
    first = next(hand.steps())
    assert np.array_equal(again._states["holding"][0], first.holding)
    assert again._states["pass_steps"][0] == first.pass_steps


def test_start__without_options_is_the_next_hand():
    tables, other = Tables(2, seed=1), Tables(2, seed=1)
    tables.start()
    other.reset()
    assert fields(tables.save()) == fields(other.save())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dealer": 3}, "dealer=3: seats are 0 … 2"),
        ({"dealer": [0, 1]}, "dealer.*: give one for each of 4 tables"),
        ({"totals": [0, 0]}, "give one for each of 3 seats"),
        ({"totals": [2**31, 0, 0]}, "a total is at most"),
        ({"number": -1}, "number=-1: it lies in 0 … "),
        ({"number": 2.0}, "number=2.0 is not an integer"),
        ({"deal": np.zeros((3, 3, 17), np.int8)}, "deals must be 4"),
        ({"deal": np.zeros((4, 3, 17), np.int8)}, "can't hold 2♣"),
        ({"deal": np.zeros((4, 3, 17), np.float32)}, "of integers"),
        ({"deal": SUITED[:2]}, "the cards of 3 seats, not of 2"),
        ({"actions": ["2C"]}, "action 0 of actions: seat . may not pass 2♣"),
        ({"where": np.ones(3, np.bool_)}, "where must be bool"),
    ],
)
def test_start__what_cannot_be_is_refused_and_nothing_changes(options, words):
    tables = Tables(4, seed=3)
    play(tables, 7)
    before = fields(tables.save())
    with pytest.raises(ValueError, match=words):
        tables.start(**options)
    assert fields(tables.save()) == before


# --- the encoder and the layout -----------------------------------------------------------------


def test_encoder__writes_every_block_that_the_layout_names():
    """And no other: a block that is declared must be written, else it would stay 0 for good."""
    tree = ast.parse(Path(observation.__file__).read_text(encoding="utf-8"))
    read = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        and node.value.id == "at"
    }  # fmt: skip
    assert read == set(layout_of().blocks)


@pytest.mark.parametrize("name", ["three_player", "american_hearts", "cancellation"])
def test_encoder__leaves_nothing_of_what_was_there(name):
    tables = Tables(5, name, seed=4)
    for _ in range(tables.rules.plies()):
        views = np.full((5, tables.rules.seats, tables.layout.size), -99, np.int8)
        engine.observe_all(tables.states(), *tables._args, views)
        assert np.array_equal(views, tables.views())
        assert views.min() >= 0
        play(tables, 1)
