"""The rules as numbers: what a network reads to know what its table plays.

A vector has a block a clause, in the order of ``Rules``, each as its kind says (``clauses``):
cards as 52 entries, choices as a 1 among zeros. Rules that play differently have vectors that
differ. Like the observation's, its blocks are declared once and asked for by name.

The points of single cards are told as parts of the *stake*, all points of a pack together, so that
hands played for 26 points and for 130 look alike; the stake is a block of its own.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from black_maria.clauses import Whole, stake_of
from black_maria.contradictions import MAX_HAND_POINTS
from black_maria.layout import Block
from black_maria.rules import CLAUSES, RulesGiven, as_rules

_STAKE: Final = Whole(1, 2 * MAX_HAND_POINTS)


def _blocks() -> Iterator[Block]:
    start = 0
    for name, kind in CLAUSES.items():
        block = Block(name, kind.axes, f"the clause {name!r}", start, number=True)
        if block.stop > start:
            yield block
        start = block.stop
    yield Block("stake", _STAKE.axes, "all points of a pack, signs left out", start, number=True)


RULES_BLOCKS: Final = {block.name: block for block in _blocks()}
"""The blocks of the vector by name, in their order; clauses that change no play have none."""
RULES_SIZE: Final = max(block.stop for block in RULES_BLOCKS.values())
"""Length R of the vector."""
RULES_BOUND: Final = 10
"""All its entries lie within ± this: a card that is the whole stake."""

HAND_CLAUSES: Final = (
    "seats", "packs", "removed", "pass_count", "kept", "break_hearts", "opening_card",
    "first_trick_ban", "penalties", "moon",
)  # fmt: skip
"""The blocks that a single hand can feel; where the cards are passed stands in the observation."""


def rules_vector(rules: RulesGiven) -> NDArray[np.float32]:
    """The rules as numbers, (R,) float32, most of them within −1 … 2.

    Two rules with equal vectors play alike: the same cards are legal, cost the same, and the
    match ends at the same totals. Only the name isn't in it.

    Args:
        rules: A profile's name, rules, or a mapping of clauses.
    """
    rules = as_rules(rules)
    vector = np.empty(RULES_SIZE, np.float32)
    for name, block in RULES_BLOCKS.items():
        values = (
            _STAKE.vector(stake_of(rules.penalties))
            if name == "stake"
            else CLAUSES[name].vector(getattr(rules, name))
        )
        vector[block.start : block.stop] = np.fromiter(values, np.float32)
    return vector
