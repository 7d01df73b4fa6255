"""What a page is made of: the table's script and style as text, scenes as JSON."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from black_maria.render import Play, Scene

_FOLDER: Final = Path(__file__).parent
SCRIPT: Final = (_FOLDER / "table.js").read_text(encoding="utf-8")
"""``table.js``: defines ``BlackMaria``; its first comment is the contract."""
STYLE: Final = (_FOLDER / "table.css").read_text(encoding="utf-8")
"""``table.css``; all its class names begin with ``bm-``."""


def state_of(scene: Scene, names: Sequence[str] = ()) -> dict[str, Any]:
    """A scene as the object that ``BlackMaria.draw`` takes.

    Args:
        scene: What is to be drawn.
        names: Of the seats, instead of ``player_0`` and so on.
    """
    return {
        "stage": scene.stage,
        "near": scene.viewer or 0,
        "places": [
            {
                "name": names[seat] if names else place.name,
                "holding": list(place.holding.known),
                "hidden": place.holding.hidden,
                "picked": list(place.picked.known),
                "pickedHidden": place.picked.hidden,
                "captured": list(place.captured),
                "penalties": place.penalties,
                "total": place.total,
                "dealer": place.dealer,
                "toMove": place.to_move,
                "absent": place.absent,
                "winner": place.winner,
            }
            for seat, place in enumerate(scene.places)
        ],
        "trick": _pairs(scene.trick),
        "last": _pairs(scene.last),
        "taker": scene.taker,
        "cancelled": _pairs(scene.cancelled),
        "kitty": list(scene.kitty.known),
        "kittyHidden": scene.kitty.hidden,
    }


def _pairs(plays: Sequence[Play]) -> list[list[int]]:
    return [[play.seat, play.card] for play in plays]


def embedded(value: Any) -> str:
    """JSON that can stand inside a ``<script>`` element: nothing in it ends the element.

    Keys in their order, no blanks, so that the same value is the same text.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
