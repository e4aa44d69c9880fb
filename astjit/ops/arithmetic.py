"""Torch's names for arithmetic that are arrangements of rows, exactly.

    2.7 / x  =>  mul(reciprocal(x), 2.7)        x ** 3  =>  mul(mul(x, x), x)

Where an arrangement would differ from eager in one bit, the call stays a library call.
"""

from collections.abc import Callable

from astjit.ops.integers import divisible
from astjit.ops.scaled import brought, common_dtype
from astjit.ops.spec import (
    Emitter,
    Field,
    FieldKind,
    Operand,
    Ref,
    Spelling,
    both,
    tensor_of,
    type_of,
)
from astjit.types.dtype import BOOL, F16, F32, Category, promote
from astjit.types.tensor import ScalarType, TensorType

Number = Ref | float
Maybe = object  # a Ref or NotImplemented
XY = (Operand("input"), Operand("other"))


def _category(*operands: Number) -> Category:
    """The category of the promoted dtype."""
    kinds = [type_of(v) for v in operands]
    tensors = [k for k in kinds if isinstance(k, TensorType)]
    weak = tuple(k.category for k in kinds if isinstance(k, ScalarType))
    dtype = promote(
        tuple(k.dtype for k in tensors if k.dims),
        tuple(k.dtype for k in tensors if not k.dims),
        weak,
    )
    return dtype.category


def _is_float(*operands: Number) -> bool:
    return _category(*operands) is Category.FLOAT


def _reversed(name: str) -> Callable[..., Ref]:
    """Torch multiplies in the order given, which a 0-d tensor's rounding depends on."""

    def build(emit: Emitter, x: Ref, other: Number) -> Ref:
        kept = name == "mul" and isinstance(type_of(other), TensorType)
        return emit.emit(name, x, other) if kept else emit.emit(name, other, x)

    return build


def _rest(name: str, of_integers: str) -> Callable[..., Maybe]:
    """A row on floats, another on integers by a number; by a tensor it can fail: PyTorch's."""

    def build(emit: Emitter, x: Number, other: Number) -> Maybe:
        if _is_float(x, other):
            return emit.emit(name, *_in_common(emit, x, other))
        return emit.emit(of_integers, x, other) if divisible(x, other) else NotImplemented

    return build


def _in_common(emit: Emitter, x: Number, other: Number) -> tuple[Number, Number]:
    """The operands in the common dtype: a 0-d tensor may be wider, and is rounded to it first."""
    dtype = common_dtype(x, other)
    return brought(emit, x, dtype), brought(emit, other, dtype)


def _reversed_floats(name: str) -> Callable[..., Maybe]:
    def build(emit: Emitter, x: Ref, other: Number) -> Maybe:
        narrow = tensor_of(x).dtype.is_half and name == "floor_divide"
        return emit.emit(name, other, x) if _is_float(x, other) and not narrow else NotImplemented

    return build


def _quotient(emit: Emitter, name: str, x: Ref, other: Number) -> Maybe:
    """Eager divides 16-bit floats by one number in float32, but by several piece by piece."""
    if not _is_float(x, other):
        return emit.emit(f"integer_{name}", x, other) if divisible(x, other) else NotImplemented
    kind, dtype = type_of(other), common_dtype(x, other)
    several = isinstance(kind, TensorType) and any(size != 1 for size in kind.dims)
    if several or not dtype.is_half:
        return emit.emit(name, *_in_common(emit, x, other))
    made = emit.emit(name, brought(emit, brought(emit, x, dtype), F32), brought(emit, other, F32))
    return emit.emit("to", made, dtype=dtype)


def _floor_divide(emit: Emitter, x: Ref, other: Number) -> Maybe:
    return _quotient(emit, "floor_divide", x, other)


def _rtruediv(emit: Emitter, x: Ref, other: Number) -> Ref:
    """As torch's Tensor.__rdiv__ does it: two roundings."""
    return emit.emit("mul", emit.emit("reciprocal", x), other)


def _div_rounded(emit: Emitter, x: Ref, other: Number, *, rounding_mode: str) -> Maybe:
    name = {"floor": "floor_divide", "trunc": "trunc_divide"}.get(rounding_mode)
    return NotImplemented if name is None else _quotient(emit, name, x, other)


def once(emit: Emitter, x: Ref, build: Callable[[Ref], Ref]) -> Ref:
    """`build` in float32, its result rounded once to x's dtype."""
    dtype = tensor_of(x).dtype
    if not dtype.is_half:
        return build(x)
    return emit.emit("to", build(emit.emit("to", x, dtype=F32)), dtype=dtype)


