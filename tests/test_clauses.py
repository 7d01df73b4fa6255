"""The clauses that only some profiles have, each as a scenario with named cards."""

from collections import Counter

import numpy as np
import pytest

import oracle
from black_maria import engine
from black_maria.engine import deck_order
from black_maria.rules import Rules, penalty_points
from black_maria.tables import Tables
from helpers import Hand, cards_in, fill, fill_up, names, playing
from oracle import CARDS, HEARTS, ID, book, hand_of

FOUR = set(CARDS)
ALL_HEARTS = "AH KH QH JH 10H 9H 8H 7H 6H 5H 4H 3H 2H"
MOON = f"AS KS QS JS {ALL_HEARTS}"
"""17 cards that take every trick, whoever follows what."""


def four(*holdings, void=None, leader=0, rules="traditional", **options):
    """Four seats of 52 cards with their pass behind them; the rules a profile's name or rules."""
    if isinstance(rules, str):
        rules = Rules.profile(rules, 4)
    return playing(fill(*holdings, void=void, pack=FOUR), leader, rules=rules, **options)


def finish(hand, first=""):
    """Play the hand out: seat 0 by the list ``first``, everybody else its lowest."""
    order = first.split()
    while hand.phase != "over":
        mine = [card for card in order if card in hand.legal] if hand.turn == 0 else []
        hand.act(mine[0] if mine else min(hand.legal, key=lambda c: (oracle.rank(c), ID[c])))
    return hand


def refused(hand, card, words):
    """The card is refused in these words, and nothing changes."""
    before = hand.states.tobytes(), hand.views.tobytes()
    with pytest.raises(ValueError, match=f"seat {hand.turn} may not .*{words}"):
        hand.act(card)
    assert (hand.states.tobytes(), hand.views.tobytes()) == before


# --- penalties -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "cards", "points"),
    [
        (Rules.profile("traditional", 4), "AS KS QS 2S", 30),
        (Rules.profile("traditional", 4), "AH KH QH 2H", 4),
        (Rules.profile("four_player"), "AS KS QS 2H", 31),
        (Rules.profile("dirty_lady", 4), "AH KH QH JH", 14),
        (Rules.profile("dirty_lady", 4), "10H 9H 2H 3H", 4),
        (Rules.profile("dirty_lady", 4), "AS KS QS 2S", 13),
        (Rules.profile("slippery_anne", 4), "AH KH QH JH", 0),
        (Rules.profile("slippery_anne", 4), "AS KS QS 2S", 13),
        (Rules.profile("omnibus", 4), "AD KD QD JD", -10),
        (Rules.profile("omnibus", 4), "AD KD JD QS", 3),
        (Rules.profile("omnibus", 4), "AD KD QD 10D", 0),
        (Rules.profile("american_hearts"), "AS KS QS 2S", 13),
    ],
    ids=lambda value: value.name if isinstance(value, Rules) else str(value),
)
def test_penalties__of_a_trick(rules, cards, points):
    """The first of the cards takes them, in a hand whose hearts are already broken."""
    rules = rules.replace(break_hearts=False, opening_card=None, first_trick_ban=())
    played = cards.split()
    void = {k: played[0][-1] for k, card in enumerate(played) if card[-1] != played[0][-1]}
    hand = four(*played, void=void, rules=rules).do(cards)
    assert hand.penalties == [points, 0, 0, 0]


@pytest.mark.parametrize(
    ("name", "cards", "points"),
    [
        ("hearts_and_queen", "AS KS QS", 13),
        ("hearts_and_queen", "AH KH 2H", 3),
        ("face_value", "AS KS QS", 30),
        ("face_value", "AH KH QH", 39),
        ("face_value", "JH 10H 2H", 23),
    ],
)
def test_penalties__of_a_trick_of_three(name, cards, points):
    hand = playing(fill(*cards.split()), rules=name).do(cards)
    assert hand.penalties == [points, 0, 0]


def test_bonus__ten_of_diamonds_instead_of_the_jack():
    ten = penalty_points(hearts=1, QS=13, KS=10, AS=7, TD=-10)
    rules = Rules.profile("omnibus", 4, penalties=ten)
    assert rules.hand_points == 33
    assert four("AD", "10D", "JD", "2D", rules=rules).do("AD 10D JD 2D").penalties == [-10, 0, 0, 0]
    hand = four("AD", "KD", "JD", "2D", rules=rules).do("AD KD JD 2D")
    assert hand.penalties == [0, 0, 0, 0]


# --- hearts broken -------------------------------------------------------------------------------


