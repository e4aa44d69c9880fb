"""NVIDIA GPUs: CUDA C++ text, built by NVRTC (on any machine) and launched through cuda-python."""

from functools import cache

import torch

from astjit.targets.nvrtc import expand_arch
from astjit.targets.spec import Target

DEFAULT_ARCH = "sm_90"


def _problem() -> str:
    return "" if torch.cuda.is_available() else "PyTorch finds no CUDA device"


CUDA = Target("cuda", "cuda", "CUDA C++", "NVRTC", _problem)


@cache
def device_arch(device: int) -> str:
    """The architecture of a device, such as "sm_90"."""
    return expand_arch(torch.cuda.get_device_capability(device))


def default_arch() -> str:
    """The architecture to show when none is asked for: that of the first device, else sm_90."""
    return device_arch(0) if torch.cuda.is_available() else DEFAULT_ARCH
