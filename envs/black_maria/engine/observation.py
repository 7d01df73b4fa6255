"""What a seat sees: a pure function of the state, written when it is asked for.

``observe_seat`` writes the vector whose blocks ``layout`` names; ``write_history`` the events in
their order. No other code says what a seat may know.
"""

from typing import Final

import numpy as np

from black_maria.cards import NUM_CARDS, NUM_SUITS
from black_maria.engine.game import next_seat, receiver
from black_maria.engine.state import OVER, PASSING
from black_maria.kernels import inlined, kernel

_OCTET: Final = (np.arange(256)[:, None] >> np.arange(8) & 1).astype(np.int8)
"""Eight bits as eight entries: row b has the bits of the number b, the lowest first."""


@inlined
def observe_seat(state, rules, at, observer, view):
    """Write what a seat sees, (F,) int8: every entry of every block; zeros if it is absent.

    ``at`` has each block's offset.
    """
    if not state.playing >> observer & 1:
        clear(view)
        return
    seats = rules.seats
    to = giver = observer
    if state.pass_steps:
        to = receiver(state, rules, observer)
        if state.phase != PASSING:
            for _ in range(state.num_playing - state.pass_steps):
                giver = next_seat(state, rules, giver)
    write_set(state.holding[observer], view, at.holding, rules)
    write_set(state.given[observer], view, at.passed, rules)
    if giver != observer:
        write_set(state.given[giver], view, at.received, rules)
    else:
        clear(view[at.received : at.received + NUM_CARDS])
    seat = observer
    for by in range(seats):  # as the observer counts: itself, its left neighbour, …
        write_set(state.played[seat], view, at.played + NUM_CARDS * by, rules)
        write_set(state.captured[seat], view, at.captured + NUM_CARDS * by, rules)
        voids = view[at.voids + NUM_SUITS * by :]
        for suit in range(NUM_SUITS):
            voids[suit] = state.voids[seat] >> suit & 1
        total = min(max(state.totals[seat], -128), 127)
        view[at.totals + by] = total if state.playing >> seat & 1 else 0
        view[at.position + by] = by == state.in_trick
        view[at.dealer + by] = seat == state.dealer
        view[at.pass_to + by] = seat == to
        seat = seat + 1 if seat + 1 < seats else 0
    clear(view[at.trick : at.trick + NUM_CARDS * seats])
    for k in range(state.num_played - state.in_trick, state.num_played):
        by = np.int64(state.seats[k]) - observer  # int8 would overflow in plain Python
        view[at.trick + NUM_CARDS * (by if by >= 0 else by + seats) + state.cards[k]] = 1
    led = view[at.led :]
    for suit in range(NUM_SUITS):
        led[suit] = suit == state.led
    view[at.phase] = state.phase == PASSING
    view[at.phase + 1] = state.phase != PASSING and state.phase != OVER
    view[at.hearts_broken] = state.broken
    view[at.hands_left] = min(state.hands_left, 127)


@inlined
def write_set(planes, view, start, rules):
    """Write a set as 52 counts."""
    counts = view[start : start + NUM_CARDS]
    write_plane(planes[0], counts)
    if rules.packs == 2:
        for card in range(NUM_CARDS):
            counts[card] += planes[1] >> card & 1


@inlined
def write_plane(plane, entries):
    """Write a plane as 52 entries, eight at a time by table.

    Twelve planes take 23 ns so, and 110 bit by bit; the offset is in the slice, and the table's
    index unsigned, lest every entry be checked for a negative index.
    """
    for k in range(6):
        octet = _OCTET[np.uint8(plane >> 8 * k)]
        for bit in range(8):
            entries[8 * k + bit] = octet[bit]
    octet = _OCTET[np.uint8(plane >> 48)]
    for bit in range(4):
        entries[48 + bit] = octet[bit]


@inlined
def clear(entries):
    """Write zeros: a loop is much faster here than a slice assignment."""
    for k in range(len(entries)):
        entries[k] = 0


@kernel
def observe_one(states, rules, at, seat, view):
    """Write what a seat at table 0 sees, (F,)."""
    observe_seat(states[0], rules[0], at[0], seat, view)


@kernel
def observe_all(states, rules, at, views):
    """Write what every seat sees, acting or not: (tables, seats, F)."""
    for i in range(len(states)):
        for seat in range(rules[0].seats):
            observe_seat(states[i], rules[0], at[0], seat, views[i, seat])


@kernel
def write_history(state, rules, observer, history):
    """What a seat saw of this hand, in order, as rows (kind, relative seat, card) int8.

    Kind 0: a card I gave and to whom; 1: a card I received and from whom; both sorted by
    card. Kind 2: a card played and by whom. The rest of ``history`` is −1.
    """
    history[:] = -1
    if not state.playing >> observer & 1:
        return
    pass_to = (receiver(state, rules, observer) - observer) % rules.seats
    row = write_cards(state.given[observer], 0, pass_to, history, 0)
    for giver in range(rules.seats):
        came = state.phase != PASSING and state.playing >> giver & 1 and giver != observer
        if came and receiver(state, rules, giver) == observer:
            come_from = (giver - observer) % rules.seats
            row = write_cards(state.given[giver], 1, come_from, history, row)
    for k in range(state.num_played):
        history[row, 0] = 2
        history[row, 1] = (state.seats[k] - observer) % rules.seats
        history[row, 2] = state.cards[k]
        row += 1


@kernel
def write_cards(planes, kind, by_seat, history, row):
    """Append a set's cards, sorted, to a history; return the next row."""
    for card in range(NUM_CARDS):
        for _ in range((planes[0] >> card & 1) + (planes[1] >> card & 1)):
            history[row, 0] = kind
            history[row, 1] = by_seat
            history[row, 2] = card
            row += 1
    return row


@kernel
def write_histories(states, rules, history):
    """Write the acting seats' histories, (tables, rows, 3)."""
    for i in range(len(states)):
        write_history(states[i], rules[0], states[i].turn, history[i])
