"""Composite rows: one op until fusion, which expands them where the pieces share a kernel (D7).

Every expansion copies eager's association: `log(s) - (x[t] - m)`, never `log(s) + m - x[t]`. Where
the row rounds once, fusion has widened 16-bit operands to float32 before `expand` and rounds the
result after, so an expansion is written for the dtype it sees.
"""

import math
from collections.abc import Sequence

from astjit.ops.reduce import variance
from astjit.ops.rules import (
    FLOATING,
    FLOATING_ONE,
    MEAN,
    NUMERIC_ONE,
    PROMOTE,
    normal_axes,
    normal_axis,
    promoted,
    reduced_type,
    same,
)
from astjit.ops.scaled import spread
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
    tensor_of,
)
from astjit.types.dtype import BOOL, DType
from astjit.types.shape import Dim
from astjit.types.tensor import TensorType, Type

X, TWO = (Operand("input"),), (Operand("input"), Operand("other"))
Number = Ref | float


def _sign(emit: Emitter, x: Ref) -> Sequence[Ref]:
    """0 for zeros of both signs and for NaN."""
    dtype = tensor_of(x).dtype
    above = emit.emit("to", emit.emit("gt", x, 0), dtype=dtype)
    below = emit.emit("to", emit.emit("lt", x, 0), dtype=dtype)
    return (emit.emit("sub", above, below),)


def _relu(emit: Emitter, x: Ref) -> Sequence[Ref]:
    """Keeps -0.0 and NaN, as eager does."""
    return (emit.emit("where", emit.emit("lt", x, 0), 0, x),)


def _clamp(emit: Emitter, x: Ref, low: Number | None, high: Number | None) -> Sequence[Ref]:
    """Where x equals a bound it is x that stays, as in eager: -0.0 clamped to 0 is -0.0."""
    y = x
    if low is not None:
        y = emit.emit("where", emit.emit("ge", y, low), y, emit.emit("maximum", y, low))
    if high is not None:
        y = emit.emit("where", emit.emit("le", y, high), y, emit.emit("minimum", y, high))
    return (y,)


def _infer_clamp(call: Call) -> tuple[Type, ...]:
    if call.types[1] is None and call.types[2] is None:
        raise ValueError("at least one of min or max must not be None")
    numbers = not any(isinstance(kind, TensorType) for kind in call.types[1:])
    if numbers and promoted(call) is BOOL:
        raise TypeError("not implemented for bool")
    return PROMOTE.infer(call)


def _remainder(emit: Emitter, x: Number, y: Number) -> Sequence[Ref]:
    y = spread(emit, y, x)
    rest = emit.emit("fmod", x, y)
    other_sign = emit.emit("ne", emit.emit("lt", rest, 0), emit.emit("lt", y, 0))
    wrong = emit.emit("logical_and", emit.emit("ne", rest, 0), other_sign)
    return (emit.emit("where", wrong, emit.emit("add", rest, y), rest),)


def _floor_divide(emit: Emitter, x: Number, y: Number) -> Sequence[Ref]:
    """As ATen's div_floor_floating: from the remainder, so that (x // y) * y + x % y is x."""
    y = spread(emit, y, x)
    quotient = emit.emit("div", x, y)
    rest = emit.emit("fmod", x, y)
    exact = emit.emit("div", emit.emit("sub", x, rest), y)
    other_sign = emit.emit("ne", emit.emit("lt", rest, 0), emit.emit("lt", y, 0))
    wrong = emit.emit("logical_and", emit.emit("ne", rest, 0), other_sign)
    exact = emit.emit("where", wrong, emit.emit("sub", exact, 1), exact)
    down = emit.emit("floor", exact)
    low = emit.emit("gt", emit.emit("sub", exact, down), 0.5)
    down = emit.emit("where", low, emit.emit("add", down, 1), down)
    zero = emit.emit("mul", quotient, 0.0)  # with the quotient's sign
    down = emit.emit("where", emit.emit("eq", exact, 0), zero, down)
    return (emit.emit("where", emit.emit("eq", y, 0), quotient, down),)


def _trunc_divide(emit: Emitter, x: Number, y: Number) -> Sequence[Ref]:
    return (emit.emit("trunc", emit.emit("div", x, y)),)


def _gelu(emit: Emitter, x: Ref, *, approximate: str) -> Sequence[Ref]:
    if approximate == "tanh":
        cube = emit.emit("mul", emit.emit("mul", x, x), x)
        inner = emit.emit("add", x, emit.emit("mul", cube, 0.044715))
        # x (1 + tanh(z)) / 2 is x / (1 + exp(-2 z)), which needs no tanh and loses no digits
        e = emit.emit("exp", emit.emit("mul", inner, -2 * math.sqrt(2 / math.pi)))
        return (emit.emit("div", x, emit.emit("add", e, 1)),)
    half = emit.emit("mul", x, 0.5)
    inner = emit.emit("erf", emit.emit("mul", x, math.sqrt(0.5)))
    return (emit.emit("mul", half, emit.emit("add", inner, 1)),)


