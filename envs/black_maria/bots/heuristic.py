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

The kernels share ``NOTES``, a record of scratch: one argument, since each array passed costs
time. They call no kernel of another file; numba's cache wouldn't notice edits there.
"""

from typing import Final

import numpy as np

from black_maria.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS
from black_maria.engine import MAX_SEATS, record_type
from black_maria.kernels import inlined, kernel

# Constants are in penalty points or are shares, found by measuring against duck and against
# earlier versions, those that other rules need in omnibus, dirty_lady and cancellation;
# (playing, passing) where the two differ.

SCALE: Final = 43.0
"""Points a pack that the constants are meant for; other rules' penalties are scaled to it."""

HEAVY: Final = 5
"""From so many points on a card is heavy: whoever may pass it on does."""

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

SHOT: Final = 0.5
"""How likely I shoot the moon, times the square of the share of the points that I have."""
THREAT: Final = 0.5
"""The same of an opponent: less than it is, since the others may stop it too."""

CANCEL: Final = 0.5
"""How probably an opponent who holds the twin of a winning card cancels it."""

KEPT: Final = 0.05
"""How much less an unknown heavy card lies with the seat I passed to: it passes its own on."""

ALL_SUITS: Final = NUM_SUITS
"""Stands for a suit where any will do."""

NOTES: Final = record_type(
    [
        # the rules
        ("seats", np.int64),
        ("packs", np.int64),
        ("hand_size", np.int64),
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


# --- counting ---------------------------------------------------------------------------------


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
    all_play = had == notes.hand_size  # else it is a play-off, with a pack for fewer seats
    notes.num_playing = seats if all_play else NUM_CARDS // had
    left = notes.num_playing - on_table  # to play in this trick, with me
    notes.to_act = 0
    for seat in range(seats):
        # those who play off have the same total
        plays = all_play or observation[at.totals + seat] == observation[at.totals]
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
            if not all_play:  # the first twos that are over are removed
                copies = 1 if card % NUM_RANKS or suit >= NUM_CARDS % notes.num_playing else 0
            notes.unseen[card] += copies
            if notes.unseen[card]:
                notes.num_unseen[suit] += notes.unseen[card]
                notes.num_unknown[suit] += notes.unseen[card] - notes.known[card]
                notes.places[notes.pass_to] -= notes.known[card]


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
