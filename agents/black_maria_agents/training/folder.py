"""A run's folder, ``runs/<run>/``: config.json, metrics.csv, TensorBoard events, agent.pt.

One process writes in it; the file ``lock`` is there as long as it does.

What is read again carries checksums: agent.pt one of all its bytes, metrics.csv one in every line,
so that damage loses that line alone. config.json is for people: what a run was made with is read
from its checkpoint.
"""

import csv
import dataclasses
import io
import itertools
import json
import platform
import shutil
import subprocess
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import torch

from black_maria_agents.distributed import Ranks
from black_maria_agents.files import InUseError, locked, replacing, sweep
from black_maria_agents.training.run import Training

FIGURES: Final = (
    *(
        f"losses/{name}"
        for name in (
            "policy_loss", "value_loss", "entropy", "approx_kl", "clipfrac", "teacher_kl",
            "branch_loss", "ratio_error",
        )
    ),
    "charts/SPS",
    "charts/penalty",
)  # fmt: skip
"""Columns of metrics.csv: CleanRL's names, and the score of now and then, against two ducks or
against whom the run responds to."""
SUM: Final = "crc32"
"""The last column of metrics.csv: of the header, a line feed and the line up to this column."""


def new_run(run: Training, path: Path) -> Path:
    """Make a run's folder with its settings and first checkpoint, or none at all; the folder.

    Args:
        run: The training, before its first update.
        path: The folder; a number is added to its name if it is taken.

    Raises:
        OSError: It can't be written.
    """
    folder = new_folder(path)
    try:
        write_config(folder, dataclasses.asdict(run.config) | {"precision": run.precision})
        run.save(folder / "agent.pt")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


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
            believed; the others have been carried over. None if there were no such lines.
    """

    def __init__(self, folder: Path, decisions: int) -> None:
        """Open both, after what belongs to the checkpoint."""
        from torch.utils.tensorboard import SummaryWriter  # here, for it takes most of a second

        path = folder / "metrics.csv"
        self.aside: Path | None = None
        earlier: list[dict[str, str]] = []
        if path.exists():
            earlier, damaged = read_metrics(path)
            if damaged:
                self.aside = _put_aside(path)
        columns = dict.fromkeys(["decisions", *FIGURES, *(n for r in earlier for n in r)])
        self._columns = list(columns)
        self._header = _text([*columns, SUM])
        with replacing(path, "w") as file:
            file.write(f"{self._header}\n")
            file.writelines(
                self._line(row) for row in earlier if int(row["decisions"]) <= decisions
            )
        self._file = path.open("a", newline="", encoding="utf-8")
        self._board = SummaryWriter(str(folder), purge_step=decisions + 1 if decisions else None)

    def write(self, decisions: int, figures: dict[str, float]) -> None:
        """Log figures; if the process is killed now, they are there."""
        self._file.write(self._line({"decisions": decisions, **figures}))
        self._file.flush()
        for name, value in figures.items():
            self._board.add_scalar(name, value, decisions)
        self._board.flush()

    def close(self) -> None:
        """Close both."""
        self._file.close()
        self._board.close()

    def _line(self, row: Mapping[str, object]) -> str:
        text = _text(row.get(name, "") for name in self._columns)
        return f"{text},{_sum(self._header, text)}\n"


def read_metrics(path: Path) -> tuple[list[dict[str, str]], bool]:
    """The rows of a metrics.csv that can be believed, and whether there are lines that can't.

    A row has its figures by their columns, "" where there is none. Files that were written before
    lines had a checksum are believed if there is a number in every column.

    Raises:
        OSError: The file can't be read.
    """
    return _rows(path.read_bytes().decode("utf-8", "replace"))


def _rows(text: str) -> tuple[list[dict[str, str]], bool]:
    head, *lines = (line.removesuffix("\r") for line in text.split("\n"))
    names = _cells(head)
    summed = names[-1:] == [SUM]
    names = names[: len(names) - summed]
    if "decisions" not in names or len(set(names)) < len(names):
        return [], bool(text)
    if not summed and set(names) - {"decisions", *FIGURES}:  # its last column may be a damaged SUM
        return [], True
    if not text.endswith("\n"):  # somebody was interrupted
        lines[-1:] = ["", ""]
    rows = []
    for line in lines[:-1]:
        content, _, told = line.rpartition(",") if summed else (line, "", "")
        cells = _cells(content)
        if _is_row(names, cells) and (not summed or told == _sum(head, content)):
            rows.append(dict(zip(names, cells, strict=True)))
    return rows, len(rows) < len(lines) - 1


def _sum(header: str, content: str) -> str:
    return str(zlib.crc32(f"{header}\n{content}".encode()))


def _text(cells: Iterable[object]) -> str:
    """A line of CSV, without its end."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()


def _is_row(names: list[str], cells: list[str]) -> bool:
    """Whether there is a number, or nothing, in every column, and the decisions are whole."""
    if len(cells) != len(names) or not cells[names.index("decisions")].isdecimal():
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


def _put_aside(path: Path) -> Path:
    """Keep a file's content under a name beside its own that is free."""
    number = 1
    while (aside := path.with_name(f"{path.stem}-damaged-{number}{path.suffix}")).exists():
        number += 1
    with replacing(aside) as file:
        file.write(path.read_bytes())
    return aside