def _infer_gelu(call: Call) -> tuple[Type, ...]:
    if call.fields["approximate"] not in ("none", "tanh"):
        raise ValueError("approximate argument must be either none or tanh.")
    return FLOATING_ONE.infer(call)


def _silu(emit: Emitter, x: Ref) -> Sequence[Ref]:
    e = emit.emit("exp", emit.emit("neg", x))
    return (emit.emit("div", x, emit.emit("add", e, 1)),)


def _softplus(emit: Emitter, x: Ref, beta: Number, threshold: Number) -> Sequence[Ref]:
    scaled = emit.emit("mul", x, beta)
    soft = emit.emit("div", emit.emit("log1p", emit.emit("exp", scaled)), beta)
    return (emit.emit("where", emit.emit("gt", scaled, threshold), x, soft),)


def _infer_first_float(call: Call) -> tuple[Type, ...]:
    """The first operand's type; numbers after it do not promote."""
    return FLOATING_ONE.infer(Call(call.types[:1], call.fields, call.sizes, call.default))


def _mish(emit: Emitter, x: Ref) -> Sequence[Ref]:
    soft = emit.emit("log1p", emit.emit("exp", x))
    return (emit.emit("mul", x, emit.emit("tanh", soft)),)


def _leaky_relu(emit: Emitter, x: Ref, slope: Number) -> Sequence[Ref]:
    return (emit.emit("where", emit.emit("gt", x, 0), x, emit.emit("mul", x, slope)),)


def _logsigmoid(emit: Emitter, x: Ref) -> Sequence[Ref]:
    soft = emit.emit("log1p", emit.emit("exp", emit.emit("neg", emit.emit("abs", x))))
    return (emit.emit("sub", emit.emit("minimum", x, 0), soft),)


def _infer_logsigmoid(call: Call) -> tuple[Type, ...]:
    FLOATING_ONE.infer(call)
    return same(call)


def _infer_softmax(call: Call) -> tuple[Type, ...]:
    source = call.tensor(0)
    normal_axis(call.integer("dim"), source.rank)
    dtype = call.dtype("dtype") or source.dtype
    if not dtype.is_float:
        raise TypeError(f"softmax is not implemented for {dtype}")
    return (source.with_(dtype=dtype, dims=source.dims),)


SOFTMAX = Rule(_infer_softmax, None, MEAN.samples)


def _in(emit: Emitter, x: Ref, dtype: DType | None) -> Ref:
    """x converted to a dtype first, where one was asked for."""
    return x if dtype is None or tensor_of(x).dtype == dtype else emit.emit("to", x, dtype=dtype)


def _softmax(emit: Emitter, x: Ref, *, dim: int, dtype: DType | None) -> Sequence[Ref]:
    x = _in(emit, x, dtype)
    if 0 in tensor_of(x).dims:  # nothing to compute, and amax would refuse
        return (emit.emit("contiguous", x),)
    shifted = emit.emit("sub", x, emit.emit("amax", x, dim=(dim,), keepdim=True))
    e = emit.emit("exp", shifted)
    return (emit.emit("div", e, emit.emit("sum", e, dim=(dim,), keepdim=True)),)


def _log_softmax(emit: Emitter, x: Ref, *, dim: int, dtype: DType | None) -> Sequence[Ref]:
    x = _in(emit, x, dtype)
    if 0 in tensor_of(x).dims:
        return (emit.emit("contiguous", x),)
    shifted = emit.emit("sub", x, emit.emit("amax", x, dim=(dim,), keepdim=True))
    total = emit.emit("sum", emit.emit("exp", shifted), dim=(dim,), keepdim=True)
    return (emit.emit("sub", shifted, emit.emit("log", total)),)


def _infer_logsumexp(call: Call) -> tuple[Type, ...]:
    source = call.tensor(0)
    if not source.dtype.is_float:
        raise TypeError(f"logsumexp of {source.dtype} is left to PyTorch")
    axes = normal_axes(call.axes("dim"), source.rank)
    return (reduced_type(source, axes, call.flag("keepdim"), source.dtype),)


def _logsumexp(emit: Emitter, x: Ref, *, dim: tuple[int, ...], keepdim: bool) -> Sequence[Ref]:
    """The maximum is left out where it is infinite, as in eager: inf - inf would be NaN."""
    axes = normal_axes(dim, tensor_of(x).rank)
    largest = emit.emit("amax", x, dim=axes, keepdim=True)
    shift = emit.emit("where", emit.emit("isinf", largest), 0, largest)
    e = emit.emit("exp", emit.emit("sub", x, shift))
    total = emit.emit("log", emit.emit("sum", e, dim=axes, keepdim=keepdim))
    return (emit.emit("add", total, shift if keepdim else emit.emit("squeeze", shift, dim=axes)),)


