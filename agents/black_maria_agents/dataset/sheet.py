"""The sheet of a data set: what it is, how it was made, what its columns mean, how to read it."""

import importlib.metadata
import json
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from black_maria.rules import Rules
from black_maria_agents.dataset import parquet
from black_maria_agents.dataset.playing import Columns

COLUMNS: Final[Mapping[str, str]] = {
    "hand": "the hand's number; hand h is the deal of the seed's table h",
    "ply": "which decision of the hand, from 0; passed cards come first, one a decision",
    "seat": "who decides, 0 … S − 1",
    "agent": "who sits there, a name",
    "observation": "what that seat sees: the environment's `observation`, index by index in "
    "docs/observation.md",
    "action_mask": "1 where a card may be chosen: the environment's `action_mask`",
    "card": "the card that was chosen, 13 · suit (♣ ♦ ♥ ♠) + rank (2 … A)",
    "reward_to_come": "what the seat's rewards from this decision to the hand's end add up to",
    "probabilities": "the policy's, of every card; all 0 where the agent has no policy",
    "holding": "the truth, which no player sees: what each seat holds, the deciding one first, "
    "then clockwise; cards picked to pass are with nobody until all have picked",
}
"""What each column means."""

_TEXT: Final = """---
license: mit
pretty_name: Black Maria, decisions of {names}
tags: [card-games, imitation-learning, offline-reinforcement-learning]
---

# Black Maria: {rows:,} decisions of {names}

Every decision of {hands:,} hands of Black Maria, the British three-player Hearts and its family,
as Parquet: {shards:,} shards of up to {shard:,} hands, rows ordered by hand and ply.

## How it was made

    {command}

with black-maria {version}. In hand h, seat s holds agent h // {agents}^s mod {agents} of the list
below, so every mix of seats comes up. Networks {how}.
No person played, and nothing was filtered: forced cards, those without a choice, are in it.

| agent | identity | decisions | with a choice | mean reward of a hand |
|---|---|---|---|---|
{table}

* **Rules**: `{profile}`, {seats} seats; every clause is in the shards' metadata.
* **Seed**: {seed}. The same command gives the same bytes on one kind of processor and with the
  same versions of the package, PyTorch and pyarrow.
* **Rewards**: {rewards}.
* **Licence**: MIT, as the package.

## Columns

| column | Parquet | a row | what |
|---|---|---|---|
{columns}

Arrays are bytes of fixed length, in C order, little-endian. `holding` is for studies of beliefs and
for critics: a player that reads it cheats.

## Reading it

    from black_maria_agents import dataset

    for batch in dataset.load("this folder", choices=True, shuffle=1):
        batch["observation"], batch["card"]     # tensors; the checksums have been verified

or without the package:

    import numpy as np, pyarrow.parquet as pq

    table = pq.read_table("decisions-00000.parquet", columns=["observation", "card"])
    observation = np.frombuffer(b"".join(table["observation"].to_pylist()), np.int8)
    observation = observation.reshape(len(table), {size})

`sha256sum -c SHA256SUMS` checks that all is there and as it was written.

## What it isn't

It shows how these agents play, their mistakes among it, against each other: not how people play,
nor how the game should be played.
"""


class Tally:
    """Counts of each agent's decisions, shard after shard.

    Args:
        names: The agents'.
    """

    def __init__(self, names: list[str]) -> None:
        """Start at nothing."""
        self.names = names
        self.decisions, self.choices, self.seats = np.zeros((3, len(names)), np.int64)
        self.rewards = np.zeros(len(names))

    @property
    def rows(self) -> int:
        """Decisions in all."""
        return int(self.decisions.sum())

    def add(self, rows: Columns) -> None:
        """Count a shard's whole hands."""
        agent, several = rows["agent"], rows["action_mask"].sum(axis=1, dtype=np.int64) > 1
        _, first = np.unique(np.stack([rows["hand"], rows["seat"]]), axis=1, return_index=True)
        for number in range(len(self.names)):
            mine = agent == number
            self.decisions[number] += mine.sum()
            self.choices[number] += (mine & several).sum()
            starts = first[mine[first]]
            self.seats[number] += len(starts)
            self.rewards[number] += rows["reward_to_come"][starts].sum(dtype=np.float64)


def text(about: Mapping[str, Any], tally: Tally, *, rules: Rules, shard: int, sampled: bool) -> str:
    """The sheet, in Markdown.

    Args:
        about: What stands in the shards' metadata.
        tally: What was counted.
        rules: The rules they were played by.
        shard: Hands of a shard.
        sampled: Whether networks drew from their policy.
    """
    table = [
        f"| `{name}` | {identity} | {tally.decisions[k]:,} | {tally.choices[k]:,} "
        f"| {tally.rewards[k] / max(tally.seats[k], 1):.2f} |"
        for k, (name, identity) in enumerate(zip(tally.names, about["identities"], strict=True))
    ]
    shapes = parquet.shapes(rules)
    columns = [
        f"| `{name}` | {_kind(name, dtype, shapes)} | {_row(name, dtype, shapes)} "
        f"| {COLUMNS[name]} |"
        for name, dtype in parquet.DTYPES.items()
    ]
    per_hand = "as the trick falls, minus the penalty points of its taker"
    if rules.total_varies:
        per_hand += ", plus the others' mean: zero-sum, since a hand's total varies"
    return _TEXT.format(
        names=", ".join(tally.names), rows=tally.rows, hands=about["hands"],
        shards=about["shards"], shard=shard,
        command=_command(about, rules, sampled), version=importlib.metadata.version("black-maria"),
        agents=len(tally.names), how="drew from their policy" if sampled else
        "played their likeliest card", table="\n".join(table), profile=rules.name,
        seats=rules.seats, seed=about["seed"], rewards=per_hand, columns="\n".join(columns),
        size=shapes["observation"][0],
    )  # fmt: skip


def _command(about: Mapping[str, Any], rules: Rules, sampled: bool) -> str:
    words = ["python -m black_maria_agents.dataset", *map(_quoted, about["agents"])]
    words += [f"--hands {about['hands']}", f"--seed {about['seed']}", f"--rules {rules.name}"]
    words += [f"--seats {rules.seats}", *["--sampled"] * sampled, "-o FOLDER"]
    return " ".join(words)


def _quoted(name: str) -> str:
    return name if name.replace(":", "").isalnum() else json.dumps(name, ensure_ascii=False)


def _kind(name: str, dtype: str, shapes: Mapping[str, tuple[int, ...]]) -> str:
    if name == "agent":
        return "dictionary of strings"
    if name not in shapes:
        return dtype
    return f"{np.prod(shapes[name]) * np.dtype(dtype).itemsize} bytes"


def _row(name: str, dtype: str, shapes: Mapping[str, tuple[int, ...]]) -> str:
    if name not in shapes:
        return "one"
    return f"({', '.join(map(str, shapes[name]))}) {dtype}"