def test_hearts__may_not_be_led_unbroken():
    holdings = fill("2C AH", "", "", "", pack=FOUR)
    hand = playing(holdings, rules=Rules.profile("traditional", 4))
    assert hand.legal == {card for card in hand_of(holdings[0]) if card[-1] != "H"}
    refused(hand, "AH", "hearts aren't broken")
    assert [hand.block(seat, "hearts_broken") for seat in range(4)] == [[0]] * 4


def test_hearts__broken_by_a_discard_and_at_once():
    hand = four("AC AH", "2H", "2C", "3C", void={1: "C"}).do("AC")
    assert not hand.state.broken
    hand.act("2H")
    assert hand.state.broken
    assert [hand.block(seat, "hearts_broken") for seat in range(4)] == [[1]] * 4
    hand.do("2C 3C")
    assert hand.turn == 0
    assert "AH" in hand.legal
    assert hand.legal == hand.holding(0)


def test_hearts__not_broken_by_the_queen_of_spades():
    hand = four("AC AH", "QS", "2C", "3C", void={1: "C"}).do("AC QS 2C 3C")
    assert not hand.state.broken
    assert hand.penalties == [13, 0, 0, 0]
    assert "AH" not in hand.legal
    refused(hand, "AH", "hearts aren't broken")


def test_hearts__a_holding_of_hearts_alone_may_lead_one_and_breaks_them():
    hand = four(ALL_HEARTS, "", "", "")
    assert hand.legal == HEARTS
    hand.act("7H")
    assert [hand.block(seat, "hearts_broken") for seat in range(4)] == [[1]] * 4


def test_hearts__leading_one_unbroken_shows_three_voids():
    hand = four("", ALL_HEARTS, "", "", leader=1).do("7H")
    voids = [1, 1, 0, 1]
    for observer in range(4):
        shown = hand.block(observer, "voids")
        assert shown.pop((1 - observer) % 4) == voids
        assert shown == [[0] * 4] * 3


def test_hearts__leading_one_after_the_break_shows_nothing():
    hand = four("AC AH", "2H", "2C 3H", "3C 4H", void={1: "C"}).do("AC 2H 2C 3C").do("AH")
    assert hand.block(0, "voids") == [[0] * 4, [1, 0, 0, 0], [0] * 4, [0] * 4]


def test_hearts__leading_one_shows_nothing_where_they_need_no_breaking():
    rules = Rules.profile("traditional", 4, break_hearts=False)
    hand = four("", ALL_HEARTS, "", "", leader=1, rules=rules).do("7H")
    assert hand.block(0, "voids") == [[0] * 4] * 4
    assert hand.block(0, "hearts_broken") == [0]


@pytest.mark.parametrize("name", ["slippery_anne", "four_player"])
def test_hearts__need_no_breaking_where_the_profile_has_no_such_clause(name):
    hand = four("AC AH", "2H", "2C", "3C", void={1: "C"}, rules=name)
    assert "AH" in hand.legal
    hand.do("AC 2H 2C 3C")
    assert hand.block(0, "hearts_broken") == [0]


# --- the first trick -----------------------------------------------------------------------------


AMERICAN = Rules.profile("american_hearts")


@pytest.mark.parametrize("dealer", range(4))
def test_opening__whoever_was_passed_2c_leads_it(dealer):
    deal = fill("2C 3C 4C", "5C 6C 7C", "8C 9C 10C", "JC QC KC", pack=FOUR)
    hand = Hand(deal, dealer, rules=AMERICAN)  # the first hand passes left
    for k in range(4):
        hand.do(("2C 3C 4C", "5C 6C 7C", "8C 9C 10C", "JC QC KC")[(dealer + 1 + k) % 4])
    assert hand.phase == "playing"
    assert hand.turn == 1
    assert hand.legal == {"2C"}
    refused(hand, "3C", "must lead 2♣ to the first trick")
    hand.act("2C")
    assert hand.turn == 2


def test_opening__without_a_pass_its_holder_leads():
    hand = Hand(fill("", "", "2C", "", pack=FOUR), 0, rules=AMERICAN, number=3)
    assert (hand.phase, hand.turn, hand.legal) == ("playing", 2, {"2C"})


def test_ban__no_hearts_and_no_queen_of_spades_on_the_first_trick():
    holdings = fill("2C", "QS KS AH 2H 5D", "", "", void={1: "C"}, pack=FOUR)
    hand = playing(holdings, rules=AMERICAN).do("2C")
    assert hand.legal == hand_of(holdings[1]) - HEARTS - {"QS"}
    assert "KS" in hand.legal
    refused(hand, "QS", "may not be played to the first trick")
    refused(hand, "AH", "may not be played to the first trick")


def test_ban__a_holding_of_nothing_else_may():
    hand = four("2C", "QS " + ALL_HEARTS.replace(" 2H", ""), "2H", "", rules=AMERICAN).do("2C")
    assert hand.legal == HEARTS - {"2H"} | {"QS"}
    hand.act("AH")
    assert hand.block(3, "hearts_broken") == [1]


