"""The game: one structured record a table, and every kernel that knows a rule.

A batch of games is an array of ``STATE`` records beside an array of *views*: each seat's
observation vector, (tables, seats, F) int8, kept up to date as cards move. Kernels take
rules and layout as one-element record arrays, never as globals, and are compiled by numba;
with ``NUMBA_DISABLE_JIT=1`` the same code runs as plain Python.

All kernels of the rules live in this file, since numba's on-disk cache notices an edit only
in the file that a kernel stands in. A kernel elsewhere must not call one of these and be
cached.

Card sets are pairs of 64-bit planes: bit c of plane 0 says that card c is in the set, of
plane 1 that its twin of a second pack is, too.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, SupportsIndex

import numba
import numpy as np
from numpy.typing import NDArray

from black_maria.cards import (
    HEARTS,
    NUM_CARDS,
    NUM_SUITS,
    SUIT_NAMES,
    card_name,
    card_names,
    parse_cards,
    suit_of,
)
from black_maria.rules import MAX_CYCLE, MOONS, PASS_DIRECTIONS, Rules, as_rules

MAX_SEATS: Final = 10
MAX_DECK: Final = 2 * NUM_CARDS

PASSING, PLAYING, OVER = range(3)
"""Phases of a hand."""

REWARDS: Final = ("trick", "hand", "relative", "match")
"""When and how penalties become rewards; see ``tables.Tables``."""
EPISODES: Final = ("hand", "match")
"""What an episode is: one deal played out, or hands until the match's end."""
_TRICK, _HAND, _RELATIVE, _MATCH = range(len(REWARDS))


def record_type(fields: list[Any]) -> np.dtype[Any]:
    """A type of records whose fields are attributes, in kernels and in plain Python alike."""
    return np.dtype((np.record, np.dtype(fields, align=True)))


STATE: Final = record_type(
    [
        # what the deal is a function of
        ("seed", np.uint64),
        ("table", np.int64),
        ("hand", np.int64),
        # the match: which seats play (all, but for a play-off), bit by bit, and how far it is
        ("playing", np.int64),
        ("num_playing", np.int64),
        ("match_hand", np.int64),
        ("winners", np.int64),  # bit by bit; 0 until the match is over
        ("playoff", np.bool_),
        # where the cards are; each a pair of planes
        ("holding", np.int64, (MAX_SEATS, 2)),
        ("given", np.int64, (MAX_SEATS, 2)),  # picked to pass; no longer held
        ("captured", np.int64, (MAX_SEATS, 2)),
        ("kitty", np.int64, (2,)),
        ("legal", np.int64),  # plane of the cards that the seat to move may choose
        # scores
        ("totals", np.int32, (MAX_SEATS,)),
        ("penalties", np.int16, (MAX_SEATS,)),  # in this hand so far
        # the play so far: card and seat, in order
        ("cards", np.int8, (MAX_DECK,)),
        ("seats", np.int8, (MAX_DECK,)),
        ("num_played", np.int16),
        ("num_passed", np.int16),
        ("to_play", np.int16),  # cards that will be played in this hand
        ("pile_start", np.int16),  # first card on the table, those of cancelled tricks included
        ("taken_from", np.int16),  # first card of the pile that was taken last
        # this trick
        ("in_trick", np.int8),
        ("led", np.int8),  # suit led, −1 before the lead
        ("best_card", np.int8),
        ("best_seat", np.int8),
        ("leader", np.int8),
        ("last_taker", np.int8),  # −1 before the first trick is taken
        ("broken", np.bool_),  # a heart was played
        # whose turn
        ("phase", np.int8),
        ("pass_steps", np.int8),  # playing seats from a giver to its receiver, 0: no pass
        ("dealer", np.int8),
        ("turn", np.int8),
    ]
)
"""One table. Fields by seat have room for ``MAX_SEATS``; the rest of them stays 0."""

RULES: Final = record_type(
    [
        ("seats", np.int64),
        ("packs", np.int64),
        ("deck_size", np.int64),
        ("deck", np.int8, (MAX_DECK,)),
        ("pass_count", np.int64),
        ("pass_cycle", np.int8, (MAX_CYCLE,)),  # indices in PASS_DIRECTIONS
        ("cycle", np.int64),
        ("kept", np.int64),  # plane of cards that may not be passed
        ("break_hearts", np.bool_),
        ("opening_card", np.int64),  # −1: none
        ("ban", np.int64),  # plane of cards banned from the first trick
        ("penalties", np.int16, (NUM_CARDS,)),
        ("moon", np.int64),  # index in MOONS
        ("hands", np.int64),  # 0: by points
        ("match_points", np.int64),
        ("exceed", np.bool_),
        ("playoff", np.bool_),
        # not of the game but of the environment
        ("reward", np.int64),  # index in REWARDS
        ("whole_match", np.bool_),  # an episode is a match
    ]
)

