"""Hands as lines of JSON: written and read back, replayed, checked, shown."""

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from black_maria import (
    PROFILES,
    BlackMariaVectorEnv,
    Rules,
    Tables,
    black_maria_v0,
    card_names,
    engine,
    make_bot,
    parse_cards,
    penalty_points,
    record,
)
from black_maria import rules as rules_module
from black_maria.layout import layout_of
from black_maria.record import Damage, Hand
from black_maria.record.__main__ import main
from black_maria.record.entries import read_entries, write_cards, write_rules
from black_maria.rules import CLAUSES
from helpers import names

EVERY_PROFILE = [(name, seats) for name, (choices, _) in PROFILES.items() for seats in choices]
NAMES = tuple("abcdefghij")

WORKED = Hand(
    Rules(),
    dealer=0,
    deal=tuple(
        tuple(sorted(parse_cards(cards)))
        for cards in (
            "7C QC AC 3D 7D 8D 9D 10D QD 3H 5H 5S 8S 9S JS QS AS",
            "5C 10C JC 4D 5D 6D KD AD 2H 6H 8H 9H QH KH 2S 7S KS",
            "3C 4C 6C 8C 9C KC 2D JD 4H 7H 10H JH AH 3S 4S 6S 10S",
        )
    ),
    passes=tuple(
        tuple(sorted(parse_cards(cards))) for cards in ("3D 8S AS", "JC KD KH", "KC JD 4S")
    ),
    cards=tuple(
        parse_cards(
            "9H 7H KH QC 10C 9C KD 4D 2D JS 7S 6S 8D 5D 3D 9S 2S AS 8S 5S KS 6H JH 5H 10S QS 4S"
            " 9D 6D AH 7D AD 6C KC 3C 7C QH 4H 3H 5C 8C JC 10D JD 4C 2H 10H AC 3S QD 8H"
        )
    ),
    penalties=(17, 13, 13),
    agents=("duck", "heuristic", "random"),
)
"""The worked hand: A takes Q♠ and four hearts, B K♠ and three, C A♠ and six."""

LINE = (
    '{"version": 1, "rules": {"name": "three_player", "seats": 3}, "seed": 0, "table": 0, '
    '"hand": 0, "dealer": 0, "agents": ["duck", "heuristic", "random"], '
    '"deal": ["7C QC AC 3D 7D 8D 9D 10D QD 3H 5H 5S 8S 9S JS QS AS", '
    '"5C 10C JC 4D 5D 6D KD AD 2H 6H 8H 9H QH KH 2S 7S KS", '
    '"3C 4C 6C 8C 9C KC 2D JD 4H 7H 10H JH AH 3S 4S 6S 10S"], '
    '"passes": ["3D 8S AS", "JC KD KH", "KC JD 4S"], '
    '"cards": "9H 7H KH QC 10C 9C KD 4D 2D JS 7S 6S 8D 5D 3D 9S 2S AS 8S 5S KS 6H JH 5H '
    "10S QS 4S 9D 6D AH 7D AD 6C KC 3C 7C QH 4H 3H 5C 8C JC 10D JD 4C 2H 10H AC 3S QD 8H"
    '", "penalties": [17, 13, 13]}'
)


def played(rules, episode="hand", *, tables=2, hands=3, bot="random", seed=5):
    """The hands that a bot plays, and the tables' states at the end of each or one card before."""
    game = Tables(tables, rules, seed=seed, episode=episode)
    player = make_bot(bot, rules)
    found, ends = [], []
    while len(found) < tables * hands:
        states = game.states()
        last = np.flatnonzero(states["num_played"] + 1 == states["to_play"])
        if len(last):
            agents = [NAMES[: rules.seats]] * len(last)
            found += record.of_states(states[last], rules, agents, episode=episode)
            ends += list(states[last].copy())
        obs, _ = game.observe()
        game.step(player.act(obs, game.keys()))
    return found, ends


def finish(state, rules):
    """Play a hand's last card with the engine alone."""
    engine.apply(state, engine.rules_record(rules)[0], int(state.legal).bit_length() - 1)
    return state


def same_table(ours, theirs):
    """Whether two records agree in all but leftovers of earlier hands."""
    count = int(ours.num_played)
    fields = [name for name in engine.STATE.names if name not in ("cards", "seats")]
    different = [name for name in fields if not np.array_equal(ours[name], theirs[name])]
    different += [n for n in ("cards", "seats") if (ours[n][:count] != theirs[n][:count]).any()]
    return different == []


