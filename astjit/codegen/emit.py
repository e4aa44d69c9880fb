"""Kernel and Schedule to text, for both targets."""

from collections.abc import Callable, Sequence

from astjit.codegen.signature import Text
from astjit.fusion.kernel import Kernel
from astjit.fusion.schedule import Schedule
from astjit.location import Location

SourceLine = Callable[[Location], str]


def cpu_unit(kernels: Sequence[tuple[Kernel, Schedule]], source_line: SourceLine, features: str) -> Text:
    """One C++ translation unit for all kernels of a Program (decision D9)."""
    raise AssertionError(kernels, source_line, features)


def cuda_unit(
    variants: Sequence[tuple[Kernel, Schedule]], source_line: SourceLine, arch: str
) -> Text:
    """One CUDA text that compiles alone: helpers once, then each kernel in its variant."""
    raise AssertionError(variants, source_line, arch)
