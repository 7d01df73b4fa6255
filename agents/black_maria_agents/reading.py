"""Reading an observation: the state that all its worlds share, and what is left open.

``read`` refuses what no play can lead to.
"""

import numpy as np

from black_maria.cards import HEARTS, NUM_CARDS, NUM_RANKS, NUM_SUITS
from black_maria.engine import (
    MAX_DECK,
    MAX_SEATS,
    PASSING,
    PLAYING,
    apply,
    fill_deck,
    legal,
    next_seat,
    put,
    receiver,
    steps_to_receiver,
)
from black_maria.kernels import kernel
from black_maria_agents.facts import REFUSALS, below, copy_sets

(
    _FINE, _COUNTS, _OVER, _TURN, _TWICE, _SIZE, _TRICKS, _CAPTURED, _PASSED, _DIRECTION,
    NO_DEAL, _BROKEN, _HISTORY, _FLAGS,
) = range(len(REFUSALS))  # fmt: skip


@kernel
def one_of(observation, start, length):
    """The place of the single 1 in a block; −1 if it is all zeros, −2 if it is anything else."""
    found = -1
    for k in range(length):
        value = observation[start + k]
        if value:
            if value != 1 or found != -1:
                return -2
            found = k
    return found


@kernel
def count_row(observation, start):
    """Cards in a block of 52."""
    count = 0
    for card in range(NUM_CARDS):
        count += observation[start + card]
    return count


@kernel
def put_row(planes, observation, start):
    """Add a block of 52 counts to a set."""
    for card in range(NUM_CARDS):
        for _ in range(observation[start + card]):
            put(planes, card)


@kernel
def read(observation, history, rules, at, state, facts, stream):
    """Fill in what all worlds share, and the facts; return (refusal, card or number)."""
    seats = rules.seats
    state.holding[:] = 0
    state.given[:] = 0
    state.played[:] = 0
    state.captured[:] = 0
    state.kitty[:] = 0
    state.totals[:] = 0
    state.rules = rules.stamp
    state.hands_left = observation[at.hands_left]
    state.penalties[:] = 0
    state.cards[:] = 0
    state.seats[:] = 0
    facts.places[:] = 0
    facts.barred[:] = 0
    facts.split = False
    for k in range(at.led):
        if not 0 <= observation[k] <= rules.packs:
            return _COUNTS, np.int64(observation[k])
    for k in range(seats * NUM_CARDS):
        if not 0 <= observation[at.captured + k] <= rules.packs:
            return _COUNTS, np.int64(observation[at.captured + k])
    for k in range(seats * NUM_SUITS):
        if not 0 <= observation[at.voids + k] <= 1:
            return _COUNTS, np.int64(observation[at.voids + k])
    phase = one_of(observation, at.phase, 2)
    if phase == -1:
        return _OVER, 0
    dealer = one_of(observation, at.dealer, seats)
    on_table = one_of(observation, at.position, seats)
    pass_to = one_of(observation, at.pass_to, seats)
    led = one_of(observation, at.led, NUM_SUITS)
    if phase < 0 or dealer < 0 or on_table < 0 or pass_to < 0 or led == -2:
        return _FLAGS, 0
    passing = phase == PASSING
    state.phase = PASSING if passing else PLAYING
    state.dealer = dealer
    state.turn = 0

    held = count_row(observation, at.holding)
    passed = count_row(observation, at.passed)
    received = count_row(observation, at.received)
    size = held + count_row(observation, at.played) + (passed if passing else 0)
    facts.hand_size = size
    refusal = who_plays(observation, rules, at, state, size, dealer, pass_to, on_table)
    if refusal:
        return refusal, size
    tricks = count_row(observation, at.played)
    state.num_played = 0
    for seat in range(seats):
        plays = state.playing >> seat & 1
        count = count_row(observation, at.played + NUM_CARDS * seat)
        in_trick = count_row(observation, at.trick + NUM_CARDS * seat)
        if in_trick > 1 or count != plays * (tricks + in_trick):
            return _TRICKS, 0
        state.num_played += count
        facts.places[seat] = plays * (size - count)
        put_row(state.captured[seat], observation, at.captured + NUM_CARDS * seat)
        put_row(state.played[seat], observation, at.played + NUM_CARDS * seat)
        if plays:
            state.totals[seat] = observation[at.totals + seat]
        if not plays and state.captured[seat, 0]:
            return _CAPTURED, 0
    facts.places[0] = 0
    state.to_play = size * state.num_playing

    refusal = read_passes(observation, rules, at, state, facts, passed, received, pass_to)
    if refusal:
        return refusal, 0
    if passing and (state.num_played or on_table or held + passed != size):
        return _FLAGS, 0
    refusal = read_trick(observation, rules, at, state, on_table, led)
    if refusal:
        return refusal, 0
    if not passing and tricks == 0:
        opens = next_seat(state, rules, np.int64(dealer))
        if rules.opening_card >= 0:
            holds = state.holding[0, 0] >> rules.opening_card & 1
            opens = state.leader if on_table or holds else np.int64(-1)
        if state.leader != opens:
            return _TURN, 0
    refusal, card = count_pool(observation, rules, at, state, facts)
    if refusal:
        return refusal, card
    if len(history):
        refusal = replay(history, rules, state, facts)
        if refusal:
            return refusal, 0
    else:
        guess_kitty(state, facts, stream)
        order_cards(observation, rules, at, state)
    broken = False
    for seat in range(seats):
        for card in range(NUM_CARDS):
            state.penalties[seat] += rules.penalties[card] * (
                (state.captured[seat, 0] >> card & 1) + (state.captured[seat, 1] >> card & 1)
            )
        broken = broken or (state.played[seat, 0] >> NUM_RANKS * HEARTS & 0x1FFF) != 0
    state.broken = broken and rules.break_hearts
    if observation[at.hearts_broken] != state.broken:
        return _BROKEN, 0
    read_voids(observation, rules, at, state, facts, len(history) > 0)
    state.legal = legal(state, rules)
    return _FINE, 0