def changed(**changes):
    """The worked hand's line with some entries changed; None takes one out."""
    entries = json.loads(LINE) | changes
    return json.dumps({name: entry for name, entry in entries.items() if entry is not None})


# --- round trips ------------------------------------------------------------------------------


def test_line__is_the_documented_one():
    assert WORKED.to_json() == LINE
    assert Hand.from_json(LINE) == WORKED


@pytest.mark.parametrize(("profile", "seats"), EVERY_PROFILE)
def test_round_trip__every_profile_replays_to_the_same_table(profile, seats, tmp_path):
    rules = Rules.profile(profile, seats)
    hands, ends = played(rules)
    record.write(tmp_path / "hands.jsonl", hands)
    read = record.read(tmp_path / "hands.jsonl")
    assert read.damages == []
    assert read.hands == hands
    for hand, end in zip(read.hands, ends, strict=True):
        assert same_table(hand.replay(), finish(end, rules))
        assert [list(cards) for cards in hand.deal] == engine.deal(
            hand.seed, hand.table, hand.hand, rules
        ).cards.tolist()


@pytest.mark.parametrize(
    ("profile", "seats"),
    [("three_player", 3), ("traditional", 4), ("american_hearts", 4), ("cancellation", 7)],
)
def test_round_trip__a_match_keeps_totals_and_the_hand_s_number(profile, seats):
    rules = Rules.profile(profile, seats)
    hands, ends = played(rules, "match", tables=1, hands=6)
    assert [hand.match_hand for hand in hands[:3]] == [0, 1, 2]
    assert hands[1].totals == hands[0].penalties
    for hand, end in zip(hands, ends, strict=True):
        again = Hand.from_json(hand.to_json())
        assert again == hand
        assert same_table(again.replay(), finish(end, rules))


@pytest.mark.parametrize("seats", [3, 4, 5, 6])
def test_round_trip__play_offs_with_absent_seats(seats):
    rules = Rules.profile("slippery_anne", seats, hands=None, match_points=1)
    hands, ends = played(rules, "match", tables=4, hands=seats + 1)
    playoffs = [hand for hand in hands if hand.playoff]
    assert {len(hand.playoff) for hand in playoffs} == set(range(2, seats))
    for hand, end in zip(hands, ends, strict=True):
        again = Hand.from_json(hand.to_json())
        assert again == hand
        assert same_table(again.replay(), finish(end, rules))


@pytest.mark.parametrize(
    ("profile", "seats", "points"), [("slippery_anne", 4, 13), ("cancellation", 6, 26)]
)
def test_round_trip__play_offs_after_a_fixed_number_of_hands(profile, seats, points):
    queen = penalty_points(hearts=0, QS=13)
    rules = Rules.profile(profile, seats, hands=seats, penalties=queen)
    hands, ends = played(rules, "match", tables=8, hands=seats + 2)
    assert any(hand.playoff and hand.match_hand >= seats for hand in hands)
    for hand, end in zip(hands, ends, strict=True):
        again = Hand.from_json(hand.to_json())
        assert again == hand
        assert same_table(again.replay(), finish(end, rules))
        assert sum(hand.penalties) == (13 if hand.playoff else points)


@pytest.mark.parametrize(
    "rules",
    [
        Rules("mine", 4, removed=(), kept=("QS", "KS"), pass_cycle=("across", "none")),
        Rules("mine", 4, removed=(), opening_card="10C", first_trick_ban=("QS",), pass_count=2),
        Rules("mine", penalties=penalty_points(hearts=2, TD=-10, QS=30), moon="others"),
        Rules("traditional", 3, hands=6, match_points=None, break_hearts=True, exceed=True),
        Rules.profile("american_hearts", opening_card=None, moon="none", exceed=True),
        Rules.profile("traditional", 5).replace(hands=None, match_points=70),
        Rules.profile("three_player").replace(seats=5, removed=("2C", "2S")),
        Rules.profile("cancellation", 9).replace(removed=("2C", "3C"), playoff=False),
    ],
)
def test_round_trip__any_rules(rules):
    hands, _ = played(rules, tables=1, hands=2)
    for hand in hands:
        assert Hand.from_json(hand.to_json()).rules == rules


