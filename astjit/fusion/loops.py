"""A counted loop whose body is elementwise as one kernel: a thread or lane has a loop of its own.

    before: %h_2, %ys = for %h {trip=n, index="t"} { body(%t, %h_1): %0 = select_at %x {..t} ; .. }
    after:  %h_ = load h
            %h_2 = range 0, n, 1, %h_ { body(%t, %h_1): %x_ = load x, %t ; ... ; store ys, ..., %t }
            store h_out, %h_2

The kernel's axes are those of the carried tensors. What lies at the index of the iteration is read
where it is used, at an offset that is linear in that index; what is stacked is stored there.
"""

from collections.abc import Iterator, Mapping, Sequence

from astjit.config import Config
from astjit.fusion.axes import Axis, access, memory_order, nest
from astjit.fusion.kernel import Group, Kernel
from astjit.fusion.looping import fits, leaves
from astjit.fusion.names import Names
from astjit.fusion.pieces import Unfit, is_one, root_of
from astjit.fusion.reads import Bound, Memory, Reads, bind, offset_of
from astjit.fusion.regions import Inliner
from astjit.ir.builder import Builder
from astjit.ir.function import Block, Node, make_node
from astjit.ir.value import Literal, Param, Result, Value, tensor_type
from astjit.ir.walk import inputs
from astjit.location import Location
from astjit.ops.spec import Kind
from astjit.ops.table import OPS
from astjit.types.bounds import never_negative
from astjit.types.dim import terms_of
from astjit.types.dtype import BOOL, F64, I64, Category
from astjit.types.shape import Dim, Expr, Sizes, Undecided, mul, sub, substitute, symbols
from astjit.types.tensor import ScalarType, TensorType

FOR, RANGE, SIZE = OPS["for"], OPS["range"], OPS["size"]
_HELD = {Category.BOOL: BOOL, Category.INTEGER: I64, Category.FLOAT: F64}


def loop_group(
    node: Node, name: str, wanted: Sequence[Result], sizes: Sizes, config: Config
) -> tuple[Group, list[Node]]:
    """The kernel of a loop, and size nodes that it needs a number from.

    Args:
        node: the loop.
        name: of the kernel.
        wanted: its results that are needed.
        sizes: the function's.
        config: says where 16-bit values are rounded.

    Raises:
        Unfit: if no kernel runs it.
    """
    try:
        fits(node, sizes)
        return _Lowering(node, wanted, sizes, config).group(name)
    except Undecided as question:
        raise Unfit(f"it is not known whether {question}") from question


def _loops(axes: Sequence[Axis | None]) -> tuple[tuple[Axis, ...], ...]:
    """The loops of each axis: one, or none where its size is 1."""
    return tuple(() if axis is None else (axis,) for axis in axes)


