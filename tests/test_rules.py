"""The clauses as data."""

import dataclasses
import json
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from black_maria import engine
from black_maria.cards import card_name, parse_card
from black_maria.rules import CLAUSES, PROFILES, Rules, as_rules, penalty_points
from oracle import CARDS, THREE_PLAYER


def test_default__is_three_player():
    assert Rules() == Rules.profile("three_player") == Rules.profile("three_player", 3)
    assert Rules().name == "three_player"
    assert next(iter(PROFILES)) == "three_player"


def test_pack__52_less_2c():
    rules = Rules()
    assert [card_name(card) for card in rules.removed] == ["2♣"]
    assert {CARDS[card] for card in rules.deck} == THREE_PLAYER.pack
    assert list(rules.deck) == sorted(rules.deck)
    assert len(rules.deck) == 51
    assert rules.hand_size == 17


def test_pass__three_cards_to_the_right():
    assert (Rules().pass_count, Rules().pass_cycle) == (3, ("right",))


def test_penalties__as_in_the_book():
    points = {CARDS[card]: value for card, value in enumerate(Rules().penalties) if value}
    assert points == THREE_PLAYER.points


def test_penalties__43_a_hand_and_par_a_third():
    assert Rules().hand_points == 43
    assert Rules().par == 43 / 3


def test_match__ends_at_100():
    rules = Rules()
    assert (rules.match_points, rules.exceed, rules.hands, rules.playoff) == (
        100,
        False,
        None,
        False,
    )


def test_default__has_none_of_the_other_books_clauses():
    rules = Rules()
    assert (rules.break_hearts, rules.opening_card, rules.moon) == (False, None, "none")
    assert rules.kept == rules.first_trick_ban == ()


def test_plies__nine_passed_and_51_played():
    assert Rules().plies() == Rules().plies(5) == Rules().most_plies == 60


def test_plies__fewer_in_a_hand_without_a_pass():
    rules = Rules.profile("rotating_pass", 4)
    assert [rules.plies(hand) for hand in range(5)] == [64, 64, 64, 52, 64]
    assert rules.most_plies == 64


def test_plies__cards_that_stay_in_the_kitty_are_not_played():
    assert Rules.profile("cancellation", 7).plies() == 7 * (3 + 14)


def test_penalty_points__single_cards_override_hearts():
    points = penalty_points(hearts=2, AH=5, JD=1)
    assert points[parse_card("KH")] == 2
    assert points[parse_card("AH")] == 5
    assert points[parse_card("JD")] == 1
    assert sum(points) == 12 * 2 + 5 + 1


def test_penalty_points__a_card_that_is_none_is_refused():
    with pytest.raises(ValueError, match="'ZS' is not a card"):
        penalty_points(hearts=1, ZS=3)


def test_profile__unknown_name_lists_the_known():
    with pytest.raises(ValueError, match=r"no profile 'hearts'; there are: .*three_player"):
        Rules.profile("hearts")


@pytest.mark.parametrize(
    ("name", "seats", "words"),
    [
        ("three_player", 4, r"profile 'three_player' is for 3 seats, not 4"),
        ("traditional", 7, r"profile 'traditional' is for 3 or 4 or 5 or 6 seats, not 7"),
        ("american_hearts", 3, r"'american_hearts' is for 4 seats, not 3"),
        ("cancellation", 5, r"'cancellation' is for 6 or 7 or 8 or 9 or 10 seats, not 5"),
        ("traditional", 4.0, r"profile 'traditional', seats=4.0: it takes a whole number"),
        ("traditional", True, r"profile 'traditional', seats=True: it takes a whole number"),
        (["traditional"], None, r"no profile \['traditional'\]; there are: three_player"),
    ],
)
def test_profile__not_for_so_many_seats(name, seats, words):
    with pytest.raises(ValueError, match=words):
        Rules.profile(name, seats)


def test_profile__changes_come_on_top():
    rules = Rules.profile("traditional", 5, moon="subtract")
    assert (rules.name, rules.seats, rules.moon) == ("traditional", 5, "subtract")
    assert rules == Rules.profile("traditional", 5).replace(moon="subtract")


def test_cards__by_name_or_id():
    by_name = Rules(removed="2C", kept=("QS", "KS"), first_trick_ban="AH QS", opening_card="3C")
    by_id = Rules(removed=(0,), kept=(49, 50), first_trick_ban=(38, 49), opening_card=1)
    assert by_name == by_id
    assert hash(by_name) == hash(by_id)


def test_values__equal_content_gives_equal_rules():
    plain = Rules(
        "mine", 4, 1, (0, 13, 26, 39), 2, ("left", "across"), (49, 50), True, 1, (38, 49),
        tuple(range(52)), "subtract", 4, None, True, True,
    )  # fmt: skip
    one, zero = np.array([1, 0])
    other = Rules(
        np.str_("mine"), np.int8(4), one, np.array([39, 26, 13, 0]), np.uint64(2),
        ["left", np.str_("across")], {"KS", "QS"}, np.True_, "3C", (card for card in ("qs", 38)),
        np.arange(52, dtype=np.int16), np.str_("subtract"), np.array(4), None, one > zero, True,
    )  # fmt: skip
    assert plain == other
    assert hash(plain) == hash(other)
    assert repr(plain) == repr(other)
    for name in CLAUSES:
        value, same = getattr(plain, name), getattr(other, name)
        assert type(value) is type(same)
        if isinstance(value, tuple):
            assert [type(each) for each in value] == [type(each) for each in same]


