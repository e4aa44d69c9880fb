"""Python numbers as the dtype that an op computes in holds them."""

import math
import struct

from astjit.ir.function import Node
from astjit.ir.value import Literal
from astjit.ops.rules import promoted
from astjit.ops.spec import Call
from astjit.types.dtype import BF16, F16, F64, Category, DType
from astjit.types.tensor import TensorType


def converted(value: float, dtype: DType) -> Literal:
    """The number converted as eager does, written as the shortest one that means the same.

    before: 0.1 for f32      after: 0.1, whose nearest f32 is what is meant
    before: 300 for i8       after: 44
    """
    match dtype.category:
        case Category.BOOL:
            return Literal(bool(value))
        case Category.INTEGER:
            return Literal(_wrapped(int(value), dtype))
    number = float(value)
    if dtype is F64 or not math.isfinite(number) or number == 0:
        return Literal(number)
    if dtype is BF16:
        number = _bfloat16(number)
    elif dtype is F16:
        number = _packed(number, "e")
    return Literal(_shortest(number))


def narrow(piece: Node, call: Call, at: int) -> DType | None:
    """The 16-bit type that a wider operand is rounded to first, where eager does so.

    Of `wide_numbers` rows eager takes the last operand as it is, but a 0-d tensor before it
    rounded.
    """
    if len(call.types) < 2:
        return None
    first = at == 0 and isinstance(call.types[0], TensorType)
    if piece.op.wide_numbers and not first:
        return None
    dtype = promoted(call)
    return dtype if dtype.is_half else None


def _wrapped(value: int, dtype: DType) -> int:
    value &= (1 << dtype.bits) - 1
    return value - (1 << dtype.bits) if dtype.signed and value >> (dtype.bits - 1) else value


def _packed(number: float, code: str) -> float:
    try:
        return float(struct.unpack(code, struct.pack(code, number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)


def _bfloat16(number: float) -> float:
    """Rounded to f32 and then to the upper 16 bits of it, ties to even."""
    single = _packed(number, "f")
    if not math.isfinite(single):
        return single
    (bits,) = struct.unpack("I", struct.pack("f", single))
    bits += 0x7FFF + (bits >> 16 & 1)
    return float(struct.unpack("f", struct.pack("I", bits & 0xFFFF0000))[0])


def _shortest(number: float) -> float:
    """The decimal of fewest digits whose nearest f32 is that of `number`."""
    single = _packed(number, "f")
    if not math.isfinite(single) or single == 0:
        return math.copysign(single, number)
    for digits in range(1, 10):
        candidate = float(f"{single:.{digits}g}")
        if _packed(candidate, "f") == single:
            return candidate
    return single
