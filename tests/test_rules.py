"""The clauses as data."""

from dataclasses import FrozenInstanceError

import pytest

from black_maria.cards import card_name, parse_card
from black_maria.rules import PROFILES, Rules, as_rules, penalty_points
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


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"packs": 3}, r"packs=3: there may be 1 or 2"),
        ({"seats": 2}, r"seats=2: 1 pack\(s\) are for 3 to 6"),
        ({"seats": 7}, r"seats=7: 1 pack\(s\) are for 3 to 6"),
        ({"packs": 2, "seats": 5}, r"seats=5: 2 pack\(s\) are for 6 to 10"),
        ({"packs": 2, "seats": 11}, r"seats=11: 2 pack\(s\) are for 6 to 10"),
        ({"removed": (0, 0)}, r"names a card twice"),
        ({"removed": (52,)}, r"52 is not a card"),
        ({"removed": (-1,)}, r"-1 is not a card"),
        ({"removed": ()}, r"52 cards don't deal out to 3 seats: remove 1 more"),
        ({"seats": 4}, r"51 cards don't deal out to 4 seats: remove 3 more"),
        ({"pass_count": -1}, r"pass_count=-1: a holding may have fewer cards to pass"),
        ({"pass_count": 18}, r"pass_count=18: a holding may have fewer cards to pass"),
        ({"pass_count": 17, "kept": "QS"}, r"pass_count=17: a holding may have fewer cards"),
        ({"pass_cycle": ()}, r"pass_cycle names 0 directions: 1 to 16"),
        ({"pass_cycle": ("left",) * 17}, r"pass_cycle names 17 directions: 1 to 16"),
        ({"pass_cycle": ("up",)}, r"pass_cycle: 'up' is none of none, left, right, across"),
        ({"pass_cycle": ("across",)}, r"pass_cycle: nobody sits across with 3 seats"),
        ({"kept": "QX"}, r"'QX' is not a card"),
        ({"opening_card": "2C"}, r"2♣ opens but is removed from the pack"),
        (
            {"packs": 2, "seats": 6, "removed": (), "opening_card": "2C"},
            r"2♣ opens, but two packs have two of it",
        ),
        (
            {"opening_card": "3C", "first_trick_ban": "3C QS"},
            r"3♣ opens but is banned from the first trick",
        ),
        ({"opening_card": "3H", "break_hearts": True}, r"3♥ opens but hearts must be broken"),
        ({"penalties": (1,) * 51}, r"52 numbers"),
        ({"penalties": ()}, r"52 numbers"),
        ({"penalties": (999,) + (1,) * 51}, r"numbers under 999"),
        ({"penalties": (500,) * 52}, r"more than 9999 points"),
        ({"moon": "sun"}, r"moon='sun': choose from none, subtract, others"),
        (
            {"moon": "others", "penalties": penalty_points(hearts=0, QS=13, JD=-10)},
            r"moon='others': a single penalty card is no moon",
        ),
        ({"hands": 9}, r"in hands or in match_points: give one"),
        ({"match_points": None}, r"in hands or in match_points: give one"),
        ({"hands": 10, "match_points": None}, r"hands=10: let all 3 seats deal equally often"),
        ({"hands": 0, "match_points": None}, r"hands=0: let all 3 seats deal equally often"),
        ({"match_points": 0}, r"match_points=0: .* at least 1"),
        (
            {"penalties": penalty_points(hearts=0, QS=10, JD=-10)},
            r"hands of 0 points need not reach match_points",
        ),
        (
            {"packs": 2, "seats": 6, "removed": (), "playoff": True},
            r"a play-off may leave two seats, too few for two packs",
        ),
    ],
)
def test_validation__contradictions_refused_in_words(changes, words):
    with pytest.raises(ValueError, match=words):
        Rules(**changes)
    with pytest.raises(ValueError, match=words):
        Rules().replace(**changes)
    if "seats" not in changes:
        with pytest.raises(ValueError, match=words):
            Rules.profile("three_player", **changes)


def test_validation__names_the_rules():
    with pytest.raises(ValueError, match=r"^mine: match_points=0: "):
        Rules("mine", match_points=0)
    with pytest.raises(ValueError, match=r"^slippery_anne: moon='others': "):
        Rules.profile("slippery_anne", moon="others")


@pytest.mark.parametrize(
    "changes",
    [
        {"pass_count": 0},
        {"pass_count": 17},
        {"match_points": 1},
        {"pass_cycle": ("left",) * 16},
        {"hands": 3, "match_points": None},
        {"penalties": penalty_points(hearts=-1, QS=998)},
    ],
)
def test_validation__edges_allowed(changes):
    rules = Rules().replace(**changes)
    assert {name: getattr(rules, name) for name in changes} == changes


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
    assert (len(four.deck), four.hand_size, four.plies(), four.par) == (52, 13, 64, 43 / 4)


def test_replace__unknown_clause_refused():
    with pytest.raises(TypeError, match="no_such_clause"):
        Rules().replace(no_such_clause=True)


def test_frozen__and_hashable():
    rules = Rules()
    with pytest.raises(FrozenInstanceError):
        rules.seats = 4
    assert len({rules, Rules(), rules.replace(match_points=9)}) == 2
