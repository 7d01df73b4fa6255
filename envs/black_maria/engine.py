"""The game: one structured record a table, and every kernel that knows a rule.

A batch of games is an array of ``STATE`` records beside an array of *views*: each seat's
observation vector, (tables, seats, F) int8, kept up to date as cards move. Kernels take
rules and layout as one-element record arrays, never as globals, and are compiled by numba;
with ``NUMBA_DISABLE_JIT=1`` the same code runs as plain Python.

All kernels of the rules live in this file, since numba's on-disk cache notices an edit only
in the file that a kernel stands in. A kernel elsewhere must not call one of these and be
cached.

Card sets are pairs of 64-bit planes: bit c of plane 0 says that card c is in the set, of
plane 1 that its twin of a second pack is, too.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, SupportsIndex

import numba
import numpy as np
from numpy.typing import NDArray

from black_maria.cards import NUM_CARDS, SUIT_NAMES, card_name, card_names, parse_cards
from black_maria.rules import PASS_DIRECTIONS, Rules, as_rules

MAX_SEATS: Final = 10
MAX_DECK: Final = 2 * NUM_CARDS

PASSING, PLAYING, OVER = range(3)
"""Phases of a hand."""

REWARDS: Final = ("trick", "hand", "relative", "match")
"""When and how penalties become rewards; see ``tables.Tables``."""
EPISODES: Final = ("hand", "match")
"""What an episode is: one deal played out, or hands until the match's end."""
_TRICK, _HAND, _RELATIVE, _MATCH = range(len(REWARDS))


def _record(fields: list[Any]) -> np.dtype[Any]:
    return np.dtype((np.record, np.dtype(fields, align=True)))


STATE: Final = _record(
    [
        # what the deal is a function of
        ("seed", np.uint64),
        ("table", np.int64),
        ("hand", np.int64),
        # where the cards are; each a pair of planes
        ("holding", np.int64, (MAX_SEATS, 2)),
        ("given", np.int64, (MAX_SEATS, 2)),  # picked to pass; no longer held
        ("captured", np.int64, (MAX_SEATS, 2)),
        ("legal", np.int64),  # plane of the cards that the seat to move may choose
        # scores
        ("totals", np.int32, (MAX_SEATS,)),
        ("penalties", np.int16, (MAX_SEATS,)),  # in this hand so far
        # the play so far: card and seat, in order
        ("cards", np.int8, (MAX_DECK,)),
        ("seats", np.int8, (MAX_DECK,)),
        ("num_played", np.int16),
        ("num_passed", np.int16),
        # this trick
        ("in_trick", np.int8),
        ("led", np.int8),  # suit led, −1 before the lead
        ("best_card", np.int8),
        ("best_seat", np.int8),
        # whose turn
        ("phase", np.int8),
        ("dealer", np.int8),
        ("turn", np.int8),
    ]
)
"""One table. Fields by seat have room for ``MAX_SEATS``; the rest of them stays 0."""

RULES: Final = _record(
    [
        ("seats", np.int64),
        ("pass_count", np.int64),
        ("pass_to", np.int64),  # relative seat that gets a seat's cards
        ("deck_size", np.int64),
        ("deck", np.int8, (MAX_DECK,)),
        ("penalties", np.int16, (NUM_CARDS,)),
        ("match_points", np.int64),
        # not of the game but of the environment
        ("reward", np.int64),  # index in REWARDS
        ("whole_match", np.bool_),  # an episode is a match
    ]
)

_BIT = np.array([1 << card for card in range(NUM_CARDS)], np.int64)
_SUIT = np.array([0x1FFF << 13 * suit for suit in range(4)], np.int64)
_U64 = np.uint64
_DEAL, _CHOICE = _U64(0x6D61726961), _U64(0x626C61636B)  # separate streams of one seed


_PLAIN_PYTHON = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]


def kernel(function: Any) -> Any:
    """Compile with numba; in plain Python, let integers wrap around as they do in machine code."""
    if _PLAIN_PYTHON:
        return np.errstate(over="ignore")(function)
    return numba.njit(cache=True, nogil=True, error_model="numpy")(function)


def inlined(function: Any) -> Any:
    """A kernel whose body is pasted into its callers: a call with arrays costs some 10 ns."""
    if _PLAIN_PYTHON:
        return np.errstate(over="ignore")(function)
    return numba.njit(cache=True, nogil=True, error_model="numpy", inline="always")(function)


