"""The rules as data: one frozen dataclass, one field a clause.

Sources, named in each field's docstring:

* *Three-player page*: the British three-player game, 51 cards, 43 points a hand. It is the
  default of everything here.
* *3–6 player book*: the French book with options and variants; two packs for 6 to 10.

A named set of clauses is a *profile*: ``Rules.profile("traditional", seats=5)``. No code asks
for a profile by name: what a profile does is what its fields say.

A field's annotation says what it takes (``clauses``); what can't stand together is refused by
``contradictions``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, Final, TypeAlias

from black_maria.cards import (
    HEARTS,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SUITS,
    parse_card,
    rank_of,
    suit_of,
)
from black_maria.clauses import Card, Cards, Kind, OneOf, Points, Several, Whole, kinds_of
from black_maria.contradictions import MAX_HANDS, MAX_MATCH_POINTS, contradictions
from black_maria.given import shown

PASS_DIRECTIONS: Final = ("none", "left", "right", "across")
"""Where a pass may go, clockwise being left; ``"none"``: nobody passes in that hand."""

MOONS: Final = ("none", "subtract", "others")
"""What taking every penalty card does: nothing special; the points are subtracted from the
taker's total instead of added; or the others get them instead."""

MAX_CYCLE: Final = 16
"""Directions that fit in a pass cycle."""


def penalty_points(*, hearts: int, **cards: int) -> tuple[int, ...]:
    """A penalty for each of the 52 card ids.

    Args:
        hearts: Points of every heart that isn't named itself.
        **cards: Points of single cards by name: ``QS=13``, ``TD=-10``.
    """
    points = [hearts if suit_of(card) == HEARTS else 0 for card in range(NUM_CARDS)]
    for name, value in cards.items():
        points[parse_card(name)] = value
    return tuple(points)