_NOBODY, _CARRIED = -1, -2  # who takes a trick: it isn't full; its cards all cancelled out
_LEFT, _RIGHT, _ACROSS = (PASS_DIRECTIONS.index(name) for name in ("left", "right", "across"))
_SUBTRACT, _OTHERS = MOONS.index("subtract"), MOONS.index("others")
_BIT = np.array([1 << card for card in range(NUM_CARDS)], np.int64)
_SUIT = np.array([0x1FFF << 13 * suit for suit in range(4)], np.int64)
_U64 = np.uint64
# separate streams of one seed
_DEAL, _CHOICE, _SEAT = _U64(0x6D61726961), _U64(0x626C61636B), _U64(0x73656174)


_PLAIN_PYTHON = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]


def kernel(function: Any) -> Any:
    """Compile with numba; in plain Python, let integers wrap around as they do in machine code."""
    if _PLAIN_PYTHON:
        return np.errstate(over="ignore")(function)
    return numba.njit(cache=True, nogil=True, error_model="numpy")(function)


def inlined(function: Any) -> Any:
    """A kernel whose body is pasted into its callers: calls with arrays are slow."""
    if _PLAIN_PYTHON:
        return np.errstate(over="ignore")(function)
    return numba.njit(cache=True, nogil=True, error_model="numpy", inline="always")(function)


# --- randomness: pure functions of their arguments --------------------------------------------


@kernel
def mix(x):
    """Scramble 64 bits: the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014)."""
    x = (x ^ (x >> _U64(30))) * _U64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> _U64(27))) * _U64(0x94D049BB133111EB)
    return x ^ (x >> _U64(31))


@kernel
def combine(key, value):
    """A new 64-bit key from a key and a number."""
    return mix((key ^ _U64(value)) * _U64(0x9E3779B97F4A7C15) + _U64(0xD1B54A32D192ED03))


@kernel
def shuffle(seed, table, hand, seats, deck):
    """Shuffle ``deck`` by (seed, table, hand), in place; return a first dealer."""
    key = combine(combine(combine(_DEAL, seed), table), hand)
    for left in range(len(deck), 1, -1):
        other = np.int64(combine(key, left) % _U64(left))
        last = left - 1
        deck[last], deck[other] = deck[other], deck[last]
    return np.int64(combine(key, 0) % _U64(seats))


@kernel
def choice_key(state):
    """The randomness of the decision at hand: a hash of (seed, table, hand, seat, ply)."""
    key = combine(combine(combine(_CHOICE, state.seed), state.table), state.hand)
    return combine(combine(key, state.turn), state.num_passed + state.num_played)


@kernel
def draw_seats(states, rules, seats):
    """Write a seat for every table, drawn by (seed, table, hand)."""
    for i in range(len(states)):
        state = states[i]
        key = combine(combine(combine(_SEAT, state.seed), state.table), state.hand)
        seats[i] = np.int64(key % _U64(rules[0].seats))


# --- card sets --------------------------------------------------------------------------------


@inlined
def put(planes, card):
    """Add a card to a set."""
    bit = _BIT[card]
    planes[1] |= planes[0] & bit
    planes[0] |= bit


@inlined
def drop(planes, card):
    """Take one copy of a card out of a set."""
    bit = _BIT[card]
    twin = planes[1] & bit
    planes[0] ^= bit ^ twin
    planes[1] ^= twin


@kernel
def add_counts(planes, counts):
    """Add a set to counts a card, (52,)."""
    for card in range(NUM_CARDS):
        counts[card] += (planes[0] >> card & 1) + (planes[1] >> card & 1)


# --- the rules --------------------------------------------------------------------------------


@inlined
def next_seat(state, rules, seat):
    """The next playing seat clockwise."""
    seat = seat + 1 if seat + 1 < rules.seats else 0
    while not state.playing >> seat & 1:
        seat = seat + 1 if seat + 1 < rules.seats else 0
    return seat


@kernel
def receiver(state, rules, giver):
    """The seat that gets the cards that ``giver`` passes."""
    seat = giver
    for _ in range(state.pass_steps):
        seat = next_seat(state, rules, seat)
    return seat