def test_ban__over_after_the_first_trick():
    hand = four("2C 3C AC", "QS AH", "4C 5C", "6C 7C", void={1: "C"}, rules=AMERICAN)
    discard = min(hand.holding(1) - HEARTS - {"QS"}, key=ID.get)
    hand.do(f"2C {discard} 4C 6C")
    winner = hand.turn
    assert winner == 3
    hand.do("7C 3C")
    assert hand.legal == hand.holding(1)


# --- passing -------------------------------------------------------------------------------------


def test_pass__goes_left_in_dirty_lady():
    rules = Rules.profile("dirty_lady", 4)
    given = ["2C 3C 4C", "5C 6C 7C", "8C 9C 10C", "JC QC KC"]
    hand = Hand(fill(*given, pack=FOUR), 3, rules=rules).do(" ".join(given))
    assert [hand.block(seat, "received") for seat in range(4)] == [
        hand_of(given[seat - 1]) for seat in range(4)
    ]
    assert [hand.block(seat, "pass_to") for seat in range(4)] == [[0, 1, 0, 0]] * 4


def test_pass__the_queen_of_spades_may_not_go_in_dirty_lady():
    holdings = fill("QS", "", "", "", pack=FOUR)
    hand = Hand(holdings, 3, rules=Rules.profile("dirty_lady", 4))
    assert hand.legal == hand_of(holdings[0]) - {"QS"}
    refused(hand, "QS", "may not be passed")
    elsewhere = Hand(holdings, 3, rules=Rules.profile("traditional", 4))
    assert "QS" in elsewhere.legal


@pytest.mark.parametrize(
    ("name", "seats", "receivers"),
    [
        ("rotating_pass", 4, (3, 1, 2, None, 3)),
        ("rotating_pass", 6, (5, 1, 3, None, 5)),
        ("rotating_pass", 3, (2, 1, None, 2)),
        ("rotating_pass", 5, (4, 1, None, 4)),
        ("american_hearts", 4, (1, 3, 2, None, 1)),
        ("traditional", 4, (3, 3, 3)),
    ],
)
def test_pass__in_turn_hand_by_hand(name, seats, receivers):
    rules, text = Rules.profile(name, seats), book(name, seats)
    deal = fill(*[""] * seats, pack=text.pack)
    given = [sorted(hand_of(cards), key=ID.get)[:3] for cards in deal]
    for number, steps in enumerate(receivers):
        hand = Hand(deal, seats - 1, rules=rules, number=number)
        shown = [hand.block(seat, "pass_to").index(1) for seat in range(seats)]
        assert shown == [steps or 0] * seats
        if steps is None:
            assert hand.phase == "playing"
            assert hand.turn == 0 or rules.opening_card is not None
            assert [hand.holding(seat) for seat in range(seats)] == [hand_of(c) for c in deal]
            continue
        assert hand.phase == "passing"
        for cards in given:
            hand.do(" ".join(cards))
        assert hand.phase == "playing"
        for seat in range(seats):
            assert hand.block((seat + steps) % seats, "received") == set(given[seat])


def test_pass__none_leaves_no_trace():
    hand = Hand(fill("", "", "", "", pack=FOUR), 1, rules="rotating_pass", number=3)
    assert hand.turn == 2
    assert [hand.block(seat, "phase") for seat in range(4)] == [[0, 1]] * 4
    card = min(hand.legal, key=ID.get)
    hand.act(card)
    for seat in range(4):
        assert not hand.block(seat, "passed")
        assert not hand.block(seat, "received")
        assert hand.history(seat)[0].tolist() == [2, (2 - seat) % 4, ID[card]]
        assert (hand.history(seat)[1:] == -1).all()


# --- the moon ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("moon", "penalties"),
    [("none", [43, 0, 0]), ("subtract", [-43, 0, 0]), ("others", [0, 43, 43])],
)
def test_moon__by_each_scheme(moon, penalties):
    rules = Rules.profile("traditional", moon=moon)
    hand = finish(playing(fill(MOON, "", ""), rules=rules, totals=[50, 2, 3]), MOON)
    assert hand.penalties == penalties
    assert hand.totals == [t + p for t, p in zip([50, 2, 3], penalties, strict=True)]
    assert hand.block(0, "totals") == hand.totals


def test_moon__36_subtracted_in_dirty_lady():
    """All 14 penalty cards; K♠ and A♠ would cost nothing."""
    hand = finish(playing(fill(MOON, "", ""), rules="dirty_lady", totals=[40, 1, 2]), MOON)
    assert hand.penalties == [-36, 0, 0]
    assert hand.totals == [4, 1, 2]


