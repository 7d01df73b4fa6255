"""Dealing what a seat doesn't know: every deal that fits the facts is equally likely.

Seats that may hold the same suits form a *group*. Going through the groups, how many cards of
each suit a group gets is drawn with the number of deals that go with it: ``Π 1/a!`` for the
group, times the same summed over all ways to fill the groups after it (a table over what is
left of each suit, made from the last group back). Then the cards of a suit are spread at
random. Identical cards of two packs count as different, as they do when they are dealt.

Hidden passes are drawn after that: any cards of the receiver's that may be passed. Where some
may not, a deal is kept with the share of its ways to pass, so that deal and passes together
are uniform.
"""

from typing import Final

import numpy as np

from black_maria.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS
from black_maria.engine import (
    MAX_DECK,
    MAX_SEATS,
    PASSING,
    combine,
    drop,
    put,
    receiver,
)
from black_maria.kernels import kernel
from black_maria_agents.worlds.facts import FACTS, MAX_CLASSES, below, copy_sets, uniform
from black_maria_agents.worlds.reading import NO_DEAL, read

MOST_ENTRIES: Final = 1 << 22
"""Largest table of ways; beyond it, what a banned card shows is left out."""
MOST_GUESSES: Final = 200
"""Guesses of the kitty of two packs before an observation counts as impossible."""
MOST_TRIES: Final = 1000
"""Deals tried for one that is kept; only rules that bar most cards from passing need many."""

_ONE_BY_FACTORIAL = np.concatenate(([1.0], np.cumprod(1.0 / np.arange(1.0, MAX_DECK + 1))))


