"""Starting a given hand: any deal, dealer, totals, number and first cards that the rules allow.

Environments' options, ``Tables.start``, recorded hands and searches all come here.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from black_maria.cards import NUM_CARDS, card_name, card_names, parse_cards
from black_maria.engine.deals import LAST_HAND, as_int
from black_maria.engine.game import begin, fill_deck, illegal_reason, receiver
from black_maria.engine.state import BIT, MAX_DECK, OVER, PASSING, add_counts, cards_of
from black_maria.engine.steps import advance, deal_tables
from black_maria.kernels import kernel
from black_maria.rules import Rules

START_OPTIONS: Final = ("deal", "dealer", "totals", "number", "actions")
"""What ``start`` takes to describe a hand."""

MOST_TOTAL: Final = 2**30
"""Match points that a hand may start from: what follows still fits 32 bits."""

CardsOfSeats = Sequence[str | Sequence[str | int]] | NDArray[np.integer[Any]]
"""The cards of each seat before passing, by name or id."""


def start(
    states: NDArray[Any],
    rules: Rules,
    record: NDArray[Any],
    *,
    deal: CardsOfSeats | None = None,
    dealer: ArrayLike | None = None,
    totals: ArrayLike | None = None,
    number: ArrayLike | None = None,
    actions: Iterable[str | int] | None = None,
    playoff: Sequence[int] = (),
) -> None:
    """Start a hand at some tables, in place; what isn't given is as (seed, table, hand) has it.

    If it raises, ``states`` are spoilt: give it a copy.

    Args:
        states: (K,) records whose seed, table and hand are set.
        rules: The rules.
        record: The same for kernels, with what an episode is.
        deal: The cards of each seat before passing, one deal for all tables, or ids
            (K, seats, hand size), one for each.
        dealer: A seat, or (K,).
        totals: Match points before the hand, (seats,) or (K, seats).
        number: The hand's number in its match, or of its seed where an episode is a hand; it
            decides where the pass goes. One number, or (K,).
        actions: Cards passed and played first, the same at all tables.
        playoff: The seats that play a tie off, ascending; () if this is no play-off.

    Raises:
        ValueError: Something that can't be; the message says what.
    """
    count, seats, whole_match = len(states), rules.seats, bool(record[0].whole_match)
    if number is not None:
        limited = whole_match and not playoff  # play-offs come after a match's last hand
        states["hand"] = _numbers(number, count, rules.hands if limited else None)
    deal_tables(states, record, np.ones(count, np.bool_))
    if totals is not None:
        states["totals"][:, :seats] = _totals(totals, count, rules, whole_match and not playoff)
    if whole_match and number is not None:
        states["match_hand"] = states["hand"]
    if playoff:
        states["playoff"] = True
        states["playing"] = sum(1 << seat for seat in playoff)
        states["num_playing"] = len(playoff)
    if any(given is not None for given in (deal, dealer, number)) or playoff:
        playing = playoff or range(seats)
        dealers = states["dealer"] if dealer is None else _seats(dealer, count, playing)
        decks = _decks(states, rules, record, deal, playing)
        deal_out(states, record, decks, dealers.astype(np.int64))
    for at, card in enumerate(parse_cards(actions or ())):
        _act(states, rules, record, at, card)


@kernel
def deal_out(states, rules, decks, dealers):
    """``begin`` a hand at every table: ``decks`` (K, cards), ``dealers`` (K,)."""
    for i in range(len(states)):
        begin(states[i], rules[0], decks[i], dealers[i])


@kernel
def dealt_cards(states, rules, dealt):
    """Write what each seat was dealt, before anyone passed: counts (tables, seats, 52)."""
    dealt[:] = 0
    for i in range(len(states)):
        state = states[i]
        for seat in range(rules[0].seats):
            add_counts(state.holding[seat], dealt[i, seat])
            add_counts(state.given[seat], dealt[i, seat])
            add_counts(state.played[seat], dealt[i, seat])
            if state.phase != PASSING:
                to = receiver(state, rules[0], seat)
                for card in range(NUM_CARDS):
                    dealt[i, to, card] -= state.given[seat, 0] >> card & 1
                    dealt[i, to, card] -= state.given[seat, 1] >> card & 1


@kernel
def _act_all(states, rules, card, rewards):
    for i in range(len(states)):
        advance(states[i], rules[0], card, rewards)


def _act(states: NDArray[Any], rules: Rules, record: NDArray[Any], at: int, card: int) -> None:
    """Play a card at every table, if it is legal and doesn't end the hand."""
    for row in np.flatnonzero(states["legal"] & BIT[card] == 0):
        reason = illegal_reason(states[row], rules, card)
        raise ValueError(f"action {at} of actions, {reason}")
    _act_all(states, record, card, np.zeros(rules.seats, np.float32))
    if (states["phase"] == OVER).any():
        raise ValueError(f"action {at} of actions ends the hand")


