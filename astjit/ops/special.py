"""Functions of one or two floats that are made of other rows, as ATen makes them."""

import math
from collections.abc import Callable, Sequence

from astjit.ops.arithmetic import once
from astjit.ops.held import LARGEST
from astjit.ops.rules import ASK, FLOATING_ONE, FLOATING_TENSORS, PROMOTE
from astjit.ops.scaled import brought, common_dtype
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
    Trait,
    both,
    is_tensor,
    tensor_of,
    type_of,
)
from astjit.types.dtype import BOOL, F64, DType
from astjit.types.tensor import Type

Number = Ref | float
Maybe = object  # a Ref or NotImplemented
X, XY = (Operand("input"),), (Operand("input"), Operand("other"))


def _frac(emit: Emitter, x: Ref) -> Sequence[Ref]:
    return (emit.emit("sub", x, emit.emit("trunc", x)),)


def _fmax(emit: Emitter, x: Number, y: Number) -> Sequence[Ref]:
    return _no_nan(emit, "maximum", x, y)


def _fmin(emit: Emitter, x: Number, y: Number) -> Sequence[Ref]:
    return _no_nan(emit, "minimum", x, y)


def _no_nan(emit: Emitter, name: str, x: Number, y: Number) -> Sequence[Ref]:
    """The other operand where one is NaN."""
    either = emit.emit("where", emit.emit("ne", y, y), x, emit.emit(name, x, y))
    return (emit.emit("where", emit.emit("ne", x, x), y, either),)


def _heaviside(emit: Emitter, x: Ref, values: Ref) -> Sequence[Ref]:
    step = emit.emit("to", emit.emit("gt", x, 0), dtype=tensor_of(x).dtype)
    return (emit.emit("where", emit.emit("eq", x, 0), values, step),)


def _infer_heaviside(call: Call) -> tuple[Type, ...]:
    if call.tensor(0).dtype is not call.tensor(1).dtype:
        raise TypeError("heaviside of two dtypes")
    return PROMOTE.infer(call)


def _infer_tensors(call: Call) -> tuple[Type, ...]:
    call.tensor(0), call.tensor(1)  # torch takes no numbers
    return PROMOTE.infer(call)


TENSORS = Rule(
    _infer_tensors, None, tuple(s for s in PROMOTE.samples if s[1] not in ("int", "float"))
)


def _logaddexp(emit: Emitter, x: Ref, y: Ref) -> Sequence[Ref]:
    """The larger, and log1p(exp(-|x - y|)); infinities that are equal stay."""
    away = emit.emit("neg", emit.emit("abs", emit.emit("sub", x, y)))
    return _logadd(emit, x, y, emit.emit("log1p", emit.emit("exp", away)))


def _logaddexp2(emit: Emitter, x: Ref, y: Ref) -> Sequence[Ref]:
    away = emit.emit("neg", emit.emit("abs", emit.emit("sub", x, y)))
    rest = emit.emit("log1p", emit.emit("exp2", away))
    return _logadd(emit, x, y, emit.emit("mul", rest, 1 / math.log(2)))


def _logadd(emit: Emitter, x: Ref, y: Ref, rest: Ref) -> Sequence[Ref]:
    total = emit.emit("add", emit.emit("maximum", x, y), rest)
    stays = emit.emit("logical_and", emit.emit("isinf", x), emit.emit("eq", x, y))
    return (emit.emit("where", stays, x, total),)


def _xlogy(emit: Emitter, x: Number, y: Number) -> Sequence[Ref]:
    return _times_log(emit, x, y, "log")


def _xlog1py(emit: Emitter, x: Number, y: Number) -> Sequence[Ref]:
    return _times_log(emit, x, y, "log1p")


def _times_log(emit: Emitter, x: Number, y: Number, name: str) -> Sequence[Ref]:
    """0 where x is 0, unless y is NaN."""
    product = emit.emit("mul", x, emit.emit(name, y))
    rest = emit.emit("where", emit.emit("eq", x, 0), 0, product)
    return (emit.emit("where", emit.emit("ne", y, y), y, rest),)


