"""Whole steps: a card moves, rewards fall, the next hand is dealt, the next seat sees."""

from typing import Final

import numpy as np

from black_maria.cards import NUM_CARDS
from black_maria.engine.deals import choice_key, hand_key, shuffle
from black_maria.engine.game import (
    apply,
    begin,
    fill_deck,
    forfeit,
    match_over,
    next_seat,
    open_match,
    win_shares,
)
from black_maria.engine.observation import observe_seat
from black_maria.engine.state import (
    BIT,
    MAX_DECK,
    MAX_SEATS,
    OVER,
    REWARDS,
    RULES,
    STATE,
    record_type,
)
from black_maria.kernels import inlined, kernel
from black_maria.layout import layout_of
from black_maria.machine import fetch, spread

DESK: Final = record_type(
    [
        ("state", STATE),
        ("rules", RULES),
        ("at", layout_of().record.dtype),
        ("rewards", np.float32, (MAX_SEATS,)),
        ("mask", np.int8, (8 * -(-NUM_CARDS // 8),)),  # whole words: numba wants no padding
    ]
)
"""One table with all that a step of it needs: a call costs by the arrays that it is given."""

REVOKE, STAY, BEGIN = -1, -2, -3
"""Actions that are no card: the seat to move has revoked; nothing moves; an episode begins."""

_AHEAD: Final = 4
"""Tables from the one whose turn it is to the one that is fetched."""
_LINE: Final = 64
"""Bytes that a cache fetches at once."""
_STATE_BYTES: Final = STATE.itemsize

_HAND, _RELATIVE, _MATCH = (REWARDS.index(name) for name in ("hand", "relative", "match"))


@kernel
def new_hand(state, rules, hand, fresh):
    """Deal hand number ``hand``, of a fresh episode or as the next one of a match."""
    if fresh:
        for seat in range(MAX_SEATS):
            state.totals[seat] = 0
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


@inlined
def advance(state, rules, card, rewards):
    """Pass or play a legal card, or ``REVOKE``; return whether the episode is over.

    Writes ``rewards`` (seats,); after a revoke they take back what the hand had given before.
    After the hand the state's phase is ``OVER``, whether or not a match goes on; the caller
    deals.
    """
    for k in range(rules.seats):
        rewards[k] = state.penalties[k]
    if card == REVOKE:
        forfeit(state, rules)
    else:
        apply(state, rules, card)
    seats = rules.seats
    playing, num_playing = state.playing, state.num_playing
    hand_over = state.phase == OVER
    over = hand_over and (not rules.whole_match or match_over(state, rules))
    if rules.reward == _MATCH:
        for k in range(seats):
            rewards[k] = 0
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
            total = np.float32(0)
            for k in range(seats):
                total += rewards[k]
            mean = total / others
            for k in range(seats):  # own − others' mean, with others = all − own
                if playing >> k & 1:
                    rewards[k] += rewards[k] / others - mean
    return over


@kernel
def step_one(desks, card, observer, observation):
    """``advance`` one table, deal on within a match, or deal; and let a seat see.

    Args:
        desks: (1,) record of ``DESK``; its state, rewards and mask are written.
        card: A legal card, ``REVOKE``, ``STAY``, or ``BEGIN``: the first hand of a new episode,
            that of the state's seed, table and hand.
        observer: A seat, or −1 for the one that is to move.
        observation: (F,) int8, written: what it sees.

    Returns:
        (seat to move, episode over, hand over, whether any reward is not 0).
    """
    desk = desks[0]
    state, rules, rewards = desk.state, desk.rules, desk.rewards
    over, hand_over, scored, fresh = False, False, False, card == BEGIN
    if card >= REVOKE:
        over = advance(state, rules, card, rewards)
        hand_over = state.phase == OVER
        for k in range(rules.seats):
            scored = scored or rewards[k] != 0
    if fresh or (hand_over and not over):
        new_hand(state, rules, state.hand + (not fresh), fresh)
    turn = np.int64(state.turn)
    observe_seat(state, rules, desk.at, observer if observer >= 0 else turn, observation)
    spread(state.legal, desk.mask)
    return turn, over, hand_over, scored


@kernel
def find_illegal(states, actions, where):
    """The first table, of those ``where`` it is true, whose action isn't legal, or −1."""
    for i in range(len(states)):
        card = actions[i]
        if where[i] and (card < 0 or card >= NUM_CARDS or not states[i].legal & BIT[card]):
            return i
    return -1


@kernel
def step_tables(
    states, rules, at, actions, rewards, done, observation, mask, seat, hand_keys, keys, deal_on,
    where,
):  # fmt: skip
    """``advance`` tables, deal on where a hand is over, and let the seats to move see.

    An action is a legal card, ``REVOKE``, or ``STAY``: nothing moves. Without ``deal_on``, a
    table whose episode is over is left as it is. Where ``where`` is false, nothing moves,
    nothing is earned, and what was seen stays. ``keys`` of decisions are written while a table
    is in the cache; ``hand_keys`` are what the next step makes them of.
    """
    for i in range(len(states)):
        state = states[i]
        for k in range(rules[0].seats):
            rewards[i, k] = 0
        done[i] = False
        if where[i]:
            fetch_table(states, observation, i + _AHEAD)
            dealt = actions[i] == STAY
            if actions[i] != STAY:
                over = advance(state, rules[0], actions[i], rewards[i])
                done[i] = over
                dealt = state.phase == OVER and (deal_on or not over)
                if dealt:
                    new_hand(state, rules[0], state.hand + 1, over)
            turn = np.int64(state.turn)
            observe_seat(state, rules[0], at[0], turn, observation[i])
            spread(state.legal, mask[i])
            seat[i] = turn
            if dealt:
                hand_keys[i] = hand_key(state)
            keys[i] = choice_key(state, hand_keys[i])


@inlined
def fetch_table(states, observation, row):
    """Have a table in the cache by the time it is its turn.

    A step takes 97 ns at 8,192 tables with this and 317 without, 167 and 289 at 65,536.
    """
    for byte in range(0, _STATE_BYTES, _LINE):
        fetch(states, row, byte)
    for byte in range(0, observation.shape[1], _LINE):
        fetch(observation, row, byte)


@kernel
def deal_tables(states, rules, where):
    """Start the first hand of a new episode at every table ``where`` it is true."""
    for i in range(len(states)):
        if where[i]:
            new_hand(states[i], rules[0], states[i].hand, where[i])
