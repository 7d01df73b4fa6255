"""Several rules for one environment: every episode draws its own.

``rules=["three_player", "face_value"]`` draws of these, ``rules="mixed"`` house rules
(``rulesets.draw``); what an episode draws is a function of its (seed, hand) alone. A text and a
list go through ``env.spec.to_json()`` as they are.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from black_maria.cards import NUM_CARDS
from black_maria.given import items, shown
from black_maria.rules import Rules, RulesGiven, as_rules
from black_maria.rules_vector import rules_vector
from black_maria.rulesets import MOST_PASSED, SEATS, draw
from black_maria.tables import history_rows

MIXED: Final = "mixed"
"""House rules of three seats; ``"mixed:seats=4"`` of four."""
_MOST: Final = 10_000  # rules in a list
_KEPT: Final = 2048  # rules of which drawing and vector are remembered

RulesToDraw: TypeAlias = RulesGiven | Sequence[RulesGiven]
"""How an environment's rules are given: one set, several of equal seats, or ``"mixed"``."""


@dataclass(frozen=True)
class Mixed:
    """Rules of equal seats, of which every episode draws its own."""

    seats: int
    sets: tuple[Rules, ...] = ()
    """The rules to draw of, all equally likely; (): house rules, new ones for every episode."""

    def of(self, seed: int, hand: int) -> Rules:
        """The rules of the episode that begins with this hand of a seed."""
        if not self.sets:
            return _house_rules(int(seed), int(hand), self.seats)
        number = np.random.SeedSequence((int(seed), int(hand))).generate_state(1, np.uint64)[0]
        return self.sets[int(number) % len(self.sets)]

    @cached_property
    def widest(self) -> Rules:
        """Rules whose packs are as many as any's: what they let a seat see has room for all."""
        return max(self.sets or [self.of(0, 0)], key=lambda rules: rules.packs)


def as_mixed(rules: RulesToDraw) -> Mixed | None:
    """The rules that episodes draw of; None where one set is given.

    Raises:
        ValueError: Seats that house rules aren't drawn for, seats that aren't equal, no rules.
        TypeError: One of several is no rules.
    """
    if isinstance(rules, str):
        family, _, options = rules.partition(":")
        return Mixed(_seats(rules, options)) if family == MIXED else None
    if isinstance(rules, Rules) or (given := items(rules, _MOST, ordered=True)) is None:
        return None
    sets = tuple(map(as_rules, given))
    if not 1 <= len(sets) <= _MOST:
        raise ValueError(f"rules={shown(rules)}: a list has 1 to {_MOST:,} sets of rules")
    for each in sets:
        if each.seats != sets[0].seats:
            raise ValueError(
                f"rules: {sets[0].name!r} is for {sets[0].seats} seats and {each.name!r} for "
                f"{each.seats}: those of one environment have equal seats"
            )
    return Mixed(sets[0].seats, sets)


def _seats(text: str, options: str) -> int:
    """What ``"mixed:seats=4"`` says of the seats; three where it says nothing."""
    if text == MIXED:
        return SEATS[0]
    seats = {f"seats={seats}": seats for seats in SEATS}
    if options not in seats:
        fit = ", ".join(f"'{MIXED}:{option}'" for option in seats)
        raise ValueError(f"rules={shown(text)}: house rules are '{MIXED}' or {fit}")
    return seats[options]


@lru_cache(_KEPT)
def _house_rules(seed: int, hand: int, seats: int) -> Rules:
    return draw((seed, hand), seats)


@lru_cache(_KEPT)
def vector_of(rules: Rules) -> NDArray[np.float32]:
    """``rules_vector``, remembered; read-only."""
    vector = rules_vector(rules)
    vector.flags.writeable = False
    return vector


def history_shape(rules: Rules, mixed: Mixed | None) -> tuple[int, int]:
    """The shape of a history that has room for every episode's."""
    if mixed and not mixed.sets:
        return 2 * MOST_PASSED + NUM_CARDS, 3
    return max(map(history_rows, mixed.sets if mixed else [rules])), 3


def places_of(rules: Iterable[Rules]) -> list[list[int]]:
    """Where the same rules stand, place after place; the same by identity, which is quick."""
    places: dict[int, list[int]] = {}
    for place, each in enumerate(rules):
        places.setdefault(id(each), []).append(place)
    return list(places.values())


def flattened(observation: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """An observation without mask: the vector alone, or with the rules' behind it, as float32."""
    vector = observation["observation"]
    if "rules" not in observation:
        return vector
    return np.concatenate([vector, observation["rules"]], axis=-1)