@kernel
def fill_deck(state, rules, deck):
    """Write the pack for the seats that play, unshuffled; return its size.

    Fewer seats than the table's play off with 52 cards less the first twos that are over.
    """
    if state.num_playing == rules.seats:
        deck[:] = rules.deck
        return rules.deck_size
    size = 0
    for card in range(NUM_CARDS):
        if card % 13 or card // 13 >= NUM_CARDS % state.num_playing:
            deck[size] = card
            size += 1
    return size


@kernel
def begin(state, rules, deck, dealer):
    """Deal ``deck`` out, one card at a time from the first playing seat, and start the hand.

    A shuffled pack may be dealt from any seat: who deals moves no card, so the cards of
    (seed, table, hand) don't depend on what was played before.
    """
    state.holding[:] = 0
    state.given[:] = 0
    state.captured[:] = 0
    state.kitty[:] = 0
    state.penalties[:] = 0
    state.num_played = 0
    state.num_passed = 0
    state.pile_start = 0
    state.in_trick = 0
    state.led = -1
    state.last_taker = -1
    state.broken = False
    state.dealer = dealer
    state.to_play = len(deck) // state.num_playing * state.num_playing
    seat = rules.seats - 1
    for k in range(state.to_play):
        seat = next_seat(state, rules, seat)
        put(state.holding[seat], deck[k])
    for k in range(state.to_play, len(deck)):
        put(state.kitty, deck[k])

    number = state.match_hand if rules.whole_match else state.hand
    direction = rules.pass_cycle[number % rules.cycle]
    state.pass_steps = 0
    if direction == _LEFT:
        state.pass_steps = 1
    elif direction == _RIGHT:
        state.pass_steps = state.num_playing - 1
    elif direction == _ACROSS:
        state.pass_steps = state.num_playing // 2
    if state.pass_steps and rules.pass_count:
        state.phase = PASSING
        state.turn = next_seat(state, rules, np.int64(dealer))
    else:
        state.pass_steps = 0
        start_play(state, rules)
    state.legal = legal(state, rules)


@kernel
def start_play(state, rules):
    """The passes are done: the holder of the opening card or dealer's left leads."""
    state.phase = PLAYING
    state.turn = next_seat(state, rules, np.int64(state.dealer))
    if rules.opening_card >= 0:
        for seat in range(rules.seats):
            if state.holding[seat, 0] & _BIT[rules.opening_card]:
                state.turn = seat


@inlined
def legal(state, rules):
    """The plane of cards that the seat to move may pass or play."""
    if state.phase == OVER:
        return np.int64(0)
    held = state.holding[state.turn, 0]
    if state.phase == PASSING:
        return held & ~rules.kept
    cards = held
    if state.led >= 0:
        following = held & _SUIT[state.led]
        if following:
            cards = following
    else:
        if rules.break_hearts and not state.broken and held & ~_SUIT[HEARTS]:
            cards = held & ~_SUIT[HEARTS]
        if state.num_played == 0 and rules.opening_card >= 0 and held & _BIT[rules.opening_card]:
            cards = _BIT[rules.opening_card]
    if rules.ban and state.num_played == state.in_trick and cards & ~rules.ban:
        cards &= ~rules.ban
    return cards


@inlined
def apply(state, rules, card):
    """Pass or play a legal card; return the trick's taker, ``_NOBODY`` or ``_CARRIED``."""
    taker = _NOBODY
    if state.phase == PASSING:
        pass_card(state, rules, card)
    else:
        taker = play_card(state, rules, card)
    state.legal = legal(state, rules)
    return taker


@kernel
def pass_card(state, rules, card):
    """Set a card aside for the receiver; after the last one all seats pick theirs up."""
    seat = state.turn
    drop(state.holding[seat], card)
    put(state.given[seat], card)
    state.num_passed += 1
    if state.num_passed % rules.pass_count == 0:
        state.turn = next_seat(state, rules, np.int64(seat))
    if state.num_passed == rules.pass_count * state.num_playing:
        for giver in range(rules.seats):
            planes = state.given[giver]
            holding = state.holding[receiver(state, rules, giver)]
            for k in range(NUM_CARDS):
                for _ in range((planes[0] >> k & 1) + (planes[1] >> k & 1)):
                    put(holding, k)
        start_play(state, rules)


