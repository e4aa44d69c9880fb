"""A kernel as text: its axes, its buffers and its body, for reports and tests.

    kernel softmax row(rows | cols)
      in x: f32[rows, cols]
      out y: f32[rows, cols]
      %0 = load x [rows, cols]
      %1 = reduce %0 {max}

What is dense has no strides shown.
"""

from collections.abc import Mapping

from astjit.fusion.kernel import Buffer, Group, Kernel, access_axes, indices, is_load, is_store
from astjit.ir.function import Node
from astjit.ir.value import Literal, Value
from astjit.types.dtype import DType
from astjit.types.shape import Dim, text


def describe(kernel: Kernel) -> str:
    """The kernel as text, without the user's lines."""
    bar = f" | {', '.join(kernel.reduced)}" if kernel.reduced else ""
    lines = [f"kernel {kernel.name} {kernel.kind}({', '.join(kernel.parallel)}{bar})"]
    lines += [f"  {b.role} {_buffer(b)}" for b in kernel.buffers]
    lines += [f"  number {p.name}: {p.type}" for p in kernel.numbers]
    shown: dict[Value, str] = {p: p.name for p in kernel.body.params}
    taken = {r.name for node in kernel.body.nodes for r in node.results}
    count = 0
    for node in kernel.body.nodes:
        for result in node.results:
            shown[result] = f"%{result.name}"
            if not result.name:
                while str(count) in taken:
                    count += 1
                shown[result], count = f"%{count}", count + 1
        lines.append("  " + _node(node, shown))
    return "\n".join(lines) + "\n"


def describe_group(group: Group) -> str:
    """The kernel as text, then what it is run on."""
    lines = [f"  size {name} = {text(dim)}" for name, dim in group.extents.items()]
    lines += [f"  stride {name} = {text(dim)}" for name, dim in group.strides.items()]
    names = [b.name for b in group.kernel.buffers]
    offsets = zip(names, group.offsets, strict=False)
    lines += [f"  offset {name} = {text(dim)}" for name, dim in offsets if dim != 0]
    return describe(group.kernel) + "".join(f"{line}\n" for line in lines)


def described(node: Node) -> str:
    """An operation and where it comes from, such as "matmul (model.py:12)"."""
    name = called(node)
    return f"{name} ({node.location.short})" if node.location else name


def called(node: Node) -> str:
    """What is called: the function that a library call names, else the row."""
    target = node.fields.get("target")
    return target if isinstance(target, str) else node.op.name


def _buffer(buffer: Buffer) -> str:
    shown = f"{buffer.name}: {buffer.dtype}[{', '.join(buffer.axes)}]"
    if buffer.strides is None:
        return shown
    return f"{shown} strides({', '.join(map(str, buffer.strides))})"


def _node(node: Node, shown: Mapping[Value, str]) -> str:
    def name(value: Value) -> str:
        return repr(value.value) if isinstance(value, Literal) else shown[value]

    if is_store(node):
        return (
            f"store {name(node.values[0])} [{', '.join(access_axes(node))}], {name(node.values[1])}"
        )
    left = ", ".join(shown[r] for r in node.results)
    if is_load(node):
        given, where = indices(node)
        at = iter(map(name, given))
        places = ", ".join(next(at) if a == "*" else a for a in access_axes(node))
        guard = f" where {name(where)}" if where is not None else ""
        return f"{left} = load {name(node.values[0])} [{places}]{guard}"
    operands = ", ".join("none" if v is None else name(v) for v in node.operands)
    fields = ", ".join(
        _field(node, f.name) for f in node.op.fields if node.fields[f.name] != f.default
    )
    parts = [node.op.name, operands, f"{{{fields}}}" if fields else ""]
    return f"{left} = {' '.join(p for p in parts if p)}"


def _field(node: Node, name: str) -> str:
    value = node.fields[name]
    match value:
        case DType():
            return str(value)
        case str() | int() | float():
            return value if isinstance(value, str) else f"{name}={value!r}"
    return f"{name}={_dim(value)}"


def _dim(value: object) -> str:
    return text(value) if isinstance(value, Dim) else str(value)