class _Lowering:
    """Builds the kernel of one loop."""

    def __init__(self, node: Node, wanted: Sequence[Result], sizes: Sizes, config: Config) -> None:
        self.node, self.sizes, self.config = node, sizes, config
        self.count = len(node.values)
        self.kind = tensor_type(node.results[0])
        self.index = str(node.fields["index"])
        finals = [r for r in node.results[: self.count] if r in wanted]
        self.finals = finals or list(node.results[:1])  # the loop must lead to something
        self.stacked = [r for r in node.results[self.count :] if r in wanted]
        self.backward: set[Value] = set()  # read in the other order than the iterations
        self.numbers: dict[Value, Param] = {}
        self.counts: dict[Dim, Value] = {}
        self.hosts: list[Node] = []
        self.top = Block()
        self._buffers()

    # -- buffers --------------------------------------------------------------------------------
    def _axes(self, kind: TensorType) -> tuple[Axis | None, ...]:
        """The kernel's axis of each dim of a tensor that broadcasts to the carried ones."""
        dims = enumerate(kind.dims, self.kind.rank - kind.rank)
        return tuple(None if is_one(dim, self.sizes) else axis for axis, dim in dims)

    def _memory(self, value: Value) -> Memory:
        """The memory of a value, an axis standing where the iteration does, or as far from the end.

        The latter where iterations walk back, so that no pointer is past what is read of it.
        """
        kind, total = tensor_type(value), offset_of(value, self.sizes)
        axes = self._axes(kind)
        first = substitute(total, {self.index: 0})
        step = sub(substitute(total, {self.index: 1}), first)
        for factors in terms_of(total):
            inside = [f for f in factors if any(s.name == self.index for s in symbols(f))]
            if len(inside) > 1 or any(isinstance(f, Expr) for f in inside):
                raise Unfit("an offset is not linear in the number of the iteration")
        if step != 0 and never_negative(sub(0, step)):
            first, step = substitute(total, {self.index: sub(self.trip, 1)}), sub(0, step)
            self.backward.add(value)
        picked = () if step == 0 else ((self.kind.rank, step),)
        return Memory(root_of(value), value, first, _loops(axes), access(kind, axes), picked)

    def _stack(self, result: Result) -> Memory:
        """The memory of what is stacked: an iteration's part of it."""
        kind = tensor_type(result)
        strides = kind.element_strides()
        element = TensorType(kind.dtype, kind.dims[1:], None, strides[1:], kind.device)
        axes = self._axes(element)
        picked = ((self.kind.rank, strides[0]),)
        return Memory(result, result, 0, _loops(axes), access(element, axes), picked)

    def _buffers(self) -> None:
        inside = [v for v in leaves(self.node) if isinstance(v.type, TensorType)]
        read = [v for v in (*self.node.values, *inside) if not isinstance(v, Literal)]
        memories: dict[object, Memory] = {}
        keys: dict[Value, object] = {}
        for value in dict.fromkeys(read):
            memory = self._memory(value)
            strides = tuple(sorted(memory.access.strides.items()))
            keys[value] = key = (memory.value, memory.offset, strides, memory.picked)
            memories.setdefault(key, memory)
        finals = [self._memory(r) for r in self.finals]
        stacks = [self._stack(r) for r in self.stacked]
        axes = self._axes(self.kind)
        order = [axes[d] for d in memory_order(self.kind)]
        parallel = [a for a in order if a is not None]
        accesses = [m.access for m in (*finals, *stacks, *memories.values())]
        extents: dict[Axis, Dim] = dict(enumerate(self.kind.dims))
        where = nest(parallel, (), accesses, extents)
        self.reads = Reads(where, [], [], Names(where.axes), {}, {})
        bound = {key: bind(self.reads, memory, "in") for key, memory in memories.items()}
        self.bound: dict[Value, Bound] = {v: bound[key] for v, key in keys.items()}
        self.reads.inputs = list(bound.values())
        written = zip((*self.finals, *self.stacked), (*finals, *stacks), strict=True)
        self.out = {r: bind(self.reads, m, "out") for r, m in written}
        self.reads.outputs = list(self.out.values())

    # -- numbers --------------------------------------------------------------------------------
    def number(self, value: Value) -> Value:
        """A Python number from outside."""
        if value not in self.numbers:
            self.numbers[value] = Param(value.type, value.name)
        return self.numbers[value]

    def size(self, dim: Dim) -> Value:
        """A size that is the same in all iterations."""
        if isinstance(dim, int):
            return Literal(dim)
        if dim not in self.counts:
            self.counts[dim] = made = Builder(Block(), self.sizes).emit(SIZE.name, value=dim)
            assert isinstance(made.node, Node)
            self.hosts.append(made.node)
        return self.number(self.counts[dim])

    # -- the body -------------------------------------------------------------------------------
    def group(self, name: str) -> tuple[Group, list[Node]]:
        """The kernel with what it is run on."""
        (body,) = self.node.regions
        known: dict[Value, Value] = {}
        for value in self.bound:
            if not self.bound[value].memory.picked:
                known[value] = self._load(self.top, value)
        for value in leaves(self.node):
            if isinstance(value.type, ScalarType) and value not in known:
                known[value] = self._scalar(value)
        region = self._region(body, known)
        starts = tuple(known[v] for v in self.node.values)
        operands = (Literal(0), self.size(self.trip), Literal(1), *starts)
        kinds = tuple(v.type for v in region.params[1:])
        made = make_node(RANGE, operands, {"breaks": False}, kinds, self.node.location, (region,))
        self.top.nodes.append(made)
        emit = Builder(self.top, self.sizes, location=self.node.location)
        for result, value in zip(self.node.results, made.results, strict=False):
            value.name = result.name
            if result in self.out:
                bound = self.out[result]
                emit.emit_all("store", bound.param, value, at=",".join(bound.buffer.axes))
        return self._group(name), self.hosts

    @property
    def trip(self) -> Dim:
        """How many iterations there are."""
        found = self.node.fields["trip"]
        assert isinstance(found, Dim)
        return found

    def _scalar(self, value: Value) -> Value:
        made = value.node if isinstance(value, Result) else None
        if isinstance(made, Node) and made.op is SIZE:
            dim = made.fields["value"]
            assert isinstance(dim, Dim)
            return self.size(dim)
        return self.number(value)

    def _load(self, block: Block, value: Value, index: Value | None = None) -> Value:
        """A load, at the index of the iteration where there is one."""
        bound = self.bound[value]
        emit = Builder(block, self.sizes, location=self.node.location)
        at, given = ",".join(bound.buffer.axes), [] if index is None else [index]
        made = emit.emit("load", bound.param, *given, at=at)
        made.name = f"{bound.param.name}_"
        return made

    def _region(self, body: Block, known: Mapping[Value, Value]) -> Block:
        block = Block()
        index = Param(TensorType(I64, ()), self.index, location=self.node.location)
        inner = _Body(block, self, index, known)
        block.params.append(index)
        dtypes = [tensor_type(r).dtype for r in self.node.results[: self.count]]
        for param, dtype in zip(body.params[1:], dtypes, strict=True):
            kind = TensorType(dtype.compute, (), device=self.kind.device)
            inner.known[param] = made = Param(kind, param.name, location=param.location)
            block.params.append(made)
        inner.run(body.nodes)
        block.results = inner.ends(body.results[: self.count], dtypes)
        backward = self.node.fields["backward"]
        assert isinstance(backward, tuple)
        for at, result in enumerate(self.node.results[self.count :]):
            if result not in self.out:
                continue
            dtype, bound = tensor_type(result).dtype, self.out[result]
            (value,) = inner.ends([body.results[self.count + at]], [dtype])
            where = inner.place(backward=at in backward)
            axes = ",".join(bound.buffer.axes)
            inner.emit.location = self.node.location
            inner.emit.emit_all("store", bound.param, value, where, at=axes)
        return block

    def _group(self, name: str) -> Group:
        reads, bounds = self.reads, [*self.reads.inputs, *self.reads.outputs]
        sized = set(self.counts.values())
        for value, param in self.numbers.items():
            param.name = reads.names.take(value.name, "size" if value in sized else "number")
        self.top.params[:] = [*(b.param for b in bounds), *self.numbers.values()]
        kernel = Kernel(
            name=name,
            kind="pointwise",
            parallel=reads.nest.parallel,
            reduced=(),
            buffers=tuple(b.buffer for b in bounds),
            body=self.top,
            lines=tuple(_lines(self.node)),
        )
        return Group(
            kernel=kernel,
            extents=reads.nest.extents,
            inputs=tuple(b.memory.value for b in reads.inputs),
            offsets=tuple(b.memory.offset for b in reads.inputs),
            outputs=tuple(b.memory.value for b in reads.outputs),
            numbers=tuple(self.numbers),
            strides=reads.strides,
        )


