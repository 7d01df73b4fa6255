"""UCT with a value for every seat, in one world after the other; kernels.

In a world all cards lie open: a node is a state, and whoever is to move there picks the card
that is best for itself, as in max^n. Neighbouring cards that no other seat's card lies between
are one move. Root values are averaged over worlds.
"""

from math import log, sqrt
from typing import Final

import numpy as np

from black_maria.cards import NUM_CARDS, NUM_RANKS
from black_maria.engine import (
    MAX_DECK,
    MAX_SEATS,
    OVER,
    PASSING,
    STATE,
    combine,
    drop,
    put,
    receiver,
    record_type,
)
from black_maria.kernels import kernel
from black_maria_agents.search.rollouts import choose, highest_in, roll_out, throw
from black_maria_agents.worlds.dealing import deal_out, look_at
from black_maria_agents.worlds.facts import FACTS
from black_maria_agents.worlds.states import copy_sets, take_turn
from black_maria_agents.worlds.stream import next_bits, uniform

MOST_TRIES: Final = 16
"""Deals sampled for one that the beliefs about passing let through."""

OPTIONS: Final = record_type(
    [
        ("worlds", np.int64),
        ("sims", np.int64),
        ("explore", np.float64),  # weight of the bound, in penalty points
        ("retained", np.float64),  # chance that a seat holds back a heavy card it may pass
    ]
)
"""How a search is done."""

NODE: Final = record_type(
    [
        ("value", np.float64),  # summed, for the seat that moved here
        ("visits", np.int32),
        ("first", np.int32),  # its moves' nodes lie in a row from here; −1: not yet
        ("count", np.int16),
        ("card", np.int8),  # the move that leads here
        ("mover", np.int8),  # the seat to move
    ]
)


@kernel
def search_row(observation, key, rules, at, plan, options, seen, values):
    """Search one observation; return (refusal, what) as ``reading.read`` does.

    ``at`` has the offsets of the observation's blocks, ``layout.record``.

    Adds to ``seen`` (52,) and ``values`` (52,), for each move, the worlds in which it was tried
    and the sum over these of its mean payoff to the observer. Each world counts the same:
    weighed by visits, a move would count most in the worlds that it is best in. Of cards that
    are one move the highest stands for all.
    """
    facts, base = np.zeros(1, FACTS), np.zeros(1, STATE)
    world, scratch = np.zeros(1, STATE), np.zeros(1, STATE)
    stream = np.empty(1, np.uint64)
    stream[0] = key
    history = np.zeros((0, 3), np.int8)
    refusal, what, ways = look_at(observation, history, rules[0], at[0], base[0], facts[0], stream)
    if refusal:
        return refusal, what
    most_moves = min(facts[0].hand_size, NUM_CARDS)
    nodes = np.empty((options[0].sims + 1) * most_moves + 1, NODE)
    passes = np.zeros((MAX_SEATS, NUM_CARDS), np.int8)
    for w in range(options[0].worlds):
        stream[0] = combine(key, w)
        for _ in range(MOST_TRIES):
            world[0] = base[0]
            deal_out(rules[0], world[0], facts[0], ways, stream)
            if believed(rules[0], world[0], facts[0], plan[0], options[0], stream):
                break
        if world[0].phase == PASSING:
            others_pass(rules[0], world[0], facts[0], plan[0], stream, passes)
        search_world(
            world, scratch, nodes, passes, rules[0], plan[0], options[0], stream, seen, values
        )
    return 0, 0


@kernel
def believed(rules, state, facts, plan, options, stream):
    """Let a world through by how likely the seat I passed to held its own heavy cards back."""
    if state.phase == PASSING or state.pass_steps == 0 or options.retained >= 1.0:
        return True
    seat = receiver(state, rules, np.int64(0))
    heavy = state.holding[seat, 0] & plan.heavy & ~rules.kept & ~state.given[0, 0]
    while heavy:
        heavy &= heavy - 1
        if uniform(stream) >= options.retained:
            return False
    return True


