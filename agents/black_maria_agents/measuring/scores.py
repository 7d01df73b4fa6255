"""What pairs of agents have scored against each other, and the file that it is kept in."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from itertools import permutations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from black_maria.rules import Rules
from black_maria_agents.base import Agent
from black_maria_agents.measuring.duplicate import PERIODS, columns
from black_maria_agents.measuring.kept import Identities, Kept, Sheet
from black_maria_agents.measuring.results import Estimate, Result, unit_of
from black_maria_agents.network import PolicyAgent

Pair = tuple[str, str]
"""Names: the agent alone, and the one in all other seats."""


def both_ways(names: Iterable[str]) -> list[Pair]:
    """Every pair of agents, each once alone and once as the others."""
    return list(permutations(names, 2))


class Scores:
    """A sheet for every pair.

    With a file it starts from what that holds of these agents, told apart by their identities.
    What it holds of others stays in it.

    Args:
        agents: By name.
        rules: The rules they play by.
        seed: Which of the test seeds.
        whole_matches: Matches are played, and win shares measured.
        file: ``….npz``, which may exist.

    Raises:
        ValueError: It is a file of another kind, or of other rules, seed or unit.
    """

    def __init__(
        self,
        agents: Mapping[str, Agent],
        rules: Rules,
        seed: int,
        whole_matches: bool,
        file: Path | None = None,
    ) -> None:
        """Take over what the file holds."""
        self._agents, self._rules = agents, rules
        self._seed, self._whole_matches = seed, whole_matches
        self._sheets: dict[Pair, Sheet] = {}
        self._kept: Kept | None = None
        if file is not None:
            about = {"unit": unit_of(rules, whole_matches), "seed": seed, "rules": asdict(rules)}
            sums = len(columns(rules, whole_matches))
            self._kept = Kept(file, about, seats=rules.seats, sums=sums)
            self._take_over(self._kept)

    def __getitem__(self, pair: Pair) -> Sheet:
        """A pair's sheet; an empty one if it hasn't played."""
        width = len(columns(self._rules, self._whole_matches))
        empty = Sheet(np.zeros((0, self._rules.seats)), np.zeros(width))
        return self._sheets.get(pair, empty)

    def played(self, pair: Pair) -> int:
        """How many games a pair has played."""
        return len(self[pair].scores)

    def enter(self, pair: Pair, scores: NDArray[np.float64], sums: NDArray[np.float64]) -> None:
        """Add a pair's next games: scores (G, seats) and sums (K,)."""
        sheet = self[pair]
        self._sheets[pair] = Sheet(np.concatenate([sheet.scores, scores]), sheet.sums + sums)

    def result(self, pair: Pair, *, partial: bool = False) -> Result:
        """A pair's result; it must have played."""
        sheet, names = self[pair], columns(self._rules, self._whole_matches)
        means = dict(zip(names, (sheet.sums / sheet.scores.size).tolist(), strict=True))
        return Result(
            *pair,
            unit_of(self._rules, self._whole_matches),
            len(sheet.scores),
            Estimate.of(sheet.scores.mean(axis=1)),
            tuple(Estimate.of(seat) for seat in sheet.scores.T),
            {name: mean for name, mean in means.items() if name not in (*PERIODS, "hands")},
            {name: mean for name, mean in means.items() if name in PERIODS},
            means.get("hands"),
            partial=partial,
        )

    def save(self) -> None:
        """Write all there is to the file, if there is one; see ``Kept.add``."""
        if self._kept is not None:
            self._kept.add(
                {self._identities(pair, _identity): sheet for pair, sheet in self._sheets.items()}
            )

    def _take_over(self, kept: Kept) -> None:
        found = kept.read()
        for pair in permutations(self._agents, 2):
            for identity_of in (_older_identity, _identity):
                identities = self._identities(pair, identity_of)
                if identities in found:
                    self._sheets[pair] = found[identities]

    def _identities(self, pair: Pair, identity_of: Callable[[Agent], str]) -> Identities:
        alone, others = (identity_of(self._agents[name]) for name in pair)
        return alone, others


def _identity(agent: Agent) -> str:
    return agent.identity


def _older_identity(agent: Agent) -> str:
    """In files of version 0.1.0 all agents of a sampled evaluation had the word, bots as well."""
    return agent.identity if isinstance(agent, PolicyAgent) else f"{agent.identity} sampled"
