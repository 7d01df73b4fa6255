"""Rule-of-thumb players, batched: they see an observation and its mask, nothing else.

* ``random``: any legal card, all equally likely.
* ``duck``: a yardstick that never changes; it plays under what is winning when it can.
* ``heuristic``: counts cards and weighs what each one costs now and later; ``heuristic.py``.

``make_bot("duck").act(obs, keys)`` chooses a card for every row of a batch.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from black_maria.cards import HEARTS, NUM_CARDS, NUM_RANKS, parse_card
from black_maria.engine import inlined, kernel, rules_record
from black_maria.heuristic import heuristic_kernel
from black_maria.layout import Layout, layout_of
from black_maria.rules import Rules, as_rules

_QUEEN, _KING, _ACE = (parse_card(name) for name in ("QS", "KS", "AS"))
_NO_CARD = -1


class Bot:
    """A batched rule-of-thumb player.

    Attributes:
        name: ``"random"``, ``"duck"`` …
        rules: The rules it plays by.
    """

    def __init__(self, name: str, rules: Rules) -> None:
        """Look the player's kernel up; ``make_bot`` checks the name."""
        self.name = name
        self.rules = rules
        self._kernel = _KERNELS[name]
        self._layout = layout_of(rules)
        self._record = rules_record(rules)

    def __reduce__(self) -> tuple[Callable[..., "Bot"], tuple[str, Rules]]:
        """Pickle by name: another process finds its own compiled kernel."""
        return make_bot, (self.name, self.rules)

    def act(
        self, obs: Mapping[str, NDArray[np.int8]], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Choose a card for every row.

        Args:
            obs: ``"observation"`` (B, F) int8 and ``"action_mask"`` (B, 52) int8.
            keys: (B,) uint64, each row's own randomness.

        Returns:
            Legal card ids, (B,) int64.

        Raises:
            ValueError: Wrong shapes or dtypes, or a row without a legal card.
        """
        observation, mask = check_batch(obs, keys, self._layout)
        actions = np.empty(len(keys), np.int64)
        self._kernel(observation, mask, keys, self._record, self._layout.record, actions)
        return actions


def make_bot(name: str, rules: str | Rules = "three_player") -> Bot:
    """The player of that name.

    Raises:
        ValueError: There is no such player, or no such profile.
    """
    if name not in BOTS:
        raise ValueError(f"no bot {name!r}; there are: {', '.join(BOTS)}")
    return Bot(name, as_rules(rules))


def check_batch(
    obs: Mapping[str, NDArray[np.int8]], keys: NDArray[np.uint64], layout: Layout
) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """The observation (B, F) and mask (B, 52) of a batch, checked.

    Raises:
        ValueError: Wrong shapes or dtypes, or a row without a legal card; says what fits.
    """
    observation, mask = np.asarray(obs["observation"]), np.asarray(obs["action_mask"])
    keys = np.atleast_1d(keys)
    batch = len(keys)
    for name, array, shape, dtype in (
        ("observation", observation, (batch, layout.size), np.int8),
        ("action_mask", mask, (batch, NUM_CARDS), np.int8),
        ("keys", keys, (batch,), np.uint64),
    ):
        if array.shape != shape or array.dtype != dtype:
            raise ValueError(
                f"{name} must be {np.dtype(dtype)} {shape}, not {array.dtype} {array.shape}"
            )
    if (row := first_bad_mask(mask)) >= 0:
        what = "isn't 0 and 1" if mask[row].any() else "has no legal card: not that seat's turn"
        raise ValueError(f"row {row} of action_mask {what}")
    return observation, mask


@kernel
def first_bad_mask(mask):
    """The first row that isn't made of 0 and at least one 1, or −1."""
    for i in range(len(mask)):
        values = 0
        for card in range(NUM_CARDS):
            values |= mask[i, card]
        if values != 1:
            return i
    return -1


@kernel
def random_kernel(observation, mask, keys, rules, at, actions):
    """Any legal card."""
    for i in range(len(mask)):
        legal = 0
        for card in range(NUM_CARDS):
            legal += mask[i, card]
        left = np.int64(keys[i] % np.uint64(legal))
        card = 0
        left -= mask[i, 0]
        while left >= 0:
            card += 1
            left -= mask[i, card]
        actions[i] = card


# --- duck: fixed for good, so that results measured against it stay comparable ----------------


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


_KERNELS: Final[Mapping[str, Callable[..., Any]]] = {
    "random": random_kernel,
    "duck": duck_kernel,
    "heuristic": heuristic_kernel,
}
BOTS: Final = tuple(_KERNELS)
"""The players' names."""
