"""Appends nodes to a block: looks up the row, checks operands and fields, infers the types."""

from collections.abc import Container, Mapping, Sequence

from astjit.errors import ShapeMismatch
from astjit.ir.function import Block, Node, make_node
from astjit.ir.value import Literal, Param, Result, Value
from astjit.location import Location
from astjit.ops.layout import dense_or_strided
from astjit.ops.spec import Call, FieldKind, FieldValue, Op, Ref
from astjit.ops.table import OPS
from astjit.types.dtype import F32, DType
from astjit.types.shape import Dim, Expr, Sizes
from astjit.types.tensor import TensorType, Type

Input = Value | Ref | float | None


class Builder:
    """Builds one block. Satisfies the Emitter protocol of ops/spec.py.

    Attributes:
        block: where nodes are appended.
        sizes: decides questions about sizes.
        default: torch's default float dtype.
        location: given to new nodes.
    """

    def __init__(
        self,
        block: Block,
        sizes: Sizes | None = None,
        default: DType = F32,
        location: Location | None = None,
    ) -> None:
        self.block = block
        self.sizes = sizes if sizes is not None else Sizes()
        self.default = default
        self.location = location

    def param(self, name: str, kind: Type, path: str = "") -> Param:
        """A new parameter of the block."""
        made = Param(kind, name, path, self.location)
        self.block.params.append(made)
        return made

    def emit(self, name: str, *operands: Input, **fields: FieldValue) -> Result:
        """Append the op called `name`; its first result.

        Raises:
            KeyError: for an unknown op or field.
            ShapeMismatch: if the operands do not fit.
        """
        return self.node(OPS[name], operands, fields).results[0]

    def emit_all(self, name: str, *operands: Input, **fields: FieldValue) -> tuple[Result, ...]:
        """Append the op called `name`; all its results."""
        return self.node(OPS[name], operands, fields).results

    def node(
        self,
        op: Op,
        operands: tuple[Input, ...],
        fields: Mapping[str, FieldValue],
        regions: tuple[Block, ...] = (),
    ) -> Node:
        """Append a node of row `op`.

        Raises:
            KeyError: for an unknown or missing field.
            ShapeMismatch: if the operands do not fit.
        """
        values = _values(op, operands)
        filled = fill_fields(op, fields)
        types = infer_types(op, values, filled, self.sizes, self.default, regions)
        made = make_node(op, values, filled, types, self.location, regions)
        self.block.nodes.append(made)
        return made


def _values(op: Op, operands: tuple[Input, ...]) -> tuple[Value | None, ...]:
    values: list[Value | None] = []
    for operand in operands:
        match operand:
            case Param() | Result() | Literal() | None:
                values.append(operand)
            case bool() | int() | float():
                values.append(Literal(operand))
            case _:
                raise TypeError(f"{op.name}: not a value: {operand!r}")
    while len(values) < len(op.operands) and op.operands[len(values)].optional:
        values.append(None)
    check_operands(op, values)
    return tuple(values)


def check_operands(op: Op, operands: Sequence[Value | None]) -> None:
    """Check that there are as many operands as the row has, and that only optional ones are absent.

    Raises:
        TypeError: if not.
    """
    variadic = bool(op.operands) and op.operands[-1].variadic
    least = len(op.operands) - variadic
    if len(operands) < least or (len(operands) > least and not variadic):
        more = " or more" if variadic else ""
        raise TypeError(f"{op.name} takes {least}{more} operands, not {len(operands)}")
    for index, value in enumerate(operands):
        declared = op.operands[min(index, len(op.operands) - 1)]
        if value is None and not declared.optional:
            raise TypeError(f"{op.name}: operand {declared.name!r} is absent")


def fill_fields(op: Op, given: Mapping[str, FieldValue]) -> dict[str, FieldValue]:
    """The fields in the row's order with defaults filled in.

    Raises:
        KeyError: for a field the row does not have, or a required one that is missing.
    """
    for name in given:
        op.field(name)
    filled = {}
    for declared in op.fields:
        if declared.name not in given and declared.required:
            raise KeyError(f"op {op.name} needs field {declared.name!r}")
        filled[declared.name] = _normal(declared.kind, given.get(declared.name, declared.default))
    return filled


def _normal(kind: FieldKind, value: FieldValue) -> FieldValue:
    """One form for one meaning: axes and sizes are tuples, a float field holds a float."""
    match kind, value:
        case (FieldKind.AXES, int()):
            return (value,)
        case (FieldKind.AXES | FieldKind.SIZES, list()):
            return tuple(value)
        case (FieldKind.FLOAT, int()):
            return float(value)
    return value


def infer_types(
    op: Op,
    operands: tuple[Value | None, ...],
    fields: Mapping[str, FieldValue],
    sizes: Sizes,
    default: DType = F32,
    regions: tuple[Block, ...] = (),
) -> tuple[Type, ...]:
    """Result types of a use of `op`.

    A size that is computed is 1 exactly where it is the literal 1, as those of inputs are (decision
    D1): broadcasting, layouts and squeeze() rely on it. Whether it is 1 becomes a fact.

    Raises:
        ShapeMismatch: if the operands do not fit.
    """
    types = tuple(None if v is None else v.type for v in operands)
    shapes = tuple(
        (tuple(p.type for p in r.params), tuple(v.type for v in r.results)) for r in regions
    )
    try:
        inferred = op.rule.infer(Call(types, fields, sizes, default, shapes))
    except (TypeError, ValueError, IndexError) as error:
        shown = ", ".join("none" if t is None else str(t) for t in types)
        raise ShapeMismatch(f"{op.name}({shown}): {error}") from error
    known = {dim for t in types if isinstance(t, TensorType) for dim in t.dims}
    return tuple(_with_ones(kind, sizes, known) for kind in inferred)


def _with_ones(kind: Type, sizes: Sizes, known: Container[Dim]) -> Type:
    """The type with the literal 1 for computed sizes that are 1; those of operands are known."""
    if not isinstance(kind, TensorType):
        return kind
    ones = [isinstance(d, Expr) and d not in known and sizes.equal(d, 1) for d in kind.dims]
    if not any(ones):
        return kind
    dims = tuple(1 if one else dim for one, dim in zip(ones, kind.dims, strict=True))
    if kind.strides is None:
        return TensorType(kind.dtype, dims, kind.order, None, kind.device)
    return dense_or_strided(kind, dims, kind.strides)
