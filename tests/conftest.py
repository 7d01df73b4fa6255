"""One PyTorch thread in every test, and how long properties are looked for."""

import pytest
from hypothesis import settings

try:
    import torch
except ImportError:  # the environment alone needs none
    torch = None

settings.register_profile("suite", deadline=None, derandomize=True)
settings.register_profile("long", deadline=None, print_blob=True)  # make fuzz: new cases each time
settings.load_profile("suite")


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Two can be many times slower on a busy machine."""
    if torch is not None:
        torch.set_num_threads(1)