# --- randomness: pure functions of their arguments --------------------------------------------


@kernel
def mix(x):
    """Scramble 64 bits: the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014)."""
    x = (x ^ (x >> _U64(30))) * _U64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> _U64(27))) * _U64(0x94D049BB133111EB)
    return x ^ (x >> _U64(31))


@kernel
def combine(key, value):
    """A new 64-bit key from a key and a number."""
    return mix((key ^ _U64(value)) * _U64(0x9E3779B97F4A7C15) + _U64(0xD1B54A32D192ED03))


@kernel
def shuffle(seed, table, hand, rules, deck):
    """Fill ``deck`` with the shuffled pack of (seed, table, hand); return a first dealer."""
    size = rules.deck_size
    deck[:size] = rules.deck[:size]
    key = combine(combine(combine(_DEAL, seed), table), hand)
    for left in range(size, 1, -1):
        other = np.int64(combine(key, left) % _U64(left))
        last = left - 1
        deck[last], deck[other] = deck[other], deck[last]
    return np.int64(combine(key, 0) % _U64(rules.seats))


@kernel
def choice_key(state):
    """The randomness of the decision at hand: a hash of (seed, table, hand, seat, ply)."""
    key = combine(combine(combine(_CHOICE, state.seed), state.table), state.hand)
    return combine(combine(key, state.turn), state.num_passed + state.num_played)


# --- card sets --------------------------------------------------------------------------------


@inlined
def put(planes, card):
    """Add a card to a set."""
    bit = _BIT[card]
    planes[1] |= planes[0] & bit
    planes[0] |= bit


@inlined
def drop(planes, card):
    """Take one copy of a card out of a set."""
    bit = _BIT[card]
    twin = planes[1] & bit
    planes[0] ^= bit ^ twin
    planes[1] ^= twin


@kernel
def add_counts(planes, counts):
    """Add a set to counts a card, (52,)."""
    for card in range(NUM_CARDS):
        counts[card] += (planes[0] >> card & 1) + (planes[1] >> card & 1)


# --- the rules --------------------------------------------------------------------------------


@kernel
def begin(state, rules, deck, dealer):
    """Deal ``deck`` out, one card at a time from seat 0, and start the hand.

    A shuffled pack may be dealt from any seat: who deals moves no card, so the cards of
    (seed, table, hand) don't depend on what was played before.
    """
    state.holding[:] = 0
    state.given[:] = 0
    state.captured[:] = 0
    state.penalties[:] = 0
    state.num_played = 0
    state.num_passed = 0
    state.in_trick = 0
    state.led = -1
    state.dealer = dealer
    for k in range(rules.deck_size):
        put(state.holding[k % rules.seats], deck[k])
    state.phase = PASSING if rules.pass_count else PLAYING
    state.turn = (dealer + 1) % rules.seats
    state.legal = legal(state)


@inlined
def legal(state):
    """The plane of cards that the seat to move may pass or play."""
    if state.phase == OVER:
        return np.int64(0)
    held = state.holding[state.turn, 0]
    if state.led >= 0:
        following = held & _SUIT[state.led]
        if following:
            return following
    return held


@inlined
def apply(state, rules, card):
    """Pass or play a legal card for the seat to move; return the trick's taker, or −1."""
    taker = -1
    if state.phase == PASSING:
        pass_card(state, rules, card)
    else:
        taker = play_card(state, rules, card)
    state.legal = legal(state)
    return taker


@kernel
def pass_card(state, rules, card):
    """Set a card aside for the neighbour; after the last one all seats pick theirs up."""
    seat = state.turn
    drop(state.holding[seat], card)
    put(state.given[seat], card)
    state.num_passed += 1
    if state.num_passed % rules.pass_count == 0:
        state.turn = (seat + 1) % rules.seats
    if state.num_passed == rules.pass_count * rules.seats:
        for giver in range(rules.seats):
            planes = state.given[giver]
            receiver = (giver + rules.pass_to) % rules.seats
            for k in range(NUM_CARDS):
                for _ in range((planes[0] >> k & 1) + (planes[1] >> k & 1)):
                    put(state.holding[receiver], k)
        state.phase = PLAYING


