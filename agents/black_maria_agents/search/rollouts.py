"""Rollouts: rules of thumb that play a sampled world to its end, fast, with a little randomness.

They look at the mover's own cards and at those that others hold *together*, which a player who
counts knows as well: rollouts that used who holds what would value a card by play that nobody
could find at the table, and measured worse.
"""

from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from black_maria.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS
from black_maria.engine import OVER, record_type
from black_maria.kernels import kernel
from black_maria.rules import Rules
from black_maria_agents.worlds.states import take_turn
from black_maria_agents.worlds.stream import next_bits

SCALE: Final = 43.0
"""Points a pack that constants are meant for; other rules' penalties are scaled to it."""
HEAVY: Final = 5.0
"""From so many points on a card is heavy: it is thrown first, and not taken if that can be."""
NOISE: Final = 16
"""How often in 256 any legal card is played."""
VOLUNTEER: Final = 200
"""How often in 256 the last player takes a trick without points that it could duck."""

# In sixteenths of a point; found by letting the rules of thumb alone play duck and heuristic
SHED: Final = 40
"""What a suit's highest card would cost later, if it is sure to win: leading it saves that."""
VOID: Final = 40
"""Worth of throwing the last card of a suit."""
CAUGHT: Final = 80
"""Price of each heavy card that others hold under mine."""
THROWN: Final = (96, 88, 72, 56, 40, 28, 20, 12, 8, *(4,) * 100)
"""What others throw on a suit of which two of them hold so many cards between them."""

PLAN: Final = record_type(
    [
        ("heavy", np.int64),  # planes of cards
        ("costly", np.int64),  # with any penalty or bonus
        ("bonus", np.int64),
        ("worst", np.int64, (NUM_CARDS,)),  # heavy cards, the worst first
        ("num_worst", np.int64),
        ("toss", np.int64, (NUM_CARDS,)),  # how much one wants to be rid of a card
        ("price", np.int64, (NUM_SUITS,)),  # of the light cards of a trick in a suit
        ("moon", np.bool_),
    ]
)
"""What the rules of thumb make of a set of rules."""

_SUIT = (1 << NUM_RANKS) - 1
_RANKS = np.arange(1 << NUM_RANKS)
_HIGH = np.frexp(_RANKS)[1].astype(np.int64) - 1  # highest rank of a suit's bits; −1: none
_COUNT = np.bitwise_count(_RANKS).astype(np.int64)
_LOW = np.frexp(_RANKS & -_RANKS)[1].astype(np.int64) - 1


_THROWN = np.array(THROWN, np.int64)


@lru_cache
def make_plan(rules: Rules) -> NDArray[Any]:
    """The plan for some rules, as the one-element record array that kernels read."""
    penalties = np.array(rules.penalties, np.float64)
    in_pack = np.zeros(NUM_CARDS, np.bool_)
    in_pack[list(rules.deck)] = True
    points = penalties[list(rules.deck)]
    scaled = np.where(in_pack, penalties, 0.0) * SCALE / max(points[points > 0].sum(), 1.0)
    scaled *= rules.packs
    plan = np.zeros(1, PLAN)
    heavy = np.flatnonzero(scaled >= HEAVY)
    plan["heavy"] = sum(1 << int(card) for card in heavy)
    plan["costly"] = sum(1 << int(card) for card in np.flatnonzero(scaled))
    plan["bonus"] = sum(1 << int(card) for card in np.flatnonzero(scaled < 0))
    worst = heavy[np.argsort(-scaled[heavy], kind="stable")]
    plan["worst"][0, : len(worst)] = worst
    plan["num_worst"] = len(worst)
    plan["toss"] = np.rint(16 * scaled)
    light = np.where((scaled > 0) & (scaled < HEAVY), scaled, 0.0).reshape(NUM_SUITS, NUM_RANKS)
    plan["price"] = np.rint(16 * (rules.seats - 1) * light.mean(axis=1))
    plan["moon"] = rules.moon != "none"
    return plan


@kernel
def roll_out(state, rules, plan, stream):
    """Play to the hand's end, or until no more points can fall; ``penalties`` are final then."""
    while state.phase != OVER:
        if state.in_trick == 0 and not plan.moon:
            left = state.kitty[0] if state.last_taker < 0 else np.int64(0)
            for seat in range(rules.seats):
                left |= state.holding[seat, 0]
            if left & plan.costly == 0 and state.pile_start == state.num_played:
                return
        take_turn(state, rules, choose(state, rules, plan, stream))


@kernel
def choose(state, rules, plan, stream):
    """The card that the rules of thumb, or chance, play."""
    legal = state.legal
    if legal & (legal - 1) == 0:
        return lowest(legal)
    bits = np.int64(next_bits(stream) >> np.uint64(1))
    if bits & 255 < NOISE:
        return any_card(legal, bits >> 8)
    if state.led < 0:
        return lead(state, rules, plan, bits >> 8)
    mine = legal >> NUM_RANKS * np.int64(state.led) & _SUIT
    if mine:
        return NUM_RANKS * np.int64(state.led) + follow(state, rules, plan, mine, bits >> 8)
    return throw(state, rules, plan, legal, bits >> 8)


