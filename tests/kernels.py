"""Runs Groups on real tensors through generated text: C++ by g++, CUDA in the emulator."""

import ctypes
import hashlib
import re
import subprocess
import tempfile
from math import prod
from pathlib import Path

import torch

from astjit.codegen.emit import cpu_unit
from astjit.fusion.kernel import Group
from astjit.fusion.launch import launch
from astjit.fusion.schedule import schedule
from astjit.fusion.split import launches
from astjit.runtime.workspace import COUNTERS
from astjit.targets.cxx import flags
from astjit.types.shape import evaluate
from tests.emulator import emulate
from tests.fusion.execute import allocate, host_number, run_node, value_of

_CTYPES = {
    "pointer": ctypes.c_void_p,
    "status": ctypes.c_void_p,
    "watched": ctypes.c_void_p,
    "long": ctypes.c_long,
    "int": ctypes.c_int,
    "double": ctypes.c_double,
    "float": ctypes.c_float,
}


def no_source(location):
    return ""


def build_cpu(kernels, source_line=no_source):
    """One unit of all kernels, as (library, Text)."""
    text = cpu_unit([(k, schedule(k, "cpu", {}, 64)) for k in kernels], source_line, "g++")
    command = ["g++", *flags(), "-w"]
    key = hashlib.sha256((text.source + str(command)).encode()).hexdigest()[:24]
    folder = Path(tempfile.gettempdir()) / "astjit_test_units"
    folder.mkdir(exist_ok=True)
    library = folder / f"{key}.so"
    if not library.exists():
        with tempfile.TemporaryDirectory(dir=folder) as place:
            source = Path(place) / "unit.cpp"
            source.write_text(text.source)
            subprocess.run([*command, str(source), "-o", f"{place}/unit.so"], check=True)
            Path(place, "unit.so").rename(library)
    return ctypes.CDLL(str(library)), text


def arguments(group, memory, sizes):
    """What a launch is given: tensors by buffer name, extents, strides and numbers by name."""
    kernel = group.kernel
    buffers = {}
    inputs = [b for b in kernel.buffers if b.role != "out"]
    for buffer, value, offset in zip(inputs, group.inputs, group.offsets, strict=True):
        base = memory[value]
        start = base.storage_offset() + evaluate(offset, sizes)
        room = base.untyped_storage().nbytes() // base.element_size() - start
        buffers[buffer.name] = torch.as_strided(base, (max(room, 0),), (1,), start)
    memory.update({value: memory[param] for value, param in group.held.items()})
    for buffer, value in zip(kernel.buffers[len(inputs) :], group.outputs, strict=True):
        if value not in group.held:
            memory[value] = allocate(value.type, sizes)
        made = memory[value]
        count = made.untyped_storage().nbytes() // made.element_size()
        buffers[buffer.name] = torch.as_strided(made, (count,), (1,))
    numbers = {}
    for param, value in zip(kernel.numbers, group.numbers, strict=True):
        known = value in memory or not hasattr(value, "node")
        numbers[param.name] = value_of(value, memory) if known else host_number(value, sizes)
    extents = {a: evaluate(d, sizes) for a, d in group.extents.items()}
    strides = {s: evaluate(d, sizes) for s, d in group.strides.items()}
    return buffers, extents, {**extents, **strides, **numbers}


def run_cpu(library, entry, group, memory, sizes, threads=2):
    """Run a group through its entry point in a built library; its status word."""
    buffers, extents, values = arguments(group, memory, sizes)
    row = extents[group.kernel.axes[-1]] if group.kernel.axes else 1
    work = torch.full((max(1, threads * entry.scratch * row),), float("nan"))
    status = torch.zeros(1, dtype=torch.int32)
    given = {"work": work.data_ptr(), "status": status.data_ptr(), "threads": threads, **values}
    rows = prod(extents[a] for a in group.kernel.parallel)
    parts = {a.name: poison(rows) for a in entry.arguments if a.role == "part"}
    buffers = {**buffers, **parts}
    packed = [
        _CTYPES[a.ctype](buffers[a.name].data_ptr() if a.name in buffers else given[a.name])
        for a in entry.arguments
    ]
    getattr(library, entry.name)(*packed)
    return int(status)


