"""Reductions. A row either is one primitive combine or expands into those that are."""

from collections.abc import Sequence
from dataclasses import dataclass

from astjit.ops.rules import EXTREME, MEAN, SUM, VAR_MEAN, normal_axes
from astjit.ops.spec import Emitter, Field, FieldKind, Kind, Op, Operand, Ref
from astjit.types.dtype import DType
from astjit.types.shape import product, sub
from astjit.types.tensor import TensorType


@dataclass(frozen=True, slots=True)
class Combine:
    """An associative combine of a kernel's `reduce`.

    Attributes:
        name: as in the field `combine`.
        struct: the helper struct of both targets that has `init` and `combine`.
        op: the elementwise row that combines two values.
    """

    name: str
    struct: str
    op: str


COMBINES = {
    c.name: c
    for c in (
        Combine("sum", "Sum", "add"),
        Combine("max", "Max", "maximum"),
        Combine("min", "Min", "minimum"),
        Combine("prod", "Prod", "mul"),
    )
}

X = (Operand("input"),)
DIM = Field("dim", FieldKind.AXES, None)
KEEPDIM = Field("keepdim", FieldKind.BOOL, False)
DTYPE = Field("dtype", FieldKind.DTYPE, None)


def _shape(x: Ref) -> TensorType:
    assert isinstance(x.type, TensorType)
    return x.type


def count(emit: Emitter, x: Ref, dim: tuple[int, ...] | None) -> Ref:
    """The number of elements reduced over, as an int scalar."""
    dims = _shape(x).dims
    return emit.emit("size", value=product(dims[a] for a in normal_axes(dim, len(dims))))


def _mean(
    emit: Emitter, x: Ref, *, dim: tuple[int, ...] | None, keepdim: bool, dtype: DType | None
) -> Sequence[Ref]:
    total = emit.emit("sum", x, dim=dim, keepdim=keepdim, dtype=dtype)
    return (emit.emit("div", total, count(emit, x, dim)),)


def _var_mean(
    emit: Emitter, x: Ref, *, dim: tuple[int, ...] | None, correction: int, keepdim: bool
) -> Sequence[Ref]:
    """Two passes over the deviations, exact where the row is kept (kernels.md 1.5)."""
    n = count(emit, x, dim)
    dims = _shape(x).dims
    axes = normal_axes(dim, len(dims))
    mean = emit.emit("div", emit.emit("sum", x, dim=axes, keepdim=True), n)
    deviation = emit.emit("sub", x, mean)
    squares = emit.emit("sum", emit.emit("mul", deviation, deviation), dim=axes, keepdim=keepdim)
    divisor = emit.emit("size", value=sub(product(dims[a] for a in axes), correction))
    if not keepdim:
        mean = emit.emit("squeeze", mean, dim=axes)
    return emit.emit("div", squares, divisor), mean


ROWS = (
    Op(
        name="sum",
        kind=Kind.REDUCE,
        rule=SUM,
        operands=X,
        fields=(DIM, KEEPDIM, DTYPE),
        torch=("torch.sum", "Tensor.sum"),
        signature="input, dim=None, keepdim=False, *, dtype=None, out=None",
        combine="sum",
        doc="the sum over `dim`",
    ),
    Op(
        name="amax",
        kind=Kind.REDUCE,
        rule=EXTREME,
        operands=X,
        fields=(DIM, KEEPDIM),
        torch=("torch.amax", "Tensor.amax"),
        signature="input, dim=None, keepdim=False, *, out=None",
        combine="max",
        doc="the largest over `dim`; NaN wins",
    ),
    Op(
        name="mean",
        kind=Kind.COMPOSITE,
        rule=MEAN,
        operands=X,
        fields=(DIM, KEEPDIM, DTYPE),
        torch=("torch.mean", "Tensor.mean"),
        signature="input, dim=None, keepdim=False, *, dtype=None, out=None",
        rounds="once",
        expand=_mean,
        doc="the sum divided by the count",
    ),
    Op(
        name="var_mean",
        kind=Kind.COMPOSITE,
        rule=VAR_MEAN,
        operands=X,
        fields=(DIM, Field("correction", FieldKind.INT, 1), KEEPDIM),
        results=2,
        torch=("torch.var_mean",),
        signature="input, dim=None, *, correction=1, keepdim=False",
        rounds="once",
        expand=_var_mean,
        doc="variance and mean",
    ),
)
