"""Sorting what is open: the unknown cards into classes, the places for them into groups.

Places that may hold the same classes are one group: what matters is how many cards of a class a
group gets.
"""

from typing import Final

from black_maria.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS
from black_maria.kernels import kernel
from black_maria_agents.worlds.facts import MAX_CLASSES

MOST_ENTRIES: Final = 1 << 22
"""Largest table of ways; beyond it, what a banned card shows is left out."""


@kernel
def group(rules, state, facts):
    """Sort the pool into classes and the places into groups; return whether it may work out."""
    size = list_pool(rules, facts)
    if facts.split:
        entries = 1
        for k in range(MAX_CLASSES):
            entries *= facts.first[k + 1] - facts.first[k] + 1
        if entries > MOST_ENTRIES:
            facts.split = False
            size = list_pool(rules, facts)
    if not settle_barred(rules, state, facts):
        return False
    facts.groups = 0
    facts.group_of[:] = -1
    for free in range(MAX_CLASSES + 1):  # the fewer classes are free, the sooner
        for place in range(rules.seats + 1):
            if facts.places[place] and free_classes(facts.barred[place]) == free:
                join_group(facts, place)
    total = 0
    for place in range(rules.seats + 1):
        total += facts.places[place]
    return total == size


@kernel
def settle_barred(rules, state, facts):
    """Bar each place from the classes that it can't hold; return whether it holds none of them."""
    absent = 0
    for k in range(MAX_CLASSES):
        absent |= (facts.first[k + 1] == facts.first[k]) << k
    for place in range(rules.seats + 1):
        barred = facts.barred[place]
        if place < rules.seats:  # cards that it is known to hold
            for card in range(NUM_CARDS):
                held = state.holding[place, 0] >> card & 1
                if held and barred >> class_of(rules, facts, card) & 1:
                    return False
        if not facts.split:
            for suit in range(NUM_SUITS):  # a half that is free frees the suit
                if barred >> 2 * suit & 3 != 3:
                    barred &= ~(3 << 2 * suit)
        facts.barred[place] = barred | absent
    return True


@kernel
def free_classes(barred):
    """How many classes aren't barred."""
    count = 0
    for k in range(MAX_CLASSES):
        count += 1 - (barred >> k & 1)
    return count


@kernel
def join_group(facts, place):
    """Put a place into the group of those that may hold the same; open one if there is none."""
    for g in range(facts.groups):
        if facts.group_barred[g] == facts.barred[place]:
            facts.group_of[place] = g
    if facts.group_of[place] < 0:
        facts.group_of[place] = facts.groups
        facts.group_barred[facts.groups] = facts.barred[place]
        facts.group_size[facts.groups] = 0
        facts.groups += 1
    facts.group_size[facts.group_of[place]] += facts.places[place]


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
