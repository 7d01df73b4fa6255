"""A data set for PyTorch: verified when it is opened, read shard by shard."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import IterableDataset, get_worker_info

from black_maria.extras import need
from black_maria.rules import Rules
from black_maria_agents import contents
from black_maria_agents.dataset import parquet
from black_maria_agents.dataset.making import FORMAT, SUMS, VERSION, digest
from black_maria_agents.dataset.playing import Columns

_LINE: Final = re.compile(r"([0-9a-f]{64})  ([\w-]+\.(?:parquet|md))")
_WIDER: Final = ("card", "seat", "agent", "ply")
"""Columns that come as int64, which PyTorch wants of what it counts or indexes by."""


class DatasetError(ValueError):
    """A folder that isn't a data set, is damaged, or isn't whole."""


def load(
    folder: str | Path,
    *,
    batch: int = 1024,
    agents: Iterable[str] | None = None,
    choices: bool = False,
    shuffle: int | None = None,
) -> "Decisions":
    """Open a data set; its checksums are verified now.

    Args:
        folder: As ``make`` has written it.
        batch: Decisions of a batch; a shard's last one is smaller.
        agents: Whose decisions; without it everybody's.
        choices: Only those with more than one legal card.
        shuffle: A seed: shards, and decisions in a shard, in an order of its own in every epoch.
            Without it as they were played.

    Raises:
        DatasetError: It can't be read or isn't whole; says why.
        ValueError: An agent that isn't in it, or no batch.
        MissingExtraError: pyarrow isn't installed.
    """
    return Decisions(Path(folder), batch, agents, choices, shuffle)


class Decisions(IterableDataset[dict[str, Tensor]]):
    """Batches of decisions: dictionaries of tensors, a row a decision; see ``load``.

    ``"observation"`` (B, F), ``"action_mask"`` (B, 52) and ``"holding"`` (B, S, 52) int8;
    ``"card"``, ``"hand"``, ``"ply"``, ``"seat"`` and ``"agent"`` (its number in ``agents``) (B,)
    int64; ``"reward_to_come"`` (B,) and ``"probabilities"`` (B, 52) float32.

    A ``DataLoader`` takes it with ``batch_size=None``; its workers share the shards.

    Attributes:
        rules: What was played.
        agents: The agents' names, in the order of their numbers.
        hands: How many hands there are in it.
        seed: The deals' seed.
        epoch: The next pass's number, for the order of shuffled ones; a pass counts it on, and
            whoever reads by workers sets it.
        done: The share of the pass that has been read, shard by shard, above 0 to 1.
    """

    def __init__(
        self,
        folder: Path,
        batch: int,
        agents: Iterable[str] | None,
        choices: bool,
        shuffle: int | None,
    ) -> None:
        """Verify all files."""
        need("pyarrow", "data")
        self._shards = _verified(folder)
        about = _about(self._shards, folder)
        try:
            self.rules: Rules = contents.rules_of(about)
        except ValueError as error:
            raise DatasetError(f"{folder} can't be used: {error}") from None
        self.agents: list[str] = about["agents"]
        self.hands, self.seed, self.epoch = int(about["hands"]), int(about["seed"]), 0
        self.done = 0.0
        if batch < 1:
            raise ValueError(f"batch={batch}: give a whole number from 1")
        wanted = list(self.agents if agents is None else agents)
        if foreign := [name for name in wanted if name not in self.agents]:
            raise ValueError(f"{foreign[0]} isn't in {folder}: there are {', '.join(self.agents)}")
        self._wanted = [self.agents.index(name) for name in wanted]
        self._batch, self._choices, self._shuffle = batch, choices, shuffle

    def __iter__(self) -> Iterator[dict[str, Tensor]]:
        """One pass over the data set."""
        draw = None if self._shuffle is None else np.random.default_rng([self._shuffle, self.epoch])
        self.epoch += 1
        order = (
            np.arange(len(self._shards)) if draw is None else draw.permutation(len(self._shards))
        )
        seeds = [None] * len(order) if draw is None else draw.spawn(len(order))
        worker = get_worker_info()
        first, step = (0, 1) if worker is None else (worker.id, worker.num_workers)
        for place in range(first, len(order), step):
            self.done = (place + 1) / len(order)
            yield from self._batches(self._shards[order[place]], seeds[place])

    def _batches(self, path: Path, draw: np.random.Generator | None) -> Iterator[dict[str, Tensor]]:
        columns = parquet.read(path, self.rules, self.agents)
        rows = np.flatnonzero(self._chosen(columns))
        if draw is not None:
            draw.shuffle(rows)
        for start in range(0, len(rows), self._batch):
            part = rows[start : start + self._batch]
            yield {name: _tensor(name, column[part]) for name, column in columns.items()}

    def _chosen(self, columns: Columns) -> NDArray[np.bool_]:
        """Which rows are asked for."""
        chosen: NDArray[np.bool_] = np.isin(columns["agent"], self._wanted)
        if self._choices:
            chosen &= columns["action_mask"].sum(axis=1, dtype=np.int64) > 1
        return chosen


def _tensor(name: str, values: NDArray[Any]) -> Tensor:
    return torch.from_numpy(values.astype(np.int64) if name in _WIDER else values)


def _verified(folder: Path) -> list[Path]:
    """A folder's shards, once all files have been seen to be as they were written."""
    try:
        lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        lines = [""]
    except OSError:
        what = "isn't whole: its" if any(folder.glob("*.parquet")) else "is no data set: a"
        raise DatasetError(f"{folder} {what} {SUMS} is missing") from None
    files = {}
    for line in lines:
        found = _LINE.fullmatch(line)
        if found is None:
            raise DatasetError(f"{folder / SUMS} is damaged: {line!r:.90} isn't a checksum's line")
        files[found[2]] = found[1]
    for name, expected in files.items():
        try:
            same = digest(folder / name) == expected
        except OSError as error:
            reason = error.strerror or str(error)
            raise DatasetError(f"{folder} isn't whole: {name}: {reason}") from None
        if not same:
            raise DatasetError(f"{folder / name} is damaged: it doesn't match its checksum")
    return [folder / name for name in sorted(files) if name.endswith(".parquet")]


def _about(shards: list[Path], folder: Path) -> dict[str, Any]:
    """What the shards say of the whole."""
    try:
        about = parquet.about(shards[0]) if shards else {}
        known = (about.get("format"), about.get("version")) == (FORMAT, VERSION)
    except (OSError, ValueError):
        known = False
    if not known:
        raise DatasetError(f"{folder} is no data set of this package")
    if len(shards) != about["shards"]:
        raise DatasetError(
            f"{folder} isn't whole: it has {len(shards)} of {about['shards']} shards"
        )
    return about
