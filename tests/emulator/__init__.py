"""Runs CUDA kernel text on the CPU, one fiber per thread, and checks every memory access.

See README.md beside this file for how it works and for what it cannot see.
"""

from tests.emulator.launch import SCHEDULES, Report, emulate
from tests.emulator.library import BuildError, build
from tests.emulator.replacements import REPLACEMENTS, MissingReplacementError
from tests.emulator.text import Definition, split_definitions

__all__ = [
    "REPLACEMENTS",
    "SCHEDULES",
    "BuildError",
    "Definition",
    "MissingReplacementError",
    "Report",
    "build",
    "emulate",
    "split_definitions",
]