def test_values__numbers_for_kernels():
    record = engine.rules_record(Rules.profile("american_hearts", kept="QS 2C", exceed=True))[0]
    hearts, queen = 0x1FFF << 26, 1 << 49
    assert record.kept == 1 | queen
    assert record.first_trick_ban == hearts | queen
    assert record.pass_cycle.tolist() == [1, 2, 3, 0] + [0] * 12
    assert (record.cycle, record.pass_count, record.opening_card) == (4, 3, 0)
    assert record.penalties.tolist() == [0] * 26 + [1] * 13 + [0] * 10 + [13, 0, 0]
    assert (record.moon, record.hands, record.match_points) == (2, 0, 100)
    assert (record.exceed, record.playoff, record.break_hearts) == (True, False, True)
    plain = engine.rules_record(Rules())[0]
    assert (plain.opening_card, plain.kept, plain.removed, plain.moon) == (-1, 0, 1, 0)
    assert CLAUSES["name"].number_type == ()


@pytest.mark.parametrize(
    ("name", "seats"), [("traditional", 3), ("omnibus", 5), ("cancellation", 6),
                        ("cancellation", 10)],
)  # fmt: skip
def test_playoff_deck__is_what_the_engine_deals(name, seats):
    rules = Rules.profile(name, seats)
    for playing in range(2, seats + 1):
        state = np.zeros(1, engine.STATE)[0]
        state.num_playing, state.playoff = playing, True
        deck = np.empty(engine.MAX_DECK, np.int8)
        size = engine.fill_deck(state, engine.rules_record(rules)[0], deck)
        assert rules.playoff_deck(playing) == tuple(deck[:size])


@pytest.mark.parametrize(
    ("playing", "removed"),
    [(2, ""), (3, "2C"), (5, "2C 2D"), (6, "2C 2D 2H 2S"), (9, "2C 2D 2H 2S 3C 3D 3H"),
     (10, "2C 2D")],
)  # fmt: skip
def test_playoff_deck__one_pack_less_the_lowest_that_are_over(playing, removed):
    deck = [CARDS[card] for card in Rules.profile("cancellation", 10).playoff_deck(playing)]
    assert deck == [card for card in CARDS if card not in removed.split()]
    assert len(deck) % playing == 0


@pytest.mark.parametrize(
    ("name", "seats", "hands"),
    [("traditional", 3, 9), ("traditional", 4, 12), ("omnibus", 5, 15), ("dirty_lady", 6, 12),
     ("cancellation", 6, 12), ("cancellation", 7, 7), ("cancellation", 10, 10)],
)  # fmt: skip
def test_length__of_the_book_lets_all_deal_equally_often(name, seats, hands):
    rules = Rules.profile(name, seats)
    assert (rules.hands, rules.match_points, rules.playoff) == (hands, None, True)


@pytest.mark.parametrize("name", PROFILES)
def test_threshold__is_exceeded_in_the_books_profiles_and_reached_in_the_pages(name):
    by_points = Rules.profile(name, hands=None, match_points=100)
    pages = "three_player", "four_player", "hearts_and_queen", "face_value", "american_hearts"
    assert by_points.exceed == (name not in pages)


def test_as_rules__name_or_rules():
    rules = Rules().replace(match_points=50)
    assert as_rules(rules) is rules
    assert as_rules("three_player") == Rules()
    with pytest.raises(ValueError, match="no profile 'nope'"):
        as_rules("nope")


@pytest.mark.parametrize("thing", [None, 3, [("seats", 3)], Rules])
def test_as_rules__other_types_refused(thing):
    with pytest.raises(TypeError, match="profile's name, Rules or a mapping of clauses, not"):
        as_rules(thing)


def test_replace__changes_a_copy_only():
    rules = Rules()
    changed = rules.replace(name="mine", match_points=50)
    assert (changed.name, changed.match_points) == ("mine", 50)
    assert changed.penalties == rules.penalties
    assert rules == Rules()
    assert changed != rules


def test_replace__derived_figures_follow():
    rules = Rules()
    assert rules.deck  # cached on the instance
    four = rules.replace(seats=4, removed=())
    assert (len(four.deck), four.hand_size, four.plies(), four.par) == (52, 13, 64, 43 / 4)


def test_replace__unknown_clause_refused():
    with pytest.raises(TypeError, match="no_such_clause"):
        Rules().replace(no_such_clause=True)


def test_frozen__and_hashable():
    rules = Rules()
    with pytest.raises(FrozenInstanceError):
        rules.seats = 4
    assert len({rules, Rules(), rules.replace(match_points=9)}) == 2


@pytest.mark.parametrize(("name", "seats"), [(n, s) for n, (c, _) in PROFILES.items() for s in c])
def test_as_rules__a_mapping_of_clauses_as_json_has_it(name, seats):
    rules = Rules.profile(name, seats)
    clauses = dataclasses.asdict(rules)
    assert as_rules(clauses) == rules
    assert as_rules(json.loads(json.dumps(clauses))) == rules
    assert as_rules({"match_points": 50}) == Rules(match_points=50)


@pytest.mark.parametrize(
    ("clauses", "words"),
    [
        ({"moons": "none"}, "rules: no clause 'moons'; there are: name, seats, packs"),
        ({3: 4}, "rules: no clause 3"),
        ({"seats": 3.0}, r"seats=3\.0: it takes a whole number"),
        ({"seats": 4}, "removed: 51 cards don't deal out to 4 seats"),
    ],
)
def test_as_rules__a_mapping_that_cannot_be_is_refused(clauses, words):
    with pytest.raises(ValueError, match=words):
        as_rules(clauses)