@inlined
def play_card(state, rules, card):
    """Play a card to the trick; return who takes the trick if that completes it."""
    seat = np.int64(state.turn)
    suit = card // 13
    drop(state.holding[seat], card)
    state.cards[state.num_played] = card
    state.seats[state.num_played] = seat
    state.num_played += 1
    state.in_trick += 1
    if suit == HEARTS and rules.break_hearts:
        state.broken = True
    if state.led < 0:
        state.led = suit
        state.leader = seat
        state.best_card = card
        state.best_seat = seat
    elif suit == state.led and card > state.best_card:
        state.best_card = card
        state.best_seat = seat
    if state.in_trick < state.num_playing:
        state.turn = next_seat(state, rules, seat)
        return _NOBODY
    return end_trick(state, rules)


@inlined
def end_trick(state, rules):
    """Give the table's cards to the trick's winner, who leads next; return the winner."""
    taker = np.int64(state.best_seat)
    if rules.packs == 2:
        taker = uncancelled(state)
    last = state.num_played == state.to_play
    if taker < 0 and last:
        taker = np.int64(state.last_taker if state.last_taker >= 0 else state.leader)
    state.in_trick = 0
    state.led = -1
    if taker < 0:
        state.turn = state.leader
        return _CARRIED
    for k in range(state.pile_start, state.num_played):
        take_card(state, rules, taker, state.cards[k])
    if state.last_taker < 0 and rules.packs == 2:
        for card in range(NUM_CARDS):
            for _ in range((state.kitty[0] >> card & 1) + (state.kitty[1] >> card & 1)):
                take_card(state, rules, taker, card)
    state.taken_from = state.pile_start
    state.pile_start = state.num_played
    state.last_taker = taker
    state.turn = taker
    if last:
        state.phase = OVER
        score_hand(state, rules)
    return taker


@inlined
def take_card(state, rules, taker, card):
    """Capture a card, for what it costs."""
    put(state.captured[taker], card)
    state.penalties[taker] += rules.penalties[card]


@kernel
def uncancelled(state):
    """Who played the highest card of the suit led whose twin isn't in the trick, or −1."""
    first = state.num_played - state.in_trick
    taker, best = np.int64(_NOBODY), -1
    for k in range(first, state.num_played):
        card = state.cards[k]
        twins = 0
        for other in range(first, state.num_played):
            twins += state.cards[other] == card
        if twins == 1 and card // 13 == state.led and card > best:
            taker, best = np.int64(state.seats[k]), card
    return taker


@kernel
def score_hand(state, rules):
    """The hand is over: the moon, and the match's totals."""
    if rules.moon:
        points = np.zeros(MAX_SEATS, np.int64)  # of cards with a positive penalty
        for seat in range(rules.seats):
            for card in range(NUM_CARDS):
                if rules.penalties[card] > 0 and state.captured[seat, 0] >> card & 1:
                    copies = 1 + (state.captured[seat, 1] >> card & 1)
                    points[seat] += copies * rules.penalties[card]
        everything = points.sum()
        for seat in range(rules.seats):
            if points[seat] == everything:
                shoot_moon(state, rules, seat, everything)
    if not state.playoff:
        for seat in range(rules.seats):
            state.totals[seat] += state.penalties[seat]


@kernel
def shoot_moon(state, rules, shooter, points):
    """One seat has taken every penalty card: they don't cost it ``points``."""
    state.penalties[shooter] -= points
    if rules.moon == _SUBTRACT:
        state.penalties[shooter] -= points
    elif rules.moon == _OTHERS:
        for seat in range(rules.seats):
            if seat != shooter and state.playing >> seat & 1:
                state.penalties[seat] += points


@kernel
def match_over(state, rules):
    """Whether the hand just finished was the match's last; note winners or who plays off."""
    if not state.playoff:
        if rules.hands:
            ended = state.match_hand + 1 >= rules.hands
        else:
            ended = max(state.totals[: rules.seats]) >= rules.match_points + rules.exceed
        if not ended:
            return False
    lowest, best, count = np.int64(2**31), np.int64(0), 0
    for seat in range(rules.seats):
        if state.playing >> seat & 1:
            score = np.int64(state.penalties[seat] if state.playoff else state.totals[seat])
            if score < lowest:
                lowest, best, count = score, np.int64(0), 0
            if score == lowest:
                best |= _BIT[seat]
                count += 1
    if count > 1 and rules.playoff:
        state.playing = best
        state.num_playing = count
        state.playoff = True
        return False
    state.winners = best
    return True


@kernel
def win_shares(state, shares):
    """Split 1 among the winners; ``shares``: (seats,)."""
    winners = 0
    for seat in range(len(shares)):
        winners += state.winners >> seat & 1
    for seat in range(len(shares)):
        shares[seat] = (state.winners >> seat & 1) / winners


# --- what each seat sees: `views` (seats, F), updated as cards move ---------------------------


