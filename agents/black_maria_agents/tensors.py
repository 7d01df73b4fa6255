"""Policies as safetensors files: plain weights, and beside them in the header what they are for.

Any reader of safetensors opens such a file; its header's entry ``"black_maria"`` is JSON: rules,
width, the blocks that the network reads, where it comes from, and a checksum of all the file's
bytes. ``load_policy`` verifies that first, as a checkpoint's is.
"""

import dataclasses
import hashlib
import json
import re
from pathlib import Path
from typing import Any, Final

from black_maria.extras import need
from black_maria.rules import Rules
from black_maria_agents import checkpoint, contents
from black_maria_agents.archives import UnreadableError
from black_maria_agents.files import replacing
from black_maria_agents.network import PolicyAgent

ENTRY: Final = "black_maria"
"""Our entry of the header's metadata: one alone, for their order isn't fixed."""
FORMAT: Final = "black-maria policy"
VERSION: Final = 1

_LENGTH: Final = 8
"""Bytes of the header's length, which a file begins with."""
_NO_DIGEST: Final = "0" * 64
_DIGEST: Final = re.compile(rb'sha256\\": \\"([0-9a-f]{64})\\"')
"""The checksum in a header: JSON in a text of JSON."""


def describe(agent: PolicyAgent) -> dict[str, Any]:
    """What must be known of a policy besides its weights: builtins that JSON takes."""
    return {
        "rules": dataclasses.asdict(agent.rules),
        "width": agent.policy.width,
        "blocks": {name: list(shape) for name, shape in agent.policy.features.blocks.items()},
        "clauses": list(agent.policy.clauses),
        "made_from": agent.identity,
    }


def save(path: str | Path, agent: PolicyAgent) -> None:
    """Write a policy; the file appears whole, and the same policy gives the same bytes.

    Args:
        path: The file, ``….safetensors``.
        agent: Whose weights, rules and identity.

    Raises:
        MissingExtraError: safetensors isn't installed.
        ValueError: Its weights aren't finite; nothing is written.
        OSError: The file can't be written.
    """
    about = {"format": FORMAT, "version": VERSION, **describe(agent), "sha256": _NO_DIGEST}
    weights = {name: tensor.contiguous() for name, tensor in agent.policy.state_dict().items()}
    try:
        fits = checkpoint.fitting_rules(about, agent.rules)
        contents.check_policy(about | {"policy": weights}, fits)
    except ValueError as error:
        raise ValueError(f"{path} isn't written: {error}") from None
    made: bytes = need("safetensors.torch", "export").save(weights, {ENTRY: json.dumps(about)})
    start, end = _digest_at(made)
    with replacing(path) as file:
        file.write(made[:start] + hashlib.sha256(made).hexdigest().encode() + made[end:])


def load_policy(
    path: str | Path, rules: Rules, *, greedy: bool = True, name: str = ""
) -> PolicyAgent:
    """The agent of a file that ``save`` has written.

    Args:
        path: The file.
        rules: The rules it is to play by.
        greedy: Play the likeliest card; otherwise sample from the policy.
        name: What it is called; without one, by the path.

    Raises:
        CheckpointError: Missing, damaged, foreign, or trained for other rules.
        MissingExtraError: safetensors isn't installed.
    """
    content, digest = read(path)
    try:
        contents.check_policy(content, checkpoint.fitting_rules(content, rules))
    except ValueError as error:
        raise checkpoint.CheckpointError(f"{path} can't be used: {error}") from None
    return checkpoint.agent_of(content, rules, digest, greedy=greedy, name=name or str(path))


def read(path: str | Path) -> tuple[dict[str, Any], str]:
    """A file's content, with its weights as ``"policy"``, and the SHA-256 of the file.

    Raises:
        CheckpointError: Missing, damaged or foreign.
        MissingExtraError: safetensors isn't installed.
    """
    load = need("safetensors.torch", "export").load
    try:
        raw = _bytes(Path(path))
        about = _about(raw)
        content = about | {"policy": load(raw)}
        contents.check_policy_entries(content)
    except FileNotFoundError:
        raise checkpoint.CheckpointError(f"there is no file {path}") from None
    except ValueError as error:
        raise checkpoint.CheckpointError(f"{path} can't be read as a policy: {error}") from None
    return content, hashlib.sha256(raw).hexdigest()


def _bytes(path: Path) -> bytes:
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise UnreadableError("it isn't a file")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UnreadableError(f"it can't be opened ({error.strerror})") from None


def _about(raw: bytes) -> dict[str, Any]:
    """What a file says of itself, once its bytes have been verified."""
    if not raw:
        raise UnreadableError("it is empty")
    try:
        start, end = _digest_at(raw)
    except UnreadableError:
        raise UnreadableError(_foreign(raw)) from None
    plain = raw[:start] + _NO_DIGEST.encode() + raw[end:]
    if hashlib.sha256(plain).hexdigest().encode() != raw[start:end]:
        raise UnreadableError("it is damaged: its content doesn't match its checksum")
    try:
        about = json.loads(json.loads(_header(raw))["__metadata__"][ENTRY])
        known = about.get("format") == FORMAT and about.get("version") == VERSION
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise UnreadableError("what it says of itself isn't what we write") from None
    if not known:
        raise UnreadableError(
            f"it is {about.get('format')!r:.40}, version {about.get('version')!r:.40}; "
            f"this package reads {FORMAT!r}, version {VERSION}"
        )
    return dict(about)


def _header(raw: bytes) -> bytes:
    return raw[_LENGTH : _LENGTH + int.from_bytes(raw[:_LENGTH], "little")]


def _digest_at(raw: bytes) -> tuple[int, int]:
    """Where the checksum stands in a file.

    Raises:
        UnreadableError: There isn't one.
    """
    found = _DIGEST.search(_header(raw))
    if found is None:
        raise UnreadableError("it has no checksum")
    return _LENGTH + found.start(1), _LENGTH + found.end(1)


def _foreign(raw: bytes) -> str:
    """Why a file without our checksum can't be believed."""
    header = _header(raw)
    if not header.startswith(b"{"):
        return "it isn't a safetensors file"
    if ENTRY.encode() in header:
        return "it is damaged: its checksum is missing"
    return "it is a safetensors file, but not of a Black Maria policy"
