"""A data set's folder: shards, the sheet that says what they are, and the checksums of all."""

import dataclasses
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from black_maria.extras import need
from black_maria.rules import Rules
from black_maria_agents.base import Agent
from black_maria_agents.dataset import parquet, sheet
from black_maria_agents.dataset.playing import play
from black_maria_agents.files import replacing
from black_maria_agents.seeds import TEST_SEEDS

FORMAT: Final = "black-maria decisions"
VERSION: Final = 1
SHARD: Final = 1000
"""Hands of a shard: 60,000 decisions of ``three_player``, 4 MB, 65 MB once read."""
TABLES: Final = 1000
"""Hands played side by side; no row depends on it."""
SUMS: Final = "SHA256SUMS"
"""The file of checksums, as ``sha256sum`` writes it. It comes last: with it the set is whole."""
SHEET: Final = "README.md"
MOST_AGENTS: Final = 100


def make(
    folder: str | Path,
    agents: Mapping[str, Agent],
    hands: int,
    *,
    rules: Rules,
    seed: int = 0,
    sampled: bool = False,
    tables: int = TABLES,
    progress: Callable[[float, float], Any] = lambda done, total: None,
) -> int:
    """Let agents play hands, and write every decision.

    Files appear whole. The same agents, rules, seed and number of hands give the same bytes, on
    one kind of processor and with the same versions, whatever ``tables`` is.

    Args:
        folder: New or empty.
        agents: By name; hand by hand they sit in every mix of seats, in turn.
        hands: How many hands; they are the deals of the seed's tables 0 … ``hands`` − 1.
        rules: The rules to play by.
        seed: The deals' seed, 0 … 2⁶³ − 1: agents are measured on the deals of the others.
        sampled: Whether networks draw from their policy; goes into the sheet.
        tables: Hands played side by side.
        progress: Called with hands played and hands in all.

    Returns:
        How many decisions.

    Raises:
        ValueError: A folder that holds something, no hands, another seed, no agents.
        MissingExtraError: pyarrow isn't installed.
        OSError: A file can't be written; without its checksums the folder isn't a data set.
    """
    need("pyarrow", "data")
    if hands < 1:
        raise ValueError(f"hands={hands}: there must be at least one hand to play")
    if not 0 <= seed < TEST_SEEDS:
        raise ValueError(f"seed={seed}: seeds of data are 0 … 2**63 - 1")
    if not 1 <= len(agents) <= MOST_AGENTS:
        raise ValueError(f"give 1 to {MOST_AGENTS} agents, not {len(agents)}")
    folder = _made(Path(folder))
    starts = range(0, hands, SHARD)
    about = {
        "format": FORMAT, "version": VERSION, "shards": len(starts), "hands": hands, "seed": seed,
        "rules": dataclasses.asdict(rules), "agents": list(agents),
        "identities": [agent.identity for agent in agents.values()],
    }  # fmt: skip
    sums, tally = {}, sheet.Tally(list(agents))
    for shard, start in enumerate(starts):
        span = range(start, min(start + SHARD, hands))
        rows = play([*agents.values()], span, rules=rules, seed=seed, tables=tables)
        path = folder / f"decisions-{shard:05}.parquet"
        parquet.write(path, rows, list(agents), about | {"shard": shard})
        sums[path.name] = digest(path)
        tally.add(rows)
        progress(span.stop, hands)
    with replacing(folder / SHEET, "w") as file:
        file.write(sheet.text(about, tally, rules=rules, shard=SHARD, sampled=sampled))
    sums[SHEET] = digest(folder / SHEET)
    with replacing(folder / SUMS, "w") as file:
        file.writelines(f"{value}  {name}\n" for name, value in sorted(sums.items()))
    return tally.rows


def digest(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _made(folder: Path) -> Path:
    """The folder, made if it isn't there.

    Raises:
        ValueError: It can't be made, or holds something.
    """
    try:
        folder.mkdir(exist_ok=True)
        found = sorted(path.name for path in folder.iterdir())
    except FileExistsError:
        raise ValueError(f"{folder} is a file: give a folder, new or empty") from None
    except FileNotFoundError:
        raise ValueError(f"{folder} can't be made: there is no folder {folder.parent}") from None
    if found:
        raise ValueError(f"{folder} holds {found[0]!r} already: give a folder, new or empty")
    return folder
