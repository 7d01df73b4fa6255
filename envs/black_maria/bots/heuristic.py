"""The player ``heuristic``: rules of thumb, with the cards counted.

For each legal card it adds up two costs, in penalty points, and plays the cheapest card:

* *now*: the chance that the card takes the trick times the points it then collects, those
  that void opponents will throw on it included;
* *later*: how much more dangerous the cards that stay behind are without it. A held card is
  dangerous if it would win when led, more so if it costs points itself or opponents are void
  of its suit, less so with smaller cards to play before it. A suit that is used up frees
  the player to throw cards.

Both rest on ``chance``, how probably each opponent holds each unseen card: cards passed are
known, shown voids are respected, the rest is spread over the opponents' free places; but the
seat I passed to has passed its own heavy cards on.
Passing is the same without a trick: the three cards whose danger is greatest. So an ace,
king or queen of spades always goes, guarded or not: keeping them over three or four small
spades measured worse, over five no better.

Other rules than three_player's change what cards cost, not how that is weighed up:

* penalties are scaled to a pack of 43 points;
* a bonus is a negative price. Opponents are supposed to want it too; a held bonus, and the
  cards over one that is out, are worth keeping;
* where the moon counts and only I have taken penalty points, the rest fall in price, the
  more the nearer I am. If only one opponent has, a trick with a penalty card is worth taking
  for once, and penalties thrown on the shooter's trick cost;
* of two packs, a card whose twin is on the table can't win, and one whose twin is out may
  be cancelled.

The kernels share ``NOTES``, a record of scratch that ``counting`` fills: one argument, since each
array passed costs time.
"""

from typing import Final

import numpy as np

from black_maria.bots.counting import HEAVY, NOTES, expected_worst, guess_holders, read, study_rules
from black_maria.cards import NUM_RANKS, NUM_SUITS
from black_maria.kernels import inlined, kernel

# Constants are in penalty points or are shares, found by measuring against duck and against
# earlier versions, those that other rules need in omnibus, dirty_lady and cancellation;
# (playing, passing) where the two differ.

GUARDED: Final = (0.27, 0.2)
"""What one smaller card of the suit leaves of a card's danger: it is played first."""
HEAVY_GUARDED: Final = (0.34, 1.0)
"""The same for a heavy card. While passing guards count for nothing: three cards that come
from the left and others' leads run them out."""

THROWN: Final = (0.25, 2.3)
"""Weight of what void opponents throw on a later trick. While passing, voids are to come."""

OWN: Final = (0.28, 0.7)
"""Weight of a held card's own points; while playing, there may yet be a void to throw it."""

HIGH: Final = (0.3, 0.12)
"""Price of a held card that would win: it takes the lead, and the next choice with it."""

EXIT: Final = (1.2, 0.14)
"""Worth of a held card that would lose when led: it gives the lead away."""

VOID: Final = (1.2, -0.3)
"""Worth of a void for each trick in the suit to come: so many cards may be thrown. While
passing it is a price: cards from the left may fill the void, and the last small card goes."""
SHORT: Final = (0.6, 0.3)
"""What each card still held in a suit leaves of that worth."""
MOST_TRICKS: Final = 3.0
"""Tricks in a suit that a void is counted for at most."""

TOSS: Final = 0.2
"""Worth of each point thrown on another suit: it can't come back."""

LEAD: Final = 0.05
"""Price of taking a trick, points apart: little, but between equal cards it decides."""

TIE: Final = 1e-9
"""Costs nearer than this are equal; of equal cards of a suit the highest goes."""

VOLUNTEER: Final = 0.5
"""How often the last player takes a trick without points that it could duck."""

WANTED: Final = 0.6
"""How probably an opponent who can takes a trick that a bonus makes worth taking: less does
better against duck, which doesn't want it, worse against players who do."""
SAVED: Final = 0.3
"""Worth of a held bonus, as a share of it: it may yet take its own trick."""
CATCH: Final = 0.1
"""Worth of a held card that beats a bonus which an opponent holds, as a share of the bonus."""

CANCEL: Final = 0.5
"""How probably an opponent who holds the twin of a winning card cancels it."""


@kernel
def heuristic_kernel(observation, mask, keys, rules, at, actions):
    """The cheapest legal card by the rules above; ``keys`` aren't used."""
    # the array is named in every call: numba frees it with its last use, records or not
    notes = np.zeros(1, NOTES)
    study_rules(notes[0], rules[0])
    for i in range(len(mask)):
        if mask[i].sum() == 1:  # a tenth of all decisions
            actions[i] = mask[i].argmax()
            continue
        read(notes[0], observation[i], at[0])
        guess_holders(notes[0], observation[i], at[0])
        if notes[0].passing:
            actions[i] = choose_pass(notes[0], mask[i])
        else:
            actions[i] = choose_play(notes[0], mask[i])


@kernel
def choose_pass(notes, mask):
    """The card whose danger is greatest, once it is known to be at the receiver."""
    best, most = -1, -np.inf
    for suit in range(NUM_SUITS):
        first = NUM_RANKS * suit
        study_suit(notes, suit)
        before = danger(notes, suit)
        for card in range(first, first + NUM_RANKS):
            if mask[card]:
                give(notes, card, 1)
                study_suit(notes, suit)
                gain = before - danger(notes, suit)
                give(notes, card, -1)
                if gain > most:
                    best, most = card, gain
    return best


