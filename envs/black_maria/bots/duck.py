"""``duck``: plays under what is winning when it can.

A yardstick, fixed for good, so that results measured against it stay comparable.
"""

from typing import Final

from black_maria.cards import HEARTS, NUM_CARDS, NUM_RANKS, parse_card
from black_maria.kernels import inlined, kernel

_QUEEN, _KING, _ACE = (parse_card(name) for name in ("QS", "KS", "AS"))
_NO_CARD: Final = -1


@inlined
def duck_danger(card):
    """How much duck wants to be rid of a card."""
    if card == _QUEEN:
        return 103.0
    if card == _KING:
        return 102.0
    if card == _ACE:
        return 101.0
    return card % NUM_RANKS + (1.5 if card // NUM_RANKS == HEARTS else 0.0)


@inlined
def duck_lead_cost(card):
    """How little duck wants to lead a card."""
    cost = card % NUM_RANKS
    if card // NUM_RANKS == HEARTS:
        cost += 4
    if card in (_QUEEN, _KING, _ACE):
        cost += 30
    return cost


@kernel
def duck_throw(mask):
    """The most dangerous legal card, to pass or to throw on another suit."""
    best, most = _NO_CARD, -1.0
    for card in range(NUM_CARDS):
        if mask[card] and duck_danger(card) > most:
            best, most = card, duck_danger(card)
    return best


@kernel
def duck_lead(mask):
    """The legal card that costs least to lead."""
    best, least = _NO_CARD, 1000
    for card in range(NUM_CARDS):
        if mask[card] and duck_lead_cost(card) < least:
            best, least = card, duck_lead_cost(card)
    return best


@kernel
def duck_follow(mask, winning, last, penalties):
    """Under the winning card with the most points, or over it as cheaply as can be."""
    under, most = _NO_CARD, -1000
    for card in range(winning):
        if mask[card] and penalties[card] >= most:
            under, most = card, penalties[card]
    if under != _NO_CARD:
        return under
    cheap = False
    for card in range(NUM_CARDS):
        if mask[card] and penalties[card] < 5:
            cheap = True
    best = _NO_CARD
    for card in range(NUM_CARDS):
        if mask[card] and (penalties[card] < 5 or not cheap) and (last or best == _NO_CARD):
            best = card
    return best


@kernel
def winning_card(observation, at, seats):
    """The highest card of the suit led on the table, or −1 before the lead."""
    for suit in range(4):
        if observation[at.led + suit]:
            for card in range(NUM_RANKS * suit + NUM_RANKS - 1, NUM_RANKS * suit - 1, -1):
                for seat in range(seats):
                    if observation[at.trick + NUM_CARDS * seat + card]:
                        return card
    return _NO_CARD


@kernel
def duck_kernel(observation, mask, keys, rules, at, actions):
    """The yardstick."""
    at = at[0]
    seats, penalties = rules[0].seats, rules[0].penalties
    for i in range(len(mask)):
        winning = winning_card(observation[i], at, seats)
        if observation[i, at.phase]:
            actions[i] = duck_throw(mask[i])
        elif winning == _NO_CARD:
            actions[i] = duck_lead(mask[i])
        elif mask[i, NUM_RANKS * (winning // NUM_RANKS) :][:NUM_RANKS].any():
            last = observation[i, at.position + seats - 1] == 1
            actions[i] = duck_follow(mask[i], winning, last, penalties)
        else:
            actions[i] = duck_throw(mask[i])
