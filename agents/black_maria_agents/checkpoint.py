"""Checkpoints: plain tensors and builtins, written whole or not at all.

A checkpoint holds everything that its agent needs to play and all that tells how it came
about: weights, configuration, decisions so far, rules, and the blocks of the observation that
its networks read, by name and shape; the clauses that they read, where they read the rules; the
critic, for a training that starts from the agent; and, in a run's folder, what that run needs to
go on. It loads with ``torch.load(weights_only=True)``: no code runs.

The file ends with a checksum of all its bytes; see ``archives``. It is verified first, then the
content entry by entry: what loads is what was saved.
"""

import dataclasses
import io
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import torch

from black_maria.given import shown
from black_maria.layout import layout_of
from black_maria.rules import Rules
from black_maria_agents import archives, contents
from black_maria_agents.files import replacing
from black_maria_agents.network import OracleCritic, Policy, PolicyAgent
from black_maria_agents.universal import MOST_SEATS, check_readable, layout_for

FORMAT: Final = "black-maria agent"
VERSION: Final = 5


class CheckpointError(ValueError):
    """A file that isn't a checkpoint, is damaged, or was made for something else."""


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

    Raises:
        ValueError: A number isn't finite, or ``load`` would refuse the content for another
            reason; nothing is written.
        OSError: The file can't be written, for instance since the disk is full.
    """
    content = {
        "format": FORMAT,
        "version": VERSION,
        "rules": dataclasses.asdict(rules),
        "blocks": policy.features.blocks,
        "clauses": policy.clauses,
        "width": policy.width,
        "policy": policy.state_dict(),
        "critic": critic.state_dict(),
        "config": config,
        "decisions": decisions,
        "training": training,
    }
    try:
        _check(content)
    except ValueError as error:
        raise ValueError(f"{path} isn't written: {error}") from None
    write(path, content)


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
    return _read(path, rules)[0]


def _read(path: str | Path, rules: Rules | None) -> tuple[dict[str, Any], str]:
    """The content, and the hash of the file that it came from."""
    try:
        with archives.opened(path, what="a PyTorch file") as archive:
            content, sealed = _unpickled(archive), archive.sealed
    except FileNotFoundError:
        raise CheckpointError(f"there is no checkpoint {path}") from None
    except archives.UnreadableError as error:
        raise CheckpointError(f"{path} can't be read as a checkpoint: {error}") from None
    if not isinstance(content, dict) or not _is(content.get("format"), FORMAT):
        raise CheckpointError(f"{path} is a PyTorch file, but not a Black Maria checkpoint")
    version = content.get("version")
    if not any(_is(version, known) for known in (*_WITHOUT_CHECKSUM, VERSION)):
        raise CheckpointError(
            f"{path} has format version {version!r:.40}; this package reads "
            f"{_WITHOUT_BLOCKS} to {VERSION}"
        )
    if version == VERSION and not sealed:
        raise CheckpointError(
            f"{path} can't be read as a checkpoint: it lacks its checksum, so another program "
            "has written it"
        )
    try:
        if version == _WITHOUT_BLOCKS:
            content["blocks"] = _first_blocks(contents.rules_of(content))
            content.pop("layout_version", None)
        content.setdefault("clauses", ())  # files from before networks could read any
        _check(content, rules)
    except ValueError as error:
        raise CheckpointError(f"{path} can't be used: {error}") from None
    return content | {"version": VERSION}, archive.digest


_WITHOUT_CHECKSUM: Final = (3, 4)
"""The format's versions before files ended with a checksum."""
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


def _unpickled(archive: archives.Archive) -> Any:
    """What PyTorch makes of a verified archive: tensors and builtins."""
    names = [name.rpartition("/")[2] for name in archive.names]
    if "data.pkl" not in names or "constants.pkl" in names:  # which a compiled model has
        raise archives.UnreadableError("it isn't a PyTorch file of tensors")
    try:
        return torch.load(archive.file, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        reason = "it holds more than tensors and plain values, which might run code"
        raise archives.UnreadableError(reason) from None
    except Exception:  # of foreign content PyTorch raises whatever comes up
        raise archives.UnreadableError(
            "PyTorch can't make tensors and plain values of it"
        ) from None


def _is(value: Any, known: Any) -> bool:
    """Whether a value of anybody's, which may be a tensor, is just this one."""
    return type(value) is type(known) and bool(value == known)


def _check(content: Mapping[str, Any], rules: Rules | None = None) -> None:
    """Refuse content that isn't of its kinds, or doesn't fit."""
    contents.check_entries(content)
    contents.check_networks(content, fitting_rules(content, rules))


def fitting_rules(content: Mapping[str, Any], rules: Rules | None = None) -> Rules:
    """What the networks of a checkpoint's content were trained for.

    Args:
        content: Its ``"rules"`` and ``"blocks"`` at least, of their kinds.
        rules: What that must be.

    Raises:
        ValueError: Other rules, or networks that read what the observation hasn't.
    """
    trained_for = contents.rules_of(content)
    if content["clauses"]:
        contents.check_clauses(content["clauses"])
        if rules:
            check_readable(rules)
        trained_for = layout_for(MOST_SEATS).rules
    elif rules and trained_for != rules:
        raise ValueError(
            f"it was trained for {trained_for.name!r}; these rules differ in "
            f"{_differences(rules, trained_for)}"
        )
    _check_blocks(content["blocks"], trained_for)
    return trained_for


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


def _check_blocks(blocks: Mapping[str, tuple[int, ...]], rules: Rules) -> None:
    """Refuse networks that read what the observation hasn't."""
    there = layout_of(rules).blocks
    for name, shape in blocks.items():
        if name not in there:
            raise ValueError(
                f"it reads the block {name!r}, which the observation of {rules.name!r} "
                f"hasn't; there are: {', '.join(there)}"
            )
        if there[name].shape != tuple(shape):
            raise ValueError(
                f"it reads the block {name!r} as {_by(shape)}; in the observation of "
                f"{rules.name!r} it is {_by(there[name].shape)}"
            )


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
    content, digest = _read(path, rules)
    return agent_of(content, rules, digest, greedy=greedy, name=name or str(path))


def agent_of(
    content: Mapping[str, Any], rules: Rules, digest: str, *, greedy: bool, name: str
) -> PolicyAgent:
    """The agent of content that has been checked, from a file with that SHA-256."""
    with torch.device("meta"):  # no weights are drawn that the file's then replace
        policy = Policy(layout_of(rules), content["width"], content["blocks"], content["clauses"])
    policy.load_state_dict(content["policy"], assign=True)
    return PolicyAgent(policy, rules, greedy=greedy, name=name, fingerprint=digest[:16])


def strip(source: str | Path, target: str | Path) -> None:
    """Copy a checkpoint without what its run needs to go on: a small file to hand on.

    Raises:
        CheckpointError: As ``load``.
    """
    write(target, load(source) | {"training": None})


def write(path: str | Path, content: Mapping[str, Any]) -> None:
    """Write content as ``load`` gives it, with its checksum."""
    buffer = io.BytesIO()  # PyTorch hides what goes wrong with a file
    torch.save(dict(content), buffer)
    with replacing(path) as file:
        file.write(archives.seal(buffer.getvalue()))