@kernel
def show_hand(views, at, state, rules):
    """Write every seat's view of a hand that has just begun; zeros for seats that don't play."""
    views[:] = 0
    for observer in range(rules.seats):
        if state.playing >> observer & 1:
            view = views[observer]
            add_counts(state.holding[observer], view[at.holding : at.holding + NUM_CARDS])
            view[at.phase + state.phase] = 1
            view[at.position] = 1
            view[at.dealer + (state.dealer - observer) % rules.seats] = 1
            view[at.pass_to + (receiver(state, rules, observer) - observer) % rules.seats] = 1
            if rules.whole_match and not state.playoff:
                view[at.hands_left] = max(rules.hands - state.match_hand - 1, 0)
            show_totals(view, at, state, rules, observer)


@kernel
def show_totals(view, at, state, rules, observer):
    """Write the match totals of the seats that play, clipped to int8."""
    for seat in range(rules.seats):
        if state.playing >> seat & 1:
            total = min(max(state.totals[seat], -128), 127)
            view[at.totals + (seat - observer) % rules.seats] = total


@kernel
def show_passed(views, at, state, rules, seat, card):
    """A seat has picked a card to pass; if it was the last of all, the pass has happened."""
    views[seat, at.holding + card] -= 1
    views[seat, at.passed + card] += 1
    if state.phase == PASSING:
        return
    for giver in range(rules.seats):
        if state.playing >> giver & 1:
            view = views[receiver(state, rules, giver)]
            add_counts(state.given[giver], view[at.holding : at.holding + NUM_CARDS])
            add_counts(state.given[giver], view[at.received : at.received + NUM_CARDS])
            views[giver, at.phase + PASSING] = 0
            views[giver, at.phase + PLAYING] = 1


@inlined
def show_played(views, at, state, rules, seat, card, taker, broke):
    """A seat has played a card, and perhaps a trick is over and hearts are broken by it."""
    # offsets are read once: every write to a view makes the compiler load them again
    played, trick, captured = at.played, at.trick, at.captured
    seats, suit, playing = rules.seats, card // 13, state.playing
    trick_over = taker != _NOBODY
    first = state.num_played - (state.num_playing if trick_over else state.in_trick)
    led = state.cards[first] // 13
    suit_led, voids = at.led + led, at.voids + led
    on_table = at.position + state.num_played - first  # where the view says so many cards

    views[seat, at.holding + card] -= 1
    by_seat, by_taker = seat, taker  # as the observer counts: one less for each next observer
    for observer in range(seats):
        if playing >> observer & 1:
            views[observer, played + NUM_CARDS * by_seat + card] += 1
            if suit != led:
                views[observer, voids + 4 * by_seat] = 1
            views[observer, on_table - 1] = 0
            if trick_over:
                for k in range(first, state.num_played):
                    for by in range(seats):
                        views[observer, trick + NUM_CARDS * by + state.cards[k]] = 0
                views[observer, suit_led] = 0
                views[observer, at.position] = 1
                if taker >= 0:
                    for k in range(state.taken_from, state.num_played):
                        views[observer, captured + NUM_CARDS * by_taker + state.cards[k]] += 1
            else:
                views[observer, trick + NUM_CARDS * by_seat + card] += 1
                views[observer, suit_led] = 1
                views[observer, on_table] = 1
        by_seat = by_seat - 1 if by_seat else seats - 1
        by_taker = by_taker - 1 if by_taker else seats - 1
    if broke or state.phase == OVER or (taker >= 0 and state.taken_from == 0):
        show_rarely(views, at, state, rules, seat, card, taker, broke)


@kernel
def show_rarely(views, at, state, rules, seat, card, taker, broke):
    """What a card does once a hand: it breaks hearts, wins the kitty, or is the last."""
    led_a_heart = broke and state.in_trick == 1  # unbroken: so it holds nothing else
    for observer in range(rules.seats):
        if not state.playing >> observer & 1:
            continue
        view = views[observer]
        if broke:
            view[at.hearts_broken] = 1
        if led_a_heart:
            for suit in range(NUM_SUITS):
                if suit != HEARTS:
                    view[at.voids + 4 * ((seat - observer) % rules.seats) + suit] = 1
        if taker >= 0 and state.taken_from == 0:
            start = at.captured + NUM_CARDS * ((taker - observer) % rules.seats)
            add_counts(state.kitty, view[start : start + NUM_CARDS])
        if state.phase == OVER:
            view[at.phase + PLAYING] = 0
            show_totals(view, at, state, rules, observer)


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


