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
    phase, seats_playing = int(state.phase), int(state.num_playing)
    trick = int(state.num_played) // seats_playing + 1
    stage = _PHASES.get(phase, f"trick {trick} of {int(state.to_play) // seats_playing}")
    lines = [f"{rules.name}, {'play-off, ' if state.playoff else ''}{stage}"]
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
    played, first = int(state.num_played), int(state.num_played) - int(state.in_trick)
    lines.append(f"trick: {_plays(state, first, played)}")
    if first > state.pile_start:
        lines.append(f"cancelled, still on the table: {_plays(state, state.pile_start, first)}")
    elif not state.in_trick and played:
        taker = agent_name(state.last_taker)
        lines.append(f"taken by {taker}: {_plays(state, state.taken_from, played)}")
    return "\n".join(lines)


def _plays(state: Any, start: int, stop: int) -> str:
    """Some of the cards played, in order, with who played them."""
    plays = zip(state.seats[start:stop], state.cards[start:stop], strict=True)
    return "  ".join(f"{agent_name(seat)} {card_name(card)}" for seat, card in plays) or "–"


def _by_suit(cards: list[int]) -> str:
    """``"♣ 3 10 A  ♥ 2"``: a holding, suit by suit."""
    suits = []
    for suit, symbol in enumerate(SUIT_SYMBOLS):
        ranks = [card_name(card)[:-1] for card in cards if suit_of(card) == suit]
        if ranks:
            suits.append(f"{symbol} {' '.join(ranks)}")
    return "  ".join(suits) or "–"