@kernel
def lowest(plane):
    """The lowest card of a plane that isn't empty."""
    card = 0
    while not plane & _SUIT:
        plane >>= NUM_RANKS
        card += NUM_RANKS
    return card + _LOW[plane & _SUIT]


@kernel
def highest_in(plane):
    """The highest card of a plane that isn't empty."""
    card = NUM_CARDS - NUM_RANKS
    while not plane >> card & _SUIT:
        card -= NUM_RANKS
    return card + _HIGH[plane >> card & _SUIT]


@kernel
def any_card(plane, bits):
    """A random card of a plane."""
    turn = bits % NUM_CARDS
    rest = plane >> turn
    if rest == 0:
        return lowest(plane)
    return turn + lowest(rest)


@kernel
def unseen(state, rules):
    """The plane of cards that the seat to move doesn't hold but others do."""
    cards = np.int64(0)
    for seat in range(rules.seats):
        if seat != state.turn:
            cards |= state.holding[seat, 0]
    return cards


@kernel
def win_chance(out, rank):
    """How probably a card wins if led, in sixteenths, from what others hold of its suit."""
    count = _COUNT[out]
    if count == 0:
        return 16
    below = count - _COUNT[out >> rank]
    return 16 * below * below // (count * count)


@kernel
def win_price(rules, plan, suit, rank, out):
    """What a card costs if it wins a trick that it leads, in sixteenths of a point."""
    lower = out & (1 << rank) - 1
    price = plan.price[suit] + plan.toss[NUM_RANKS * suit + rank]
    price += CAUGHT * _COUNT[lower & plan.heavy >> NUM_RANKS * suit]
    return price + _THROWN[2 * _COUNT[out] // (rules.seats - 1)]


@kernel
def lead(state, rules, plan, bits):
    """The card that costs least: as a lead, and by what it still would have cost later."""
    best, least = 0, 1 << 40
    others = unseen(state, rules)
    for suit in range(NUM_SUITS):
        shift = NUM_RANKS * suit
        mine = state.legal >> shift & _SUIT
        if mine == 0:
            continue
        out = others >> shift & _SUIT
        for high in range(2):
            rank = _HIGH[mine] if high else _LOW[mine]
            chance = win_chance(out, rank)
            cost = chance * win_price(rules, plan, suit, rank, out) // 16
            if high:
                cost -= chance * SHED // 16
            cost += bits >> (4 * suit + 2 * high) & 3
            if cost < least:
                best, least = shift + rank, cost
    return best


@kernel
def follow(state, rules, plan, mine, bits):
    """A rank of the suit led, of ``mine``: under the winning card, or as cheaply as can be."""
    shift = NUM_RANKS * np.int64(state.led)
    heavy = plan.heavy >> shift & _SUIT
    light = mine & ~heavy
    last = state.in_trick == state.num_playing - 1
    under = mine & ((1 << np.int64(state.best_card) - shift) - 1)
    if under:
        if last and light > under and bits & 255 < VOLUNTEER:
            points = 0
            for k in range(state.pile_start, state.num_played):
                points += rules.penalties[state.cards[k]]
            if points + rules.penalties[shift + _HIGH[light]] <= 0:
                return _HIGH[light]
        if under & heavy:
            for k in range(plan.num_worst):
                rank = plan.worst[k] - shift
                if 0 <= rank < NUM_RANKS and under >> rank & 1:
                    return rank
        plain = under & ~(plan.bonus >> shift)
        return _HIGH[plain if plain else under]
    if light == 0:
        light = mine
    if not last:
        low = _LOW[light]
        out = unseen(state, rules) >> shift & _SUIT
        if 3 * _COUNT[out >> low] > 2 * _COUNT[out]:
            return low
    return _HIGH[light]


@kernel
def throw(state, rules, plan, legal, bits):
    """The card that one most wants to be rid of."""
    if legal & plan.heavy:
        for k in range(plan.num_worst):
            if legal >> plan.worst[k] & 1:
                return plan.worst[k]
    if legal & ~plan.bonus:
        legal &= ~plan.bonus
    best, most = 0, -(1 << 40)
    others = unseen(state, rules)
    for suit in range(NUM_SUITS):
        mine = legal >> NUM_RANKS * suit & _SUIT
        if mine:
            rank = _HIGH[mine]
            out = others >> NUM_RANKS * suit & _SUIT
            fewer = min(_COUNT[mine] - 1, 4)
            worth = win_chance(out, rank) * win_price(rules, plan, suit, rank, out) >> 4
            worth = (worth >> fewer) + 3 * plan.toss[NUM_RANKS * suit + rank] // 2
            if out and fewer == 0:
                worth += VOID
            worth += bits >> 5 * suit & 3
            if worth > most:
                best, most = NUM_RANKS * suit + rank, worth
    return best
