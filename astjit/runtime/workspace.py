"""Memory in which the blocks of a CUDA kernel leave what the last of them combines.

One for each device and stream: kernels of one stream run after one another, so that all of them
can share it, and those of two streams never meet in it. It starts with counters, which are zero
between launches: the last block sets them back. While a graph is captured every launch has memory
of its own, which belongs to the graph and is zeroed at each replay, since a graph may be replayed
on any stream. What was given out is never freed: a queued kernel may still need it.
"""

from dataclasses import dataclass, field

import torch

from astjit.runtime.locks import Lock

COUNTERS = 1024  # bytes: one counter for each row, or tile of columns, that blocks share
SMALLEST = 1 << 18


@dataclass(slots=True)
class Workspaces:
    """The workspaces of a process."""

    lock: Lock = field(default_factory=Lock)
    known: dict[tuple[str, int, int], torch.Tensor] = field(default_factory=dict)

    def address(self, device: str, stream: int, size: int) -> int:
        """The address of at least `size` bytes that follow the counters.

        Args:
            device: as torch names it; its current stream must be `stream`.
            stream: the raw handle.
            size: in bytes, without the counters.
        """
        if device != "cpu" and torch.cuda.is_current_stream_capturing():
            return int(_zeros(device, size).data_ptr())
        size = max(SMALLEST, 1 << (size - 1).bit_length())
        key = device, stream, size
        with self.lock:
            if key not in self.known:
                self.known[key] = _zeros(device, size)
            return int(self.known[key].data_ptr())


def _zeros(device: str, size: int) -> torch.Tensor:
    return torch.zeros(COUNTERS + size, dtype=torch.uint8, device=device)


WORKSPACES = Workspaces()
"""Those of this process."""
