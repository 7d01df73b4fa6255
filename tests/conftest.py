"""One PyTorch thread in every test: two can be many times slower on a busy machine."""

import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)