@inlined
def give(notes, card, count):
    """Move a card from my holding to the seat I pass to; back with a count of −1."""
    suit = card // NUM_RANKS
    notes.mine[card] -= count
    notes.chance[notes.pass_to, card] += count
    notes.num_unseen[suit] += count


@kernel
def choose_play(notes, mask):
    """The card that costs least, now and later."""
    best, least = -1, np.inf
    for suit in range(NUM_SUITS):
        first = NUM_RANKS * suit
        may_win = notes.led < 0 or notes.led == suit
        if not mask[first : first + NUM_RANKS].any():
            continue
        study_suit(notes, suit)
        before = danger(notes, suit)
        for card in range(first, first + NUM_RANKS):
            if mask[card]:
                notes.mine[card] -= 1
                cost = danger(notes, suit) - before
                notes.mine[card] += 1
                if may_win and card > notes.winning:
                    cost += trick_cost(notes, card)
                else:
                    cost -= given_away(notes, card, not may_win)
                if cost < least - TIE or (cost < least + TIE and best // NUM_RANKS == suit):
                    best, least = card, cost
    return best


@inlined
def given_away(notes, card, tossed):
    """What it is worth that an opponent takes a card; a bonus or a shooter's penalty costs."""
    price = notes.price[card]
    if notes.penalty[card] < 0.0:
        return price
    worth = TOSS * price if tossed else 0.0
    if notes.threat > 0.0 and price > 0.0:
        fed = notes.winner == notes.shooter or notes.shooter <= notes.to_act
        worth += -TOSS * notes.threat if fed else notes.threat
    return worth


@kernel
def trick_cost(notes, card):
    """Expected points, and the price of the lead, of a card that beats those on the table."""
    win, points = 1.0, notes.points + notes.price[card]
    clean = points == 0.0
    for seat in range(1, notes.to_act + 1):
        no_lower, no_higher = notes.none_below[seat, card], notes.none_above[seat, card]
        over = no_lower * (1.0 - no_higher)
        if points < 0.0:
            over += WANTED * (1.0 - no_lower) * (1.0 - no_higher)
        if clean and seat == notes.to_act:
            over += VOLUNTEER * (1.0 - no_lower) * (1.0 - no_higher)
        win *= 1.0 - over
        if notes.packs == 2:
            win *= 1.0 - CANCEL * notes.chance[seat, card]
        if over < 1.0:  # else it never plays under me
            thrown = no_lower * no_higher * notes.throw[seat]
            thrown += expected_worst(notes, seat, card // NUM_RANKS, card)
            points += thrown / (1.0 - over)
    if notes.points + notes.penalty[card] > 0.0:
        points -= notes.threat
    return win * (points + LEAD)


@kernel
def danger(notes, suit):
    """What my cards of a suit threaten to cost in later tricks, less what a void is worth."""
    passing = notes.passing
    guarded, heavy_guarded = GUARDED[passing], HEAVY_GUARDED[passing]
    cost, fade, heavy_fade, short = 0.0, 1.0, 1.0, 1.0
    for card in range(NUM_RANKS * suit, NUM_RANKS * suit + NUM_RANKS):
        for _ in range(notes.mine[card]):
            thrown = 0.0
            for seat in range(1, notes.seats):
                void = notes.none_below[seat, card] * notes.none_above[seat, card]
                thrown += void * notes.throw[seat]
            wins = THROWN[passing] * thrown + notes.under[card] + HIGH[passing]
            wins += OWN[passing] * notes.price[card]
            win = notes.win[card]
            exposed = heavy_fade if notes.penalty[card] >= HEAVY else fade
            cost += exposed * (win * wins - (1.0 - win) * EXIT[passing])
            fade *= guarded
            heavy_fade *= heavy_guarded
            short *= SHORT[passing]
    tricks = min(notes.num_unseen[suit] / (notes.num_playing - 1), MOST_TRICKS)
    return cost - short * tricks * VOID[passing] + hope(notes, suit)


@inlined
def hope(notes, suit):
    """What a suit's bonuses, mine or within my reach, may yet bring: at most 0."""
    cost = 0.0
    for k in range(notes.num_bonus):
        bonus = notes.bonus[k]
        if bonus // NUM_RANKS == suit:
            cost += SAVED * notes.mine[bonus] * notes.penalty[bonus]
            for card in range(bonus + 1, NUM_RANKS * suit + NUM_RANKS):
                if notes.unseen[bonus]:
                    cost += CATCH * notes.mine[card] * notes.penalty[bonus]
    return cost


@kernel
def study_suit(notes, suit):
    """Fill in, for a suit, what opponents lack around each card and what mine do if led."""
    first, end = NUM_RANKS * suit, NUM_RANKS * suit + NUM_RANKS
    for seat in range(1, notes.seats):
        none = 1.0
        for card in range(first, end):
            notes.none_below[seat, card] = none
            none *= 1.0 - notes.chance[seat, card]
        none = 1.0
        for card in range(end - 1, first - 1, -1):
            notes.none_above[seat, card] = none
            none *= 1.0 - notes.chance[seat, card]
    for card in range(first, end):
        if notes.mine[card]:
            notes.win[card], notes.under[card] = 1.0, 0.0
            for seat in range(1, notes.seats):
                forced_over = notes.none_below[seat, card] * (1.0 - notes.none_above[seat, card])
                notes.win[card] *= 1.0 - forced_over
                if notes.packs == 2:
                    notes.win[card] *= 1.0 - CANCEL * notes.chance[seat, card]
                notes.under[card] += expected_worst(notes, seat, suit, card)
