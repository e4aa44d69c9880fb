"""Composite rows: one op until fusion, which expands them where the pieces share a kernel (D7).

Every expansion copies eager's association: `log(s) - (x[t] - m)`, never `log(s) + m - x[t]`.
"""

from collections.abc import Sequence

from astjit.ops.rules import MEAN
from astjit.ops.spec import Call, Emitter, Field, FieldKind, Kind, Op, Operand, Ref, Rule
from astjit.types.dtype import DType
from astjit.types.tensor import Type

X = (Operand("input"),)


def _infer_softmax(call: Call) -> tuple[Type, ...]:
    source = call.tensor(0)
    axis = call.integer("dim")
    if not -max(source.rank, 1) <= axis < max(source.rank, 1):
        raise IndexError(f"dimension out of range (got {axis})")
    dtype = call.dtype("dtype") or source.dtype
    if not dtype.is_float:
        raise TypeError(f"softmax is not implemented for {dtype}")
    return (source.with_(dtype=dtype, dims=source.dims),)


SOFTMAX = Rule(_infer_softmax, None, MEAN.samples)


def _softmax(emit: Emitter, x: Ref, *, dim: int, dtype: DType | None) -> Sequence[Ref]:
    shifted = emit.emit("sub", x, emit.emit("amax", x, dim=(dim,), keepdim=True))
    e = emit.emit("exp", shifted)
    return (emit.emit("div", e, emit.emit("sum", e, dim=(dim,), keepdim=True)),)


ROWS = (
    Op(
        name="softmax",
        kind=Kind.COMPOSITE,
        rule=SOFTMAX,
        operands=X,
        fields=(Field("dim", FieldKind.INT), Field("dtype", FieldKind.DTYPE, None)),
        torch=("torch.softmax", "Tensor.softmax", "torch.nn.functional.softmax"),
        signature="input, dim, dtype=None, *, out=None",
        rounds="once",
        expand=_softmax,
        doc="`exp(x - max) / sum(exp(x - max))` over `dim`",
    ),
)
