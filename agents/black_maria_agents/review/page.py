"""A review as one web page that needs nothing from outside.

``review.js`` and ``table.js`` show what ``data_of`` says. All text that comes from files is put
into the page as data, which no browser reads as markup, and the page allows no script but its own.
"""

import base64
import hashlib
import string
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from black_maria import engine
from black_maria.cards import NUM_RANKS, SPADES, SUIT_SYMBOLS, card_name, parse_card
from black_maria.render import Scene, agent_name
from black_maria_agents.page import SCRIPT, STYLE, embedded, state_of
from black_maria_agents.review.reviewing import Review, ReviewedHand
from black_maria_agents.review.rows import PHASES, Decision
from black_maria_agents.review.totals import DEAREST, Loss, chairs, dearest, losses, player
from black_maria_agents.review.words import sentence_of

_FOLDER: Final = Path(__file__).parent
_NOTED: Final = tuple(parse_card(name) for name in ("QS", "KS", "AS"))


def page_of(review: Review, title: str = "hands") -> str:
    """The page, as the text of an HTML file.

    Args:
        review: What is shown.
        title: Where the hands are from; any text.
    """
    script = SCRIPT + _read("review.js")
    style = STYLE + _read("review.css")
    return string.Template(_read("page.html")).substitute(
        title=escape(title),
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
        data=embedded(data_of(review, title)),
    )


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def data_of(review: Review, title: str = "hands") -> dict[str, Any]:
    """All that the page shows, as JSON has it; ``review.js`` says what its parts are."""
    return {
        "title": title,
        "agent": review.agent,
        "worlds": review.worlds,
        "seed": review.seed,
        "phases": list(PHASES),
        "noted": [card_name(card) for card in _NOTED] + list(SUIT_SYMBOLS),
        "damages": [list(damage) for damage in review.damages],
        "leftOut": review.left_out,
        "hands": [_hand(hand) for hand in review.hands],
        "players": _players(review.decisions),
        "dearest": _dearest(review.decisions),
    }


def _hand(reviewed: ReviewedHand) -> dict[str, Any]:
    """A hand: its tables step by step, its decisions by ply, its totals."""
    hand, rules = reviewed.hand, reviewed.hand.rules
    names = hand.agents or tuple(agent_name(seat) for seat in range(rules.seats))
    states = [state.copy() for state in hand.steps()]
    scenes = [state_of(Scene.of(state, rules), names) for state in states]
    record = engine.rules_record(rules)[0]
    passed = any(hand.passes)
    moves = [[int(state.turn), card] for state, card in zip(states, hand.actions(), strict=False)]
    return {
        "line": reviewed.line,
        "rules": rules.name,
        "varies": rules.total_varies,
        "names": list(names),
        "passes": [list(cards) for cards in hand.passes],
        "receivers": [
            int(engine.receiver(states[0], record, seat)) if passed and hand.passes[seat] else -1
            for seat in range(rules.seats)
        ],
        "start": scenes[0],
        "steps": [_changes(before, after) for before, after in pairwise(scenes)],
        "moves": moves,
        "decisions": {
            row.ply: _decision(row, states[row.ply], rules.penalties) for row in reviewed.decisions
        },
        "penalties": list(hand.penalties),
        "losses": [
            _losses([row for row in reviewed.decisions if row.seat == seat])
            for seat in range(rules.seats)
        ],
        "dearest": _dearest(reviewed.decisions),
    }


def _changes(before: Any, after: Any, path: str = "") -> dict[str, Any]:
    """What is new in the later of two scenes, by path: ``{"places.1.penalties": 13}``."""
    if before == after:
        return {}
    if isinstance(after, dict):
        pairs = [(key, before[key], after[key]) for key in after]
    elif path == "places":
        pairs = [(str(k), *both) for k, both in enumerate(zip(before, after, strict=True))]
    else:
        return {path: after}
    found: dict[str, Any] = {}
    for key, old, new in pairs:
        found |= _changes(old, new, f"{path}.{key}" if path else key)
    return found


def _decision(row: Decision, state: Any, penalties: tuple[int, ...]) -> dict[str, Any]:
    sentence = sentence_of(row, state, penalties)
    return {
        "phase": PHASES.index(row.phase),
        "kind": row.kind,
        "trick": row.trick,
        "best": row.best,
        "regret": _round(row.regret),
        "error": _round(row.error),
        "dear": row.dear,
        "cost": _round(row.cost, 1),
        "words": sentence.text if sentence else "",
        "options": [
            [
                option.card,
                _round(option.policy, 3),
                _round(option.difference),
                _round(option.error),
                _round(option.risk) if row.trick else None,
                option.equal,
            ]
            for option in row.options
        ],
        "holds": [
            [_round(float(held[card])) for card in _NOTED]
            + [
                _round(float(held[NUM_RANKS * suit : NUM_RANKS * (suit + 1)].sum()), 1)
                for suit in range(SPADES + 1)
            ]
            for held in row.holds
        ],
    }


def _round(number: float, places: int = 2) -> float:
    """A number that is short in JSON, and never −0."""
    rounded = round(number, places) + 0.0
    return int(rounded) if rounded == int(rounded) else rounded


def _losses(rows: Sequence[Decision], hands: int = 1) -> list[list[float]]:
    """Points and standard error a hand by phase, and of all phases together."""
    found = losses(rows)
    phases = [found.get(phase, Loss(0.0, 0.0, 0)) for phase in PHASES]
    phases.append(losses(rows, lambda row: "all").get("all", Loss(0.0, 0.0, 0)))
    return [[_round(loss.points / hands), _round(loss.error / hands)] for loss in phases]


def _players(rows: Sequence[Decision]) -> list[dict[str, Any]]:
    """By player: in how many chairs, and what was lost in a hand."""
    return [
        {
            "name": name,
            "chairs": count,
            "losses": _losses([row for row in rows if player(row) == name], count),
        }
        for name, count in chairs(rows).items()
    ]


def _dearest(rows: Sequence[Decision]) -> list[list[int]]:
    """[hand, ply] of the dearest decisions."""
    return [[row.hand, row.ply] for row in dearest(rows, DEAREST)]