def _product(emit: Emitter, x: Ref, count: int) -> Ref:
    """x times itself, exact modulo the width of an integer in any order."""
    made = x
    for bit in bin(count)[3:]:
        made = emit.emit("mul", made, made)
        made = emit.emit("mul", made, x) if bit == "1" else made
    return made


def _power(emit: Emitter, x: Ref, *, exponent: float) -> Maybe:
    """The exponents for which ATen's pow_tensor_scalar is arithmetic, then the general one."""
    dtype = tensor_of(x).dtype
    if not dtype.is_float:
        whole = dtype is not BOOL and isinstance(exponent, int) and 1 < exponent <= MOST_FACTORS
        return _product(emit, x, int(exponent)) if whole else NotImplemented

    def cube(a: Ref) -> Ref:
        return emit.emit("mul", emit.emit("mul", a, a), a)

    def inverse_square(a: Ref) -> Ref:
        return emit.emit("reciprocal", emit.emit("mul", a, a))

    match float(exponent):
        case 1.0:
            return emit.emit("clone", x)
        case 2.0:
            return emit.emit("mul", x, x)
        case 3.0:
            return once(emit, x, cube) if dtype is F16 else cube(x)
        case 0.5 if dtype is not F16:  # float16 goes through pow, which is inf at -inf
            return emit.emit("sqrt", x)
        case -0.5 if dtype is not F16:
            return emit.emit("rsqrt", x)
        case -1.0:
            return emit.emit("reciprocal", x)
        case -2.0:
            return once(emit, x, inverse_square) if dtype is F16 else inverse_square(x)
        case 0.0:
            return NotImplemented
    return emit.emit("pow", x, float(exponent))


def _pow(emit: Emitter, x: Number, exponent: Ref) -> Maybe:
    return emit.emit("pow", x, exponent) if _is_float(x, exponent) else NotImplemented


def _square(emit: Emitter, x: Ref) -> Maybe:
    return emit.emit("mul", x, x) if tensor_of(x).dtype is not BOOL else NotImplemented


def _identity(emit: Emitter, x: Ref) -> Ref:
    if tensor_of(x).dtype is BOOL:
        raise TypeError("the + operator is not supported on a bool tensor")
    return x


def pair(
    torch: tuple[str, ...], build: Callable[..., object], signature: str = "input, other"
) -> Spelling:
    """An arrangement for two operands, `input` and `other`."""
    return Spelling(torch=torch, signature=signature, build=build, operands=XY)


OUT = "input, other, *, out=None"
MOST_FACTORS = 16
EXPONENT = Field("exponent", FieldKind.NUMBER)
POWER = ("torch.pow", "Tensor.pow", "Tensor.__pow__")
BASE = (Operand("input"), Operand("exponent"))

REVERSED = (
    pair(("Tensor.__radd__",), _reversed("add")),
    pair(("Tensor.__rsub__", "torch.rsub"), _reversed("sub"), "input, other, *, alpha=1"),
    pair(("Tensor.__rmul__",), _reversed("mul")),
    pair(("Tensor.__rtruediv__", "Tensor.__rdiv__"), _rtruediv),
    pair(("Tensor.__rfloordiv__",), _reversed_floats("floor_divide")),
    pair(("Tensor.__rmod__",), _reversed_floats("remainder")),
    pair(("Tensor.__rand__",), _reversed("bitwise_and")),
    pair(("Tensor.__ror__",), _reversed("bitwise_or")),
    pair(("Tensor.__rxor__",), _reversed("bitwise_xor")),
)

DIVISIONS = (
    pair((*both("floor_divide"), "Tensor.__floordiv__"), _floor_divide, OUT),
    pair((*both("remainder"), "Tensor.__mod__"), _rest("remainder", "integer_remainder"), OUT),
    pair(both("fmod"), _rest("fmod", "integer_fmod"), OUT),
    Spelling(
        torch=(*both("div"), *both("divide")),
        signature="input, other, *, rounding_mode=None, out=None",
        build=_div_rounded,
        operands=XY,
        fields=(Field("rounding_mode", FieldKind.TEXT),),
    ),
)

POWERS = (
    Spelling(
        torch=POWER, signature="input, exponent, *, out=None", build=_power, fields=(EXPONENT,)
    ),
    Spelling(torch=POWER, signature="input, exponent, *, out=None", build=_pow, operands=BASE),
    pair(("Tensor.__rpow__",), _reversed_floats("pow")),
    Spelling(torch=both("square"), signature="input, *, out=None", build=_square),
    Spelling(torch=("Tensor.__pos__", *both("positive")), signature="input", build=_identity),
)

SPELLINGS = (*REVERSED, *DIVISIONS, *POWERS)
