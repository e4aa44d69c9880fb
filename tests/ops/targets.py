"""Functions of rows on both targets: captured, one text for all, run as C++ and in the emulator."""

from dataclasses import replace

import torch

import astjit
from astjit.codegen.emit import cuda_unit
from astjit.config import Config
from astjit.fusion.group import groups
from astjit.fusion.kernel import Group, LibraryCall
from astjit.ir.parser import parse
from astjit.ops.spec import Kind
from astjit.runtime.interpret import bind_sizes
from astjit.types.tensor import ScalarType
from tests.kernels import build_cpu, cuda_variant, emulate_launch, no_source, run_cpu, run_parts

UNIT = 2.0**-126


class Case:
    """A function, captured for its inputs, with its kernels under a name of their own."""

    def __init__(self, name, function, inputs):
        self.name, self.inputs = name, inputs
        self.eager = as_list(function(*inputs))
        text = astjit.compile(function, fullgraph=True).ssa(*inputs)
        self.function = parse(text)
        parts = groups(self.function, "cpu", Config())
        left = [p for p in parts.parts if isinstance(p, LibraryCall) and not quiet(p.node)]
        assert not left, (name, left, [str(u) for u in parts.unfused])
        named = [
            replace(p, kernel=replace(p.kernel, name=f"k_{name}_{i}"))
            if isinstance(p, Group)
            else p
            for i, p in enumerate(parts.parts)
        ]
        self.parts = replace(parts, parts=tuple(named))
        self.kernels = [p.kernel for p in named if isinstance(p, Group)]

    def run(self, run):
        sizes = bind_sizes(self.function.params, self.inputs)
        return run_parts(self.function, self.parts, self.inputs, sizes, run)

    def wrong(self, found, ulp):
        """Results not within `ulp` of eager's as text; 0: the same bits, but for NaN."""
        lines = []
        for mine, theirs in zip(found, self.eager, strict=True):
            assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape), self.name
            a, b = mine.double(), theirs.double()
            same = (a == b) | (a.isnan() & b.isnan())
            if ulp == 0:
                same &= (a != 0) | (a.signbit() == b.signbit())
            elif theirs.dtype.is_floating_point:
                unit = torch.finfo(theirs.dtype).eps * b.abs().clamp(min=UNIT)
                same |= (a - b).abs() <= ulp * unit
            places = (~same).nonzero()[:3].tolist()
            shown = [(at, float(a[tuple(at)]), float(b[tuple(at)])) for at in places]
            if shown:
                lines.append(f"{self.name} {mine.dtype}: {int((~same).sum())} {shown}")
        return lines


def quiet(node):
    """Views and arithmetic of Python numbers."""
    return node.op.kind is Kind.VIEW or all(isinstance(r.type, ScalarType) for r in node.results)


def as_list(value):
    return list(value) if isinstance(value, tuple | list) else [value]


def on_cpu(cases):
    """The results of each case through one unit of C++."""
    library, text = build_cpu([k for case in cases for k in case.kernels])

    def run(group, memory, sizes):
        run_cpu(library, text.entries[group.kernel.name], group, memory, sizes)

    return [case.run(run) for case in cases]


def on_cuda(cases):
    """The results of each case through one CUDA text under the checked emulator."""
    variants = {}

    def note(group, memory, sizes):
        _, _, chosen, plan = cuda_variant(group, memory, sizes)
        if plan is not None:
            variants[group.kernel.name] = (group.kernel, chosen)

    for case in cases:
        case.run(note)
    text = cuda_unit(list(variants.values()), no_source, "sm_90")

    def run(group, memory, sizes):
        buffers, values, _, plan = cuda_variant(group, memory, sizes)
        if plan is not None:
            emulate_launch(text, text.entries[group.kernel.name], buffers, values, plan)

    return [case.run(run) for case in cases]
