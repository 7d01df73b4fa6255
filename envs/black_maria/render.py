"""What a table looks like: one ``Scene``, and it written as text, as HTML or as a picture.

``Scene.of(state, rules)`` says what is to be drawn, all cards open or as one seat knows them;
from that alone ``text``, ``html`` and ``picture.draw`` (which needs pygame) write it.
``table_text``, ``table_html`` and ``draw`` do both at once; ``hand_html`` draws any cards.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from black_maria.cards import (
    DIAMONDS,
    HEARTS,
    SUIT_SYMBOLS,
    card_name,
    card_names,
    parse_cards,
    suit_of,
)
from black_maria.engine import OVER, PASSING, cards_of
from black_maria.rules import Rules

__all__ = ["Html", "Scene", "draw", "hand_html", "html", "table_html", "table_text", "text"]

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


# --- as text ----------------------------------------------------------------------------------

_RED = re.compile(r"(?:10|[2-9JQKA])[♦♥]|[♦♥](?: (?:10|[2-9JQKA])\b)+")


def text(scene: Scene, *, colour: bool = False) -> str:
    """A scene as lines of text.

    Args:
        scene: What to write.
        colour: With a terminal's escape codes: red suits, the seat to move bold.
    """
    lines = [f"{scene.rules}, {scene.stage}"]
    if scene.viewer is not None:
        lines[0] += f", as {agent_name(scene.viewer)} sees it"
    lines.append(f"  {'':<12}{'total':>5}{'hand':>6}  captured penalties, holding")
    for place in scene.places:
        lines.append(
            f"{'>' if place.to_move else ' '} {place.name:<9}{'(D)' if place.dealer else '':<3}"
            f"{place.total:>5}{place.penalties:>6}  {card_names(place.captured) or '–'}"
            f"{'  wins' if place.winner else ''}"
        )
        holding = "sits out" if place.absent else _with_hidden(_by_suit, place.holding)
        lines.append(f"  {'':<25}{holding}")
        if any(place.picked):
            lines.append(f"  {'':<25}passes {_with_hidden(card_names, place.picked)}")
    lines.append(f"trick: {_words(scene.trick)}")
    if scene.cancelled:
        lines.append(f"cancelled, still on the table: {_words(scene.cancelled)}")
    if any(scene.kitty):
        lines.append(f"for the first taker: {_with_hidden(card_names, scene.kitty)}")
    if scene.taker is not None:
        lines.append(f"taken by {agent_name(scene.taker)}: {_words(scene.last)}")
    if colour:
        lines = [_RED.sub("\x1b[31m\\g<0>\x1b[39m", line) for line in lines]
        lines = [f"\x1b[1m{line}\x1b[22m" if line[0] == ">" else line for line in lines]
    return "\n".join(lines)


def _words(plays: Iterable[Play]) -> str:
    return "  ".join(f"{agent_name(seat)} {card_name(card)}" for seat, card in plays) or "–"


def _with_hidden(write: Any, cards: Cards) -> str:
    parts = [write(cards.known)] if cards.known else []
    if cards.hidden:
        parts.append(f"{cards.hidden} unseen")
    return " + ".join(parts) or "–"


def _suits(cards: Iterable[int]) -> list[tuple[int, ...]]:
    """Cards suit by suit, without the suits that are missing."""
    cards = sorted(cards)
    suits = (tuple(card for card in cards if suit_of(card) == suit) for suit in range(4))
    return [suit for suit in suits if suit]


def _by_suit(cards: Iterable[int]) -> str:
    """``"♣ 3 10 A  ♥ 2"``: a holding, suit by suit."""
    return "  ".join(
        " ".join([SUIT_SYMBOLS[suit_of(suit[0])], *(card_name(card)[:-1] for card in suit)])
        for suit in _suits(cards)
    )


# --- as HTML ----------------------------------------------------------------------------------


class Html(str):
    """HTML that a notebook shows as such."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


_FELT = (
    "box-sizing:border-box;max-width:1000px;background:#17573b;color:#f4f1e6;"
    "border:3px solid #4a3020;border-radius:12px;padding:10px 16px;"
    "font:13px/1.6 system-ui,sans-serif;text-align:left"
)
_FACE = (
    "display:inline-block;box-sizing:border-box;min-width:2.1em;margin:1px;padding:0 .2em;"
    "border-radius:4px;text-align:center;font-weight:600;white-space:nowrap;"
    "box-shadow:0 1px 2px rgba(0,0,0,.5);"
)
_CHIP = "padding:0 .4em;border-radius:1em;background:#f4f1e6;color:#17573b;font-size:85%"
_MUTED, _GOLD = "color:#b9d3c3", "color:#ffd866"