@kernel
def who_plays(observation, rules, at, state, size, dealer, pass_to, on_table):
    """Find the seats that play, and how many of them a pass goes on."""
    seats = rules.seats
    every = (1 << seats) - 1
    refusal = _SIZE
    # With two packs a play-off may deal as many cards as a hand of all, and one of nine as many as
    # one of ten. First what the cards played bear out; and only who has points shows that others,
    # at 0, are absent
    for strict in (True, False):
        for tied in (observation[at.totals] != 0, observation[at.totals] == 0):
            most = 1
            if tied and rules.playoff and size > 0 and not observation[at.hands_left]:
                most = seats - (rules.packs == 1)
            elif not tied and size == rules.deck_size // seats:
                most = seats
            for count in range(most, 1 if tied else seats - 1, -1):
                if tied and NUM_CARDS // count != size:
                    continue
                refusal = _DIRECTION
                state.num_playing = count
                state.playoff = tied
                # In a play-off all have the same total and the others show 0: where it is 0 too,
                # several sets of seats may fit, and the first will do
                for bits in range(1 if count < seats else every, every + 1, 2):
                    state.playing = bits
                    if fits(observation, rules, at, state, dealer, pass_to, on_table, strict):
                        return _FINE
    return refusal


@kernel
def fits(observation, rules, at, state, dealer, pass_to, on_table, strict):
    """Whether these seats may be the ones that play; sets how many of them a pass goes on.

    Strictly, also whether they have played as many cards as they must, out of their pack.
    """
    bits, count, tricks = state.playing, 0, count_row(observation, at.played)
    if not (bits >> dealer & 1 and bits >> pass_to & 1):
        return False
    for seat in range(rules.seats):
        plays = bits >> seat & 1
        count += plays
        played = count_row(observation, at.played + NUM_CARDS * seat)
        total = observation[at.totals + seat]
        if not plays and (total != 0 or played > 0):
            return False
        if plays and state.playoff and total != observation[at.totals]:
            return False
        if strict and plays and played != tricks + (count > state.num_playing - on_table):
            return False
    if count != state.num_playing or (strict and not in_pack(observation, rules, at, state)):
        return False
    to, state.pass_steps = np.int64(0), 0
    while to != pass_to:
        to = next_seat(state, rules, to)
        state.pass_steps += 1
    for k in range(rules.cycle):
        steps = steps_to_receiver(rules.pass_cycle[k], count) if rules.pass_count else 0
        if steps == state.pass_steps:
            return True
    return False


