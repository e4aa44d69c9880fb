"""The C++ compiler of this machine: found once, asked once for its version, run on one text.

    compiler = find_compiler()            => Compiler(("/usr/bin/c++",), "c++ (Debian) 12.2.0")
    build_library(compiler, text, path)   => path holds a shared library

The flags keep eager's arithmetic (D8): no contraction into FMAs, no fast-math; integers wrap.
"""

import platform
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from astjit.config import read_environment
from astjit.errors import KernelBuildError

FLAGS = (
    *("-std=c++17", "-O2", "-march=native", "-fopenmp", "-fPIC", "-shared"),
    *("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fwrapv"),
    "-Wno-psabi",
)
_X86_FLAGS = ("-mprefer-vector-width=512",)
_NAMES = ("c++", "g++", "clang++")
LIMIT = 60.0  # seconds (D28)


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C++ compiler.

    Attributes:
        command: the program and arguments that always go with it.
        version: the first line it prints about itself.
    """

    command: tuple[str, ...]
    version: str


def flags() -> tuple[str, ...]:
    """The options that decide the machine code on this kind of machine."""
    x86 = platform.machine().lower() in ("x86_64", "amd64")
    return FLAGS + (_X86_FLAGS if x86 else ())


def find_compiler() -> Compiler | None:
    """The first of $CXX, c++, g++ and clang++ that runs; None when there is none."""
    return probe(read_environment().cxx)


@cache
def probe(preferred: str | None) -> Compiler | None:
    """As `find_compiler`, with the value of $CXX given. A $CXX that does not run counts as none."""
    for candidate in (preferred,) if preferred else _NAMES:
        words = shlex.split(candidate)
        found = shutil.which(words[0]) if words else None
        if found is None:
            continue
        command = (found, *words[1:])
        try:
            told = subprocess.run(
                [*command, "--version"], capture_output=True, text=True, timeout=LIMIT, check=True
            )
        except (OSError, subprocess.SubprocessError):
            continue
        return Compiler(command, told.stdout.partition("\n")[0].strip())
    return None


def build_library(compiler: Compiler, text: str, path: Path, options: Sequence[str] = ()) -> None:
    """Compile `text` into the shared library `path`; the text stays beside it as `.cpp`.

    Args:
        compiler: from `find_compiler`.
        text: the source.
        path: of the library.
        options: more options, which win over the usual ones.

    Raises:
        KernelBuildError: the compiler refused the text or took more than a minute.
        OSError: the folder cannot be written or the compiler cannot be started.
    """
    source = path.with_suffix(".cpp")
    source.write_text(text, encoding="utf-8")
    command = [*compiler.command, *flags(), str(source), "-o", str(path), *options]
    try:
        ran = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        said = f"gave up after {LIMIT:.0f} seconds"
        raise KernelBuildError(shlex.join(command), str(source), said) from None
    if ran.returncode:
        raise KernelBuildError(shlex.join(command), str(source), ran.stderr + ran.stdout)
