"""Reductions. A row either is one primitive combine or expands into those that are."""

from collections.abc import Sequence
from dataclasses import dataclass

from astjit.ops.rules import EXTREME, MEAN, SUM, TRUTH, VAR_MEAN, VARIANCE, normal_axes
from astjit.ops.spec import Emitter, Field, FieldKind, Kind, Op, Operand, Ref, Rule, tensor_of
from astjit.types.dtype import DType
from astjit.types.shape import maximum, product, sub


@dataclass(frozen=True, slots=True)
class Combine:
    """An associative combine of a kernel's `reduce`.

    Attributes:
        name: as in the field `combine`.
        struct: the helper struct of both targets that has `init` and `combine`.
        op: the elementwise row that combines two values.
        vectors: whether the CPU's struct combines whole vectors of floats.
        truth: the combine that is this one for bools.
    """

    name: str
    struct: str
    op: str
    vectors: bool = False
    truth: str = ""


COMBINES = {
    c.name: c
    for c in (
        Combine("sum", "Sum", "add", vectors=True),
        Combine("max", "Max", "maximum", vectors=True, truth="any"),
        Combine("min", "Min", "minimum", vectors=True, truth="all"),
        Combine("prod", "Prod", "mul"),
        Combine("any", "Any", "logical_or"),
        Combine("all", "All", "logical_and"),
    )
}

X = (Operand("input"),)
DIM = Field("dim", FieldKind.AXES, None)
KEEPDIM = Field("keepdim", FieldKind.BOOL, False)
DTYPE = Field("dtype", FieldKind.DTYPE, None)
CORRECTION = Field("correction", FieldKind.INT, 1)


def count(emit: Emitter, x: Ref, dim: tuple[int, ...] | None) -> Ref:
    """The number of elements reduced over, as an int scalar."""
    dims = tensor_of(x).dims
    return emit.emit("size", value=product(dims[a] for a in normal_axes(dim, len(dims))))


def _mean(
    emit: Emitter, x: Ref, *, dim: tuple[int, ...] | None, keepdim: bool, dtype: DType | None
) -> Sequence[Ref]:
    total = emit.emit("sum", x, dim=dim, keepdim=keepdim, dtype=dtype)
    return (emit.emit("div", total, count(emit, x, dim)),)


def variance(
    emit: Emitter, x: Ref, *, dim: tuple[int, ...] | None, correction: int, keepdim: bool
) -> tuple[Ref, Ref]:
    """Variance and mean, by two passes over the deviations: exact where the row is kept."""
    dims = tensor_of(x).dims
    axes = normal_axes(dim, len(dims))
    total = emit.emit("sum", x, dim=axes, keepdim=True)
    mean = emit.emit("div", total, count(emit, x, axes))
    deviation = emit.emit("sub", x, mean)
    squares = emit.emit("sum", emit.emit("mul", deviation, deviation), dim=axes, keepdim=keepdim)
    freedom = maximum(sub(product(dims[a] for a in axes), correction), 0)
    if not keepdim:
        mean = emit.emit("squeeze", mean, dim=axes)
    return emit.emit("div", squares, emit.emit("size", value=freedom)), mean


def _var(
    emit: Emitter, x: Ref, *, dim: tuple[int, ...] | None, correction: int, keepdim: bool
) -> Sequence[Ref]:
    return (variance(emit, x, dim=dim, correction=correction, keepdim=keepdim)[0],)


def _std(
    emit: Emitter, x: Ref, *, dim: tuple[int, ...] | None, correction: int, keepdim: bool
) -> Sequence[Ref]:
    spread, _ = variance(emit, x, dim=dim, correction=correction, keepdim=keepdim)
    return (emit.emit("sqrt", spread),)


def _std_mean(
    emit: Emitter, x: Ref, *, dim: tuple[int, ...] | None, correction: int, keepdim: bool
) -> Sequence[Ref]:
    spread, mean = variance(emit, x, dim=dim, correction=correction, keepdim=keepdim)
    return emit.emit("sqrt", spread), mean


def _primitive(
    name: str,
    rule: Rule,
    combine: str,
    doc: str,
    *,
    fields: tuple[Field, ...] = (DIM, KEEPDIM),
    torch: tuple[str, ...] | None = None,
    signature: str = "input, dim=None, keepdim=False, *, out=None",
    host: str = "",
) -> Op:
    return Op(
        name=name,
        kind=Kind.REDUCE,
        rule=rule,
        operands=X,
        fields=fields,
        torch=(f"torch.{name}", f"Tensor.{name}") if torch is None else torch,
        signature=signature,
        combine=combine,
        doc=doc,
        host=host,
    )


def _spread(name: str, rule: Rule, results: int, expand: object, doc: str) -> Op:
    return Op(
        name=name,
        kind=Kind.COMPOSITE,
        rule=rule,
        operands=X,
        fields=(DIM, CORRECTION, KEEPDIM),
        results=results,
        torch=(f"torch.{name}", f"Tensor.{name}") if results == 1 else (f"torch.{name}",),
        signature="input, dim=None, *, correction=1, keepdim=False, out=None",
        rounds="once",
        expand=expand,  # type: ignore[arg-type]
        doc=doc,
    )


SUM_SIGNATURE = "input, dim=None, keepdim=False, *, dtype=None, out=None"

ROWS = (
    _primitive(
        "sum",
        SUM,
        "sum",
        "the sum over `dim`",
        fields=(DIM, KEEPDIM, DTYPE),
        signature=SUM_SIGNATURE,
    ),
    _primitive(
        "prod",
        SUM,
        "prod",
        "the product over one axis",
        fields=(Field("dim", FieldKind.AXES), KEEPDIM, DTYPE),
        torch=(),
        host="torch.prod({0}, *{dim}, keepdim={keepdim}, dtype={dtype})",
    ),
    *(
        _primitive(
            name,
            EXTREME,
            combine,
            f"the {which} over `dim`; NaN wins",
            fields=(Field("dim", FieldKind.AXES, ()), KEEPDIM),
            signature="input, dim=(), keepdim=False, *, out=None",
        )
        for name, combine, which in (("amax", "max", "largest"), ("amin", "min", "smallest"))
    ),
    _primitive(
        "any",
        TRUTH,
        "any",
        "whether any bool is true",
        torch=(),
        host="torch.any({0}, {dim}, {keepdim})",
    ),
    _primitive(
        "all",
        TRUTH,
        "all",
        "whether all bools are true",
        torch=(),
        host="torch.all({0}, {dim}, {keepdim})",
    ),
    Op(
        name="mean",
        kind=Kind.COMPOSITE,
        rule=MEAN,
        operands=X,
        fields=(DIM, KEEPDIM, DTYPE),
        torch=("torch.mean", "Tensor.mean"),
        signature=SUM_SIGNATURE,
        rounds="once",
        expand=_mean,
        doc="the sum divided by the count",
    ),
    _spread("var", VARIANCE, 1, _var, "the mean of squared deviations from the mean"),
    _spread("std", VARIANCE, 1, _std, "the square root of the variance"),
    _spread("var_mean", VAR_MEAN, 2, variance, "variance and mean"),
    _spread("std_mean", VAR_MEAN, 2, _std_mean, "standard deviation and mean"),
)
