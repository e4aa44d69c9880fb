"""The buffers of a group: what it reads and writes, folded into index maps over its axes.

    before: %a, %b = chunk %x ; %s = silu %a ; %y = mul %s, %b          x: f32[rows, 2*n]
    after:  in a: f32[rows, cols] strides(a_stride_rows, 1), in b: the same at an offset of n
            out y: f32[rows, cols]                                       rows = rows, cols = n

Views of memory are nothing but strides and an offset; two reads of one memory at one index are one
buffer.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from astjit.fusion.axes import Access, Axis, Nest, access, collapse, memory_order, nest, place
from astjit.fusion.demand import Axes
from astjit.fusion.index import Space
from astjit.fusion.kernel import SPREAD, Buffer, Role
from astjit.fusion.names import Names
from astjit.fusion.pieces import Unfit, Unit, call_of, is_view, root_of, view_source
from astjit.ir.function import Node
from astjit.ir.value import Param, Value, tensor_type
from astjit.types.shape import Dim, Sizes, Sym, add, mul
from astjit.types.tensor import TensorType

_Key = tuple[Value, Dim, tuple[tuple[Axis, Dim], ...], tuple[tuple[Axis, Dim], ...]]
Way = tuple[Node, int, frozenset[Axis]]  # a use of a leaf, and the axes that stand elsewhere


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory that a kernel reads or writes.

    Attributes:
        value: the function's value whose memory it is: never a view.
        shown: the value read, a view of it or itself.
        offset: elements from the first of `value` to the first of `shown`.
        axes: the loops of each dim of `shown`, outermost first; none where it stands elsewhere.
        access: strides over the axes.
        picked: axes that stand elsewhere, with their strides.
        spread: these are the outer ones of a row's loops: each element is read for many in turn.
    """

    value: Value
    shown: Value
    offset: Dim
    axes: tuple[tuple[Axis, ...], ...]
    access: Access
    picked: tuple[tuple[Axis, Dim], ...] = ()
    spread: bool = False


@dataclass(frozen=True, slots=True)
class Bound:
    """A buffer with the memory that it stands for, and the body's parameter."""

    memory: Memory
    buffer: Buffer
    param: Param


@dataclass(slots=True)
class Reads:
    """All buffers of a kernel, with its axes.

    Attributes:
        nest: the axes.
        inputs: in order.
        outputs: in order.
        names: hands out the remaining names.
        strides: value of each run-time stride parameter.
    """

    nest: Nest
    inputs: list[Bound]
    outputs: list[Bound]
    names: Names
    strides: dict[str, Dim]
    uses: dict[Way, Bound]

    def bound(self, piece: Node, at: int, away: frozenset[Axis]) -> Bound:
        """The buffer read by an operand of a piece, these axes standing elsewhere."""
        return self.uses[piece, at, away]

    def axis_name(self, axis: Axis) -> str:
        """The name of an axis that is a loop of its own."""
        return next(name for name, run in self.nest.members.items() if run == (axis,))


def offset_of(value: Value, sizes: Sizes) -> Dim:
    """Elements from the first of a view's root to the first of the view."""
    total: Dim = 0
    while is_view(value):
        node = value.node  # type: ignore[union-attr]  # a view is a Result
        assert isinstance(node, Node)
        assert node.op.view is not None
        total = add(total, node.op.view.offset(call_of(node, sizes)))
        value = view_source(value)
    return total


def memory_of(
    value: Value, axes: Axes, sizes: Sizes, space: Space, away: frozenset[Axis] = frozenset()
) -> Memory:
    """The memory of a value read or written at these axes, some of which stand elsewhere."""
    kind = tensor_type(value)
    whole = access(kind, axes) if away else Access({}, {})
    picked = tuple((a, stride) for a, stride in whole.strides.items() if a in away)
    here = tuple(None if a in away else a for a in axes)
    reached = access(kind, here, space.made, space.sizes)
    loops = tuple(space.loops([a]) for a in here)
    return Memory(root_of(value), value, offset_of(value, sizes), loops, reached, picked)


