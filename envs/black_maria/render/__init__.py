"""What a table looks like: one ``Scene``, and it written as text, as HTML or as a picture.

``Scene.of(state, rules)`` says what is to be drawn; ``text`` and ``html`` write it.
``table_text``, ``table_html`` and ``draw`` (which needs pygame) do both at once; ``hand_html``
draws any cards.
"""

from black_maria.render.scene import Play, Scene, agent_name
from black_maria.render.table import draw, shown, table_html, table_text
from black_maria.render.writing import Html, hand_html, html, text

__all__ = [
    "Html", "Play", "Scene", "agent_name", "draw", "hand_html", "html", "shown", "table_html",
    "table_text", "text",
]  # fmt: skip
