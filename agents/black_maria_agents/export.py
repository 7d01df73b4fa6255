"""A trained policy as a file for other programs: ONNX, safetensors, or PyTorch's exported program.

    python -m black_maria_agents.export champion -o champion.onnx
    python -m black_maria_agents.export champion -o champion.safetensors
    python -m black_maria_agents.export runs/first/agent.pt -o first.pt2

What runs by itself (``….onnx``, ``….pt2``) takes ``observation`` (B, F) int8 and ``action_mask``
(B, 52) int8, as the environment gives them, for any B, and returns ``log_probs`` (B, 52) float32,
−inf where the mask is 0: its greatest entry is the card that the agent plays. A ``….safetensors``
file holds the weights, and what they are for in its header; ``load_agent`` takes it.
"""

import io
import json
import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import torch
import tyro

from black_maria.cards import NUM_CARDS
from black_maria.extras import need
from black_maria.layout import layout_of
from black_maria.rules import Rules
from black_maria_agents import checkpoint, contents, tensors
from black_maria_agents.border import border, check_outputs
from black_maria_agents.files import replacing
from black_maria_agents.loading import load_agent
from black_maria_agents.network import ObservationPolicy, PolicyAgent

INPUTS: Final = ("observation", "action_mask")
OUTPUT: Final = "log_probs"


@dataclass(frozen=True)
class ExportConfig:
    """Write a trained policy to a file for other programs."""

    agent: Annotated[str, tyro.conf.Positional]
    """``champion``, or the path of a checkpoint (….pt) or of an exported policy (….safetensors)."""
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])]
    """The file: ….onnx, ….safetensors or ….pt2."""
    rules: str | None = None
    """The profile whose champion, three_player unless told; a file knows its rules itself."""
    seats: int | None = None
    """Players at the table, where the profile leaves it open."""


def export(agent: PolicyAgent, path: str | Path) -> None:
    """Write a policy as its file's suffix says; the file appears whole or not at all.

    Args:
        agent: A trained policy, ``load_agent("champion")``.
        path: ``….onnx``, ``….safetensors`` or ``….pt2``.

    Raises:
        ValueError: Another suffix; weights that aren't finite; or packages of the extra
            ``export`` are missing (a ``MissingExtraError``).
        OSError: The file can't be written.
    """
    suffix = Path(path).suffix
    if suffix not in WRITERS:
        raise ValueError(f"{path}: give a name that ends in {' or '.join(WRITERS)}")
    WRITERS[suffix](path, agent)


def exported_program(agent: PolicyAgent) -> torch.export.ExportedProgram:
    """The policy as PyTorch exports it: its inputs have any number of rows."""
    layout = layout_of(agent.rules)
    policy = ObservationPolicy(agent.policy, layout).eval()
    rows = [torch.ones(2, size, dtype=torch.int8) for size in (layout.size, NUM_CARDS)]
    batch = {0: torch.export.Dim("batch")}
    with _quiet():
        return torch.export.export(policy, tuple(rows), dynamic_shapes=(batch, batch))


def _write_program(path: str | Path, agent: PolicyAgent) -> None:
    made = io.BytesIO()  # PyTorch hides what goes wrong with a file
    about = {f"{tensors.ENTRY}.json": json.dumps(tensors.describe(agent))}
    torch.export.save(exported_program(agent), made, extra_files=about)
    with replacing(path) as file:
        file.write(made.getvalue())


def _write_onnx(path: str | Path, agent: PolicyAgent) -> None:
    for module in ("onnx", "onnxscript"):
        need(module, "export")
    program = exported_program(agent)
    with _quiet():
        made = torch.onnx.export(
            program, (), input_names=INPUTS, output_names=[OUTPUT],
            dynamic_shapes=({0: "batch"}, {0: "batch"}), dynamo=True, verbose=False,
        )  # fmt: skip
    assert made is not None
    about = {tensors.ENTRY: json.dumps(tensors.describe(agent))}
    made.model.metadata_props.update(about)
    content: bytes = made.model_proto.SerializeToString()
    with replacing(path) as file:
        file.write(content)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep to ourselves what PyTorch's exporter has to say about its own code."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


WRITERS: Final[dict[str, Callable[[str | Path, PolicyAgent], None]]] = {
    ".onnx": _write_onnx, ".safetensors": tensors.save, ".pt2": _write_program,
}  # fmt: skip


def main(config: ExportConfig) -> None:
    """Export, and say what was made.

    Raises:
        ValueError: What is given isn't a trained policy, or the file can't be written.
        OSError: The file couldn't be written after all.
    """
    suffix = config.out.suffix
    check_outputs({config.out: suffix if suffix in WRITERS else " or ".join(WRITERS)})
    agent = load_agent(config.agent, _rules(config))
    if not isinstance(agent, PolicyAgent):
        raise ValueError(f"{config.agent} isn't a trained policy: give champion or a checkpoint")
    export(agent, config.out)
    size = config.out.stat().st_size
    print(f"{config.out}: {agent.identity}, {agent.rules.name}, {size:,} bytes")


def _rules(config: ExportConfig) -> Rules:
    """The profile that was asked for, or what a checkpoint was trained for."""
    suffix = Path(config.agent).suffix
    if config.rules is None and suffix == ".pt":
        return contents.rules_of(checkpoint.load(config.agent))
    if config.rules is None and suffix == ".safetensors":
        return contents.rules_of(tensors.read(config.agent)[0])
    return Rules.profile(config.rules or "three_player", config.seats)


if __name__ == "__main__":
    asked = tyro.cli(ExportConfig, description=__doc__)
    with border("export"):
        main(asked)
