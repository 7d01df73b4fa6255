"""Dealing what a seat doesn't know: every deal that fits the facts is equally likely.

Seats that may hold the same suits form a *group*. Going through the groups, how many cards of
each suit a group gets is drawn with the number of deals that go with it: ``Π 1/a!`` for the
group, times the same summed over all ways to fill the groups after it (``ways``). Then the
cards of a suit are spread at random. Identical cards of two packs count as different, as they do
when they are dealt.

Hidden passes are picked after that: any cards of the receiver's that may be passed. Where some
may not, a deal is accepted with the share of its ways to pass, so that deal and passes together
are uniform.
"""

from typing import Final

import numpy as np

from black_maria.cards import NUM_CARDS
from black_maria.engine import MAX_DECK, MAX_SEATS, PASSING, combine, drop, put, receiver
from black_maria.kernels import kernel
from black_maria_agents.worlds.facts import FACTS, MAX_CLASSES
from black_maria_agents.worlds.groups import group
from black_maria_agents.worlds.reading import read
from black_maria_agents.worlds.refusals import NO_DEAL
from black_maria_agents.worlds.states import copy_sets
from black_maria_agents.worlds.stream import below, shuffle_cards, uniform
from black_maria_agents.worlds.ways import add_up, count_ways

MOST_GUESSES: Final = 200
"""Guesses of the kitty of two packs before an observation counts as impossible."""
MOST_TRIES: Final = 1000
"""Deals tried for one that is accepted; only rules that bar most cards from passing need many."""


@kernel
def sample_rows(observation, histories, keys, rules, at, states):
    """Fill ``states`` (B, n) with worlds of each row; return the first refusal.

    World w of a row is a function of the row and ``combine(key, w)`` alone. ``at`` has the
    offsets of the observation's blocks, ``layout.record``.

    Returns:
        (refusal, row, card or number); refusal 0: all is fine.
    """
    facts = np.zeros(1, FACTS)
    for i in range(len(observation)):
        refusal, what = sample_row(
            observation[i], histories[i], keys[i], rules, at, states[i], facts
        )
        if refusal:
            return refusal, i, what
    return 0, 0, 0


@kernel
def sample_row(observation, history, key, rules, at, states, notes):
    """Fill ``states`` (n,) with worlds of one observation; return (refusal, what).

    ``notes`` is room for ``FACTS``, (1,): a record of a local array would outlive it.
    """
    facts = notes[0]
    stream = np.empty(1, np.uint64)
    stream[0] = key
    refusal, what, ways = look_at(observation, history, rules[0], at[0], states[0], facts, stream)
    if refusal:
        return refusal, what
    for w in range(len(states) - 1, -1, -1):  # the first is the pattern of the others
        if w:
            states[w] = states[0]
        stream[0] = combine(key, w)
        deal_out(rules[0], states[w], facts, ways, stream)
        states[w].seed = key
        states[w].table = w
    return 0, 0


@kernel
def look_at(observation, history, rules, at, state, facts, stream):
    """Read an observation and count the deals that fit it, for ``deal_out``.

    Returns:
        (refusal, card or number, table of ways); refusal 0: all is fine.
    """
    none = np.zeros((1, 1))
    # what is guessed of a taken kitty may leave no deal that fits the voids: guess again
    guesses = MOST_GUESSES if rules.packs == 2 and len(history) == 0 else 1
    for _ in range(guesses):
        refusal, what = read(observation, history, rules, at, state, facts, stream)
        if refusal:
            return refusal, what, none
        if group(rules, state, facts):
            ways = count_ways(facts)
            if facts.total > 0.0:
                return 0, 0, ways
    return NO_DEAL, 0, none


# --- one world ---------------------------------------------------------------------------------