def _infer_norm(call: Call) -> tuple[Type, ...]:
    source = call.tensor(0)
    shape = call.dims("normalized_shape")
    tail = source.dims[source.rank - len(shape) :] if shape else ()
    if (
        not shape
        or len(shape) > source.rank
        or not all(call.sizes.equal(a, b) for a, b in zip(tail, shape, strict=True))
    ):
        raise ValueError(f"normalized_shape {shape} does not end the shape of {source}")
    for kind in call.types[1:-1]:
        if isinstance(kind, TensorType) and kind.dims != shape:
            fits = kind.rank == len(shape) and all(
                call.sizes.equal(a, b) for a, b in zip(kind.dims, shape, strict=True)
            )
            if not fits:
                raise ValueError(f"expected weight and bias of shape {shape}, got {kind}")
    if not source.dtype.is_float:
        raise TypeError(f"not implemented for {source.dtype}")
    return (source.with_(dims=source.dims),)


def _last_axes(x: Ref, shape: tuple[Dim, ...]) -> tuple[int, ...]:
    rank = tensor_of(x).rank
    return tuple(range(rank - len(shape), rank))


def _layer_norm(
    emit: Emitter,
    x: Ref,
    weight: Ref | None,
    bias: Ref | None,
    eps: Number,
    *,
    normalized_shape: tuple[Dim, ...],
) -> Sequence[Ref]:
    axes = _last_axes(x, normalized_shape)
    spread, mean = variance(emit, x, dim=axes, correction=0, keepdim=True)
    scale = emit.emit("rsqrt", emit.emit("add", spread, eps))
    y = emit.emit("mul", emit.emit("sub", x, mean), scale)
    y = y if weight is None else emit.emit("mul", y, weight)
    return (y if bias is None else emit.emit("add", y, bias),)


def _rms_norm(
    emit: Emitter,
    x: Ref,
    weight: Ref | None,
    eps: Number,
    *,
    normalized_shape: tuple[Dim, ...],
) -> Sequence[Ref]:
    axes = _last_axes(x, normalized_shape)
    mean = emit.emit("mean", emit.emit("mul", x, x), dim=axes, keepdim=True)
    y = emit.emit("mul", x, emit.emit("rsqrt", emit.emit("add", mean, eps)))
    return (y if weight is None else emit.emit("mul", y, weight),)


def _activation(
    name: str,
    expand: object,
    doc: str,
    rule: Rule = FLOATING_ONE,
    signature: str = "input, inplace=False",
    operands: tuple[Operand, ...] = X,
    torch: tuple[str, ...] = (),
    fields: tuple[Field, ...] = (),
) -> Op:
    return Op(
        name=name,
        kind=Kind.COMPOSITE,
        rule=rule,
        operands=operands,
        fields=fields,
        torch=torch or (f"torch.nn.functional.{name}",),
        signature=signature,
        rounds="once",
        expand=expand,  # type: ignore[arg-type]  # each takes its own operands and fields
        doc=doc,
    )


def _softmax_row(name: str, expand: object, doc: str) -> Op:
    return Op(
        name=name,
        kind=Kind.COMPOSITE,
        rule=SOFTMAX,
        operands=X,
        fields=(Field("dim", FieldKind.INT), Field("dtype", FieldKind.DTYPE, None)),
        torch=(f"torch.{name}", f"Tensor.{name}", f"torch.special.{name}"),
        signature="input, dim, dtype=None, *, out=None",
        rounds="once",
        expand=expand,  # type: ignore[arg-type]
        doc=doc,
    )


PAIRS = tuple(
    Op(
        name=name,
        kind=Kind.COMPOSITE,
        rule=FLOATING,
        operands=TWO,
        expand=expand,
        host=host,
        doc=doc,
    )
    for name, expand, host, doc in (
        (
            "remainder",
            _remainder,
            "torch.remainder({0}, {1})",
            "the remainder with the sign of `other`, of floats",
        ),
        (
            "floor_divide",
            _floor_divide,
            "torch.floor_divide({0}, {1})",
            "`floor(input / other)` of floats, from the remainder",
        ),
        (
            "trunc_divide",
            _trunc_divide,
            "torch.div({0}, {1}, rounding_mode='trunc')",
            "`trunc(input / other)` of floats",
        ),
    )
)

