"""The game: every clause of the rules, and nothing else.

For who plays, ``legal`` and ``apply`` are all of it: which cards may be chosen, and what choosing
one does. ``begin`` deals a hand, ``match_over`` ends a match. Everything changes ``state`` in
place; ``rules`` is a record of ``state.RULES``.
"""

from typing import Any, Final

import numpy as np

from black_maria.cards import (
    HEARTS,
    NUM_CARDS,
    NUM_SUITS,
    SUIT_NAMES,
    card_name,
    card_names,
    suit_of,
)
from black_maria.engine.state import (
    BIT,
    MAX_DECK,
    MAX_SEATS,
    OVER,
    PASSING,
    PLAYING,
    SUIT,
    cards_of,
    drop,
    put,
    put_all,
)
from black_maria.given import shown
from black_maria.kernels import inlined, kernel
from black_maria.rules import MOONS, PASS_DIRECTIONS, Rules

_NOBODY: Final = -1
_LEFT, _RIGHT, _ACROSS = (PASS_DIRECTIONS.index(name) for name in ("left", "right", "across"))
_SUBTRACT, _OTHERS = MOONS.index("subtract"), MOONS.index("others")
_ALL_SUITS: Final = (1 << NUM_SUITS) - 1


# --- who sits where ---------------------------------------------------------------------------


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


@inlined
def steps_to_receiver(direction, num_playing):
    """Playing seats from a giver to its receiver, clockwise; 0: nobody passes."""
    if direction == _LEFT:
        return 1
    if direction == _RIGHT:
        return num_playing - 1
    if direction == _ACROSS:
        return num_playing // 2
    return 0


# --- a hand begins ----------------------------------------------------------------------------


@kernel
def open_match(state, rules):
    """The next hand is a match's first, and all play; totals stay."""
    state.match_hand = 0
    state.winners = 0
    state.playoff = False
    state.num_playing = rules.seats
    state.playing = BIT[rules.seats] - 1


@kernel
def fill_deck(state, rules, deck):
    """Write the pack for the seats that play, unshuffled; return its size.

    Ties are played off with one pack: by all seats with their own, by fewer, or where they have
    two, with 52 cards less the lowest that are over, ♣ ♦ ♥ ♠ in turn.
    """
    if state.num_playing == rules.seats and not (state.playoff and rules.packs == 2):
        for k in range(rules.deck_size):
            deck[k] = rules.deck[k]
        return rules.deck_size
    size = 0
    for card in range(NUM_CARDS):
        if NUM_SUITS * (card % 13) + card // 13 >= NUM_CARDS % state.num_playing:
            deck[size] = card
            size += 1
    return size


@kernel
def begin(state, rules, deck, dealer):
    """Deal ``deck`` out, one card at a time from the first playing seat, and start the hand.

    A shuffled pack may be dealt from any seat: who deals moves no card, so the cards of
    (seed, table, hand) don't depend on what was played before.
    """
    state.rules = rules.stamp
    for seat in range(MAX_SEATS):
        for pack in range(2):
            state.holding[seat, pack] = state.given[seat, pack] = 0
            state.played[seat, pack] = state.captured[seat, pack] = 0
        state.voids[seat] = 0
        state.penalties[seat] = 0
    state.kitty[0] = state.kitty[1] = 0
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

    in_match = rules.whole_match and not state.playoff
    state.hands_left = max(rules.hands - state.match_hand - 1, 0) if in_match else 0
    number = state.match_hand if rules.whole_match else state.hand
    direction = rules.pass_cycle[number % rules.cycle]
    state.pass_steps = steps_to_receiver(direction, state.num_playing)
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
            if state.holding[seat, 0] & BIT[rules.opening_card]:
                state.turn = seat


# --- which cards may be chosen, and what choosing one does ------------------------------------


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
        following = held & SUIT[state.led]
        if following:
            cards = following
    else:
        if rules.break_hearts and not state.broken and held & ~SUIT[HEARTS]:
            cards = held & ~SUIT[HEARTS]
        if state.num_played == 0 and rules.opening_card >= 0 and held & BIT[rules.opening_card]:
            cards = BIT[rules.opening_card]
    allowed = cards & ~rules.first_trick_ban
    if rules.first_trick_ban and state.num_played == state.in_trick and allowed:
        cards = allowed
    return cards


