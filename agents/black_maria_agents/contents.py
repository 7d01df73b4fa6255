"""What a checkpoint must hold: every entry's kind, shape and range, before anything uses it."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

import torch
from torch import Tensor

from black_maria.layout import layout_of
from black_maria.rules import Rules
from black_maria.rules_vector import RULES_BLOCKS
from black_maria_agents.network import OracleCritic, Policy

Shapes = Mapping[str, tuple[int, ...]]
"""Of a network's tensors, by name, in the order of its parameters."""

_KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "rules": (dict,), "blocks": (dict,), "clauses": (tuple, list), "width": (int,),
    "policy": (dict,), "critic": (dict,), "config": (dict,), "decisions": (int,),
    "training": (dict, type(None)),
}  # fmt: skip
_POLICY_KINDS: Final = {
    name: _KINDS[name] for name in ("rules", "blocks", "clauses", "width", "policy")
}
_TRAINING_KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "optimizer": (dict,), "updates": (int,), "next_hand": (int,), "pool": (list,),
}  # fmt: skip
_WORDS: Final = {
    dict: "a dictionary", int: "a whole number from 0", list: "a list", tuple: "a list",
}  # fmt: skip
_WIDEST: Final = 1 << 20


def check_entries(content: Mapping[str, Any]) -> None:
    """Refuse entries that lack, or are of another kind.

    Raises:
        ValueError: Says which.
    """
    _check_kinds(content, _KINDS, "")
    _check_shapes(content["blocks"])
    if content["training"] is not None:
        _check_kinds(content["training"], _TRAINING_KINDS, "training: ")


def check_policy_entries(content: Mapping[str, Any]) -> None:
    """Refuse what a policy alone comes with, if some lacks or is of another kind.

    Raises:
        ValueError: Says which.
    """
    _check_kinds(content, _POLICY_KINDS, "")
    _check_shapes(content["blocks"])


def rules_of(content: Mapping[str, Any]) -> Rules:
    """What a checkpoint was trained for.

    Raises:
        ValueError: There are no such rules.
    """
    clauses = content.get("rules")
    if not isinstance(clauses, dict):
        raise ValueError("its 'rules' are missing, or no dictionary of clauses")
    unknown = [_short(clause) for clause in clauses if clause not in Rules.__dataclass_fields__]
    if unknown:
        raise ValueError(f"its rules have a clause that this version hasn't: {', '.join(unknown)}")
    try:
        return Rules(**clauses)
    except ValueError as error:
        raise ValueError(f"its rules can't be: {error}") from None


def check_clauses(clauses: Iterable[Any]) -> None:
    """Refuse networks that read of the rules what isn't there, or too little.

    Raises:
        ValueError: Says what.
    """
    for name in clauses:
        if not isinstance(name, str) or name not in RULES_BLOCKS:
            raise ValueError(f"it reads the clause {_short(name)}, which this version hasn't")
    if not {"seats", "penalties"} <= set(clauses):
        raise ValueError("its clauses are too few: seats or penalties are missing")


def check_networks(content: Mapping[str, Any], rules: Rules) -> None:
    """Refuse weights that lack, have another shape, or aren't finite, a training's among them.

    Args:
        content: What ``check_entries`` lets pass; its blocks are in the observation's layout.
        rules: What the networks were trained for.

    Raises:
        ValueError: Says which tensor is wrong.
    """
    policy, critic = _networks(content, rules)
    _check_weights(content["policy"], policy, "policy")
    _check_weights(content["critic"], critic, "critic")
    if content["training"] is None:
        return
    for number, weights in enumerate(content["training"]["pool"]):
        _check_weights(weights, policy, f"pool's network {number}")
    parameters = [*policy.values(), *critic.values()]
    _check_moments(content["training"]["optimizer"].get("state"), parameters)


def check_policy(content: Mapping[str, Any], rules: Rules) -> None:
    """As ``check_networks``, of a policy that comes alone.

    Raises:
        ValueError: Says which tensor is wrong.
    """
    _check_weights(content["policy"], _networks(content, rules)[0], "policy")


def check_groups(state: Mapping[str, Any], fresh: Mapping[str, Any]) -> None:
    """Refuse an optimiser's settings that are of another kind than a fresh one's.

    Raises:
        ValueError: They are.
    """
    groups: Any = state.get("param_groups")
    ours = fresh["param_groups"]
    fits = isinstance(groups, list) and len(groups) == len(ours)
    if not fits or not all(_is_group(*two) for two in zip(groups, ours, strict=True)):
        raise ValueError("its optimizer's settings are of another kind")


