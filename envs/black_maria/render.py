"""A table as text: who holds what, the trick, captured penalties, totals."""

from typing import Any, Final

from black_maria.cards import SUIT_SYMBOLS, card_name, card_names, suit_of
from black_maria.engine import OVER, PASSING, cards_of
from black_maria.rules import Rules

_PHASES: Final = {PASSING: "passing", OVER: "hand over"}


def agent_name(seat: int) -> str:
    """A seat's PettingZoo id, ``player_0`` and so on."""
    return f"player_{seat}"


def table_text(state: Any, rules: Rules) -> str:
    """One table, all cards shown, as lines of text.

    Args:
        state: An ``engine.STATE`` record.
        rules: The rules that it is played by.
    """
    phase = int(state.phase)
    trick_number = int(state.num_played) // rules.seats + 1
    lines = [f"{rules.name}, {_PHASES.get(phase, f'trick {trick_number} of {rules.hand_size}')}"]
    lines.append(f"  {'':<12}{'total':>5}{'hand':>6}  captured penalties, holding")
    for seat in range(rules.seats):
        mover = phase != OVER and seat == state.turn
        captured = [card for card in cards_of(state.captured[seat]) if rules.penalties[card]]
        dealer = "(D)" if seat == state.dealer else ""
        lines.append(
            f"{'>' if mover else ' '} {agent_name(seat):<9}{dealer:<3}"
            f"{state.totals[seat]:>5}{state.penalties[seat]:>6}  {card_names(captured) or '–'}"
        )
        lines.append(f"  {'':<25}{_by_suit(cards_of(state.holding[seat]))}")
        if phase == PASSING and (given := cards_of(state.given[seat])):
            lines.append(f"  {'':<25}passes {card_names(given)}")
    lines.append(f"trick: {_trick(state, int(state.in_trick))}")
    if phase != PASSING and not state.in_trick and state.num_played:
        lines.append(f"taken by {agent_name(state.turn)}: {_trick(state, rules.seats)}")
    return "\n".join(lines)


def _trick(state: Any, count: int) -> str:
    """The last ``count`` cards played, with who played them."""
    start = int(state.num_played) - count
    plays = zip(state.seats[start : start + count], state.cards[start : start + count], strict=True)
    return "  ".join(f"{agent_name(seat)} {card_name(card)}" for seat, card in plays) or "–"


def _by_suit(cards: list[int]) -> str:
    """``"♣ 3 10 A  ♥ 2"``: a holding, suit by suit."""
    suits = []
    for suit, symbol in enumerate(SUIT_SYMBOLS):
        ranks = [card_name(card)[:-1] for card in cards if suit_of(card) == suit]
        if ranks:
            suits.append(f"{symbol} {' '.join(ranks)}")
    return "  ".join(suits) or "–"
