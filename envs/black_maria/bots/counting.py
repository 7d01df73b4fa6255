"""What ``heuristic`` works out from an observation: prices, cards counted, who may hold what."""

from typing import Final

import numpy as np

from black_maria.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS
from black_maria.engine import MAX_SEATS, record_type
from black_maria.kernels import inlined, kernel

# Constants: see ``heuristic``.

SCALE: Final = 43.0
"""Points a pack that the constants are meant for; other rules' penalties are scaled to it."""

HEAVY: Final = 5
"""From so many points on a card is heavy: whoever may pass it on does."""

SHOT: Final = 0.5
"""How likely I shoot the moon, times the square of the share of the points that I have."""

THREAT: Final = 0.5
"""The same of an opponent: less than it is, since the others may stop it too."""

KEPT: Final = 0.05
"""How much less an unknown heavy card lies with the seat I passed to: it passes its own on."""

ALL_SUITS: Final = NUM_SUITS
"""Stands for a suit where any will do."""

NOTES: Final = record_type(
    [
        # the rules
        ("seats", np.int64),
        ("packs", np.int64),
        ("hand_size", np.int64),  # when all play
        ("moon", np.int64),
        ("copies", np.int64, (NUM_CARDS,)),  # in the pack
        ("penalty", np.float64, (NUM_CARDS,)),  # penalty points, scaled
        ("all_points", np.float64),  # of all penalty cards, scaled
        # card ids of penalty cards, worst first: of each suit, of all; and of bonuses
        ("worst", np.int64, (NUM_SUITS + 1, NUM_CARDS)),
        ("num_worst", np.int64, (NUM_SUITS + 1,)),
        ("bonus", np.int64, (NUM_CARDS,)),
        ("num_bonus", np.int64),
        # the situation
        ("num_playing", np.int64),  # seats; fewer in a play-off
        ("passing", np.int64),
        ("pass_to", np.int64),  # relative seat that my passed cards go to, 0: none
        ("led", np.int64),  # suit, −1 before the lead
        ("winning", np.int64),  # highest card of the suit led, or −1
        ("winner", np.int64),  # who played it
        ("carried", np.int64, (NUM_CARDS,)),  # with two packs: copies on the table
        ("points", np.float64),  # on the table, at their price
        ("to_act", np.int64),  # opponents to play after me: relative seats 1 … to_act
        ("price", np.float64, (NUM_CARDS,)),  # what taking a card costs me
        ("shooter", np.int64),  # seat that has taken every penalty so far, or −1
        ("threat", np.float64),  # what an opponent's moon costs me, times its chance
        # cards: how many
        ("mine", np.int64, (NUM_CARDS,)),
        ("unseen", np.int64, (NUM_CARDS,)),  # held by opponents
        ("known", np.int64, (NUM_CARDS,)),  # of these, at the seat I passed to
        ("num_unseen", np.int64, (NUM_SUITS,)),
        ("num_unknown", np.int64, (NUM_SUITS,)),  # unseen but not known
        # who holds what
        ("places", np.float64, (MAX_SEATS,)),  # cards an opponent holds, known ones apart
        ("share", np.float64, (MAX_SEATS, NUM_SUITS)),  # chance of an unknown card
        ("chance", np.float64, (MAX_SEATS, NUM_CARDS)),
        ("throw", np.float64, (MAX_SEATS,)),  # points of the worst card it can throw
        # chances that an opponent holds no lower and no higher card of the suit
        ("none_below", np.float64, (MAX_SEATS, NUM_CARDS)),
        ("none_above", np.float64, (MAX_SEATS, NUM_CARDS)),
        # my cards, if led
        ("win", np.float64, (NUM_CARDS,)),  # chance to take the trick
        ("under", np.float64, (NUM_CARDS,)),  # points of the cards played under it
    ]
)
"""What the player works out from one observation."""


