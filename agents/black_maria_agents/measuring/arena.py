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

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from torch import distributed

from black_maria.engine import STATE
from black_maria.rules import Rules
from black_maria_agents.base import Agent
from black_maria_agents.console import PlainConsole, progress_on
from black_maria_agents.distributed import Ranks
from black_maria_agents.measuring.duplicate import TABLES, Block, play_pairs
from black_maria_agents.measuring.pace import Pace
from black_maria_agents.measuring.results import Result
from black_maria_agents.measuring.scores import Pair, Scores
from black_maria_agents.measuring.stopping import enough, expected, look_points
from black_maria_agents.seeds import TEST_SEEDS

BLOCK_SECONDS: Final = 2.0
"""Processor time after which results are put together: blocks of games grow towards it."""

Games = int | Mapping[Pair, int]
"""Deals or matches: one number for all pairs, or one for each."""
HandsTold = Callable[[NDArray[Any], list[list[str]]], Any]
"""Called with (H,) records of tables before the last card, and their (H, seats) agents' names."""


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
        on_hands: Called after each block with its hands; ordered by game, pair, rotation and hand.
        keep: A file, ``….npz``, for the scores of all games, written after each block. What it
            holds of these agents already counts; see ``Scores``.

    Raises:
        ValueError: An impossible seed; or ``keep`` is a file of another kind, or of other rules,
            seed or unit.
    """

    def __init__(
        self,
        agents: Mapping[str, Agent],
        rules: Rules,
        seed: int = 0,
        whole_matches: bool = False,
        *,
        ranks: Ranks | None = None,
        on_hands: HandsTold | None = None,
        keep: Path | None = None,
    ) -> None:
        """Take over what was kept."""
        if not 0 <= seed < TEST_SEEDS:
            raise ValueError(f"seed={seed}: test seeds are 0 … 2**63 - 1")
        self.agents, self.rules, self.seed = agents, rules, seed
        self.whole_matches = whole_matches
        self.ranks = ranks or Ranks()
        self.on_hands = on_hands
        self.scores = Scores(agents, rules, seed, whole_matches, keep)

    def play(
        self,
        pairs: Iterable[Pair],
        games: Games,
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
        pairs, played = list(pairs), self.scores.played
        goals = {pair: _goal(games, pair) for pair in pairs}
        if min(goals.values()) < 1:
            raise ValueError("there must be at least one game to play")
        pace, last_group = Pace(BLOCK_SECONDS), list[Pair]()
        while waiting := [pair for pair in pairs if not self.done(pair, goals[pair], until)]:
            # pairs that have played less catch up first
            first = min(played(pair) for pair in waiting)
            group = [pair for pair in waiting if played(pair) == first]
            stops = [goals[pair] for pair in group]
            stops += [played(pair) for pair in waiting if pair not in group]
            if until is not None:
                stops += [look for look in look_points(max(stops)) if look > first]
            if group != last_group:
                pace, last_group = Pace(BLOCK_SECONDS), group
            size = max(1, min(pace.size, TABLES // (len(group) * self.rules.seats)))
            games_now = range(first, min([first + size * self.ranks.size, *stops]))
            total = sum(expected(self.scores[pair].scores, goals[pair], until) for pair in pairs)
            so_far = sum(map(played, pairs))
            tell = _scaled(progress, so_far, len(games_now) * len(group), total)
            blocks = _gathered(self._play_share(group, games_now, tell), self.ranks)
            self._enter(group, blocks)
            if self.ranks.first:
                self.scores.save()
            pace.took(len(blocks[0].scores), max(block.seconds for block in blocks))

    def _play_share(
        self, group: list[Pair], games: range, progress: Callable[[float], Any]
    ) -> Block:
        """Play this rank's games of a block."""
        return play_pairs(
            [(self.agents[alone], self.agents[others]) for alone, others in group],
            games[self.ranks.rank :: self.ranks.size],
            seed=TEST_SEEDS + self.seed,
            rules=self.rules,
            whole_matches=self.whole_matches,
            with_hands=self.on_hands is not None,
            progress=progress,
        )

    def _enter(self, group: list[Pair], blocks: list[Block]) -> None:
        """Add games that all ranks have played to the sheets, in their order."""
        world = len(blocks)
        scores = np.empty((sum(len(block.scores) for block in blocks), *blocks[0].scores.shape[1:]))
        for rank, block in enumerate(blocks):
            scores[rank::world] = block.scores
        sums = np.sum([block.sums for block in blocks], axis=0)
        for k, pair in enumerate(group):
            self.scores.enter(pair, scores[:, k], sums[k])
        if self.on_hands is not None:
            self.on_hands(*_in_order(group, blocks, self.rules.seats))

    def done(self, pair: Pair, games: int, until: float | None = None) -> bool:
        """Whether a pair needs no more games."""
        return enough(self.scores[pair].scores, games, until)

    def results(
        self, pairs: Iterable[Pair], games: Games = 0, until: float | None = None
    ) -> list[Result]:
        """The results of pairs that have played at all, marked partial if more was asked for."""
        return [
            self.scores.result(pair, partial=not self.done(pair, _goal(games, pair), until))
            for pair in pairs
            if self.scores.played(pair)
        ]


def _goal(games: Games, pair: Pair) -> int:
    return games if isinstance(games, int) else games[pair]


def _in_order(
    group: list[Pair], blocks: list[Block], seats: int
) -> tuple[NDArray[Any], list[list[str]]]:
    """All ranks' hands and who sat there, in an order that doesn't depend on who played them."""
    a_game = len(group) * seats
    hands = np.concatenate([hands for block in blocks for hands in block.hands])
    hands = hands.view(STATE)  # a pickle forgets that they are records
    rows = np.concatenate(
        [
            (each // a_game * len(blocks) + rank) * a_game + each % a_game
            for rank, block in enumerate(blocks)
            for each in block.rows
        ]
    )
    order = np.lexsort((hands["hand"], rows))
    names = []
    for row in rows[order]:
        alone, others = group[row % a_game // seats]
        names.append([alone if seat == row % seats else others for seat in range(seats)])
    return hands[order], names


def _scaled(
    progress: Callable[[float, float], Any], first: int, size: int, total: int
) -> Callable[[float], Any]:
    """Progress within a block as progress of the whole."""
    return lambda share: progress(first + share * size, total)


def _gathered(block: Block, ranks: Ranks) -> list[Block]:
    """What each process has played."""
    blocks = [block] * ranks.size
    if ranks.size > 1:
        distributed.all_gather_object(blocks, block)
    return blocks


def measure(
    agents: Mapping[str, Agent],
    pairs: Iterable[Pair],
    games: int,
    *,
    seed: int,
    rules: Rules,
    whole_matches: bool = False,
) -> list[Result]:
    """Play pairs of agents, and tell how far it is: with a bar on a terminal, else in lines.

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
    with progress_on(PlainConsole(), "measuring") as progress:
        arena.play(pairs, games, progress=progress)
    return arena.results(pairs, games)
