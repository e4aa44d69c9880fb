"""Vector norms, and normalizations by other rows: batch (with statistics), group, instance."""

import math
from collections.abc import Callable, Sequence

from astjit.ops.rules import MEAN, normal_axes, reduced_type
from astjit.ops.scaled import brought
from astjit.ops.spec import (
    Call,
    Emitter,
    Field,
    FieldKind,
    Kind,
    Op,
    Operand,
    Ref,
    Rule,
    Spelling,
    both,
    tensor_of,
)
from astjit.types.dtype import BOOL, F32, I64, U8, DType
from astjit.types.shape import Dim, floordiv, mod, mul, product
from astjit.types.tensor import Type

Number = Ref | float
Maybe = object  # a Ref or NotImplemented
X = (Operand("input"),)
F = "torch.nn.functional."
DIM, KEEPDIM = Field("dim", FieldKind.AXES, None), Field("keepdim", FieldKind.BOOL, False)
ORDER = Field("ord", FieldKind.NUMBER, 2)


def _infer_norm(call: Call) -> tuple[Type, ...]:
    source = call.tensor(0)
    if not source.dtype.is_float:
        raise TypeError(f"a norm of {source.dtype}")
    axes = normal_axes(call.axes("dim"), source.rank)
    if call.fields["ord"] in (math.inf, -math.inf) and 0 in [source.dims[a] for a in axes]:
        raise IndexError("the norm of no elements")
    return (reduced_type(source, axes, call.flag("keepdim"), source.dtype),)


def _vector_norm(
    emit: Emitter, x: Ref, *, ord: float, dim: tuple[int, ...] | None, keepdim: bool
) -> Sequence[Ref]:
    over = {"dim": normal_axes(dim, tensor_of(x).rank), "keepdim": keepdim}
    if ord == 2:
        return (emit.emit("sqrt", emit.emit("sum", emit.emit("mul", x, x), **over)),)
    if ord == 0:
        some = emit.emit("to", emit.emit("ne", x, 0), dtype=tensor_of(x).dtype)
        return (emit.emit("sum", some, **over),)
    size = emit.emit("abs", x)
    if math.isinf(ord):
        return (emit.emit("amax" if ord > 0 else "amin", size, **over),)
    if ord == 1:
        return (emit.emit("sum", size, **over),)
    total = emit.emit("sum", emit.emit("pow", size, float(ord)), **over)
    return (emit.emit("pow", total, 1.0 / ord),)


ROWS = (
    Op(
        name="vector_norm",
        kind=Kind.COMPOSITE,
        rule=Rule(_infer_norm, None, MEAN.samples[:-1]),
        operands=X,
        fields=(ORDER, DIM, KEEPDIM),
        torch=("torch.linalg.vector_norm",),
        signature="input, ord=2, dim=None, keepdim=False, *, dtype=None, out=None",
        rounds="once",
        expand=_vector_norm,
        doc="`sum(abs(input) ** ord) ** (1 / ord)`, or the largest or smallest, or those not 0",
    ),
)


# --- arrangements --------------------------------------------------------------------------------


def _norm(
    emit: Emitter,
    x: Ref,
    *,
    p: object,
    dim: tuple[int, ...] | None,
    keepdim: bool,
) -> Maybe:
    order = 2 if p in ("fro", None) else p
    if not tensor_of(x).dtype.is_float or not isinstance(order, int | float):
        return NotImplemented
    if isinstance(order, bool) or (dim is None and keepdim):
        return NotImplemented
    return emit.emit("vector_norm", x, ord=order, dim=dim, keepdim=keepdim)


def _normalize(emit: Emitter, x: Ref, *, p: float, dim: tuple[int, ...], eps: float) -> Maybe:
    kind = tensor_of(x)
    if not kind.dtype.is_float or len(dim) != 1 or not kind.rank:
        return NotImplemented
    size = emit.emit("vector_norm", x, ord=p, dim=dim, keepdim=True)
    return emit.emit("div", x, emit.emit("clamp", size, eps, None))


def _cosine(emit: Emitter, x: Ref, other: Ref, *, dim: int, eps: float) -> Maybe:
    one, two = tensor_of(x), tensor_of(other)
    if one.dtype is not two.dtype or not one.dtype.is_float or one.rank != two.rank or not one.rank:
        return NotImplemented
    if not all(a == b or emit.sizes.equal(a, b) for a, b in zip(one.dims, two.dims, strict=True)):
        return NotImplemented
    unit = [_normalize(emit, v, p=2, dim=(dim,), eps=eps) for v in (x, other)]
    return emit.emit("sum", emit.emit("mul", *unit), dim=(dim,))  # type: ignore[arg-type]


