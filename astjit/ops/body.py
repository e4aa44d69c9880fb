"""Rows that exist in kernel bodies only, and the size row. Body values have rank 0 (D3)."""

from astjit.ops.spec import Call, Field, FieldKind, Kind, Op, Operand, Rule, Trait
from astjit.types.dtype import F32
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


def _size(call: Call) -> tuple[Type, ...]:
    return (PY_INT,)


AT = Field(
    "at", FieldKind.TEXT, ""
)  # axis names, comma separated; "*" takes the next index operand
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
        name="store",
        kind=Kind.BODY,
        rule=Rule(_nothing),
        operands=(Operand("buffer"), Operand("value")),
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