# --- what is given, checked -------------------------------------------------------------------


def _whole(value: Any, shape: tuple[int, ...], name: str, each: str) -> NDArray[np.int64]:
    """Whole numbers of a shape, from as many or from fewer that NumPy broadcasts."""
    given = np.asarray(value, dtype=object)
    numbers = [as_int(number, name) for number in given.reshape(-1)]
    if not all(-(2**63) <= number < 2**63 for number in numbers):
        raise ValueError(f"{name} {value!r}: a number doesn't fit 64 bits")
    try:
        return np.broadcast_to(np.array(numbers, np.int64).reshape(given.shape), shape)
    except ValueError:
        raise ValueError(f"{name} {value!r}: give one for each {each}") from None


def _numbers(number: Any, count: int, limit: int | None) -> NDArray[np.int64]:
    hands = _whole(number, (count,), "number", f"of {count} tables")
    if limit is not None and hands.max() >= limit:
        raise ValueError(f"number={hands.max()}: the {limit} hands of a match are 0 … {limit - 1}")
    if not (hands.min() >= 0 and hands.max() <= LAST_HAND):
        raise ValueError(f"number={hands.min()}: hands are numbered from 0 to {LAST_HAND}")
    return hands


def _seats(dealer: Any, count: int, playing: Sequence[int]) -> NDArray[np.int64]:
    dealers = _whole(dealer, (count,), "dealer", f"of {count} tables")
    if wrong := set(dealers.tolist()).difference(playing):
        seats = f"seats are 0 … {playing[-1]}" if isinstance(playing, range) else (
            f"seats {' '.join(map(str, playing))} play"
        )  # fmt: skip
        raise ValueError(f"dealer={wrong.pop()}: {seats}")
    return dealers


def _totals(totals: Any, count: int, rules: Rules, limited: bool) -> NDArray[np.int64]:
    given = totals if isinstance(totals, np.ndarray) else [*totals]
    if np.shape(given)[-1:] != (rules.seats,):
        raise ValueError(f"totals {given}: give one for each of {rules.seats} seats")
    points = _whole(given, (count, rules.seats), "totals", f"of {rules.seats} seats")
    limit = rules.match_points
    if limited and limit is not None and points.max() >= limit + rules.exceed:
        raise ValueError(f"totals {given}: the match is over at {limit}")
    if abs(points).max() > MOST_TOTAL:
        raise ValueError(f"totals {given}: a total is at most {MOST_TOTAL:,}, or as far below 0")
    return points


def deck_of_pack(state: Any, record: NDArray[Any]) -> NDArray[np.int8]:
    """The pack of the seats that play, ascending, twins twice."""
    deck = np.empty(MAX_DECK, np.int8)
    return deck[: fill_deck(state, record[0], deck)]