@kernel
def in_pack(observation, rules, at, state):
    """Whether the cards held and played are in the pack of the seats that play."""
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
def read_passes(observation, rules, at, state, facts, passed, received, pass_to):
    """Note the cards I hold, passed and got, and who has committed."""
    passing = state.phase == PASSING
    put_row(state.holding[0], observation, at.holding)
    put_row(state.given[0], observation, at.passed)
    facts.giver = 0
    facts.committed = 0
    state.num_passed = 0
    if state.pass_steps == 0:
        return _PASSED if passed or received or passing else _FINE
    if state.given[0, 0] & rules.kept:
        return _PASSED
    for seat in range(1, rules.seats):
        if state.playing >> seat & 1 and receiver(state, rules, seat) == 0:
            facts.giver = seat
    if passing:
        if passed >= rules.pass_count:
            return _TURN
        if received:
            return _PASSED
        seat = next_seat(state, rules, np.int64(state.dealer))
        while seat != 0:
            facts.committed |= 1 << seat
            state.num_passed += rules.pass_count
            seat = next_seat(state, rules, seat)
        state.num_passed += passed
        return _FINE
    if passed != rules.pass_count or received != rules.pass_count:
        return _PASSED
    put_row(state.given[facts.giver], observation, at.received)
    if state.given[facts.giver, 0] & rules.kept:
        return _PASSED
    state.num_passed = rules.pass_count * state.num_playing
    for card in range(NUM_CARDS):
        mine = observation[at.holding + card] + observation[at.played + card]
        if observation[at.received + card] > mine:
            return _PASSED
        # each card that I passed is at the receiver's until played
        known = observation[at.passed + card]
        known -= observation[at.played + NUM_CARDS * pass_to + card]
        for _ in range(known):
            put(state.holding[pass_to], card)
            facts.places[pass_to] -= 1
    return _FINE if facts.places[pass_to] >= 0 else NO_DEAL


@kernel
def read_trick(observation, rules, at, state, on_table, led):
    """Note the trick on the table; its last cards belong to the seats before the observer."""
    state.in_trick = on_table
    state.led = -1
    state.best_card = state.best_seat = 0
    before = state.num_playing - on_table  # seats from me on that haven't played
    seat = np.int64(0)
    state.leader = 0
    for k in range(state.num_playing):
        card = one_of(observation, at.trick + NUM_CARDS * seat, NUM_CARDS)
        if (card >= 0) != (k >= before):
            return _TURN
        if card >= 0:
            if k == before:
                state.led = card // NUM_RANKS
                state.leader = state.best_seat = seat
                state.best_card = card
            elif card // NUM_RANKS == state.led and card > state.best_card:
                state.best_card = card
                state.best_seat = seat
        seat = next_seat(state, rules, seat)
    return _FINE if state.led == led else _FLAGS


@kernel
def count_pool(observation, rules, at, state, facts):
    """Count the cards that nobody has shown; find the kitty once it is taken."""
    seats = rules.seats
    deck = np.empty(MAX_DECK, np.int8)
    size = fill_deck(state, rules, deck)
    facts.pool[:] = 0
    for k in range(size):
        facts.pool[deck[k]] += 1
    taken_any = False
    for seat in range(seats):
        taken_any = taken_any or state.captured[seat, 0] != 0
    out, carried = 0, 0  # cards of the kitty that show; of tricks that nobody took
    for card in range(NUM_CARDS):
        played, trick, captured = 0, 0, 0
        for seat in range(seats):
            played += observation[at.played + NUM_CARDS * seat + card]
            trick += observation[at.trick + NUM_CARDS * seat + card]
            captured += observation[at.captured + NUM_CARDS * seat + card]
            if (
                observation[at.trick + NUM_CARDS * seat + card]
                > (observation[at.played + NUM_CARDS * seat + card])
            ):
                return _TRICKS, card
        hidden = max(captured - (played - trick), 0)
        carried += hidden + played - trick - captured
        out += hidden
        for _ in range(hidden):
            put(state.kitty, card)
        facts.pool[card] -= played + hidden
        for seat in range(seats):  # mine, and what I passed
            facts.pool[card] -= state.holding[seat, 0] >> card & 1
            facts.pool[card] -= state.holding[seat, 1] >> card & 1
        if state.phase == PASSING:
            facts.pool[card] -= observation[at.passed + card]
        if facts.pool[card] < 0:
            return _TWICE, card
    kitty = size - state.to_play
    if out > (kitty if taken_any else 0):
        return _CAPTURED, 0
    facts.maybe_kitty = kitty - out if taken_any else 0
    facts.places[seats] = 0 if taken_any else kitty
    carried += facts.maybe_kitty
    if carried % state.num_playing or (carried and rules.packs == 1):
        return _CAPTURED, 0
    state.pile_start = state.num_played - state.in_trick - carried
    state.last_taker = state.leader if taken_any else -1  # who leads until another takes one
    state.taken_from = max(state.pile_start - state.num_playing, 0)
    return _FINE, 0


