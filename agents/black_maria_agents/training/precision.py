"""Which numbers a training computes with: what multiplies faster on this machine."""

import time

import torch


def choose_precision(name: str, width: int, device: torch.device) -> str:
    """``"float32"`` or ``"bfloat16"``; for ``"auto"`` what multiplies faster on the device.

    bfloat16 needs to be faster by half: processors differ by a factor of two either way, so
    noise doesn't decide. The two are timed in turns, so that a busy machine slows both; where
    one is many times faster, two rounds tell. (Some processors take 34 times as long for
    bfloat16: all the rounds would be 4 s there.)

    Raises:
        ValueError: An unknown name.
    """
    if name not in ("auto", "float32", "bfloat16"):
        raise ValueError(f"precision={name!r}: choose auto, float32 or bfloat16")
    if name != "auto":
        return name
    best = {torch.float32: float("inf"), torch.bfloat16: float("inf")}
    for number in range(30):
        for dtype in best:
            inputs = torch.ones(4096, 256, dtype=dtype, device=device)
            weights = torch.ones(256, width, dtype=dtype, device=device)
            start = time.perf_counter()
            (inputs @ weights).sum().item()  # waits for the device
            best[dtype] = min(best[dtype], time.perf_counter() - start)
        if number and max(best.values()) > 4 * min(best.values()):
            break
    return "bfloat16" if best[torch.float32] > 1.5 * best[torch.bfloat16] else "float32"