ANOTHER = {
    "name": {"name": "mine"},
    "seats": {"seats": 5, "removed": "2C 2D"},
    "packs": {"seats": 6, "packs": 2, "removed": ()},
    "removed": {"removed": "2H"},
    "pass_count": {"pass_count": 0},
    "pass_cycle": {"pass_cycle": ("none", "left", "right")},
    "kept": {"kept": "QS KS"},
    "break_hearts": {"break_hearts": True},
    "opening_card": {"opening_card": "10D"},
    "first_trick_ban": {"first_trick_ban": "AH QS"},
    "penalties": {"penalties": penalty_points(hearts=2, TD=-10, QS=30)},
    "moon": {"moon": "subtract"},
    "hands": {"hands": 6, "match_points": None},
    "match_points": {"match_points": 7},
    "exceed": {"exceed": True},
    "playoff": {"playoff": True},
}
"""For each clause, rules in which it isn't as usual: a new clause wants its line here."""


@pytest.mark.parametrize("clause", CLAUSES)
def test_round_trip__every_clause(clause):
    rules = Rules(**ANOTHER[clause])
    assert getattr(rules, clause) != getattr(Rules(), clause)
    hands, _ = played(rules, tables=1, hands=1)
    line = hands[0].to_json()
    assert clause in json.loads(line)["rules"]
    assert Hand.from_json(line) == hands[0]
    assert Hand.from_json(line).rules == rules
    if clause != "name":  # and kernels are told, under its own name
        mine, usual = (engine.rules_record(each)[0] for each in (rules, Rules()))
        assert not np.array_equal(mine[clause], usual[clause])
        assert mine.stamp != usual.stamp


def test_round_trip__clauses_that_a_profile_has_otherwise():
    usual = Rules("american_hearts", 4, removed=())
    written = write_rules(usual)
    assert set(written) == {
        "name", "seats", "pass_cycle", "break_hearts", "opening_card", "first_trick_ban",
        "penalties", "moon",
    }  # fmt: skip
    assert read_entries(changed(rules=written))["rules"] == usual


BOOKS_OLD_MATCHES = {
    ("cancellation", 7): {"hands": None, "match_points": 100, "exceed": False, "playoff": False},
    ("traditional", 5): {"hands": 10},
    ("omnibus", 5): {"hands": 10, "exceed": False},
    ("dirty_lady", 3): {"exceed": False},
    ("traditional", 3): {},
    ("american_hearts", 4): {},
}
"""What these names implied of a match in 0.1.0, where they imply something else now."""


@pytest.mark.parametrize(("profile", "seats"), BOOKS_OLD_MATCHES)
def test_round_trip__a_match_means_what_it_meant_when_it_was_written(profile, seats):
    rules, then = Rules.profile(profile, seats), BOOKS_OLD_MATCHES[profile, seats]
    named = {"name": profile, "seats": seats}
    old = read_entries(changed(rules=named, match_hand=3))["rules"]
    assert old == rules.replace(**then)
    assert write_rules(old, in_match=True) == named
    assert read_entries(changed(rules=named))["rules"] == rules
    assert write_rules(rules) == named
    written = write_rules(rules, in_match=True)
    assert set(written) == {"name", "seats", *then}
    assert read_entries(changed(rules=written, match_hand=3))["rules"] == rules


