"""The heuristic's rules of thumb, a scenario each, and its strength."""

import numpy as np
import pytest

from black_maria import Rules, Tables, make_bot
from black_maria_agents.arena import Estimate, play_deals
from helpers import CARDS, Hand, fill, playing

KEY = np.zeros(1, np.uint64)
LOW = "3C 4C 5C 6C 7C 2D 3D 4D 5D 6D"
RULES = Rules.profile("three_player")


def choice(hand):
    return CARDS[make_bot("heuristic").act(hand.obs(), KEY)[0]]


def passes(holding):
    """The three cards that seat 0 passes of this holding."""
    hand = Hand(fill(holding, "", ""), dealer=2)
    picked = []
    for _ in range(3):
        picked.append(choice(hand))
        hand.act(picked[-1])
    return " ".join(picked)


def play(table, holding):
    """What the next seat plays on these cards, led by seat 0."""
    cards = table.split()
    void = {k: cards[0][-1] for k, card in enumerate(cards) if card[-1] != cards[0][-1]}
    if cards[0][-1] not in {card[-1] for card in holding.split()}:
        void[len(cards)] = cards[0][-1]
    holdings = [*cards, holding, "", ""][:3]
    return choice(playing(fill(*holdings, void=void)).do(table))


@pytest.mark.parametrize(
    ("holding", "picked"),
    [
        ("AS KS QS 2S 3S 4S 5S " + LOW, "AS KS QS"),
        ("QS 2S 3S 4S 5S 6S AH " + LOW, "QS AH 7C"),
    ],
)
def test_pass__high_spades_go_guarded_or_not(holding, picked):
    assert passes(holding) == picked


@pytest.mark.parametrize(
    ("table", "holding", "card"),
    [
        ("5C 10C", "4C 8C KC 2D 9D JD 3H 4H 9H AH 2S 3S 6S 7S 8S JS AS", "KC"),
        ("5S 7S", "JC AC 3D 5D 8D JD AD 4H 7H 10H KH 2S 4S 9S 10S KS AS", "10S"),
        ("5S 7S", "KC 3D 4D 7D 10D KD 3H 6H 9H QH 2S 6S 9S JS QS KS AS", "JS"),
    ],
)
def test_last_to_a_clean_trick__takes_it_with_the_highest_harmless_card(table, holding, card):
    assert play(table, holding) == card


def test_last_to_a_costly_trick__ducks_as_high_as_it_can():
    assert play("10C QS", "4C 9C JC KC 2D 9D JD 3H 4H 7H 9H JH AH 4S 7S 10S AS") == "9C"


def test_last_to_a_costly_trick__that_it_must_take_goes_with_the_highest():
    assert play("10C QS", "JC KC AC 2D 9D JD 2H 3H 4H 7H 9H JH AH 4S 7S 10S AS") == "AC"


@pytest.mark.parametrize(
    ("table", "holding", "card"),
    [
        ("KS", "8C 9C 3D 4D QD 2H 3H 5H 7H 10H KH 2S 4S 7S 9S JS QS", "QS"),
        ("AS", "8C 9C 3D 4D QD 2H 3H 5H 7H 10H KH 2S 4S 7S 10S QS KS", "QS"),
        ("KS 4S", "JC AC 3D 5D 8D JD AD 4H 7H 10H KH 2S 5S 8S JS QS AS", "QS"),
    ],
)
def test_under_a_higher_spade__unloads_the_queen(table, holding, card):
    assert play(table, holding) == card


@pytest.mark.parametrize(
    ("table", "holding", "card"),
    [
        ("10C", "2D 3D 9D QD AD 2H 4H 7H 10H KH AH 4S 7S 10S QS KS AS", "QS"),
        ("10C 9C", "2D 3D 6D 9D QD AD 2H 4H 7H 10H KH AH 4S 7S 10S KS AS", "KS"),
        ("10C 9C", "2D 3D 10D KD AD 2H 5H 8H JH KH AH 2S 3S 5S 8S JS AS", "AS"),
    ],
)
def test_void__throws_the_heaviest_first(table, holding, card):
    assert play(table, holding) == card


def test_strength__beats_the_yardstick_by_far():
    heuristic, duck = make_bot("heuristic"), make_bot("duck")
    alone = play_deals(heuristic, duck, range(2000), seed=1, rules=RULES).mean(axis=1)
    against = play_deals(duck, heuristic, range(2000), seed=1, rules=RULES).mean(axis=1)
    assert Estimate.of(alone).mean < 9.2
    assert Estimate.of(against).mean > 20.4


def test_cards_are_legal_and_do_not_depend_on_the_batch_or_the_key():
    bot, tables = make_bot("heuristic"), Tables(64, seed=3)
    for _ in range(2 * RULES.plies):
        obs, _ = tables.observe()
        cards = bot.act(obs, tables.keys())
        assert obs["action_mask"][np.arange(64), cards].all()
        part = {name: array[10:20] for name, array in obs.items()}
        assert (bot.act(part, np.zeros(10, np.uint64)) == cards[10:20]).all()
        tables.step(cards)