def test_moon__rewards_tell_when_it_falls():
    """Paid as the tricks fall; the last trick's reward settles the account."""
    for moon, last in (("subtract", 86), ("others", 43)):
        rules = Rules.profile("traditional", moon=moon)
        hand = playing(fill(MOON, "", ""), rules=rules)
        paid = np.zeros(3)
        while hand.phase != "over":
            order = [card for card in MOON.split() if card in hand.legal]
            hand.act(order[0] if hand.turn == 0 and order else min(hand.legal))
            paid += hand.rewards
        assert paid.tolist() == [-points for points in hand.penalties]
        final = hand.rewards[0] + rules.penalties[hand.state.cards[hand.state.num_played - 3]]
        assert final == last


def test_moon__a_failed_attempt_counts_normally():
    strong = MOON.replace(" 2H", " 3C")
    rules = Rules.profile("traditional", moon="subtract")
    hand = playing(fill(strong, "AC", "2H", void={2: "C"}), rules=rules).do("3C AC 2H")
    assert hand.penalties == [0, 1, 0]
    assert finish(hand, strong).penalties == [42, 1, 0]


@pytest.mark.parametrize(
    ("moon", "mine", "theirs"), [("subtract", -53, 0), ("others", -10, 43), ("none", 33, 0)]
)
def test_moon__the_bonus_still_counts_for_its_taker(moon, mine, theirs):
    """Whoever takes J♦, the moon is about penalties."""
    rules = Rules.profile("omnibus", moon=moon)
    strong = MOON.replace(" JS", "")
    hand = playing(fill(strong + " AD", "JD", ""), rules=rules)
    hand.do("AD")
    while hand.state.in_trick:
        hand.act("JD" if "JD" in hand.legal else min(hand.legal, key=ID.get))
    assert hand.penalties == [-10, 0, 0]
    finish(hand, strong)
    assert hand.penalties == [mine, theirs, theirs]


def test_moon__somebody_elses_bonus():
    """J♦ goes to another seat, whose bonus it stays."""
    rules = Rules.profile("omnibus", moon="others")
    strong = MOON.replace(" JS", " 2D")
    hand = playing(fill(strong, "AD", "JD"), rules=rules).do("2D AD JD")
    while hand.phase != "over":
        high = sorted(hand.legal, key=lambda card: (oracle.rank(card), ID[card]))
        if hand.turn == 0:
            order = [card for card in strong.split() if card in hand.legal]
            hand.act(order[0])
        elif hand.state.led >= 0:
            hand.act(high[0])
        else:
            spades = [card for card in high if card[-1] == "S"]
            hand.act((spades or high)[0])
    assert hand.captured(0) >= HEARTS | {"QS", "KS", "AS"}
    assert "JD" in hand.captured(1)
    assert hand.penalties == [0, 33, 43]


@pytest.mark.parametrize("moon", ["subtract", "others"])
def test_moon__refused_where_one_card_alone_costs(moon):
    with pytest.raises(ValueError, match="a single penalty card is no moon"):
        Rules.profile("slippery_anne", moon=moon)


# --- revoke --------------------------------------------------------------------------------------


SHORT = Rules(pass_count=0)
TAKEN = fill("AC 3D 4D", "QS AD KD", "3C KS 4C", void={1: "C", 2: "D"})
"""Three seats without a pass, for ``PLAY``."""
PLAY = "AC QS 3C 3D AD KS KD 4C"
"""Seat 0 takes 13, seat 1 takes 10, and then seat 0 must follow K♦."""


def test_revoke__the_offender_is_charged_43_and_the_others_nothing():
    hand = Hand(TAKEN, 2, [5, 6, 7], rules=SHORT).do(PLAY)
    assert hand.penalties == [13, 10, 0]
    assert hand.legal == {card for card in hand.holding(0) if card[-1] == "D"}
    assert hand.revoke()
    assert hand.penalties == [43, 0, 0]
    assert hand.totals == [48, 6, 7]
    assert hand.legal == set()


@pytest.mark.parametrize(
    ("reward", "step", "whole"),
    [
        ("trick", [-30, 10, 0], [-43, 0, 0]),
        ("hand", [-43, 0, 0], [-43, 0, 0]),
        # what it gave before: −13 + 5, −10 + 6.5 and half of 23
        ("relative", [-35, 25, 10], [-43, 21.5, 21.5]),
    ],
)
def test_revoke__takes_back_what_the_hand_had_given(reward, step, whole):
    hand, earned = Hand(TAKEN, 2, rules=SHORT, reward=reward), np.zeros(3)
    for card in PLAY.split():
        hand.act(card)
        earned += hand.rewards
    hand.revoke()
    assert hand.rewards.tolist() == step
    assert (earned + hand.rewards).tolist() == whole


