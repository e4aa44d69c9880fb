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
from astjit.targets.cuda import device_arch
from astjit.targets.driver import Launcher


def current_stream(device: int) -> int:
    """The raw handle of torch's current stream of a device."""
    try:
        return int(torch._C._cuda_getCurrentRawStream(device))
    except AttributeError:  # a private name; the public way makes an object
        return int(torch.cuda.current_stream(device).cuda_stream)


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
    """

    launcher: Launcher
    image: Callable[[str, str], Built[bytes]] = cuda_image
    arch: Callable[[int], str] = device_arch
    current_device: Callable[[], int] = torch.cuda.current_device
    on_device: Callable[[int], AbstractContextManager[None]] = torch.cuda.device
    current_stream: Callable[[int], int] = current_stream


@cache
def this_machine() -> Machine:
    """The driver of this machine and PyTorch as it is."""
    return Machine(Launcher())
