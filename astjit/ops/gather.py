"""Reads at an index that is a value."""

from astjit.ops.spec import Call, Field, FieldKind, Kind, Op, Operand, Rule
from astjit.types.dtype import I32, I64
from astjit.types.tensor import Type


def _infer_index_select(call: Call) -> tuple[Type, ...]:
    source, index = call.tensor(0), call.tensor(1)
    if index.dtype not in (I32, I64) or index.rank > 1:
        raise IndexError("index_select expects a vector of int32 or int64")
    axis = call.integer("dim")
    if not -max(source.rank, 1) <= axis < max(source.rank, 1):
        raise IndexError(f"dimension out of range (got {axis})")
    dims = list(source.dims)
    if dims:
        dims[axis] = index.dims[0] if index.rank else 1
    return (source.with_(dims=tuple(dims)),)


ROWS = (
    Op(
        name="index_select",
        kind=Kind.GATHER,
        rule=Rule(_infer_index_select, None, (("f32[5, 4]", "i64[3]"),)),
        operands=(Operand("input"), Operand("index")),
        fields=(Field("dim", FieldKind.INT),),
        torch=("torch.index_select",),
        signature="input, dim, index, *, out=None",
        doc="the slices of `input` along `dim` at the indices",
    ),
)
