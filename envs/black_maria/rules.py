"""The rules as data: one frozen dataclass, one field a clause.

Sources, named in each field's docstring:

* *Three-player page*: the British three-player game, 51 cards, 43 points a hand. It is
  the default of everything here.

A named set of clauses is a *profile*: ``Rules.profile("three_player")``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from black_maria.cards import (
    HEARTS,
    NUM_CARDS,
    card_name,
    card_names,
    parse_card,
    parse_cards,
    suit_of,
)

PASS_DIRECTIONS: Final = {"left": 1, "right": -1}
"""Where a pass goes: name → relative seat of the receiver, clockwise (before ``% seats``)."""


def penalty_points(*, hearts: int, **cards: int) -> tuple[int, ...]:
    """A penalty for each of the 52 card ids.

    Args:
        hearts: Points of every heart that isn't named itself.
        **cards: Points of single cards by name: ``QS=13``.
    """
    points = [hearts if suit_of(card) == HEARTS else 0 for card in range(NUM_CARDS)]
    for name, value in cards.items():
        points[parse_card(name)] = value
    return tuple(points)


@dataclass(frozen=True)
class Rules:
    """One way to play Black Maria. Every field is a clause; the defaults are ``three_player``.

    Raises:
        ValueError: The clauses contradict each other; the message says which and how.
    """

    name: str = "three_player"
    """The profile's name, for messages and files."""

    seats: int = 3
    """Players at the table, 3 to 6. Three-player page, 02 "Pack, deal and pass"."""

    removed: tuple[int, ...] = (parse_card("2C"),)
    """Card ids taken out of the 52 before dealing. Three-player page, 02: 2♣, for 51 cards."""

    pass_count: int = 3
    """Cards that each seat gives away before play. Three-player page, 02: three."""

    pass_direction: str = "right"
    """Whom a seat gives them to, ``"left"`` or ``"right"``, the same in every hand.
    Three-player page, 02: right, never alternated, never skipped."""

    penalties: tuple[int, ...] = penalty_points(hearts=1, QS=13, KS=10, AS=7)
    """Penalty points of each card id, (52,), ≥ 0 and bad.
    Three-player page, 04 "Penalties and finish": ♥ 1 each, Q♠ 13, K♠ 10, A♠ 7."""

    match_points: int = 100
    """A match ends after the hand in which a total reaches this many points; the lowest
    total wins and equal lowest totals share the win. Three-player page, 04."""

    def __post_init__(self) -> None:
        """Read cards given by name; refuse clauses that contradict each other."""
        object.__setattr__(self, "removed", tuple(parse_cards(self.removed)))
        object.__setattr__(self, "penalties", tuple(self.penalties))
        if self.seats not in range(3, 7):
            raise ValueError(f"seats={self.seats}: Black Maria is for 3 to 6 players")
        if len(set(self.removed)) != len(self.removed):
            raise ValueError(f"removed: {card_names(self.removed)} names a card twice")
        if len(self.deck) % self.seats:
            raise ValueError(
                f"{len(self.deck)} cards don't deal out evenly to {self.seats} seats: "
                f"remove {len(self.deck) % self.seats} more"
            )
        if not 0 <= self.pass_count <= self.hand_size:
            raise ValueError(f"pass_count={self.pass_count}: a holding has {self.hand_size} cards")
        if self.pass_direction not in PASS_DIRECTIONS:
            raise ValueError(
                f"pass_direction={self.pass_direction!r}: choose from {', '.join(PASS_DIRECTIONS)}"
            )
        if len(self.penalties) != NUM_CARDS or min(self.penalties) < 0:
            raise ValueError(f"penalties must be {NUM_CARDS} numbers ≥ 0, one for each card id")
        for card in self.removed:
            if self.penalties[card]:
                raise ValueError(f"{card_name(card)} counts points but is removed from the pack")
        if self.match_points < 1:
            raise ValueError(f"match_points={self.match_points}: a match needs at least 1")

    @cached_property
    def deck(self) -> tuple[int, ...]:
        """The card ids that are dealt, ascending."""
        return tuple(card for card in range(NUM_CARDS) if card not in self.removed)

    @property
    def hand_size(self) -> int:
        """Cards a seat is dealt, and tricks in a hand."""
        return len(self.deck) // self.seats

    @property
    def hand_points(self) -> int:
        """Penalty points that fall in every hand."""
        return sum(self.penalties)

    @property
    def par(self) -> float:
        """Penalty points a hand of a player as good as the others: ``hand_points / seats``."""
        return self.hand_points / self.seats

    @property
    def plies(self) -> int:
        """Decisions in a hand: every card passed and every card played."""
        return self.seats * (self.pass_count + self.hand_size)

    def replace(self, **changes: Any) -> "Rules":
        """The same rules with some clauses changed."""
        return replace(self, **changes)

    @staticmethod
    def profile(name: str) -> "Rules":
        """The rules of a profile.

        Raises:
            ValueError: There is no profile of that name.
        """
        if name not in PROFILES:
            raise ValueError(f"no profile {name!r}; there are: {', '.join(PROFILES)}")
        return PROFILES[name]


PROFILES: Final[Mapping[str, Rules]] = {rules.name: rules for rules in (Rules(),)}
"""The named profiles."""


def as_rules(rules: str | Rules) -> Rules:
    """Rules from a profile's name, or the given ones.

    Raises:
        ValueError: There is no profile of that name.
        TypeError: It is neither a name nor ``Rules``.
    """
    if isinstance(rules, Rules):
        return rules
    if isinstance(rules, str):
        return Rules.profile(rules)
    raise TypeError(f"rules must be a profile's name or Rules, not {type(rules).__name__}")
