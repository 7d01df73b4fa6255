"""Counting the deals that fit: how many go with each way to share the classes out to the groups.

A table, made from the last group back, has the sum over all ways to fill the groups from one on
with what is left of each class; so a way for a group can be drawn with the number of deals that
go with it.
"""

import numpy as np

from black_maria.engine import MAX_DECK
from black_maria.kernels import kernel
from black_maria_agents.worlds.facts import MAX_CLASSES

_ONE_BY_FACTORIAL = np.concatenate(([1.0], np.cumprod(1.0 / np.arange(1.0, MAX_DECK + 1))))


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
