"""Determinised search: an opponent that looks ahead in deals it could be facing.

``pimc:worlds=30,sims=333`` samples 30 full deals that agree with everything the seat knows,
searches each with 333 simulations as if all cards lay open, and plays the card that is best on
average. It passes by search too. It sees the observation and nothing else.

* Perfect-information Monte Carlo: M. Ginsberg, "GIB: Imperfect Information in a
  Computationally Challenging Game", JAIR 14, 2001; when it works: J. Long, N. Sturtevant,
  M. Buro and T. Furtak, "Understanding the Success of Perfect Information Monte Carlo Sampling
  in Game Tree Search", AAAI 2010.
* UCT: L. Kocsis and C. Szepesvári, "Bandit Based Monte-Carlo Planning", ECML 2006; with more
  than two players: N. Sturtevant, "An Analysis of UCT in Multi-Player Games", Computers and
  Games 2008.
* A value for every seat, backed up by who moves: C. Luckhardt and K. Irani, "An Algorithmic
  Solution of N-Person Games", AAAI 1986 (max^n).

The worlds are uniform but for one belief: a seat rarely held a heavy card back that it could
pass (``RETAINED``).
"""

import functools
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from black_maria.bots import check_batch
from black_maria.cards import NUM_CARDS
from black_maria.engine import rules_record
from black_maria.layout import layout_of
from black_maria.rules import Rules, as_rules
from black_maria.threads import cores
from black_maria_agents.options import MOST, options_of
from black_maria_agents.search.rollouts import SCALE, make_plan
from black_maria_agents.search.tree import OPTIONS, search_row
from black_maria_agents.worlds.refusals import refusal_words

FAMILY: Final = "pimc"
EXAMPLE: Final = "pimc:worlds=30,sims=333"

EXPLORE: Final = 12.0
"""Weight of the confidence bound, in penalty points of a pack of 43."""
RETAINED: Final = 0.25
"""How likely a seat held back a heavy card that it could pass on."""


class SearchAgent:
    """An ``Agent`` that searches.

    A row's card depends on its observation, mask and key alone: not on the batch, nor on how
    many threads share the work.

    Args:
        rules: A profile's name or rules.
        worlds: Deals searched for each decision.
        sims: Simulations in each of them.
        threads: Rows searched at the same time, but no more than there are cores to use; None:
            as many as these.
        name: What it is called; its budget, as ``load_agent`` takes it, unless given.

    Raises:
        ValueError: A number under 1 or above a million, or an unknown profile.
    """

    def __init__(
        self,
        rules: str | Rules = "three_player",
        *,
        worlds: int = 30,
        sims: int = 333,
        threads: int | None = None,
        name: str = "",
    ) -> None:
        """Set the budget; nothing is searched yet."""
        self.name = name or f"{FAMILY}:worlds={worlds},sims={sims}"
        self.rules = as_rules(rules)
        self.worlds, self.sims = worlds, sims
        for name, value in (("worlds", worlds), ("sims", sims), ("threads", threads or 1)):
            if not 1 <= value <= MOST:
                raise ValueError(
                    f"pimc: {name} must be a whole number from 1 to {MOST:,}, not {value}"
                )
        self._asked_threads = threads
        self.threads = threads or cores()
        self._layout = layout_of(self.rules)
        self._options = np.zeros(1, OPTIONS)
        self._options["worlds"], self._options["sims"] = worlds, sims
        points = sum(max(self.rules.penalties[card], 0) for card in self.rules.deck)
        self._options["explore"] = EXPLORE * points / self.rules.packs / SCALE
        self._options["retained"] = RETAINED

    def __reduce__(self) -> tuple[Callable[..., "SearchAgent"], tuple[Any, ...]]:
        """Pickle by what it was made from: another process finds its own kernels."""
        made = functools.partial(
            SearchAgent, worlds=self.worlds, sims=self.sims, threads=self._asked_threads,
            name=self.name,
        )  # fmt: skip
        return made, (self.rules,)

    @property
    def identity(self) -> str:
        """Its name, which says all that it plays by."""
        return self.name

    def act(
        self, obs: Mapping[str, NDArray[np.int8]], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Choose a card for every row; see ``base.Agent``.

        Raises:
            ValueError: Wrong shapes, or an observation that no play can lead to; says why.
        """
        observation, mask = check_batch(obs, keys, self._layout)
        keys = np.atleast_1d(keys)
        actions: NDArray[np.int64] = mask.argmax(axis=1)
        rows = np.flatnonzero(mask.sum(axis=1, dtype=np.int64) > 1).tolist()  # others: no choice

        def search(row: int) -> int:
            return self._search(observation[row], mask[row], keys[row], row)

        workers = min(self.threads, cores(), len(rows))
        if workers > 1:
            with ThreadPoolExecutor(workers) as pool:
                actions[rows] = list(pool.map(search, rows))
        else:
            actions[rows] = [search(row) for row in rows]
        return actions

    def _search(
        self, observation: NDArray[np.int8], mask: NDArray[np.int8], key: np.uint64, row: int
    ) -> int:
        values = np.where(mask > 0, self.look_ahead(observation, key, row), -np.inf)
        if not np.isfinite(values).any():
            raise ValueError(f"row {row}: action_mask doesn't fit the observation")
        return int(values.argmax())

    def look_ahead(
        self, observation: NDArray[np.int8], key: np.uint64, row: int = 0
    ) -> NDArray[np.float64]:
        """Search one observation, (F,) int8.

        Returns:
            What each card is worth, (52,) float64, averaged over worlds: minus the penalty
            points of the whole hand, or where ``rules.total_varies`` the others' mean minus
            the own; −inf for cards not searched: of cards that are as good as each other, all
            but the highest.

        Raises:
            ValueError: An observation that no play can lead to; says why.
        """
        seen = np.zeros(NUM_CARDS, np.int64)
        values = np.zeros(NUM_CARDS, np.float64)
        refusal, what = search_row(
            np.ascontiguousarray(observation), key, rules_record(self.rules),
            self._layout.record, make_plan(self.rules), self._options, seen, values,
        )  # fmt: skip
        if refusal:
            raise ValueError(refusal_words(refusal, what, row))
        return np.where(seen > 0, values / np.maximum(seen, 1), -np.inf)


def search_agent(name: str, rules: str | Rules = "three_player") -> SearchAgent:
    """The search agent of a name such as ``"pimc"`` or ``"pimc:worlds=30,sims=333"``.

    Raises:
        ValueError: An option that there isn't, or a value that doesn't fit; says what would.
    """
    if name.partition(":")[0] != FAMILY:
        raise ValueError(f"no search {name!r}: write {FAMILY}, or as in {EXAMPLE}")
    options: Any = options_of(name, {"worlds": 30, "sims": 333, "threads": None})
    return SearchAgent(rules, name=name, **options)
