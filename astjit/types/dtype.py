"""Element types and PyTorch's type promotion, without importing torch.

promote: (i64 tensor, f16 0-d tensor) => f16;  (f32 tensor, 2.5) => f32;  (i64 tensor, 2.5) => f32
"""

from dataclasses import dataclass
from enum import IntEnum


class Category(IntEnum):
    """PyTorch's categories, in the order in which a higher one wins promotion."""

    BOOL = 0
    INTEGER = 1
    FLOAT = 2


@dataclass(frozen=True, slots=True)
class DType:
    """An element type.

    Attributes:
        name: as printed in SSA text, such as "bf16".
        category: bool, integer or float.
        bits: storage size.
        torch: the attribute of the torch module that names it, such as "bfloat16".
        signed: False only for u8 and bool.
    """

    name: str
    category: Category
    bits: int
    torch: str
    signed: bool = True

    def __str__(self) -> str:
        return self.name

    @property
    def itemsize(self) -> int:
        """Bytes of one element in memory."""
        return max(1, self.bits // 8)

    @property
    def is_float(self) -> bool:
        """True for the floating types."""
        return self.category is Category.FLOAT

    @property
    def is_half(self) -> bool:
        """True for the 16-bit floats: stored as they are, computed in f32, then rounded."""
        return self.is_float and self.bits == 16

    @property
    def compute(self) -> "DType":
        """The type arithmetic is done in: f32 for the 16-bit floats, itself otherwise."""
        return F32 if self.is_half else self


BOOL = DType("bool", Category.BOOL, 8, "bool", signed=False)
U8 = DType("u8", Category.INTEGER, 8, "uint8", signed=False)
I8 = DType("i8", Category.INTEGER, 8, "int8")
I16 = DType("i16", Category.INTEGER, 16, "int16")
I32 = DType("i32", Category.INTEGER, 32, "int32")
I64 = DType("i64", Category.INTEGER, 64, "int64")
F16 = DType("f16", Category.FLOAT, 16, "float16")
BF16 = DType("bf16", Category.FLOAT, 16, "bfloat16")
F32 = DType("f32", Category.FLOAT, 32, "float32")
F64 = DType("f64", Category.FLOAT, 64, "float64")

DTYPES = (BOOL, U8, I8, I16, I32, I64, F16, BF16, F32, F64)
BY_NAME = {d.name: d for d in DTYPES}
BY_TORCH = {d.torch: d for d in DTYPES}


def _join(a: DType | None, b: DType | None) -> DType | None:
    """The smallest type that holds both, for operands of one priority."""
    if a is None or b is None or a == b:
        return a or b
    if a.category != b.category:
        return a if a.category > b.category else b
    if a.category is Category.FLOAT and a.bits == b.bits:
        return F32  # f16 with bf16
    if a.category is Category.INTEGER and a.signed != b.signed:
        wide = a if a.signed else b  # u8 with a signed type: one that holds both
        return I16 if wide.bits == 8 else wide
    return a if a.bits > b.bits else b


def promote(
    tensors: tuple[DType, ...],
    zero_dim: tuple[DType, ...] = (),
    weak: tuple[Category, ...] = (),
    default: DType = F32,
) -> DType:
    """The result type of an operation, by torch.result_type's rule.

    Args:
        tensors: types of operands with one or more dims.
        zero_dim: types of 0-d tensors; they count only if their category is higher.
        weak: categories of Python numbers; they count only if theirs is higher still.
        default: torch's default float type, taken when only a Python float is a float.

    Raises:
        ValueError: if there is no operand at all.
    """
    result: DType | None = None
    for dtype in tensors:
        result = _join(result, dtype)
    scalar: DType | None = None
    for dtype in zero_dim:
        scalar = _join(scalar, dtype)
    if scalar is not None and (result is None or scalar.category > result.category):
        result = scalar
    if weak:
        highest = max(weak)
        if result is None or highest > result.category:
            result = {Category.BOOL: BOOL, Category.INTEGER: I64, Category.FLOAT: default}[highest]
    if result is None:
        raise ValueError("promotion needs at least one operand")
    return result