def _decks(
    states: NDArray[Any],
    rules: Rules,
    record: NDArray[Any],
    deal: CardsOfSeats | None,
    playing: Sequence[int],
) -> NDArray[np.int8]:
    """The decks, (K, cards), that deal these cards out."""
    pack = deck_of_pack(states[0], record)
    if deal is None:
        held = (state.holding[: rules.seats] for state in states)
        deals = [[cards_of(holding) for holding in each] for each in held]
        return np.stack([deck_order(each, rules, playing, pack) for each in deals])
    if isinstance(deal, np.ndarray) and deal.ndim == 3:
        return _many_decks(deal, len(states), rules, playing, pack)
    return np.tile(deck_order(deal, rules, playing, pack), (len(states), 1))


def _many_decks(
    deals: NDArray[np.integer[Any]],
    count: int,
    rules: Rules,
    playing: Sequence[int],
    pack: NDArray[np.int8],
) -> NDArray[np.int8]:
    """The decks of deals (K, seats, hand size)."""
    if len(deals) != count or not np.issubdtype(deals.dtype, np.integer):
        raise ValueError(f"deals must be {count} of integers, not {deals.dtype} {deals.shape}")
    dealt = deals.swapaxes(1, 2).reshape(count, -1)  # one card at a time
    in_range = (dealt >= 0) & (dealt < NUM_CARDS)
    places = np.where(in_range, dealt, 0) + NUM_CARDS * np.arange(count)[:, None]
    left = np.bincount(pack, minlength=NUM_CARDS) - np.bincount(
        places.reshape(-1), minlength=NUM_CARDS * count
    ).reshape(count, NUM_CARDS)
    size = len(pack) // len(playing)
    fits = in_range.all(axis=1) & (left >= 0).all(axis=1)
    if deals.shape[1:] != (len(playing), size) or not fits.all():
        for each in deals:
            deck_order(each.tolist(), rules, playing, pack)  # says what is wrong
    kitty = np.tile(np.arange(NUM_CARDS), count).repeat(left.reshape(-1)).reshape(count, -1)
    return np.hstack([dealt, kitty]).astype(np.int8)


def deck_order(
    deal: CardsOfSeats, rules: Rules, playing: Sequence[int] = (), pack: Iterable[int] = ()
) -> NDArray[np.int8]:
    """The deck that deals ``deal`` out: what ``begin`` takes.

    Args:
        deal: The cards of each seat, by name or id.
        rules: The rules that the deal must fit. Cards that no seat gets are the kitty.
        playing: The seats that play, all unless told; the others hold nothing.
        pack: What is dealt, the rules' deck unless told.

    Raises:
        ValueError: It isn't a partition of the pack into equal holdings; names the card.
    """
    playing = playing or range(rules.seats)
    if len(deal) != rules.seats:
        raise ValueError(f"a deal lists the cards of {rules.seats} seats, not of {len(deal)}")
    holdings = [parse_cards(cards) for cards in deal]
    left = Counter(int(card) for card in pack) or Counter(rules.deck)
    size = left.total() // len(playing)
    owners: dict[int, list[int]] = {}
    for seat, cards in enumerate(holdings):
        for card in cards:
            owners.setdefault(card, []).append(seat)
            if card not in left:
                raise ValueError(f"seat {seat} can't hold {card_name(card)}: not in the pack")
            if not left[card]:
                raise ValueError(f"the deal has {card_name(card)} {_twice(owners[card])}")
            left[card] -= 1
    for seat, cards in enumerate(holdings):
        due = size if seat in playing else 0
        if len(cards) != due:
            missing = card_names(sorted(left.elements())) if rules.packs == 1 else ""
            raise ValueError(
                f"seat {seat} is dealt {len(cards)} cards instead of {due}"
                + (f"; nobody holds {missing}" if missing else "")
            )
    dealt = [holdings[seat][k] for k in range(size) for seat in playing]
    return np.array([*dealt, *sorted(left.elements())], np.int8)


def _twice(seats: list[int]) -> str:
    if len(set(seats)) == 1:
        return f"twice at seat {seats[0]}"
    return f"at seats {', '.join(map(str, seats[:-1]))} and {seats[-1]}"