def layout(space: Space, inputs: Sequence[Memory], outputs: Sequence[Memory]) -> Nest:
    """The loop nest: axes ordered as the outputs lie, or else as what is read does.

    Raises:
        Unfit: if the reduced axes do not collapse into one, or columns are combined at the end.
    """
    order = _order(space, inputs, outputs)
    parallel = [a for a in order if a not in space.reduced]
    reduced = [a for a in order if a in space.reduced]
    accesses = [m.access for m in (*inputs, *outputs)]
    columns = bool(reduced and parallel) and order[-1] not in space.reduced
    if columns and space.finals:
        raise Unfit("columns are combined by a kernel of their own")
    if columns and any(m.picked for m in inputs):
        raise Unfit("columns are not read at computed indices")
    made = nest(parallel, reduced, accesses, space.sizes, space.indexed, columns=columns)
    if len(made.reduced) > 1:
        if made.parallel or space.deep:
            raise Unfit("the reduced axes do not lie as one in every buffer")
        runs = [made.members[name] for name in made.reduced]  # all axes: rows, and then over rows
        rows = [axis for run in runs[:-1] for axis in run]
        made = nest(rows, runs[-1], accesses, space.sizes)
    return made


def _order(space: Space, inputs: Sequence[Memory], outputs: Sequence[Memory]) -> list[Axis]:
    """The loops, outermost first, as the outputs lie, or else as what is read does."""
    orders: list[tuple[list[Axis], int]] = []
    for position, memory in enumerate((*outputs, *inputs)):
        if set(memory.access.strides) == space.whole:
            dims = memory_order(tensor_type(memory.shown))
            found = [a for dim in dims for a in memory.axes[dim]]
            orders.append((found, 2 if position < len(outputs) else 1))
    order = _preferred(orders if space.reduced else orders[:1])
    return order + sorted(space.whole - set(order))


def _spread(space: Space, inputs: list[Memory], outputs: Sequence[Memory]) -> list[Memory]:
    """What is read, with what varies over outer loops of a row only read at an index of the row.

    A weight for each channel beside rows that are groups of channels: w[col // pixels].
    """
    if len(space.reduced) < 2 or space.reduced == space.whole:
        return inputs
    order = [a for a in _order(space, inputs, outputs) if a in space.reduced]
    if len(collapse(order, [m.access for m in (*inputs, *outputs)])) == 1:
        return inputs
    made = []
    for memory in inputs:
        strides, sizes = memory.access.strides, memory.access.sizes
        over = [a for a in order if a in strides]
        outer = 0 < len(over) < len(order) and over == order[: len(over)]
        if outer and not memory.picked and tensor_type(memory.shown).dtype.name in SPREAD:
            rest = Access(*({a: d[a] for a in d if a not in over} for d in (strides, sizes)))
            picked = tuple((a, strides[a]) for a in over)
            memory = replace(memory, access=rest, picked=picked, spread=True)
        made.append(memory)
    return made


def _preferred(orders: Sequence[tuple[list[Axis], int]]) -> list[Axis]:
    """Of the orders in which buffers lie, with their weights, the innermost axis most share."""
    votes = Counter[Axis]()
    for order, weight in orders:
        votes.update(dict.fromkeys(order[-1:], weight))
    best: list[Axis] = []
    for order, _ in orders:
        if not best or votes[order[-1]] > votes[best[-1]]:
            best = order
    return list(best)


