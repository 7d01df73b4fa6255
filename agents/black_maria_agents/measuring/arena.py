"""Measuring: duplicate deals, every rotation of the seats, intervals over deals.

The unit is a *deal played in every rotation*: an agent sits once in each seat while copies of
another hold the rest, on the same cards. Its mean penalty over the rotations is one number a
deal; the result is the mean over deals with the 95 % interval of that mean. One agent in all
seats scores ``rules.par`` on every deal: exactly par, with width 0.

A strong agent gains in both tables: alone against copies of another, and as the copies that
another is alone against. Each can be exploited by a different weakness, so both are played.

Where a hand's total varies, since a moon may be shot, points alone don't tell who won: there the
figure is the *advantage*, the others' mean penalty minus the agent's own, with par 0.

All pairs of agents get the same deals. No result depends on how many games run side by side, on
the other agents measured, or on the number of processes.
"""

import hashlib
import json
import os
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from torch import distributed

from black_maria.engine import STATE
from black_maria.rules import Rules
from black_maria_agents import SEARCH, checkpoint_of
from black_maria_agents.base import Agent
from black_maria_agents.checkpoint import replacing
from black_maria_agents.distributed import Ranks
from black_maria_agents.measuring.duplicate import (
    PERIODS,
    TABLES,
    Played,
    columns,
    play_deals,
    play_matches,
    play_pairs,
)
from black_maria_agents.measuring.report import progress_on, result_table
from black_maria_agents.measuring.results import Estimate, Result, par, unit_of
from black_maria_agents.options import options_of

__all__ = [
    "MAX_UNTIL", "TEST_SEEDS", "Arena", "Estimate", "Pair", "Result", "both_ways", "identity",
    "look_points", "measure", "par", "play_deals", "play_matches", "result_table", "settled",
]  # fmt: skip

Pair = tuple[str, str]
"""Names: the agent alone, and the one in all other seats."""

TEST_SEEDS: Final = 2**63
"""Seeds from here on are for measuring: training never sees their deals."""

FIRST_LOOK: Final = 250
MAX_UNTIL: Final = FIRST_LOOK * 2**9
"""Games after which a pair stops even if its interval is still too wide, unless told."""

BLOCK_SECONDS: Final = 2.0
"""Time after which results are put together: blocks of games grow towards it."""


# --- stopping: fixed looks, and an interval that stays honest -----------------------------------


def look_points(most: int) -> list[int]:
    """Numbers of games after which the interval is looked at: 250, 500, 1000, … and ``most``.

    They are fixed before play. Stopping at one depends on the half-width alone, never on the
    mean, and the points double: a width that is small by chance has few chances to stop early.
    So the intervals still cover the truth about 95 times in 100 (tests/test_arena.py).
    """
    looks = [FIRST_LOOK << k for k in range(most.bit_length()) if FIRST_LOOK << k < most]
    return [*looks, most]


def settled(scores: NDArray[np.float64], until: float) -> bool:
    """Whether play may stop after these scores (G, seats): its interval is narrow enough."""
    return len(scores) in look_points(len(scores) + 1) and _half_width(scores) <= until


def _half_width(scores: NDArray[np.float64]) -> float:
    return Estimate.of(scores.mean(axis=1)).half_width


# --- the arena: pairs, blocks of games, processes -----------------------------------------------


@dataclass
class Sheet:
    """What a pair has played so far: games 0 … G − 1."""

    scores: NDArray[np.float64]
    """(G, seats)."""
    sums: NDArray[np.float64]
    """(K,)."""


