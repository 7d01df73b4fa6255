"""Which sampled worlds are worth weighing: none twice, and the likely ones rather.

To weigh a world takes thirty passes of a network, to draw one almost nothing. So many are drawn;
those in which the others hold the same cards are one, and of these some are chosen, by a guess of
who holds what if there is one. What was chosen too often by that counts less, so that the guess
and the choice themselves add no opinion but the guess's.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from black_maria.cards import NUM_CARDS
from black_maria_agents.search.players import next_keys

TRUST: Final = 0.75
"""The guess counts to this power: it says of every card by itself what hangs together, and the
likelihood knows a part of it. 0.5 and 1 tell a little less."""
_PLANE: Final = 64
_MIX: Final = 0x9E3779B97F4A7C15
_DRAW: Final = np.uint64(0xA24BAED4963EE407)


def alike(games: NDArray[Any], seats: int) -> NDArray[np.int64]:
    """The first world of its row in which the others hold the same cards, for worlds (B, N).

    What they passed may differ. Holdings are told apart by 64 bits made of them.
    """
    planes = games["holding"][:, :, 1:seats].reshape(*games.shape, -1).view(np.uint64)
    powers = [pow(_MIX, k + 1, 2**64) for k in range(planes.shape[2])]
    mixed = planes ^ (planes >> np.uint64(29))
    marks = (mixed * np.array(powers, np.uint64)).sum(axis=2, dtype=np.uint64)
    first = np.empty(games.shape, np.int64)
    for row, mark in enumerate(marks):
        _, at, which = np.unique(mark, return_index=True, return_inverse=True)
        first[row] = at[which]
    return first


def opinion(
    games: NDArray[Any], log_probs: NDArray[np.float32], first: NDArray[np.int64]
) -> NDArray[np.float64]:
    """What a guess says of worlds (B, N): the sum of the logarithms over all cards, (B, N).

    Args:
        games: The worlds.
        log_probs: The guess, (B, S − 1, 52), over the other seats, clockwise.
        first: Of ``alike``.
    """
    seats = log_probs.shape[1] + 1
    said = np.zeros((len(games), seats - 1, 2, _PLANE), np.float32)
    said[..., :NUM_CARDS] = log_probs[:, :, None]
    found = np.empty(games.shape)
    for row, firsts in enumerate(first):
        once, which = np.unique(firsts, return_inverse=True)
        planes = np.ascontiguousarray(games["holding"][row, once, 1:seats].astype("<i8"))
        bits = np.unpackbits(planes.view(np.uint8), bitorder="little").reshape(len(once), -1)
        # summed world by world: a product of matrices would round by how many there are
        found[row] = np.where(bits, said[row].reshape(-1), 0.0).sum(axis=1, dtype=np.float64)[which]
    return found


def chosen(
    opinions: NDArray[np.float64],
    first: NDArray[np.int64],
    most: int,
    keys: NDArray[np.uint64],
) -> NDArray[np.float64]:
    """At most so many different worlds of each row, and what they weigh.

    Priority sampling (Duffield, Lund and Thorup 2007): a world of weight w has the priority w / u,
    u even between 0 and 1; those of the highest priorities are chosen, and weigh as much as the
    first one left out has for its priority, if that is more than w. On average a world
    weighs w then. Where there are no more than ``most`` worlds, all are chosen.

    Args:
        opinions: Logarithms of what one copy of a world weighs, (B, N).
        first: Of ``alike``: copies add up.
        most: How many.
        keys: (B,) uint64, each row's randomness.

    Returns:
        Logarithms of what a copy weighs, (B, N), at the first copy if it is chosen; elsewhere −inf.
    """
    count = np.zeros(first.shape)
    np.add.at(count, (np.arange(len(first))[:, None], first), 1)
    number = np.arange(first.shape[1])
    luck = next_keys(keys[:, None] ^ _DRAW, number) >> np.uint64(11)
    with np.errstate(divide="ignore"):
        copies = np.log(count)
    weights = np.where(count > 0, opinions + copies, -np.inf)
    priority = weights - np.log((luck + 0.5) / 2.0**53)
    least = np.full((len(first), 1), -np.inf)
    if most < first.shape[1]:
        least = -np.partition(-priority, most, axis=1)[:, most : most + 1]
    taken = np.where(priority > least, np.maximum(weights, least), -np.inf)
    result: NDArray[np.float64] = np.where(
        count > 0, taken - np.where(count > 0, copies, 0), -np.inf
    )
    return result
