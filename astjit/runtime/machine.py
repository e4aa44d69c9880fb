"""What CUDA kernels of this process run on: the driver, and what PyTorch says of its devices.

A record of callables, so that a test can give another machine: one without a GPU, whose launches
something else executes.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache

import torch

from astjit.runtime.units import Built, cuda_image
from astjit.runtime.workspace import WORKSPACES
from astjit.targets.cuda import device_arch
from astjit.targets.driver import Launcher


def current_stream(device: int) -> int:
    """The raw handle of torch's current stream of a device."""
    try:
        return int(torch._C._cuda_getCurrentRawStream(device))
    except AttributeError:  # a private name; the public way makes an object
        return int(torch.cuda.current_stream(device).cuda_stream)


def workspace(device: int, stream: int, size: int) -> int:
    """The address of this process's workspace of a device and its current stream."""
    return WORKSPACES.address(f"cuda:{device}", stream, size)


@dataclass(frozen=True, slots=True)
class Machine:
    """Where launches go.

    Attributes:
        launcher: loads and launches.
        image: machine code for a text and an architecture.
        arch: the architecture of a device.
        current_device: the ordinal of torch's current device.
        on_device: makes a device torch's current one for a while.
        current_stream: the raw handle of torch's current stream of a device.
        workspace: memory for blocks that meet, of a device, its current stream and a size.
    """

    launcher: Launcher
    image: Callable[[str, str], Built[bytes]] = cuda_image
    arch: Callable[[int], str] = device_arch
    current_device: Callable[[], int] = torch.cuda.current_device
    on_device: Callable[[int], AbstractContextManager[None]] = torch.cuda.device
    current_stream: Callable[[int], int] = current_stream
    workspace: Callable[[int, int, int], int] = workspace


@cache
def this_machine() -> Machine:
    """The driver of this machine and PyTorch as it is."""
    return Machine(Launcher())