@dataclass
class Arena:
    """Agents, and all that they have scored against each other so far.

    All pairs that still need games play the same deals side by side, in blocks of a few
    seconds; after an interrupt (Ctrl-C) every pair has a whole number of deals.

    Several processes that call alike share the games: each plays every ``ranks.size``-th, and
    all of them know the results of all.

    Args:
        agents: By name.
        rules: The rules to play by.
        seed: Which of the test seeds, from 0.
        whole_matches: Play matches and measure win shares.
        ranks: The processes that share the games.
        on_hands: Called after each block with its hands, (H,) records of tables before the last
            card, and their (H, seats) agents' names; ordered by game, pair, rotation and hand.
        keep: A file, ``….npz``, for the scores of all games, written after each block. What it
            holds of these agents already counts; of others, it is kept.
        identities: By name, what tells an agent from another of its name, for ``keep``.

    Raises:
        ValueError: An impossible seed; or ``keep`` is a file of another kind, or of other rules,
            seed or unit.
    """

    agents: Mapping[str, Agent]
    rules: Rules
    seed: int = 0
    whole_matches: bool = False
    ranks: Ranks = field(default_factory=Ranks)
    on_hands: Callable[[NDArray[Any], list[list[str]]], Any] | None = None
    sheets: dict[Pair, Sheet] = field(default_factory=dict)
    keep: Path | None = None
    identities: Mapping[str, str] = field(default_factory=dict)
    _stored: dict[str, NDArray[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Take over what was kept."""
        if not 0 <= self.seed < TEST_SEEDS:
            raise ValueError(f"seed={self.seed}: test seeds are 0 … 2**63 - 1")
        if self.keep is not None and self.keep.exists():
            self._load(self.keep)

    def play(
        self,
        pairs: Iterable[Pair],
        games: int | Mapping[Pair, int],
        *,
        until: float | None = None,
        progress: Callable[[float, float], Any] = lambda done, total: None,
    ) -> None:
        """Let pairs play until each has its games; those it has played already count.

        Args:
            pairs: (alone, others) names.
            games: Deals or matches of each pair, the most with ``until``.
            until: Stop each pair at the first of its ``look_points`` where the half-width of
                its interval is at most this.
            progress: Called now and then with games played and games expected in all.

        Raises:
            ValueError: No games.
        """
        pairs = list(pairs)
        goals = {pair: games if isinstance(games, int) else games[pair] for pair in pairs}
        if min(goals.values()) < 1:
            raise ValueError("there must be at least one game to play")
        empty = Sheet(
            np.zeros((0, self.rules.seats)), np.zeros(len(columns(self.rules, self.whole_matches)))
        )
        self.sheets = dict.fromkeys(pairs, empty) | self.sheets
        size = 1  # games of each rank in a block
        while waiting := [pair for pair in pairs if not self.done(pair, goals[pair], until)]:
            # pairs that have played less catch up first
            first = min(self._played(pair) for pair in waiting)
            group = [pair for pair in waiting if self._played(pair) == first]
            stops = [goals[pair] for pair in group]
            stops += [self._played(pair) for pair in waiting if pair not in group]
            if until is not None:
                stops += [look for look in look_points(max(stops)) if look > first]
            size = max(1, min(size, TABLES // (len(group) * self.rules.seats)))
            block = range(first, min([first + size * self.ranks.size, *stops]))
            expected = sum(self._expected(pair, goals[pair], until) for pair in pairs)
            so_far = sum(self._played(pair) for pair in pairs)
            tell = _scaled(progress, so_far, len(block) * len(group), expected)
            parts = _gathered(self._play_share(group, block, tell), self.ranks)
            self._enter(group, parts)
            if self.keep is not None and self.ranks.first:
                self._save(self.keep)
            seconds = max(part.seconds for part in parts)
            size = min(8 * size, int(size * BLOCK_SECONDS / seconds))

    def _play_share(
        self, group: list[Pair], block: range, progress: Callable[[float], Any]
    ) -> Played:
        """Play this rank's games of a block."""
        return play_pairs(
            [(self.agents[alone], self.agents[others]) for alone, others in group],
            block[self.ranks.rank :: self.ranks.size],
            seed=TEST_SEEDS + self.seed,
            rules=self.rules,
            whole_matches=self.whole_matches,
            keep_hands=self.on_hands is not None,
            progress=progress,
        )

    def _enter(self, group: list[Pair], parts: list[Played]) -> None:
        """Add a block that all ranks have played to the sheets, its games in order."""
        world = len(parts)
        scores = np.empty((sum(len(part.scores) for part in parts), *parts[0].scores.shape[1:]))
        for rank, part in enumerate(parts):
            scores[rank::world] = part.scores
        sums = np.sum([part.sums for part in parts], axis=0)
        for k, pair in enumerate(group):
            sheet = self.sheets[pair]
            together = np.concatenate([sheet.scores, scores[:, k]])
            self.sheets[pair] = Sheet(together, sheet.sums + sums[k])
        if self.on_hands is not None:
            self._hand_on(group, parts)

    def _hand_on(self, group: list[Pair], parts: list[Played]) -> None:
        """Tell a block's hands, in an order that doesn't depend on who played them."""
        seats = self.rules.seats
        a_game = len(group) * seats
        hands = np.concatenate([hands for part in parts for hands in part.hands])
        hands = hands.view(STATE)  # a pickle forgets that they are records
        rows = np.concatenate(
            [
                (each // a_game * len(parts) + rank) * a_game + each % a_game
                for rank, part in enumerate(parts)
                for each in part.rows
            ]
        )
        order = np.lexsort((hands["hand"], rows))
        names = []
        for row in rows[order]:
            alone, others = group[row % a_game // seats]
            names.append([alone if seat == row % seats else others for seat in range(seats)])
        assert self.on_hands is not None
        self.on_hands(hands[order], names)

    def _played(self, pair: Pair) -> int:
        return len(self.sheets[pair].scores)

    def done(self, pair: Pair, games: int, until: float | None = None) -> bool:
        """Whether a pair needs no more games."""
        if pair not in self.sheets:
            return False
        scores = self.sheets[pair].scores
        return len(scores) >= games or (until is not None and settled(scores, until))

    def _expected(self, pair: Pair, games: int, until: float | None) -> int:
        """How many games a pair will have played, as far as one can tell."""
        scores = self.sheets[pair].scores
        if until is None or len(scores) < 2:
            return max(games, len(scores))
        if self.done(pair, games, until):
            return len(scores)
        need = len(scores) * (_half_width(scores) / until) ** 2
        looks = look_points(games)
        return next((look for look in looks if look >= need and look > len(scores)), games)

    def results(
        self,
        pairs: Iterable[Pair],
        games: int | Mapping[Pair, int] = 0,
        until: float | None = None,
    ) -> list[Result]:
        """The results of pairs that have played at all, marked partial if more was asked for."""
        results = []
        names = columns(self.rules, self.whole_matches)
        for alone, others in pairs:
            pair = alone, others
            sheet = self.sheets.get(pair)
            if sheet is None or not len(sheet.scores):
                continue
            means = dict(zip(names, (sheet.sums / sheet.scores.size).tolist(), strict=True))
            goal = games if isinstance(games, int) else games[pair]
            results.append(
                Result(
                    alone,
                    others,
                    unit_of(self.rules, self.whole_matches),
                    len(sheet.scores),
                    Estimate.of(sheet.scores.mean(axis=1)),
                    tuple(Estimate.of(seat) for seat in sheet.scores.T),
                    {k: v for k, v in means.items() if k not in (*PERIODS, "hands")},
                    {k: v for k, v in means.items() if k in PERIODS},
                    means.get("hands"),
                    partial=not self.done(pair, goal, until),
                )
            )
        return results

    def _save(self, path: Path) -> None:
        """Write all scores; the file appears whole or keeps what it held."""
        content = {"about": np.array(json.dumps(self._about())), **self._stored}
        for pair, sheet in self.sheets.items():
            content[self._key("scores", pair)] = sheet.scores
            content[self._key("sums", pair)] = sheet.sums
        with replacing(path, path.with_name(f"{path.name}.{os.getpid()}.tmp")) as file:
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
        for pair in permutations(self.agents, 2):
            if self._key("scores", pair) in self._stored:
                found = (self._stored[self._key(what, pair)] for what in ("scores", "sums"))
                self.sheets[pair] = Sheet(*found)

    def _key(self, what: str, pair: Pair) -> str:
        return json.dumps([what, *(self.identities.get(name, name) for name in pair)])

    def _about(self) -> dict[str, Any]:
        """What scores must have in common to be put together."""
        unit = unit_of(self.rules, self.whole_matches)
        rules = json.loads(json.dumps(asdict(self.rules)))
        return {"format": 1, "unit": unit, "seed": self.seed, "rules": rules}


def _scaled(
    progress: Callable[[float, float], Any], first: int, size: int, total: int
) -> Callable[[float], Any]:
    """Progress within a block as progress of the whole."""
    return lambda share: progress(first + share * size, total)


def _gathered(played: Played, ranks: Ranks) -> list[Played]:
    """What each process has played."""
    parts = [played] * ranks.size
    if ranks.size > 1:
        distributed.all_gather_object(parts, played)
    return parts


def identity(name: str, rules: Rules, greedy: bool = True) -> str:
    """An agent's name with a hash of the file behind it, and how it plays: for ``Arena.keep``."""
    searches = name.partition(":")[0] == "search"
    file = checkpoint_of(str(options_of(name, SEARCH)["policy"]) if searches else name, rules)
    hashes = [hashlib.sha256(file.read_bytes()).hexdigest()[:16]] if file.is_file() else []
    return " ".join([name, *hashes, *["sampled"] * (not greedy)])


def both_ways(names: Iterable[str]) -> list[Pair]:
    """Every pair of agents, each once alone and once as the others."""
    return list(permutations(names, 2))


def measure(
    agents: Mapping[str, Agent],
    pairs: Iterable[Pair],
    games: int,
    *,
    seed: int,
    rules: Rules,
    whole_matches: bool = False,
) -> list[Result]:
    """Play pairs of agents, with a progress bar on a terminal.

    Args:
        agents: By name.
        pairs: (alone, others) names.
        games: Deals, or matches, of each pair; each is played in every rotation.
        seed: Which of the test seeds, from 0.
        rules: The rules to play by.
        whole_matches: Play matches and measure win shares.
    """
    pairs = list(pairs)
    arena = Arena(agents, rules, seed, whole_matches)
    with progress_on(Console(), "measuring") as progress:
        arena.play(pairs, games, progress=progress)
    return arena.results(pairs, games)
