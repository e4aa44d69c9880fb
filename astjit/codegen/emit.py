"""Kernel and Schedule to text, for both targets."""

import re
from collections.abc import Callable, Sequence

from astjit.codegen import cpu_columns, cpu_view, cuda_columns, cuda_view
from astjit.codegen.cpu_columns import CpuColumns
from astjit.codegen.cpu_rows import CpuRows, rows_are_lanes
from astjit.codegen.cpu_view import CpuView
from astjit.codegen.cuda_columns import CudaColumns
from astjit.codegen.cuda_view import CudaView
from astjit.codegen.kinds import KINDS
from astjit.codegen.names import Names
from astjit.codegen.pieces import closure, pieces, used_pieces
from astjit.codegen.rename import rename
from astjit.codegen.signature import Text
from astjit.fusion.kernel import Kernel
from astjit.fusion.schedule import Schedule
from astjit.location import Location
from astjit.text.environment import render
from astjit.types.dtype import BOOL

SourceLine = Callable[[Location], str]
_MOVES = frozenset({"load", "store", "load_strided", "store_strided", "element", "put"})
_CPU_MOVES = _MOVES | {"fill", "sweep", "reduce"}  # others than core's come with what is named too
_CPU_HALF = re.compile(r"\b(?:bf16|f16|round_bf16|round_f16)\b")


def tidy(text: str) -> str:
    """The text without blank lines, but for those that a line holding only ~ asks for."""
    lines = (line.rstrip() for line in text.split("\n"))
    return "\n".join("" if line == "~" else line for line in lines if line) + "\n"


def helper_names(target: str) -> Names:
    """Every identifier that a helper defines, so that no variable hides one."""
    return Names(name for piece in pieces(target).values() for name in piece.defines)


def cpu_unit(
    kernels: Sequence[tuple[Kernel, Schedule]], source_line: SourceLine, features: str
) -> Text:
    """One C++ translation unit for all kernels of a Program (decision D9).

    Args:
        kernels: each with its schedule.
        source_line: the user's source text at a location, for comments.
        features: the compiler options it is meant for, shown in the first line.
    """
    texts, entries, names = [], {}, helper_names("cpu")
    wanted = {"core"}
    for kernel, schedule in kernels:
        if schedule.vector != 1 and any(b.dtype is BOOL for b in kernel.buffers):
            wanted.add("truth")
        columns = kernel.kind == "column"
        fixed = cpu_columns.FIXED if columns else cpu_view.FIXED
        renamed = rename(kernel, schedule, names, fixed, "_kernel")
        rows = not columns and rows_are_lanes(kernel, schedule)
        kind = CpuColumns if columns else CpuRows if rows else CpuView
        view = kind(renamed, source_line)
        entries[kernel.name] = view.entry()
        body = render(KINDS[kernel.kind].template(schedule), **view.values())
        texts.append(tidy(body))
    section = "\n".join(texts)
    wanted |= used_pieces("cpu", section, _CPU_MOVES)
    if _CPU_HALF.search(section):
        wanted.add("half")
    if re.search(r"\b(?:element|put)\(", section):
        wanted.add("element")
    helpers = "\n".join(p.text for p in closure("cpu", wanted))
    return Text(f"// {features}\n", helpers, section, entries)


def cuda_unit(
    variants: Sequence[tuple[Kernel, Schedule]], source_line: SourceLine, arch: str
) -> Text:
    """One CUDA text that compiles alone: helpers once, then each kernel in its variant.

    Args:
        variants: kernels, each with the schedule to render it for.
        source_line: the user's source text at a location, for comments.
        arch: shown in the first line with the other options.
    """
    texts, entries, wanted = [], {}, set[str]()
    names = helper_names("cuda")
    for kernel, schedule in variants:
        columns = kernel.kind == "column"
        fixed = cuda_columns.FIXED if columns else cuda_view.FIXED
        renamed = rename(kernel, schedule, names, fixed)
        view = (CudaColumns if columns else CudaView)(renamed, source_line)
        entries[kernel.name] = view.entry()
        text = tidy(render(KINDS[kernel.kind].template(schedule), **view.values()))
        wanted |= view.pieces | view.lanes.pieces | used_pieces("cuda", text, _MOVES)
        texts.append(text)
    helpers = "\n".join(p.text for p in closure("cuda", wanted))
    options = f"// nvrtc --gpu-architecture={arch} --std=c++17 --fmad=false\n"
    return Text(options, helpers, "\n".join(texts), entries)