@inlined
def apply(state, rules, card):
    """Pass or play a legal card."""
    if state.phase == PASSING:
        pass_card(state, rules, card)
    else:
        play_card(state, rules, card)
    state.legal = legal(state, rules)


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
            put_all(state.holding[receiver(state, rules, giver)], state.given[giver])
        start_play(state, rules)


@inlined
def play_card(state, rules, card):
    """Play a card to the trick, and end the trick if that completes it."""
    seat = np.int64(state.turn)  # int8 would overflow in plain Python
    suit = card // 13
    drop(state.holding[seat], card)
    put(state.played[seat], card)
    state.cards[state.num_played] = card
    state.seats[state.num_played] = seat
    state.num_played += 1
    state.in_trick += 1
    if suit == HEARTS and rules.break_hearts:
        if state.led < 0 and not state.broken:  # it would have led another suit
            state.voids[seat] = _ALL_SUITS ^ 1 << HEARTS
        state.broken = True
    if state.led < 0:
        state.led = suit
        state.leader = seat
        state.best_card = card
        state.best_seat = seat
    elif suit != state.led:
        state.voids[seat] |= 1 << state.led
    elif card > state.best_card:
        state.best_card = card
        state.best_seat = seat
    if state.in_trick < state.num_playing:
        state.turn = next_seat(state, rules, seat)
    else:
        end_trick(state, rules)


@inlined
def end_trick(state, rules):
    """Give the table's cards to the trick's winner, who leads next.

    With two packs all of its cards may cancel out: they stay, and the same seat leads again.
    """
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
        return
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


# --- a hand is over, and perhaps the match ----------------------------------------------------


@kernel
def score_hand(state, rules):
    """The hand is over: the moon, and the match's totals."""
    if rules.moon:
        points = np.empty(MAX_SEATS, np.int64)  # of cards with a positive penalty
        everything = np.int64(0)
        for seat in range(rules.seats):
            points[seat] = 0
            for card in range(NUM_CARDS):
                if rules.penalties[card] > 0 and state.captured[seat, 0] >> card & 1:
                    copies = 1 + (state.captured[seat, 1] >> card & 1)
                    points[seat] += copies * rules.penalties[card]
            everything += points[seat]
        for seat in range(rules.seats):
            if points[seat] == everything:
                shoot_moon(state, rules, seat, everything)
    if not state.playoff:
        for seat in range(rules.seats):
            state.totals[seat] += state.penalties[seat]


@kernel
def forfeit(state, rules):
    """The seat to move has revoked, noticed too late: all points of this hand are charged to it.

    3–6 player book, "Renonce". The hand is over, whatever was taken before; no moon is shot. If
    it happens before all have passed, nobody has: each takes back the cards it had picked.
    """
    points = np.int64(0)
    deck = np.empty(MAX_DECK, np.int8)
    for k in range(fill_deck(state, rules, deck)):
        points += rules.penalties[deck[k]]
    for seat in range(rules.seats):
        state.penalties[seat] = 0
    state.penalties[state.turn] = points
    if state.phase == PASSING:
        for seat in range(rules.seats):
            put_all(state.holding[seat], state.given[seat])
            state.given[seat, 0] = state.given[seat, 1] = 0
        state.num_passed = 0
    state.phase = OVER
    state.legal = 0
    if not state.playoff:
        state.totals[state.turn] += points


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
            most = state.totals[0]
            for seat in range(1, rules.seats):
                most = max(most, state.totals[seat])
            ended = most >= rules.match_points + rules.exceed
        if not ended:
            return False
    lowest, best, count = np.int64(2**31), np.int64(0), 0
    for seat in range(rules.seats):
        if state.playing >> seat & 1:
            score = np.int64(state.penalties[seat] if state.playoff else state.totals[seat])
            if score < lowest:
                lowest, best, count = score, np.int64(0), 0
            if score == lowest:
                best |= BIT[seat]
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


# --- in words ---------------------------------------------------------------------------------


def illegal_reason(state: Any, rules: Rules, card: int) -> str:
    """Why the seat to move may not choose a card, naming seat, card and clause."""
    if not 0 <= card < NUM_CARDS:
        return f"seat {state.turn}: action {shown(card)} is not a card (0 … 51)"
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
