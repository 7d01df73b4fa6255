"""Cards: ids, suits, ranks, reading and printing.

A card is an int: ``13 * suit + rank`` with suits ♣ 0, ♦ 1, ♥ 2, ♠ 3 and ranks
2 → 0 … 10 → 8, J → 9, Q → 10, K → 11, A → 12. So 2♣ is 0, Q♠ is 49, A♠ is 51.
"""

from collections.abc import Iterable, Iterator
from typing import Final, SupportsIndex

from black_maria.given import in_order, shown, whole_or_none

NUM_CARDS: Final = 52
NUM_SUITS: Final = 4
NUM_RANKS: Final = 13
CLUBS, DIAMONDS, HEARTS, SPADES = range(NUM_SUITS)

SUIT_SYMBOLS: Final = "♣♦♥♠"
SUIT_NAMES: Final = ("clubs", "diamonds", "hearts", "spades")
RANK_NAMES: Final = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A")

_SUITS = {letter: suit for suit, letter in enumerate("CDHS")} | {
    symbol: suit for suit, symbol in enumerate(SUIT_SYMBOLS)
}
_RANKS = {name: rank for rank, name in enumerate(RANK_NAMES)} | {"T": 8}


def suit_of(card: int) -> int:
    """The suit of a card: 0 ♣, 1 ♦, 2 ♥, 3 ♠."""
    return card // NUM_RANKS


def rank_of(card: int) -> int:
    """The rank index of a card: 0 for a two … 12 for an ace."""
    return card % NUM_RANKS


def card_name(card: int) -> str:
    """A card as people write it: ``card_name(49) == "Q♠"``."""
    return RANK_NAMES[rank_of(card)] + SUIT_SYMBOLS[suit_of(card)]


def card_names(cards: Iterable[int]) -> str:
    """Several cards, in the order given: ``"2♣ 10♥ Q♠"``."""
    return " ".join(card_name(card) for card in cards)


def parse_card(card: str | SupportsIndex) -> int:
    """The id of a card given by name or by id.

    Args:
        card: ``"QS"``, ``"10H"``, ``"th"`` or ``"Q♠"`` in any case, or an id 0…51.

    Raises:
        ValueError: It names no card.
    """
    if isinstance(card, str):
        text = card.strip().upper()
        rank, suit = _RANKS.get(text[:-1]), _SUITS.get(text[-1:])
        if rank is None or suit is None:
            raise ValueError(
                f"{shown(card)} is not a card: write a rank (2…10, T, J, Q, K, A) "
                "and a suit (C, D, H, S), as in 'QS' or '10h'"
            )
        return NUM_RANKS * suit + rank
    number = whole_or_none(card)
    if number is None:
        raise ValueError(f"{shown(card)} is neither a card's name nor its id")
    if not 0 <= number < NUM_CARDS:
        raise ValueError(f"{shown(number)} is not a card: ids run from 0 (2♣) to 51 (A♠)")
    return number


def parse_cards(cards: str | Iterable[str | SupportsIndex]) -> list[int]:
    """The ids of several cards: ``"QS 4H"`` or any sequence of names and ids.

    Raises:
        ValueError: One of them names no card, or they are in no order.
    """
    return [parse_card(card) for card in listed(cards, "cards")]


def listed(cards: str | Iterable[str | SupportsIndex], name: str) -> Iterator[str | SupportsIndex]:
    """Names and ids one after the other, unread; ``name`` is the argument's in messages.

    Raises:
        ValueError: They are in no order.
    """
    return in_order(cards.replace(",", " ").split() if isinstance(cards, str) else cards, name)