def html(scene: Scene) -> Html:
    """A scene as HTML that needs nothing from outside, for notebooks light and dark."""
    seen = "" if scene.viewer is None else f", as {agent_name(scene.viewer)} sees it"
    cells = [_cell(name, _MUTED) for name in ("", "total", "hand", "holding", "captured")]
    for place in scene.places:
        cells += _row(place)
    below = [("trick", _plays_html(scene.trick))]
    if scene.cancelled:
        below.append(("cancelled, still on the table", _plays_html(scene.cancelled)))
    if any(scene.kitty):
        below.append(("for the first taker", _cards_html(scene.kitty)))
    if scene.taker is not None:
        below.append((f"taken by {agent_name(scene.taker)}", _plays_html(scene.last)))
    return Html(
        f'<div style="{_FELT}">'
        f"<div><b>{escape(scene.rules)}</b>, {escape(scene.stage + seen)}</div>"
        '<div style="display:grid;grid-template-columns:repeat(3,max-content) 1fr auto;'
        f'column-gap:14px;align-items:center">{"".join(cells)}</div>'
        + "".join(f'<div><span style="{_MUTED}">{a}:</span> {b}</div>' for a, b in below)
        + "</div>"
    )


def hand_html(cards: str | Iterable[Any], title: str = "") -> Html:
    """A hand of cards as HTML, sorted by suit.

    Args:
        cards: ``"QS 4H"`` or any sequence of names and ids.
        title: A line above them.

    Raises:
        ValueError: One of them is no card.
    """
    drawn = _cards_html(Cards(tuple(parse_cards(cards))))
    head = f"<div>{escape(title)}</div>" if title else ""
    return Html(f'<div style="display:inline-block;{_FELT}">{head}{drawn}</div>')


def _row(place: Place) -> list[str]:
    """The cells of one seat's line."""
    marks = f' <b style="{_CHIP}" title="dealer">D</b>' if place.dealer else ""
    marks += f' <b style="{_GOLD}">wins</b>' if place.winner else ""
    name = f"<b>▸ {place.name}</b>" if place.to_move else f"&#8194; {place.name}"
    holding = "sits out" if place.absent else _cards_html(place.holding)
    if any(place.picked):
        holding += f' <span style="{_GOLD}">passes</span> {_cards_html(place.picked)}'
    return [
        _cell(name + marks, "white-space:nowrap;" + (_GOLD if place.to_move else "")),
        _cell(str(place.total), "text-align:right"),
        _cell(str(place.penalties), "text-align:right"),
        _cell(holding),
        _cell(_cards_html(Cards(place.captured))),
    ]


def _cell(content: str, style: str = "") -> str:
    return f'<div style="{style}">{content}</div>'


def _cards_html(cards: Cards) -> str:
    parts = [f"<span>{''.join(map(_face, suit))}</span>" for suit in _suits(cards.known)]
    if cards.hidden:
        back = f"{_FACE}background:#2f4b8f;color:#dfe7ff"
        parts.append(f'<span style="{back}" title="unseen">{cards.hidden} ×</span>')
    return " ".join(parts) or "–"


def _face(card: int) -> str:
    ink = "#c4161c" if suit_of(card) in RED_SUITS else "#1b1b1b"
    # a variation selector: browsers would draw some suits as emoji
    return f'<span style="{_FACE}background:#fffdf7;color:{ink}">{card_name(card)}&#xFE0E;</span>'


def _plays_html(plays: Iterable[Play]) -> str:
    return " &#8194; ".join(f"{agent_name(seat)} {_face(card)}" for seat, card in plays) or "–"


# --- from a state in one step -----------------------------------------------------------------


def table_text(state: Any, rules: Rules, seat: int | None = None, *, colour: bool = False) -> str:
    """A table as text; the arguments are those of ``Scene.of`` and ``text``."""
    return text(Scene.of(state, rules, seat), colour=colour)


def table_html(state: Any, rules: Rules, seat: int | None = None) -> Html:
    """A table as HTML; the arguments are those of ``Scene.of``."""
    return html(Scene.of(state, rules, seat))


def draw(
    state: Any, rules: Rules, seat: int | None = None, size: tuple[int, int] = DEFAULT_SIZE
) -> NDArray[np.uint8]:
    """A table as a picture, (height, width, 3) uint8.

    Args:
        state: An ``engine.STATE`` record.
        rules: The rules that it is played by.
        seat: Show what this seat knows; None shows all cards.
        size: Width and height in pixels.

    Raises:
        gymnasium.error.DependencyNotInstalled: pygame is missing.
        ValueError: An impossible seat or size, or no hand has been dealt.
    """
    from black_maria import picture

    return picture.draw(Scene.of(state, rules, seat), size)
