"""Runs kernels on real tensors, by PyTorch ops over the whole index space at once.

A slow and literal reading of a Group: every load is a strided view of memory broadcast over the
kernel's axes, every body row is one torch call, every store writes through strides. It
knows nothing of passes, schedules or text, so it is an oracle for what fusion made.
"""

import torch

from astjit.fusion.kernel import (
    Group,
    access_axes,
    indices,
    is_load,
    is_position,
    is_reduce,
    is_store,
    position_axis,
)
from astjit.ir.function import Node
from astjit.ir.value import Literal
from astjit.ops.host import host_text
from astjit.ops.spec import Call
from astjit.ops.table import OPS
from astjit.runtime.interpret import bind_sizes
from astjit.types.shape import Sizes, evaluate
from astjit.types.tensor import TensorType

TO, ROUND, SIZE = OPS["to"], OPS["round_to"], OPS["size"]
QUOTIENT, REST, CHECKED = OPS["quotient"], OPS["rest"], OPS["checked"]
INFINITY = float("inf")
REDUCE = {
    "sum": (torch.sum, 0),
    "max": (torch.amax, -INFINITY),
    "min": (torch.amin, INFINITY),
    "any": (torch.any, False),
    "all": (torch.all, True),
}


def run(function, parts, arguments):
    """The function's results, computed part by part."""
    memory = dict(zip(function.params, arguments, strict=True))
    sizes = bind_sizes(function.params, arguments)
    for part in parts.parts:
        if isinstance(part, Group):
            run_group(part, memory, sizes)
        else:
            run_node(part.node, memory, sizes)
    return [value_of(v, memory) for v in function.results]


def value_of(value, memory):
    return value.value if isinstance(value, Literal) else memory[value]


def torch_dtype(dtype):
    return getattr(torch, dtype.torch)


# -- nodes on tensors ---------------------------------------------------------------------------
def run_node(node, memory, sizes):
    operands = [None if v is None else value_of(v, memory) for v in node.operands]
    made = call_torch(node, operands, sizes)
    results = list(made) if isinstance(made, tuple | list) else [made]
    memory.update(zip(node.results, results, strict=True))


def call_torch(node, operands, sizes):
    names = [None if v is None else f"_{i}" for i, v in enumerate(operands)]
    text = host_text(node.op, names, node.fields, size=lambda dim: str(evaluate(dim, sizes)))
    values = {f"_{i}": v for i, v in enumerate(operands)}
    return eval(text, {"torch": torch, **values})


# -- kernels ------------------------------------------------------------------------------------
def run_group(group, memory, sizes):
    kernel = group.kernel
    extents = {name: evaluate(dim, sizes) for name, dim in group.extents.items()}
    strides = {name: evaluate(dim, sizes) for name, dim in group.strides.items()}
    views = {}
    inputs = [b for b in kernel.buffers if b.role == "in"]
    outputs = [b for b in kernel.buffers if b.role == "out"]
    assert list(kernel.buffers) == inputs + outputs
    params = iter(kernel.body.params)
    for buffer, value, offset in zip(inputs, group.inputs, group.offsets, strict=True):
        base = memory[value]
        assert base.dtype == torch_dtype(buffer.dtype)
        start = base.storage_offset() + evaluate(offset, sizes)
        views[next(params)] = spread(base, buffer, start, extents, strides, kernel)
    for buffer, value in zip(outputs, group.outputs, strict=True):
        memory[value] = made = allocate(value.type, sizes)
        views[next(params)] = spread(made, buffer, 0, extents, strides, kernel)
    env = {}
    for param, value in zip(params, group.numbers, strict=True):
        env[param] = value_of(value, memory) if value in memory else host_number(value, sizes)
    for node in kernel.body.nodes:
        run_body_node(node, env, views, kernel, extents)


def host_number(value, sizes):
    assert isinstance(value.node, Node)
    assert value.node.op is SIZE
    return evaluate(value.node.fields["value"], sizes)


def allocate(kind, sizes):
    shape = [evaluate(d, sizes) for d in kind.dims]
    made = torch.empty_strided(
        shape, [evaluate(s, sizes) for s in kind.element_strides()], dtype=torch_dtype(kind.dtype)
    )
    return made.fill_(77)