def _sinc(emit: Emitter, x: Ref) -> Sequence[Ref]:
    angle = emit.emit("mul", x, math.pi)
    ratio = emit.emit("div", emit.emit("sin", angle), angle)
    return (emit.emit("where", emit.emit("eq", x, 0), 1, ratio),)


def _round_decimals(emit: Emitter, x: Ref, *, decimals: int) -> Sequence[Ref]:
    power = 10.0 ** abs(decimals)
    if decimals < 0:
        return (emit.emit("mul", emit.emit("round", emit.emit("div", x, power)), power),)
    return (emit.emit("div", emit.emit("round", emit.emit("mul", x, power)), power),)


def _pair(
    name: str,
    expand: Callable[..., Sequence[Ref]],
    doc: str,
    *,
    rule: Rule = FLOATING_TENSORS,
    torch: tuple[str, ...] = (),
    second: str = "other",
    rounds: str = "once",
    domain: tuple[float, float] = (-4.0, 4.0),
) -> Op:
    return Op(
        name=name,
        kind=Kind.COMPOSITE,
        rule=rule,
        operands=(*X, Operand(second)),
        torch=torch or both(name),
        signature=f"input, {second}, *, out=None",
        rounds=rounds,  # type: ignore[arg-type]
        expand=expand,
        domain=domain,
        doc=doc,
    )


def _one(name: str, expand: Callable[..., Sequence[Ref]], doc: str, torch: tuple[str, ...]) -> Op:
    return Op(
        name=name,
        kind=Kind.COMPOSITE,
        rule=FLOATING_ONE,
        operands=X,
        torch=torch,
        signature="input, *, out=None",
        rounds="once",
        expand=expand,
        doc=doc,
    )


ROWS = (
    Op(
        name="signbit",
        kind=Kind.ELEMENTWISE,
        rule=ASK,
        operands=X,
        torch=both("signbit"),
        signature="input, *, out=None",
        spell={
            "cpu": "signbit({0})",
            "cuda": "signbit({0}) != 0",  # an int of any value that is not 0
            **{
                f"{target}.{dtype}": "{0} < 0"
                for target in ("cpu", "cuda")
                for dtype in ("u8", "i8", "i16", "i32", "i64")
            },
        },
        evaluate=lambda x: math.copysign(1, x) < 0,
        traits=Trait.EXACT,
        doc="whether the sign is set, of -0.0 and NaN as well",
    ),
    _one("frac", _frac, "`input - trunc(input)`", both("frac")),
    _one(
        "sinc",
        _sinc,
        "`sin(pi x) / (pi x)`, 1 at 0",
        (*both("sinc"), "torch.special.sinc"),
    ),
    Op(
        name="round_decimals",
        kind=Kind.COMPOSITE,
        rule=FLOATING_ONE,
        operands=X,
        fields=(Field("decimals", FieldKind.INT),),
        host="torch.round({0}, decimals={decimals})",
        rounds="once",
        expand=_round_decimals,
        doc="rounded to a number of decimal places, by scaling",
    ),
    _pair("fmax", _fmax, "the larger; NaN loses", rule=TENSORS),
    _pair("fmin", _fmin, "the smaller; NaN loses", rule=TENSORS),
    _pair(
        "heaviside",
        _heaviside,
        "0 below 0, 1 above, `values` at 0",
        rule=Rule(
            _infer_heaviside,
            None,
            (("f32[3, 4]", "f32[4]"), ("i64[3]", "i64[3]"), ("bf16[3]", "bf16[3]")),
        ),
        second="values",
        rounds="pieces",
    ),
    _pair("logaddexp", _logaddexp, "`log(exp(input) + exp(other))` without overflow"),
    _pair("logaddexp2", _logaddexp2, "`log2(2^input + 2^other)` without overflow"),
    _pair(
        "xlogy",
        _xlogy,
        "`input * log(other)`, 0 where the input is 0",
        torch=(*both("xlogy"), "torch.special.xlogy"),
        domain=(0.1, 4.0),
    ),
    _pair(
        "xlog1py",
        _xlog1py,
        "`input * log1p(other)`, 0 where the input is 0",
        torch=("torch.special.xlog1py",),
        domain=(0.1, 4.0),
    ),
)