@kernel
def others_pass(rules, state, facts, plan, stream, passes):
    """Choose by rule of thumb what the others pass, be it picked already or still to come."""
    held = np.zeros((1, 2), np.int64)
    for seat in range(1, rules.seats):
        if not state.playing >> seat & 1:
            continue
        copy_sets(state.holding[seat : seat + 1], held)
        for k in range(NUM_CARDS):
            for _ in range((state.given[seat, 0] >> k & 1) + (state.given[seat, 1] >> k & 1)):
                put(held[0], k)
        state.given[seat, 0] = state.given[seat, 1] = 0
        for k in range(rules.pass_count):
            bits = np.int64(next_bits(stream) >> np.uint64(1))
            card = throw(state, rules, plan, held[0, 0] & ~rules.kept, bits)
            passes[seat, k] = card
            drop(held[0], card)
        if facts.committed >> seat & 1:
            copy_sets(held, state.holding[seat : seat + 1])
            for k in range(rules.pass_count):
                put(state.given[seat], passes[seat, k])


@kernel
def search_world(world, scratch, nodes, passes, rules, plan, options, stream, seen, values):
    """Grow one tree, and add what its root's moves brought."""
    path = np.empty(MAX_DECK + NUM_CARDS, np.int32)
    payoff = np.empty(MAX_SEATS, np.float64)
    root = nodes[0]
    root.visits = 0
    root.first = -1
    used = 1
    for _ in range(options.sims):
        scratch[0] = world[0]
        state = scratch[0]
        node, depth = np.int64(0), 0
        nodes[0].visits += 1
        while state.phase != OVER:
            if nodes[node].first < 0:
                if node and nodes[node].visits == 0:
                    break
                used = expand(nodes, node, used, state, rules, plan, stream)
            node = np.int64(select(nodes, node, options))
            move(state, rules, np.int64(nodes[node].card), passes)
            depth += 1
            path[depth] = node
        roll_out(state, rules, plan, stream)
        pay(state, rules, payoff)
        mover = 0
        for k in range(1, depth + 1):
            node = path[k]
            nodes[node].visits += 1
            nodes[node].value += payoff[mover]
            mover = nodes[node].mover
    for k in range(root.first, root.first + root.count):
        if nodes[k].visits:
            seen[nodes[k].card] += 1
            values[nodes[k].card] += nodes[k].value / nodes[k].visits


@kernel
def move(state, rules, card, passes):
    """Play a card; while passing, the others' picks follow, which are settled."""
    take_turn(state, rules, card)
    while state.phase == PASSING and state.turn != 0:
        take_turn(state, rules, np.int64(passes[state.turn, state.num_passed % rules.pass_count]))


@kernel
def pay(state, rules, payoff):
    """What the hand brings each seat: minus its penalty, or where totals vary its advantage."""
    total = 0.0
    for seat in range(rules.seats):
        total += state.penalties[seat]
    for seat in range(rules.seats):
        payoff[seat] = -state.penalties[seat]
        if rules.moon:
            payoff[seat] += (total - state.penalties[seat]) / (state.num_playing - 1)


@kernel
def expand(nodes, node, used, state, rules, plan, stream):
    """Append a node for each move, that of the rules of thumb first; return the new end."""
    first_choice = choose(state, rules, plan, stream)
    nodes[node].first = used
    nodes[node].mover = state.turn
    others = np.int64(0)
    for seat in range(rules.seats):
        if seat != state.turn:
            others |= state.holding[seat, 0]
        if state.phase == PASSING:
            others |= state.given[seat, 0]
    for k in range(state.num_played - state.in_trick, state.num_played):
        others |= np.int64(1) << state.cards[k]
    count, above = 0, np.int64(0)
    front = 0
    left = state.legal
    while left:
        card = highest_in(left)
        left ^= np.int64(1) << card
        if count and rules.packs == 1 and card // NUM_RANKS == above // NUM_RANKS:
            between = (np.int64(1) << above) - (np.int64(2) << card)
            if others & between == 0 and rules.penalties[card] == rules.penalties[above]:
                above = card
                if card == first_choice:
                    front = count - 1
                continue
        new = nodes[used + count]
        new.value = 0.0
        new.visits = 0
        new.first = -1
        new.card = card
        above = card
        if card == first_choice:
            front = count
        count += 1
    nodes[node].count = count
    card = nodes[used].card
    nodes[used].card = nodes[used + front].card
    nodes[used + front].card = card
    return used + count


@kernel
def select(nodes, node, options):
    """The move with the highest upper bound for the seat to move."""
    start, count = nodes[node].first, nodes[node].count
    if count == 1:
        return start
    spread = log(np.float64(nodes[node].visits + 1)) * options.explore**2
    best, most = start, -np.inf
    for k in range(start, start + count):
        visits = nodes[k].visits
        if visits == 0:
            return k
        bound = nodes[k].value / visits + sqrt(spread / visits)
        if bound > most:
            best, most = k, bound
    return best
