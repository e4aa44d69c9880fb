"""Lowers the pieces of a group to a kernel's body: the same rows on rank-0 values.

    before: %h = add %x, %r                  x, r, h: bf16[rows, cols]
    after:  %x_ = load x ; %r_ = load r ; %0 = add %x_, %r_ ; %h_ = round %0 {bf16} ; store h, %h_

Body values have the dtype arithmetic is done in, so every operand is brought to the dtype its row
computes in by a `to`, and a result of a 16-bit type is rounded by a `round` before its first use
(decision D8). A store rounds by itself.
"""

from dataclasses import dataclass

from astjit.config import Config
from astjit.fusion.index import Space, aliases
from astjit.fusion.numbers import converted
from astjit.fusion.pieces import CAST, Unit, call_of, is_view, view_source
from astjit.fusion.reads import Reads
from astjit.ir.builder import Builder
from astjit.ir.function import Block, Node, make_node
from astjit.ir.value import Literal, Param, Result, Value, tensor_type
from astjit.ops.reduce import COMBINES
from astjit.ops.rules import promoted
from astjit.ops.spec import Call, FieldValue, Kind, Op
from astjit.ops.table import OPS
from astjit.types.dtype import BOOL, F32, DType
from astjit.types.shape import Dim, Expr, Sizes, Sym, add, maximum, minimum, sub
from astjit.types.tensor import ScalarType, TensorType

REDUCE, ROUND, SIZE = OPS["reduce"], OPS["round_to"], OPS["size"]


