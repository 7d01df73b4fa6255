"""One PyTorch thread in every test: two can be many times slower on a busy machine."""

import pytest

try:
    import torch
except ImportError:  # the environment alone needs none
    torch = None


@pytest.fixture(autouse=True)
def one_thread() -> None:
    if torch is not None:
        torch.set_num_threads(1)
