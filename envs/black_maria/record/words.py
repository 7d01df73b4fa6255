"""A recorded hand in words, trick by trick."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from black_maria import engine
from black_maria.cards import card_name, card_names

if TYPE_CHECKING:
    from black_maria.record.hand import Hand


def text(hand: "Hand") -> str:
    """A hand as lines of text: what it is, the cards dealt and passed, the tricks, the score."""
    steps = hand.steps()
    state = next(steps)
    return "\n".join([_title(hand), *_holdings(hand, state), "", *_tricks(hand, steps)])


def _title(hand: "Hand") -> str:
    title = f"{hand.rules.name}; seed {hand.seed}, table {hand.table}, hand {hand.hand}"
    if hand.match_hand is not None:
        title += f"; hand {hand.match_hand + 1} of a match"
    return title + ("; play-off" if hand.playoff else "")


def _holdings(hand: "Hand", state: Any) -> Iterator[str]:
    """Who sits where, with which cards, and what they pass."""
    rules = engine.rules_record(hand.rules)[0]
    width = max(map(len, hand.agents), default=-2) + 2
    for seat, cards in enumerate(hand.deal):
        agent = hand.agents[seat] if hand.agents else ""
        who = f"seat {seat} {'(D)' if seat == hand.dealer else '':<5}{agent:<{width}}"
        yield who + (card_names(sorted(cards)) or "sits out")
        if hand.passes[seat]:
            receiver = engine.receiver(state, rules, seat)
            passed = card_names(sorted(hand.passes[seat]))
            yield f"{'':<{len(who)}}passes {passed} to seat {receiver}"
    kitty = engine.cards_of(state.kitty)
    if kitty:
        yield f"for the first taker: {card_names(kitty)}"


def _tricks(hand: "Hand", steps: Iterator[Any]) -> Iterator[str]:
    """A line a trick, its cards by seat and ``>`` before the one led; then the score."""
    seats = range(hand.rules.seats)
    head = "".join(f" seat {seat} " for seat in seats)
    yield f"trick  {head}  taken by  points  {'so far':>{5 * len(seats)}}"
    trick = before = 0
    for state in steps:
        played, size = int(state.num_played), int(state.num_playing)
        if played <= trick * size or played % size:
            continue
        trick += 1
        cells = ["" for _ in seats]
        for k in range(played - size, played):
            mark = ">" if k == played - size else " "
            cells[state.seats[k]] = mark + card_name(int(state.cards[k]))
        line = f"{trick:>5}  {''.join(f'{cell:<8}' for cell in cells)}  "
        if state.pile_start < played:
            yield f"{line}nobody"
            continue
        taken = [card for seat in seats for card in engine.cards_of(state.captured[seat])]
        points = sum(hand.rules.penalties[card] for card in taken)
        so_far = _columns(state.penalties[: len(seats)])
        yield f"{line}seat {state.last_taker:<5}{points - before:>6}  {so_far}"
        before = points
    if sum(hand.penalties) != before:
        yield "one seat took every penalty card: a moon"
    if hand.match_hand is not None or hand.totals:
        width = len(line) + 16 + 2
        yield f"{'match totals':<{width}}{_columns(state.totals[: len(seats)])}"


def _columns(points: Iterable[int]) -> str:
    return "".join(f"{each:>5}" for each in points)