def spread(base, buffer, start, extents, strides, kernel):
    """The memory of a buffer over all axes of the kernel, of size 1 where it does not vary.

    Of a buffer that is read at index values: its elements, where it starts and its strides.
    """
    if "*" in buffer.axes:
        own = [s if isinstance(s, int) else strides[s] for s in buffer.strides]
        count = base.untyped_storage().nbytes() // base.element_size()
        return torch.as_strided(base, (count,), (1,), 0), start, own
    if buffer.strides is None:
        own, running = [], 1
        for name in reversed(buffer.axes):
            own.insert(0, running)
            running *= extents[name]
    else:
        own = [s if isinstance(s, int) else strides[s] for s in buffer.strides]
    by_axis = dict(zip(buffer.axes, own, strict=True))
    assert set(buffer.axes) <= set(kernel.axes)
    shape = [extents[a] if a in by_axis else 1 for a in kernel.axes]
    return torch.as_strided(base, shape, [by_axis.get(a, 0) for a in kernel.axes], start)


def run_body_node(node, env, views, kernel, extents):
    if is_store(node):
        target, value = views[node.operands[0]], body_value(node.operands[1], env)
        assert access_axes(node) == kernel.buffer(node.operands[0]).axes
        target.copy_(torch.as_tensor(value).expand_as(target))
        return
    if is_load(node):
        assert access_axes(node) == kernel.buffer(node.operands[0]).axes
        view = views[node.operands[0]]
        made = gathered(node, view, env, kernel, extents) if isinstance(view, tuple) else view
        made = made.to(torch_dtype(node.result.type.dtype))
    elif is_position(node):
        made = position(position_axis(node), kernel, extents)
    elif node.op in (QUOTIENT, REST):
        index, size = (torch.as_tensor(body_value(v, env)) for v in node.operands)
        assert (index >= 0).all()
        made = index // size if node.op is QUOTIENT else index % size
    elif node.op is CHECKED:
        made, size = (torch.as_tensor(body_value(v, env)) for v in node.operands)
        assert ((made >= 0) & (made < size)).all()
    elif is_reduce(node):
        value = body_value(node.operands[0], env)
        over = node.fields["over"].split(",") if node.fields["over"] else kernel.reduced
        dims = [i for i, a in enumerate(kernel.axes) if a in over]
        assert all(value.shape[d] == extents[kernel.axes[d]] for d in dims)
        combine, start = REDUCE[node.fields["combine"]]
        shape = [1 if i in dims else n for i, n in enumerate(value.shape)]
        made = torch.full(shape, start, dtype=value.dtype)
        if value.numel():
            made = combine(value, dim=dims, keepdim=True).to(value.dtype)
    elif node.op is SIZE:
        made = evaluate(node.fields["value"], extents)
    elif node.op is ROUND:
        made = body_value(node.operands[0], env).to(torch_dtype(node.fields["dtype"])).float()
    elif node.op is TO:
        value = body_value(node.operands[0], env)
        dtype = torch_dtype(node.fields["dtype"])
        tensor = isinstance(value, torch.Tensor)
        made = value.to(dtype) if tensor else torch.tensor(value, dtype=dtype)
    else:
        made = run_row(node, env)
    kind = node.result.type
    assert not isinstance(kind, TensorType) or made.dtype == torch_dtype(kind.dtype), node.op.name
    env[node.result] = made


def position(axis, kernel, extents):
    """The index of an axis, over all axes."""
    shape = [extents[a] if a == axis else 1 for a in kernel.axes]
    return torch.arange(extents[axis]).reshape(shape)


def gathered(node, view, env, kernel, extents):
    """A load at index values, 0 where there is nothing to read."""
    elements, at, strides = view
    given, where = indices(node)
    values = iter([torch.as_tensor(body_value(v, env)) for v in given])
    for axis, stride in zip(access_axes(node), strides, strict=True):
        at = at + stride * (next(values) if axis == "*" else position(axis, kernel, extents))
    there = torch.ones_like(at, dtype=torch.bool)
    if where is not None:
        at, there = torch.broadcast_tensors(at, env[where])
    assert ((at >= 0) & (at < len(elements)))[there].all()
    made = torch.zeros(at.shape, dtype=elements.dtype)
    made[there] = elements[at[there]]
    return made


def run_row(node, env):
    """One elementwise row; every operand must have exactly the dtype it computes in."""
    types = tuple(None if v is None else v.type for v in node.operands)
    wanted = node.op.rule.computes(Call(types, node.fields, Sizes()))
    operands = []
    for value, dtype in zip(node.operands, wanted, strict=True):
        if value is None or isinstance(value, Literal):
            operands.append(value and torch.tensor(value.value, dtype=torch_dtype(dtype)))
            continue
        assert value.type.dtype is dtype, f"{node.op.name}: {value.type} for {dtype}"
        operands.append(body_value(value, env))
    return call_torch(node, operands, {})


def body_value(value, env):
    return value.value if isinstance(value, Literal) else env[value]
