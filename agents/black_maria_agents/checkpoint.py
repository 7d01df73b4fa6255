"""Checkpoints: plain tensors and builtins, written whole or not at all.

A checkpoint holds everything that its agent needs to play and all that tells how it came
about: weights, configuration, decisions so far, rules, and the blocks of the observation that
its networks read, by name and shape; the critic, for a training that starts from the agent; and,
in a run's folder, what that run needs to go on. It loads with
``torch.load(weights_only=True)``: no code runs.
"""

import dataclasses
import hashlib
import os
import pickle
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

import torch

from black_maria.clauses import shown
from black_maria.layout import layout_of
from black_maria.rules import Rules
from black_maria_agents.network import OracleCritic, Policy, PolicyAgent

FORMAT: Final = "black-maria agent"
VERSION: Final = 4


class CheckpointError(ValueError):
    """A file that isn't a checkpoint, is damaged, or was made for something else."""


@contextmanager
def replacing(path: Path, temporary: Path) -> Iterator[BinaryIO]:
    """A file to write to that becomes ``path`` once it is whole.

    If writing fails, ``path`` keeps what it held.
    """
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def save(
    path: str | Path,
    *,
    policy: Policy,
    critic: OracleCritic,
    rules: Rules,
    config: dict[str, Any],
    decisions: int,
    training: dict[str, Any] | None = None,
) -> None:
    """Write a checkpoint; the file appears whole or keeps what it held.

    Args:
        path: The file, usually ``….pt``.
        policy: The policy; its width and the blocks that it reads are saved with it.
        critic: Its critic, which reads the same blocks.
        rules: What it was trained for.
        config: The training's configuration, builtins only.
        decisions: Decisions of training so far.
        training: What the run needs to go on: tensors and builtins. Without it the file is an
            agent that another training may start from.
    """
    content = {
        "format": FORMAT,
        "version": VERSION,
        "rules": dataclasses.asdict(rules),
        "blocks": policy.features.blocks,
        "width": policy.width,
        "policy": policy.state_dict(),
        "critic": critic.state_dict(),
        "config": config,
        "decisions": decisions,
        "training": training,
    }
    _write(Path(path), content)


def load(path: str | Path, rules: Rules | None = None) -> dict[str, Any]:
    """A checkpoint's content as this version of the package has it, checked to fit.

    ``content["blocks"]`` names the blocks that its networks read, with their shapes; the layout
    of its rules has all of them, it may be among others and in another order.

    Args:
        path: The file.
        rules: What it must have been trained for; without them, anything.

    Raises:
        CheckpointError: Missing, damaged, foreign, trained for other rules, or made for an
            observation with a block that this package's hasn't, or has in another shape.
    """
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise CheckpointError(f"there is no checkpoint {path}") from None
    except (RuntimeError, EOFError, OSError, pickle.UnpicklingError, ValueError, KeyError) as error:
        reason = str(error).partition("\n")[0]
        raise CheckpointError(f"{path} can't be read as a checkpoint: {reason}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise CheckpointError(f"{path} is a PyTorch file, but not a Black Maria checkpoint")
    if content["version"] not in (_WITHOUT_BLOCKS, VERSION):
        raise CheckpointError(
            f"{path} has format version {content['version']}; this package reads "
            f"{_WITHOUT_BLOCKS} and {VERSION}"
        )
    trained_for = Rules(**content["rules"])
    if rules and trained_for != rules:
        raise CheckpointError(
            f"{path} was trained for {trained_for.name!r}; these rules differ in "
            f"{_differences(rules, trained_for)}"
        )
    if content["version"] == _WITHOUT_BLOCKS:
        content |= {"version": VERSION, "blocks": _first_blocks(trained_for)}
        del content["layout_version"]
    _check_blocks(path, content["blocks"], trained_for)
    return content


_WITHOUT_BLOCKS: Final = 3
"""The format's version before blocks were named."""


def _first_blocks(rules: Rules) -> dict[str, tuple[int, ...]]:
    """The blocks that networks read before checkpoints named them, in their order."""
    cards, by_seat, cards_by_seat = (52,), (rules.seats,), (rules.seats, 52)
    blocks: dict[str, tuple[int, ...]] = {
        "holding": cards, "passed": cards, "received": cards,
        "played": cards_by_seat, "trick": cards_by_seat, "led": (4,), "voids": (rules.seats, 4),
        "captured": cards_by_seat, "phase": (2,), "position": by_seat, "dealer": by_seat,
        "pass_to": by_seat, "hearts_broken": (1,), "hands_left": (1,), "totals": by_seat,
    }  # fmt: skip
    if rules.moon == "none":
        del blocks["captured"]
    return blocks


def _check_blocks(path: str | Path, blocks: Mapping[str, tuple[int, ...]], rules: Rules) -> None:
    """Refuse networks that read what the observation hasn't."""
    there = layout_of(rules).blocks
    for name, shape in blocks.items():
        if name not in there:
            raise CheckpointError(
                f"{path} reads the block {name!r}, which the observation of {rules.name!r} "
                f"hasn't; there are: {', '.join(there)}"
            )
        if there[name].shape != tuple(shape):
            raise CheckpointError(
                f"{path} reads the block {name!r} as {_by(shape)}; in the observation of "
                f"{rules.name!r} it is {_by(there[name].shape)}"
            )


def _differences(rules: Rules, others: Rules) -> str:
    """The clauses in which rules differ from others: ``"pass_count: 4 instead of 3"``."""
    there = dataclasses.asdict(others)
    words = [
        f"{name}: {shown(clause)} instead of {shown(there[name])}"
        for name, clause in dataclasses.asdict(rules).items()
        if clause != there[name]
    ]
    more = f" and {len(words) - _NAMED} more" * (len(words) > _NAMED)
    return ", ".join(words[:_NAMED]) + more


_NAMED: Final = 4
"""Clauses that a message names at most."""


def _by(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))


def load_policy(
    path: str | Path, rules: Rules, *, greedy: bool = True, name: str = ""
) -> PolicyAgent:
    """The agent of a checkpoint.

    Args:
        path: The file.
        rules: The rules it is to play by.
        greedy: Play the likeliest card; otherwise sample from the policy.
        name: What it is called; without one, by the path.

    Raises:
        CheckpointError: As ``load``.
    """
    content = load(path, rules)
    policy = Policy(layout_of(rules), content["width"], content["blocks"])
    policy.load_state_dict(content["policy"])
    fingerprint = hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]
    return PolicyAgent(
        policy, rules, greedy=greedy, name=name or str(path), fingerprint=fingerprint
    )


def strip(source: str | Path, target: str | Path) -> None:
    """Copy a checkpoint without what its run needs to go on: a small file to hand on.

    Raises:
        CheckpointError: As ``load``.
    """
    _write(Path(target), load(source) | {"training": None})


def _write(path: Path, content: dict[str, Any]) -> None:
    with replacing(path, path.with_name(f"{path.name}.tmp")) as file:
        torch.save(content, file)
