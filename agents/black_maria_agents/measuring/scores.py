"""What pairs of agents have scored against each other, and the file that it is kept in."""

import json
import os
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from black_maria.rules import Rules
from black_maria_agents.base import Agent
from black_maria_agents.checkpoint import replacing
from black_maria_agents.measuring.duplicate import PERIODS, columns
from black_maria_agents.measuring.results import Estimate, Result, unit_of
from black_maria_agents.network import PolicyAgent

Pair = tuple[str, str]
"""Names: the agent alone, and the one in all other seats."""


def both_ways(names: Iterable[str]) -> list[Pair]:
    """Every pair of agents, each once alone and once as the others."""
    return list(permutations(names, 2))


@dataclass
class Sheet:
    """What a pair has played so far: games 0 … G − 1."""

    scores: NDArray[np.float64]
    """(G, seats): of the agent alone, when it sits in each seat."""
    sums: NDArray[np.float64]
    """(K,): its points by source and period, or its hands; ``duplicate.columns`` names them."""


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
        self._file = file
        self._sheets: dict[Pair, Sheet] = {}
        self._stored: dict[str, NDArray[Any]] = {}
        if file is not None and file.exists():
            self._load(file)

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

    # --- the file ---------------------------------------------------------------------------

    def save(self) -> None:
        """Write all there is to the file, if there is one; it appears whole or stays as it was."""
        if self._file is None:
            return
        content = {"about": np.array(json.dumps(self._about())), **self._stored}
        for pair, sheet in self._sheets.items():
            names = [self._agents[name].identity for name in pair]
            content[_key("scores", names)] = sheet.scores
            content[_key("sums", names)] = sheet.sums
        with replacing(
            self._file, self._file.with_name(f"{self._file.name}.{os.getpid()}.tmp")
        ) as file:
            np.savez(file, allow_pickle=False, **content)

    def _load(self, path: Path) -> None:
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as content:
                self._stored = dict(content)
            about = json.loads(str(self._stored.pop("about")))
        except (OSError, KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(f"{path} can't be read as an arena's scores: {error}") from None
        if about != self._about():
            raise ValueError(
                f"{path} keeps {about['unit']} under {about['rules']['name']!r} with seed "
                f"{about['seed']}; that doesn't fit: give another file"
            )
        for pair in permutations(self._agents, 2):
            for identity_of in (_older_identity, _identity):
                names = [identity_of(self._agents[name]) for name in pair]
                if _key("scores", names) in self._stored:
                    found = (self._stored[_key(what, names)] for what in ("scores", "sums"))
                    self._sheets[pair] = Sheet(*found)

    def _about(self) -> dict[str, Any]:
        """What scores must have in common to be put together."""
        unit = unit_of(self._rules, self._whole_matches)
        rules = json.loads(json.dumps(asdict(self._rules)))
        return {"format": 1, "unit": unit, "seed": self._seed, "rules": rules}


def _key(what: str, identities: Iterable[str]) -> str:
    return json.dumps([what, *identities])


def _identity(agent: Agent) -> str:
    return agent.identity


def _older_identity(agent: Agent) -> str:
    """In files of version 0.1.0 all agents of a sampled evaluation had the word, bots as well."""
    return agent.identity if isinstance(agent, PolicyAgent) else f"{agent.identity} sampled"