class _Body(Inliner):
    """The body of one loop: rows inline, reads of what lies at the index of the iteration."""

    def __init__(
        self, block: Block, loop: _Lowering, index: Param, known: Mapping[Value, Value]
    ) -> None:
        rounds = loop.config.numerics == "eager"
        super().__init__(block, loop.sizes, rounds, loop.kind.device, known)
        self.loop, self.index = loop, index
        self._following: Value | None = None

    def run(self, nodes: Sequence[Node]) -> None:  # type: ignore[override]
        """Lower nodes in order; views are read where they are used."""
        for node in nodes:
            if node.op.kind is Kind.VIEW:
                continue
            if all(isinstance(r.type, ScalarType) for r in node.results):
                self.emit.location = node.location
                self.known[node.result] = self._number(node)
            else:
                for value in inputs(node) if node.regions else ():
                    self.value(value)  # what an arm reads is loaded in front of it
                super().run([node])

    def value(self, value: Value) -> Value:
        """The body's value for one of the loop's."""
        if not isinstance(value, Literal) and value not in self.known:
            where = self.place(backward=value in self.loop.backward)
            self.known[value] = self.loop._load(self.emit.block, value, where)
        return super().value(value)

    def place(self, *, backward: bool) -> Value:
        """The number of the iteration, or how many follow it."""
        if not backward:
            return self.index
        if self._following is None:
            last = self.wide(self.loop.size(sub(self.loop.trip, 1)))
            self._following = self.emit.emit("sub", last, self.index)
        return self._following

    def wide(self, value: Value) -> Value:
        """A Python int, or a literal, as a value of 64 bits."""
        return self._to(value, I64) if not isinstance(value, Literal) else value

    def _number(self, node: Node) -> Value:
        """Arithmetic of Python numbers: of sizes, and of what is made of them."""
        kind = node.result.type
        assert isinstance(kind, ScalarType)
        dtype = _HELD[kind.category]
        if node.op is SIZE:
            dim = node.fields["value"]
            assert isinstance(dim, Dim)
            return self._size(dim)
        operands = tuple(self._to(self.value(v), dtype) for v in node.values)
        held = TensorType(dtype, (), device=self.device)
        return self._append(make_node(node.op, operands, node.fields, (held,)))

    def _size(self, dim: Dim) -> Value:
        """A size that is linear in the number of the iteration."""
        name = self.loop.index
        first = substitute(dim, {name: 0})
        step = sub(substitute(dim, {name: 1}), first)
        if sub(dim, sub(first, mul(-1, step, _symbol(dim, name)))) != 0:
            raise Unfit("a size is not linear in the number of the iteration")
        made: Value = self.index
        if step != 1:
            made = self.emit.emit("mul", made, self.wide(self.loop.size(step)))
        if first != 0:
            made = self.emit.emit("add", made, self.wide(self.loop.size(first)))
        return made


def _symbol(dim: Dim, name: str) -> Dim:
    return next((s for s in symbols(dim) if s.name == name), 0)


def _lines(node: Node) -> Iterator[Location]:
    found: dict[tuple[str, int], Location] = {}
    for inner in (node, *node.regions[0].walk()):
        if inner.location is not None:
            found.setdefault((inner.location.file, inner.location.line), inner.location)
    yield from (found[key] for key in sorted(found))
