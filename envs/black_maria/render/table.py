"""A table drawn in one step, from its record."""

import os
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from black_maria.render import picture
from black_maria.render.scene import DEFAULT_SIZE, Scene
from black_maria.render.writing import Html, html, text
from black_maria.rules import Rules


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
    return picture.draw(Scene.of(state, rules, seat), size)


def shown(scene: Scene, mode: str) -> str | NDArray[np.uint8]:
    """A scene as a render mode has it: ``"ansi"`` text, else a picture.

    The text is coloured on a terminal, unless ``NO_COLOR`` is set.
    """
    if mode == "ansi":
        terminal = sys.stdout is not None and sys.stdout.isatty()
        return text(scene, colour=terminal and not os.environ.get("NO_COLOR"))
    return picture.draw(scene)