# --- arrangements --------------------------------------------------------------------------------


def _infinite(sign: float) -> Callable[..., Maybe]:
    def build(emit: Emitter, x: Ref) -> Maybe:
        if not tensor_of(x).dtype.is_float:
            return NotImplemented
        return emit.emit("eq", x, sign * math.inf)

    return build


def _nan_to_num(
    emit: Emitter, x: Ref, nan: Number | None, posinf: Number | None, neginf: Number | None
) -> Maybe:
    """Without bounds they are the dtype's own; integers stay."""
    dtype = tensor_of(x).dtype
    if not dtype.is_float:
        return emit.emit("clone", x) if dtype is not BOOL else NotImplemented
    given = [v for v in (nan, posinf, neginf) if v is not None]
    if not all(isinstance(v, int | float) for v in given):
        return NotImplemented
    top = LARGEST[dtype] if posinf is None else posinf
    bottom = -LARGEST[dtype] if neginf is None else neginf
    made = emit.emit("where", emit.emit("eq", x, -math.inf), bottom, x)
    made = emit.emit("where", emit.emit("eq", x, math.inf), top, made)
    return emit.emit("where", emit.emit("ne", x, x), 0.0 if nan is None else nan, made)


def _times(factor: float) -> Callable[..., Maybe]:
    def build(emit: Emitter, x: Ref) -> Maybe:
        return emit.emit("mul", x, factor) if tensor_of(x).dtype.is_float else NotImplemented

    return build


def _logit(emit: Emitter, x: Ref, eps: Number | None) -> Maybe:
    """Of 16-bit floats eager rounds in between in its own way."""
    dtype = tensor_of(x).dtype
    if not dtype.is_float or dtype.is_half:
        return NotImplemented
    if eps is not None:
        if not isinstance(eps, int | float) or not 0 <= eps < 0.5:
            return NotImplemented
        high = emit.emit("where", emit.emit("gt", x, 1 - eps), 1 - eps, x)
        x = emit.emit("where", emit.emit("lt", x, eps), eps, high)
    return emit.emit("log", emit.emit("div", x, emit.emit("sub", 1, x)))


def _float_power(emit: Emitter, x: Number, exponent: Number) -> Maybe:
    if not is_tensor(type_of(x)):
        return NotImplemented
    wide = brought(emit, x, F64)
    if is_tensor(type_of(exponent)):
        return emit.emit("pow", wide, brought(emit, exponent, F64))
    plain = isinstance(exponent, int | float) and float(exponent) not in _ARITHMETIC
    return emit.emit("pow", wide, float(exponent)) if plain else NotImplemented  # type: ignore[arg-type]


_ARITHMETIC = (0.0, 1.0, 2.0, 3.0, 0.5, -0.5, -1.0, -2.0)


def _ldexp(emit: Emitter, x: Ref, other: Ref) -> Maybe:
    if (exponent := tensor_of(other).dtype).is_float or exponent is BOOL:
        return NotImplemented
    return once(emit, x, lambda wide: emit.emit("mul", wide, emit.emit("pow", 2.0, other)))