@kernel
def order_cards(observation, rules, at, state):
    """List the cards played: taken ones first, then cancelled tricks, then this trick."""
    taken, table = np.int64(0), np.int64(state.pile_start)
    for card in range(NUM_CARDS):
        left = 0  # copies taken
        for seat in range(rules.seats):
            left += observation[at.captured + NUM_CARDS * seat + card]
        left -= (state.kitty[0] >> card & 1) + (state.kitty[1] >> card & 1)
        for seat in range(rules.seats):
            start = NUM_CARDS * seat + card
            for _ in range(observation[at.played + start] - observation[at.trick + start]):
                if (left > 0 or table == state.num_played - state.in_trick) and (
                    taken < state.pile_start
                ):
                    place = taken
                    taken += 1
                else:
                    place = table
                    table += 1
                left -= 1
                state.cards[place] = card
                state.seats[place] = seat
    by = np.int64(state.leader)
    for k in range(state.num_played - state.in_trick, state.num_played):
        state.cards[k] = one_of(observation, at.trick + NUM_CARDS * by, NUM_CARDS)
        state.seats[k] = by
        by = next_seat(state, rules, by)


@kernel
def replay(history, rules, state, facts):
    """Play the history through the engine: the order of cards, and which tricks cancelled."""
    holding = np.empty((MAX_SEATS, 2), np.int64)
    captured = np.empty((MAX_SEATS, 2), np.int64)
    copy_sets(state.holding, holding)
    copy_sets(state.captured, captured)
    kitty, kitty_twins = state.kitty[0], state.kitty[1]
    num_played, in_trick, led = state.num_played, state.in_trick, state.led
    copy_sets(state.played, state.holding)
    state.played[:] = 0
    state.captured[:] = 0
    state.kitty[:] = 0
    state.num_played = 0
    state.pile_start = 0
    state.in_trick = 0
    state.led = -1
    state.last_taker = -1
    for k in range(len(history)):
        if history[k, 0] != 2:
            continue
        by, told = np.int64(history[k, 1]), np.int64(history[k, 2])
        if state.num_played == 0 and 0 <= by < rules.seats:
            state.turn = by
        if by != state.turn or not 0 <= told < NUM_CARDS or state.num_played == num_played:
            return _HISTORY
        if not state.holding[by, 0] >> told & 1:
            return _HISTORY
        play_on(state, rules, told)
    if state.num_played != num_played or state.in_trick != in_trick or state.led != led:
        return _HISTORY
    if state.turn != 0 and num_played:
        return _HISTORY
    state.turn = 0
    state.broken = False
    state.penalties[:] = 0
    for card in range(NUM_CARDS):  # what was taken but not played is the kitty
        out = 0
        for seat in range(rules.seats):
            out += (captured[seat, 0] >> card & 1) + (captured[seat, 1] >> card & 1)
            out -= (state.captured[seat, 0] >> card & 1) + (state.captured[seat, 1] >> card & 1)
        more = out - (kitty >> card & 1) - (kitty_twins >> card & 1)
        if more < 0 or more > min(facts.maybe_kitty, facts.pool[card]):
            return _HISTORY
        for _ in range(out):
            put(state.kitty, card)
        facts.pool[card] -= more
        facts.maybe_kitty -= more
    copy_sets(holding, state.holding)
    copy_sets(captured, state.captured)
    return _HISTORY if facts.maybe_kitty else _FINE


@kernel
def play_on(state, rules, card):
    """The engine's ``apply``, pasted in here once."""
    return apply(state, rules, card)


@kernel
def guess_kitty(state, facts, stream):
    """Draw the rest of a taken kitty from cards whose twin may lie in a cancelled trick."""
    fit = np.empty(NUM_CARDS, np.int64)
    count = 0
    taken = np.zeros(NUM_CARDS, np.int64)
    for seat in range(MAX_SEATS):
        for card in range(NUM_CARDS):
            taken[card] += state.captured[seat, 0] >> card & 1
    for card in range(NUM_CARDS):
        if facts.pool[card] and taken[card] and not state.kitty[0] >> card & 1:
            fit[count] = card
            count += 1
    while facts.maybe_kitty and count:
        k = below(stream, count)
        put(state.kitty, fit[k])
        facts.pool[fit[k]] -= 1
        facts.maybe_kitty -= 1
        count -= 1
        fit[k] = fit[count]


@kernel
def read_voids(observation, rules, at, state, facts, told):
    """Note which classes of cards each seat can't hold: shown voids, a broken ban."""
    state.voids[:] = 0
    for seat in range(rules.seats):
        for suit in range(NUM_SUITS):
            if observation[at.voids + NUM_SUITS * seat + suit]:
                state.voids[seat] |= 1 << suit
                facts.barred[seat] |= 3 << 2 * suit
    first = min(state.num_played, state.num_playing)
    if rules.first_trick_ban == 0 or not (told or state.num_played == state.in_trick):
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