@pytest.mark.parametrize(
    ("rules", "points"),
    [
        ("traditional", 43), ("dirty_lady", 36), ("slippery_anne", 13), ("omnibus", 33),
        ("american_hearts", 26),
    ],
)  # fmt: skip
def test_revoke__costs_all_that_counts_and_is_no_moon(rules, points):
    """A bonus counts as it does for who takes every card; a moon isn't shot by a revoke."""
    hand = four("2C", "", "", "", rules=rules).do("2C")
    hand.revoke()
    assert hand.penalties == [0, points, 0, 0]


def test_revoke__with_two_packs_and_a_kitty_costs_86():
    hand = Hand(fill_two("", "", "", "", "", "", kitty="QS QS"), 5, rules=CANCELLATION)
    hand.act(min(hand.legal))
    hand.revoke()
    assert hand.penalties == [0, 86, 0, 0, 0, 0]


def test_revoke__a_match_goes_on_with_the_next_hand():
    hand = Hand(TAKEN, 2, [50, 0, 3], rules=SHORT, match=True).do(PLAY)
    assert not hand.revoke()
    assert hand.totals == [93, 0, 3]
    assert hand.penalties == [0, 0, 0]
    assert (hand.state.match_hand, hand.state.dealer, hand.turn) == (1, 0, 1)
    assert [len(hand.holding(seat)) for seat in range(3)] == [17, 17, 17]


def test_revoke__ends_a_match_like_any_points():
    hand = Hand(TAKEN, 2, [57, 4, 3], rules=SHORT, match=True, reward="match").do(PLAY)
    assert hand.revoke()
    assert hand.totals == [100, 4, 3]
    assert hand.rewards.tolist() == [0, 0, 1]
    assert hand.state.winners == 0b100


@pytest.mark.parametrize("picked", ["3C 4D", "3C 4D 5D 7D"])
def test_revoke__while_passing_nobody_has_passed(picked):
    """Each has its cards back, and nobody is shown what another had picked."""
    deal = fill("QC QD QH", "3C 4D 5D", "7D 8D 9D")
    hand = Hand(deal, 0).do(picked)
    offender = hand.turn
    hand.revoke()
    assert hand.penalties == [43 * (seat == offender) for seat in range(3)]
    for seat in range(3):
        assert hand.holding(seat) == hand_of(deal[seat])
        assert hand.block(seat, "holding") == hand.holding(seat)
        assert hand.block(seat, "passed") == hand.block(seat, "received") == set()
        assert (hand.history(seat) == -1).all()


# --- the match's end -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exceed", "mine", "over"),
    [(True, 57, False), (True, 58, True), (False, 56, False), (False, 57, True)],
)
def test_match__exceeded_or_reached(exceed, mine, over):
    """Seat 0 takes 43: exactly 100 ends a match only where that is enough."""
    rules = Rules.profile("traditional", hands=None, match_points=100, exceed=exceed)
    holdings = fill(MOON, "", "")
    hand = playing(holdings, rules=rules, totals=[mine, 0, 1], match=True)
    for _ in range(50):
        order = [card for card in MOON.split() if card in hand.legal]
        assert not hand.act(order[0] if hand.turn == 0 else min(hand.legal))
    order = [card for card in MOON.split() if card in hand.legal]
    assert hand.act(order[0] if hand.turn == 0 else min(hand.legal)) == over
    assert hand.totals == [mine + 43, 0, 1]


def test_play_off__the_tied_seats_alone_with_52_cards_and_the_deal_moved_on():
    """Seats 1 and 2 tie; 26 cards each, and nobody else sees or is seen."""
    rules = Rules.profile("traditional", hands=None, match_points=40)
    hand = playing(fill(MOON, "", ""), rules=rules, totals=[0, 5, 5], match=True)
    while hand.state.match_hand == 0:
        order = [card for card in MOON.split() if card in hand.legal]
        hand.act(order[0] if hand.turn == 0 else min(hand.legal))
    assert hand.totals == [43, 5, 5]
    assert int(hand.state.playing) == 0b110
    assert [len(hand.holding(seat)) for seat in range(3)] == [0, 26, 26]
    assert hand.holding(1) | hand.holding(2) == set(CARDS)
    assert hand.state.dealer == 1  # it was 2, and 0 sits out
    assert hand.turn == 2
    assert not hand.views[0].any()
    assert hand.block(1, "totals") == [5, 5, 0]
    assert hand.block(2, "totals") == [5, 0, 5]
    assert hand.block(1, "pass_to") == [0, 1, 0]
    assert hand.block(2, "pass_to") == [0, 0, 1]


