"""The CPU of this machine: C++ text, built by the C++ compiler found here."""

import hashlib
import platform
from functools import cache
from pathlib import Path

from astjit.targets.cxx import find_compiler
from astjit.targets.spec import Target

_CPUINFO = Path("/proc/cpuinfo")


def _problem() -> str:
    return "" if find_compiler() else "no C++ compiler found (CXX, c++, g++, clang++)"


CPU = Target("cpu", "cpu", "C++", "the C++ compiler of the machine", _problem)


@cache
def cpu_features(listing: Path = _CPUINFO) -> str:
    """A short name for what `-march=native` means here: part of the key of everything built (D20).

    A cache folder may be shared by machines; code for one must not run on another.
    """
    try:
        lines = listing.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    wanted = ("flags", "features", "model name", "cpu part", "cpu family", "model")
    told = {line for line in lines if line.split(":")[0].strip().lower() in wanted}
    state = "\n".join((platform.machine(), platform.processor(), *sorted(told)))
    return f"{platform.machine()}-{hashlib.sha256(state.encode()).hexdigest()[:16]}"
