"""Which Python numbers a dtype holds: eager refuses those that overflow, in some functions."""

from astjit.ops.spec import Ref, is_tensor, type_of
from astjit.types.dtype import BF16, BOOL, F16, F32, F64, I64, Category, DType
from astjit.types.tensor import ScalarType

LARGEST = {
    F16: 65504.0,
    BF16: 3.3895313892515355e38,
    F32: 3.4028234663852886e38,
    F64: 1.7976931348623157e308,
}


def held(value: Ref | float | None, dtype: DType) -> bool:
    """Whether eager converts `value` to `dtype` without an error, as far as can be told.

    A number known at run time only is taken to fit the dtypes that are as wide as most numbers.
    """
    if value is None or is_tensor(type_of(value)):
        return True
    if isinstance(value, bool) or dtype.category is Category.BOOL:
        return True
    if isinstance(value, int | float):
        return _float_held(float(value), dtype) if dtype.is_float else _int_held(value, dtype)
    kind = type_of(value)
    assert isinstance(kind, ScalarType)
    return dtype in (BF16, F32, F64) or (dtype is I64 and kind.category is not Category.FLOAT)


def includes(dtype: DType, other: DType) -> bool:
    """Whether every number that `other` holds is within the range of `dtype`."""
    if other is BOOL:
        return True
    if dtype.is_float:
        return LARGEST[dtype] >= (LARGEST[other] if other.is_float else 2.0**other.bits)
    if other.is_float or dtype is BOOL:
        return False
    return dtype is other or (dtype.bits > other.bits and dtype.signed)


def _float_held(value: float, dtype: DType) -> bool:
    return not abs(value) < float("inf") or abs(value) <= LARGEST[dtype]


def _int_held(value: float, dtype: DType) -> bool:
    """A negative number wraps in an unsigned dtype; a fraction is cut off."""
    top = (1 << (dtype.bits - dtype.signed)) - 1
    low = -top - 1 if dtype.signed else -top
    return low <= value <= top
