"""Losses: elementwise rows in ATen's own order, then a reduction.

    F.mse_loss(x, y)                      =>  mean((x - y) * (x - y))
    F.kl_div(x, y, reduction="sum")       =>  sum(xlogy(y, y) - y * x)

Operands of two shapes or dtypes are left to PyTorch, which warns of them or refuses them; so are
losses that look at values first (binary_cross_entropy, gaussian_nll_loss).
"""

from collections.abc import Callable

from astjit.ops.held import held
from astjit.ops.spec import (
    Emitter,
    Field,
    FieldKind,
    Operand,
    Ref,
    Spelling,
    is_tensor,
    tensor_of,
    type_of,
)

Number = Ref | float
Maybe = object  # a Ref or NotImplemented
F = "torch.nn.functional."
XY = (Operand("input"), Operand("target"))
REDUCTION = Field("reduction", FieldKind.TEXT)
LOG_TARGET = Field("log_target", FieldKind.BOOL)
LEGACY = "size_average=None, reduce=None, reduction='mean'"


def _alike(emit: Emitter, x: Ref, *others: Ref) -> bool:
    """Whether all are floats of one dtype, shape and device."""
    one = tensor_of(x)
    for other in map(tensor_of, others):
        if other.dtype is not one.dtype or other.device != one.device or other.rank != one.rank:
            return False
        pairs = zip(one.dims, other.dims, strict=True)
        if not all(a == b or emit.sizes.equal(a, b) for a, b in pairs):
            return False
    return one.dtype.is_float


def _reduced(emit: Emitter, loss: Ref, reduction: str) -> Maybe:
    if reduction == "none":
        return loss
    if reduction not in ("mean", "sum"):
        return NotImplemented  # an error of eager's
    return emit.emit(reduction, loss)


def _positive(value: Number, dtype: object) -> bool:
    return isinstance(value, int | float) and value > 0 and held(value, dtype)  # type: ignore[arg-type]


def _squared(emit: Emitter, x: Ref, y: Ref, *, reduction: str) -> Maybe:
    if not _alike(emit, x, y):
        return NotImplemented
    difference = emit.emit("sub", x, y)
    return _reduced(emit, emit.emit("mul", difference, difference), reduction)


def _absolute(emit: Emitter, x: Ref, y: Ref, *, reduction: str) -> Maybe:
    if not _alike(emit, x, y):
        return NotImplemented
    return _reduced(emit, emit.emit("abs", emit.emit("sub", x, y)), reduction)


def _smooth(emit: Emitter, x: Ref, y: Ref, beta: Number, *, reduction: str) -> Maybe:
    """Of 16-bit floats eager's own roundings are not those of these rows, nor in _huber."""
    dtype = tensor_of(x).dtype
    if not _alike(emit, x, y) or dtype.is_half or not _positive(beta, dtype):
        return NotImplemented
    assert isinstance(beta, int | float)
    z = emit.emit("abs", emit.emit("sub", x, y))
    inner = emit.emit("div", emit.emit("mul", emit.emit("mul", z, 0.5), z), beta)
    outer = emit.emit("sub", z, 0.5 * beta)
    return _reduced(emit, emit.emit("where", emit.emit("lt", z, beta), inner, outer), reduction)


def _huber(emit: Emitter, x: Ref, y: Ref, delta: Number, *, reduction: str) -> Maybe:
    dtype = tensor_of(x).dtype
    if not _alike(emit, x, y) or dtype.is_half or not _positive(delta, dtype):
        return NotImplemented
    assert isinstance(delta, int | float)
    z = emit.emit("abs", emit.emit("sub", x, y))
    inner = emit.emit("mul", emit.emit("mul", z, 0.5), z)
    outer = emit.emit("mul", emit.emit("sub", z, 0.5 * delta), delta)
    return _reduced(emit, emit.emit("where", emit.emit("le", z, delta), inner, outer), reduction)


def _with_logits(
    emit: Emitter,
    x: Ref,
    y: Ref,
    weight: Ref | None,
    pos_weight: Ref | None,
    *,
    reduction: str,
) -> Maybe:
    """`(1 - y) x - log(sigmoid(x))`, the logarithm times `(pos_weight - 1) y + 1`."""
    extra = [w for w in (weight, pos_weight) if w is not None]
    one = tensor_of(x)
    fits = all(tensor_of(w).dtype is one.dtype and tensor_of(w).rank <= one.rank for w in extra)
    if not _alike(emit, x, y) or not fits or not one.is_contiguous:
        return NotImplemented
    soft = emit.emit("logsigmoid", x)
    if pos_weight is not None:
        more = emit.emit("add", emit.emit("mul", emit.emit("sub", pos_weight, 1), y), 1)
        soft = emit.emit("mul", more, soft)
    loss = emit.emit("sub", emit.emit("mul", emit.emit("sub", 1, y), x), soft)
    loss = loss if weight is None else emit.emit("mul", loss, weight)
    return _reduced(emit, loss, reduction)


def _divergence(emit: Emitter, x: Ref, y: Ref, *, reduction: str, log_target: bool) -> Maybe:
    """`mean` warns in eager, and is left to it; `batchmean` divides by the first size."""
    kind = tensor_of(x)
    if not _alike(emit, x, y) or reduction == "mean":
        return NotImplemented
    if reduction == "batchmean" and not kind.rank:
        return NotImplemented
    if log_target:
        loss = emit.emit("mul", emit.emit("exp", y), emit.emit("sub", y, x))
    else:
        loss = emit.emit("sub", emit.emit("xlogy", y, y), emit.emit("mul", y, x))
    if reduction != "batchmean":
        return _reduced(emit, loss, reduction)
    return emit.emit("div", emit.emit("sum", loss), emit.emit("size", value=kind.dims[0]))