def test_round_trip__a_new_clause_is_one_field(tmp_path):
    """In a copy of the package whose rules have more fields, one of each kind."""
    source = Path(rules_module.__file__).parent
    shutil.copytree(source, tmp_path / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    path = tmp_path / source.name / "rules.py"
    old = "    playoff: bool = False\n"
    new = """
    a: str = "text"
    b: bool = False
    c: Annotated[int, Whole(0, 9)] | None = 3
    d: Annotated[str, OneOf(MOONS)] = "none"
    e: Annotated[tuple[str, ...], Several(MOONS, 3)] = ("none",)
    f: Annotated[int, Card()] | None = None
    g: Annotated[tuple[int, ...], Cards()] = ()
    h: Annotated[tuple[int, ...], Points(99)] = (0,) * 52
"""
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, old + new), encoding="utf-8")
    script = """
import json, sys
from black_maria.record.entries import read_entries, write_rules
from black_maria.rules import Rules
line = json.loads(sys.argv[1])
changes = dict(a="other", b=True, c=None, d="others", e=("none", "subtract"), f="QS", g="QS 2C",
               h=range(-26, 26))
for clause, value in changes.items():
    rules = Rules(**{clause: value})
    line["rules"] = json.loads(json.dumps(write_rules(rules)))
    assert set(line["rules"]) == {"name", "seats", clause}, line["rules"]
    assert read_entries(json.dumps(line))["rules"] == rules != Rules()
try:
    Rules(c=2.5)
except ValueError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, LINE],
        env=os.environ | {"PYTHONPATH": str(tmp_path), "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        encoding="utf-8",
    )
    assert done.stderr == ""
    assert done.stdout == "three_player: c=2.5: it takes a whole number from 0 to 9, or None\n"


def test_of_states__finished_tables_tell_the_same_as_those_one_card_before():
    rules = Rules()
    before, _ = played(rules, hands=1)
    game, player = Tables(2, rules, seed=5, deal_on=False), make_bot("random", rules)
    done = np.zeros(2, np.bool_)
    while not done.all():
        obs, _ = game.observe()
        done = game.step(player.act(obs, game.keys()))[1]
    after = record.of_states(game.states(), rules, [NAMES[:3]] * 2)
    assert after == before
    assert (game.states()["phase"] == engine.OVER).all()


def test_of_states__says_which_hand_does_not_fit():
    game = Tables(2)
    with pytest.raises(ValueError, match="hand 0: it isn't over: 0 cards of 51 are played"):
        record.of_states(game.states(), game.rules)
    game.revoke(np.array([False, True]))
    with pytest.raises(ValueError, match="hand 0: it isn't over"):
        record.of_states(game.states(), game.rules)
    waiting = Tables(1, deal_on=False)
    waiting.revoke(np.array([True]))
    with pytest.raises(ValueError, match="hand 0: it ended with a revoke: only hands that are"):
        record.of_states(waiting.states(), waiting.rules)
    rules = Rules.profile("rotating_pass", 4)
    states = np.array(played(rules, "match", tables=1, hands=1)[1], engine.STATE)
    states["hand"] = 1  # a match's hand 0, passed to the right, as if it had been by itself
    with pytest.raises(ValueError, match="hand 0: its pass didn't go where it goes"):
        record.of_states(states, rules)
    with pytest.raises(ValueError, match="agents has 1 rows for 2 hands"):
        record.of_states(game.states(), game.rules, [["a", "b", "c"]])


def test_of_states__changes_nothing():
    rules = Rules()
    _, ends = played(rules, hands=1)
    states = np.array(ends, engine.STATE)
    before = states.tobytes()
    record.of_states(states, rules)
    assert states.tobytes() == before


def test_steps__show_the_table_after_every_card():
    plies = [(int(state.num_passed), int(state.num_played)) for state in WORKED.steps()]
    assert plies == [(k, 0) for k in range(10)] + [(9, k) for k in range(1, 52)]


def test_actions__pass_from_the_dealers_left():
    assert card_names(WORKED.actions()[:10]) == "J♣ K♦ K♥ K♣ J♦ 4♠ 3♦ 8♠ A♠ 9♥"


def test_docs__show_this_format():
    lines = (Path(__file__).parent.parent / "docs" / "records.md").read_text().splitlines()
    assert LINE in lines
    rows = {line.split("`")[1] for line in lines if line.startswith("| `")}
    assert rows >= set(json.loads(LINE)) | {"match_hand", "totals", "playoff"}


# --- environments start from a record ---------------------------------------------------------


@pytest.mark.parametrize(
    ("profile", "seats", "episode"),
    [
        ("three_player", 3, "hand"),
        ("three_player", 3, "match"),
        ("traditional", 5, "match"),
        ("rotating_pass", 4, "hand"),
        ("american_hearts", 4, "match"),
        ("cancellation", 8, "hand"),
    ],
)
def test_reset__plays_a_record_to_the_same_observations_and_rewards(profile, seats, episode):
    rules = Rules.profile(profile, seats)
    game, player = Tables([0], rules, seed=5, episode=episode), make_bot("random", rules)
    env = black_maria_v0.raw_env(rules=rules, episode=episode)
    seen, received, hands = [], [], []
    while len(hands) < 3:
        state = game.states()[0]
        ends = state.num_played + 1 == state.to_play
        if ends:
            hands += record.of_states(game.states(), rules, episode=episode)
        obs, seat = game.observe()
        seen.append((int(seat[0]), game.views()[0].copy(), obs["action_mask"][0].copy()))
        rewards = game.step(player.act(obs, game.keys()))[0][0]
        received.append(rewards.tolist())
        if not ends:
            continue
        env.reset(seed=hands[-1].seed, options=Hand.from_json(hands[-1].to_json()).options())
        passed = sum(map(len, hands[-1].passes))
        for ply, (action, (turn, views, mask), rewards) in enumerate(
            zip(hands[-1].actions(), seen, received, strict=True)
        ):
            agent = env.possible_agents[turn]
            assert env.agent_selection == agent
            if ply >= passed or ply % rules.pass_count == 0:  # in between, the order isn't kept
                assert np.array_equal(env.state(), views.reshape(-1))
                assert np.array_equal(env.observe(agent)["action_mask"], mask)
            env.step(action)
            assert [env.rewards[agent] for agent in env.possible_agents] == rewards
        seen, received = [], []


def test_reset__number_says_where_the_pass_goes():
    env = black_maria_v0.raw_env(rules="rotating_pass")
    directions = []
    for number in range(5):
        env.reset(seed=1, options={"number": number})
        blocks = env.layout.split(env.observe("player_0")["observation"])
        directions.append(int(blocks["pass_to"].argmax()))
        cards = engine.deal(1, 0, number, "rotating_pass").cards[0].tolist()
        assert np.flatnonzero(blocks["holding"]).tolist() == cards
    assert directions == [3, 1, 2, 0, 3]
    env.reset()
    assert env.observe("player_0")["observation"][env.layout["pass_to"]].argmax() == 1  # hand 5


def test_reset__number_counts_the_hands_of_a_match():
    env = black_maria_v0.raw_env(rules="traditional", episode="match")
    env.reset(seed=1, options={"number": 7, "totals": [50, 60, 70]})
    blocks = env.layout.split(env.observe("player_0")["observation"])
    assert blocks["hands_left"].tolist() == [1]
    assert blocks["totals"].tolist() == [50, 60, 70]


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (-1, "number=-1: it lies"),
        (9, "number=9: the 9 hands of a match are 0 … 8"),
        ("x", "integer"),
    ],
)
def test_reset__a_number_that_cannot_be_is_refused(number, message):
    env = black_maria_v0.raw_env(rules="traditional", episode="match")
    with pytest.raises(ValueError, match=message):
        env.reset(seed=1, options={"number": number})


def test_reset__vector_environments_start_from_a_record():
    env = BlackMariaVectorEnv(2, seat=1, opponents="duck")
    obs, _ = env.reset(seed=0, options=WORKED.options())
    assert np.array_equal(obs["observation"][0], obs["observation"][1])
    held = np.flatnonzero(obs["observation"][0][layout_of()["holding"]])
    assert held.tolist() == list(WORKED.deal[1])


def test_options__a_play_off_starts_no_environment():
    rules = Rules.profile("slippery_anne", 4, hands=None, match_points=1)
    hands, _ = played(rules, "match", tables=4, hands=4)
    with pytest.raises(ValueError, match="play-off"):
        next(hand for hand in hands if hand.playoff).options()


# --- damage -----------------------------------------------------------------------------------

RULES = {"name": "three_player", "seats": 3}
NO_CARDS = RULES | {"removed": " ".join(names(range(52))), "pass_count": 0, "hands": 3}
NO_CARDS |= {"match_points": None}
DEAL = json.loads(LINE)["deal"]
CARDS = json.loads(LINE)["cards"]
MATCH = {"match_hand": 1, "totals": [20, 43, 20], "passes": ["", "", ""]}
PLAYOFF = MATCH | {
    "rules": {"name": "traditional", "seats": 3},
    "playoff": [0, 2],
    "deal": [DEAL[0], "", DEAL[2]],
}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        # not a record
        ("{", "not JSON: *"),
        (LINE[:300], "not JSON: Unterminated string starting at: character 2*"),
        (LINE + LINE, f"not JSON: Extra data: character {len(LINE) + 1}"),
        ("[" * 100_000, "not a hand: its brackets are nested too deep"),
        ("9" * 5000, "Exceeds the limit (4300 digits) for integer string conversion: *"),
        ("[1, 2]", "the line: [1, 2] is not an object"),
        ("{}", "version None: only version 1 is known"),
        (changed(version=2), "version 2: only version 1 is known"),
        (changed(version=True), "version True: only version 1 is known"),
        (LINE[:-1] + ', "dealer": 1}', "the entry 'dealer' stands there twice"),
        (changed(colour="red"), "unknown entry 'colour'"),
        (changed(penalties=None), "there is no entry 'penalties'"),
        # entries of another kind
        (changed(dealer="0"), "dealer: '0' is not a whole number"),
        (changed(dealer=True), "dealer: True is not a whole number"),
        (changed(seed=1.0), "seed: 1.0 is not a whole number"),
        (changed(deal="3C"), "deal: '3C' is not a list"),
        (changed(deal=[1, 2, 3]), "deal: 1 is not a text"),
        (changed(cards="QX" + CARDS[2:]), "cards: 'QX' is not a card: *"),
        (changed(agents=[1, 2, 3]), "agents: 1 is not a text"),
        (changed(agents=["a", "b", "\x1b[2J"]), "agents: '\\x1b[2J' can't be printed"),
        # rules
        (changed(rules="three_player"), "rules: 'three_player' is not an object"),
        (changed(rules={"seats": 3}), "rules: there is no entry 'name'"),
        (changed(rules=RULES | {"hearts": 1}), "rules: unknown entry 'hearts'"),
        (changed(rules=RULES | {"moon": "full"}), "rules: three_player: moon='full': it takes *"),
        (changed(rules=RULES | {"exceed": 1}), "rules, exceed: 1 is not true or false"),
        (changed(rules=RULES | {"seats": 4}), "rules: three_player: removed: 51 cards don't *"),
        (changed(rules=RULES | {"opening_card": ""}), "rules, opening_card: '' is not one card"),
        (changed(rules=RULES | {"penalties": {"QS": "x"}}), "rules, penalties: 'x' is not a *"),
        (
            changed(rules=RULES | {"penalties": {"QS": 1, "qs": 2}}),
            "rules, penalties: a card stands there twice",
        ),
        (changed(rules=RULES | {"kept": "QS QS"}), "rules: three_player: kept names Q♠ twice: *"),
        (changed(rules=RULES | {"match_points": 2**70}), "rules: three_player: match_points=118*"),
        (changed(rules={"name": "\n", "seats": 3}), "rules: name='\\n': it takes a text that *"),
        (
            changed(rules=NO_CARDS, deal=[""] * 3, passes=[""] * 3, cards="", penalties=[0] * 3),
            "rules: three_player: removed leaves 0 cards for 3 seats: *",
        ),
        # numbers that can't be
        (changed(seed=2**64), "a seed lies in 0 … 2**64 - 1, not 18446744073709551616"),
        (changed(table=-1), "table -1, hand 0: they are numbered from 0"),
        (changed(hand=2**63), "table 0, hand 9223372036854775808: they are numbered from 0"),
        (changed(dealer=3), "seat 3 deals, but seats 0 1 2 play"),
        (changed(totals=[1, 2]), "totals has 2 entries for 3 seats"),
        (changed(totals=[0, 0, 2**40]), "totals don't fit 32 bits"),
        (changed(agents=["a"]), "agents has 1 entries for 3 seats"),
        (changed(match_hand=3, totals=[100, 0, 29]), "totals 100 0 29: the match is over at 100"),
        (changed(rules=PLAYOFF["rules"], match_hand=9), "match_hand 9: a match has 9 hands"),
        # cards that can't be
        (changed(deal=DEAL[:2]), "deal has 2 entries for 3 seats"),
        (changed(deal=["2C" + DEAL[0][2:], *DEAL[1:]]), "seat 0 can't hold 2♣: not in the pack"),
        (changed(deal=["5C" + DEAL[0][2:], *DEAL[1:]]), "the deal has 5♣ at seats 0 and 1"),
        (changed(deal=[DEAL[0][3:], *DEAL[1:]]), "seat 0 is dealt 16 cards instead of 17; *"),
        (changed(passes=["3D 8S", "JC KD KH", "KC JD 4S"]), "seat 0 passes 2 cards instead of 3"),
        (
            changed(passes=["3D 8S KS", "JC KD KH", "KC JD 4S"]),
            "pass 9: seat 0 may not pass K♠: it holds 7♣ Q♣ A♣ *",
        ),
        (changed(passes=["", "", ""]), "seat 0 passes 0 cards instead of 3"),
        (changed(cards=CARDS[:-3]), "50 cards are played instead of 51"),
        (changed(cards=CARDS + " 2C"), "52 cards are played instead of 51"),
        (
            changed(cards=CARDS.replace("7H KH", "3S KH").replace("AC 3S", "AC 7H")),
            "card 2: seat 2 may not play 3♠: it must follow suit, hearts, and holds 4♥ 7♥ *",
        ),
        (changed(dealer=1), "card 1: seat 2 may not play 9♥: it holds *"),
        (changed(penalties=[13, 17, 13]), "penalties 13 17 13: the cards played make *"),
        (changed(penalties=[17, 26]), "penalties has 2 entries for 3 seats"),
        # play-offs that can't be
        (changed(**PLAYOFF | {"rules": RULES}), "playoff: three_player has none"),
        (changed(**PLAYOFF | {"match_hand": None}), "playoff: a hand by itself is none"),
        (changed(**PLAYOFF | {"playoff": [2, 0]}), "playoff 2 0: it takes two seats or more, *"),
        (changed(**PLAYOFF | {"playoff": [0]}), "playoff 0: it takes two seats or more, *"),
        (changed(**PLAYOFF | {"totals": [9, 0, 9]}), "playoff 0 2: they don't all have *"),
        (changed(**PLAYOFF | {"dealer": 1}), "seat 1 deals, but seats 0 2 play"),
        (changed(**PLAYOFF), "seat 0 is dealt 17 cards instead of 26; nobody holds *"),
        (
            changed(**PLAYOFF | {"deal": ["AS " * 26, "", "AS " * 26]}),
            "the deal has A♠ twice at seat 0",
        ),
    ],
)  # fmt: skip
def test_damage__is_named_by_line_and_reason_and_the_rest_is_read(line, reason, tmp_path):
    path = tmp_path / "hands.jsonl"
    path.write_text(f"{LINE}\n{line}\n\n{LINE}\n", encoding="utf-8")
    hands, damages = record.read(path)
    assert hands == [WORKED, WORKED]
    assert [damage.line for damage in damages] == [2]
    if reason.endswith("*"):
        assert damages[0].reason.startswith(reason[:-1])
    else:
        assert damages == [Damage(2, reason)]


def test_damage__bytes_that_are_no_text_and_lines_without_an_end(tmp_path):
    path = tmp_path / "hands.jsonl"
    long = b" " * 3 * record.MAX_LINE
    path.write_bytes(
        b"\xef\xbb\xbf%b\r\n{\xff\n%b{}\n\0\n%b" % (LINE.encode(), long, LINE.encode())
    )
    hands, damages = record.read(path)
    assert hands == [WORKED, WORKED]
    assert damages == [
        (2, "not UTF-8 text: byte 0xff at place 2"),
        (3, "longer than 1048576 bytes"),
        (4, "not JSON: Expecting value: character 1"),
    ]


def test_write__after_an_interrupted_line_loses_that_line_alone(tmp_path):
    path = tmp_path / "hands.jsonl"
    record.write(path, [WORKED])
    path.write_bytes(path.read_bytes() + LINE[:100].encode())
    assert record.read(path) == ([WORKED], [(2, "the file ends within it: "
        "not JSON: Unterminated string starting at: character 97")])  # fmt: skip
    record.write(path, [WORKED, WORKED])
    assert record.read(path).hands == [WORKED] * 3
    assert [number for number, found in record.scan(path) if isinstance(found, str)] == [2]


def test_write__goes_to_an_open_file_too():
    file = io.StringIO()
    record.write(file, [WORKED, WORKED])
    assert file.getvalue() == f"{LINE}\n{LINE}\n"


def test_read__no_such_file_raises(tmp_path):
    with pytest.raises(FileNotFoundError):
        record.read(tmp_path / "nothing.jsonl")


# --- show -------------------------------------------------------------------------------------

SHOWN = """\
line 2: three_player; seed 0, table 0, hand 0
seat 0 (D)  duck       7♣ Q♣ A♣ 3♦ 7♦ 8♦ 9♦ 10♦ Q♦ 3♥ 5♥ 5♠ 8♠ 9♠ J♠ Q♠ A♠
                       passes 3♦ 8♠ A♠ to seat 2
