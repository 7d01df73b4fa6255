"""Sit down at a table with agents: in the browser, or on the terminal.

    python -m black_maria_agents.play --opponents champion heuristic
    python -m black_maria_agents.play --terminal --rules traditional --seats 5
    python -m black_maria_agents.play --seat 2 --record hands.jsonl

The page is served to this machine alone, at the address that is printed. Ctrl-C ends it.
"""

import secrets
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import tyro

from black_maria import record
from black_maria.rules import Rules
from black_maria_agents.border import border, check_outputs
from black_maria_agents.console import PlainConsole
from black_maria_agents.loading import CHAMPIONS, load_agent
from black_maria_agents.play.game import Game
from black_maria_agents.play.reviews import review_of, words_of
from black_maria_agents.play.server import PlayServer
from black_maria_agents.play.terminal import play


@dataclass(frozen=True)
class PlayConfig:
    """A person against agents, match after match."""

    opponents: tuple[str, ...] = ()
    """Agents, by the names that ``load_agent`` knows, or paths of checkpoints (….pt): one for all
    other seats, or one for each from the left neighbour on. The profile's champion if it has one,
    else heuristic."""
    rules: str = "three_player"
    """The profile to play by."""
    seats: int | None = None
    """Players at the table, where the profile leaves it open."""
    seat: int = 0
    """Where you sit."""
    seed: int | None = None
    """Of the deals, 0 … 2**64 - 1; drawn unless told."""
    advice: str | None = None
    """Who gives advice: as the first of the opponents' default, unless told."""
    sampled: bool = False
    """Let checkpoints draw from their policy; otherwise they play the likeliest card."""
    record: Path | None = None
    """A file (….jsonl) to which every hand is added, a line each; docs/records.md says how."""
    terminal: bool = False
    """Play on the terminal instead of in a browser."""
    port: int = 0
    """Where the page is served on 127.0.0.1; 0: wherever there is room."""
    browser: bool = True
    """Open the page in a browser; otherwise its address is printed alone."""


class Recorder:
    """Adds hands to a file; when that fails, play goes on.

    Args:
        path: The file; None: nothing is recorded.

    Attributes:
        trouble: Why the last hand isn't there; "" if it is.
    """

    def __init__(self, path: Path | None) -> None:
        """Nothing is written before a hand is over."""
        self.path, self.trouble = path, ""

    def __call__(self, hand: record.Hand) -> None:
        """Add a hand."""
        if self.path is None:
            return
        try:
            record.write(self.path, [hand])
        except OSError as error:
            self.trouble = f"{self.path}: the hand wasn't recorded: {error.strerror or error}"
        else:
            self.trouble = ""


def set_up(config: PlayConfig, on_hand: Callable[[record.Hand], None]) -> Game:
    """The game that a configuration describes.

    Raises:
        ValueError: An unknown agent or profile, or a number that can't be.
    """
    rules = Rules.profile(config.rules, config.seats)
    usual = "champion" if rules.name in CHAMPIONS else "heuristic"
    names = config.opponents or (usual,)
    loaded = {
        name: load_agent(name, rules, greedy=not config.sampled) for name in dict.fromkeys(names)
    }
    advisor = load_agent(config.advice or usual, rules)
    seed = secrets.randbits(63) if config.seed is None else config.seed
    return Game(
        rules, [loaded[name] for name in names],
        seat=config.seat, seed=seed, advisor=advisor, on_hand=on_hand,
    )  # fmt: skip


def main(config: PlayConfig) -> None:
    """Play until the person leaves.

    Raises:
        ValueError: An unknown agent or profile, a number that can't be, or a file that can't be
            written.
        OSError: The port is taken.
    """
    if not 0 <= config.port < 2**16:
        raise ValueError(f"port={config.port}: give 1 … 65535, or 0 for any")
    check_outputs({config.record: ".jsonl"})
    console, recorder = PlainConsole(), Recorder(config.record)
    game = set_up(config, recorder)
    try:
        if config.terminal:
            play(game, console, review=words_of(game))
        else:
            serve(game, console, config, recorder)
    except KeyboardInterrupt:
        console.print("\nThe table is closed.")
    if recorder.trouble:
        raise OSError(recorder.trouble)


def serve(game: Game, console: PlainConsole, config: PlayConfig, recorder: Recorder) -> None:
    """Serve the page until Ctrl-C."""
    review, note = review_of(game), lambda: recorder.trouble
    with PlayServer(game, config.port, review=review, note=note) as server:
        console.print(f"Your table: {server.address}", soft_wrap=True, highlight=False)
        console.print("Ctrl-C closes it.")
        if config.browser:
            webbrowser.open(server.address)
        server.serve_forever()


if __name__ == "__main__":
    asked = tyro.cli(PlayConfig, prog="python -m black_maria_agents.play", description=__doc__)
    with border("play"):
        main(asked)