# --- whole steps: state, views and rewards together ----------------------------------------------


@kernel
def open_match(state, rules):
    """The next hand is a match's first, and all play; totals stay."""
    state.match_hand = 0
    state.winners = 0
    state.playoff = False
    state.num_playing = rules.seats
    state.playing = _BIT[rules.seats] - 1


@kernel
def new_hand(state, views, rules, at, hand, fresh):
    """Deal hand number ``hand``, of a fresh episode or as the next one of a match."""
    if fresh:
        state.totals[:] = 0
        open_match(state, rules)
    else:
        state.match_hand += 1
    state.hand = hand
    deck = np.empty(MAX_DECK, np.int8)
    deck = deck[: fill_deck(state, rules, deck)]
    dealer = shuffle(state.seed, state.table, hand, rules.seats, deck)
    if not fresh:
        dealer = next_seat(state, rules, np.int64(state.dealer))
    begin(state, rules, deck, dealer)
    show_hand(views, at, state, rules)


@inlined
def advance(state, views, rules, at, card, rewards):
    """Pass or play a legal card; return whether the episode is over.

    Writes ``rewards`` (seats,). After the hand the state's phase is ``OVER``, whether or not
    a match goes on; the caller deals.
    """
    seats = rules.seats
    seat = np.int64(state.turn)  # int8 would overflow in plain Python
    for k in range(seats):
        rewards[k] = state.penalties[k]
    playing, num_playing = state.playing, state.num_playing
    if state.phase == PASSING:
        apply(state, rules, card)
        show_passed(views, at, state, rules, seat, card)
    else:
        broken = state.broken
        taker = apply(state, rules, card)
        show_played(views, at, state, rules, seat, card, taker, state.broken != broken)
    hand_over = state.phase == OVER
    over = hand_over and (not rules.whole_match or match_over(state, rules))

    if rules.reward == _MATCH:
        rewards[:seats] = 0
        if over:
            win_shares(state, rewards[:seats])
    elif rules.reward == _HAND:
        for k in range(seats):
            rewards[k] = -state.penalties[k] if hand_over else 0
    else:
        for k in range(seats):
            rewards[k] -= state.penalties[k]
        if rules.reward == _RELATIVE:
            others = num_playing - 1
            mean = rewards[:seats].sum() / others
            for k in range(seats):  # own − others' mean, with others = all − own
                if playing >> k & 1:
                    rewards[k] += rewards[k] / others - mean
    return over


@inlined
def write_mask(plane, mask):
    """Spread a plane of cards over ``mask`` (52,), 1 where a card may be chosen."""
    for card in range(NUM_CARDS):
        mask[card] = plane >> card & 1


@kernel
def step_one(states, views, rules, at, card, rewards, mask):
    """``advance`` table 0 and deal on within a match.

    Returns (seat to move, episode over, hand over, whether any reward is not 0).
    """
    state = states[0]
    over = advance(state, views, rules[0], at[0], card, rewards)
    hand_over = state.phase == OVER
    if hand_over and not over:
        new_hand(state, views, rules[0], at[0], state.hand + 1, False)
    write_mask(state.legal, mask)
    scored = False
    for k in range(rules[0].seats):
        scored = scored or rewards[k] != 0
    return state.turn, over, hand_over, scored


@kernel
def find_illegal(states, actions, where=None):
    """The first table, of those ``where`` it is true, whose action isn't legal, or −1."""
    for i in range(len(states)):
        if where is not None and not where[i]:
            continue
        card = actions[i]
        if card < 0 or card >= NUM_CARDS or not states[i].legal & _BIT[card]:
            return i
    return -1


@kernel
def step_tables(
    states, views, rules, at, actions, rewards, done, observation, mask, seat, deal_on, where=None
):
    """``advance`` tables by a legal action, deal on where a hand is over, and observe.

    Without ``deal_on``, a table whose episode is over is left as it is. Where ``where`` is
    false, nothing moves and nothing is earned.
    """
    for i in range(len(states)):
        if where is not None and not where[i]:
            for k in range(rules[0].seats):
                rewards[i, k] = 0
            done[i] = False
            continue
        state = states[i]
        over = advance(state, views[i], rules[0], at[0], actions[i], rewards[i])
        done[i] = over
        if state.phase == OVER and (deal_on or not over):
            new_hand(state, views[i], rules[0], at[0], state.hand + 1, over)
        observe_table(state, views[i], observation[i], mask[i], seat, i)


@kernel
def observe_tables(states, views, observation, mask, seat):
    """Write the acting seats' views, masks and seat numbers."""
    for i in range(len(states)):
        observe_table(states[i], views[i], observation[i], mask[i], seat, i)


