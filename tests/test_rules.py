"""The clauses as data."""

from dataclasses import FrozenInstanceError

import pytest

from black_maria.cards import card_name, parse_card
from black_maria.rules import PROFILES, Rules, as_rules, penalty_points
from oracle import CARDS, THREE_PLAYER


def test_default__is_three_player():
    assert Rules() == Rules.profile("three_player") == PROFILES["three_player"]
    assert Rules().name == "three_player"


def test_pack__52_less_2c():
    rules = Rules()
    assert [card_name(card) for card in rules.removed] == ["2♣"]
    assert {CARDS[card] for card in rules.deck} == THREE_PLAYER.pack
    assert list(rules.deck) == sorted(rules.deck)
    assert len(rules.deck) == 51
    assert rules.hand_size == 17


def test_pass__three_cards_to_the_right():
    assert (Rules().pass_count, Rules().pass_direction) == (3, "right")


def test_penalties__as_in_the_book():
    points = {CARDS[card]: value for card, value in enumerate(Rules().penalties) if value}
    assert points == THREE_PLAYER.points


def test_penalties__43_a_hand_and_par_a_third():
    assert Rules().hand_points == 43
    assert Rules().par == 43 / 3


def test_match__ends_at_100():
    assert Rules().match_points == 100


def test_plies__nine_passed_and_51_played():
    assert Rules().plies == 60


def test_penalty_points__single_cards_override_hearts():
    points = penalty_points(hearts=2, AH=5, JD=1)
    assert points[parse_card("KH")] == 2
    assert points[parse_card("AH")] == 5
    assert points[parse_card("JD")] == 1
    assert sum(points) == 12 * 2 + 5 + 1


def test_penalty_points__a_card_that_is_none_is_refused():
    with pytest.raises(ValueError, match="'ZS' is not a card"):
        penalty_points(hearts=1, ZS=3)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seats": 2}, r"seats=2: .* 3 to 6"),
        ({"seats": 7}, r"seats=7: .* 3 to 6"),
        ({"removed": (0, 0)}, r"names a card twice"),
        ({"removed": (52,)}, r"52 is not a card"),
        ({"removed": (-1,)}, r"-1 is not a card"),
        ({"removed": ()}, r"52 cards don't deal out evenly to 3 seats: remove 1 more"),
        ({"seats": 4}, r"51 cards don't deal out evenly to 4 seats: remove 3 more"),
        ({"pass_count": -1}, r"pass_count=-1: a holding has 17"),
        ({"pass_count": 18}, r"pass_count=18: a holding has 17"),
        ({"pass_direction": "up"}, r"pass_direction='up': choose from left, right"),
        ({"penalties": (1,) * 51}, r"52 numbers"),
        ({"penalties": ()}, r"52 numbers"),
        ({"penalties": (-1,) + (1,) * 51}, r"numbers ≥ 0"),
        ({"penalties": (1,) * 52}, r"2♣ counts points but is removed"),
        ({"match_points": 0}, r"match_points=0: .* at least 1"),
    ],
)
def test_validation__contradictions_refused_in_words(changes, words):
    with pytest.raises(ValueError, match=words):
        Rules(**changes)
    with pytest.raises(ValueError, match=words):
        Rules().replace(**changes)


@pytest.mark.parametrize("changes", [{"pass_count": 0}, {"pass_count": 17}, {"match_points": 1}])
def test_validation__edges_allowed(changes):
    rules = Rules().replace(**changes)
    assert {name: getattr(rules, name) for name in changes} == changes


def test_profile__unknown_name_lists_the_known():
    with pytest.raises(ValueError, match=r"no profile 'hearts'; there are: .*three_player"):
        Rules.profile("hearts")


def test_as_rules__name_or_rules():
    rules = Rules().replace(match_points=50)
    assert as_rules(rules) is rules
    assert as_rules("three_player") == Rules()
    with pytest.raises(ValueError, match="no profile 'nope'"):
        as_rules("nope")


@pytest.mark.parametrize("thing", [None, 3, {"seats": 3}, Rules])
def test_as_rules__other_types_refused(thing):
    with pytest.raises(TypeError, match="profile's name or Rules, not"):
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
    assert (len(four.deck), four.hand_size, four.plies, four.par) == (52, 13, 64, 43 / 4)


def test_replace__unknown_clause_refused():
    with pytest.raises(TypeError, match="moon_typo"):
        Rules().replace(moon_typo=True)


def test_frozen__and_hashable():
    rules = Rules()
    with pytest.raises(FrozenInstanceError):
        rules.seats = 4
    assert len({rules, Rules(), rules.replace(match_points=9)}) == 2