def test_play_off__a_revoke_decides_it_and_enters_no_total():
    rules = Rules.profile("traditional", hands=None, match_points=40)
    hand = playing(fill(MOON, "", ""), rules=rules, totals=[0, 5, 5], match=True)
    while hand.state.match_hand == 0:
        order = [card for card in MOON.split() if card in hand.legal]
        hand.act(order[0] if hand.turn == 0 else min(hand.legal))
    assert hand.turn == 2
    assert hand.revoke()
    assert hand.penalties == [0, 0, 43]
    assert hand.totals == [43, 5, 5]
    assert hand.rewards.tolist() == [0, 0, -43]
    assert hand.state.winners == 0b010


def test_play_off__played_out_it_decides_and_enters_no_total():
    rules = Rules.profile("traditional", hands=None, match_points=40)
    hand = playing(fill(MOON, "", ""), rules=rules, totals=[0, 5, 5], match=True)
    while hand.state.match_hand == 0:
        order = [card for card in MOON.split() if card in hand.legal]
        hand.act(order[0] if hand.turn == 0 else min(hand.legal))
    while hand.phase != "over":
        hand.act(min(hand.legal))
    assert sum(hand.penalties) == 43
    assert hand.totals == [43, 5, 5]
    assert hand.state.winners == 1 << min((1, 2), key=lambda seat: hand.penalties[seat])


def test_play_off__a_moon_charges_nobody_who_sits_out():
    """Seat 1 leads, and seat 2 has nothing but ♣ and ♦."""
    rules = Rules.profile("traditional", pass_count=0, moon="others")
    states, record = np.zeros(1, engine.STATE), engine.rules_record(rules, episode="match")
    engine.start(
        states, rules, record, deal=[[], range(26, 52), range(26)], dealer=2, totals=[50, 5, 5],
        number=rules.hands, playoff=[1, 2],
    )  # fmt: skip
    tables, rewards, done = Tables(1, rules, episode="match", deal_on=False), np.zeros(3), False
    tables.load(states)
    while not done:
        paid, done = tables.step(tables.observe()[0]["action_mask"].argmax(axis=1))
        rewards += paid[0]
    assert rewards.tolist() == [0, 0, -43]


def test_play_off__of_two_packs_is_played_with_one():
    """Three of six, dealt 17 of one pack as they had been of two; 2♣ is out."""
    hand = tied_at(0b101010)
    assert [len(hand.holding(seat)) for seat in range(6)] == [0, 17, 0, 17, 0, 17]
    assert set().union(*map(hand.holding, range(6))) == set(CARDS) - {"2C"}
    assert not hand.state.holding[:, 1].any()
    assert cards_in(hand.state.kitty) == []


def test_play_off__of_two_packs_by_all_is_played_with_one_too():
    hand = tied_at(0b111111)
    assert [len(hand.holding(seat)) for seat in range(6)] == [8] * 6
    assert set().union(*map(hand.holding, range(6))) == set(CARDS) - hand_of("2C 2D 2H 2S")
    offender = hand.turn
    assert not hand.revoke()
    assert hand.rewards.tolist() == [-42 * (seat == offender) for seat in range(6)]
    assert hand.state.playing == 0b111111 ^ 1 << offender
    assert sum(len(hand.holding(seat)) for seat in range(6)) == 50


def tied_at(seats):
    """The first play-off of six seats with two packs; ``seats``: who has tied, bit by bit."""
    rules = Rules.profile("cancellation", 6)
    playing = [seat for seat in range(6) if seats >> seat & 1]
    pack = [CARDS[card] for card in rules.playoff_deck(len(playing))]
    deal = [""] * 6
    for k, seat in enumerate(playing):
        deal[seat] = " ".join(pack[k :: len(playing)])
    hand = Hand(fill_two("", "", "", "", "", "", kitty="2D 3D"), 5, rules=rules, match=True)
    engine.start(
        hand.states, rules, engine.rules_record(rules, episode="match"),
        deal=deal, dealer=playing[0], number=12, playoff=playing,
    )  # fmt: skip
    return hand


def test_hands_left__counts_down_in_a_match_of_fixed_length():
    rules = Rules.profile("traditional", hands=3)
    deal = fill("", "", "")
    hand = Hand(deal, 2, rules=rules, match=True)
    for left in (2, 1, 0):
        number = int(hand.state.match_hand)
        assert [hand.block(seat, "hands_left") for seat in range(3)] == [[left]] * 3
        while hand.state.match_hand == number and hand.phase != "over":
            hand.act(min(hand.legal, key=ID.get))
    assert Hand(deal, 2, rules=rules).block(0, "hands_left") == [0]
    by_points = Hand(deal, 2, match=True)
    assert by_points.block(0, "hands_left") == [0]