@inlined
def play_card(state, rules, card):
    """Play a card to the trick; return who takes the trick if that completes it, or −1."""
    seat = state.turn
    suit = card // 13
    drop(state.holding[seat], card)
    state.cards[state.num_played] = card
    state.seats[state.num_played] = seat
    state.num_played += 1
    state.in_trick += 1
    if state.led < 0:
        state.led = suit
        state.best_card = card
        state.best_seat = seat
    elif suit == state.led and card > state.best_card:
        state.best_card = card
        state.best_seat = seat
    if state.in_trick < rules.seats:
        state.turn = (seat + 1) % rules.seats
        return -1
    return take_trick(state, rules)


@inlined
def take_trick(state, rules):
    """Give the full trick to the highest card of the suit led; its taker leads next."""
    taker = np.int64(state.best_seat)
    for k in range(state.num_played - state.in_trick, state.num_played):
        put(state.captured[taker], state.cards[k])
        state.penalties[taker] += rules.penalties[state.cards[k]]
    state.in_trick = 0
    state.led = -1
    state.turn = taker
    if state.num_played == rules.deck_size:
        state.phase = OVER
        for seat in range(rules.seats):
            state.totals[seat] += state.penalties[seat]
    return taker


@inlined
def match_over(state, rules):
    """Whether the hand just finished was the match's last."""
    return max(state.totals[: rules.seats]) >= rules.match_points


@kernel
def win_shares(state, rules, shares):
    """Split 1 among the seats with the lowest total; ``shares``: (seats,)."""
    lowest = min(state.totals[: rules.seats])
    winners = 0
    for seat in range(rules.seats):
        winners += state.totals[seat] == lowest
    for seat in range(rules.seats):
        shares[seat] = 1.0 / winners if state.totals[seat] == lowest else 0.0


# --- what each seat sees: `views` (seats, F), updated as cards move ---------------------------


@kernel
def show_hand(views, at, state, rules):
    """Write every seat's view of a hand that has just begun."""
    for observer in range(rules.seats):
        view = views[observer]
        view[:] = 0
        add_counts(state.holding[observer], view[at.holding : at.holding + NUM_CARDS])
        view[at.phase + state.phase] = 1
        view[at.position] = 1
        view[at.dealer + (state.dealer - observer) % rules.seats] = 1
        view[at.pass_to + (rules.pass_to if rules.pass_count else 0)] = 1
        show_totals(view, at, state, rules, observer)


@kernel
def show_totals(view, at, state, rules, observer):
    """Write the match totals, clipped to int8."""
    for seat in range(rules.seats):
        total = min(max(state.totals[seat], -128), 127)
        view[at.totals + (seat - observer) % rules.seats] = total


@kernel
def show_passed(views, at, state, rules, seat, card):
    """A seat has picked a card to pass; if it was the last of all, the pass has happened."""
    views[seat, at.holding + card] -= 1
    views[seat, at.passed + card] += 1
    if state.phase == PASSING:
        return
    for giver in range(rules.seats):
        view = views[(giver + rules.pass_to) % rules.seats]
        add_counts(state.given[giver], view[at.holding : at.holding + NUM_CARDS])
        add_counts(state.given[giver], view[at.received : at.received + NUM_CARDS])
    for observer in range(rules.seats):
        views[observer, at.phase + PASSING] = 0
        views[observer, at.phase + PLAYING] = 1


@inlined
def show_played(views, at, state, rules, seat, card, taker):
    """A seat has played a card, and perhaps a trick is taken."""
    # offsets are read once: every write to a view makes the compiler load them again
    played, trick, captured = at.played, at.trick, at.captured
    seats, suit = rules.seats, card // 13
    first = state.num_played - (seats if taker >= 0 else state.in_trick)
    led = state.cards[first] // 13
    suit_led, voids = at.led + led, at.voids + led
    on_table = at.position + state.num_played - first  # where the view says so many cards

    views[seat, at.holding + card] -= 1
    by_seat, by_taker = seat, taker  # as the observer counts: one less for each next observer
    for observer in range(seats):
        views[observer, played + NUM_CARDS * by_seat + card] += 1
        if suit != led:
            views[observer, voids + 4 * by_seat] = 1
        views[observer, on_table - 1] = 0
        if taker < 0:
            views[observer, trick + NUM_CARDS * by_seat + card] += 1
            views[observer, suit_led] = 1
            views[observer, on_table] = 1
        else:
            for k in range(first, first + seats):
                for by in range(seats):
                    views[observer, trick + NUM_CARDS * by + state.cards[k]] = 0
                views[observer, captured + NUM_CARDS * by_taker + state.cards[k]] += 1
            views[observer, suit_led] = 0
            views[observer, on_table - seats] = 1
            by_taker = by_taker - 1 if by_taker else seats - 1
        by_seat = by_seat - 1 if by_seat else seats - 1
    if state.phase == OVER:
        for observer in range(seats):
            views[observer, at.phase + PLAYING] = 0
            show_totals(views[observer], at, state, rules, observer)


