"""What the arena measures: estimates with their intervals, and one result a table."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from black_maria.rules import Rules


@dataclass(frozen=True)
class Estimate:
    """A mean with the half-width of its 95 % interval (Student's t)."""

    mean: float
    half_width: float

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> "Estimate":
        """The estimate from independent values, (D,); the width is NaN for fewer than two."""
        apart = values - values[0]  # equal values have exactly that mean, and width 0
        mean = float(values[0] + apart.mean())
        if len(values) < 2:
            return cls(mean, float("nan"))
        error = apart.std(ddof=1) / np.sqrt(len(values))
        return cls(mean, _quantile(len(values) - 1) * float(error))

    def text(self, places: int = 2) -> str:
        """``"14.33 ± 0.05"``."""
        return f"{self.mean:.{places}f} ± {self.half_width:.{places}f}"


@cache
def _quantile(freedom: int) -> float:
    """Student's t at 97.5 %."""
    from scipy.special import stdtrit  # here, for SciPy takes a while, and --help needs none

    return float(stdtrit(freedom, 0.975))


@dataclass(frozen=True)
class Result:
    """One agent alone against copies of another."""

    agent: str
    others: str
    unit: str
    """What the figures are: ``"penalty"`` points a hand, ``"advantage"`` in such points, or
    ``"win share"`` of a match."""
    games: int
    """Deals or matches, each played in every rotation."""
    score: Estimate
    by_seat: tuple[Estimate, ...]
    sources: Mapping[str, float] = field(default_factory=dict)
    """The agent's mean penalty points a hand by the cards that cost them: ``"hearts"``, every
    other card by its name, and ``"moon"`` (what a moon changed) where one may be shot. They
    add up to its mean penalty. Empty for matches."""
    periods: Mapping[str, float] = field(default_factory=dict)
    """The same points, but for those of a moon, by the trick that they fell in: ``"early"``,
    ``"middle"`` and ``"late"`` third of the hand. Empty for matches."""
    hands: float | None = None
    """Mean hands a match, a play-off's included; None for deals."""
    partial: bool = False
    """Play was interrupted before this table had all its games."""


def unit_of(rules: Rules, whole_matches: bool = False) -> str:
    """The unit of a ``Result``."""
    if whole_matches:
        return "win share"
    return "advantage" if rules.total_varies else "penalty"


def direction(unit: str) -> int:
    """1 where more is better, −1 where less is."""
    return -1 if unit == "penalty" else 1


def par(unit: str, rules: Rules) -> float:
    """What an agent as good as the others scores."""
    return {"penalty": rules.par, "advantage": 0.0, "win share": 1 / rules.seats}[unit]


def edge(results: list[Result], name: str, other: str) -> Estimate:
    """How far an agent is ahead of another, in the unit's points.

    It is half the difference between the two tables of the pair: what the other loses alone
    against it, less what it loses alone against the other. Its interval takes the tables as
    independent; they are of the same deals, good or bad for both, so it is rather too wide. NaN
    if they haven't met both ways.
    """
    score = {(result.agent, result.others): result.score for result in results}
    if not {(name, other), (other, name)} <= score.keys():
        return Estimate(math.nan, math.nan)
    mine, theirs = score[name, other], score[other, name]
    mean = direction(results[0].unit) * (mine.mean - theirs.mean) / 2
    return Estimate(mean, math.hypot(mine.half_width, theirs.half_width) / 2)


def edges(results: list[Result]) -> dict[str, Estimate]:
    """How far each agent is ahead of the others, best first.

    Its edge is the mean of its edges over all agents that it has met both ways; NaN if there
    are none.
    """
    names = {name: None for result in results for name in (result.agent, result.others)}
    found = {}
    for name in names:
        each = [edge(results, name, other) for other in names if other != name]
        met = [one for one in each if not math.isnan(one.mean)]
        count = len(met) or math.nan
        width = math.hypot(*(one.half_width for one in met)) / count
        found[name] = Estimate(sum(one.mean for one in met) / count, width)
    return dict(sorted(found.items(), key=lambda item: -item[1].mean))
