"""Several processes as one: what ``torchrun`` starts, over gloo (CPU) or nccl (GPU).

Without ``torchrun`` there is one process and every function here does nothing.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

# before any group exists: its functions would take one as a default argument and keep its
# threads to the interpreter's end, which then may abort the process (PyTorch issue 190489)
import torch.distributed.nn
from torch import Tensor, distributed, nn


@dataclass(frozen=True)
class Ranks:
    """This process among its peers."""

    rank: int = 0
    size: int = 1

    @property
    def first(self) -> bool:
        """Whether this is the process that prints and writes."""
        return self.rank == 0

    def sum(self, tensor: Tensor) -> Tensor:
        """The sum of all processes' tensors of one shape, in place."""
        if self.size > 1:
            distributed.all_reduce(tensor)
        return tensor

    def gather(self, tensor: Tensor) -> Tensor:
        """All processes' tensors of one shape, stacked: (size, …)."""
        stacked = tensor.new_zeros(self.size, *tensor.shape)
        stacked[self.rank] = tensor
        return self.sum(stacked)

    def average_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Replace every gradient by its mean over the processes."""
        if self.size > 1:
            gradients = [p.grad for p in parameters if p.grad is not None]
            flat = self.sum(torch.cat([gradient.view(-1) for gradient in gradients])) / self.size
            start = 0
            for gradient in gradients:
                gradient.copy_(flat[start : start + gradient.numel()].view_as(gradient))
                start += gradient.numel()


@contextmanager
def joined() -> Iterator[Ranks]:
    """Join the processes that ``torchrun`` started, and leave them at the end.

    Raises:
        ConnectionError: Another process is gone.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield Ranks()
        return
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))  # what device "cuda" means here
        distributed.init_process_group("cpu:gloo,cuda:nccl")
    else:
        distributed.init_process_group("gloo")
    rank = distributed.get_rank()
    try:
        yield Ranks(rank, distributed.get_world_size())
    except RuntimeError as error:  # of gloo and nccl, when a peer is gone
        lost = ConnectionError(f"process {rank} lost another one ({str(error).splitlines()[0]})")
        for note in getattr(error, "__notes__", []):
            lost.add_note(note)
        raise lost from None
    finally:
        distributed.destroy_process_group()
