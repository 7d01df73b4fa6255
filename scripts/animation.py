"""Draw a hand as it is played: README's animation, or a still picture of one moment.

    python scripts/animation.py docs/hand.gif --seed 7
    python scripts/animation.py docs/table.png --seed 7 --card 24

What `rgb_array` draws, as seat 0 sees it; the champion sits in every seat. The same seed makes
the same pictures.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from black_maria.render import draw
from black_maria.rules import as_rules
from black_maria.tables import Tables
from black_maria_agents.base import Agent
from black_maria_agents.loading import load_agent

COLOURS = {Image.Quantize.MEDIANCUT: 160, Image.Quantize.MAXCOVERAGE: 64}
"""Of the GIF's one palette: many of the cloth, lest it show rings, and the rare ones, as gold."""
PASSED, PLAYED, TAKEN, OVER = 250, 550, 1100, 4000
"""Milliseconds for which a card passed is shown, one played, a whole trick, and the end."""

Picture = NDArray[np.uint8]


def pictures(agent: Agent, seed: int, rules: str = "three_player") -> Iterator[tuple[Picture, int]]:
    """The table before the first card and after each one, (450, 600, 3) uint8, and its time in ms.

    Args:
        agent: Who sits in every seat.
        seed: The deal is hand 0 of it.
        rules: A profile's name.
    """
    tables = Tables(1, as_rules(rules), seed=seed, deal_on=False)
    yield draw(tables.states()[0], tables.rules, 0), TAKEN
    while tables.observe()[0]["action_mask"].any():
        obs, _ = tables.observe()
        _, done = tables.step(agent.act(obs, tables.keys()))
        state = tables.states()[0]
        whole = state.num_played and not state.in_trick
        time = OVER if done[0] else TAKEN if whole else PLAYED if state.num_played else PASSED
        yield draw(state, tables.rules, 0), time


def write_gif(path: Path, shown: list[tuple[Picture, int]]) -> None:
    """Write pictures with their times, in ms, as an animation that begins anew at its end.

    Args:
        path: The file.
        shown: One picture or more.
    """
    few = Image.fromarray(np.concatenate([picture for picture, _ in shown[::4]]))
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for how in COLOURS for part in _colours(few, how)])
    frames = [
        Image.fromarray(picture).quantize(palette=palette, dither=Image.Dither.NONE)
        for picture, _ in shown
    ]
    times = [time for _, time in shown]
    frames[0].save(
        path, save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=True
    )


def _colours(image: Image.Image, how: Image.Quantize) -> list[int]:
    """Red, green, blue of some of a picture's colours, one after another."""
    chosen = image.quantize(COLOURS[how], how, dither=Image.Dither.NONE).getpalette() or []
    return chosen[: 3 * COLOURS[how]]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path, help="a GIF, or a PNG for one moment")
    parser.add_argument("--seed", type=int, default=0, help="of the deal")
    parser.add_argument("--card", type=int, default=-1, help="the moment: after so many cards")
    parser.add_argument("--agent", default="champion", help="who sits in every seat")
    chosen = parser.parse_args()
    shown = list(pictures(load_agent(chosen.agent), chosen.seed))
    if chosen.file.suffix == ".gif":
        write_gif(chosen.file, shown)
    else:
        Image.fromarray(shown[chosen.card][0]).save(chosen.file, optimize=True)


if __name__ == "__main__":
    main()