@kernel
def write_history(state, rules, observer, history):
    """What a seat saw of this hand, in order, as rows (kind, relative seat, card) int8.

    Kind 0: a card I gave and to whom; 1: a card I received and from whom; both sorted by
    card. Kind 2: a card played and by whom. The rest of ``history`` is −1.
    """
    history[:] = -1
    row = 0
    pass_to = rules.pass_to
    come_from = (rules.seats - pass_to) % rules.seats
    row = write_cards(state.given[observer], 0, pass_to, history, row)
    if state.phase != PASSING:
        giver = (observer + come_from) % rules.seats
        row = write_cards(state.given[giver], 1, come_from, history, row)
    for k in range(state.num_played):
        history[row, 0] = 2
        history[row, 1] = (state.seats[k] - observer) % rules.seats
        history[row, 2] = state.cards[k]
        row += 1


@kernel
def write_cards(planes, kind, by_seat, history, row):
    """Append a set's cards, sorted, to a history; return the next row."""
    for card in range(NUM_CARDS):
        for _ in range((planes[0] >> card & 1) + (planes[1] >> card & 1)):
            history[row, 0] = kind
            history[row, 1] = by_seat
            history[row, 2] = card
            row += 1
    return row


# --- whole steps: state, views and rewards together ----------------------------------------------


@kernel
def new_hand(state, views, rules, at, hand, dealer):
    """Deal hand number ``hand``; a dealer of −1 starts a new episode, dealer drawn, totals 0."""
    deck = np.empty(MAX_DECK, np.int8)
    first_dealer = shuffle(state.seed, state.table, hand, rules, deck)
    if dealer < 0:
        dealer = first_dealer
        state.totals[:] = 0
    state.hand = hand
    begin(state, rules, deck, dealer)
    show_hand(views, at, state, rules)


@inlined
def advance(state, views, rules, at, card, rewards):
    """Pass or play a legal card; return whether the episode is over.

    Writes ``rewards`` (seats,). After the hand the state's phase is ``OVER``, whether or not
    a match goes on; the caller deals.
    """
    seats = rules.seats
    seat = np.int64(state.turn)  # int8 would overflow in plain Python
    for k in range(seats):
        rewards[k] = state.penalties[k]
    if state.phase == PASSING:
        apply(state, rules, card)
        show_passed(views, at, state, rules, seat, card)
    else:
        taker = apply(state, rules, card)
        show_played(views, at, state, rules, seat, card, taker)
    hand_over = state.phase == OVER
    over = hand_over and (not rules.whole_match or match_over(state, rules))

    if rules.reward == _MATCH:
        rewards[:seats] = 0
        if over:
            win_shares(state, rules, rewards)
    elif rules.reward == _HAND:
        for k in range(seats):
            rewards[k] = -state.penalties[k] if hand_over else 0
    else:
        for k in range(seats):
            rewards[k] -= state.penalties[k]
        if rules.reward == _RELATIVE:
            mean = rewards[:seats].sum() / (seats - 1)
            for k in range(seats):  # own − others' mean, with others = all − own
                rewards[k] += rewards[k] / (seats - 1) - mean
    return over


@inlined
def write_mask(plane, mask):
    """Spread a plane of cards over ``mask`` (52,), 1 where a card may be chosen."""
    for card in range(NUM_CARDS):
        mask[card] = plane >> card & 1