@dataclass(slots=True)
class Local:
    """A value of the group in the body.

    Attributes:
        raw: as computed.
        half: the 16-bit type it is rounded to before it is used, if any.
        rounded: the rounded value, once something used it.
    """

    raw: Value
    half: DType | None = None
    rounded: Value | None = None

    def __post_init__(self) -> None:
        if self.half is None:
            self.rounded = self.raw

    @property
    def stored(self) -> Value:
        """What a store writes: the rounded value where there is one, else the store rounds."""
        return self.rounded if self.rounded is not None else self.raw


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
        self.locals: dict[Value, Local] = {}
        self.loads: dict[Param, Value] = {}
        self.casts: dict[tuple[Value, DType], Value] = {}
        self.made: dict[tuple[object, ...], Result] = {}
        self.widened: dict[Value, tuple[Node, int]] = {}
        self.numbers: dict[Value, Param] = {}
        self.hosts: list[Node] = []

    def run(self) -> None:
        """Lower every piece, in order."""
        for unit in self.units:
            self.emit.location = unit.node.location
            for piece in unit.pieces:
                self._piece(piece, unit)
            for result in unit.node.results:
                local = self.local(result)
                assert local is not None
                self._name(local, result.name)

    def local(self, value: Value) -> Local | None:
        """The body's value for a tensor that the group computes, None when it does not."""
        if value in self.locals:
            return self.locals[value]
        if value in self.widened:
            return self._read(*self.widened[value])
        if (other := self.alias.get(value)) is not None:
            return self.local(other)
        return self.local(view_source(value)) if is_view(value) else None

    # -- pieces ---------------------------------------------------------------------------------
    def _piece(self, piece: Node, unit: Unit) -> None:
        if piece.op is CAST:
            self._cast(piece, users=piece is unit.node)
        elif piece.op.kind is Kind.ELEMENTWISE:
            self._elementwise(piece)
        elif piece.op.kind is Kind.REDUCE:
            self._reduction(piece)

    def _elementwise(self, piece: Node) -> None:
        call = call_of(piece, self.sizes)
        assert piece.op.rule.computes is not None
        wanted = piece.op.rule.computes(call)
        operands = [
            None
            if value is None
            else self._operand(piece, at, wanted[at], _narrow(piece, call, at))
            for at, value in enumerate(piece.operands)
        ]
        self._define(piece.result, self._once(piece.op, *operands, **piece.fields))

    def _cast(self, piece: Node, *, users: bool) -> None:
        """A cast rounds if it narrows; one that the user wrote does so whatever the numerics."""
        dtype = piece.fields["dtype"]
        assert isinstance(dtype, DType)
        source = piece.values[0]
        half = tensor_type(source).dtype.is_half
        if not users and half and dtype is F32 and (piece, 0) in self.reads.uses:
            self.widened[piece.result] = (piece, 0)  # loads widen by themselves
            return
        local = self._read(piece, 0)
        if isinstance(source.type, TensorType) and source.type.dtype is dtype:
            self.locals[piece.result] = local
            return
        value = self._to(self._rounded(local), dtype.compute)
        self._define(piece.result, value, force=users)

    def _reduction(self, piece: Node) -> None:
        kind = piece.result.type
        assert isinstance(kind, TensorType)
        combine = COMBINES[piece.op.combine]
        if kind.dtype is BOOL and combine.truth:
            combine = COMBINES[combine.truth]
        value = self._operand(piece, 0, kind.dtype.compute, None)
        nest, axes = self.reads.nest, self.space.combined.get(piece, frozenset())
        if axes & nest.inside(nest.reduced):
            value = self._once(REDUCE, value, combine=combine.name, over="")
        if axes & nest.inside(nest.parallel):
            over = ",".join(nest.parallel)
            value = self._once(REDUCE, value, combine=combine.name, over=over)
        if not axes and combine.op == "add":  # eager's sum of one -0.0 is 0.0
            value = self._once(OPS[combine.op], value, converted(0, kind.dtype.compute))
        self._define(piece.result, value)

    def _define(self, result: Result, value: Value, *, force: bool = False) -> None:
        kind = result.type
        assert isinstance(kind, TensorType)
        value = self._to(value, kind.dtype.compute)
        rounds = kind.dtype.is_half and (force or self.config.numerics == "eager")
        local = Local(value, kind.dtype if rounds else None)
        self.locals[result] = local
        self._name(local, result.name)

    def _name(self, local: Local, name: str) -> None:
        value = local.stored
        if name and isinstance(value, Result) and not value.name:
            value.name = name

    # -- operands -------------------------------------------------------------------------------
    def _read(self, piece: Node, at: int) -> Local:
        """The local of a tensor operand, loaded where the group does not compute it."""
        value = piece.operands[at]
        assert value is not None
        if (local := self.local(value)) is not None:
            return local
        buffer = self.reads.param(piece, at)
        if buffer not in self.loads:
            where = ",".join(self.reads.axes(buffer))
            self.loads[buffer] = self.emit.emit("load", buffer, at=where)
        return Local(self.loads[buffer])

    def _operand(self, piece: Node, at: int, wanted: DType, narrow: DType | None) -> Value:
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
        made = self._to(self._rounded(self._read(piece, at)), wanted)
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
            if (own := self._own_size(dim)) is not None:
                return self._once(SIZE, value=own)
            self.hosts.append(value.node)
        if value not in self.numbers:
            self.numbers[value] = Param(value.type, value.name)
        return self.numbers[value]

    def _own_size(self, dim: Dim) -> Dim | None:
        """The size in terms of the reduced axis, such as `cols - 1`, where it is one."""
        for name in self.reads.nest.reduced:
            extent = self.reads.nest.extents[name]
            if isinstance(rest := sub(dim, extent), int):
                return add(Sym(name), rest)
            if self.sizes.equal(dim, extent):
                return Sym(name)
        for name in self.reads.nest.parallel if self.space.finals else ():
            if self.sizes.equal(dim, self.reads.nest.extents[name]):
                return Sym(name)
        if not isinstance(dim, Expr) or dim.op not in ("min", "max"):
            return None
        first, second = (a if isinstance(a, int) else self._own_size(a) for a in dim.args)
        if first is None or second is None:
            return None
        return minimum(first, second) if dim.op == "min" else maximum(first, second)

    def _once(self, op: Op, *operands: Value | None, **fields: FieldValue) -> Result:
        """The result of a pure row, the one there already is for the same operands and fields."""
        key = (op.name, operands, tuple(sorted((k, str(v)) for k, v in fields.items())))
        if key not in self.made:
            self.made[key] = self.emit.node(op, operands, fields).result
        return self.made[key]


def _narrow(piece: Node, call: Call, at: int) -> DType | None:
    """The 16-bit type that a wider operand is rounded to first, where eager does so.

    Of `wide_numbers` rows eager takes the last operand as it is, but a 0-d tensor before it
    rounded.
    """
    if len(call.types) < 2:
        return None
    first = at == 0 and isinstance(call.types[0], TensorType)
    if piece.op.wide_numbers and not first:
        return None
    dtype = promoted(call)
    return dtype if dtype.is_half else None
