"""OpenSpiel's Hearts as a judge of ``american_hearts``: the same hands, card by card."""

import numpy as np
import pytest

from black_maria.rules import Rules
from helpers import Hand, dealt
from oracle import CARDS, ID, rank, suit

pyspiel = pytest.importorskip("pyspiel")

RULES = Rules.profile("american_hearts")
THEIRS = pyspiel.load_game(
    "hearts",
    {
        "pass_cards": True,
        "no_pts_on_first_trick": True,  # hearts and Q♠, unless nothing else is held
        "can_lead_any_club": False,  # 2♣ opens
        "jd_bonus": False,
        "avoid_all_tricks_bonus": False,
        "must_break_hearts": True,
        "qs_breaks_hearts": False,  # their default is True; a heart alone breaks them here
        "can_lead_hearts_instead_of_qs": False,
    },
)
DIRECTIONS = {"none": 0, "left": 1, "across": 2, "right": 3}
MOST = 26


def theirs(card: str) -> int:
    """Their number of a card: ranks first, then suits ♣ ♦ ♥ ♠."""
    return 4 * rank(card) + "CDHS".index(suit(card))


OURS = {theirs(card): card for card in CARDS}


def test_cards__numbered_as_they_name_them():
    state = THEIRS.new_initial_state()
    state.apply_action(DIRECTIONS["none"])
    for action in state.legal_actions():
        assert state.action_to_string(action).replace("T", "10") == OURS[action]


class Judged:
    """One hand in both games; their player 0 sits at dealer's left, where passing starts."""

    def __init__(self, seed: int, number: int) -> None:
        """Deal the same cards, before passing in the direction of hand ``number``."""
        cards, dealer = dealt(seed, 0, number, RULES)
        self.first = (dealer + 1) % 4
        self.ours = Hand(cards, dealer, rules=RULES, number=number)
        self.theirs = THEIRS.new_initial_state()
        self.theirs.apply_action(DIRECTIONS[RULES.pass_cycle[number % 4]])
        for k in range(13):
            for player in range(4):
                self.theirs.apply_action(theirs(cards[self.seat(player)][k]))

    def seat(self, player: int) -> int:
        return (self.first + player) % 4

    def agree(self) -> None:
        """The same mover and the same legal cards."""
        assert self.seat(self.theirs.current_player()) == self.ours.turn
        assert {OURS[action] for action in self.theirs.legal_actions()} == self.ours.legal

    def play(self, choose) -> list[int]:
        """Play the hand out; its points by seat, on which both agree."""
        while not self.theirs.is_terminal():
            self.agree()
            card = choose(self.ours)
            self.ours.act(card)
            self.theirs.apply_action(theirs(card))
        assert self.ours.phase == "over"
        points = [round(MOST - value) for value in self.theirs.returns()]
        assert self.ours.penalties == [points[(s - self.first) % 4] for s in range(4)]
        return self.ours.penalties


def at_random(generator):
    return lambda hand: generator.choice(sorted(hand.legal, key=ID.get))


def for_the_moon(hand) -> str:
    """Seat 0 takes what it can; the others get out of its way and feed it."""
    low_to_high = sorted(hand.legal, key=lambda card: (rank(card), ID[card]))
    led = int(hand.state.led)
    if hand.phase == "passing":
        return low_to_high[0 if hand.turn == 0 else -1]
    if hand.turn == 0:
        return low_to_high[-1 if led < 0 or "CDHS"[led] == suit(low_to_high[0]) else 0]
    if led >= 0 and suit(low_to_high[0]) != "CDHS"[led]:
        return max(low_to_high, key=lambda card: (card == "QS", suit(card) == "H"))
    return low_to_high[0]


@pytest.mark.parametrize("number", range(4), ids=RULES.pass_cycle)
def test_hearts__random_hands(number):
    generator = np.random.default_rng(number)
    for seed in range(125):
        Judged(seed, number).play(at_random(generator))


def test_hearts__moons():
    """26 to each of the others."""
    moons = 0
    for number in range(240):
        points = Judged(9, number).play(for_the_moon)
        moons += sorted(points) == [0, MOST, MOST, MOST]
    assert moons > 1


def test_hearts__broken_by_a_hearts_only_holding_and_the_ban_with_nothing_else():
    """Hands dealt by suit: they reach what random hands don't."""
    suits = [" ".join(card for card in CARDS if suit(card) == name) for name in "CDHS"]
    for turn in range(4):
        deal = suits[turn:] + suits[:turn]
        ours = Hand(deal, 3, rules=RULES, number=3)
        state = THEIRS.new_initial_state()
        state.apply_action(DIRECTIONS["none"])
        for k in range(13):
            for player in range(4):
                state.apply_action(theirs(deal[player].split()[k]))
        while not state.is_terminal():
            assert state.current_player() == ours.turn
            assert {OURS[action] for action in state.legal_actions()} == ours.legal
            card = max(ours.legal, key=ID.get)
            ours.act(card)
            state.apply_action(theirs(card))
        assert ours.penalties == [round(MOST - value) for value in state.returns()]
