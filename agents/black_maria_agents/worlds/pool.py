"""The cards that nobody has shown, and the kitty among them; arguments are as in ``reading``."""

import numpy as np

from black_maria.cards import NUM_CARDS
from black_maria.engine import MAX_DECK, MAX_SEATS, PASSING, fill_deck, put
from black_maria.kernels import kernel
from black_maria_agents.worlds.refusals import CAPTURED, FINE, TRICKS, TWICE
from black_maria_agents.worlds.stream import below


@kernel
def count_pool(observation, rules, at, state, facts):
    """Count the cards that nobody has shown; find the kitty once it is taken.

    Returns:
        (refusal, card).
    """
    deck = np.empty(MAX_DECK, np.int8)
    size = fill_deck(state, rules, deck)
    facts.pool[:] = 0
    for k in range(size):
        facts.pool[deck[k]] += 1
    out, carried = 0, 0  # cards of the kitty that show; of tricks that nobody took
    for card in range(NUM_CARDS):
        refusal, of_kitty, untaken = see_card(observation, rules, at, state, facts, card)
        if refusal:
            return refusal, card
        out += of_kitty
        carried += untaken
    return count_kitty(rules, state, facts, size - state.to_play, out, carried), 0


@kernel
def see_card(observation, rules, at, state, facts, card):
    """Take the copies of a card that are seen somewhere out of the pool.

    Returns:
        (refusal, copies that were in the kitty, copies in tricks that nobody took).
    """
    played, trick, captured = 0, 0, 0
    for seat in range(rules.seats):
        entry = NUM_CARDS * seat + card
        played += observation[at.played + entry]
        trick += observation[at.trick + entry]
        captured += observation[at.captured + entry]
        if observation[at.trick + entry] > observation[at.played + entry]:
            return TRICKS, 0, 0
    of_kitty = max(captured - (played - trick), 0)
    for _ in range(of_kitty):
        put(state.kitty, card)
    facts.pool[card] -= played + of_kitty
    for seat in range(rules.seats):  # mine, and what I passed
        facts.pool[card] -= state.holding[seat, 0] >> card & 1
        facts.pool[card] -= state.holding[seat, 1] >> card & 1
    if state.phase == PASSING:
        facts.pool[card] -= observation[at.passed + card]
    refusal = FINE if facts.pool[card] >= 0 else TWICE
    return refusal, of_kitty, of_kitty + played - trick - captured


@kernel
def count_kitty(rules, state, facts, kitty, out, carried):
    """Note how much of the kitty is open, and where the cards on the table begin.

    ``kitty`` cards were dealt to nobody, ``out`` of them are seen among the captured ones, and
    ``carried`` cards lie in tricks that nobody took.
    """
    seats, taken = rules.seats, False
    for seat in range(seats):
        taken = taken or state.captured[seat, 0] != 0
    if out > (kitty if taken else 0):
        return CAPTURED
    facts.maybe_kitty = kitty - out if taken else 0
    facts.places[seats] = 0 if taken else kitty
    carried += facts.maybe_kitty
    if carried % state.num_playing or (carried and rules.packs == 1):
        return CAPTURED
    state.pile_start = state.num_played - state.in_trick - carried
    state.last_taker = state.leader if taken else -1  # who leads until another takes one
    state.taken_from = max(state.pile_start - state.num_playing, 0)
    return FINE


@kernel
def guess_kitty(state, facts, stream):
    """Draw the rest of a taken kitty from cards whose twin may lie in a cancelled trick."""
    fit = np.empty(NUM_CARDS, np.int64)
    count = 0
    taken = np.zeros(NUM_CARDS, np.int64)
    for seat in range(MAX_SEATS):
        for card in range(NUM_CARDS):
            taken[card] += state.captured[seat, 0] >> card & 1
    for card in range(NUM_CARDS):
        if facts.pool[card] and taken[card] and not state.kitty[0] >> card & 1:
            fit[count] = card
            count += 1
    while facts.maybe_kitty and count:
        k = below(stream, count)
        put(state.kitty, fit[k])
        facts.pool[fit[k]] -= 1
        facts.maybe_kitty -= 1
        count -= 1
        fit[k] = fit[count]
