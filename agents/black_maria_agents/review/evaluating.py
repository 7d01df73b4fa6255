"""What ``evaluate.py`` does with the hands that it plays: records, reviews and explains them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, TextIO

from numpy.typing import NDArray

from black_maria import record
from black_maria.rules import Rules
from black_maria_agents.base import Agent
from black_maria_agents.console import PlainConsole, progress_on
from black_maria_agents.files import replacing
from black_maria_agents.review.explain import explained
from black_maria_agents.review.page import page_of
from black_maria_agents.review.reviewing import HANDS, review, reviewer

EXPLAINED: Final = 15
"""Hands of each of the two tables, A alone and B alone, that ``--explain`` reviews."""


class Hands:
    """Takes hands as ``Arena`` tells them, writes them down, and keeps those to be reviewed.

    Args:
        rules: The rules that they are played by.
        episode: ``"hand"`` or ``"match"``.
        target: Where hands are written, a line each.
        explained: The two agents whose hands ``explain`` needs.
    """

    def __init__(
        self,
        rules: Rules,
        episode: str,
        target: TextIO | None = None,
        explained: tuple[str, str] | None = None,
    ) -> None:
        """Keep nothing yet."""
        self.rules, self.episode, self.target, self.pair = rules, episode, target, explained
        self.first: list[record.Hand] = []
        self.compared: dict[bool, list[record.Hand]] = {True: [], False: []}

    def __call__(self, states: NDArray[Any], names: Sequence[Sequence[str]]) -> None:
        """Take some hands."""
        if self.target is not None:
            record.write(self.target, self._hands(states, names, range(len(states))))
        rows = range(min(HANDS - len(self.first), len(states)))
        self.first += self._hands(states, names, rows)
        for alone, kept in self.compared.items() if self.pair else ():
            some = [row for row, who in enumerate(names) if self._is_of_pair(who, alone)]
            kept += self._hands(states, names, some[: EXPLAINED - len(kept)])

    def _is_of_pair(self, names: Sequence[str], alone: bool) -> bool:
        """Whether the two sit here, the first one alone or not."""
        return set(names) == set(self.pair or ()) and (names.count(self.pair[0]) == 1) == alone  # type: ignore[index]

    def _hands(
        self, states: NDArray[Any], names: Sequence[Sequence[str]], rows: Sequence[int]
    ) -> list[record.Hand]:
        if not len(rows):
            return []
        who = [list(names[row]) for row in rows]
        return record.of_states(states[list(rows)], self.rules, who, episode=self.episode)

    def write_review(self, path: Path, agent: Agent, console: PlainConsole) -> None:
        """Review the first hands and write the page.

        Raises:
            ValueError: No hand was played, or none can be reviewed.
            OSError: The page can't be written.
        """
        if not self.first:
            raise ValueError("no hand was played now: what was kept of earlier ones are scores")
        with progress_on(console, "reviewing") as progress:
            found = review(self.first, agent, progress=progress)
        with replacing(path, "w") as file:
            file.write(page_of(found, "evaluate.py"))

    def explain(self, agent: Agent, console: PlainConsole) -> None:
        """Print where the first of the two agents loses points against the second.

        Raises:
            ValueError: They played no hand.
        """
        hands = [hand for kept in self.compared.values() for hand in kept]
        if not hands or self.pair is None:
            raise ValueError("no hand was played now: what was kept of earlier ones are scores")
        with progress_on(console, "explaining") as progress:
            found = review(hands, agent, progress=progress)
        by = reviewer(agent, self.rules).name
        console.print(explained(found.decisions, *self.pair, by))