def _poisson(
    emit: Emitter, x: Ref, y: Ref, eps: Number, *, log_input: bool, reduction: str
) -> Maybe:
    if not _alike(emit, x, y):
        return NotImplemented
    if log_input:
        loss = emit.emit("sub", emit.emit("exp", x), emit.emit("mul", y, x))
    else:
        log = emit.emit("log", emit.emit("add", x, eps))
        loss = emit.emit("sub", x, emit.emit("mul", y, log))
    return _reduced(emit, loss, reduction)


def _soft_margin(emit: Emitter, x: Ref, y: Ref, *, reduction: str) -> Maybe:
    if not _alike(emit, x, y):
        return NotImplemented
    e = emit.emit("exp", emit.emit("mul", emit.emit("neg", y), x))
    return _reduced(emit, emit.emit("log1p", e), reduction)


def _above_zero(emit: Emitter, x: Ref) -> Ref:
    return emit.emit("clamp", x, 0, None)


def _hinge(emit: Emitter, x: Ref, y: Ref, margin: Number, *, reduction: str) -> Maybe:
    if not _alike(emit, x, y) or is_tensor(type_of(margin)):
        return NotImplemented
    far = _above_zero(emit, emit.emit("sub", margin, x))
    far = emit.emit("where", emit.emit("ne", y, 1), far, 0)
    near = emit.emit("where", emit.emit("ne", y, -1), x, 0)
    return _reduced(emit, emit.emit("add", far, near), reduction)


def _ranking(emit: Emitter, one: Ref, two: Ref, y: Ref, margin: Number, *, reduction: str) -> Maybe:
    if not _alike(emit, one, two, y) or is_tensor(type_of(margin)):
        return NotImplemented
    order = emit.emit("mul", emit.emit("neg", y), emit.emit("sub", one, two))
    return _reduced(emit, _above_zero(emit, emit.emit("add", order, margin)), reduction)


def soft_classes(emit: Emitter, x: Ref, y: Ref, smoothing: Number, *, reduction: str) -> Maybe:
    """Cross entropy with a probability for each class."""
    kind = tensor_of(x)
    if not kind.rank or not _alike(emit, x, y) or not isinstance(smoothing, int | float):
        return NotImplemented
    if not 0 <= smoothing < 1 or reduction not in ("none", "sum", "mean"):
        return NotImplemented
    axis = 1 if kind.rank > 1 else 0
    logs = emit.emit("log_softmax", x, dim=axis)
    if smoothing:
        share = emit.emit("div", smoothing, emit.emit("size", value=kind.dims[axis]))
        y = emit.emit("add", emit.emit("mul", y, 1 - smoothing), share)
    terms = emit.emit("mul", logs, y)
    if reduction == "none":
        return emit.emit("neg", emit.emit("sum", terms, dim=(axis,)))
    total = emit.emit("neg", emit.emit("sum", terms))
    if reduction == "sum":
        return total
    if kind.rank > 2:
        return NotImplemented
    count = kind.dims[0] if kind.rank == 2 else 1
    return emit.emit("div", total, emit.emit("size", value=count))


def _loss(
    name: str,
    build: Callable[..., Maybe],
    signature: str,
    *,
    operands: tuple[Operand, ...] = (),
    first: tuple[Operand, ...] = XY,
    fields: tuple[Field, ...] = (),
) -> Spelling:
    return Spelling(
        torch=(f"{F}{name}",),
        signature=signature,
        build=build,
        operands=(*first, *operands),
        fields=(REDUCTION, *fields),
    )


WEIGHTED = f"input, target, {LEGACY}, weight=None"
SPELLINGS = (
    _loss("mse_loss", _squared, WEIGHTED),
    _loss("l1_loss", _absolute, WEIGHTED),
    _loss(
        "smooth_l1_loss",
        _smooth,
        f"input, target, {LEGACY}, beta=1.0",
        operands=(Operand("beta"),),
    ),
    _loss(
        "huber_loss",
        _huber,
        "input, target, reduction='mean', delta=1.0, weight=None",
        operands=(Operand("delta"),),
    ),
    _loss(
        "binary_cross_entropy_with_logits",
        _with_logits,
        f"input, target, weight=None, {LEGACY}, pos_weight=None",
        operands=(Operand("weight", optional=True), Operand("pos_weight", optional=True)),
    ),
    _loss(
        "kl_div", _divergence, f"input, target, {LEGACY}, log_target=False", fields=(LOG_TARGET,)
    ),
    _loss(
        "poisson_nll_loss",
        _poisson,
        "input, target, log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, "
        "reduction='mean'",
        operands=(Operand("eps"),),
        fields=(Field("log_input", FieldKind.BOOL),),
    ),
    _loss("soft_margin_loss", _soft_margin, f"input, target, {LEGACY}"),
    _loss(
        "hinge_embedding_loss",
        _hinge,
        f"input, target, margin=1.0, {LEGACY}",
        operands=(Operand("margin"),),
    ),
    _loss(
        "margin_ranking_loss",
        _ranking,
        f"input1, input2, target, margin=0, {LEGACY}",
        first=(Operand("input1"), Operand("input2"), Operand("target")),
        operands=(Operand("margin"),),
    ),
)