@kernel
def sample_rows(observation, histories, keys, rules, at, states):
    """Fill ``states`` (B, n) with worlds of each row; return the first refusal.

    World w of a row is a function of the row and ``combine(key, w)`` alone.

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


# --- groups and ways ---------------------------------------------------------------------------


@kernel
def group(rules, state, facts):
    """Sort the pool into classes and the places into groups; return whether it may work out."""
    places = rules.seats + 1
    size = list_pool(rules, facts)
    if facts.split:
        entries = 1
        for k in range(MAX_CLASSES):
            entries *= facts.first[k + 1] - facts.first[k] + 1
        if entries > MOST_ENTRIES:
            facts.split = False
            size = list_pool(rules, facts)
    absent = 0
    for k in range(MAX_CLASSES):
        absent |= (facts.first[k + 1] == facts.first[k]) << k
    total = 0
    for place in range(places):
        total += facts.places[place]
        barred = facts.barred[place]
        if place < rules.seats:  # cards that it is known to hold
            for card in range(NUM_CARDS):
                if (
                    state.holding[place, 0] >> card & 1
                    and barred >> class_of(rules, facts, card) & 1
                ):
                    return False
        if not facts.split:
            for suit in range(NUM_SUITS):  # a half that is free frees the suit
                if barred >> 2 * suit & 3 != 3:
                    barred &= ~(3 << 2 * suit)
        facts.barred[place] = barred | absent
    facts.groups = 0
    facts.group_of[:] = -1
    for free in range(MAX_CLASSES + 1):  # the fewer classes are free, the sooner
        for place in range(places):
            if not facts.places[place]:
                continue
            barred, count = facts.barred[place], 0
            for k in range(MAX_CLASSES):
                count += 1 - (barred >> k & 1)
            if count != free:
                continue
            for g in range(facts.groups):
                if facts.group_barred[g] == barred:
                    facts.group_of[place] = g
            if facts.group_of[place] < 0:
                facts.group_of[place] = facts.groups
                facts.group_barred[facts.groups] = barred
                facts.group_size[facts.groups] = 0
                facts.groups += 1
            facts.group_size[facts.group_of[place]] += facts.places[place]
    return total == size


@kernel
def class_of(rules, facts, card):
    """The class of a card: its suit, doubled; plus 1 for banned cards where that matters."""
    banned = facts.split and rules.first_trick_ban >> card & 1
    return 2 * (card // NUM_RANKS) + (1 if banned else 0)


@kernel
def list_pool(rules, facts):
    """List the unknown cards class after class; return how many they are."""
    size = 0
    for k in range(MAX_CLASSES):
        facts.first[k] = size
        for card in range(NUM_RANKS * (k // 2), NUM_RANKS * (k // 2) + NUM_RANKS):
            if class_of(rules, facts, card) == k:
                for _ in range(facts.pool[card]):
                    facts.cards[size] = card
                    size += 1
    facts.first[MAX_CLASSES] = size
    return size


@kernel
def count_ways(facts):
    """Fill the table of ways, (groups, entries), and ``facts.total``.

    Entry [g, i] is the sum over all ways to deal what is left, coded in i, to the groups from
    g on, of ``Π 1/a!``. The first group starts with everything, so only its total is needed;
    the last one gets the rest.
    """
    size = np.empty(MAX_CLASSES, np.int64)
    entries, last = 1, 0
    for k in range(MAX_CLASSES):
        size[k] = facts.first[k + 1] - facts.first[k]
        if size[k]:
            last = k
    for k in range(MAX_CLASSES):
        # what is left of the last class follows from the others: it isn't in the code
        facts.stride[k] = entries if k != last else 0
        entries *= size[k] + 1 if k != last else 1
    ways = np.zeros((max(facts.groups - 1, 1), entries if facts.groups > 2 else 1))
    left = np.empty(MAX_CLASSES, np.int64)
    split = np.empty(MAX_CLASSES, np.int64)
    to_deal = facts.group_size[facts.groups - 1] if facts.groups else 0
    for g in range(facts.groups - 2, 0, -1):
        to_deal += facts.group_size[g]
        for code in range(entries):
            rest, count = code, 0
            for k in range(MAX_CLASSES):
                left[k] = 0
                if k != last:
                    left[k] = rest % (size[k] + 1)
                    rest //= size[k] + 1
                    count += left[k]
            left[last] = to_deal - count
            if 0 <= left[last] <= size[last]:
                ways[g, code] = add_up(facts, ways, g, left, split, np.inf)
    facts.total = add_up(facts, ways, 0, size, split, np.inf)
    return ways


@kernel
def add_up(facts, ways, g, left, split, limit):
    """Sum the ways to deal ``left`` to the groups from g on, until over ``limit``.

    Leaves in ``split`` what group g gets in the way reached.
    """
    if g >= facts.groups - 1:
        return last_way(facts, left, split)
    total = 0.0
    going = first_split(0, facts.group_barred[g], facts.group_size[g], left, split)
    while going:
        weight, code = 1.0, 0
        for k in range(MAX_CLASSES):
            weight *= _ONE_BY_FACTORIAL[split[k]]
            code += facts.stride[k] * (left[k] - split[k])
        if g + 1 < facts.groups - 1:
            weight *= ways[g + 1, code]
        else:
            barred = facts.group_barred[g + 1]
            for k in range(MAX_CLASSES):
                rest = left[k] - split[k]
                weight *= 0.0 if rest and barred >> k & 1 else _ONE_BY_FACTORIAL[rest]
        total += weight
        if total > limit:
            break
        going = next_split(facts.group_barred[g], left, split)
    return total


@kernel
def last_way(facts, left, split):
    """The last group gets all that is left, if it may."""
    weight = 1.0
    barred = facts.group_barred[0] if facts.groups else np.int64(-1)
    for k in range(MAX_CLASSES):
        split[k] = left[k]
        weight *= 0.0 if left[k] and barred >> k & 1 else _ONE_BY_FACTORIAL[left[k]]
    return weight


@kernel
def first_split(start, barred, count, left, split):
    """The first way to take ``count`` cards from the classes from ``start`` on, if there is one."""
    for k in range(MAX_CLASSES - 1, start - 1, -1):
        split[k] = 0 if barred >> k & 1 else min(left[k], count)
        count -= split[k]
    return count == 0


@kernel
def next_split(barred, left, split):
    """The next way in lexicographic order; return whether there is one."""
    right = 0
    for k in range(MAX_CLASSES - 1, -1, -1):
        if right and split[k] < left[k] and not barred >> k & 1:
            split[k] += 1
            return first_split(k + 1, barred, right - 1, left, split)
        right += split[k]
    return False


# --- one world ---------------------------------------------------------------------------------


@kernel
def deal_out(rules, state, facts, ways, stream):
    """Deal the unknown cards to a copy of the shared state, and draw the hidden passes."""
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
    draw_passes(rules, state, facts, stream, cards)


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
def shuffle_cards(cards, stream):
    """Shuffle in place."""
    for left in range(len(cards), 1, -1):
        k = below(stream, left)
        cards[left - 1], cards[k] = cards[k], cards[left - 1]


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
def draw_passes(rules, state, facts, stream, cards):
    """Draw what each seat has picked unseen; while passing it no longer holds it."""
    for giver in range(1, rules.seats):
        if hidden_giver(rules, state, facts, giver):
            count = passable(rules, state, facts, giver, cards)
            for k in range(rules.pass_count):
                other = k + below(stream, count - k)
                cards[k], cards[other] = cards[other], cards[k]
                put(state.given[giver], cards[k])
                if state.phase == PASSING:
                    drop(state.holding[giver], cards[k])