def poison(count):
    """Memory for so many values of at most 8 bytes."""
    return torch.full((max(count, 1),), float("nan"), dtype=torch.float64)


def alignment_of(buffers, kernel, values):
    """The largest power of two, up to 16, that divides every pointer and row stride in bytes."""
    found = 16
    for buffer in kernel.buffers:
        size = buffer.dtype.itemsize
        places = [buffers[buffer.name].data_ptr()]
        places += [values.get(s, s) * size for s in buffer.strides or () if s != 1]
        for place in places:
            while place % found:
                found //= 2
    return found


def cuda_variant(group, memory, sizes):
    """The arguments of a launch, its schedule and its plan."""
    buffers, extents, values = arguments(group, memory, sizes)
    chosen = schedule(group.kernel, "cuda", extents, alignment_of(buffers, group.kernel, values))
    return buffers, values, chosen, launch(group.kernel, chosen, extents)


def emulate_launch(text, entry, buffers, values, plan, order="natural", seed=0):
    """Run one launch under the checked emulator and assert a clean report."""
    parts = {
        a.name: part_of(text, entry, a.name, plan) for a in entry.arguments if a.role == "part"
    }
    arrived = torch.zeros(1, dtype=torch.int32)
    known = {**values, **buffers, **parts, "arrived": arrived}
    args = [known[a.name] for a in entry.arguments]
    report = emulate(
        text.helpers,
        text.kernels,
        entry.name,
        None,
        args,
        plan.grid,
        plan.block,
        schedule=order,
        seed=seed,
        uninitialised=tuple(parts),
    )
    assert not report.errors, report.errors
    assert not any(report.unwritten.values()), report.unwritten
    assert not arrived.any()


def emulate_split(text, kernel, chosen, buffers, values, plan, order="natural"):
    """Run all launches of a variant in a text, which share a workspace; assert clean reports."""
    counters, arrays, missed = torch.zeros(COUNTERS // 4, dtype=torch.int32), {}, {}
    for one, _ in launches(kernel, chosen):
        entry = text.entries[one.name]
        parts = [a for a in entry.arguments if a.role == "part"]
        new = [a.name for a in parts if a.array not in arrays]
        for a in parts:
            arrays.setdefault(a.array, part_of(text, entry, a.name, plan))
        known = {**values, **buffers, **{a.name: arrays[a.array] for a in parts}}
        args = [{**known, "arrived": counters}[a.name] for a in entry.arguments]
        report = emulate(
            text.helpers, text.kernels, entry.name, None, args, plan.grid, plan.block,
            schedule=order, uninitialised=new,
        )  # fmt: skip
        assert not report.errors, report.errors
        for name, count in report.unwritten.items():
            missed[name] = min(count, missed.get(name, count))
        assert not counters.any()
    assert not any(missed[name] for name in missed if name in buffers), missed


def part_of(text, entry, name, plan):
    """What each block leaves, of the type that the text says."""
    kind = re.search(rf"([a-z][a-z ]*)\* {name}\b", text.kernels[text.kernels.index(entry.name) :])[
        1
    ]
    dtype = {"float": "float32", "double": "float64", "long long": "int64", "int": "int32"}.get(
        kind
    )
    blocks = prod(plan.grid)
    return torch.zeros(blocks * plan.left, dtype=getattr(torch, dtype or "bool"))


def run_parts(function, parts, inputs, sizes, run):
    """The results of a function whose groups are run by `run(group, memory, sizes)`."""
    memory = dict(zip(function.params, inputs, strict=True))
    for part in parts.parts:
        if isinstance(part, Group):
            run(part, memory, sizes)
        else:
            run_node(part.node, memory, sizes)
    return [value_of(v, memory) for v in function.results]
