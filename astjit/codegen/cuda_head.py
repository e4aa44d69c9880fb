"""The first lines of a CUDA kernel: what it takes, and how many threads are to share registers."""

from collections.abc import Iterable, Mapping

from astjit.codegen.cuda_lanes import held_dtype
from astjit.codegen.dialect import CUDA
from astjit.codegen.signature import Argument
from astjit.codegen.source import parameters
from astjit.fusion.kernel import Kernel, is_reduce
from astjit.fusion.schedule import Schedule
from astjit.ir.value import Result

# Threads that a multiprocessor is to hold of a kernel that keeps 16 lanes or more, 64 registers
# each: without it ptxas 13.5 spills a few values to get along with 48.
RESIDENT = 1024
FULL = 128  # bytes that a thread keeps, from which 64 registers can be too few where loads of a row
# are guarded lane by lane or by its end in a warp: up to 128 then, instead of spills

LANES, REDUCTIONS = 8, 3  # of a column kernel: so many vectors, or guarded loads of such, as well


def head(
    kernel: Kernel,
    schedule: Schedule,
    resident: Iterable[Result],
    arguments: Iterable[Argument],
    parts: Mapping[str, str],
) -> str:
    """A kernel's head up to the opening brace.

    Args:
        kernel: with safe names.
        schedule: its variant.
        resident: values that are kept in registers.
        arguments: what it takes.
        parts: the C type of what each part argument holds.
    """
    first = f'extern "C" __global__ void __launch_bounds__({_bounds(kernel, schedule, resident)})\n'
    declarations = [_declaration(kernel, a, parts) for a in arguments]
    return first + parameters(f"{kernel.name}(", declarations, ") {")


def half_pieces(kernel: Kernel) -> set[str]:
    """The helper pieces of the 16-bit types that a head names."""
    names = {"bf16": "bfloat16", "f16": "float16"}
    return {names[b.dtype.name] for b in kernel.buffers if b.dtype.is_half}


def _declaration(kernel: Kernel, argument: Argument, parts: Mapping[str, str]) -> str:
    if argument.role == "buffer":
        buffer = next(b for b in kernel.buffers if b.name == argument.name)
        const = "const " if buffer.role == "in" else ""
        restrict = CUDA.restrict if buffer.role != "inout" else ""
        return f"{const}{CUDA.memory_types[buffer.dtype.name]}* {restrict}{buffer.name}"
    if argument.role == "part":
        return f"{parts[argument.name]}* {argument.name}"
    if argument.role == "arrived":
        return "unsigned* arrived"
    kind = {"long": "long long"}.get(argument.ctype, argument.ctype)
    return f"{kind} {argument.name}"


def _bounds(kernel: Kernel, s: Schedule, resident: Iterable[Result]) -> str:
    """Threads of a block, and blocks that are to fit where that keeps ptxas from spilling."""
    threads = s.threads * s.rows
    many = s.variant in ("warp", "resident") and s.per_thread * s.vector >= 16
    if not many and kernel.kind != "column":  # whose accumulators are vectors too
        return str(threads)
    held = sum(held_dtype(kernel, v).itemsize for v in resident)
    tight = s.variant == "warp" or not s.aligned
    full = tight and s.per_thread * s.vector * held >= FULL
    crowded = sum(map(is_reduce, kernel.body.nodes)) >= REDUCTIONS or not s.aligned
    double = any(b.dtype.name == "f64" for b in kernel.buffers)  # whose functions take many
    column = kernel.kind == "column"
    full = full or (column and (double or (s.vector >= LANES and crowded)))
    full = full or s.variant == "split"  # of which there are two blocks a multiprocessor
    return f"{threads}, {(RESIDENT // 2 if full else RESIDENT) // threads}"