def test_match__a_hand_begins_with_nothing_shown_of_the_one_before():
    tables = Tables(1, "american_hearts", seed=1, episode="match")
    shown = ("voids", "hearts_broken", "captured", "played")
    while tables.states()["match_hand"][0] == 0:
        before = tables.layout.split(tables.views()[0, 0])
        tables.step(tables.observe()[0]["action_mask"].argmax(axis=1))
    assert all(before[name].any() for name in shown)
    after = tables.layout.split(tables.views()[0, 0])
    assert not any(after[name].any() for name in shown)
    assert not tables.states()["penalties"].any()


def test_match__the_next_one_at_a_table_has_as_many_hands():
    tables = Tables(1, Rules.profile("traditional", hands=3), seed=1, episode="match")
    for _ in range(2):
        numbers, done = [], np.zeros(1, np.bool_)
        while not done:
            numbers += tables.states()["match_hand"].tolist()
            _, done = tables.step(tables.observe()[0]["action_mask"].argmax(axis=1))
        assert sorted(set(numbers)) == [0, 1, 2]


# --- cancellation --------------------------------------------------------------------------------


CANCELLATION = Rules.profile("cancellation", pass_cycle=("none",))


def fill_two(*holdings, kitty="", void=None):
    """Holdings completed from two packs, 17 cards to each of six seats, 2 left as the kitty."""
    full = [cards.split() for cards in holdings]
    rest = list((Counter(CARDS * 2) - Counter(" ".join([*holdings, kitty]).split())).elements())
    assert len(rest) + sum(map(len, full)) + len(kitty.split()) == 104
    assert len(full) == 6
    fill_up(full, rest, 17, void)
    return full


def tiny(kinds, deal, **changes):
    """A hand of few tricks: two packs of these cards alone; what isn't dealt is the kitty."""
    removed = tuple(ID[card] for card in CARDS if card not in kinds.split())
    rules = Rules.profile("cancellation", removed=removed, pass_count=0, **changes)
    return Hand(deal, 5, rules=rules)


def counts(hand, observer, name):
    """A block of cards as names by relative seat, twins twice."""
    block = hand.layout.blocks[name]
    values = hand.views[observer, hand.layout[name]].reshape(block.shape)
    return [names(np.repeat(np.arange(52), row)) for row in values.reshape(-1, 52)]


def test_cancellation__a_pair_cancels_and_the_next_highest_wins():
    cards = "AC QC AC KC 3C JC"
    hand = Hand(fill_two(*cards.split(), kitty="2D 3D"), 5, rules=CANCELLATION).do(cards)
    assert hand.turn == 3
    assert cards_in(hand.state.captured[3]) == ["3C", "JC", "QC", "KC", "AC", "AC", "2D", "3D"]


def test_cancellation__the_kitty_is_taken_once():
    cards = "AC QC AC KC 3C JC"
    hand = Hand(fill_two(*cards.split(), kitty="2D KS"), 5, rules=CANCELLATION).do(cards)
    for _ in range(6):
        hand.act(min(hand.legal, key=ID.get))
    taken = [card for seat in range(6) for card in cards_in(hand.state.captured[seat])]
    assert len(taken) == 6 + 2 + 6
    assert taken.count("2D") == 1


def test_cancellation__two_pairs_cancel():
    cards = "AC KC AC KC 3C QS"
    hand = Hand(fill_two(*cards.split(), kitty="2D 3D", void={5: "C"}), 5, rules=CANCELLATION)
    hand.do(cards)
    assert hand.turn == 4
    assert hand.penalties == [0, 0, 0, 0, 13, 0]


def test_cancellation__a_pair_off_suit_changes_nothing():
    cards = "3C QS QS 2C 4C 5C"
    void = {1: "C", 2: "C"}
    hand = Hand(fill_two(*cards.split(), kitty="2D 3D", void=void), 5, rules=CANCELLATION)
    hand.do(cards)
    assert hand.turn == 5
    assert hand.penalties == [0, 0, 0, 0, 0, 26]


def test_cancellation__all_of_the_suit_led_cancelled_stays_for_the_next_winner():
    first, then = "KC KC AC AC QS 2H", "3D 4D 5D 6D 7D AD"
    partial = [f"{a} {b}" for a, b in zip(first.split(), then.split(), strict=True)]
    deal = fill_two(*partial, kitty="2D KS", void={4: "C", 5: "C"})
    hand = Hand(deal, 5, rules=CANCELLATION).do(first)
    assert hand.turn == 0  # the same seat leads again, and not who played highest
    assert hand.penalties == [0] * 6
    for observer in range(6):
        assert hand.block(observer, "trick") == [set()] * 6
        assert hand.block(observer, "captured") == [set()] * 6
        assert hand.block(observer, "led") == [0] * 4
        assert hand.block(observer, "position") == [1, 0, 0, 0, 0, 0]
        played = hand.block(observer, "played")
        assert [played[(s - observer) % 6] for s in range(6)] == [{c} for c in first.split()]
    assert hand.state.pile_start == 0
    hand.do(then)
    assert hand.turn == 5
    everything = sorted([*first.split(), *then.split(), "2D", "KS"], key=ID.get)
    assert cards_in(hand.state.captured[5]) == everything
    assert hand.penalties == [0, 0, 0, 0, 0, 24]


