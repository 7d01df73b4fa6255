"""Reviewing hands: who reviews, hand by hand, and what became of the file's other lines."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import starmap
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from black_maria.record import Damage, Hand, scan
from black_maria.rules import Rules
from black_maria_agents.base import Agent
from black_maria_agents.loading import load_agent
from black_maria_agents.network import PolicyAgent
from black_maria_agents.review.positions import Positions, positions_of
from black_maria_agents.review.pricing import price
from black_maria_agents.review.rows import Decision, columns, rows_of
from black_maria_agents.review.words import sentence_of
from black_maria_agents.search.policy_search import MOST_WORLDS, PolicySearch
from black_maria_agents.threads import one_thread

WORLDS: Final = 16
"""Worlds in which every legal card is tried, unless told; twice as many price the best one."""
HANDS: Final = 20
"""Hands of a page, unless told."""

Told = Callable[[float, float], Any]
"""Called with the hands reviewed and all hands."""


@dataclass(frozen=True)
class ReviewedHand:
    """A hand and its decisions."""

    line: int
    """Its line in the file, from 1."""
    found: Positions
    decisions: list[Decision]

    @property
    def hand(self) -> Hand:
        """The hand; its passes in the order in which they are taken to have been picked."""
        return self.found.hand


@dataclass(frozen=True)
class Review:
    """What was found."""

    agent: str
    """The reviewer."""
    worlds: int
    seed: int
    hands: list[ReviewedHand] = field(default_factory=list)
    damages: list[Damage] = field(default_factory=list)
    """Lines that hold no hand, or one that can't be reviewed."""
    left_out: int = 0
    """Hands after the most that were asked for."""

    @cached_property
    def decisions(self) -> list[Decision]:
        """All rows."""
        return [row for hand in self.hands for row in hand.decisions]

    def table(self) -> dict[str, NDArray[np.generic]]:
        """The rows as arrays by column; ``pandas.DataFrame`` takes it as it is."""
        return columns(self.decisions)

    def state(self, row: Decision) -> Any:
        """The table at which a decision was made, an ``engine.STATE`` record."""
        reviewed = self.hands[row.hand]
        place = [each.ply for each in reviewed.decisions].index(row.ply)
        return reviewed.found.states[place]

    def sentence(self, row: Decision) -> str:
        """A decision in words; ``""`` where its numbers bear none."""
        rules = self.hands[row.hand].hand.rules
        found = sentence_of(row, self.state(row), rules.penalties)
        return found.text if found else ""


def review(
    hands: Iterable[Hand],
    agent: str | Agent = "champion",
    *,
    worlds: int = WORLDS,
    seed: int = 0,
    most: int | None = None,
    progress: Told = lambda done, total: None,
) -> Review:
    """Review hands: every decision priced by an agent's policy.

    The same hands and seed give the same numbers, however many are reviewed together.

    Args:
        hands: As ``black_maria.record`` reads them.
        agent: Who reviews, as ``load_agent`` knows it, or itself: a policy, or a search by its
            policy. In place of an agent without one the champion of the hands' rules reviews.
        worlds: Worlds in which every card is tried.
        seed: Of the worlds.
        most: Hands reviewed at most.
        progress: Called after each hand with the hands reviewed and all hands.

    Raises:
        ValueError: No agent of that name, or no worlds.
    """
    return _review(enumerate(hands, 1), agent, worlds, seed, most, progress)


def review_file(
    path: str | os.PathLike[str],
    agent: str | Agent = "champion",
    *,
    worlds: int = WORLDS,
    seed: int = 0,
    most: int | None = HANDS,
    progress: Told = lambda done, total: None,
) -> Review:
    """Review a file's hands; a damaged line is named, and loses that line alone.

    Args and errors as for ``review``, and:

    Raises:
        OSError: There is no such file, or it can't be read.
    """
    return _review(scan(path), agent, worlds, seed, most, progress)


@one_thread()
def _review(
    lines: Iterable[tuple[int, Hand | str]],
    agent: str | Agent,
    worlds: int,
    seed: int,
    most: int | None,
    progress: Told,
) -> Review:
    if not 1 <= worlds <= MOST_WORLDS:
        raise ValueError(f"worlds={worlds}: must be a whole number from 1 to {MOST_WORLDS:,}")
    if most is not None and most < 1:
        raise ValueError(f"hands={most}: there must be at least one hand to review")
    name = agent if isinstance(agent, str) else agent.name
    good: list[tuple[int, Hand, PolicyAgent]] = []
    damages, left_out = list[Damage](), 0
    reviewers: dict[Rules, PolicyAgent | str] = {}
    for line, hand in lines:
        if isinstance(hand, str):
            damages.append(Damage(line, hand))
            continue
        if most is not None and len(good) == most:
            left_out += 1
            continue
        if hand.rules not in reviewers:
            try:
                reviewers[hand.rules] = reviewer(agent, hand.rules)
            except ValueError as error:
                reviewers[hand.rules] = str(error)
        by = reviewers[hand.rules]
        if isinstance(by, str):
            damages.append(Damage(line, by))
        else:
            good.append((line, hand, by))
    if reviewers and not good:
        raise ValueError(f"no hand can be reviewed: {damages[-1].reason}")

    def reviewed(number: int, entry: tuple[int, Hand, PolicyAgent]) -> ReviewedHand:
        line, hand, by = entry
        found = positions_of(hand, by)
        rows = rows_of(number, found, price(by, found, worlds=worlds, seed=seed))
        progress(number + 1, len(good))
        return ReviewedHand(line, found, rows)

    hands = list(starmap(reviewed, enumerate(good)))
    return Review(name, worlds, seed, hands, damages, left_out)


def reviewer(agent: str | Agent, rules: Rules) -> PolicyAgent:
    """The policy that reviews for an agent: its own, or the champion's for one that has none.

    Raises:
        ValueError: No agent of that name, or none that plays by these rules.
    """
    if isinstance(agent, str):
        agent = load_agent(agent, rules)
    if isinstance(agent, PolicySearch):
        agent = agent.agent
    if not isinstance(agent, PolicyAgent):
        agent = load_agent("champion", rules)
    if not isinstance(agent, PolicyAgent) or agent.rules != rules:
        raise ValueError(f"{agent.name} doesn't play by the rules of this hand, {rules.name}")
    return agent
