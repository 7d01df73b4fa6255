"""Whether a record can be a game at all: what comes from outside is looked at before it is played.

Kernels index by what a record says, unchecked. So a seat out of range would write into
foreign memory, and a game in which nobody plays would never end.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from black_maria.cards import NUM_CARDS
from black_maria.engine.game import fill_deck, legal
from black_maria.engine.state import MAX_DECK, OVER, PASSING, STATE, rules_record
from black_maria.kernels import kernel
from black_maria.rules import Rules


def check_states(saved: Any, rules: Rules) -> NDArray[Any]:
    """A copy of saved games, (K,) records, that these rules can go on with.

    Raises:
        ValueError: They are no records, of other rules, or damaged.
    """
    if not isinstance(saved, np.ndarray) or saved.dtype != STATE or saved.ndim != 1:
        raise ValueError("saved games are an array of records (K,), as save() gives it")
    record = rules_record(rules)
    other = saved["rules"] != record["stamp"]
    if other.any():
        raise ValueError(
            f"saved game {other.argmax()} was played by other rules than {rules.name!r}"
        )
    games: NDArray[Any] = np.array(saved, STATE)  # files and pickles lose the type
    wrong = find_damage(games, record)
    if wrong >= 0:
        raise ValueError(f"saved game {wrong} is damaged: no play leads there")
    return games


@kernel
def find_damage(states, rules):
    """The first record that no play by these rules leads to, or −1.

    It looks at all that decides what a kernel touches and whether the hand comes to an end: who
    plays and is to move, how far the hand is, that every card of the pack is in one place, and
    that every seat holds as many as it has yet to play.
    """
    for i in range(len(states)):
        if damaged(states[i], rules[0]):
            return i
    return -1


@kernel
def damaged(state, rules):
    """Whether a record is no game."""
    seats = rules.seats
    if state.playing < 0 or state.playing >= 1 << seats or state.phase < 0 or state.phase > OVER:
        return True
    playing = 0
    for seat in range(seats):
        playing += state.playing >> seat & 1
    if playing < 2 or playing != state.num_playing or (playing < seats and not state.playoff):
        return True
    for seat in (state.turn, state.dealer):
        if seat < 0 or seat >= seats or not state.playing >> seat & 1:
            return True
    if state.match_hand < 0 or state.hand < 0 or state.table < 0 or state.winners >> seats:
        return True
    if state.pass_steps < 0 or state.pass_steps >= playing:
        return True
    return damaged_play(state, rules) or damaged_cards(state, rules)


@kernel
def damaged_play(state, rules):
    """Whether the cards played so far can't be."""
    played = state.num_played
    if played < 0 or played > state.to_play or state.to_play > MAX_DECK or state.to_play < 1:
        return True
    if state.to_play % state.num_playing or state.in_trick < 0 or played < state.in_trick:
        return True
    if state.in_trick != played % state.num_playing:
        return True
    if state.pile_start < 0 or state.pile_start > played - state.in_trick:
        return True
    if state.taken_from < 0 or state.taken_from > MAX_DECK:  # of the last hand, at first
        return True
    for k in range(played):
        if state.cards[k] < 0 or state.cards[k] >= NUM_CARDS:
            return True
        if state.seats[k] < 0 or state.seats[k] >= rules.seats:
            return True
    for seat in (state.leader, state.best_seat):
        if seat < 0 or seat >= rules.seats:
            return True
    if state.last_taker < -1 or state.last_taker >= rules.seats:
        return True
    return state.led < -1 or state.led > 3 or (state.led < 0) != (state.in_trick == 0)


@kernel
def damaged_cards(state, rules):
    """Whether the cards of the pack can't lie so."""
    due = rules.pass_count * state.num_playing if state.pass_steps else 0
    passing = state.num_passed < due
    if state.num_passed < 0 or state.num_passed > due:
        return True
    if state.phase != OVER and passing != (state.phase == PASSING):  # a revoke ends it anywhere
        return True
    tricks = (state.to_play - state.num_played + state.in_trick) // state.num_playing
    left = np.zeros(64, np.int64)  # of the pack, once all that lies somewhere is taken out
    deck = np.empty(MAX_DECK, np.int8)
    for k in range(fill_deck(state, rules, deck)):
        left[deck[k]] += 1
    take_out(left, state.kitty)
    for seat in range(rules.seats):
        held = take_out(left, state.holding[seat])
        take_out(left, state.played[seat])
        if passing:
            held += take_out(left, state.given[seat])
        for k in range(state.num_played - state.in_trick, state.num_played):
            held += state.seats[k] == seat
        if state.phase != OVER and held != (tricks if state.playing >> seat & 1 else 0):
            return True
    return left.any() or state.legal != legal(state, rules)


@kernel
def take_out(left, planes):
    """Subtract a set from counts a card, (64,); how many cards it has.

    A set whose second plane has a card that its first one hasn't counts as more cards than any.
    """
    cards = 0
    for card in range(64):
        copies = (planes[0] >> card & 1) + (planes[1] >> card & 1)
        left[card] -= copies
        cards += copies
    return cards if planes[1] & ~planes[0] == 0 else 1000
