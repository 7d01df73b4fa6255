"""Which numbers a training computes with: what multiplies fast on this machine."""

import torch


def choose_precision(name: str, device: torch.device) -> str:
    """``"float32"`` or ``"bfloat16"``; for ``"auto"`` what the device has units for.

    That is bfloat16 where matrix units (AMX on processors, those of a GPU) multiply it, and
    float32 elsewhere: some processors take 34 times as long for bfloat16. It hangs on the machine
    alone, not on how busy it is, so that a seed gives one result on it.

    Raises:
        ValueError: An unknown name.
    """
    if name not in ("auto", "float32", "bfloat16"):
        raise ValueError(f"precision={name!r}: choose auto, float32 or bfloat16")
    if name != "auto":
        return name
    return "bfloat16" if _has_units(device) else "float32"


def _has_units(device: torch.device) -> bool:
    """Whether the device multiplies matrices of bfloat16 by units made for it."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    ask = getattr(torch.cpu, "_is_amx_tile_supported", None)  # no public function tells
    return bool(ask and ask())
