"""A run's folder, ``runs/<run>/``: config.json, metrics.csv, TensorBoard events, agent.pt."""

import csv
import itertools
import json
import platform
import subprocess
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

FIGURES: Final = (
    *(
        f"losses/{name}"
        for name in (
            "policy_loss", "value_loss", "entropy", "approx_kl", "clipfrac", "teacher_kl",
            "ratio_error",
        )
    ),
    "charts/SPS",
    "charts/penalty",
)  # fmt: skip
"""Columns of metrics.csv: CleanRL's names, and the score of now and then, against two ducks or
against whom the run responds to."""


def new_folder(path: Path) -> Path:
    """Make a folder, with a number added to its name if it is taken."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for number in itertools.count(1):
        folder = path if number == 1 else path.with_name(f"{path.name}-{number}")
        with suppress(FileExistsError):  # it may have appeared just now
            folder.mkdir()
            break
    return folder


def write_config(folder: Path, settings: dict[str, Any]) -> None:
    """Write the run's settings, with the versions and the commit that it runs on."""
    packages = ("black-maria", "torch", "numpy", "numba", "gymnasium", "pettingzoo")
    content = settings | {
        "versions": {"python": platform.python_version()} | {p: version(p) for p in packages},
        "commit": _commit(),
    }
    (folder / "config.json").write_text(json.dumps(content, indent=2) + "\n")


def _commit() -> str | None:
    """The commit that runs; None where there is no git, or no checkout."""
    try:
        git = subprocess.run(
            ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False,
            cwd=Path(__file__).parent,
        )  # fmt: skip
    except OSError:
        return None
    return git.stdout.strip() or None


class Log:
    """``FIGURES`` by the number of decisions, to metrics.csv and TensorBoard; some may lack.

    Args:
        folder: The run's folder.
        decisions: Where the run stands. What an interrupted run logged later is taken back.
    """

    def __init__(self, folder: Path, decisions: int) -> None:
        """Open both, after what belongs to the checkpoint."""
        from torch.utils.tensorboard import SummaryWriter  # here, for it takes most of a second

        path = folder / "metrics.csv"
        earlier = []
        if decisions and path.exists():
            with path.open(newline="") as file:
                earlier = [
                    row for row in csv.DictReader(file) if int(row["decisions"]) <= decisions
                ]
        self._file = path.open("w", newline="")
        self._writer = csv.DictWriter(self._file, ["decisions", *FIGURES])
        self._writer.writeheader()
        self._writer.writerows(earlier)
        self._board = SummaryWriter(str(folder), purge_step=decisions + 1 if decisions else None)

    def write(self, decisions: int, figures: dict[str, float]) -> None:
        """Log figures, in lines that are whole even if the process is killed."""
        self._writer.writerow({"decisions": decisions} | figures)
        self._file.flush()
        for name, value in figures.items():
            self._board.add_scalar(name, value, decisions)

    def close(self) -> None:
        """Close both."""
        self._file.close()
        self._board.close()
