"""What every seat sees in a world."""

from black_maria.cards import NUM_CARDS, NUM_SUITS
from black_maria.engine import PASSING, add_counts, receiver
from black_maria_agents.kernels import kernel


@kernel
def write_views(observation, states, rules, at, views):
    """Write what every seat sees in worlds (B, n) of observations (B, F): (B · n, S, F)."""
    for i in range(len(states)):
        for w in range(states.shape[1]):
            show_world(observation[i], states[i, w], rules[0], at[0], views[i * len(states[i]) + w])


@kernel
def show_world(observation, state, rules, at, views):
    """Turn what the observer (seat 0) sees to each seat, and add what that seat knows."""
    seats = rules.seats
    for seat in range(seats):
        view = views[seat]
        view[:] = 0
        if not state.playing >> seat & 1:
            continue
        add_counts(state.holding[seat], view[at.holding : at.holding + NUM_CARDS])
        add_counts(state.given[seat], view[at.passed : at.passed + NUM_CARDS])
        if state.phase != PASSING and state.pass_steps:
            for giver in range(seats):
                if state.playing >> giver & 1 and receiver(state, rules, giver) == seat:
                    add_counts(state.given[giver], view[at.received : at.received + NUM_CARDS])
        for k in range(seats):
            by = (seat + k) % seats
            for start in (at.played, at.trick, at.captured):
                for card in range(NUM_CARDS):
                    view[start + NUM_CARDS * k + card] = observation[start + NUM_CARDS * by + card]
            for suit in range(NUM_SUITS):
                view[at.voids + NUM_SUITS * k + suit] = observation[
                    at.voids + NUM_SUITS * by + suit
                ]
            view[at.dealer + k] = observation[at.dealer + by]
            view[at.totals + k] = observation[at.totals + by]
            view[at.position + k] = observation[at.position + k]
        for suit in range(NUM_SUITS):
            view[at.led + suit] = observation[at.led + suit]
        for k in range(2):
            view[at.phase + k] = observation[at.phase + k]
        view[at.pass_to + (receiver(state, rules, seat) - seat) % seats] = 1
        view[at.hearts_broken] = observation[at.hearts_broken]
        view[at.hands_left] = observation[at.hands_left]
