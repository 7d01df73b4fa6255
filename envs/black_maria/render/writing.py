"""A scene as text for a terminal, and as HTML for a notebook."""

import re
from collections.abc import Iterable
from html import escape
from typing import Any

from black_maria.cards import SUIT_SYMBOLS, card_name, card_names, parse_cards, suit_of
from black_maria.render.scene import RED_SUITS, Cards, Place, Play, Scene, agent_name

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
