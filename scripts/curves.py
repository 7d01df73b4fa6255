"""Draw the learning curve of one run, or the band of several, and keep its points as CSV.

    python scripts/curves.py docs/training.png runs/first runs/first-2 runs/first-3
    python scripts/curves.py docs/champion.png runs/champion,runs/second

Runs joined by commas are one curve: each started from the weights of the one before.

The scores are the trainings' own, a few hundred deals each against ducks; every point of
the curve is the mean of up to five.
"""

import csv
import sys
from pathlib import Path

if __name__ == "__main__":
    from black_maria import extras

    extras.check("agents", by="curves.py")

import matplotlib
import numpy as np
from numpy.typing import NDArray

from black_maria_agents import checkpoint
from black_maria_agents.border import border, check_outputs
from black_maria_agents.contents import rules_of
from black_maria_agents.measuring import par, unit_of
from black_maria_agents.training.folder import read_metrics

matplotlib.use("Agg")
from matplotlib import pyplot as plt

SMOOTHED = 5


def scores(chain: list[Path]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Decisions and scores of runs one after another, (K,) each.

    Raises:
        ValueError: A metrics.csv is damaged, or has no scores.
        OSError: One can't be read.
    """
    points: list[tuple[float, float]] = []
    before = last = 0.0
    for folder in chain:
        rows, damaged = read_metrics(folder / "metrics.csv")
        if damaged:
            raise ValueError(f"{folder / 'metrics.csv'} has lines that can't be believed")
        for row in rows:
            last = before + float(row["decisions"])
            if row.get("charts/penalty"):
                points.append((last, float(row["charts/penalty"])))
        before = last
    if not points:
        raise ValueError(f"{chain[-1]} has no scores yet")
    decisions, values = np.array(points).T
    return decisions, values


def smooth(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Every value as the mean of the last few up to it, none from the first half of the way."""
    starts = [max(k - SMOOTHED + 1, (k + 1) // 2) for k in range(len(values))]
    return np.array([values[start : k + 1].mean() for k, start in enumerate(starts)])


def main(target: Path, chains: list[list[Path]]) -> None:
    """Draw, and write the points beside the picture.

    Raises:
        ValueError: A run can't be drawn, or the picture not written; says why.
        OSError: A file can't be read or written.
    """
    check_outputs({target: ".png", target.with_suffix(".csv"): ".csv"})
    runs = [scores(chain) for chain in chains]
    decisions = runs[0][0]
    if any(not np.array_equal(others, decisions) for others, _ in runs):
        raise ValueError("the runs were scored after different decisions: they have no band")
    curves = np.stack([smooth(values) for _, values in runs])
    figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
    axis.plot(decisions / 1e6, curves.mean(axis=0), color="tab:blue")
    if len(runs) > 1:
        low, high = curves.min(axis=0), curves.max(axis=0)
        axis.fill_between(decisions / 1e6, low, high, alpha=0.25, label=f"{len(runs)} seeds")
        axis.legend(frameon=False)
    rules = rules_of(checkpoint.load(chains[0][0] / "agent.pt"))
    unit = unit_of(rules)
    what = "points a hand" if unit == "penalty" else "others' mean − own points a hand"
    axis.axhline(par(unit, rules), color="grey", linestyle=":", linewidth=1)
    axis.text(decisions[-1] / 1e6, par(unit, rules), "par ", ha="right", va="bottom", color="grey")
    later = curves[:, decisions > decisions[-1] / 20]  # without the first steep part
    axis.set(
        xlabel="million decisions",
        ylabel=f"{what},\nalone against ducks",
        ylim=(min(later.min(), par(unit, rules)) - 1, max(later.max(), par(unit, rules)) + 1),
    )
    axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(target, dpi=120)
    with target.with_suffix(".csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["decisions", *(chain[-1].name for chain in chains)])
        writer.writerows(
            [int(at), *(round(values[k], 3) for _, values in runs)]
            for k, at in enumerate(decisions)
        )


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: python scripts/curves.py PICTURE.png RUN …")
    with border("curves.py"):
        main(Path(sys.argv[1]), [[Path(run) for run in name.split(",")] for name in sys.argv[2:]])
