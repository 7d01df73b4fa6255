"""A ``render.Scene`` as a picture; needs pygame.

The layout is computed in units, 600 across or 450 down, whichever the picture has less room
for; it is drawn at twice the size and scaled down, which smooths it. Suits are shapes and text
is in the font that comes with pygame, so that pictures look the same everywhere. A picture
depends on the scene and the size alone.
"""

import os
from functools import lru_cache
from math import cos, pi, radians, sin
from typing import Any, Final

import numpy as np
from gymnasium.error import DependencyNotInstalled
from numpy.typing import NDArray

from black_maria.cards import CLUBS, DIAMONDS, HEARTS, RANK_NAMES, rank_of, suit_of
from black_maria.render.scene import DEFAULT_SIZE, RED_SUITS, Cards, Place, Scene, agent_name

_SMOOTH: Final = 2
_SMALLEST: Final = 60

_RED, _BLACK, _FACE, _EDGE = (196, 22, 28), (27, 27, 27), (255, 253, 247), (120, 112, 100)
_BACK, _BACK_LINE = (47, 75, 143), (150, 172, 226)
_LIGHT, _MUTED, _GOLD, _DARK = (244, 241, 230), (176, 208, 189), (255, 216, 102), (14, 46, 32)

_TOP_AND_SIDE: Final = {
    3: (2, 0), 4: (1, 1), 5: (2, 1), 6: (3, 1), 7: (2, 2), 8: (3, 2), 9: (2, 3), 10: (3, 3),
}  # fmt: skip
"""How many seats sit at the top and at either side, by the number of seats."""

_ASPECT: Final = 0.7
"""A card's width as part of its height."""
_DENSE: Final = 0.46
_LOOSE: Final = 0.66
"""How far apart fanned cards are, at least and at most, as parts of their width."""

Box = tuple[float, float, float, float]
"""Left, top, width, height."""


def load_pygame() -> Any:
    """The pygame module, imported when it is first needed.

    Raises:
        gymnasium.error.DependencyNotInstalled: It is missing; says which extra has it.
    """
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        import pygame
    except ImportError as error:
        raise DependencyNotInstalled(
            "pictures and windows need pygame: pip install 'black-maria[render]'"
        ) from error
    return pygame


def draw(scene: Scene, size: tuple[int, int] = DEFAULT_SIZE) -> NDArray[np.uint8]:
    """A scene as a picture, (height, width, 3) uint8; a fresh array.

    Args:
        scene: What to draw.
        size: Width and height in pixels.

    Raises:
        gymnasium.error.DependencyNotInstalled: pygame is missing.
        ValueError: The size isn't two numbers of at least 60 pixels.
    """
    pygame = load_pygame()
    width, height = size
    if min(width, height) < _SMALLEST:
        raise ValueError(f"size={size}: a picture has at least {_SMALLEST} pixels each way")
    surface = _Painter(scene, int(width), int(height)).surface
    surface = pygame.transform.smoothscale(surface, (int(width), int(height)))
    pixels: NDArray[np.uint8] = pygame.surfarray.array3d(surface)
    return np.ascontiguousarray(pixels.transpose(1, 0, 2))


# --- cards ------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _suit(suit: int, size: int, ink: tuple[int, int, int]) -> Any:
    """A suit's shape in a transparent square of ``size`` pixels."""
    pygame = load_pygame()
    big = 8 * size
    shape = pygame.Surface((big, big), pygame.SRCALPHA)
    shape.fill((*ink, 0))

    def polygon(points: list[tuple[float, float]]) -> None:
        pygame.draw.polygon(shape, ink, [(x * big, y * big) for x, y in points])

    def circle(x: float, y: float, radius: float) -> None:
        pygame.draw.circle(shape, ink, (x * big, y * big), radius * big)

    stem = [(0.5, 0.5), (0.54, 0.75), (0.68, 0.97), (0.32, 0.97), (0.46, 0.75)]
    if suit == DIAMONDS:
        polygon([(0.5, 0.02), (0.88, 0.5), (0.5, 0.98), (0.12, 0.5)])
    elif suit == CLUBS:
        circle(0.5, 0.25, 0.22)
        circle(0.25, 0.58, 0.22)
        circle(0.75, 0.58, 0.22)
        circle(0.5, 0.5, 0.12)
        polygon(stem)
    else:
        heart = [
            (16 * sin(t) ** 3, 13 * cos(t) - 5 * cos(2 * t) - 2 * cos(3 * t) - cos(4 * t))
            for t in (2 * pi * k / 60 for k in range(60))
        ]
        if suit == HEARTS:
            polygon([(0.5 + x / 34, 0.46 - y / 34) for x, y in heart])
        else:
            polygon([(0.5 + x / 36, 0.43 + y / 36 - 0.02) for x, y in heart])
            polygon(stem)
    return pygame.transform.smoothscale(shape, (size, size))