def _channels(emit: Emitter, value: Ref, rank: int) -> Ref:
    """One value for each channel, beside tensors whose axis 1 is the channels."""
    for _ in range(rank - 2):
        value = emit.emit("unsqueeze", value, dim=tensor_of(value).rank)
    return value


def _batch_norm(
    emit: Emitter,
    x: Ref,
    mean: Ref,
    var: Ref,
    weight: Ref | None,
    bias: Ref | None,
    momentum: Number,
    eps: Number,
) -> Maybe:
    """With running statistics: `input * scale + shift` of each channel, as in eager."""
    kind = tensor_of(x)
    given = [v for v in (mean, var, weight, bias) if v is not None]
    if not kind.dtype.is_float or kind.rank < 2 or not kind.is_contiguous:
        return NotImplemented
    if any(tensor_of(v).rank != 1 or tensor_of(v).dtype is not kind.dtype for v in given):
        return NotImplemented
    if not all(emit.sizes.equal(tensor_of(v).dims[0], kind.dims[1]) for v in given):
        return NotImplemented
    wide = F32 if kind.dtype.is_half else kind.dtype
    x_, mean, var = (brought(emit, v, wide) for v in (x, mean, var))  # type: ignore[assignment]
    scale = emit.emit("reciprocal", emit.emit("sqrt", emit.emit("add", var, eps)))
    if weight is not None:
        scale = emit.emit("mul", scale, brought(emit, weight, wide))
    shift = emit.emit("neg", emit.emit("mul", mean, scale))
    if bias is not None:
        shift = emit.emit("add", brought(emit, bias, wide), shift)
    made = emit.emit("mul", x_, _channels(emit, scale, kind.rank))
    return brought(emit, emit.emit("add", made, _channels(emit, shift, kind.rank)), kind.dtype)


def _group_norm(
    emit: Emitter, x: Ref, weight: Ref | None, bias: Ref | None, eps: Number, *, num_groups: int
) -> Maybe:
    """The mean and variance of each group of channels of a sample."""
    kind = tensor_of(x)
    given = [v for v in (weight, bias) if v is not None]
    if not kind.dtype.is_float or kind.rank < 2 or not kind.is_contiguous or num_groups < 1:
        return NotImplemented
    if any(tensor_of(v).rank != 1 or tensor_of(v).dtype is not kind.dtype for v in given):
        return NotImplemented
    if not all(emit.sizes.equal(tensor_of(v).dims[0], kind.dims[1]) for v in given):
        return NotImplemented
    if not emit.sizes.equal(mod(kind.dims[1], num_groups), 0) or 0 in kind.dims:
        return NotImplemented
    wide = F32 if kind.dtype.is_half else kind.dtype
    row = mul(floordiv(kind.dims[1], num_groups), product(kind.dims[2:]))
    if row == 1:  # eager refuses one value for each group
        return NotImplemented
    x_ = brought(emit, x, wide)
    return brought(emit, _by_rows(emit, x_, (num_groups, row), weight, bias, eps), kind.dtype)  # type: ignore[arg-type]


def _by_rows(
    emit: Emitter,
    x: Ref,
    rows: tuple[Dim, Dim],
    weight: Ref | None,
    bias: Ref | None,
    eps: Number,
) -> Ref:
    """Each sample as rows of their own mean and variance, weighted by channel."""
    kind = tensor_of(x)
    made = emit.emit("view", x, shape=(kind.dims[0], *rows))
    made = emit.emit("layer_norm", made, None, None, eps, normalized_shape=rows[1:])
    made = emit.emit("view", made, shape=kind.dims)
    for op, value in (("mul", weight), ("add", bias)):
        if value is not None:
            beside = brought(emit, value, kind.dtype)
            made = emit.emit(op, made, _channels(emit, beside, kind.rank))  # type: ignore[arg-type]
    return made


def _instance_norm(
    emit: Emitter,
    x: Ref,
    weight: Ref | None,
    bias: Ref | None,
    momentum: Number,
    eps: Number,
    *,
    running_mean: object,
    running_var: object,
    use_input_stats: bool,
) -> Maybe:
    """The mean and variance of each channel of a sample; running ones are left to PyTorch."""
    kind = tensor_of(x)
    given = [v for v in (weight, bias) if v is not None]
    if running_mean is not None or running_var is not None or not use_input_stats:
        return NotImplemented
    if not kind.dtype.is_float or kind.rank < 3 or not kind.is_contiguous or len(given) == 1:
        return NotImplemented
    if any(tensor_of(v).rank != 1 or tensor_of(v).dtype is not kind.dtype for v in given):
        return NotImplemented
    if not all(emit.sizes.equal(tensor_of(v).dims[0], kind.dims[1]) for v in given):
        return NotImplemented
    row = product(kind.dims[2:])
    if emit.sizes.equal(row, 1) or emit.sizes.equal(kind.numel, 0):
        return NotImplemented  # eager refuses one value for each channel
    x_ = brought(emit, x, F32 if kind.dtype.is_half else kind.dtype)
    made = _by_rows(emit, x_, (kind.dims[1], row), weight, bias, eps)  # type: ignore[arg-type]
    return brought(emit, made, kind.dtype)