@kernel
def study_rules(notes, rules):
    """Note the pack and what its cards cost, the penalty cards worst first."""
    notes.seats = rules.seats
    notes.packs = rules.packs
    notes.hand_size = rules.deck_size // rules.seats
    notes.moon = rules.moon
    for k in range(rules.deck_size):
        notes.copies[rules.deck[k]] += 1
    for card in range(NUM_CARDS):
        notes.all_points += max(rules.penalties[card], 0) * notes.copies[card]
    scale = SCALE * rules.packs / max(notes.all_points, 1.0)
    notes.all_points *= scale
    for card in range(NUM_CARDS):
        notes.price[card] = notes.penalty[card] = scale * rules.penalties[card]
        if rules.penalties[card] < 0:
            notes.bonus[notes.num_bonus] = card
            notes.num_bonus += 1
        if rules.penalties[card] > 0:
            for suit in (card // NUM_RANKS, ALL_SUITS):
                k = notes.num_worst[suit]
                while k > 0 and rules.penalties[notes.worst[suit, k - 1]] < rules.penalties[card]:
                    notes.worst[suit, k] = notes.worst[suit, k - 1]
                    k -= 1
                notes.worst[suit, k] = card
                notes.num_worst[suit] += 1


@kernel
def read(notes, observation, at):
    """Note whose turn it is for what, the trick, and which cards are unseen."""
    seats = notes.seats
    notes.passing = 1 if observation[at.phase] else 0
    notes.pass_to = 0
    on_table = by = 0
    for seat in range(seats):
        if observation[at.pass_to + seat]:
            notes.pass_to = seat
        if observation[at.position + seat]:
            on_table = seat
    count_cards(notes, observation, at, on_table)
    notes.led = notes.winning = notes.winner = -1
    for suit in range(NUM_SUITS):
        if observation[at.led + suit]:
            notes.led = suit
    if notes.moon:
        weigh_moon(notes, observation, at)
    notes.points = 0.0
    for card in range(NUM_CARDS if on_table or notes.packs == 2 else 0):
        copies = 0
        for seat in range(notes.to_act + 1, seats):
            if observation[at.trick + NUM_CARDS * seat + card]:
                copies += 1
                by = seat
        if copies == 1 and card // NUM_RANKS == notes.led:  # twins cancel each other
            notes.winning, notes.winner = card, by
        copies = max(copies, notes.carried[card])  # of tricks that cancelled out, too
        notes.points += copies * notes.price[card]


@inlined
def count_cards(notes, observation, at, on_table):
    """Note the cards that are mine, unseen, and known, and who plays and holds how many."""
    seats = notes.seats
    held, had = np.int64(0), np.int64(0)
    for card in range(NUM_CARDS):
        mine = np.int64(observation[at.holding + card])
        passed = np.int64(observation[at.passed + card])
        gone = np.int64(0)
        for seat in range(seats):
            gone += observation[at.played + NUM_CARDS * seat + card]
        held += mine
        had += mine + observation[at.played + card] + passed * notes.passing
        if notes.packs == 2:
            # a trick that cancelled out isn't taken; a kitty is taken, not played
            taken = np.int64(0)
            for seat in range(seats):
                taken += observation[at.captured + NUM_CARDS * seat + card]
            notes.carried[card] = gone - taken
            gone = max(gone, taken)
        notes.mine[card] = mine
        notes.known[card] = max(passed - gone, 0)
        notes.unseen[card] = -mine - gone  # and the copies that there are
    # those who play off have the same total, the others show none
    tied = with_my_total(notes, observation, at)
    usual = had == notes.hand_size and not plays_off(notes, observation, at, tied, had)
    notes.num_playing = seats
    if not usual:  # a play-off, with one pack
        notes.num_playing = tied if NUM_CARDS // tied == had else NUM_CARDS // had
    over = NUM_CARDS % notes.num_playing
    left = notes.num_playing - on_table  # to play in this trick, with me
    notes.to_act = 0
    for seat in range(seats):
        plays = usual or observation[at.totals + seat] == observation[at.totals]
        notes.places[seat] = 0.0
        if plays:
            notes.places[seat] = held if left > 0 else held - 1
            if left > 0:
                notes.to_act = seat
            left -= 1
    for suit in range(NUM_SUITS):
        notes.num_unseen[suit] = notes.num_unknown[suit] = 0
        for card in range(NUM_RANKS * suit, NUM_RANKS * suit + NUM_RANKS):
            copies = notes.copies[card]
            if not usual:  # the lowest cards that are over are removed
                copies = 1 if NUM_SUITS * (card % NUM_RANKS) + suit >= over else 0
            notes.unseen[card] += copies
            if notes.unseen[card]:
                notes.num_unseen[suit] += notes.unseen[card]
                notes.num_unknown[suit] += notes.unseen[card] - notes.known[card]
                notes.places[notes.pass_to] -= notes.known[card]


@inlined
def with_my_total(notes, observation, at):
    """How many seats show the same match total as I have."""
    tied = np.int64(0)
    for seat in range(notes.seats):
        tied += observation[at.totals + seat] == observation[at.totals]
    return tied


@inlined
def plays_off(notes, observation, at, tied, had):
    """Whether it is a play-off that deals as many cards as a hand of all with two packs.

    Then the others show no points and have played nothing. At 0 myself I can't tell them by that.
    """
    if notes.packs == 1 or NUM_CARDS // tied != had or not observation[at.totals]:
        return False
    for seat in range(notes.seats):
        total = observation[at.totals + seat]
        if total and total != observation[at.totals]:
            return False
        for card in range(NUM_CARDS):
            if not total and observation[at.played + NUM_CARDS * seat + card]:
                return False
    return observation[at.hands_left] == 0


@kernel
def weigh_moon(notes, observation, at):
    """See whether one seat may yet take all penalty cards; if it is me, they are welcome.

    A moon moves the shooter away from the others' mean by twice the points.
    """
    most, takers, notes.shooter, notes.threat = 0.0, 0, -1, 0.0
    for seat in range(notes.seats):
        taken = 0.0
        for card in range(NUM_CARDS):
            taken += (
                max(notes.penalty[card], 0.0) * observation[at.captured + NUM_CARDS * seat + card]
            )
        if taken > 0.0:
            takers += 1
            most, notes.shooter = taken, seat
    loss = 2.0 * notes.all_points * (most / notes.all_points) ** 2 if takers == 1 else 0.0
    for card in range(NUM_CARDS):
        mine = notes.shooter == 0 and notes.penalty[card] > 0.0
        notes.price[card] = notes.penalty[card] - (SHOT * loss if mine else 0.0)
    if notes.shooter > 0:
        notes.threat = THREAT * loss / (notes.num_playing - 1)


@kernel
def guess_holders(notes, observation, at):
    """Fill in how probably each opponent holds each unseen card, and what it could throw."""
    share_out(notes, observation, at)
    for card in range(NUM_CARDS):
        if not notes.unseen[card]:
            for seat in range(1, notes.seats):
                notes.chance[seat, card] = 0.0
            continue
        heavy = notes.penalty[card] >= HEAVY
        unknown = notes.unseen[card] - notes.known[card]
        total = 0.0
        for seat in range(1, notes.seats):
            chance = notes.share[seat, card // NUM_RANKS] if unknown else 0.0
            if heavy and seat == notes.pass_to and not notes.passing:
                chance *= KEPT
            if unknown == 2:
                chance *= 2.0 - chance  # to hold one of them or both
            if notes.known[card] and seat == notes.pass_to:
                chance = 1.0
            notes.chance[seat, card] = chance
            total += chance
        if heavy and total > 0.0 and notes.unseen[card] == 1:
            for seat in range(1, notes.seats):
                notes.chance[seat, card] /= total
    for seat in range(1, notes.seats):
        notes.throw[seat] = expected_worst(notes, seat, ALL_SUITS, NUM_CARDS)


@inlined
def share_out(notes, observation, at):
    """Spread the unknown cards of each suit over the opponents who may hold it.

    Shares of a suit add up to 1; scaling them twice to the opponents' free places accounts
    for a seat that is void in one suit and so holds more of the others.
    """
    for suit in range(NUM_SUITS):
        for seat in range(1, notes.seats):
            void = observation[at.voids + NUM_SUITS * seat + suit]
            notes.share[seat, suit] = 0.0 if void else max(notes.places[seat], 0.0)
    for sweep in range(3):
        for suit in range(NUM_SUITS):
            total = 0.0
            for seat in range(1, notes.seats):
                total += notes.share[seat, suit]
            if total > 0.0:
                for seat in range(1, notes.seats):
                    notes.share[seat, suit] /= total
        if sweep < 2:
            for seat in range(1, notes.seats):
                total = 0.0
                for suit in range(NUM_SUITS):
                    total += notes.share[seat, suit] * notes.num_unknown[suit]
                if total > 0.0:
                    for suit in range(NUM_SUITS):
                        notes.share[seat, suit] *= notes.places[seat] / total


@inlined
def expected_worst(notes, seat, suit, end):
    """Expected points of the worst card of a suit, of an id under ``end``, that a seat holds."""
    points, none = 0.0, 1.0
    out = suit == ALL_SUITS or notes.num_unseen[suit] > 0
    for k in range(notes.num_worst[suit] if out else 0):
        card = notes.worst[suit, k]
        if card < end:
            points += none * notes.chance[seat, card] * notes.price[card]
            none *= 1.0 - notes.chance[seat, card]
    if suit != ALL_SUITS:
        for k in range(notes.num_bonus):
            card = notes.bonus[k]
            if card // NUM_RANKS == suit and card < end:
                forced = notes.chance[seat, card] * notes.none_below[seat, card]
                points += forced * notes.price[card]
    return points