seat 1      heuristic  5♣ 10♣ J♣ 4♦ 5♦ 6♦ K♦ A♦ 2♥ 6♥ 8♥ 9♥ Q♥ K♥ 2♠ 7♠ K♠
                       passes J♣ K♦ K♥ to seat 0
seat 2      random     3♣ 4♣ 6♣ 8♣ 9♣ K♣ 2♦ J♦ 4♥ 7♥ 10♥ J♥ A♥ 3♠ 4♠ 6♠ 10♠
                       passes K♣ J♦ 4♠ to seat 1

trick   seat 0  seat 1  seat 2   taken by  points           so far
    1   K♥     >9♥      7♥       seat 0         3      3    0    0
    2  >Q♣      10♣     9♣       seat 0         0      3    0    0
    3  >K♦      4♦      2♦       seat 0         0      3    0    0
    4  >J♠      7♠      6♠       seat 0         0      3    0    0
    5  >8♦      5♦      3♦       seat 0         0      3    0    0
    6  >9♠      2♠      A♠       seat 2         7      3    0    7
    7   5♠      K♠     >8♠       seat 1        10      3   10    7
    8   5♥     >6♥      J♥       seat 2         3      3   10   10
    9   Q♠      4♠     >10♠      seat 0        13     16   10   10
   10  >9♦      6♦      A♥       seat 0         1     17   10   10
   11  >7♦      A♦      6♣       seat 1         0     17   10   10
   12   7♣     >K♣      3♣       seat 1         0     17   10   10
   13   3♥     >Q♥      4♥       seat 1         3     17   13   10
   14   J♣     >5♣      8♣       seat 0         0     17   13   10
   15  >10♦     J♦      4♣       seat 1         0     17   13   10
   16   A♣     >2♥      10♥      seat 2         2     17   13   12
   17   Q♦      8♥     >3♠       seat 2         1     17   13   13
