"""CUDA text to machine code with NVRTC, on any machine: neither a driver nor a GPU is needed.

    compile_cuda(text, "sm_90")
    => Compiled(cubin=..., log=..., resources={"softmax": Resources(registers=32, stack=0, ...)})

Plain bindings are used rather than cuda.core.Program: they import in a third of the time, show
the exact options, and give the log as it is. NVRTC may be called from several threads at once.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from cuda.bindings import nvrtc

from astjit.errors import KernelBuildError, UsageError

ARCHES = ("sm_80", "sm_90", "sm_100", "sm_120")
"""The architectures that every generated kernel is built and checked for."""

_OLDEST = 80  # bfloat16 conversions and max.NaN begin here
_SOURCE = "kernel.cu"  # how NVRTC's messages call the text
_REPORT = "--ptxas-options=-v"  # prints registers and spills, leaves the machine code as it is
_ARCH = re.compile(r"(?:sm_)?(\d+)([af]?)")
_ERROR_LINE = re.compile(rf"^{re.escape(_SOURCE)}\((\d+)\): (?:catastrophic )?error", re.MULTILINE)
_ENTRY = re.compile(r"Compiling entry function '(\S+)' for")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers")
_STACK = re.compile(r"(\d+) bytes cumulative stack size")
_SHARED = re.compile(r"(\d+) bytes smem")
_CONTEXT = 3  # lines shown above and below the line of an error
_MOST_EXCERPTS = 3


@dataclass(frozen=True, slots=True)
class Resources:
    """What the assembler gave one kernel.

    Attributes:
        registers: per thread.
        stack: bytes of local memory per thread, the kernel's frame and those of what it calls.
        spill_stores: bytes of registers written to the stack for want of room.
        spill_loads: bytes read back.
        shared: bytes of static shared memory per block.
    """

    registers: int
    stack: int
    spill_stores: int
    spill_loads: int
    shared: int


@dataclass(frozen=True, slots=True)
class Compiled:
    """Machine code for one architecture.

    Attributes:
        cubin: an ELF image that the driver loads.
        log: everything the compiler and the assembler printed, warnings included.
        resources: by kernel name.
    """

    cubin: bytes
    log: str
    resources: dict[str, Resources]


def expand_arch(arch: str | int | tuple[int, int]) -> str:
    """The full name of an architecture: "sm_90" from "sm_90", "90", 90 or the pair (9, 0).

    Raises:
        UsageError: it is no architecture, is older than sm_80, or NVRTC here does not know it.
    """
    asked = arch[0] * 10 + arch[1] if isinstance(arch, tuple) else arch
    match = _ARCH.fullmatch(str(asked))
    known = supported_arches()
    names = ", ".join(f"sm_{number}" for number in known)
    if match is None:
        raise UsageError(f"{arch!r} is not a CUDA architecture", instead=f"one of {names}")
    number = int(match[1])
    if number not in known:
        why = "is older than sm_80" if number < _OLDEST else "is unknown to the installed NVRTC"
        raise UsageError(f"architecture sm_{number} {why}", instead=f"one of {names}")
    return f"sm_{number}{match[2]}"


@cache
def supported_arches() -> tuple[int, ...]:
    """The architectures that the installed NVRTC builds for and generated text needs, ascending."""
    numbers = _checked(nvrtc.nvrtcGetSupportedArchs(), "nvrtcGetSupportedArchs")
    return tuple(sorted(int(number) for number in numbers if number >= _OLDEST))


@cache
def nvrtc_version() -> str:
    """The compiler's version, such as "nvrtc 13.5": part of the key of everything it built."""
    major, minor = _checked(nvrtc.nvrtcVersion(), "nvrtcVersion")
    return f"nvrtc {major}.{minor}"


def nvrtc_options(arch: str | int | tuple[int, int]) -> tuple[str, ...]:
    """The options that decide the machine code. FMAs are only those that the text writes (D8)."""
    return (f"--gpu-architecture={expand_arch(arch)}", "--std=c++17", "--fmad=false")


def compile_cuda(
    text: str, arch: str | int | tuple[int, int], *, options: Sequence[str] | None = None
) -> Compiled:
    """Build CUDA C++ text for one architecture.

    Args:
        text: complete: helpers and kernels, without includes.
        arch: as in `expand_arch`; ignored when `options` are given.
        options: every option, by default `nvrtc_options(arch)`.

    Raises:
        KernelBuildError: the text does not compile; holds the options, the lines and the log.
        UsageError: the architecture is wrong.
    """
    used = tuple(options) if options is not None else nvrtc_options(arch)
    encoded = [option.encode() for option in (*used, _REPORT)]
    program = _checked(
        nvrtc.nvrtcCreateProgram(text.encode(), _SOURCE.encode(), 0, [], []), "nvrtcCreateProgram"
    )
    try:
        (result,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
        size = _checked(nvrtc.nvrtcGetProgramLogSize(program), "nvrtcGetProgramLogSize")
        raw = _filled(nvrtc.nvrtcGetProgramLog, program, size)
        log = raw.rstrip(b"\0").decode(errors="replace")
        if result != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            command = " ".join(("nvrtc", *used))
            raise KernelBuildError(command, "", f"{_excerpts(text, log)}{log or result.name}")
        size = _checked(nvrtc.nvrtcGetCUBINSize(program), "nvrtcGetCUBINSize")
        cubin = _filled(nvrtc.nvrtcGetCUBIN, program, size)
    finally:
        nvrtc.nvrtcDestroyProgram(program)
    return Compiled(cubin, log, parse_resources(log))


def parse_resources(log: str) -> dict[str, Resources]:
    """What `ptxas -v` printed, by kernel. The stack includes that of the functions it calls."""
    found: dict[str, Resources] = {}
    name = ""
    frame = (0, 0, 0)
    for line in log.splitlines():
        if entry := _ENTRY.search(line):
            name = entry[1]
        elif sizes := _FRAME.search(line):
            frame = (int(sizes[1]), int(sizes[2]), int(sizes[3]))
        elif name and (used := _USED.search(line)):
            cumulative, shared = _STACK.search(line), _SHARED.search(line)
            found[name] = Resources(
                registers=int(used[1]),
                stack=int(cumulative[1]) if cumulative else frame[0],
                spill_stores=frame[1],
                spill_loads=frame[2],
                shared=int(shared[1]) if shared else 0,
            )
            name = ""
    return found


def _checked(answer: tuple[Any, ...], call: str) -> Any:
    """What an NVRTC call gives besides its status: one value, or a list of several."""
    result, *values = answer
    if result != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise KernelBuildError(call, "", str(result))
    return values[0] if len(values) == 1 else values


def _filled(read: Callable[[Any, bytearray], tuple[Any, ...]], program: Any, size: int) -> bytes:
    """What `read` writes into a buffer of that size."""
    buffer = bytearray(size)
    _checked(read(program, buffer), read.__name__)
    return bytes(buffer)


def _excerpts(text: str, log: str) -> str:
    """The numbered lines of the text around the first errors of the log, those marked by ">"."""
    lines = text.splitlines()
    guilty = sorted({int(match[1]) for match in _ERROR_LINE.finditer(log)})[:_MOST_EXCERPTS]
    shown: list[str] = []
    for number in guilty:
        first, last = max(1, number - _CONTEXT), min(len(lines), number + _CONTEXT)
        for at in range(first, last + 1):
            shown.append(f"{'>' if at == number else ' '}{at:5} | {lines[at - 1]}")
        shown.append("")
    return "\n".join(shown) + "\n" if shown else ""