ACTIVATIONS = (
    _activation(
        "sign",
        _sign,
        "1, 0 or -1; 0 for NaN",
        NUMERIC_ONE,
        "input, *, out=None",
        torch=("torch.sign", "Tensor.sign"),
    ),
    _activation(
        "relu",
        _relu,
        "`input` where it is not negative, else 0",
        NUMERIC_ONE,
        torch=("torch.relu", "Tensor.relu", "torch.nn.functional.relu"),
    ),
    _activation(
        "gelu",
        _gelu,
        "`0.5 x (1 + erf(x / sqrt(2)))`, or its tanh approximation",
        Rule(_infer_gelu, None, FLOATING_ONE.samples),
        "input, *, approximate='none'",
        fields=(Field("approximate", FieldKind.TEXT, "none"),),
    ),
    _activation("silu", _silu, "`x / (1 + exp(-x))`"),
    _activation("mish", _mish, "`x tanh(log1p(exp(x)))`"),
    _activation(
        "logsigmoid",
        _logsigmoid,
        "`log(sigmoid(x))`, contiguous",
        Rule(_infer_logsigmoid, None, FLOATING_ONE.samples),
        "input",
    ),
    _activation(
        "softplus",
        _softplus,
        "`log1p(exp(beta x)) / beta`, x itself where `beta x` is above the threshold",
        Rule(_infer_first_float, None, tuple((*s, "float", "float") for s in FLOATING_ONE.samples)),
        "input, beta=1, threshold=20",
        (*X, Operand("beta"), Operand("threshold")),
    ),
    _activation(
        "leaky_relu",
        _leaky_relu,
        "`input` where it is positive, else a slope times it",
        Rule(_infer_first_float, None, tuple((*s, "float") for s in FLOATING_ONE.samples)),
        "input, negative_slope=0.01, inplace=False",
        (*X, Operand("negative_slope")),
    ),
    Op(
        name="clamp",
        kind=Kind.COMPOSITE,
        rule=Rule(
            _infer_clamp,
            None,
            (
                *((*s, "float", "float") for s in FLOATING_ONE.samples),
                ("f32[3, 4]", "f32[4]", "none"),
                ("i32[4]", "none", "int"),
            ),
        ),
        operands=(*X, Operand("min", optional=True), Operand("max", optional=True)),
        torch=("torch.clamp", "Tensor.clamp", "torch.clip", "Tensor.clip"),
        signature="input, min=None, max=None, *, out=None",
        checked=("min", "max"),
        expand=_clamp,
        doc="the input, at least `min` and at most `max`; NaN stays",
    ),
)

NORMS = (
    _softmax_row("softmax", _softmax, "`exp(x - max) / sum(exp(x - max))` over `dim`"),
    _softmax_row("log_softmax", _log_softmax, "`(x - max) - log(sum(exp(x - max)))` over `dim`"),
    Op(
        name="logsumexp",
        kind=Kind.COMPOSITE,
        rule=Rule(_infer_logsumexp, None, (("f32[3, 4]",), ("bf16[3, 33]",))),
        operands=X,
        fields=(Field("dim", FieldKind.AXES), Field("keepdim", FieldKind.BOOL, False)),
        torch=("torch.logsumexp", "Tensor.logsumexp", "torch.special.logsumexp"),
        signature="input, dim, keepdim=False, *, out=None",
        expand=_logsumexp,
        doc="`log(sum(exp(x)))` over `dim`, without overflow",
    ),
    Op(
        name="layer_norm",
        kind=Kind.COMPOSITE,
        rule=Rule(
            _infer_norm,
            None,
            (
                ("f32[3, 4]", "f32[4]", "f32[4]", "float"),
                ("bf16[2, 3, 33]", "bf16[33]", "none", "float"),
                ("f32[3, 4] order(1,0)", "none", "none", "float"),
            ),
        ),
        operands=(
            *X,
            Operand("weight", optional=True),
            Operand("bias", optional=True),
            Operand("eps"),
        ),
        fields=(Field("normalized_shape", FieldKind.SIZES),),
        torch=("torch.nn.functional.layer_norm",),
        signature="input, normalized_shape, weight=None, bias=None, eps=1e-05",
        rounds="once",
        expand=_layer_norm,
        doc="`(x - mean) / sqrt(var + eps) * weight + bias` over the last axes",
    ),
    Op(
        name="rms_norm",
        kind=Kind.COMPOSITE,
        rule=Rule(
            _infer_norm,
            None,
            (
                ("f32[3, 4]", "f32[4]", "float"),
                ("bf16[2, 3, 33]", "none", "float"),
                ("f32[3, 4] order(1,0)", "none", "float"),
            ),
        ),
        operands=(*X, Operand("weight", optional=True), Operand("eps")),
        fields=(Field("normalized_shape", FieldKind.SIZES),),
        host="torch.nn.functional.rms_norm({0}, {normalized_shape}, {1}, {2})",
        rounds="once",
        expand=_rms_norm,
        doc="`x / sqrt(mean(x * x) + eps) * weight` over the last axes",
    ),
)

ROWS = (*PAIRS, *ACTIVATIONS, *NORMS)