def _is_group(group: Any, ours: dict[str, Any]) -> bool:
    if not isinstance(group, dict) or group.get("params") != ours["params"]:
        return False
    return all(type(group.get(name, value)) is type(value) for name, value in ours.items())


def _check_kinds(
    content: Mapping[str, Any], kinds: Mapping[str, tuple[type, ...]], where: str
) -> None:
    for name, kind in kinds.items():
        if name not in content:
            raise ValueError(f"{where}its {name!r} is missing")
        value = content[name]
        fits = isinstance(value, kind) and not isinstance(value, bool)
        if not fits or (isinstance(value, int) and value < 0):
            raise ValueError(f"{where}its {name!r} is {_short(value)}, not {_WORDS[kind[0]]}")


def _check_shapes(blocks: Mapping[Any, Any]) -> None:
    for name, shape in blocks.items():
        sizes = shape if isinstance(shape, tuple | list) else [None]
        if not isinstance(name, str) or not all(isinstance(size, int) for size in sizes):
            raise ValueError(f"its blocks: {_short(name)} is {_short(shape)}, not a shape")


def _networks(content: Mapping[str, Any], rules: Rules) -> tuple[Shapes, Shapes]:
    """What the policy's and the critic's tensors must be."""
    width = content["width"]
    if not 4 <= width <= _WIDEST or width % 4:
        raise ValueError(f"its width is {width}, not a multiple of 4 up to {_WIDEST}")
    try:
        return _shapes(rules, width, tuple(content["blocks"]), tuple(content["clauses"]))
    except ValueError:  # blocks that no suit's or no other features come from
        raise ValueError(f"its blocks are too few: {', '.join(content['blocks'])}") from None


@lru_cache(maxsize=16)
def _shapes(
    rules: Rules, width: int, blocks: tuple[str, ...], clauses: tuple[str, ...]
) -> tuple[Shapes, Shapes]:
    """Of policy and critic; networks without memory tell."""
    layout = layout_of(rules)
    with torch.device("meta"):
        networks = [network(layout, width, blocks, clauses) for network in (Policy, OracleCritic)]
    policy, critic = (
        {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
        for network in networks
    )
    return policy, critic


def _check_weights(weights: Any, shapes: Shapes, where: str) -> None:
    if not isinstance(weights, dict) or weights.keys() != shapes.keys():
        names = weights.keys() ^ shapes.keys() if isinstance(weights, dict) else shapes.keys()
        raise ValueError(f"its {where} has other tensors: {min(map(_short, names))}")
    for name, shape in shapes.items():
        _check_tensor(weights[name], shape, f"{where}: {name}")


def _check_moments(state: Any, shapes: list[tuple[int, ...]]) -> None:
    """Adam's: nothing yet, or numbers and moments of every parameter."""
    if not isinstance(state, dict) or (state and state.keys() != set(range(len(shapes)))):
        raise ValueError("its optimizer isn't of these networks")
    for number, moments in state.items():
        where = f"optimizer: parameter {number}"
        if not isinstance(moments, dict) or moments.keys() != {"step", "exp_avg", "exp_avg_sq"}:
            raise ValueError(f"its {where} has other entries than Adam's")
        for name, tensor in moments.items():
            shape = () if name == "step" else shapes[number]
            _check_tensor(tensor, shape, f"{where}, {name}")


def _check_tensor(tensor: Any, shape: Iterable[int], where: str) -> None:
    """Dense float32 of that shape with finite numbers."""
    if not isinstance(tensor, Tensor) or tensor.layout != torch.strided:
        raise ValueError(f"its {where} isn't a tensor")
    if tensor.dtype != torch.float32:
        raise ValueError(f"its {where} isn't of float32 numbers")
    if tuple(tensor.shape) != tuple(shape):
        raise ValueError(f"its {where} is {_by(tensor.shape)}, not {_by(shape)}")
    if tensor.is_meta or tensor.untyped_storage().nbytes() < tensor.numel() * tensor.itemsize:
        raise ValueError(f"its {where} has fewer numbers than it claims")
    if not tensor.isfinite().all():
        raise ValueError(f"its {where} isn't finite: the training went wrong before it was saved")


def _by(shape: Iterable[int]) -> str:
    return " × ".join(map(str, shape)) or "one number"


def _short(value: Any) -> str:
    """A value of anybody's in a few words."""
    if isinstance(value, Tensor | dict | list | tuple):
        return f"a {type(value).__name__}"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
