"""Cards: ids, reading and printing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from black_maria import cards
from black_maria.cards import card_name, card_names, parse_card, parse_cards
from oracle import CARDS

SYMBOLS = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}
RANK_TEXTS = [*"23456789TJQKA", "10"]
SUIT_TEXTS = [*"CDHS♣♦♥♠"]


@pytest.mark.parametrize(
    ("name", "number"),
    [("2C", 0), ("AC", 12), ("2D", 13), ("2H", 26), ("10H", 34), ("2S", 39), ("QS", 49),
     ("KS", 50), ("AS", 51)],
)  # fmt: skip
def test_ids__suit_times_13_plus_rank(name, number):
    assert parse_card(name) == number


def test_ids__every_card_in_order():
    assert parse_cards(CARDS) == list(range(52))
    assert [cards.suit_of(n) for n in range(52)] == [n // 13 for n in range(52)]
    assert [cards.rank_of(n) for n in range(52)] == [n % 13 for n in range(52)]


@given(st.sampled_from(CARDS), st.data())
@settings(max_examples=300, deadline=None)
def test_parse__any_spelling_of_a_card(card, data):
    rank, suit = card[:-1], card[-1]
    spelling = data.draw(st.sampled_from([rank, "T"] if rank == "10" else [rank]))
    spelling += data.draw(st.sampled_from([suit, SYMBOLS[suit]]))
    spelling = data.draw(st.sampled_from([spelling, spelling.lower(), f" {spelling}\t"]))
    number = parse_card(spelling)
    assert number == CARDS.index(card)
    assert card_name(number) == rank + SYMBOLS[suit]
    assert parse_card(card_name(number)) == number


@given(st.lists(st.integers(0, 51)))
@settings(deadline=None)
def test_parse__what_was_printed(numbers):
    assert parse_cards(card_names(numbers)) == numbers


@given(st.text() | st.text("23456789TJQKA10cdhsCDHS♣♦♥♠ ", max_size=4))
@settings(deadline=None)
def test_parse__any_text_is_a_card_or_refused(text):
    try:
        number = parse_card(text)
    except ValueError:
        number = None
    spelt = text.strip().upper()
    assert (number is None) == (spelt[:-1] not in RANK_TEXTS or spelt[-1:] not in SUIT_TEXTS)


@pytest.mark.parametrize("text", ["", "S", "Q", "1S", "11H", "QX", "SQ", "Q S", "QS 4H", "0"])
def test_parse__nonsense_refused_in_words(text):
    with pytest.raises(ValueError, match="is not a card: write a rank"):
        parse_card(text)


@pytest.mark.parametrize("number", [-1, 52, np.int64(1000)])
def test_parse__id_out_of_range_refused(number):
    with pytest.raises(ValueError, match=f"{number} is not a card: ids run from 0"):
        parse_card(number)


@pytest.mark.parametrize("thing", [None, 3.0, [1], np.array([1, 2])])
def test_parse__neither_name_nor_id_refused(thing):
    with pytest.raises(ValueError, match="neither a card's name nor its id"):
        parse_card(thing)


def test_parse__ids_of_any_integer_type():
    number = parse_card(np.int8(49))
    assert number == 49
    assert type(number) is int


@pytest.mark.parametrize(
    "cards", ["QS 4H 10d", "QS,4H,10D", ["QS", 28, "TD"], (np.int64(49), "4h", 21)]
)
def test_parse__several_cards(cards):
    assert card_names(parse_cards(cards)) == "Q♠ 4♥ 10♦"


def test_parse__several_cards_name_the_wrong_one():
    with pytest.raises(ValueError, match="'t' is not a card"):
        parse_cards("q♠, t")


def test_print__symbols_and_order_kept():
    assert card_names(parse_cards("AS 2c th")) == "A♠ 2♣ 10♥"
    assert card_names([]) == ""
