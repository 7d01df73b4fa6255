"""Reading an observation: the state that all its worlds share, and what is left open.

``read`` refuses what no play can lead to, clause by clause. A clause returns ``FINE`` or what of
``refusals`` it found; it may rely on those before it. The arguments are always these:

* ``observation``: (F,) int8, of the seat to move, which is seat 0 here;
* ``at``: each block's offset in it, ``layout.record``: ``observation[at.led]`` is clubs led;
* ``rules``: a record of ``engine.RULES``;
* ``state``: a record of ``engine.STATE``, written: what all worlds have in common;
* ``facts``: a record of ``facts.FACTS``, written: what is open.
"""

import numpy as np

from black_maria.cards import HEARTS, NUM_CARDS, NUM_RANKS, NUM_SUITS
from black_maria.engine import (
    MAX_DECK,
    PASSING,
    PLAYING,
    fill_deck,
    legal,
    next_seat,
    put,
    receiver,
    steps_to_receiver,
)
from black_maria.kernels import kernel
from black_maria_agents.worlds.blocks import beyond, count_row, one_of, put_row
from black_maria_agents.worlds.order import order_cards, replay
from black_maria_agents.worlds.pool import count_pool, guess_kitty
from black_maria_agents.worlds.refusals import (
    BROKEN,
    CAPTURED,
    COUNTS,
    DIRECTION,
    FINE,
    FLAGS,
    NO_DEAL,
    OVER,
    PASSED,
    SIZE,
    TRICKS,
    TURN,
)


@kernel
def read(observation, history, rules, at, state, facts, stream):
    """Fill in what all worlds share, and the facts; return (refusal, what it is about).

    ``history``, (R, 3) int8, is empty where the order of the cards isn't told; ``stream`` is for
    the kitty of two packs, which is guessed where it can't be told.
    """
    clear(rules, state, facts)
    facts.told = len(history) > 0
    wrong = find_miscount(observation, rules, at)
    if wrong:
        return COUNTS, wrong
    refusal = read_flags(observation, rules, at, state, facts)
    if refusal:
        return refusal, 0
    count_own(observation, at, state, facts)
    refusal = who_plays(observation, rules, at, state, facts)
    if refusal:
        return refusal, facts.hand_size
    refusal = read_seats(observation, rules, at, state, facts)
    if not refusal:
        refusal = read_passes(observation, rules, at, state, facts)
    if not refusal:
        refusal = read_trick(observation, rules, at, state, facts)
    if not refusal:
        refusal = check_opening(rules, state, facts)
    if refusal:
        return refusal, 0
    refusal, card = count_pool(observation, rules, at, state, facts)
    if refusal:
        return refusal, card
    if facts.told:
        refusal = replay(history, rules, state, facts)
    else:
        guess_kitty(state, facts, stream)
        order_cards(observation, rules, at, state)
    if not refusal:
        refusal = read_score(observation, rules, at, state)
    if refusal:
        return refusal, 0
    read_voids(observation, rules, at, state, facts)
    state.legal = legal(state, rules)
    return FINE, 0


# --- the clauses, in the order in which ``read`` has them; ``pool`` and ``order`` have the rest ---


@kernel
def clear(rules, state, facts):
    """Forget what was read before."""
    state.holding[:] = 0
    state.given[:] = 0
    state.played[:] = 0
    state.captured[:] = 0
    state.kitty[:] = 0
    state.totals[:] = 0
    state.penalties[:] = 0
    state.cards[:] = 0
    state.seats[:] = 0
    state.rules = rules.stamp
    state.turn = 0
    facts.places[:] = 0
    facts.barred[:] = 0
    facts.split = False


