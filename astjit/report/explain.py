"""What became of one call, as objects and as text.

report = astjit.explain(rms_norm, x, residual, w)
report.kernels[0].reads            bytes;  .resources["sm_90"].registers, by NVRTC, when asked
report.fallbacks, .unfused, .library_calls
print(report)
"""

import linecache
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from astjit.errors import UserError
from astjit.frontend.runs import Run, in_words
from astjit.fusion.describe import described
from astjit.fusion.kernel import (
    Group,
    Kernel,
    LibraryCall,
    facts,
    is_free,
    is_load,
    is_reduce,
    is_store,
)
from astjit.ir.value import Literal
from astjit.location import Location
from astjit.runtime.program import Program, Texts
from astjit.runtime.splits import UNREACHED, Cut
from astjit.targets.nvrtc import ARCHES, Resources, compile_cuda
from astjit.types.shape import evaluate


@dataclass(frozen=True, slots=True)
class KernelReport:
    """One fused kernel in one call.

    Attributes:
        name: in the generated text.
        kind: "pointwise", "row", ...
        target: "cpu" or "cuda".
        variant: the CUDA variant for these sizes, in words.
        source: its text for the target.
        cuda: its CUDA text, which compiles alone.
        reads: bytes read, each buffer once.
        writes: bytes written.
        flops: elementary operations on elements.
        lines: the user's source lines that it computes.
    """

    name: str
    kind: str
    target: str
    variant: str
    source: str
    cuda: str
    reads: int
    writes: int
    flops: int
    lines: tuple[Location, ...]

    @property
    def resources(self) -> dict[str, Resources]:
        """Registers, stack and spills by architecture; built by NVRTC when first asked for."""
        return {arch: _built(self.cuda, arch)[self.name] for arch in ARCHES}


@dataclass(frozen=True, slots=True)
class Fallback:
    """Something left to Python.

    Attributes:
        file: of the statement, "" when unknown.
        line: of the statement, 0 when unknown.
        text: the source line.
        reason: why.
    """

    file: str
    line: int
    text: str
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}" if self.file else self.reason


@dataclass(frozen=True, slots=True)
class UnfusedReport:
    """A value that goes through memory between two operations.

    Attributes:
        producer: the operation that makes it, such as "matmul (model.py:12)".
        consumer: the operation that reads it.
        reason: why one kernel does not hold both.
    """

    producer: str
    consumer: str
    reason: str

    def __str__(self) -> str:
        return f"{self.producer} -> {self.consumer}: {self.reason}"


@dataclass(frozen=True, slots=True)
class SegmentReport:
    """What is compiled between statements that stay Python.

    Attributes:
        name: as the rewritten source calls it.
        file: of its statements.
        first: the line at which it begins.
        last: the line at which it ends.
        programs: made so far; 0 where no call has reached it.
        kernels: names of those in its latest program.
    """

    name: str
    file: str
    first: int
    last: int
    programs: int
    kernels: tuple[str, ...]

    def __str__(self) -> str:
        lines = in_words(self.first, self.last)
        if not self.programs:
            return f"{self.name}, {lines}: {UNREACHED}"
        kernels = ", ".join(self.kernels) or "no kernel"
        return f"{self.name}, {lines}: {kernels}"


@dataclass(frozen=True, slots=True)
class Report:
    """What becomes of a call.

    Attributes:
        name: of the function.
        target: of its kernels, "" when it runs eagerly.
        kernels: in order.
        library_calls: operations given to PyTorch's own kernels.
        fallbacks: what is left to Python.
        unfused: values that go through memory, and why.
        gradients: calls that ran eagerly so far because an input wanted a gradient.
        segments: what is compiled of a function that is cut, as far as calls have reached it.
    """

    name: str
    target: str
    kernels: tuple[KernelReport, ...] = ()
    library_calls: tuple[str, ...] = ()
    fallbacks: tuple[Fallback, ...] = ()
    unfused: tuple[UnfusedReport, ...] = ()
    gradients: int = 0
    segments: tuple[SegmentReport, ...] = ()

    @property
    def syncs(self) -> int:
        """How many statements left to Python read the values of a tensor, and wait for them."""
        return sum("the values of a tensor" in fallback.reason for fallback in self.fallbacks)

    def __str__(self) -> str:
        lines = [f"{self.name} on {self.target}" if self.target else f"{self.name} runs eagerly"]
        if self.segments:
            count = len(self.segments)
            lines = [f"{self.name} is cut into {count} segment{'s' * (count > 1)}"]
            lines += [f"  segment {segment}" for segment in self.segments]
        for kernel in self.kernels:
            moved = f"reads {_bytes(kernel.reads)}, writes {_bytes(kernel.writes)}"
            shown = f"{moved}, {kernel.flops:,} operations"
            lines.append(f"  kernel {kernel.name} ({kernel.kind}): {shown}")
            lines += [f"    {place.short}: {_source(place)}" for place in kernel.lines]
        lines += [f"  library call {call}" for call in self.library_calls]
        lines += [f"  left to Python: {fallback}" for fallback in self.fallbacks]
        lines += [f"  not fused: {edge}" for edge in self.unfused]
        if self.gradients:
            calls = "1 call" if self.gradients == 1 else f"{self.gradients} calls"
            lines.append(f"  {calls} ran eagerly for gradients")
        return "\n".join(lines)


