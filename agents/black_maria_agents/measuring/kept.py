"""The file that an arena's scores are kept in."""

import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from black_maria_agents import archives
from black_maria_agents.files import InUseError, locked, replacing

FORMAT: Final = 2
"""Of the file; 1 had no checksum."""
LOCK_SECONDS: Final = 30.0
"""How long to wait for another process that is writing."""

Identities = tuple[str, str]
"""Of the agent alone, and of the one in all other seats."""


@dataclass(frozen=True)
class Sheet:
    """What a pair has played so far: games 0 … G − 1."""

    scores: NDArray[np.float64]
    """(G, seats): of the agent alone, when it sits in each seat."""
    sums: NDArray[np.float64]
    """(K,): its points by source and period, or its hands; ``duplicate.columns`` names them."""


class Kept:
    """Sheets of any agents in a file, ``….npz``, that several processes may add to.

    Args:
        path: The file, which may exist.
        about: What scores must have in common to be put together: ``"unit"``, ``"seed"`` and
            ``"rules"``, clause by clause.
        seats: Columns of every sheet's scores.
        sums: How many sums a sheet has.
    """

    def __init__(self, path: Path, about: Mapping[str, Any], *, seats: int, sums: int) -> None:
        """Look at nothing yet."""
        self.path = path
        self._about = json.loads(json.dumps(about))
        self._seats, self._sums = seats, sums
        self._sheets: dict[Identities, Sheet] = {}
        self._seen: tuple[int, ...] | None = None

    def read(self) -> dict[Identities, Sheet]:
        """All sheets of the file; none without one.

        Raises:
            ValueError: It is a file of another kind, damaged, or of other rules, seed or unit.
        """
        state = self._state()
        if state != self._seen:
            self._sheets, self._seen = self._read() if state else self._sheets, state
        return self._sheets

    def add(self, sheets: Mapping[Identities, Sheet]) -> None:
        """Write sheets beside those that are there; the file appears whole or stays as it was.

        Where the file has a pair's sheet, the longer one stays: it begins with the shorter.

        Raises:
            ValueError: As ``read``; or another process doesn't stop writing.
            OSError: It can't be written, for instance since the disk is full.
        """
        try:
            with locked(self.path.with_name(f"{self.path.name}.lock"), wait=LOCK_SECONDS):
                together = dict(self.read())
                for pair, sheet in sheets.items():
                    if pair not in together or len(together[pair].scores) < len(sheet.scores):
                        together[pair] = sheet
                self._write(together)
        except InUseError as error:
            raise ValueError(f"{self.path} is being written by {error.holder}") from None

    def _write(self, sheets: dict[Identities, Sheet]) -> None:
        content = {"about": np.array(json.dumps({"format": FORMAT, **self._about}))}
        for pair, sheet in sheets.items():
            for what, numbers in vars(sheet).items():
                content[json.dumps([what, *pair])] = numbers
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **content)
        with replacing(self.path) as file:
            file.write(archives.seal(buffer.getvalue()))
        self._sheets, self._seen = sheets, self._state()

    def _state(self) -> tuple[int, ...] | None:
        """What tells whether somebody else has written the file; None if there is none."""
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns

    def _read(self) -> dict[Identities, Sheet]:
        try:
            with archives.opened(self.path, what="a NumPy file") as archive:
                arrays = archives.read_arrays(archive)
            about = _about(arrays.pop("about", None), archive.sealed)
            if about == self._about:
                return self._sheets_of(arrays)
        except archives.UnreadableError as error:
            raise ValueError(f"{self.path} can't be read as an arena's scores: {error}") from None
        rules, ours = about["rules"], self._about["rules"]
        differ = [name for name in rules.keys() | ours.keys() if rules.get(name) != ours.get(name)]
        clauses = f" (its rules differ in {', '.join(sorted(differ))})" if differ else ""
        raise ValueError(
            f"{self.path} keeps {about['unit']} under {rules.get('name')!r} with seed "
            f"{about['seed']}; that doesn't fit{clauses}: give another file"
        )

    def _sheets_of(self, arrays: dict[str, NDArray[Any]]) -> dict[Identities, Sheet]:
        """Every entry belongs to a sheet, and every sheet is one that can have been played."""
        sheets = {}
        for key in arrays:
            what, *pair = _names(key)
            if what == "scores":
                sums = json.dumps(["sums", *pair])
                if sums not in arrays:
                    raise archives.UnreadableError(f"its entry {sums!r} is missing")
                sheets[pair[0], pair[1]] = Sheet(arrays[key], arrays[sums])
        if len(arrays) != 2 * len(sheets):
            raise archives.UnreadableError("it has sums without scores")
        for (alone, others), sheet in sheets.items():
            games = sheet.scores.shape[:1]
            shapes = {"scores": (*games, self._seats), "sums": (self._sums,)}
            for what, numbers in vars(sheet).items():
                where = f"{what} of {alone!r} against {others!r}"
                if numbers.dtype != np.float64 or numbers.shape != shapes[what]:
                    raise archives.UnreadableError(f"the {where} have another form")
                if not np.isfinite(numbers).all():
                    raise archives.UnreadableError(f"the {where} aren't all finite")
        return sheets


def _about(entry: NDArray[Any] | None, sealed: bool) -> dict[str, Any]:
    """What a file says about its scores, without its format."""
    if entry is None or entry.dtype.kind != "U" or entry.ndim:
        raise archives.UnreadableError("it doesn't say what scores it keeps")
    try:
        about = json.loads(str(entry))
    except (ValueError, RecursionError):
        about = None
    kinds = {"format": int, "unit": str, "seed": int, "rules": dict}
    if not isinstance(about, dict) or about.keys() != kinds.keys():
        raise archives.UnreadableError("what it says about its scores isn't what an arena says")
    for name, kind in kinds.items():
        if type(about[name]) is not kind:
            raise archives.UnreadableError(f"what it says about its scores has another {name!r}")
    number = about.pop("format")
    if not 1 <= number <= FORMAT:
        raise archives.UnreadableError(f"it has format {number}; this package reads 1 to {FORMAT}")
    if number == FORMAT and not sealed:
        raise archives.UnreadableError("it lacks its checksum, so another program has written it")
    return about


def _names(key: str) -> list[str]:
    """``["scores", identity, identity]`` or ``["sums", identity, identity]``."""
    try:
        names = json.loads(key)
    except (ValueError, RecursionError):
        names = None
    if not isinstance(names, list) or [*map(type, names)] != [str] * 3:
        raise archives.UnreadableError(f"its entry {key!r:.60} isn't a pair's")
    if names[0] not in ("scores", "sums") or json.dumps(names) != key:
        raise archives.UnreadableError(f"its entry {key!r:.60} isn't a pair's")
    return names
