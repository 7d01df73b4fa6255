"""Around every test: one PyTorch thread, signals as they were; and how properties are tried."""

import signal

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


@pytest.fixture(autouse=True)
def signals_as_before():
    """A script that ends within a test leaves its signals ignored."""
    numbers = [getattr(signal, n) for n in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, n)]
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)