@kernel
def deal_out(rules, state, facts, ways, stream):
    """Deal the unknown cards to a copy of the shared state, and pick the hidden passes."""
    cards, pool = np.empty(MAX_DECK, np.int8), np.empty(MAX_DECK, np.int8)
    dealt = np.empty((MAX_SEATS, 2), np.int64)
    copy_sets(state.holding, dealt)
    kitty, other_kitty = state.kitty[0], state.kitty[1]
    for _ in range(MOST_TRIES):
        copy_sets(dealt, state.holding)
        state.kitty[0], state.kitty[1] = kitty, other_kitty
        deal_groups(rules, state, facts, ways, stream, cards, pool)
        if rules.kept == 0 or state.pass_steps == 0:
            break
        if uniform(stream) < share_of_passes(rules, state, facts, cards):
            break
    pick_passes(rules, state, facts, stream, cards)


@kernel
def deal_groups(rules, state, facts, ways, stream, cards, pool):
    """Draw how many cards of each class each group gets, then which, then who of the group."""
    left = np.empty(MAX_CLASSES, np.int64)
    split = np.empty(MAX_CLASSES, np.int64)
    for k in range(MAX_CLASSES):
        left[k] = facts.first[k + 1] - facts.first[k]
        for place in range(facts.first[k], facts.first[k + 1]):
            pool[place] = facts.cards[place]
        shuffle_cards(pool[facts.first[k] : facts.first[k + 1]], stream)
    for g in range(facts.groups):
        if g < facts.groups - 1:
            code = 0
            for k in range(MAX_CLASSES):
                code += facts.stride[k] * left[k]
            total = facts.total if g == 0 else ways[g, code]
            # rounding could lead past the last way; it then stands on that one
            add_up(facts, ways, g, left, split, uniform(stream) * total)
        else:
            for k in range(MAX_CLASSES):
                split[k] = left[k]
        count = 0
        for k in range(MAX_CLASSES):
            for _ in range(split[k]):
                left[k] -= 1
                cards[count] = pool[facts.first[k] + left[k]]
                count += 1
        shuffle_cards(cards[:count], stream)
        for place in range(rules.seats + 1):
            if facts.group_of[place] == g:
                for _ in range(facts.places[place]):
                    count -= 1
                    if place == rules.seats:
                        put(state.kitty, cards[count])
                    else:
                        put(state.holding[place], cards[count])


@kernel
def hidden_giver(rules, state, facts, giver):
    """Whether a seat has picked cards to pass that the observer hasn't seen."""
    if giver == 0 or not state.playing >> giver & 1 or state.pass_steps == 0:
        return False
    if state.phase == PASSING:
        return facts.committed >> giver & 1 == 1
    return giver != facts.giver


@kernel
def passable(rules, state, facts, giver, cards):
    """List the cards that ``giver`` may have picked; return how many they are."""
    seat = giver if state.phase == PASSING else receiver(state, rules, giver)
    count = 0
    for card in range(NUM_CARDS):
        if not rules.kept >> card & 1:
            copies = (state.holding[seat, 0] >> card & 1) + (state.holding[seat, 1] >> card & 1)
            copies += (state.played[seat, 0] >> card & 1) + (state.played[seat, 1] >> card & 1)
            for _ in range(copies):
                cards[count] = card
                count += 1
    return count


@kernel
def share_of_passes(rules, state, facts, cards):
    """The number of ways to pass in this deal, as a share of the most there can be."""
    share = 1.0
    for giver in range(1, rules.seats):
        if hidden_giver(rules, state, facts, giver):
            count = passable(rules, state, facts, giver, cards)
            for k in range(rules.pass_count):
                share *= (count - k) / (facts.hand_size - k)
    return share


@kernel
def pick_passes(rules, state, facts, stream, cards):
    """Pick what each seat has passed unseen; while passing it no longer holds it."""
    for giver in range(1, rules.seats):
        if hidden_giver(rules, state, facts, giver):
            count = passable(rules, state, facts, giver, cards)
            for k in range(rules.pass_count):
                other = k + below(stream, count - k)
                cards[k], cards[other] = cards[other], cards[k]
                put(state.given[giver], cards[k])
                if state.phase == PASSING:
                    drop(state.holding[giver], cards[k])
