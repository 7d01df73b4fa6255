"""The heuristic's rules of thumb, a scenario each, and its strength."""

import numpy as np
import pytest

from black_maria import Rules, Tables, engine, make_bot
from black_maria.bots import counting
from black_maria_agents.measuring import Estimate, play_deals
from helpers import CARDS, Hand, fill, play_off, playing

KEY = np.zeros(1, np.uint64)
LOW = "3C 4C 5C 6C 7C 2D 3D 4D 5D 6D"
RULES = Rules.profile("three_player")


def choice(hand):
    return CARDS[make_bot("heuristic", hand.rules).act(hand.obs(), KEY)[0]]


def passes(holding, rules=RULES):
    """The three cards that seat 0 passes of this holding."""
    hand = Hand(fill(holding, "", ""), dealer=2, rules=rules)
    picked = []
    for _ in range(3):
        picked.append(choice(hand))
        hand.act(picked[-1])
    return " ".join(picked)


def play(table, holding, rules=RULES):
    """What the next seat plays on these cards, led by seat 0."""
    cards = table.split()
    void = {k: cards[0][-1] for k, card in enumerate(cards) if card[-1] != cards[0][-1]}
    if cards[0][-1] not in {card[-1] for card in holding.split()}:
        void[len(cards)] = cards[0][-1]
    holdings = [*cards, holding, "", ""][:3]
    return choice(playing(fill(*holdings, void=void), rules=rules).do(table))


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


# --- bonus cards ------------------------------------------------------------------------------

OMNIBUS = Rules.profile("omnibus", seats=3)
BONUS_AND_CLUBS = "9C 10C JC QC KC AC JD 3H 4H 5H 6H 7H 2S 3S 4S 5S 6S"


@pytest.mark.parametrize(("rules", "card"), [(OMNIBUS, "QD"), (RULES, "8D")])
def test_bonus_on_the_table__is_worth_a_heart(rules, card):
    holding = "3C 5C 7C 9C 3D 8D QD 4H 6H 8H 10H 2S 4S 6S 8S 10S JS"
    assert play("JD 9H", holding, rules) == card


@pytest.mark.parametrize(("rules", "card"), [(OMNIBUS, "JD"), (RULES, "QD")])
def test_bonus_held__takes_its_own_trick_last(rules, card):
    holding = "3C 5C 7C 9C 3D JD QD 4H 6H 8H 10H 2S 4S 6S 8S 10S JS"
    assert play("9D 10D", holding, rules) == card


def test_bonus_held__is_neither_thrown_away_nor_passed():
    holding = "2D 3D 10D JD 3H 4H 5H 6H 2S 3S 4S 5S 6S 7S 8S 9S 10S"
    assert play("5C 6C", holding, OMNIBUS) != "JD"
    assert "JD" not in passes(BONUS_AND_CLUBS, OMNIBUS)


# --- the moon ---------------------------------------------------------------------------------

MOON = Rules.profile("dirty_lady", seats=3)
NO_MOON = MOON.replace(moon="none")


def after_two_tricks(rules):
    """Seat 0 has taken Q♠, A♥ and K♥, 22 of 36, and leads; the others have no clubs."""
    shooter = "2H 3C 4C 5C 6C 7C 8C 9C 10C JC QC KC AC 10D KS AS JS"
    left = "AH QH JH 3H 4H 3D 4D 5D 6D 7D 9D 2S 3S 4S 5S 6S 7S"
    right = "KH 5H 6H 7H 8H 9H 10H 2D 8D JD QD KD AD QS 8S 9S 10S"
    return playing([shooter, left, right], rules=rules).do("AS 2S QS AC AH KH")


@pytest.mark.parametrize(("rules", "fed"), [(MOON, False), (NO_MOON, True)])
def test_shooter__is_not_fed(rules, fed):
    assert (choice(after_two_tricks(rules).do("KC"))[-1] == "H") == fed


@pytest.mark.parametrize(("rules", "takes"), [(MOON, True), (NO_MOON, False)])
def test_shooter__is_stopped_for_the_price_of_a_heart(rules, takes):
    """10♦ is led and a heart is thrown on it; right may duck or take it."""
    shooter = "2H 3C 4C 5C 6C 7C 8C 9C 10C JC QC KC AC 10D KS AS JS"
    left = "AH QH JH 3H 4H 9H 10H 5H 6H 7H 2S 3S 4S 5S 6S 7S 10S"
    right = "KH 8H 2D 3D 4D 5D 6D 7D 8D 9D JD QD KD AD QS 8S 9S"
    hand = playing([shooter, left, right], rules=rules).do("AS 2S QS AC AH KH 10D 4H")
    assert (choice(hand) in {"JD", "QD", "KD", "AD"}) == takes


# --- two packs --------------------------------------------------------------------------------

TWO_PACKS = Rules.profile("cancellation", seats=6).replace(pass_count=0)