@kernel
def find_miscount(observation, rules, at):
    """The first entry that isn't a count of a card or a void; 0 if all are."""
    every = rules.seats * NUM_CARDS
    wrong = beyond(observation, at.holding, NUM_CARDS, rules.packs)
    wrong = wrong or beyond(observation, at.passed, NUM_CARDS, rules.packs)
    wrong = wrong or beyond(observation, at.received, NUM_CARDS, rules.packs)
    wrong = wrong or beyond(observation, at.played, every, rules.packs)
    wrong = wrong or beyond(observation, at.trick, every, rules.packs)
    wrong = wrong or beyond(observation, at.captured, every, rules.packs)
    return wrong or beyond(observation, at.voids, rules.seats * NUM_SUITS, 1)


@kernel
def read_flags(observation, rules, at, state, facts):
    """Note phase, dealer, cards on the table, suit led, who gets my cards, hands left."""
    phase = one_of(observation, at.phase, 2)
    if phase == -1:
        return OVER
    dealer = one_of(observation, at.dealer, rules.seats)
    facts.on_table = one_of(observation, at.position, rules.seats)
    facts.pass_to = one_of(observation, at.pass_to, rules.seats)
    facts.led = one_of(observation, at.led, NUM_SUITS)
    if phase < 0 or dealer < 0 or facts.on_table < 0 or facts.pass_to < 0 or facts.led == -2:
        return FLAGS
    state.phase = PASSING if phase == PASSING else PLAYING
    state.dealer = dealer
    state.hands_left = observation[at.hands_left]
    return FINE


@kernel
def count_own(observation, at, state, facts):
    """Count my cards, where I have them and where they went."""
    facts.held = count_row(observation, at.holding)
    facts.passed = count_row(observation, at.passed)
    facts.received = count_row(observation, at.received)
    facts.tricks = count_row(observation, at.played)
    facts.hand_size = facts.held + facts.tricks
    if state.phase == PASSING:
        facts.hand_size += facts.passed


@kernel
def who_plays(observation, rules, at, state, facts):
    """Find the seats that play, and how many of them a pass goes on.

    With two packs a play-off may deal as many cards as a hand of all does, and one of nine seats
    as many as one of ten. So first it is asked what the cards bear out. Where all are at 0 and
    nothing is played yet, nothing tells: then it is a hand of all.
    """
    refusal = SIZE
    for strict in (True, False):
        for tied in (observation[at.totals] != 0, observation[at.totals] == 0):
            for count in range(rules.seats, 1, -1):
                if not may_deal(rules, state, facts, count, tied):
                    continue
                refusal = DIRECTION
                state.num_playing, state.playoff = count, tied
                # In a play-off all have the same total and the others show 0: where it is 0 too,
                # several sets of seats may fit, and the first will do
                every = (1 << rules.seats) - 1
                for playing in range(every if count == rules.seats else 1, every + 1, 2):
                    if (
                        may_play(observation, rules, at, state, facts, playing)
                        and (not strict or bears_out(observation, rules, at, state, facts))
                        and find_pass(rules, state, facts)
                    ):
                        return FINE
    return refusal


@kernel
def may_deal(rules, state, facts, count, tied):
    """Whether so many seats may be dealt as many cards as I was, in a play-off or not."""
    if not tied:
        return count == rules.seats and facts.hand_size == rules.deck_size // count
    if not rules.playoff or state.hands_left or NUM_CARDS // count != facts.hand_size:
        return False
    return count < rules.seats or rules.packs == 2  # with one pack a hand like any other


@kernel
def may_play(observation, rules, at, state, facts, playing):
    """Whether these seats, bit by bit, may be the ones that play; if so, they are noted."""
    if not playing >> np.int64(state.dealer) & 1 or not playing >> facts.pass_to & 1:
        return False
    count = 0
    for seat in range(rules.seats):
        plays = playing >> seat & 1
        count += plays
        total = observation[at.totals + seat]
        if plays and state.playoff and total != observation[at.totals]:
            return False
        if not plays and (total or count_row(observation, at.played + NUM_CARDS * seat) > 0):
            return False
    state.playing = playing
    return count == state.num_playing


