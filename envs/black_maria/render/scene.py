"""What a table looks like: all that is drawn of it, as data.

``Scene.of(state, rules)`` says what there is to see, all cards open or as one seat knows them.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from black_maria.cards import DIAMONDS, HEARTS
from black_maria.engine import OVER, PASSING, cards_of
from black_maria.rules import Rules

RED_SUITS: Final = (DIAMONDS, HEARTS)
DEFAULT_SIZE: Final = (600, 450)
"""Width and height of a picture in pixels."""


def agent_name(seat: int) -> str:
    """A seat's PettingZoo id, ``player_0`` and so on."""
    return f"player_{seat}"


# --- what is drawn ----------------------------------------------------------------------------


class Cards(NamedTuple):
    """Cards in one place, some of which may lie face down."""

    known: tuple[int, ...] = ()
    """Ids of those that the viewer knows."""
    hidden: int = 0
    """How many others there are."""


class Play(NamedTuple):
    """A card on the table and who played it."""

    seat: int
    card: int


@dataclass(frozen=True)
class Place:
    """One seat of a ``Scene``."""

    name: str
    holding: Cards
    picked: Cards
    """Cards set aside to pass, while the passing lasts."""
    captured: tuple[int, ...]
    """Cards taken that have a penalty or a bonus."""
    penalties: int
    """Penalty points of this hand so far."""
    total: int
    """Match points so far."""
    dealer: bool
    to_move: bool
    absent: bool
    """Has no part in a play-off."""
    winner: bool
    """Has won the match, or shares the win."""


@dataclass(frozen=True)
class Scene:
    """All that is drawn of a table. Two scenes are equal if they look the same."""

    rules: str
    """The rules' name."""
    stage: str
    """``"passing to the right"``, ``"trick 3 of 17"``, ``"hand over"`` …"""
    places: tuple[Place, ...]
    """By seat."""
    trick: tuple[Play, ...]
    """The cards of this trick, in order."""
    cancelled: tuple[Play, ...]
    """Cards of earlier tricks that nobody has taken yet."""
    last: tuple[Play, ...]
    """The cards that were taken last, shown until the next trick is led to."""
    taker: int | None
    """Who took them."""
    kitty: Cards
    """Cards that didn't deal out evenly, until the first trick's taker gets them."""
    viewer: int | None
    """Whose knowledge it is, None: all cards are open."""

    @staticmethod
    def of(state: Any, rules: Rules, seat: int | None = None) -> "Scene":
        """What there is to see at a table.

        Args:
            state: An ``engine.STATE`` record.
            rules: The rules that it is played by.
            seat: Show what this seat knows: its own cards, those that it passed and that
                aren't played yet, and what lies open; None shows all cards.

        Raises:
            ValueError: There is no such seat, or no hand has been dealt.
        """
        if seat is not None and seat not in range(rules.seats):
            raise ValueError(f"seat={seat!r}: seats are 0 … {rules.seats - 1}, None shows all")
        if not state.num_playing:
            raise ValueError("no hand has been dealt at this table: reset it first")
        played, first = int(state.num_played), int(state.num_played) - int(state.in_trick)
        pile = int(state.pile_start)
        resting = played and not state.in_trick and first == pile  # the last trick was taken
        kitty = cards_of(state.kitty) if state.last_taker < 0 else []
        return Scene(
            rules=rules.name,
            stage=_stage(state, rules),
            places=tuple(_place(state, rules, k, seat) for k in range(rules.seats)),
            trick=_plays(state, first, played),
            cancelled=_plays(state, pile, first),
            last=_plays(state, int(state.taken_from), played) if resting else (),
            taker=int(state.last_taker) if resting else None,
            kitty=Cards(tuple(kitty)) if seat is None else Cards((), len(kitty)),
            viewer=None if seat is None else int(seat),
        )


def _stage(state: Any, rules: Rules) -> str:
    """What is going on, in a few words."""
    playing = int(state.num_playing)
    if state.phase == OVER:
        return "match over" if state.winners else "hand over"
    match = "play-off, " if state.playoff else ""
    if state.phase == PASSING:
        steps = int(state.pass_steps)
        where = {1: "to the left", playing - 1: "to the right"} if playing > 2 else {}
        return f"{match}passing {where.get(steps, 'across')}"
    trick, tricks = int(state.num_played) // playing + 1, int(state.to_play) // playing
    return f"{match}trick {trick} of {tricks}"


def _place(state: Any, rules: Rules, seat: int, viewer: int | None) -> Place:
    over, passing = bool(state.phase == OVER), bool(state.phase == PASSING)
    plays = bool(int(state.playing) >> seat & 1)
    return Place(
        name=agent_name(seat),
        holding=_seen(cards_of(state.holding[seat]), _known(state, rules, seat, viewer)),
        picked=_seen(
            cards_of(state.given[seat]) if passing else [],
            None if viewer in (None, seat) else Counter(),
        ),
        captured=tuple(card for card in cards_of(state.captured[seat]) if rules.penalties[card]),
        penalties=int(state.penalties[seat]),
        total=int(state.totals[seat]),
        dealer=bool(seat == state.dealer),
        to_move=bool(not over and seat == state.turn),
        absent=not plays,
        winner=bool(int(state.winners) >> seat & 1),
    )


def _seen(cards: list[int], known: Counter[int] | None) -> Cards:
    """The cards as somebody sees them who knows only some of them; None: all."""
    if known is None:
        return Cards(tuple(cards))
    return Cards(tuple(sorted(known.elements())), len(cards) - known.total())


def _known(state: Any, rules: Rules, seat: int, viewer: int | None) -> Counter[int] | None:
    """Which cards in a seat's holding the viewer knows; None: all of them."""
    if viewer in (None, seat):
        return None
    playing = [k for k in range(rules.seats) if int(state.playing) >> k & 1]
    if state.phase != PASSING and viewer in playing and seat in playing and state.pass_steps:
        receiver = playing[(playing.index(viewer) + int(state.pass_steps)) % len(playing)]
        if seat == receiver:  # of twins, the one that was passed may be the one played
            plays = _plays(state, 0, int(state.num_played))
            played = Counter(card for by, card in plays if by == seat)
            return Counter(cards_of(state.given[viewer])) - played
    return Counter()


def _plays(state: Any, start: int, stop: int) -> tuple[Play, ...]:
    """Some of the cards played, in order."""
    seats, cards = state.seats[start:stop].tolist(), state.cards[start:stop].tolist()
    return tuple(Play(seat, card) for seat, card in zip(seats, cards, strict=True))
