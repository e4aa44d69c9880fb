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
from astjit.fusion.pieces import CAST, Unit, call_of, is_view, reduced_axes, view_source
from astjit.fusion.reads import Reads
from astjit.ir.builder import Builder
from astjit.ir.function import Block, Node
from astjit.ir.value import Literal, Param, Result, Value
from astjit.ops.reduce import COMBINES
from astjit.ops.rules import promoted
from astjit.ops.spec import Call, Kind
from astjit.ops.table import OPS
from astjit.types.dtype import BOOL, F32, DType
from astjit.types.shape import Dim, Sizes, Sym, add, sub
from astjit.types.tensor import ScalarType, TensorType

ROUND, SIZE = OPS["round_to"], OPS["size"]


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
        compared = self._compared(piece, call)
        operands = [
            None if value is None else self._operand(piece, at, wanted[at], compared)
            for at, value in enumerate(piece.operands)
        ]
        made = self.emit.node(piece.op, tuple(operands), piece.fields)
        self._define(piece.result, made.result)

    def _compared(self, piece: Node, call: Call) -> DType | None:
        """The 16-bit type in which a comparison sees all its operands, if it does."""
        kind = piece.result.type
        if isinstance(kind, TensorType) and kind.dtype is BOOL and len(call.types) > 1:
            dtype = promoted(call)
            return dtype if dtype.is_half else None
        return None

    def _cast(self, piece: Node, *, users: bool) -> None:
        """A cast rounds if it narrows; one that the user wrote does so whatever the numerics."""
        dtype = piece.fields["dtype"]
        assert isinstance(dtype, DType)
        source = piece.values[0]
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
        value = self._operand(piece, 0, kind.dtype.compute, None)
        if reduced_axes(piece):
            value = self.emit.emit("reduce", value, combine=combine.name)
        elif combine.op == "add":  # eager's sum of one -0.0 is 0.0
            value = self.emit.emit(combine.op, value, converted(0, kind.dtype.compute))
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

    def _operand(self, piece: Node, at: int, wanted: DType, compared: DType | None) -> Value:
        value = piece.operands[at]
        assert value is not None
        if isinstance(value, Literal):
            return converted(value.value, compared or wanted)
        if isinstance(value.type, ScalarType):
            number = self._number(value)
            if isinstance(number, Literal):
                return converted(number.value, compared or wanted)
            made = self._to(number, wanted)
            return made if compared is None else self.emit.emit("round_to", made, dtype=compared)
        made = self._to(self._rounded(self._read(piece, at)), wanted)
        if compared is not None and value.type.dtype is not compared and wanted is F32:
            made = self.emit.emit("round_to", made, dtype=compared)
        return made

    def _rounded(self, local: Local) -> Value:
        if local.rounded is None:
            local.rounded = self.emit.emit("round_to", local.raw, dtype=local.half)
            if isinstance(local.raw, Result):
                local.rounded.node.location = local.raw.location
                local.rounded.name, local.raw.name = local.raw.name, ""
        return local.rounded

    def _to(self, value: Value, dtype: DType) -> Value:
        if isinstance(value.type, TensorType) and value.type.dtype is dtype:
            return value
        if (value, dtype) not in self.casts:
            self.casts[value, dtype] = self.emit.emit(CAST.name, value, dtype=dtype)
        return self.casts[value, dtype]

    def _number(self, value: Value) -> Value:
        """A Python number: a size of the kernel's own, or a parameter."""
        if isinstance(value, Result) and isinstance(value.node, Node) and value.node.op is SIZE:
            dim = value.node.fields["value"]
            assert isinstance(dim, Dim)
            if isinstance(dim, int):
                return Literal(dim)
            if (own := self._own_size(dim)) is not None:
                return self._size(own)
            self.hosts.append(value.node)
        if value not in self.numbers:
            self.numbers[value] = Param(value.type, value.name)
        return self.numbers[value]

    def _own_size(self, dim: Dim) -> Dim | None:
        """The size in terms of the reduced axis, where it differs from it by a known number."""
        for name in self.reads.nest.reduced:
            extent = self.reads.nest.extents[name]
            if isinstance(rest := sub(dim, extent), int):
                return add(Sym(name), rest)
            if self.sizes.equal(dim, extent):
                return Sym(name)
        return None

    def _size(self, dim: Dim) -> Value:
        for node in self.body.nodes:
            if node.op is SIZE and node.fields["value"] == dim:
                return node.result
        return self.emit.emit(SIZE.name, value=dim)