@lru_cache(maxsize=256)
def _card(card: int | None, width: int, height: int) -> Any:
    """A card's face, or its back for None."""
    pygame = load_pygame()
    surface = pygame.Surface((width, height), pygame.SRCALPHA)
    surface.fill((*_EDGE, 0))
    rect, radius = surface.get_rect(), max(2, width // 9)
    line = max(1, width // 36)
    pygame.draw.rect(surface, _EDGE, rect, border_radius=radius)
    inner = rect.inflate(-2 * line, -2 * line)
    pygame.draw.rect(surface, _FACE, inner, border_radius=radius)
    if card is None:
        panel = inner.inflate(-width // 9, -width // 9)
        pygame.draw.rect(surface, _BACK, panel, border_radius=radius)
        surface.set_clip(panel.inflate(-line, -line))
        for x in range(-height, width, max(5, width // 7)):
            pygame.draw.line(surface, _BACK_LINE, (x, 0), (x + height, height), line)
            pygame.draw.line(surface, _BACK_LINE, (x, height), (x + height, 0), line)
        return surface
    ink = _RED if suit_of(card) in RED_SUITS else _BLACK
    rank = _fitted(RANK_NAMES[rank_of(card)], round(0.42 * height), ink, round(0.40 * width))
    left = round(0.06 * width) + line
    surface.blit(rank, (left, round(0.05 * height)))
    small = round(0.34 * width)
    surface.blit(_suit(suit_of(card), small, ink), (left, round(0.37 * height)))
    large = round(0.52 * width)
    surface.blit(
        _suit(suit_of(card), large, ink), (width - large - 2 * line, height - large - 3 * line)
    )
    return surface


def _fitted(text: str, size: int, ink: tuple[int, int, int], width: float) -> Any:
    """Text, squeezed where it would be wider than ``width``."""
    pygame = load_pygame()
    pygame.font.init()
    picture = pygame.font.Font(None, max(size, 6)).render(text, True, ink)
    if picture.get_width() > width:
        picture = pygame.transform.smoothscale(picture, (int(width), picture.get_height()))
    return picture


@lru_cache(maxsize=4)
def _felt(width: int, height: int) -> Any:
    """The empty table: wood around felt that is lightest in the middle."""
    pygame = load_pygame()
    x, y = np.linspace(-1, 1, width)[:, None], np.linspace(-1, 1, height)[None, :]
    light = np.clip(1.08 - 0.42 * (x**2 + y**2), 0, 1)[..., None]
    surface = pygame.Surface((width, height))
    pygame.surfarray.blit_array(surface, (light * np.array([32, 112, 76])).astype(np.uint8))
    rim = max(2, min(width, height) // 90)
    pygame.draw.rect(surface, (74, 48, 32), surface.get_rect(), rim)
    pygame.draw.rect(surface, (122, 84, 56), surface.get_rect(), max(1, rim // 3))
    return surface


def _tallest(count: int, width: float, height: float) -> float:
    """How tall ``count`` cards may be, fanned in a row, so that each one can be read."""
    wide = width / (1 + _DENSE * max(count - 1, 0))
    return 4 * (min(wide / _ASPECT, height) // 4)  # in steps: fewer sizes to draw


# --- the table --------------------------------------------------------------------------------


class _Painter:
    """Paints one scene on ``surface``, ``_SMOOTH`` times as large as asked for."""

    def __init__(self, scene: Scene, width: int, height: int) -> None:
        self.pygame = load_pygame()
        self.pygame.font.init()
        self.scene = scene
        self.unit = _SMOOTH * min(width / DEFAULT_SIZE[0], height / DEFAULT_SIZE[1])
        self.width, self.height = _SMOOTH * width / self.unit, _SMOOTH * height / self.unit
        self.surface = _felt(_SMOOTH * width, _SMOOTH * height).copy()
        self.tiny = self.unit < 0.7 * _SMOOTH
        self._fonts: dict[int, Any] = {}

        seats = len(scene.places)
        self.boxes = self._boxes(seats)
        self.near = scene.viewer or 0  # who sits at the bottom
        self._centre(seats)
        for k in range(seats):
            self._place(scene.places[(self.near + k) % seats], self.boxes[k])

    def _boxes(self, seats: int) -> list[Box]:
        """Where the seats sit, clockwise from the bottom."""
        top, side = _TOP_AND_SIDE[seats]
        margin = 8.0
        width, height = self.width - 2 * margin, self.height - 2 * margin
        row = height * {0: 0.31, 1: 0.28}.get(side, 0.25)
        column = width * {0: 0.2, 1: 0.30, 2: 0.285, 3: 0.27}[side]
        free = height - row - (0 if side == 3 else row)
        gap = (free - side * row) / (side + 1)
        heights = [margin + row + gap + k * (row + gap) for k in range(side)]
        if side == 3:
            heights = [margin + row + k * (height - row) / 3 for k in range(3)]
        left = [(margin, y, column, row) for y in heights]
        right = [(margin + width - column, y, column, row) for y in heights]
        tops = [(margin + k * width / top, margin, width / top, row) for k in range(top)]
        bottom_width = width - 2 * column if side == 3 else min(width, 520.0)
        bottom = (margin + (width - bottom_width) / 2, margin + height - row, bottom_width, row)
        middle = margin + column if side else margin + width * 0.2
        self.centre: Box = (
            middle, margin + row, self.width - 2 * middle, height - 2 * row
        )  # fmt: skip
        return [bottom, *reversed(left), *tops, *right]

    # one seat

    def _place(self, place: Place, box: Box) -> None:
        """A seat's plate, what it captured, and its holding."""
        x, y, width, height = box
        gap = 6.0
        self._plate(place, (x + gap, y, width - 2 * gap, 16))
        self._captured(place.captured, (x + gap, y + 18, width - 2 * gap, 15))
        fan = (x + gap, y + 35, width - 2 * gap, height - 35)
        if place.absent:
            self._text("sits out", x + width / 2, y + 55, 15, _MUTED)
        else:
            self._fan(place.holding, fan)

    def _plate(self, place: Place, box: Box) -> None:
        x, y, width, height = box
        ink = _DARK if place.to_move else _LIGHT
        self._panel(box, (*_GOLD, 255) if place.to_move else (0, 30, 18, 150))
        if place.to_move:
            self._polygon([(x + 5, y + 3.5), (x + 13, y + 8), (x + 5, y + 12.5)], _DARK)
        end = self._text(place.name, x + 18, y + height / 2, 15, ink, "left")
        if place.dealer:
            self._circle(end + 11, y + height / 2, 6.5, _FACE)
            self._text("D", end + 11, y + height / 2 + 0.5, 13, _DARK)
            end += 19
        if place.winner:
            self._star(end + 11, y + height / 2, 7, _GOLD)
        numbers = f"{place.penalties:+d} · {place.total}"
        if width > 170 and not self.tiny:
            numbers = f"hand {place.penalties} · total {place.total}"
        self._text(numbers, x + width - 6, y + height / 2, 15, ink, "right")

    def _captured(self, cards: tuple[int, ...], box: Box) -> None:
        """Small cards; the hearts are counted where there is no room for all."""
        x, y, width, height = box
        items = [(RANK_NAMES[rank_of(card)], suit_of(card)) for card in cards]
        others = [item for item in items if item[1] != HEARTS]
        if len(items) * 15 > width and len(others) < len(items):
            items = [(f"{len(items) - len(others)}×", HEARTS), *others]
        room = 25.0 if len(items) == len(cards) else 29.0
        step = min(room + 2, (width - room) / max(len(items) - 1, 1))
        for k, (word, suit) in enumerate(items):
            left, middle = x + k * step, y + height / 2
            self._panel((left, y, room, height), (*_FACE, 255), (*_EDGE, 255))
            ink = _RED if suit in RED_SUITS else _BLACK
            self._text(word, left + 2, middle + 0.5, 14, ink, "left", width=room - 12)
            self._blit(_suit(suit, round(8.5 * self.unit), ink), left + room - 5.5, middle)

    def _fan(self, cards: Cards, box: Box) -> None:
        """A holding, slightly fanned; in two tiers where that allows larger cards."""
        x, y, width, height = box
        row: list[int | None] = [None] * cards.hidden + list(cards.known)
        half = (len(row) + 1) // 2
        one, two = _tallest(len(row), width, 0.86 * height), _tallest(half, width, 0.6 * height)
        if one >= two or not cards.known:
            tall = max(one, two) if cards.known else 0.7 * height
            self._tier(row, x, y + (0.92 * height - tall) / 2, width, tall)
        else:
            self._tier(row[:half], x, y, width, two, 0.8)
            self._tier(row[half:], x, y + 0.95 * height - two, width, two, 0.8)
        if cards.hidden:
            self._badge(str(cards.hidden), x + width / 2, y + height / 2, 11)

    def _tier(
        self,
        row: list[int | None],
        x: float,
        y: float,
        width: float,
        tall: float,
        loose: float = _LOOSE,
    ) -> None:
        """A fan of cards, ``loose`` card widths apart at most."""
        wide = _ASPECT * tall
        step = min(loose * wide, (width - wide) / max(len(row) - 1, 1))
        left = x + (width - step * (len(row) - 1)) / 2
        for k, card in enumerate(row):
            off = k - (len(row) - 1) / 2
            turn = off / max(len(row), 8) * 9  # degrees clockwise
            droop = tall * 0.1 * (2 * off / max(len(row), 8)) ** 2
            self._put_card(card, left + k * step, y + tall / 2 + droop, wide, tall, turn)

    # the middle

    def _centre(self, seats: int) -> None:
        """The trick, or what was picked to pass, around what is going on."""
        scene = self.scene
        x, y, width, height = self.centre
        middle_x, middle_y = x + width / 2, y + height / 2
        tall = {3: 80.0, 4: 72.0, 5: 64.0, 6: 60.0, 7: 52.0, 8: 50.0}.get(seats, 46.0)
        wide = _ASPECT * tall
        radius_x, radius_y = width / 2 - 0.65 * wide, height / 2 - 0.53 * tall
        spots = {}
        for k in range(seats):
            angle = pi / 2 + 2 * pi * k / seats
            spot = middle_x + radius_x * cos(angle), middle_y + radius_y * sin(angle)
            spots[(self.near + k) % seats] = spot
        for seat, place in enumerate(scene.places):
            picked = [None] * place.picked.hidden + list(place.picked.known)
            for k, card in enumerate(picked):
                off = k - (len(picked) - 1) / 2
                at = spots[seat][0] + 0.45 * off * wide, spots[seat][1] + 2 * abs(off)
                self._put_card(card, *at, 0.9 * wide, 0.9 * tall, 5 * off)
        for seat, card in scene.trick or scene.last:
            x, y = spots[seat]
            if seat == scene.taker:
                glow = (x - wide / 2 - 3, y - tall / 2 - 3, wide + 6, tall + 6)
                self._panel(glow, (*_GOLD, 200), radius=8)
            self._put_card(card, x, y, wide, tall, 0, faded=not scene.trick)
        for seat, _ in scene.trick or scene.last:
            x, y = spots[seat]
            self._badge(str(seat), x + wide / 2 - 1, y - tall / 2 + 1, 7)

        words = [scene.stage]
        if scene.taker is not None:
            words.append(f"{agent_name(scene.taker)} took it")
        pile: list[int | None] = [card for _, card in scene.cancelled]
        if pile:
            words.append(f"{len(pile)} cancelled")
        pile += [None] * scene.kitty.hidden + list(scene.kitty.known)
        if any(scene.kitty):
            words.append(f"{scene.kitty.hidden + len(scene.kitty.known)} aside")
        room = 2 * radius_x - wide - 4 if seats > 3 else None
        end = middle_y + radius_y - tall / 2 - (48 if pile else 12)  # above the lowest card
        top = min(middle_y - 8 * (len(words) - 1), end - 16 * (len(words) - 1))
        for k, word in enumerate(words):
            size, ink = (16, _MUTED) if k else (18, _LIGHT)
            self._text(word, middle_x, top + 16 * k, size, ink, width=room)
        if pile:
            self._tier(pile, middle_x - 50, top + 16 * len(words) - 5, 100, 34)

    # tools; all coordinates are in units

    def _pixels(self, *units: float) -> list[int]:
        return [round(value * self.unit) for value in units]

    def _blit(self, picture: Any, x: float, y: float) -> None:
        self.surface.blit(picture, picture.get_rect(center=self._pixels(x, y)))

    def _put_card(
        self, card: int | None, x: float, y: float, wide: float, tall: float, turn: float,
        faded: bool = False,
    ) -> None:  # fmt: skip
        picture = _card(card, *self._pixels(wide, tall))
        if turn:
            picture = self.pygame.transform.rotozoom(picture, -turn, 1)
        if faded:
            picture = picture.copy()
            picture.set_alpha(120)
        self._blit(picture, x, y)

    def _text(
        self, text: str, x: float, y: float, size: float, ink: tuple[int, int, int],
        side: str = "", width: float | None = None,
    ) -> float:  # fmt: skip
        """Write left or right of a point or around it; return where the text ends."""
        pixels = max(8, round(size * self.unit * (1.25 if self.tiny else 1)))
        if pixels not in self._fonts:
            self._fonts[pixels] = self.pygame.font.Font(None, pixels)
        picture = self._fonts[pixels].render(text, True, ink)
        if width is not None and picture.get_width() > width * self.unit:
            shape = round(width * self.unit), picture.get_height()
            picture = self.pygame.transform.smoothscale(picture, shape)
        rect = picture.get_rect(**{f"mid{side}" if side else "center": self._pixels(x, y)})
        self.surface.blit(picture, rect)
        return float(rect.right / self.unit)

    def _panel(
        self, box: Box, fill: tuple[int, ...], edge: tuple[int, ...] = (), radius: float = 5
    ) -> None:
        x, y, width, height = self._pixels(*box)
        panel = self.pygame.Surface((width, height), self.pygame.SRCALPHA)
        round_by = {"border_radius": self._pixels(radius)[0]}
        self.pygame.draw.rect(panel, fill, panel.get_rect(), **round_by)
        if edge:
            line = max(1, round(0.6 * self.unit))
            self.pygame.draw.rect(panel, edge, panel.get_rect(), line, **round_by)
        self.surface.blit(panel, (x, y))

    def _circle(self, x: float, y: float, radius: float, ink: tuple[int, int, int]) -> None:
        self.pygame.draw.circle(self.surface, ink, self._pixels(x, y), radius * self.unit)

    def _badge(self, text: str, x: float, y: float, radius: float) -> None:
        self._circle(x, y, radius + 0.8, _MUTED)
        self._circle(x, y, radius, _DARK)
        self._text(text, x, y + 0.5, 1.8 * radius, _LIGHT)

    def _polygon(self, points: list[tuple[float, float]], ink: tuple[int, int, int]) -> None:
        self.pygame.draw.polygon(self.surface, ink, [self._pixels(*point) for point in points])

    def _star(self, x: float, y: float, radius: float, ink: tuple[int, int, int]) -> None:
        points = []
        for k in range(10):
            reach, angle = radius if k % 2 == 0 else 0.45 * radius, radians(36 * k - 90)
            points.append((x + reach * cos(angle), y + reach * sin(angle)))
        self._polygon(points, ink)