def _isclose(
    emit: Emitter, x: Ref, other: Ref, rtol: Number, atol: Number, *, equal_nan: bool
) -> Maybe:
    """Equal, or finitely near."""
    dtype = tensor_of(x).dtype
    if dtype is not tensor_of(other).dtype or not dtype.is_float:
        return NotImplemented
    if not all(isinstance(v, int | float) and v >= 0 for v in (rtol, atol)):
        return NotImplemented
    close = emit.emit("eq", x, other)
    if equal_nan:
        both_nan = emit.emit("logical_and", emit.emit("ne", x, x), emit.emit("ne", other, other))
        close = emit.emit("logical_or", close, both_nan)
    if rtol == 0 and atol == 0:
        return close
    allowed = emit.emit("add", emit.emit("abs", emit.emit("mul", other, rtol)), atol)
    actual = emit.emit("abs", emit.emit("sub", x, other))
    near = emit.emit("logical_and", emit.emit("isfinite", actual), emit.emit("le", actual, allowed))
    return emit.emit("logical_or", close, near)


def _rounded(emit: Emitter, x: Ref, *, decimals: int) -> Maybe:
    if decimals == 0:
        return emit.emit("round", x)
    floats = tensor_of(x).dtype.is_float
    return emit.emit("round_decimals", x, decimals=decimals) if floats else NotImplemented


def _logical(name: str) -> Callable[..., Ref]:
    """Truth of the operands in their common dtype: a 0-d one may be wider than it."""

    def build(emit: Emitter, x: Ref, other: Number) -> Maybe:
        if not is_tensor(type_of(other)):
            return NotImplemented
        dtype = common_dtype(x, other)
        return emit.emit(name, *(_narrowed(emit, v, dtype) for v in (x, other)))

    return build  # type: ignore[return-value]


def _narrowed(emit: Emitter, value: Number, dtype: DType) -> Number:
    kind = tensor_of(value)
    wider = kind.dtype.is_float and kind.dtype.bits > dtype.bits
    return brought(emit, value, dtype) if wider else value


def _renamed(name: str) -> Callable[..., Ref]:
    def build(emit: Emitter, x: Ref) -> Ref:
        return emit.emit(name, x)

    return build


OUT = "input, *, out=None"
SPELLINGS = (
    Spelling(torch=both("isposinf"), signature=OUT, build=_infinite(1.0)),
    Spelling(torch=both("isneginf"), signature=OUT, build=_infinite(-1.0)),
    Spelling(
        torch=both("nan_to_num"),
        signature="input, nan=None, posinf=None, neginf=None, *, out=None",
        build=_nan_to_num,
        operands=(*X, *(Operand(n, optional=True) for n in ("nan", "posinf", "neginf"))),
    ),
    Spelling(torch=both("deg2rad"), signature=OUT, build=_times(math.pi / 180)),
    Spelling(torch=both("rad2deg"), signature=OUT, build=_times(180 / math.pi)),
    Spelling(
        torch=(*both("logit"), "torch.special.logit"),
        signature="input, eps=None, *, out=None",
        build=_logit,
        operands=(*X, Operand("eps", optional=True)),
    ),
    Spelling(
        torch=both("float_power"),
        signature="input, exponent, *, out=None",
        build=_float_power,
        operands=(*X, Operand("exponent")),
    ),
    Spelling(torch=both("ldexp"), signature="input, other, *, out=None", build=_ldexp, operands=XY),
    Spelling(
        torch=both("isclose"),
        signature="input, other, rtol=1e-05, atol=1e-08, equal_nan=False",
        build=_isclose,
        operands=(*XY, Operand("rtol"), Operand("atol")),
        fields=(Field("equal_nan", FieldKind.BOOL),),
    ),
    Spelling(
        torch=(*both("round"), "torch.special.round"),
        signature="input, *, decimals, out=None",
        build=_rounded,
        fields=(Field("decimals", FieldKind.INT),),
    ),
    *(
        Spelling(
            torch=both(name),
            signature="input, other, *, out=None",
            build=_logical(name),
            operands=XY,
        )
        for name in ("logical_and", "logical_or", "logical_xor")
    ),
    Spelling(torch=both("fix"), signature=OUT, build=_renamed("trunc")),
)
