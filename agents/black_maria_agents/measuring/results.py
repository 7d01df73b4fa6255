"""What the arena measures: estimates with their intervals, and one result a table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from black_maria.rules import Rules

_NORMAL: Final = 1.959964


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
        return cls(mean, float(_quantile(len(values) - 1) * error))

    def text(self, places: int = 2) -> str:
        """``"14.33 ± 0.05"``."""
        return f"{self.mean:.{places}f} ± {self.half_width:.{places}f}"


def _quantile(freedom: int) -> float:
    """Student's t at 97.5 %, by the first terms of its expansion around the normal's."""
    z = _NORMAL
    first = (z**3 + z) / (4 * freedom)
    return z + first + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


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


def edges(results: list[Result]) -> dict[str, float]:
    """How far each agent is ahead of the others, best first.

    An agent's edge over another is half the difference between the two tables of the pair:
    what the other loses alone against it, less what it loses alone against the other. Its
    edge is the mean over all agents that it has met both ways; NaN if there are none.
    """
    sign = direction(results[0].unit)
    score = {(result.agent, result.others): sign * result.score.mean for result in results}
    names = {name: None for pair in score for name in pair}
    found = {}
    for name in names:
        met = [other for other in names if {(name, other), (other, name)} <= score.keys()]
        each = [(score[name, other] - score[other, name]) / 2 for other in met]
        found[name] = sum(each) / len(each) if each else float("nan")
    return dict(sorted(found.items(), key=lambda item: -item[1]))