def twos_removed(seats: int) -> tuple[int, ...]:
    """The twos, ♣ ♦ ♥ ♠ in turn, that must go for 52 cards to deal out evenly.

    3–6 player book, "Jeu de cartes": 2♣ with three seats, with five two twos (♣ and ♦ by
    custom: the book's symbols are lost), with six all four. With nine, who play but a tie off
    with one pack, three threes go after them.
    """
    over = range(NUM_CARDS % seats)
    return tuple(NUM_RANKS * (k % NUM_SUITS) + k // NUM_SUITS for k in over)


@dataclass(frozen=True)
class Rules:
    """One way to play Black Maria. Every field is a clause; the defaults are ``three_player``.

    Frozen and hashable; equal where the content is, however it was given: cards by name or id
    in any order, lists or arrays, NumPy's numbers or Python's.

    A match that these rules allow comes to an end whatever is played, but for two clauses of the
    book: where a moon is subtracted from the totals, or ties are played off, it lasts for as long
    as the players shoot or tie; some play ends it all the same.

    Raises:
        ValueError: A clause isn't of its kind, or two contradict each other; the message names
            the clause and says what is right.
    """

    name: str = "three_player"
    """The profile's name, for messages and files."""

    seats: Annotated[int, Whole(3, 10)] = 3
    """Players at the table. Three-player page, 02 "Pack, deal and pass": 3. 3–6 player book,
    "Joueurs": 3 to 6, and from 6 to 10 with two packs, "Cancellation"."""

    packs: Annotated[int, Whole(1, 2)] = 1
    """Packs of 52, 1 or 2. With two, identical cards in a trick cancel each other, and the
    highest card of the suit led that is left wins; if none is, the cards stay on the table
    for the next trick's winner and the same seat leads again. Cards that don't deal out
    evenly go face down to the first trick's winner. 3–6 player book, "Cancellation"."""

    removed: Annotated[tuple[int, ...], Cards()] = twos_removed(3)
    """Cards taken out of each pack before dealing, ids or names. Three-player page, 02: 2♣,
    for 51 cards. 3–6 player book, "Jeu de cartes"."""

    pass_count: Annotated[int, Whole(0, NUM_CARDS)] = 3
    """Cards that each seat gives away before play. Three-player page, 02, and 3–6 player
    book, "Mise en place": three."""

    pass_cycle: Annotated[tuple[str, ...], Several(PASS_DIRECTIONS, MAX_CYCLE)] = ("right",)
    """Where they go, hand by hand in turn; names from ``PASS_DIRECTIONS``. Three-player page,
    02: right, never alternated, never skipped. 3–6 player book, "Rotation du passage"."""

    kept: Annotated[tuple[int, ...], Cards()] = ()
    """Cards that may not be passed, ids or names. 3–6 player book, "Dirty Lady": Q♠."""

    break_hearts: bool = False
    """Hearts may be led only once one was discarded on another suit, or by a seat that holds
    nothing else. 3–6 player book, "Cœurs rompus"; the three-player page, 03, has no such
    clause."""

    opening_card: Annotated[int, Card()] | None = None
    """The card whose holder must lead it to the first trick, an id or a name; None: dealer's
    left leads what it likes. 3–6 player book, "Divergence du Hearts américain": 2♣."""

    first_trick_ban: Annotated[tuple[int, ...], Cards()] = ()
    """Cards that may not be played to the first trick unless nothing else can be, ids or
    names. American Hearts: hearts and Q♠; the three-player page, 03, rules a ban out."""

    penalties: Annotated[tuple[int, ...], Points(998)] = penalty_points(
        hearts=1, QS=13, KS=10, AS=7
    )
    """Penalty points of each card id, (52,); a bonus is negative. Three-player page, 04
    "Penalties and finish": ♥ 1 each, Q♠ 13, K♠ 10, A♠ 7."""

    moon: Annotated[str, OneOf(MOONS)] = "none"
    """What taking every card with a positive penalty does; a name from ``MOONS``.
    Three-player page, FAQ: nothing. 3–6 player book, "Viser la lune": an option."""

    hands: Annotated[int, Whole(1, MAX_HANDS)] | None = None
    """A match lasts this many hands, the same number for each dealer; None: by points.
    3–6 player book, "Durée fixe de la partie"."""

    match_points: Annotated[int, Whole(1, MAX_MATCH_POINTS)] | None = 100
    """A match ends after the hand in which a total reaches this many points; None: by hands.
    Three-player page, 04: 100."""

    exceed: bool = False
    """The total must exceed ``match_points``, not just reach it. 3–6 player book, "Fin
    variable par seuil": exceed; the three-player page, 04: reach."""

    playoff: bool = False
    """Seats that tie for the lowest total play hands among themselves, with one pack, until one
    takes the fewest points; otherwise they share the win. 3–6 player book, "Départage": played
    off; three-player page, 04: shared."""

    def __post_init__(self) -> None:
        """Give every clause the form of its kind; refuse what can't be."""
        object.__setattr__(self, "name", CLAUSES["name"].read(self.name, "name"))
        try:
            for clause, kind in CLAUSES.items():
                object.__setattr__(self, clause, kind.read(getattr(self, clause), clause))
            for wrong in contradictions(self):
                raise ValueError(wrong)
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from None

    @cached_property
    def deck(self) -> tuple[int, ...]:
        """The card ids that are dealt, ascending, twins twice."""
        cards = (card for card in range(NUM_CARDS) if card not in self.removed)
        return tuple(card for card in cards for _ in range(self.packs))

    def playoff_deck(self, playing: int) -> tuple[int, ...]:
        """The card ids that so many seats play a tie off with, ascending: always one pack."""
        if playing == self.seats and self.packs == 1:
            return self.deck
        removed = twos_removed(playing)
        return tuple(card for card in range(NUM_CARDS) if card not in removed)

    @property
    def hand_size(self) -> int:
        """Cards a seat is dealt, and tricks in a hand."""
        return len(self.deck) // self.seats

    @property
    def hand_points(self) -> int:
        """Penalty points that fall in a hand in which nobody shoots the moon."""
        return sum(self.penalties[card] for card in self.deck)

    @property
    def par(self) -> float:
        """Penalty points a hand of a player as good as the others: ``hand_points / seats``."""
        return self.hand_points / self.seats

    @property
    def total_varies(self) -> bool:
        """Whether the points of a hand differ from hand to hand: a moon may be shot."""
        return self.moon != "none"

    def plies(self, hand: int = 0) -> int:
        """Decisions in a hand of that number: every card passed and every card played."""
        passes = self.pass_cycle[hand % len(self.pass_cycle)] != "none"
        return self.seats * (self.pass_count * passes + self.hand_size)

    @property
    def most_plies(self) -> int:
        """Decisions in the longest hand."""
        return max(self.plies(hand) for hand in range(len(self.pass_cycle)))

    def replace(self, **changes: Any) -> "Rules":
        """The same rules with some clauses changed."""
        return replace(self, **changes)

    @staticmethod
    def profile(name: str, seats: int | None = None, **changes: Any) -> "Rules":
        """The rules of a profile.

        Args:
            name: One of ``PROFILES``.
            seats: How many play, where the profile leaves it open.
            **changes: Clauses to change: ``moon="subtract"``.

        Raises:
            ValueError: There is no profile of that name, or not for so many seats, or the
                changes contradict it.
        """
        if not isinstance(name, str) or name not in PROFILES:
            raise ValueError(f"no profile {shown(name)}; there are: {', '.join(PROFILES)}")
        choices, make = PROFILES[name]
        if seats is None:
            seats = choices[0]
        seats = CLAUSES["seats"].read(seats, f"profile {name!r}, seats")
        if seats not in choices:
            fit = " or ".join(map(str, choices))
            raise ValueError(f"profile {name!r} is for {fit} seats, not {seats}")
        return replace(make(seats), **changes)


CLAUSES: Final[Mapping[str, Kind]] = kinds_of(Rules)
"""The fields of ``Rules`` in their order, and the kind of each."""


def _four_player(seats: int) -> Rules:
    return Rules("four_player", seats, removed=twos_removed(seats))


def _hearts_and_queen(seats: int) -> Rules:
    return Rules("hearts_and_queen", seats, penalties=penalty_points(hearts=1, QS=13))


def _face_value(seats: int) -> Rules:
    faces = [rank_of(card) + 2 if suit_of(card) == HEARTS else 0 for card in range(NUM_CARDS)]
    spades = penalty_points(hearts=0, QS=13, KS=10, AS=7)
    penalties = tuple(face + spade for face, spade in zip(faces, spades, strict=True))
    return Rules("face_value", seats, penalties=penalties, match_points=500)


def _traditional(seats: int) -> Rules:
    return Rules(
        "traditional",
        seats,
        removed=twos_removed(seats),
        break_hearts=True,
        hands={3: 9, 5: 15}.get(seats, 12),
        match_points=None,
        exceed=True,
        playoff=True,
    )


def _variant(name: str, **changes: Any) -> Callable[[int], Rules]:
    """A variant of the 3–6 player book."""
    return lambda seats: _traditional(seats).replace(name=name, **changes)


def _rotating_pass(seats: int) -> Rules:
    across = ("across",) if seats % 2 == 0 else ()
    cycle = ("right", "left", *across, "none")
    return _variant("rotating_pass", pass_cycle=cycle)(seats)


def _american_hearts(seats: int) -> Rules:
    return Rules(
        "american_hearts",
        seats,
        removed=(),
        pass_cycle=("left", "right", "across", "none"),
        break_hearts=True,
        opening_card=parse_card("2C"),
        first_trick_ban=(*range(HEARTS * NUM_RANKS, HEARTS * NUM_RANKS + NUM_RANKS), 49),
        penalties=penalty_points(hearts=1, QS=13),
        moon="others",
    )


def _cancellation(seats: int) -> Rules:
    return Rules(
        "cancellation",
        seats,
        packs=2,
        removed=(),
        break_hearts=True,
        hands=12 if seats == 6 else seats,
        match_points=None,
        exceed=True,
        playoff=True,
    )


PROFILES: Final[Mapping[str, tuple[tuple[int, ...], Callable[[int], Rules]]]] = {
    "three_player": ((3,), lambda seats: Rules(seats=seats)),
    "four_player": ((4,), _four_player),
    "hearts_and_queen": ((3,), _hearts_and_queen),
    "face_value": ((3,), _face_value),
    "traditional": ((3, 4, 5, 6), _traditional),
    "dirty_lady": (
        (3, 4, 5, 6),
        _variant(
            "dirty_lady",
            pass_cycle=("left",),
            kept=(parse_card("QS"),),
            penalties=penalty_points(hearts=1, AH=5, KH=4, QH=3, JH=2, QS=13),
            moon="subtract",
        ),
    ),
    "slippery_anne": (
        (3, 4, 5, 6),
        _variant("slippery_anne", break_hearts=False, penalties=penalty_points(hearts=0, QS=13)),
    ),
    "omnibus": (
        (3, 4, 5, 6),
        _variant("omnibus", penalties=penalty_points(hearts=1, QS=13, KS=10, AS=7, JD=-10)),
    ),
    "rotating_pass": ((4, 3, 5, 6), _rotating_pass),
    "american_hearts": ((4,), _american_hearts),
    "cancellation": ((6, 7, 8, 9, 10), _cancellation),
}
"""The named profiles: for how many seats, the default first, and their rules."""


RulesGiven: TypeAlias = str | Rules | Mapping[str, Any]
"""How rules are given: a profile's name, ``Rules``, or clauses by name as JSON has them."""


def as_rules(rules: RulesGiven) -> Rules:
    """Rules from a profile's name, the given ones, or those of a mapping of clauses.

    ``as_rules(dataclasses.asdict(rules)) == rules``, also once JSON has made lists of tuples.
    Clauses that a mapping lacks are the defaults of ``Rules``.

    Raises:
        ValueError: There is no profile of that name, or no clause, or the clauses can't be.
        TypeError: It is none of these.
    """
    if isinstance(rules, Rules):
        return rules
    if isinstance(rules, str):
        return Rules.profile(rules)
    if isinstance(rules, Mapping):
        for name in rules:
            if name not in CLAUSES:
                raise ValueError(f"rules: no clause {shown(name)}; there are: {', '.join(CLAUSES)}")
        return Rules(**rules)
    raise TypeError(
        f"rules must be a profile's name, Rules or a mapping of clauses, not {type(rules).__name__}"
    )