@kernel
def bears_out(observation, rules, at, state, facts):
    """Whether the seats that play have played as many cards as they must, out of their pack."""
    seat = np.int64(0)
    for k in range(state.num_playing):
        due = facts.tricks + (k >= state.num_playing - facts.on_table)
        if count_row(observation, at.played + NUM_CARDS * seat) != due:
            return False
        seat = next_seat(state, rules, seat)
    deck = np.empty(MAX_DECK, np.int8)
    copies = np.zeros(NUM_CARDS, np.int64)
    for k in range(fill_deck(state, rules, deck)):
        copies[deck[k]] += 1
    for card in range(NUM_CARDS):
        for start in range(at.played, at.played + NUM_CARDS * rules.seats, NUM_CARDS):
            copies[card] -= observation[start + card]
        if copies[card] < observation[at.holding + card]:
            return False
    return True


@kernel
def find_pass(rules, state, facts):
    """Note how many seats on a pass goes; whether the rules have such a pass."""
    to, state.pass_steps = np.int64(0), 0
    while to != facts.pass_to:
        to = next_seat(state, rules, to)
        state.pass_steps += 1
    for k in range(rules.cycle):
        steps = np.int64(0)
        if rules.pass_count:
            steps = steps_to_receiver(rules.pass_cycle[k], state.num_playing)
        if steps == state.pass_steps:
            state.hand = k  # a hand that passes there: the play can be told from its start
            return True
    return False


@kernel
def read_seats(observation, rules, at, state, facts):
    """Note what each seat has played and taken, its total, and its places for unknown cards."""
    state.num_played = 0
    for seat in range(rules.seats):
        plays = state.playing >> seat & 1
        count = count_row(observation, at.played + NUM_CARDS * seat)
        in_trick = count_row(observation, at.trick + NUM_CARDS * seat)
        if in_trick > 1 or count != plays * (facts.tricks + in_trick):
            return TRICKS
        state.num_played += count
        facts.places[seat] = plays * (facts.hand_size - count)
        put_row(state.captured[seat], observation, at.captured + NUM_CARDS * seat)
        put_row(state.played[seat], observation, at.played + NUM_CARDS * seat)
        if plays:
            state.totals[seat] = observation[at.totals + seat]
        if not plays and state.captured[seat, 0]:
            return CAPTURED
    facts.places[0] = 0
    state.to_play = facts.hand_size * state.num_playing
    return FINE


@kernel
def read_passes(observation, rules, at, state, facts):
    """Note the cards I hold, passed and got, and who has committed."""
    passing = state.phase == PASSING
    put_row(state.holding[0], observation, at.holding)
    put_row(state.given[0], observation, at.passed)
    facts.giver = 0
    facts.committed = 0
    state.num_passed = 0
    if state.pass_steps == 0:
        return PASSED if facts.passed or facts.received or passing else FINE
    if state.given[0, 0] & rules.kept:
        return PASSED
    for seat in range(1, rules.seats):
        if state.playing >> seat & 1 and receiver(state, rules, seat) == 0:
            facts.giver = seat
    if passing:
        return read_picks(rules, state, facts)
    return read_exchange(observation, rules, at, state, facts)


@kernel
def read_picks(rules, state, facts):
    """While passing: the seats before me have committed, and I may have picked some cards."""
    if facts.passed >= rules.pass_count:
        return TURN
    if facts.received:
        return PASSED
    seat = next_seat(state, rules, np.int64(state.dealer))
    while seat != 0:
        facts.committed |= 1 << seat
        state.num_passed += rules.pass_count
        seat = next_seat(state, rules, seat)
    state.num_passed += facts.passed
    return FLAGS if state.num_played or facts.on_table else FINE