@inlined
def observe_table(state, views, observation, mask, seat, i):
    """Write the acting seat's view, mask and seat number of one table."""
    turn = state.turn
    for k in range(len(observation)):  # much faster here than a slice assignment
        observation[k] = views[turn, k]
    write_mask(state.legal, mask)
    seat[i] = state.turn


@kernel
def deal_tables(states, views, rules, at, where=None):
    """Start the first hand of a new episode at every table ``where`` it is true."""
    for i in range(len(states)):
        if where is not None and not where[i]:
            continue
        new_hand(states[i], views[i], rules[0], at[0], states[i].hand, True)


@kernel
def start_one(states, views, rules, at, deck, dealer):
    """Start the first hand of a match at table 0 from a given deck order; totals stay."""
    open_match(states[0], rules[0])
    begin(states[0], rules[0], deck[: rules[0].deck_size], dealer)
    show_hand(views, at[0], states[0], rules[0])


@kernel
def dealt_cards(states, rules, dealt):
    """Write what each seat was dealt, before anyone passed: counts (tables, seats, 52)."""
    dealt[:] = 0
    for i in range(len(states)):
        state = states[i]
        for seat in range(rules[0].seats):
            add_counts(state.holding[seat], dealt[i, seat])
            add_counts(state.given[seat], dealt[i, seat])
            if state.phase != PASSING:
                to = receiver(state, rules[0], seat)
                for card in range(NUM_CARDS):
                    dealt[i, to, card] -= state.given[seat, 0] >> card & 1
                    dealt[i, to, card] -= state.given[seat, 1] >> card & 1
        for k in range(state.num_played):
            dealt[i, state.seats[k], state.cards[k]] += 1


@kernel
def choice_keys(states, keys):
    """Write every table's ``choice_key``."""
    for i in range(len(states)):
        keys[i] = choice_key(states[i])


@kernel
def write_histories(states, rules, history):
    """Write the acting seats' histories, (tables, rows, 3)."""
    for i in range(len(states)):
        write_history(states[i], rules[0], states[i].turn, history[i])


# --- at the border: plain Python --------------------------------------------------------------


@lru_cache
def rules_record(rules: Rules, reward: str = "trick", episode: str = "hand") -> NDArray[Any]:
    """The rules, and what an environment makes of them, as kernels read it: one record.

    Raises:
        ValueError: An unknown reward or episode, or ``reward="match"`` for a single hand.
    """
    for name, value, options in (("reward", reward, REWARDS), ("episode", episode, EPISODES)):
        if value not in options:
            raise ValueError(f"{name}={value!r}: choose from {', '.join(map(repr, options))}")
    if reward == "match" and episode == "hand":
        raise ValueError("reward='match' is for episode='match': a single hand has no winner")
    record = np.zeros(1, RULES)
    record["seats"] = rules.seats
    record["packs"] = rules.packs
    record["deck_size"] = len(rules.deck)
    record["deck"][0, : len(rules.deck)] = rules.deck
    record["pass_count"] = rules.pass_count
    record["pass_cycle"][0, : len(rules.pass_cycle)] = [
        PASS_DIRECTIONS.index(direction) for direction in rules.pass_cycle
    ]
    record["cycle"] = len(rules.pass_cycle)
    record["kept"] = sum(1 << card for card in rules.kept)
    record["break_hearts"] = rules.break_hearts
    record["opening_card"] = -1 if rules.opening_card is None else rules.opening_card
    record["ban"] = sum(1 << card for card in rules.first_trick_ban)
    record["penalties"] = rules.penalties
    record["moon"] = MOONS.index(rules.moon)
    record["hands"] = rules.hands or 0
    record["match_points"] = rules.match_points or 0
    record["exceed"] = rules.exceed
    record["playoff"] = rules.playoff
    record["reward"] = REWARDS.index(reward)
    record["whole_match"] = episode == "match"
    return record


def check_seed(seed: SupportsIndex) -> int:
    """A seed as an int.

    Raises:
        ValueError: It isn't an integer from 0 to 2⁶⁴ − 1.
    """
    try:
        number = seed.__index__()
    except (AttributeError, TypeError):
        raise ValueError(f"a seed is an integer, not {seed!r}") from None
    if not 0 <= number < 2**64:
        raise ValueError(f"a seed lies in 0 … 2**64 - 1, not {number}")
    return number


