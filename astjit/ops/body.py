"""Rows that exist in kernel bodies only, and the size row. Body values have rank 0 (D3)."""

from astjit.ops.spec import Call, Field, FieldKind, Kind, Op, Operand, Rule, Trait
from astjit.types.dtype import F32, I64
from astjit.types.tensor import PY_INT, TensorType, Type


def _element(call: Call) -> tuple[Type, ...]:
    """A load widens 16-bit floats: body values are what arithmetic sees."""
    source = call.tensor(0)
    return (TensorType(source.dtype.compute, (), device=source.device),)


def _same(call: Call) -> tuple[Type, ...]:
    return (call.tensor(0),)


def _nothing(call: Call) -> tuple[Type, ...]:
    return ()


def _round(call: Call) -> tuple[Type, ...]:
    return (TensorType(F32, (), device=call.tensor(0).device),)


def _position(call: Call) -> tuple[Type, ...]:
    return (TensorType(I64, (), device=str(call.fields["device"])),)


def _infer_element(call: Call) -> tuple[Type, ...]:
    table = call.tensor(0)
    places = call.types[1:]
    if len(places) != table.rank or not table.rank:
        raise TypeError(f"{len(places)} indices for a tensor of rank {table.rank}")
    for kind in places:
        if kind not in (PY_INT, TensorType(I64, ())):
            raise TypeError(f"an index must be i64[], not {kind}")
    return (TensorType(table.dtype, ()),)


def _infer_division(call: Call) -> tuple[Type, ...]:
    for kind in call.types:
        if kind != PY_INT and not (isinstance(kind, TensorType) and kind.dtype is I64):
            raise TypeError(f"operands must be i64[], not {kind}")
    return (TensorType(I64, ()),)


def _size(call: Call) -> tuple[Type, ...]:
    return (PY_INT,)


# Axis names, comma separated; "*" takes the next index operand. A bool after the indices says
# whether there is anything to read: where it is false the load is 0.
AT = Field("at", FieldKind.TEXT, "")
OVER = Field("over", FieldKind.TEXT, "")  # the parallel axes, where rows are combined into one

ROWS = (
    Op(
        name="size",
        kind=Kind.SIZE,
        rule=Rule(_size),
        fields=(Field("value", FieldKind.SIZE),),
        host="{value}",
        doc="a size as a Python int",
    ),
    Op(
        name="load",
        kind=Kind.BODY,
        rule=Rule(_element),
        operands=(Operand("buffer"), Operand("index", variadic=True)),
        fields=(AT,),
        doc="one element of a buffer",
    ),
    Op(
        name="position",
        kind=Kind.BODY,
        rule=Rule(_position),
        fields=(Field("axis", FieldKind.TEXT), Field("device", FieldKind.TEXT, "cpu")),
        doc="where an axis of the kernel stands",
    ),
    *(
        Op(
            name=name,
            kind=Kind.BODY,
            rule=Rule(_same),
            operands=(Operand("index"), Operand("size")),
            spell={"c": f"{{0}} {sign} {{1}}"},
            doc=f"the {what} of an index and a size that is not 0",
        )
        for name, sign, what in (("quotient", "/", "quotient"), ("rest", "%", "rest"))
    ),
    Op(
        name="checked",
        kind=Kind.BODY,
        rule=Rule(_same),
        operands=(Operand("index"), Operand("size")),
        spell={"cpu": "checked({0}, {1}, status)", "cuda": "in_range({0}, {1})"},
        doc="an index that must lie in [0, size), else the call fails (decision D17)",
    ),
    Op(
        name="element",
        kind=Kind.BODY,
        rule=Rule(_infer_element),
        operands=(Operand("table"), Operand("index", variadic=True)),
        doc="in regions: the element of a tensor that is whole there, one index an axis; below 0 "
        "it counts from the end, out of range the call fails (decision D17)",
    ),
    *(
        Op(
            name=name,
            kind=Kind.BODY,
            rule=Rule(_infer_division),
            operands=(Operand("input"), Operand("other")),
            doc=f"in regions: `input {sign} other` of i64[], as Python; by 0 the call fails",
        )
        for name, sign in (("floordiv", "//"), ("modulo", "%"))
    ),
    Op(
        name="store",
        kind=Kind.BODY,
        rule=Rule(_nothing),
        operands=(Operand("buffer"), Operand("value"), Operand("index", variadic=True)),
        fields=(AT,),
        results=0,
        traits=Trait.EFFECT,
        doc="write one element of a buffer",
    ),
    Op(
        name="reduce",
        kind=Kind.BODY,
        rule=Rule(_same),
        operands=(Operand("value"),),
        fields=(Field("combine", FieldKind.TEXT), OVER),
        doc="combine over the kernel's reduced axes, or over those named",
    ),
    Op(
        name="round_to",
        kind=Kind.BODY,
        rule=Rule(_round),
        operands=(Operand("value"),),
        fields=(Field("dtype", FieldKind.DTYPE),),
        spell={"c": "round_{dtype}({0})"},
        doc="an f32 rounded to a 16-bit float's values (decision D8)",
        traits=Trait.EXACT | Trait.IDEMPOTENT,
    ),
)
