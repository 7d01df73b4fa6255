"""Small kernels on the engine's states that reading, dealing and search share."""

from black_maria.engine import apply
from black_maria.kernels import kernel


@kernel
def take_turn(state, rules, card):
    """Pass or play a legal card: the engine's ``apply``, pasted in here once."""
    return apply(state, rules, card)


@kernel
def copy_sets(source, to):
    """Copy the sets of several seats, (…, 2). Numba compiles a loop faster than an assignment."""
    for seat in range(len(source)):
        to[seat, 0] = source[seat, 0]
        to[seat, 1] = source[seat, 1]