def _check_number(number: SupportsIndex) -> np.int64:
    if not hasattr(number, "__index__") or not 0 <= number.__index__() < 2**63:
        raise ValueError(f"tables and hands are numbered from 0, not {number!r}")
    return np.int64(number.__index__())


class Deal(NamedTuple):
    """A hand as dealt, before passing."""

    cards: NDArray[np.int8]
    """(seats, hand_size) int8, each seat's card ids ascending."""
    dealer: int
    """The dealer if the hand is the first of a match."""


def deal(
    seed: SupportsIndex, table: int = 0, hand: int = 0, rules: str | Rules = "three_player"
) -> Deal:
    """The deal of (seed, table, hand): a pure function, whatever else is drawn or played.

    Args:
        seed: 0 … 2⁶⁴ − 1.
        table: The table's number; a single environment is table 0.
        hand: How many hands were dealt at that table since it was seeded.
        rules: A profile's name or rules.

    Raises:
        ValueError: An impossible seed or number, or an unknown profile.
    """
    rules = as_rules(rules)
    deck = np.array(rules.deck, np.int8)
    key = np.uint64(check_seed(seed)), *(_check_number(number) for number in (table, hand))
    dealer = int(shuffle(*key, rules.seats, deck))
    dealt = deck[: rules.hand_size * rules.seats].reshape(rules.hand_size, rules.seats).T
    return Deal(np.sort(dealt, axis=1), dealer)


def deck_order(deal: Sequence[str | Sequence[str | int]], rules: Rules) -> NDArray[np.int8]:
    """The deck that deals ``deal`` out: what ``begin`` takes.

    Args:
        deal: The cards of each seat, by name or id.
        rules: The rules that the deal must fit. Cards that no seat gets are the kitty.

    Raises:
        ValueError: It isn't a partition of the pack into equal holdings; names the card.
    """
    if len(deal) != rules.seats:
        raise ValueError(f"a deal lists the cards of {rules.seats} seats, not of {len(deal)}")
    holdings = [parse_cards(cards) for cards in deal]
    left = Counter(rules.deck)
    owners: dict[int, list[int]] = {}
    for seat, cards in enumerate(holdings):
        for card in cards:
            owners.setdefault(card, []).append(seat)
            if card not in left:
                raise ValueError(f"seat {seat} can't hold {card_name(card)}: not in the pack")
            if not left[card]:
                seats = owners[card]
                where = (
                    f"twice at seat {seat}"
                    if len(set(seats)) == 1
                    else (f"at seats {', '.join(map(str, seats[:-1]))} and {seat}")
                )
                raise ValueError(f"the deal has {card_name(card)} {where}")
            left[card] -= 1
    for seat, cards in enumerate(holdings):
        if len(cards) != rules.hand_size:
            missing = card_names(sorted(left.elements())) if rules.packs == 1 else ""
            raise ValueError(
                f"seat {seat} is dealt {len(cards)} cards instead of {rules.hand_size}"
                + (f"; nobody holds {missing}" if missing else "")
            )
    dealt = [holdings[k % rules.seats][k // rules.seats] for k in range(sum(map(len, holdings)))]
    return np.array([*dealt, *sorted(left.elements())], np.int8)


def cards_of(planes: NDArray[np.int64]) -> list[int]:
    """The card ids of a set, ascending, twins twice."""
    counts = np.zeros(NUM_CARDS, np.int64)
    add_counts(planes, counts)
    return [int(card) for card in np.repeat(np.arange(NUM_CARDS), counts)]


def illegal_reason(state: Any, rules: Rules, card: int) -> str:
    """Why the seat to move may not choose a card, naming seat, card and clause."""
    if not 0 <= card < NUM_CARDS:
        return f"seat {state.turn}: action {card} is not a card (0 … 51)"
    verb = "pass" if state.phase == PASSING else "play"
    held = cards_of(state.holding[state.turn])
    follows = state.led >= 0 and any(suit_of(other) == state.led for other in held)
    if card not in held:
        why = f"it holds {card_names(held)}"
    elif state.phase == PASSING:
        why = "it may not be passed"
    elif follows and suit_of(card) != state.led:
        options = [card for card in held if suit_of(card) == state.led]
        why = f"it must follow suit, {SUIT_NAMES[state.led]}, and holds {card_names(options)}"
    elif rules.opening_card in held and state.num_played == 0:
        why = f"it must lead {card_name(rules.opening_card)} to the first trick"
    elif card in rules.first_trick_ban:
        why = "it may not be played to the first trick while another card can be"
    else:
        why = "hearts aren't broken"
    return f"seat {state.turn} may not {verb} {card_name(card)}: {why}"
