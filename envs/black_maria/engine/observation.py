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
from black_maria.machine import spread

_OCTET: Final = (np.arange(256)[:, None] >> np.arange(8) & 1).astype(np.int8)
"""Eight bits as eight entries: row b has the bits of the number b, the lowest first."""


@inlined
def observe_seat(state, rules, at, observer, view):
    """Write what a seat sees, (F,) int8; zeros if it is absent. ``at`` has each block's offset."""
    clear(view)  # 8 ns; after that most blocks want a single 1
    if state.playing >> observer & 1:
        write_view(state, rules, at, observer, view)


@inlined
def write_view(state, rules, at, observer, view):
    """Write what a seat that plays sees, over zeros.

    Fields are read before blocks are written, and blocks cut out as slices: the compiler loads
    again after each write what that may have changed, and checks every index that could be
    negative (half of the time of a view).
    """
    seats, playing, in_trick = rules.seats, state.playing, state.in_trick
    to = giver = observer
    if state.pass_steps:
        to = receiver(state, rules, observer)
        if state.phase != PASSING:
            for _ in range(state.num_playing - state.pass_steps):
                giver = next_seat(state, rules, giver)
    spread(state.holding[observer, 0], view[at.holding : at.holding + NUM_CARDS])
    spread(state.given[observer, 0], view[at.passed : at.passed + NUM_CARDS])
    if giver != observer:
        spread(state.given[giver, 0], view[at.received : at.received + NUM_CARDS])
    played, captured, voids, totals = at.played, at.captured, at.voids, at.totals
    seat = observer
    for by in range(seats):  # as the observer counts: itself, its left neighbour, …
        start = NUM_CARDS * by
        spread(state.played[seat, 0], view[played + start : played + start + NUM_CARDS])
        spread(state.captured[seat, 0], view[captured + start : captured + start + NUM_CARDS])
        write_suits(state.voids[seat], view[voids + NUM_SUITS * by :])
        if playing >> seat & 1:
            view[totals + by] = min(max(state.totals[seat], -128), 127)
        seat = seat + 1 if seat + 1 < seats else 0
    trick = view[at.trick : at.trick + NUM_CARDS * seats]
    for k in range(state.num_played - in_trick, state.num_played):
        trick[NUM_CARDS * relative(state.seats[k], observer, seats) + state.cards[k]] = 1
    if state.led >= 0:
        view[at.led + state.led] = 1
    if state.phase != OVER:
        view[at.phase + state.phase] = 1
    view[at.position + in_trick] = 1
    view[at.dealer + relative(state.dealer, observer, seats)] = 1
    view[at.pass_to + relative(to, observer, seats)] = 1
    view[at.hearts_broken] = state.broken
    view[at.hands_left] = min(state.hands_left, 127)
    if rules.packs == 2:
        add_twins(state, rules, at, observer, giver, view)


@kernel
def add_twins(state, rules, at, observer, giver, view):
    """Count the cards of the second pack as well."""
    add_plane(state.holding[observer, 1], view[at.holding :])
    add_plane(state.given[observer, 1], view[at.passed :])
    if giver != observer:
        add_plane(state.given[giver, 1], view[at.received :])
    for seat in range(rules.seats):
        by = NUM_CARDS * relative(seat, observer, rules.seats)
        add_plane(state.played[seat, 1], view[at.played + by :])
        add_plane(state.captured[seat, 1], view[at.captured + by :])


@kernel
def add_plane(plane, entries):
    """Add a plane to 52 counts."""
    for card in range(NUM_CARDS):
        entries[card] += plane >> card & 1


@inlined
def relative(seat, observer, seats):
    """A seat as the observer counts: 0 is itself, 1 its left neighbour."""
    by = np.int64(seat) - observer
    return by if by >= 0 else by + seats


@inlined
def write_suits(bits, entries):
    """Write a bit for each suit as four entries."""
    octet = _OCTET[np.uint8(bits)]
    for suit in range(NUM_SUITS):
        entries[suit] = octet[suit]


@inlined
def clear(entries):
    """Write zeros: a loop is much faster here than a slice assignment."""
    for k in range(len(entries)):
        entries[k] = 0


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