@kernel
def read_exchange(observation, rules, at, state, facts):
    """After the pass: each card that I passed is at its receiver's until played."""
    if facts.passed != rules.pass_count or facts.received != rules.pass_count:
        return PASSED
    put_row(state.given[facts.giver], observation, at.received)
    if state.given[facts.giver, 0] & rules.kept:
        return PASSED
    state.num_passed = rules.pass_count * state.num_playing
    for card in range(NUM_CARDS):
        mine = observation[at.holding + card] + observation[at.played + card]
        if observation[at.received + card] > mine:
            return PASSED
        known = observation[at.passed + card]
        known -= observation[at.played + NUM_CARDS * facts.pass_to + card]
        for _ in range(known):
            put(state.holding[facts.pass_to], card)
            facts.places[facts.pass_to] -= 1
    return FINE if facts.places[facts.pass_to] >= 0 else NO_DEAL


@kernel
def read_trick(observation, rules, at, state, facts):
    """Note the trick on the table; its last cards belong to the seats before the observer."""
    state.in_trick = facts.on_table
    state.led = -1
    state.best_card = state.best_seat = 0
    before = state.num_playing - facts.on_table  # seats from me on that haven't played
    seat = np.int64(0)
    state.leader = 0
    for k in range(state.num_playing):
        card = one_of(observation, at.trick + NUM_CARDS * seat, NUM_CARDS)
        if (card >= 0) != (k >= before):
            return TURN
        if card >= 0:
            if k == before:
                state.led = card // NUM_RANKS
                state.leader = state.best_seat = seat
                state.best_card = card
            elif card // NUM_RANKS == state.led and card > state.best_card:
                state.best_card = card
                state.best_seat = seat
        seat = next_seat(state, rules, seat)
    return FINE if state.led == facts.led else FLAGS


@kernel
def check_opening(rules, state, facts):
    """The first trick is led by dealer's left, or by who holds the opening card."""
    if state.phase == PASSING or facts.tricks:
        return FINE
    opens = next_seat(state, rules, np.int64(state.dealer))
    if rules.opening_card >= 0:
        holds = state.holding[0, 0] >> rules.opening_card & 1
        opens = np.int64(state.leader if facts.on_table or holds else -1)
    return FINE if state.leader == opens else TURN


@kernel
def read_score(observation, rules, at, state):
    """Count the penalties so far, and whether hearts are broken."""
    broken = False
    for seat in range(rules.seats):
        for card in range(NUM_CARDS):
            copies = (state.captured[seat, 0] >> card & 1) + (state.captured[seat, 1] >> card & 1)
            state.penalties[seat] += rules.penalties[card] * copies
        broken = broken or (state.played[seat, 0] >> NUM_RANKS * HEARTS & 0x1FFF) != 0
    state.broken = broken and rules.break_hearts
    return FINE if observation[at.hearts_broken] == state.broken else BROKEN


@kernel
def read_voids(observation, rules, at, state, facts):
    """Note which classes of cards each seat can't hold: shown voids, a broken ban."""
    state.voids[:] = 0
    for seat in range(rules.seats):
        for suit in range(NUM_SUITS):
            if observation[at.voids + NUM_SUITS * seat + suit]:
                state.voids[seat] |= 1 << suit
                facts.barred[seat] |= 3 << 2 * suit
    first = min(state.num_played, state.num_playing)
    if rules.first_trick_ban == 0 or not (facts.told or state.num_played == state.in_trick):
        return
    for k in range(first):  # who plays a banned card to the first trick had no other
        seat, card = state.seats[k], state.cards[k]
        if rules.first_trick_ban >> card & 1:
            facts.split = True
            for suit in range(NUM_SUITS):
                bound = suit == card // NUM_RANKS or (
                    k > 0 and card // NUM_RANKS != state.cards[0] // NUM_RANKS
                )
                if k == 0 and not (rules.break_hearts and suit == HEARTS):
                    bound = True
                if bound:
                    facts.barred[seat] |= 1 << 2 * suit
