"""What ``evaluate.py`` does with the hands that it plays: records, reviews and explains them."""

from collections.abc import Mapping, Sequence
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

    The first agent reviews, or the champion for it; the first two are explained.

    Args:
        agents: By name.
        rules: The rules that they play by.
        episode: ``"hand"`` or ``"match"``.
        page: Where a review of the first hands is written.
        explain: Whether to say where the first agent loses points against the second.

    Attributes:
        target: Where all hands are written, a line each, if that is set.

    Raises:
        ValueError: There is nobody who could review.
    """

    def __init__(
        self,
        agents: Mapping[str, Agent],
        rules: Rules,
        episode: str,
        page: Path | None = None,
        explain: bool = False,
    ) -> None:
        """Keep nothing yet."""
        self.rules, self.episode, self.page = rules, episode, page
        self.pair = tuple(agents)[:2] if explain else ()
        self.target: TextIO | None = None
        self.agent = next(iter(agents.values()))
        if page is not None or explain:
            self.agent = reviewer(self.agent, rules)
        self._first: list[record.Hand] = []
        self._compared: tuple[list[record.Hand], ...] = ([], [])

    def check(self, pairs: Sequence[tuple[str, str]]) -> None:
        """See before play that there will be hands to review.

        Args:
            pairs: (alone, others) names of those that play now.

        Raises:
            ValueError: There won't be: the scores of all that is needed were kept.
        """
        if (self.page is not None and not pairs) or (
            self.pair and not {self.pair, self.pair[::-1]}.intersection(pairs)
        ):
            raise ValueError(
                "no hand would be played now: of earlier games only the scores were kept; ask for "
                "more games, or leave out --review and --explain"
            )

    def __call__(self, states: NDArray[Any], names: Sequence[Sequence[str]]) -> None:
        """Take some hands."""
        every = range(len(states))
        if self.target is not None:
            record.write(self.target, self._hands(states, names, every))
        if self.page is not None:
            self._first += self._hands(states, names, every[: HANDS - len(self._first)])
        for alone, kept in zip(self.pair, self._compared, strict=False):
            here = [row for row in every if self._compares(names[row], alone)]
            kept += self._hands(states, names, here[: EXPLAINED - len(kept)])

    def _compares(self, names: Sequence[str], alone: str) -> bool:
        """Whether the two sit here, this one alone."""
        return set(names) == set(self.pair) and list(names).count(alone) == 1

    def _hands(
        self, states: NDArray[Any], names: Sequence[Sequence[str]], rows: Sequence[int]
    ) -> list[record.Hand]:
        if not rows:
            return []
        who = [list(names[row]) for row in rows]
        return record.of_states(states[list(rows)], self.rules, who, episode=self.episode)

    def finish(self, console: PlainConsole) -> None:
        """Write the page and print the explanation, if they are wanted.

        Raises:
            ValueError: No hand was played.
            OSError: The page can't be written.
        """
        if self.page is not None:
            with progress_on(console, "reviewing") as progress:
                found = review(_some(self._first), self.agent, progress=progress)
            with replacing(self.page, "w") as file:
                file.write(page_of(found, "evaluate.py"))
            console.print(f"{self.page}: {len(found.hands)} hands, reviewed by {self.agent.name}")
        if self.pair:
            hands = _some([hand for kept in self._compared for hand in kept])
            with progress_on(console, "explaining") as progress:
                found = review(hands, self.agent, progress=progress)
            first, second = self.pair
            console.print(explained(found.decisions, first, second, self.agent.name))


def _some(hands: list[record.Hand]) -> list[record.Hand]:
    if not hands:
        raise ValueError("no hand was played now: of earlier games only the scores were kept")
    return hands
