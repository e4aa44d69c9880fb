"""Lowers the pieces of a group to a kernel's body: the same rows on rank-0 values.

    before: %h = add %x, %r                  x, r, h: bf16[rows, cols]
    after:  %x_ = load x ; %r_ = load r ; %0 = add %x_, %r_ ; %h_ = round %0 {bf16} ; store h, %h_

A value that is read at another index is lowered once more with the axes that stand elsewhere: its
loads take the index, and loops of elementwise rows above them are as they were (fusion/demand.py).

Body values have the dtype arithmetic is done in, so every operand is brought to the dtype its row
computes in by a `to`, and a result of a 16-bit type is rounded by a `round` before its first use
(decision D8). A store rounds by itself.
"""

from astjit.config import Config
from astjit.fusion.axes import Axis, own_size
from astjit.fusion.demand import FULL, IOTA, PICK, picked_axis, standing
from astjit.fusion.index import Space, aliases
from astjit.fusion.local import Elsewhere, Local, Place
from astjit.fusion.numbers import converted, narrow
from astjit.fusion.pieces import CAST, IF, MAP, Unit, call_of, is_view, view_source
from astjit.fusion.reads import Reads
from astjit.fusion.regions import Inliner
from astjit.ir.builder import Builder
from astjit.ir.function import Block, Node, make_node
from astjit.ir.value import Literal, Param, Result, Value, tensor_type
from astjit.ops.reduce import COMBINES
from astjit.ops.spec import FieldValue, Kind, Op
from astjit.ops.table import OPS
from astjit.types.dtype import BOOL, F32, I64, DType
from astjit.types.shape import Dim, Sizes, maximum, product
from astjit.types.tensor import ScalarType, TensorType

REDUCE, ROUND, SIZE = OPS["reduce"], OPS["round_to"], OPS["size"]
AND, ADD, MUL = OPS["logical_and"], OPS["add"], OPS["mul"]
POSITION, CHECKED = OPS["position"], OPS["checked"]
QUOTIENT, REST = OPS["quotient"], OPS["rest"]