def test_cancellation__the_last_trick_goes_to_the_last_winner():
    deal = ("QC AH", "KC AC", "QC QS", "AC KH", "KC KH", "QS AH")
    hand = tiny("AC KC QC QS AH KH", deal).do("QC KC QC AC KC QS")
    assert hand.turn == 3
    assert hand.penalties == [0, 0, 0, 13, 0, 0]
    hand.do("KH KH AH AH AC QS")
    assert hand.phase == "over"
    assert hand.penalties == [0, 0, 0, 30, 0, 0]
    assert len(cards_in(hand.state.captured[3])) == 12


def test_cancellation__without_any_winner_the_last_leader_takes_the_pile_and_the_kitty():
    deal = ("AC KD", "AC KD", "KC AD", "KC AD", "QC QS", "QC QS")
    hand = tiny("AC KC QC AD KD QS AH", deal).do("AC AC KC KC QC QC")
    assert hand.penalties == [0] * 6
    hand.do("KD KD AD AD QS QS")
    assert hand.phase == "over"
    assert hand.penalties == [28, 0, 0, 0, 0, 0]
    assert hand.totals == [28, 0, 0, 0, 0, 0]
    for observer in range(6):
        taken = counts(hand, observer, "captured")[(0 - observer) % 6]
        assert " ".join(taken) == "QC QC KC KC AC AC KD KD AD AD AH AH QS QS"


def test_cancellation__a_moon_is_of_both_packs():
    """Q♠ and A♥ are there twice, 28 points."""
    deal = ("AC KD", "AC KD", "KC AD", "KC AD", "QC QS", "QC QS")
    hand = tiny("AC KC QC AD KD QS AH", deal, moon="subtract")
    hand.do("AC AC KC KC QC QC KD KD AD AD QS QS")
    assert hand.phase == "over"
    assert hand.penalties == [-28, 0, 0, 0, 0, 0]


def test_cancellation__the_kitty_is_seen_by_nobody_until_it_is_taken():
    cards = "3C 4C 5C 6C 7C 8C"
    hand = Hand(fill_two(*cards.split(), kitty="QS 2H"), 5, rules=CANCELLATION)
    assert cards_in(hand.state.kitty) == ["2H", "QS"]
    other = Hand(fill_two(*cards.split(), kitty="QS QS"), 5, rules=CANCELLATION)
    same = [seat for seat in range(6) if cards_in(hand.state.holding[seat])
            == cards_in(other.state.holding[seat])]  # fmt: skip
    assert same
    for seat in same:
        assert hand.views[seat].tobytes() == other.views[seat].tobytes()
    hand.do("3C 4C 5C 6C 7C")
    assert not any(any(counts(hand, seat, "captured")) for seat in range(6))
    hand.act("8C")
    assert hand.penalties == [0, 0, 0, 0, 0, 14]
    for observer in range(6):
        taken = counts(hand, observer, "captured")
        assert taken[(5 - observer) % 6] == ["3C", "4C", "5C", "6C", "7C", "8C", "2H", "QS"]
        assert sum(map(len, taken)) == 8


def test_cancellation__twins_count_twice():
    deal = fill_two("2C 2C QS QS", "", "", "", "", "", kitty="2D 2D")
    hand = Hand(deal, 5, rules=Rules.profile("cancellation"))
    assert counts(hand, 0, "holding")[0].count("QS") == 2
    hand.do("QS QS 2C")
    assert counts(hand, 0, "passed") == [["2C", "QS", "QS"]]
    assert counts(hand, 0, "holding")[0].count("2C") == 1
    for seat in range(1, 6):
        hand.do(" ".join(cards_in(hand.state.holding[seat])[:3]))
    assert counts(hand, 5, "received") == [["2C", "QS", "QS"]]
    assert hand.history(5)[3:6].tolist() == [[1, 1, ID[c]] for c in ("2C", "QS", "QS")]


def test_cancellation__a_card_three_times_is_refused():
    deal = fill_two("QS QS", "", "", "", "", "", kitty="2D 2D")
    deal[3][0] = "QS"
    with pytest.raises(ValueError, match="the deal has Q♠ at seats 0, 0 and 3"):
        deck_order(deal, CANCELLATION)