def memories(
    units: Sequence[Unit], space: Space, outputs: Sequence[Value], sizes: Sizes
) -> tuple[list[Memory], list[Memory], dict[Way, int]]:
    """What the units read, each index of a memory once, what they write, what each use reads."""
    found: dict[_Key, int] = {}
    inputs: list[Memory] = []
    uses: dict[Way, int] = {}
    for unit in units:
        for piece in unit.pieces:
            for at, value in enumerate(piece.operands):
                for away in space.reads.get((piece, at), ()):
                    assert value is not None
                    memory = memory_of(value, space.leaves[piece, at], sizes, space, away)
                    strides = tuple(sorted(memory.access.strides.items()))
                    key = (memory.value, memory.offset, strides, memory.picked)
                    if key not in found:
                        found[key] = len(inputs)
                        inputs.append(memory)
                    uses[piece, at, away] = found[key]
    written = [memory_of(v, space.axes[v], sizes, space) for v in outputs]
    return _spread(space, inputs, written), written, uses


def reads_of(
    units: Sequence[Unit],
    space: Space,
    outputs: Sequence[Value],
    sizes: Sizes,
    params: Sequence[Value],
) -> Reads:
    """The buffers of a group whose results needed outside are `outputs`.

    Raises:
        Unfit: if no kernel kind has such a loop nest.
    """
    inputs, written, uses = memories(units, space, outputs, sizes)
    where = layout(space, inputs, written)
    reads = Reads(where, [], [], Names(where.axes), {}, {})
    position = {p: i for i, p in enumerate(params)}
    last = len(position)
    order = sorted(range(len(inputs)), key=lambda i: (position.get(inputs[i].value, last), i))
    bound = {i: bind(reads, inputs[i], "in") for i in order}
    reads.inputs = [bound[i] for i in order]
    reads.outputs = [bind(reads, memory, "out") for memory in written]
    reads.uses = {use: bound[i] for use, i in uses.items()}
    return reads


def bind(reads: Reads, memory: Memory, role: Role) -> Bound:
    """Name and place one buffer. Run-time strides become parameters called after it."""
    plain = "out" if role == "out" else "input"
    name = reads.names.take(memory.shown.name, memory.value.name, plain)
    axes, strides = place(reads.nest, memory.access)
    one = not reads.nest.members[reads.nest.axes[0]]
    if role == "out" and one and not memory.picked:
        axes, strides = _with_unit_axis(reads.nest, axes, strides)
    kind = tensor_type(memory.shown)
    buffer = Buffer(name, kind.dtype, axes, role)
    if memory.picked and strides is None:
        strides = _dense(reads.nest, axes)
    if strides is not None:
        pairs = zip(axes, strides, strict=True)
        buffer = replace(buffer, strides=tuple(_stride(reads, name, a, s) for a, s in pairs))
    if memory.picked:
        steps = tuple(_stride(reads, name, "at", s) for _, s in memory.picked)
        stars = ("*",) * len(steps)
        assert buffer.strides is not None
        buffer = replace(buffer, axes=stars + axes, strides=steps + buffer.strides)
    param = Param(TensorType(kind.dtype, tuple(map(Sym, axes)), device=kind.device), name)
    return Bound(memory, buffer, param)


def _dense(where: Nest, axes: tuple[str, ...]) -> tuple[Dim, ...]:
    """The strides of a buffer that is dense over these axes."""
    strides: list[Dim] = []
    running: Dim = 1
    for axis in reversed(axes):
        strides.insert(0, running)
        running = mul(running, where.extents[axis])
    return tuple(strides)


def _with_unit_axis(
    where: Nest, axes: tuple[str, ...], strides: tuple[Dim, ...] | None
) -> tuple[tuple[str, ...], tuple[Dim, ...] | None]:
    """An output of a kernel of one row has the axis of that row too."""
    return (where.axes[0], *axes), None if strides is None else (0, *strides)


def _stride(reads: Reads, buffer: str, axis: str, stride: Dim) -> int | str:
    if stride in (0, 1):
        return 0 if stride == 0 else 1
    name = reads.names.take(f"{buffer}_stride_{axis}")
    reads.strides[name] = stride
    return name
