"""A window that shows the table; needs pygame."""

from typing import Any

from black_maria.render.picture import draw, load_pygame
from black_maria.render.scene import DEFAULT_SIZE, Scene


class Window:
    """A window that shows one scene after another; opened by the first.

    Closing it by hand stops the drawing, not the game. Copies and pickles open it by themselves;
    pygame has one window a process.
    """

    def __init__(self, title: str, size: tuple[int, int] = DEFAULT_SIZE) -> None:
        """Nothing is opened yet.

        Raises:
            gymnasium.error.DependencyNotInstalled: pygame is missing.
        """
        load_pygame()
        self.title, self.size = title, size
        self._screen: Any = None
        self._clock: Any = None
        self._shown: Scene | None = None
        self._closed_by_hand = False

    def __reduce__(self) -> tuple[Any, ...]:
        return Window, (self.title, self.size)

    def show(self, scene: Scene, fps: float) -> None:
        """Draw a scene unless it is there already, at most ``fps`` a second."""
        pygame = load_pygame()
        if self._closed_by_hand:
            return
        if self._screen is None or not pygame.display.get_init():
            pygame.display.init()
            pygame.display.set_caption(self.title)
            self._screen, self._clock = pygame.display.set_mode(self.size), pygame.time.Clock()
        if pygame.event.get(pygame.QUIT):
            self.close()
            self._closed_by_hand = True
            return
        pygame.event.pump()
        if scene != self._shown:
            pygame.surfarray.blit_array(self._screen, draw(scene, self.size).transpose(1, 0, 2))
            pygame.display.flip()
            self._clock.tick(fps)
            self._shown = scene

    def close(self) -> None:
        """Close the window; the next scene would open it again."""
        if self._screen is not None:
            load_pygame().display.quit()
        self._screen, self._shown = None, None