@kernel
def step_one(states, views, rules, at, card, rewards, mask):
    """``advance`` table 0 and deal on within a match.

    Returns (seat to move, episode over, hand over, whether any reward is not 0).
    """
    state = states[0]
    over = advance(state, views, rules[0], at[0], card, rewards)
    hand_over = state.phase == OVER
    if hand_over and not over:
        dealer = (state.dealer + 1) % rules[0].seats
        new_hand(state, views, rules[0], at[0], state.hand + 1, dealer)
    write_mask(state.legal, mask)
    scored = False
    for k in range(rules[0].seats):
        scored = scored or rewards[k] != 0
    return state.turn, over, hand_over, scored


@kernel
def find_illegal(states, actions):
    """The first table whose action isn't legal, or −1."""
    for i in range(len(states)):
        card = actions[i]
        if card < 0 or card >= NUM_CARDS or not states[i].legal & _BIT[card]:
            return i
    return -1


@kernel
def step_tables(states, views, rules, at, actions, rewards, done, observation, mask, seat):
    """``advance`` every table by a legal action, deal on where a hand is over, and observe."""
    for i in range(len(states)):
        state = states[i]
        over = advance(state, views[i], rules[0], at[0], actions[i], rewards[i])
        done[i] = over
        if state.phase == OVER:
            dealer = -1 if over else (state.dealer + 1) % rules[0].seats
            new_hand(state, views[i], rules[0], at[0], state.hand + 1, dealer)
        observe_table(state, views[i], observation[i], mask[i], seat, i)


@kernel
def observe_tables(states, views, observation, mask, seat):
    """Write the acting seats' views, masks and seat numbers."""
    for i in range(len(states)):
        observe_table(states[i], views[i], observation[i], mask[i], seat, i)


@inlined
def observe_table(state, views, observation, mask, seat, i):
    """Write the acting seat's view, mask and seat number of one table."""
    turn = state.turn
    for k in range(len(observation)):  # a loop is 14 times faster here than a slice assignment
        observation[k] = views[turn, k]
    write_mask(state.legal, mask)
    seat[i] = state.turn


@kernel
def deal_tables(states, views, rules, at):
    """Start the first hand of a new episode at every table."""
    for i in range(len(states)):
        new_hand(states[i], views[i], rules[0], at[0], states[i].hand, -1)


@kernel
def start_one(states, views, rules, at, deck, dealer):
    """Start a hand at table 0 from a given deck order; totals stay."""
    begin(states[0], rules[0], deck, dealer)
    show_hand(views, at[0], states[0], rules[0])


@kernel
def choice_keys(states, keys):
    """Write every table's ``choice_key``."""
    for i in range(len(states)):
        keys[i] = choice_key(states[i])


@kernel
def write_histories(states, rules, history):
    """Write the acting seats' histories, (tables, rows, 3)."""
    for i in range(len(states)):
        write_history(states[i], rules[0], states[i].turn, history[i])


# --- at the border: plain Python --------------------------------------------------------------


@lru_cache
def rules_record(rules: Rules, reward: str = "trick", episode: str = "hand") -> NDArray[Any]:
    """The rules, and what an environment makes of them, as kernels read it: one record.

    Raises:
        ValueError: An unknown reward or episode, or ``reward="match"`` for a single hand.
    """
    for name, value, options in (("reward", reward, REWARDS), ("episode", episode, EPISODES)):
        if value not in options:
            raise ValueError(f"{name}={value!r}: choose from {', '.join(map(repr, options))}")
    if reward == "match" and episode == "hand":
        raise ValueError("reward='match' is for episode='match': a single hand has no winner")
    record = np.zeros(1, RULES)
    record["seats"] = rules.seats
    record["pass_count"] = rules.pass_count
    record["pass_to"] = PASS_DIRECTIONS[rules.pass_direction] % rules.seats
    record["deck_size"] = len(rules.deck)
    record["deck"][0, : len(rules.deck)] = rules.deck
    record["penalties"] = rules.penalties
    record["match_points"] = rules.match_points
    record["reward"] = REWARDS.index(reward)
    record["whole_match"] = episode == "match"
    return record


def check_seed(seed: SupportsIndex) -> int:
    """A seed as an int.

    Raises:
        ValueError: It isn't an integer from 0 to 2⁶⁴ − 1.
    """
    try:
        number = seed.__index__()
    except (AttributeError, TypeError):
        raise ValueError(f"a seed is an integer, not {seed!r}") from None
    if not 0 <= number < 2**64:
        raise ValueError(f"a seed lies in 0 … 2**64 - 1, not {number}")
    return number


