"""Kernels that write to an input where it lies, instead of to new memory that is copied back (D6).

    before:  in x: f32[n], out x_1: f32[n]     x_1 = empty, kernel(x, x_1), x.copy_(x_1)
    after:   inout x: f32[n]                   kernel(x)

Legal where the kernel reads the input at the index it writes, where neither a later pass of it nor
anything after it reads what was there, and where nothing after the kernel can fail: after a failure
the original runs, on inputs that must be as they were.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from astjit.fusion.graph import operands
from astjit.fusion.kernel import (
    Group,
    Kernel,
    LibraryCall,
    Part,
    Parts,
    facts,
    is_load,
    is_reduce,
    is_store,
    may_fail,
    slice_back,
)
from astjit.fusion.pieces import root_of
from astjit.fusion.schedule import stored_in
from astjit.fusion.stages import cut, later_uses, wanted
from astjit.ir.value import Param, Value
from astjit.ops.spec import FieldKind, Kind
from astjit.types.tensor import ScalarType


def in_place(parts: Parts, written: Mapping[Value, Param], *, built: bool = True) -> Parts:
    """The parts, with kernels that write inputs in place where that is legal.

    Args:
        parts: in execution order.
        written: the values that inputs hold at the end, which nothing else returns.
        built: whether kernels are built before any runs; where they are built when launched, each
            may fail, so that only the last may write.
    """
    made = list(parts.parts)
    for at in reversed(range(len(made))):
        part = made[at]
        if isinstance(part, Group):
            if may_fail(part.kernel):
                break  # and what comes before must not write either
            wanted = {v: written[v] for v in part.outputs if v in written}
            for value, param in wanted.items():
                if _free(param, made, at):
                    made[at] = part = _merged(part, value, param)
            if not built or any(v not in part.held for v in part.outputs):
                break  # memory for the outputs may be missing: what comes before must not write
        elif _may_fail(part):
            break
    return replace(parts, parts=tuple(made))


def _may_fail(part: LibraryCall) -> bool:
    """Views and numbers do not fail: their guards hold."""
    numbers = all(isinstance(r.type, ScalarType) for r in part.node.results)
    return part.node.op.kind is not Kind.VIEW and not numbers


def _free(param: Param, parts: Sequence[Part], at: int) -> bool:
    """Whether nothing but part `at` and what comes before it reads the input's old elements."""
    for position, part in enumerate(parts):
        if isinstance(part, Group):
            read = any(root_of(v) is param for v in part.inputs)
        elif part.node.op.kind is Kind.VIEW:
            continue  # a view of the caller's memory, or read by another part
        else:
            read = any(root_of(v) is param for v in operands(part.node))
            if read and any(f.kind is FieldKind.TYPES for f in part.node.op.fields):
                return False  # its result may be a view
        if read and position > at:
            return False
    return True


def _merged(group: Group, value: Value, param: Param) -> Group:
    """The group with `value` written to the memory of `param`, if what it reads allows that."""
    kernel = group.kernel
    ins = [at for at, b in enumerate(kernel.buffers) if b.role != "out"]
    outs = [at for at, b in enumerate(kernel.buffers) if b.role == "out"]
    out = outs[group.outputs.index(value)]
    read = [at for at, v in zip(ins, group.inputs, strict=True) if root_of(v) is param]
    held = {**group.held, value: param}
    if value.type != param.type or len(read) > 1:
        return group
    if not read:
        return replace(group, held=held)
    (at,) = read
    one, other = kernel.buffers[at], kernel.buffers[out]
    alike = (one.axes, one.strides, one.dtype) == (other.axes, other.strides, other.dtype)
    if not alike or group.offsets[ins.index(at)] != 0:
        return group
    body = kernel.body
    if _read_after(kernel, body.params[at], body.params[out]):
        return group
    for node in body.nodes:
        if is_store(node) and node.operands[0] is body.params[out]:
            node.operands = (body.params[at], *node.operands[1:])
    del body.params[out]
    buffers = [
        replace(b, role="inout") if b is one else b for b in kernel.buffers if b is not other
    ]
    return replace(
        group,
        kernel=replace(kernel, buffers=tuple(buffers)),
        outputs=tuple(v for v in group.outputs if v is not value),
        held=held,
    )


def _read_after(kernel: Kernel, source: Param, target: Param) -> bool:
    """Whether a pass needs elements of `source` again once `target` was written.

    Values that are stored anyway are read back instead of computed again, by every schedule.
    """
    known, nodes = facts(kernel), kernel.body.nodes
    again = {v: stored_in(kernel, v) for v in later_uses(kernel) if kernel.inner in known[v].axes}
    kept = {value: place for value, place in again.items() if place is not None}
    loads = {n.result for n in nodes if is_load(n) and n.operands[0] is source}
    reduced = [r for n in nodes if is_reduce(n) for r in n.results]
    written = False
    for here in cut(kernel, kept).passes:
        elements = slice_back(wanted(here), [*reduced, *here.reads])
        scalars = slice_back([n.values[1] for n in here.scalar_stores], reduced)
        if written and loads & (elements | scalars):
            return True
        if any(n.operands[0] is target for n in here.scalar_stores):
            written = True
            if loads & elements:
                return True
        written |= any(n.operands[0] is target for n in here.stores)
    return False
