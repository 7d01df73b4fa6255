"""Checkpoints: plain tensors and builtins, written whole or not at all.

A checkpoint holds everything that its agent needs to play and all that tells how it came
about: weights, configuration, decisions so far, rules, and the observation layout's version;
the critic, for a training that starts from the agent; and, in a run's folder, what that run
needs to go on. It loads with ``torch.load(weights_only=True)``: no code runs.
"""

import dataclasses
import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

import torch

from black_maria.layout import LAYOUT_VERSION, layout_of
from black_maria.rules import Rules
from black_maria_agents.network import OracleCritic, Policy, PolicyAgent

FORMAT: Final = "black-maria agent"
VERSION: Final = 3


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
        policy: The policy; its width is saved with it.
        critic: Its critic.
        rules: What it was trained for.
        config: The training's configuration, builtins only.
        decisions: Decisions of training so far.
        training: What the run needs to go on: tensors and builtins. Without it the file is an
            agent that another training may start from.
    """
    content = {
        "format": FORMAT,
        "version": VERSION,
        "layout_version": LAYOUT_VERSION,
        "rules": dataclasses.asdict(rules),
        "width": policy.width,
        "policy": policy.state_dict(),
        "critic": critic.state_dict(),
        "config": config,
        "decisions": decisions,
        "training": training,
    }
    _write(Path(path), content)


def load(path: str | Path, rules: Rules | None = None) -> dict[str, Any]:
    """A checkpoint's content, checked to fit this version of the package.

    Args:
        path: The file.
        rules: What it must have been trained for; without them, anything.

    Raises:
        CheckpointError: Missing, damaged, foreign, made for another observation layout, or
            trained for other rules.
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
    for what, found, fits in (
        ("format version", content["version"], VERSION),
        ("observation layout", content["layout_version"], LAYOUT_VERSION),
    ):
        if found != fits:
            raise CheckpointError(f"{path} has {what} {found}; this package reads {fits}")
    trained_for = Rules(**content["rules"])
    if rules and trained_for != rules:
        raise CheckpointError(
            f"{path} was trained for {trained_for.name!r}; it doesn't fit {rules.name!r}"
        )
    return content


def load_policy(path: str | Path, rules: Rules, *, greedy: bool = True) -> PolicyAgent:
    """The agent of a checkpoint.

    Args:
        path: The file.
        rules: The rules it is to play by.
        greedy: Play the likeliest card; otherwise draw from the policy.

    Raises:
        CheckpointError: As ``load``.
    """
    content = load(path, rules)
    policy = Policy(layout_of(rules), content["width"])
    policy.load_state_dict(content["policy"])
    return PolicyAgent(policy, rules, greedy=greedy)


def strip(source: str | Path, target: str | Path) -> None:
    """Copy a checkpoint without what its run needs to go on: a small file to hand on.

    Raises:
        CheckpointError: As ``load``.
    """
    _write(Path(target), load(source) | {"training": None})


def _write(path: Path, content: dict[str, Any]) -> None:
    with replacing(path, path.with_name(f"{path.name}.tmp")) as file:
        torch.save(content, file)
