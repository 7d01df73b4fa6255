"""Whole steps: a card moves, rewards fall, the next hand is dealt, the next seat sees."""

import numpy as np

from black_maria.cards import NUM_CARDS
from black_maria.engine.deals import shuffle
from black_maria.engine.game import (
    apply,
    begin,
    fill_deck,
    match_over,
    next_seat,
    open_match,
    win_shares,
)
from black_maria.engine.observation import observe_seat, write_plane
from black_maria.engine.state import BIT, MAX_DECK, OVER, REWARDS
from black_maria.kernels import inlined, kernel

_HAND, _RELATIVE, _MATCH = (REWARDS.index(name) for name in ("hand", "relative", "match"))


@kernel
def new_hand(state, rules, hand, fresh):
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


@inlined
def advance(state, rules, card, rewards):
    """Pass or play a legal card; return whether the episode is over.

    Writes ``rewards`` (seats,). After the hand the state's phase is ``OVER``, whether or not
    a match goes on; the caller deals.
    """
    seats = rules.seats
    for k in range(seats):
        rewards[k] = state.penalties[k]
    playing, num_playing = state.playing, state.num_playing
    apply(state, rules, card)
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


@kernel
def step_one(states, rules, at, card, rewards, mask, observation):
    """``advance`` table 0, deal on within a match, and let the next seat see.

    Returns (seat to move, episode over, hand over, whether any reward is not 0).
    """
    state = states[0]
    over = advance(state, rules[0], card, rewards)
    hand_over = state.phase == OVER
    if hand_over and not over:
        new_hand(state, rules[0], state.hand + 1, False)
    turn = np.int64(state.turn)
    observe_seat(state, rules[0], at[0], turn, observation)
    write_plane(state.legal, mask)
    scored = False
    for k in range(rules[0].seats):
        scored = scored or rewards[k] != 0
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
def step_tables(states, rules, at, actions, rewards, done, observation, mask, seat, deal_on, where):
    """``advance`` tables by a legal action, deal on where a hand is over, and observe.

    Without ``deal_on``, a table whose episode is over is left as it is. Where ``where`` is
    false, nothing moves and nothing is earned.
    """
    for i in range(len(states)):
        state = states[i]
        if where[i]:
            over = advance(state, rules[0], actions[i], rewards[i])
            done[i] = over
            if state.phase == OVER and (deal_on or not over):
                new_hand(state, rules[0], state.hand + 1, over)
            observe_turn(state, rules[0], at[0], observation[i], mask[i], seat, i)
        else:
            for k in range(rules[0].seats):
                rewards[i, k] = 0
            done[i] = False


@kernel
def deal_tables(states, rules, where):
    """Start the first hand of a new episode at every table ``where`` it is true."""
    for i in range(len(states)):
        if where[i]:
            new_hand(states[i], rules[0], states[i].hand, True)


@kernel
def observe_tables(states, rules, at, observation, mask, seat, where):
    """Write what the acting seats see ``where`` it is true, their masks and seat numbers."""
    for i in range(len(states)):
        if where[i]:
            observe_turn(states[i], rules[0], at[0], observation[i], mask[i], seat, i)


@inlined
def observe_turn(state, rules, at, observation, mask, seat, i):
    """Write what the acting seat of one table sees, its mask and its number."""
    turn = np.int64(state.turn)
    observe_seat(state, rules, at, turn, observation)
    write_plane(state.legal, mask)
    seat[i] = turn
