"""Words for people: a console that can't fail and reads nothing into them, and how far a work is.

Paths and names are the user's own text. Rich would take ``[lr=2]`` for markup and ``:heart:`` for
a picture; here they stay what they are.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

LINE_SECONDS: Final = 10.0
"""Off a terminal two lines of progress are at least that far apart."""
LINE_SHARE: Final = 0.05
"""A line comes when that much more is done, or after a minute."""


class PlainConsole(Console):
    """Prints text as it is. If nothing can be printed any more it is quiet: work goes on.

    Args:
        quiet: Print nothing.

    Attributes:
        failure: Why it went quiet.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        """Print to standard output."""
        super().__init__(quiet=quiet, markup=False, emoji=False)
        self.failure: OSError | None = None

    def print(self, *objects: Any, **options: Any) -> None:
        """Print as Rich does; a full disk or a reader that has left end the printing alone."""
        try:
            super().print(*objects, **options)
        except OSError as error:
            self._give_up(error)

    def on_broken_pipe(self) -> None:
        """Rich would end the program."""
        self._give_up(BrokenPipeError("nobody reads the output any more"))

    def check(self) -> None:
        """Say at the end that not all was printed.

        Raises:
            OSError: Why.
        """
        if self.failure is not None:
            why = self.failure.strerror or str(self.failure)
            raise OSError(f"not all could be printed: {why}")

    def _give_up(self, error: OSError) -> None:
        self.quiet, self.failure = True, self.failure or error
        drop_output()


def drop_output() -> None:
    """Send standard output to nowhere, so that the interpreter's end doesn't fail on it."""
    with suppress(OSError, ValueError, AttributeError):  # a test's output has no number
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextmanager
def progress_on(console: Console, what: str, *, transient: bool = True) -> Iterator["Lines | Bar"]:
    """A function (done, total, text) that tells how far a work is, and how long it still takes.

    On a terminal it moves a bar; elsewhere, as in a file or a notebook, it prints a line now and
    then, and none where the work is over soon.

    Args:
        console: Where to.
        what: The work.
        transient: Whether the bar goes away at the end.
    """
    if not console.is_terminal:
        yield Lines(console, what)
        return
    with Progress(
        TextColumn("{task.description}", markup=False), BarColumn(20),
        TextColumn("{task.percentage:3.0f} %"), TimeElapsedColumn(), TextColumn("gone,"),
        TimeRemainingColumn(), TextColumn("left"), TextColumn("{task.fields[text]}", markup=False),
        transient=transient, console=console,
    ) as bar:  # fmt: skip
        yield Bar(bar, what)


class Bar:
    """Moves a bar of Rich's."""

    def __init__(self, bar: Progress, what: str) -> None:
        """Start at nothing."""
        self._bar, self._task = bar, bar.add_task(what, total=1.0, text="")

    def __call__(self, done: float, total: float, text: str = "") -> None:
        """Move on; ``text`` says more."""
        self._bar.update(self._task, completed=min(done, total), total=total, text=text)


class Lines:
    """Prints a line now and then.

    Args:
        console: Where to.
        what: The work.
        clock: Seconds.
    """

    def __init__(
        self, console: Console, what: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Take the time."""
        self._console, self._what, self._clock = console, what, clock
        self._start = self._last = clock()
        self._first: float | None = None
        self._told = 0.0

    def __call__(self, done: float, total: float, text: str = "") -> None:
        """Print how far it is, if the last line is old enough; ``text`` says more."""
        share = min(done / total, 1.0) if total else 0.0  # training's last update goes beyond
        now = self._clock()
        if self._first is None:
            self._first = share  # what had been done before
        since = now - self._last
        if since < LINE_SECONDS or (share < self._told + LINE_SHARE and since < 6 * LINE_SECONDS):
            return
        self._last, self._told = now, share
        gone, made = now - self._start, share - self._first
        left = f", {_duration(gone * (1 - share) / made)} left" if made > 0 else ""
        line = f"{self._what}: {share:.0%}, {_duration(gone)} gone{left}"
        self._console.print(f"{line}; {text}" if text else line, soft_wrap=True, highlight=False)


def _duration(seconds: float) -> str:
    """``"0:01:05"``."""
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
