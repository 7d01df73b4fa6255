"""A run's folder, ``runs/<run>/``: config.json, metrics.csv, TensorBoard events, agent.pt.

One process writes in it; the file ``lock`` is there as long as it does.
"""

import csv
import itertools
import json
import platform
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import torch

from black_maria_agents.distributed import Ranks
from black_maria_agents.files import InUseError, locked, replacing, sweep

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


@contextmanager
def alone(folder: Path, ranks: Ranks | None = None) -> Iterator[None]:
    """Train in a folder while no other process does.

    The lock is gone with the process that holds it, however that ended. Processes that train
    together hold it together: the first one has it, and the others hear whether it got it.

    Args:
        folder: The run's; one that isn't there is no one's.
        ranks: The processes that train together.

    Raises:
        ValueError: Another process trains in it; names that.
    """
    ranks = ranks or Ranks()
    refused = ""
    with ExitStack() as stack:
        if ranks.first and folder.is_dir():
            try:
                stack.enter_context(locked(folder / "lock"))
            except InUseError as error:
                refused = f"{folder} is being trained by {error.holder}"
            else:
                sweep(folder)
        if int(ranks.sum(torch.tensor(int(refused != "")))):
            raise ValueError(refused or f"{folder} is being trained by another process")
        yield


def write_config(folder: Path, settings: dict[str, Any]) -> None:
    """Write the run's settings, with the versions and the commit that it runs on."""
    packages = ("black-maria", "torch", "numpy", "numba", "gymnasium", "pettingzoo")
    content = settings | {
        "versions": {"python": platform.python_version()} | {p: version(p) for p in packages},
        "commit": _commit(),
    }
    with replacing(folder / "config.json", "w") as file:
        file.write(json.dumps(content, indent=2) + "\n")


def _commit() -> str | None:
    """The commit of the code that runs; None without git or outside a repository."""
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
        decisions: Where the run stands. What an interrupted run logged later is taken back,
            for it is logged again.

    Attributes:
        aside: Where metrics.csv was put as it was, if there were lines in it that can't be
            read; the others have been carried over. None if there were no such lines.
    """

    def __init__(self, folder: Path, decisions: int) -> None:
        """Open both, after what belongs to the checkpoint."""
        from torch.utils.tensorboard import SummaryWriter  # here, for it takes most of a second

        path = folder / "metrics.csv"
        self.aside: Path | None = None
        earlier: list[dict[str, str]] = []
        if path.exists():
            content = path.read_bytes()
            earlier, damaged = _rows(content.decode("utf-8", "replace"))
            if damaged:
                self.aside = _put_aside(path, content)
        columns = list(dict.fromkeys(["decisions", *FIGURES, *(n for r in earlier for n in r)]))
        with replacing(path, "w") as file:
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            writer.writerows(row for row in earlier if int(row["decisions"]) <= decisions)
        self._file = path.open("a", newline="", encoding="utf-8")
        self._writer = csv.DictWriter(self._file, columns)
        self._board = SummaryWriter(str(folder), purge_step=decisions + 1 if decisions else None)

    def write(self, decisions: int, figures: dict[str, float]) -> None:
        """Log figures; if the process is killed now, they are there."""
        self._writer.writerow({"decisions": decisions} | figures)
        self._file.flush()
        for name, value in figures.items():
            self._board.add_scalar(name, value, decisions)
        self._board.flush()

    def close(self) -> None:
        """Close both."""
        self._file.close()
        self._board.close()


def _rows(text: str) -> tuple[list[dict[str, str]], bool]:
    """The rows of a metrics.csv that can be read, and whether there are lines that can't."""
    header, *lines = map(_cells, text.splitlines() or [""])
    if "decisions" not in header or len(set(header)) < len(header):
        return [], bool(text)
    if not text.endswith("\n"):  # somebody was interrupted
        lines[-1:] = [[]]
    rows = [dict(zip(header, cells, strict=True)) for cells in lines if _is_row(header, cells)]
    return rows, len(rows) < len(lines)


def _is_row(header: list[str], cells: list[str]) -> bool:
    """Whether there is a number, or nothing, in every column, and the decisions are whole."""
    if len(cells) != len(header) or not cells[header.index("decisions")].isdecimal():
        return False
    try:
        return all(float(cell) is not None for cell in cells if cell)
    except ValueError:
        return False


def _cells(line: str) -> list[str]:
    try:
        return next(csv.reader([line], strict=True), [])
    except csv.Error:
        return []


def _put_aside(path: Path, content: bytes) -> Path:
    """Keep content under a name beside the file's own that is free."""
    number = 1
    while (aside := path.with_name(f"{path.stem}-damaged-{number}{path.suffix}")).exists():
        number += 1
    with replacing(aside) as file:
        file.write(content)
    return aside