def last_of_six(table, holding):
    """What the last of six seats plays on these cards, led by seat 0."""
    holdings = [[card] for card in table.split()]
    led = holdings[0][0][-1]
    rest = [CARDS[card] for card in TWO_PACKS.deck]
    for card in f"{table} {holding}".split():
        rest.remove(card)
    for own in sorted(holdings, key=lambda own: own[0][-1] == led):  # first those void of it
        void = "" if own[0][-1] == led else led
        while len(own) < TWO_PACKS.hand_size:
            own.append(next(card for card in rest if card[-1] != void))
            rest.remove(own[-1])
    holdings.append(holding.split())
    return choice(Hand(holdings, dealer=5, rules=TWO_PACKS).do(table))


TAIL = " 2D 4D 6D 8D 10D 3H 5H 7H 9H JH 2S 4S 6S 8S"


def test_twin_of_the_winning_card__cancels_it_and_does_not_win():
    assert last_of_six("KC 3C QS 5C 6C", "2C KC AC" + TAIL) == "KC"


def test_twins_on_the_table__leave_the_trick_to_the_next_card():
    assert last_of_six("KC 3C QS 5C KC", "4C 10C AC" + TAIL) == "4C"


# --- strength ---------------------------------------------------------------------------------


def test_strength__beats_the_yardstick_by_far():
    heuristic, duck = make_bot("heuristic"), make_bot("duck")
    alone = play_deals(heuristic, duck, range(2000), seed=1, rules=RULES).mean(axis=1)
    against = play_deals(duck, heuristic, range(2000), seed=1, rules=RULES).mean(axis=1)
    assert Estimate.of(alone).mean < 9.2
    assert Estimate.of(against).mean > 20.4


def margin(agent, others, rules, deals):
    """Points a hand by which an agent alone does better than the mean of the others."""
    tables = Tables(np.repeat(np.arange(deals), rules.seats), rules, seed=1, reward="relative")
    own = np.tile(np.arange(rules.seats), deals)
    total = 0.0
    for _ in range(rules.plies()):
        obs, seat = tables.observe()
        keys = tables.keys()
        cards = np.where(seat == own, agent.act(obs, keys), others.act(obs, keys))
        rewards, _ = tables.step(cards)
        total += rewards[np.arange(len(own)), own].sum()
    return total / len(own)


@pytest.mark.parametrize(
    ("profile", "seats", "better"),
    [
        ("three_player", 3, 6.5),
        ("four_player", 4, 3),
        ("hearts_and_queen", 3, 3.5),
        ("face_value", 3, 15),
        ("traditional", 3, 6),
        ("traditional", 6, 0.5),
        ("dirty_lady", 3, 2.5),
        ("slippery_anne", 3, 2),
        ("omnibus", 3, 6.5),
        ("rotating_pass", 4, 2.5),
        ("american_hearts", 4, 1),
        ("cancellation", 6, 1.5),
    ],
)
def test_strength__beats_the_yardstick_under_every_profile(profile, seats, better):
    rules = Rules.profile(profile, seats=seats)
    heuristic, duck = make_bot("heuristic", rules), make_bot("duck", rules)
    assert margin(heuristic, duck, rules, 1800 // seats) > better


@pytest.mark.parametrize("total", [40, -3])
@pytest.mark.parametrize("seats", [6, 8, 9, 10])
def test_play_offs_with_one_of_two_packs__are_told_from_hands_of_all(seats, total):
    """As many cards are dealt to three of six seats as to all six; the notes count one pack."""
    rules, generator = Rules.profile("cancellation", seats), np.random.default_rng(seats)
    record, bot = engine.rules_record(rules), make_bot("heuristic", rules)
    for count in range(2, seats + 1):
        playing = sorted(generator.choice(seats, count, replace=False).tolist())
        tables = play_off(rules, playing, total, count)
        for _ in range(count * (3 + 52 // count) - 1):
            obs, seat = tables.observe()
            notes = np.zeros(1, counting.NOTES).view(counting.NOTES)
            counting.study_rules(notes[0], record[0])
            counting.read(notes[0], obs["observation"][0], tables.layout.record[0])
            held = tables.states()[0]["holding"][:seats, 0] >> np.arange(52)[:, None] & 1
            unseen = held.sum(axis=1) - held[:, seat[0]]
            if notes[0].passing:  # what others have picked is unseen too
                given = tables.states()[0]["given"][:seats, 0] >> np.arange(52)[:, None] & 1
                unseen += given.sum(axis=1)
            assert notes[0].num_playing == count
            assert (notes[0].unseen == unseen).all()
            tables.step(bot.act(obs, tables.keys()))


def test_strength__knows_a_bonus_and_the_moon():
    """Against itself when it isn't told of them."""
    for rules, blind in (
        (OMNIBUS, OMNIBUS.replace(penalties=RULES.penalties)),
        (MOON, NO_MOON),
    ):
        aware, unaware = make_bot("heuristic", rules), make_bot("heuristic", blind)
        assert margin(aware, unaware, rules, 800) > 0.8


def test_cards_are_legal_and_do_not_depend_on_the_batch_or_the_key():
    bot, tables = make_bot("heuristic"), Tables(64, seed=3)
    for _ in range(2 * RULES.plies()):
        obs, _ = tables.observe()
        cards = bot.act(obs, tables.keys())
        assert obs["action_mask"][np.arange(64), cards].all()
        part = {name: array[10:20] for name, array in obs.items()}
        assert (bot.act(part, np.zeros(10, np.uint64)) == cards[10:20]).all()
        tables.step(cards)
