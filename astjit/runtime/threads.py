"""How many threads a CPU kernel runs on: by the bytes it moves, at most PyTorch's number.

Starting a thread's share costs as much as moving some hundred KiB. A forked child has none of its
parent's threads, and OpenMP would wait for them forever: there a kernel runs on one (D28).
"""

import os

import torch

SHARE = 1 << 18
"""Bytes for which one more thread is worth waking."""

_num_threads = torch.get_num_threads


def threads(moved: int) -> int:
    """Threads for a kernel that reads and writes `moved` bytes."""
    return 1 if moved < SHARE else min(1 + moved // SHARE, _num_threads())


def _one() -> int:
    return 1


def _after_fork() -> None:
    globals()["_num_threads"] = _one


os.register_at_fork(after_in_child=_after_fork)
