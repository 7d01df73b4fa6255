"""The order in which the cards fell: as the history tells it, or any that fits.

Arguments are as in ``reading``.
"""

import numpy as np

from black_maria.cards import NUM_CARDS
from black_maria.engine import MAX_SEATS, next_seat, put
from black_maria.kernels import kernel
from black_maria_agents.worlds.blocks import one_of
from black_maria_agents.worlds.refusals import FINE, HISTORY
from black_maria_agents.worlds.states import copy_sets, take_turn


@kernel
def replay(history, rules, state, facts):
    """Play the history through the engine: the order of cards, and which tricks cancelled."""
    holding = np.empty((MAX_SEATS, 2), np.int64)
    captured = np.empty((MAX_SEATS, 2), np.int64)
    kitty = np.empty((1, 2), np.int64)
    copy_sets(state.holding, holding)
    copy_sets(state.captured, captured)
    kitty[0, 0], kitty[0, 1] = state.kitty[0], state.kitty[1]
    num_played, in_trick, led = state.num_played, state.in_trick, state.led
    back_to_the_lead(state)
    if not take_turns(history, rules, state, num_played):
        return HISTORY
    if state.num_played != num_played or state.in_trick != in_trick or state.led != led:
        return HISTORY
    if state.turn != 0 and num_played:
        return HISTORY
    state.turn = 0
    state.broken = False
    state.penalties[:] = 0
    if not find_kitty(rules, state, facts, captured, kitty[0]):
        return HISTORY
    copy_sets(holding, state.holding)
    copy_sets(captured, state.captured)
    return HISTORY if facts.maybe_kitty else FINE


@kernel
def back_to_the_lead(state):
    """Give each seat the cards that it has played, and take the tricks back."""
    copy_sets(state.played, state.holding)
    state.played[:] = 0
    state.captured[:] = 0
    state.kitty[:] = 0
    state.num_played = 0
    state.pile_start = 0
    state.in_trick = 0
    state.led = -1
    state.last_taker = -1


@kernel
def take_turns(history, rules, state, num_played):
    """Play the cards of a history, ``num_played`` at most; return whether they can be played."""
    for k in range(len(history)):
        if history[k, 0] != 2:
            continue
        by, told = np.int64(history[k, 1]), np.int64(history[k, 2])
        if state.num_played == 0 and 0 <= by < rules.seats:
            state.turn = by
        if by != state.turn or not 0 <= told < NUM_CARDS or state.num_played == num_played:
            return False
        if not state.holding[by, 0] >> told & 1:
            return False
        take_turn(state, rules, told)
    return True


@kernel
def find_kitty(rules, state, facts, captured, kitty):
    """What was captured but not played is the kitty; return whether there can be one like that.

    ``captured`` (seats, 2) and ``kitty`` (2,) are the sets that the observation alone tells.
    """
    for card in range(NUM_CARDS):
        out = 0
        for seat in range(rules.seats):
            out += (captured[seat, 0] >> card & 1) + (captured[seat, 1] >> card & 1)
            out -= (state.captured[seat, 0] >> card & 1) + (state.captured[seat, 1] >> card & 1)
        more = out - (kitty[0] >> card & 1) - (kitty[1] >> card & 1)
        if more < 0 or more > min(facts.maybe_kitty, facts.pool[card]):
            return False
        for _ in range(out):
            put(state.kitty, card)
        facts.pool[card] -= more
        facts.maybe_kitty -= more
    return True


@kernel
def order_cards(observation, rules, at, state):
    """List the cards played: taken ones first, then cancelled tricks, then this trick."""
    taken, table = np.int64(0), np.int64(state.pile_start)
    for card in range(NUM_CARDS):
        left = 0  # copies taken
        for seat in range(rules.seats):
            left += observation[at.captured + NUM_CARDS * seat + card]
        left -= (state.kitty[0] >> card & 1) + (state.kitty[1] >> card & 1)
        for seat in range(rules.seats):
            start = NUM_CARDS * seat + card
            for _ in range(observation[at.played + start] - observation[at.trick + start]):
                if (left > 0 or table == state.num_played - state.in_trick) and (
                    taken < state.pile_start
                ):
                    place = taken
                    taken += 1
                else:
                    place = table
                    table += 1
                left -= 1
                state.cards[place] = card
                state.seats[place] = seat
    by = np.int64(state.leader)
    for k in range(state.num_played - state.in_trick, state.num_played):
        state.cards[k] = one_of(observation, at.trick + NUM_CARDS * by, NUM_CARDS)
        state.seats[k] = by
        by = next_seat(state, rules, by)