"""


@pytest.fixture
def three_lines(tmp_path):
    """A file of a damaged line, the worked hand, and that again."""
    path = tmp_path / "hands.jsonl"
    path.write_text(f"{LINE[:9]}\n{LINE}\n{LINE}\n")
    return path


def show(capsys, *arguments):
    """What the command line prints, and what it exits with."""
    code = 0
    try:
        main(["show", *map(str, arguments)])
    except SystemExit as stop:
        code = stop.code
    return capsys.readouterr().out, code


def test_show__as_a_command(three_lines):
    command = [sys.executable, "-m", "black_maria.record", "show", str(three_lines), "--hand", "2"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == SHOWN
    assert done.stderr == ""


def test_show__all_hands_and_what_is_damaged(three_lines, capsys):
    out, code = show(capsys, three_lines)
    assert out == SHOWN + "\n" + SHOWN.replace("line 2", "line 3")
    assert code == f"{three_lines}, line 1: not JSON: Unterminated string starting at: character 2"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["hands.jsonl", "--hand", 1], "hands.jsonl, line 1: not JSON"),
        (["hands.jsonl", "--hand", 4], "hands.jsonl has no line 4: its last hand is on line 3"),
        (["hands.jsonl", "--hand", 0], "hands.jsonl has no line 0"),
        (["nothing.jsonl", "--hand", 1], "nothing.jsonl: No such file"),
        (["."], ".: Is a directory"),
    ],
)
def test_show__says_what_cannot_be_shown(arguments, words, three_lines, capsys, monkeypatch):
    monkeypatch.chdir(three_lines.parent)
    out, message = show(capsys, *arguments)
    assert out == ""
    assert message.startswith(words)


def test_show__a_match_s_totals_and_seats_that_sit_out(tmp_path, capsys):
    rules = Rules.profile("slippery_anne", 4, hands=None, match_points=1)
    hands, _ = played(rules, "match", tables=4, hands=4)
    hand = next(hand for hand in hands if len(hand.playoff) == 3)
    record.write(tmp_path / "hands.jsonl", [hand])
    lines = show(capsys, tmp_path / "hands.jsonl", "--hand", 1)[0].splitlines()
    assert lines[0].endswith(f"hand {hand.match_hand + 1} of a match; play-off")
    assert sum("sits out" in line for line in lines) == 1
    assert lines[-1].split() == ["match", "totals", *map(str, hand.totals)]
    assert lines[-2].split()[-4:] == list(map(str, hand.penalties))


def test_show__cancelled_tricks_and_the_kitty():
    hands, _ = played(Rules.profile("cancellation", 10), tables=300, hands=1)
    carried = next(text for text in map(record.text, hands) if "nobody" in text)
    assert "for the first taker: " in carried
    points = [int(line.split("seat ")[-1].split()[1]) for line in carried.splitlines()[-10:]
              if "seat " in line]  # fmt: skip
    assert sum(points) == 86


def test_show__a_moon():
    rules = Rules.profile("dirty_lady")
    hands, _ = played(rules, tables=30, hands=3, bot="heuristic")
    moon = next(hand for hand in hands if min(hand.penalties) == -36)
    assert "one seat took every penalty card: a moon" in record.text(moon)
    assert "a moon" not in record.text(WORKED)


def test_names__are_as_the_tests_write_cards():
    assert write_cards(range(52)).split() == names(range(52))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda states: states.tolist(), "an array of records"),
        (lambda states: states["cards"], "an array of records"),
        (lambda states: states.reshape(2, 2), "an array of records"),
        (lambda states: Tables(4, "face_value").save(), "saved game 0 was played by other rules"),
        (lambda states: np.zeros_like(states), "saved game 0 was played by other rules"),
    ],
)
def test_of_states__no_games_of_these_rules_refused(change, words):
    with pytest.raises(ValueError, match=words):
        record.of_states(change(Tables(4).save()), Rules())