class Lowering:
    """Builds one body.

    Attributes:
        body: the block.
        numbers: for each Python number taken from outside, its parameter.
        hosts: size nodes whose numbers are taken from outside; an expansion may have made them.
    """

    def __init__(
        self, units: tuple[Unit, ...], space: Space, reads: Reads, sizes: Sizes, config: Config
    ) -> None:
        self.units, self.space, self.reads = units, space, reads
        self.sizes, self.config = sizes, config
        self.body = Block()
        self.emit = Builder(self.body, sizes)
        self.alias = aliases(units)
        self.locals: dict[tuple[Value, frozenset[tuple[Axis, Place]]], Local] = {}
        self.loads: dict[tuple[Value | None, ...], Value] = {}
        self.casts: dict[tuple[Value, DType], Value] = {}
        self.made: dict[tuple[object, ...], Result] = {}
        self.numbers: dict[Value, Param] = {}
        self.counts: dict[Dim, Result] = {}
        self.hosts: list[Node] = []
        self.unit_of = {piece: unit for unit in units for piece in unit.pieces}
        self.device = tensor_type(units[0].node.results[0]).device

    def run(self) -> None:
        """Lower every piece that is needed at the kernel's own index, in order."""
        for unit in self.units:
            self.emit.location = unit.node.location
            for piece in unit.pieces:
                if piece.op is CAST and piece is not unit.node:
                    continue  # where it is used
                for result in piece.results:
                    if result in self.space.needed:
                        self.local(result)
            for result in unit.node.results:
                if result in self.space.needed:
                    local = self.local(result)
                    assert local is not None
                    self._name(local, result.name)

    def local(self, value: Value, elsewhere: Elsewhere | None = None) -> Local | None:
        """The body's value for a tensor that the group computes, None when it does not.

        Args:
            value: a tensor.
            elsewhere: where axes stand that are not at the kernel's own index.
        """
        axes = self.space.axes.get(value)
        if axes is None:
            return None
        given = elsewhere or {}
        here = {a: given[a] for a in axes if a is not None and a in given}
        key = value, frozenset(here.items())
        if key in self.locals:
            return self.locals[key]
        if (other := self.alias.get(value)) is not None:
            return self.local(other, here)
        if is_view(value):
            return self.local(view_source(value), self._walk(value, here))
        assert isinstance(value, Result)
        assert isinstance(value.node, Node)
        if value.node.op in (MAP, IF):
            found = self._inlined(value.node, here)
            for result, local in zip(value.node.results, found, strict=True):
                self.locals[result, key[1]] = local
                self._name(local, result.name)
            return self.locals[key]
        self.locals[key] = local = self._piece(value.node, here)
        self._name(local, value.name)
        return local

    # -- indices --------------------------------------------------------------------------------
    def _place(self, axis: Axis | None, elsewhere: Elsewhere) -> Place:
        """Where an axis stands; None is an axis of size 1."""
        if axis is None:
            return Place(converted(0, I64))
        if axis in elsewhere:
            return elsewhere[axis]
        total: Value = converted(0, I64)
        for loop in self.space.loops([axis]):
            name = self.reads.axis_name(loop)
            index = self._once(POSITION, axis=name, device=self.device)
            total = self._sum(self._product(total, self.space.sizes[loop]), index)
        return Place(total)

    def _within(self, axis: Axis) -> Value:
        """The index of a loop of a row, given that of the whole row."""
        name, sizes = self.reads.nest.reduced[-1], self.space.sizes
        run = self.reads.nest.members[name]
        at = run.index(axis)
        index = self._once(POSITION, axis=name, device=self.device)
        index = self._once(QUOTIENT, index, self._count(product(sizes[a] for a in run[at + 1 :])))
        return self._once(REST, index, self._count(sizes[axis])) if at else index

    def _walk(self, value: Value, elsewhere: Elsewhere) -> Elsewhere:
        """Where the axes of what a view is a view of stand."""
        reshaped = value in self.space.reshaped
        walks = (self.space.reshaped if reshaped else self.space.walked).get(value)
        if walks is None:
            return elsewhere
        there = dict(elsewhere)
        own, source = self.space.axes[value], self.space.axes[view_source(value)]
        dims = tensor_type(value).dims
        for _, axis, walk in standing(own, source, walks, elsewhere, reshaped=reshaped):
            total: Value = converted(0, I64)
            where: Value | None = None
            for d in walk.axes:
                place = self._place(own[d], elsewhere)
                total = self._sum(self._product(total, dims[d]), place.index)
                where = self._both(where, place.where)
            if walk.below != 1:
                total = self._once(QUOTIENT, total, self._count(maximum(walk.below, 1)))
            if walk.size is not None:
                total = self._once(REST, total, self._count(maximum(walk.size, 1)))
            total = self._product(total, walk.step)
            there[axis] = Place(self._sum(total, self._count(walk.start)), where)
        return there

    def _count(self, dim: Dim) -> Value:
        """A size as an index."""
        if isinstance(dim, int):
            return converted(dim, I64)
        if dim not in self.counts:
            self.counts[dim] = Builder(Block(), self.sizes).emit(SIZE.name, value=dim)
        return self._to(self._number(self.counts[dim]), I64)

    def _sum(self, a: Value, b: Value) -> Value:
        if _is(a, 0) or _is(b, 0):
            return b if _is(a, 0) else a
        return self._once(ADD, a, b)

    def _product(self, a: Value, size: Dim) -> Value:
        return a if size == 1 or _is(a, 0) else self._once(MUL, a, self._count(size))

    def _both(self, a: Value | None, b: Value | None) -> Value | None:
        if a is None or b is None or a is b:
            return b if a is None else a
        return self._once(AND, a, b)

    # -- pieces ---------------------------------------------------------------------------------
    def _piece(self, piece: Node, here: Elsewhere) -> Local:
        unit, before = self.unit_of[piece], self.emit.location
        self.emit.location = unit.node.location
        try:
            if piece.op is CAST:
                return self._cast(piece, here, users=piece is unit.node)
            if piece.op is PICK:
                return self._pick(piece, here)
            if piece.op is IOTA:
                (axis,) = self.space.axes[piece.result]
                return Local(self._held(self._place(axis, here).index, I64, piece))
            if piece.op is FULL:
                return self._constant(piece)
            if piece.op.kind is Kind.REDUCE:
                return self._reduction(piece)
            return self._elementwise(piece, here)
        finally:
            self.emit.location = before

    def _pick(self, piece: Node, here: Elsewhere) -> Local:
        """The source where the index says; an index that may be out of range is checked."""
        source = piece.operands[0]
        assert source is not None
        leaf = self.space.leaves.get((piece, 0))
        at = picked_axis(piece)
        axis = (self.space.axes[source] if leaf is None else leaf)[at]
        where = None
        if piece.operands[2] is not None:
            where = self._operand(piece, 2, BOOL, None, here)
        index = self._operand(piece, 1, I64, None, here)
        if piece.fields["checked"]:
            size = self._count(tensor_type(source).dims[at])
            index = self._once(CHECKED, index, size)
        return self._read(piece, 0, here if axis is None else {**here, axis: Place(index, where)})

    def _constant(self, piece: Node) -> Local:
        """The number that a tensor holds everywhere, in its dtype."""
        kind = tensor_type(piece.result)
        narrow = kind.dtype if kind.dtype.is_half else None
        value = self._operand(piece, 0, kind.dtype.compute, narrow, {})
        return Local(self._held(value, kind.dtype.compute, piece))

    def _held(self, value: Value, dtype: DType, piece: Node) -> Value:
        """A number as an element: rows of numbers alone would be arithmetic of the host."""
        if not isinstance(value, Literal):
            return value
        typed = (TensorType(dtype, (), device=tensor_type(piece.result).device),)
        node = make_node(CAST, (value,), {"dtype": dtype}, typed)
        self.body.nodes.append(node)
        return node.result

    def _elementwise(self, piece: Node, here: Elsewhere) -> Local:
        call = call_of(piece, self.sizes)
        assert piece.op.rule.computes is not None
        wanted = piece.op.rule.computes(call)
        operands = [
            None
            if value is None
            else self._operand(piece, at, wanted[at], narrow(piece, call, at), here)
            for at, value in enumerate(piece.operands)
        ]
        return self._define(piece.result, self._once(piece.op, *operands, **piece.fields))

    def _inlined(self, piece: Node, here: Elsewhere) -> list[Local]:
        """A map's body, or an `if` on a tensor, in this body: on elements in their own dtypes."""
        known: dict[Value, Value] = {}
        for at, name in enumerate(piece.regions[0].params if piece.op is MAP else piece.values):
            if isinstance(name.type, ScalarType):
                known[name] = self._number(name)
            else:
                dtype = tensor_type(name).dtype.compute
                known[name] = self._operand(piece, at, dtype, None, here)
        rounds = self.config.numerics == "eager"
        inner = Inliner(self.body, self.sizes, rounds, self.device, known)
        if piece.op is IF:
            inner.run([node := self.unit_of[piece].node])
            return [Local(inner.value(result)) for result in node.results]
        (region,) = piece.regions
        inner.run(region.nodes)
        dtypes = [tensor_type(r).dtype for r in piece.results]
        return [Local(value) for value in inner.ends(region.results, dtypes)]

    def _cast(self, piece: Node, here: Elsewhere, *, users: bool) -> Local:
        """A cast rounds if it narrows; one that the user wrote does so whatever the numerics."""
        dtype = piece.fields["dtype"]
        assert isinstance(dtype, DType)
        source = piece.values[0]
        half = tensor_type(source).dtype.is_half
        local = self._read(piece, 0, here)
        loaded = (piece, 0) in self.space.leaves
        if not users and half and dtype is F32 and loaded:
            return local  # loads widen by themselves
        if isinstance(source.type, TensorType) and source.type.dtype is dtype:
            return local
        value = self._to(self._rounded(local), dtype.compute)
        return self._define(piece.result, value, force=users)

    def _reduction(self, piece: Node) -> Local:
        kind = piece.result.type
        assert isinstance(kind, TensorType)
        combine = COMBINES[piece.op.combine]
        if kind.dtype is BOOL and combine.truth:
            combine = COMBINES[combine.truth]
        value = self._operand(piece, 0, kind.dtype.compute, None, {})
        nest, axes = self.reads.nest, self.space.combined.get(piece, frozenset())
        if axes & nest.inside(nest.reduced):
            value = self._once(REDUCE, value, combine=combine.name, over="")
        if axes & nest.inside(nest.parallel):
            over = ",".join(nest.parallel)
            value = self._once(REDUCE, value, combine=combine.name, over=over)
        if not axes and combine.op == "add":  # eager's sum of one -0.0 is 0.0
            value = self._once(OPS[combine.op], value, converted(0, kind.dtype.compute))
        return self._define(piece.result, value)

    def _define(self, result: Result, value: Value, *, force: bool = False) -> Local:
        kind = result.type
        assert isinstance(kind, TensorType)
        value = self._to(value, kind.dtype.compute)
        rounds = kind.dtype.is_half and (force or self.config.numerics == "eager")
        return Local(value, kind.dtype if rounds else None)

    def _name(self, local: Local, name: str) -> None:
        value = local.stored
        if name and isinstance(value, Result) and not value.name:
            value.name = name

    # -- operands -------------------------------------------------------------------------------
    def _read(self, piece: Node, at: int, elsewhere: Elsewhere) -> Local:
        """The local of a tensor operand, loaded where the group does not compute it."""
        value = piece.operands[at]
        assert value is not None
        if (piece, at) not in self.space.leaves:
            local = self.local(value, elsewhere)
            assert local is not None
            return local
        own = (a for a in self.space.leaves[piece, at] if a is not None)
        away = {a: elsewhere[a] for a in own if a in elsewhere}
        bound = self.reads.bound(piece, at, frozenset(away))
        spread = bound.memory.spread
        given = [self._within(a) if spread else away[a].index for a, _ in bound.memory.picked]
        where: Value | None = None
        for place in away.values():
            where = self._both(where, place.where)
        key = (bound.param, *given, where)
        if key not in self.loads:
            text = ",".join(bound.buffer.axes)
            given += [] if where is None else [where]
            self.loads[key] = self.emit.emit("load", bound.param, *given, at=text)
        return Local(self.loads[key])

    def _operand(
        self, piece: Node, at: int, wanted: DType, narrow: DType | None, here: Elsewhere
    ) -> Value:
        value = piece.operands[at]
        assert value is not None
        if isinstance(value, Literal):
            return converted(value.value, narrow or wanted)
        if isinstance(value.type, ScalarType):
            number = self._number(value)
            if isinstance(number, Literal):
                return converted(number.value, narrow or wanted)
            made = self._to(number, wanted)
            return made if narrow is None else self._once(ROUND, made, dtype=narrow)
        made = self._to(self._rounded(self._read(piece, at, here)), wanted)
        if narrow is not None and wanted is F32 and value.type.dtype is not narrow:
            made = self._once(ROUND, made, dtype=narrow)
        return made

    def _rounded(self, local: Local) -> Value:
        if local.rounded is None:
            local.rounded = self._once(ROUND, local.raw, dtype=local.half)
            if isinstance(local.raw, Result) and not local.rounded.name:
                local.rounded.node.location = local.raw.location
                local.rounded.name, local.raw.name = local.raw.name, ""
        return local.rounded

    def _to(self, value: Value, dtype: DType) -> Value:
        if isinstance(value, Literal):
            return converted(value.value, dtype)
        if isinstance(value.type, TensorType) and value.type.dtype is dtype:
            return value
        if (value, dtype) not in self.casts:
            kind = TensorType(dtype, ())
            node = make_node(CAST, (value,), {"dtype": dtype}, (kind,), self.emit.location)
            self.body.nodes.append(node)
            self.casts[value, dtype] = node.result
        return self.casts[value, dtype]

    def _number(self, value: Value) -> Value:
        """A Python number: a size of the kernel's own, or a parameter."""
        if isinstance(value, Result) and isinstance(value.node, Node) and value.node.op is SIZE:
            dim = value.node.fields["value"]
            assert isinstance(dim, Dim)
            if isinstance(dim, int):
                return Literal(dim)
            rows = bool(self.space.finals)
            if (own := own_size(dim, self.reads.nest, self.sizes, rows=rows)) is not None:
                return self._once(SIZE, value=own)
            if self.counts.setdefault(dim, value) is value and value not in self.numbers:
                self.hosts.append(value.node)
            value = self.counts[dim]
        if value not in self.numbers:
            self.numbers[value] = Param(value.type, value.name)
        return self.numbers[value]

    def _once(self, op: Op, *operands: Value | None, **fields: FieldValue) -> Result:
        """The result of a pure row, the one there already is for the same operands and fields."""
        key = (op.name, operands, tuple(sorted((k, str(v)) for k, v in fields.items())))
        if key not in self.made:
            self.made[key] = self.emit.node(op, operands, fields).result
        return self.made[key]


def _is(value: Value, number: int) -> bool:
    return isinstance(value, Literal) and value.value == number