def report_program(
    name: str,
    program: Program,
    sizes: Mapping[str, int],
    texts: Mapping[str, Texts],
    gradients: int,
) -> Report:
    """The report of a call that a program runs.

    Args:
        name: of the function.
        program: what runs it.
        sizes: the value of every size symbol.
        texts: by kernel name.
        gradients: calls that ran eagerly for their gradients.
    """
    kernels = tuple(
        _kernel(group, program.target, sizes, texts[group.kernel.name]) for group in program.groups
    )
    calls = tuple(
        described(part.node)
        for part in program.parts.parts
        if isinstance(part, LibraryCall) and not is_free(part.node)
    )
    unfused = tuple(
        UnfusedReport(described(edge.producer), described(edge.consumer), edge.reason)
        for edge in program.parts.unfused
    )
    return Report(name, program.target, kernels, calls, (), unfused, gradients)


def report_eager(name: str, why: UserError, gradients: int) -> Report:
    """The report of a call that runs eagerly."""
    place = why.location
    text = str(why).partition("\n")[2].partition("\n")[0].strip() if place else ""
    where = (place.file, place.line) if place else ("", 0)
    return Report(name, "", fallbacks=(Fallback(*where, text, why.seen),), gradients=gradients)


def report_cut(name: str, why: UserError, cut: Cut | None, gradients: int) -> Report:
    """The report of a call of a function that is not captured whole.

    Args:
        name: of the function.
        why: the first reason.
        cut: how it is cut; None where nothing of it is compiled.
        gradients: calls that ran eagerly for their gradients.
    """
    if cut is None:
        return report_eager(name, why, gradients)
    left = tuple(
        Fallback(cut.file, line, linecache.getline(cut.file, line).strip(), reason)
        for (line, _), reason in cut.reasons.items()
    )
    segments = tuple(_segment(called, run, cut) for called, run in cut.runs.items())
    return Report(name, "", fallbacks=left, gradients=gradients, segments=segments)


def _segment(name: str, run: Run, cut: Cut) -> SegmentReport:
    made = cut.programs(name)
    kernels = tuple(group.kernel.name for group in made[-1].groups) if made else ()
    last = run.last.end_lineno or run.last.lineno
    return SegmentReport(name, cut.file, run.first.lineno, last, len(made), kernels)


def _kernel(group: Group, target: str, sizes: Mapping[str, int], texts: Texts) -> KernelReport:
    kernel = group.kernel
    extents = {axis: evaluate(dim, sizes) for axis, dim in group.extents.items()}
    reads = writes = 0
    for buffer in kernel.buffers:
        moved = _count(buffer.axes, extents) * buffer.dtype.itemsize
        reads += moved if buffer.role != "out" else 0
        writes += moved if buffer.role != "in" else 0
    return KernelReport(
        name=kernel.name,
        kind=kernel.kind,
        target=target,
        variant=texts.variant,
        source=texts.cpp if target == "cpu" else texts.cuda,
        cuda=texts.cuda,
        reads=reads,
        writes=writes,
        flops=_operations(kernel, extents),
        lines=kernel.lines,
    )


def _operations(kernel: Kernel, extents: Mapping[str, int]) -> int:
    """One for each elementwise row at each element it varies over, and for each value reduced."""
    known = facts(kernel)
    total = 0
    for node in kernel.body.nodes:
        if is_load(node) or is_store(node):
            continue
        value = node.values[0] if is_reduce(node) else node.results[0]
        axes = frozenset[str]() if isinstance(value, Literal) else known[value].axes
        total += _count(axes, extents)
    return total


def _source(place: Location) -> str:
    return linecache.getline(place.file, place.line).strip()


def _count(axes: frozenset[str] | tuple[str, ...], extents: Mapping[str, int]) -> int:
    total = 1
    for axis in axes:
        total *= extents.get(axis, 1)
    return total


def _bytes(count: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.3g} GiB"


@cache
def _built(text: str, arch: str) -> dict[str, Resources]:
    return compile_cuda(text, arch).resources