def _no_nan(emit: Emitter, x: Ref) -> Ref:
    return emit.emit("where", emit.emit("ne", x, x), 0, x)


def _nansum(emit: Emitter, x: Ref, **fields: object) -> Maybe:
    if not tensor_of(x).dtype.is_float:
        return NotImplemented
    return emit.emit("sum", _no_nan(emit, x), **fields)


def _nanmean(
    emit: Emitter, x: Ref, *, dim: tuple[int, ...] | None, keepdim: bool, dtype: DType | None
) -> Maybe:
    """The sum of the numbers by their count, an integer as in eager."""
    if not tensor_of(x).dtype.is_float:
        return NotImplemented
    total = emit.emit("sum", _no_nan(emit, x), dim=dim, keepdim=keepdim, dtype=dtype)
    numbers = emit.emit("logical_not", emit.emit("isnan", x))
    return emit.emit("div", total, emit.emit("sum", numbers, dim=dim, keepdim=keepdim))


def _count_nonzero(emit: Emitter, x: Ref, *, dim: tuple[int, ...] | None) -> Maybe:
    if tensor_of(x).dtype is U8:
        return NotImplemented
    some = x if tensor_of(x).dtype is BOOL else emit.emit("ne", x, 0)
    return emit.emit("sum", some, dim=dim, dtype=I64)


DTYPE = Field("dtype", FieldKind.DTYPE, None)
AFFINE = (Operand("weight", optional=True), Operand("bias", optional=True))
EPS = Field("eps", FieldKind.FLOAT)
P = Field("p", FieldKind.ANY)


def _summed(name: str, build: Callable[..., Maybe]) -> Spelling:
    return Spelling(
        torch=both(name),
        signature="input, dim=None, keepdim=False, *, dtype=None, out=None",
        build=build,
        fields=(DIM, KEEPDIM, DTYPE),
    )


SPELLINGS = (
    Spelling(
        torch=both("norm"),
        signature="input, p='fro', dim=None, keepdim=False, out=None, dtype=None",
        build=_norm,
        fields=(P, DIM, KEEPDIM),
    ),
    Spelling(
        torch=(f"{F}normalize",),
        signature="input, p=2.0, dim=1, eps=1e-12, out=None",
        build=_normalize,
        fields=(Field("p", FieldKind.NUMBER), Field("dim", FieldKind.AXES), EPS),
    ),
    Spelling(
        torch=(f"{F}cosine_similarity", "torch.cosine_similarity"),
        signature="x1, x2, dim=1, eps=1e-08",
        build=_cosine,
        operands=(Operand("x1"), Operand("x2")),
        fields=(Field("dim", FieldKind.INT), EPS),
    ),
    Spelling(
        torch=(f"{F}batch_norm",),
        signature="input, running_mean, running_var, weight=None, bias=None, training=False, "
        "momentum=0.1, eps=1e-05",
        build=_batch_norm,
        operands=(
            *(*X, Operand("running_mean"), Operand("running_var"), *AFFINE),
            *(Operand("momentum"), Operand("eps")),
        ),
    ),
    Spelling(
        torch=(f"{F}group_norm",),
        signature="input, num_groups, weight=None, bias=None, eps=1e-05",
        build=_group_norm,
        operands=(*X, *AFFINE, Operand("eps")),
        fields=(Field("num_groups", FieldKind.INT),),
    ),
    Spelling(
        torch=(f"{F}instance_norm",),
        signature="input, running_mean=None, running_var=None, weight=None, bias=None, "
        "use_input_stats=True, momentum=0.1, eps=1e-05",
        build=_instance_norm,
        operands=(*X, *AFFINE, Operand("momentum"), Operand("eps")),
        fields=(
            Field("running_mean", FieldKind.ANY),
            Field("running_var", FieldKind.ANY),
            Field("use_input_stats", FieldKind.BOOL),
        ),
    ),
    _summed("nansum", _nansum),
    _summed("nanmean", _nanmean),
    Spelling(
        torch=both("count_nonzero"),
        signature="input, dim=None",
        build=_count_nonzero,
        fields=(DIM,),
    ),
)