def _check_number(number: SupportsIndex) -> np.int64:
    if not hasattr(number, "__index__") or not 0 <= number.__index__() < 2**63:
        raise ValueError(f"tables and hands are numbered from 0, not {number!r}")
    return np.int64(number.__index__())


class Deal(NamedTuple):
    """A hand as dealt, before passing."""

    cards: NDArray[np.int8]
    """(seats, hand_size) int8, each seat's card ids ascending."""
    dealer: int
    """The dealer if the hand is the first of a match."""


def deal(
    seed: SupportsIndex, table: int = 0, hand: int = 0, rules: str | Rules = "three_player"
) -> Deal:
    """The deal of (seed, table, hand): a pure function, whatever else is drawn or played.

    Args:
        seed: 0 … 2⁶⁴ − 1.
        table: The table's number; a single environment is table 0.
        hand: How many hands were dealt at that table since it was seeded.
        rules: A profile's name or rules.

    Raises:
        ValueError: An impossible seed or number, or an unknown profile.
    """
    rules = as_rules(rules)
    state = np.zeros(1, STATE)[0]
    deck = np.zeros(MAX_DECK, np.int8)
    record = rules_record(rules)[0]
    key = np.uint64(check_seed(seed)), *(_check_number(number) for number in (table, hand))
    dealer = shuffle(*key, record, deck)
    begin(state, record, deck, dealer)
    cards = [cards_of(state.holding[seat]) for seat in range(rules.seats)]
    return Deal(np.array(cards, np.int8), int(dealer))


def deck_order(deal: Sequence[str | Sequence[str | int]], rules: Rules) -> NDArray[np.int8]:
    """The deck that deals ``deal`` out: what ``begin`` takes.

    Args:
        deal: The cards of each seat, by name or id.
        rules: The rules that the deal must fit.

    Raises:
        ValueError: It isn't a partition of the pack into equal holdings; names the card.
    """
    if len(deal) != rules.seats:
        raise ValueError(f"a deal lists the cards of {rules.seats} seats, not of {len(deal)}")
    holdings = [parse_cards(cards) for cards in deal]
    owner: dict[int, int] = {}
    for seat, cards in enumerate(holdings):
        for card in cards:
            if card not in rules.deck:
                raise ValueError(f"seat {seat} can't hold {card_name(card)}: not in the pack")
            if card in owner:
                where = (
                    f"twice at seat {seat}"
                    if owner[card] == seat
                    else (f"at seats {owner[card]} and {seat}")
                )
                raise ValueError(f"the deal has {card_name(card)} {where}")
            owner[card] = seat
    for seat, cards in enumerate(holdings):
        if len(cards) != rules.hand_size:
            missing = card_names(card for card in rules.deck if card not in owner)
            raise ValueError(
                f"seat {seat} is dealt {len(cards)} cards instead of {rules.hand_size}"
                + (f"; nobody holds {missing}" if missing else "")
            )
    deck = np.zeros(MAX_DECK, np.int8)
    for k in range(len(rules.deck)):
        deck[k] = holdings[k % rules.seats][k // rules.seats]
    return deck


def cards_of(planes: NDArray[np.int64]) -> list[int]:
    """The card ids of a set, ascending, twins twice."""
    counts = np.zeros(NUM_CARDS, np.int64)
    add_counts(planes, counts)
    return [int(card) for card in np.repeat(np.arange(NUM_CARDS), counts)]


def illegal_reason(state: Any, card: int) -> str:
    """Why the seat to move may not choose a card, naming seat, card and clause."""
    if not 0 <= card < NUM_CARDS:
        return f"seat {state.turn}: action {card} is not a card (0 … 51)"
    verb = "pass" if state.phase == PASSING else "play"
    if not int(state.holding[state.turn, 0]) >> card & 1:
        why = f"it holds {card_names(cards_of(state.holding[state.turn]))}"
    else:
        suit = SUIT_NAMES[state.led]
        options = [card for card in range(NUM_CARDS) if int(state.legal) >> card & 1]
        why = f"it must follow suit, {suit}, and holds {card_names(options)}"
    return f"seat {state.turn} may not {verb} {card_name(card)}: {why}"
