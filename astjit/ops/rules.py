"""Type rules, shared by many rows, each with the shapes that try it.

A rule says what torch would: which dtypes an op takes, in which it computes, what comes out. The
layout of the result is astjit/ops/layout.py's.
"""

from collections.abc import Callable

from astjit.ops.layout import elementwise_type
from astjit.ops.spec import Call, Rule
from astjit.types.dtype import BOOL, I64, Category, DType, promote
from astjit.types.tensor import ScalarType, TensorType, Type


def promoted(call: Call) -> DType:
    """torch.result_type of the operands."""
    tensors, zero_dim, weak = [], [], []
    for kind in call.types:
        match kind:
            case TensorType(dims=()):
                zero_dim.append(kind.dtype)
            case TensorType():
                tensors.append(kind.dtype)
            case ScalarType():
                weak.append(kind.category)
    return promote(tuple(tensors), tuple(zero_dim), tuple(weak), call.default)


def all_scalars(call: Call) -> bool:
    """True when every operand is a Python number: then so is the result."""
    return all(isinstance(kind, ScalarType) for kind in call.types)


def float_of(call: Call) -> DType:
    """The promoted type, or the default float type where that is no float."""
    dtype = promoted(call)
    return dtype if dtype.is_float else call.default


def _as_int(dtype: DType) -> DType:
    """Python's arithmetic on two bools gives an int."""
    return I64 if dtype is BOOL else dtype


def _rule(
    result: Callable[[Call], DType],
    computes: Callable[[Call], DType],
    samples: tuple[tuple[str, ...], ...],
    takes: Callable[[DType], bool] = lambda dtype: True,
    scalar: Callable[[DType], DType] = lambda dtype: dtype,
    *,
    bools: bool = True,
    numbers: bool = True,
) -> Rule:
    """An elementwise rule.

    Args:
        result: the dtype of the result.
        computes: the dtype to which every operand is converted.
        samples: as in Rule.
        takes: which promoted dtypes torch accepts.
        scalar: from the tensor rule's dtype to the category of a result of Python numbers alone.
        bools: whether torch accepts a bool beside an operand of another dtype.
        numbers: whether torch accepts Python numbers.
    """

    def infer(call: Call) -> tuple[Type, ...]:
        if all_scalars(call):
            return (ScalarType(scalar(result(call)).category),)
        if not takes(promoted(call)):
            raise TypeError(f"not implemented for {promoted(call)}")
        if not bools and any(_is_bool(kind) for kind in call.types):
            raise TypeError("not implemented for bool")
        if not numbers and any(isinstance(kind, ScalarType) for kind in call.types):
            raise TypeError("not implemented for Python numbers")
        return (elementwise_type(call, result(call)),)

    def compute(call: Call) -> tuple[DType, ...]:
        return (computes(call).compute,) * len(call.types)

    return Rule(infer, compute, samples)


def _is_bool(kind: Type | None) -> bool:
    if isinstance(kind, ScalarType):
        return kind.category is Category.BOOL
    return isinstance(kind, TensorType) and kind.dtype is BOOL


def _bool(call: Call) -> DType:
    return BOOL


def _not_bool(dtype: DType) -> bool:
    return dtype is not BOOL


def _is_wide(dtype: DType) -> bool:
    return dtype.is_float and not dtype.is_half


def _whole(dtype: DType) -> bool:
    return not dtype.is_float


def _infer_where(call: Call) -> tuple[Type, ...]:
    condition = call.types[0]
    if isinstance(condition, TensorType) and condition.dtype is not BOOL:
        raise TypeError(f"where: the condition must be bool, not {condition.dtype}")
    rest = Call(call.types[1:], call.fields, call.sizes, call.default)
    if all_scalars(call):
        return (ScalarType(promoted(rest).category),)
    return (elementwise_type(call, promoted(rest)),)


def _compute_where(call: Call) -> tuple[DType, ...]:
    rest = Call(call.types[1:], call.fields, call.sizes, call.default)
    dtype = promoted(rest).compute
    return (BOOL, dtype, dtype)


def _infer_cast(call: Call) -> tuple[Type, ...]:
    dtype = call.dtype("dtype")
    assert dtype is not None
    return (elementwise_type(call, dtype),)  # of a Python number, in a kernel body: one element


def _compute_cast(call: Call) -> tuple[DType, ...]:
    if (wanted := call.fields.get("dtype")) is not None and all_scalars(call):
        assert isinstance(wanted, DType)
        return (wanted.compute,)  # a number that is written as a value of that type
    return (call.tensor(0).dtype.compute,)


def _infer_contiguous(call: Call) -> tuple[Type, ...]:
    return same(call)


PAIR = (
    ("f32[3, 4]", "f32[3, 4]"),
    ("f32[3, 1]", "f32[4]"),
    ("f32[0, 4]", "f32[4]"),
    ("f32[]", "f32[]"),
    ("bf16[5]", "f32[5]"),
    ("f16[5]", "bf16[5]"),
    ("f32[2, 3]", "f64[]"),
    ("f32[2, 3, 4] order(2,0,1)", "f32[3, 1]"),
    ("f32[2, 3] order(1,0)", "f32[2, 3] order(1,0)"),
    ("f32[2, 3] order(1,0)", "f32[2, 3]"),
    ("bf16[2, 3]", "float"),
)
SINGLE = (
    ("f32[3, 4]",),
    ("f32[0]",),
    ("f32[]",),
    ("f64[5]",),
    ("bf16[7]",),
    ("f16[7]",),
    ("f32[2, 3] order(1,0)",),
    ("f32[2, 1, 3] order(2,1,0)",),
    ("f32[4, 3] strides(6,2)",),
    ("f32[4, 3] strides(0,1)",),
)
INTEGER_PAIR = (
    ("i32[3, 4]", "i32[4]"),
    ("i64[3]", "i32[3]"),
    ("u8[3]", "i8[3]"),
    ("i32[3]", "i64[]"),
    ("i32[5]", "int"),
)
MIXED_PAIR = (("i32[5]", "f16[]"), ("i64[5]", "float"), ("u8[2, 3]", "f32[3]"))
BOOL_PAIR = (("bool[3, 4]", "bool[4]"), ("bool[3]", "i32[3]"), ("bool[3]", "int"))
INTEGER, BOOLEAN = (("i32[3, 4]",), ("i64[]",), ("u8[5]",)), (("bool[4]",),)

ANY_PAIR = PAIR + INTEGER_PAIR + MIXED_PAIR + BOOL_PAIR
# torch.result_type of the operands
PROMOTE = _rule(promoted, promoted, ANY_PAIR, scalar=_as_int)
PROMOTE_ONE = _rule(promoted, promoted, SINGLE + INTEGER + BOOLEAN, scalar=_as_int)
# the same, where torch refuses bool
NUMERIC = _rule(
    promoted, promoted, PAIR + INTEGER_PAIR + MIXED_PAIR, _not_bool, _as_int, bools=False
)
NUMERIC_ONE = _rule(promoted, promoted, SINGLE + INTEGER, _not_bool, _as_int)
# integers and bool become the default float
FLOAT = _rule(float_of, float_of, ANY_PAIR)
FLOAT_ONE = _rule(float_of, float_of, SINGLE + INTEGER + BOOLEAN)
# floats, or integers with floats
FLOATING = _rule(promoted, promoted, PAIR + MIXED_PAIR[:2], lambda dtype: dtype.is_float)
# float32 and float64 only
WIDE = _rule(promoted, promoted, (("f32[3, 4]", "f32[4]"), ("f64[3]", "f64[3]")), _is_wide)
# the same, where torch takes tensors only
FLOATING_TENSORS = _rule(
    promoted,
    promoted,
    (*PAIR[:-1], *MIXED_PAIR[2:]),
    lambda dtype: dtype.is_float,
    numbers=False,
)
FUSED = _rule(
    promoted,
    promoted,
    (("f32[3, 4]", "f32[4]", "f32[3, 1]"), ("bf16[5]", "float", "bf16[5]"), ("f64[3]",) * 3),
    lambda dtype: dtype.is_float,
)
FLOATING_ONE = _rule(promoted, promoted, SINGLE, lambda dtype: dtype.is_float)
# operands promoted, the result is bool
COMPARE = _rule(_bool, promoted, ANY_PAIR)
# operands become bool (not 0), the result is bool
LOGICAL = _rule(_bool, _bool, tuple(s for s in ANY_PAIR if s[1] not in ("int", "float")))
LOGICAL_ONE = _rule(_bool, _bool, SINGLE + INTEGER + BOOLEAN)
# integers and bool only
BITWISE = _rule(promoted, promoted, INTEGER_PAIR + BOOL_PAIR, _whole)
BITWISE_ONE = _rule(promoted, promoted, INTEGER + BOOLEAN, _whole)
# integers, one tensor at least
WHOLE = _rule(
    promoted,
    promoted,
    (*INTEGER_PAIR, ("i16[4]", "i16[4]"), ("i64[3, 4]", "int")),
    lambda dtype: dtype is not BOOL and not dtype.is_float,
    bools=False,
)
# questions about a float: integers become floats first
# a question about numbers
ASK = _rule(_bool, promoted, SINGLE + INTEGER, _not_bool)
CLASSIFY = _rule(_bool, float_of, SINGLE + INTEGER + BOOLEAN)
WHERE = Rule(
    _infer_where,
    _compute_where,
    (
        ("bool[3, 4]", "f32[4]", "f32[3, 1]"),
        ("bool[3]", "i32[3]", "f32[]"),
        ("bool[3]", "bf16[3]", "float"),
        ("bool[3]", "int", "i64[3]"),
        ("bool[]", "f32[2]", "f64[2]"),
        ("bool[2, 3] order(1,0)", "f32[2, 3] order(1,0)", "f32[2, 3] order(1,0)"),
    ),
)
CAST = Rule(_infer_cast, _compute_cast, SINGLE + INTEGER + BOOLEAN)
CONTIGUOUS = Rule(_infer_contiguous, _compute_cast, SINGLE + INTEGER + BOOLEAN)


def normal_axis(axis: int, rank: int) -> int:
    """An axis counted from 0.

    Raises:
        IndexError: for an axis out of range.
    """
    limit = max(rank, 1)
    if not -limit <= axis < limit:
        raise IndexError(f"dimension out of range (expected [{-limit}, {limit - 1}], got {axis})")
    return axis % limit


def normal_axes(dims: tuple[int, ...] | None, rank: int) -> tuple[int, ...]:
    """Axes counted from 0, sorted; all of them for None or ().

    Raises:
        IndexError: for an axis out of range.
        ValueError: for an axis given twice.
    """
    if not dims:
        return tuple(range(rank))
    result = [normal_axis(axis, rank) for axis in dims]
    if len(set(result)) != len(result):
        raise ValueError(f"axis given twice in {dims}")
    return tuple(sorted(result)) if rank else ()


def reduced_type(
    source: TensorType, axes: tuple[int, ...], keepdim: bool, dtype: DType
) -> TensorType:
    """The type of a reduction's result, contiguous: reduced sizes are 1, or gone."""
    dims = tuple(1 if a in axes else d for a, d in enumerate(source.dims))
    if not keepdim:
        dims = tuple(d for a, d in enumerate(source.dims) if a not in axes)
    return source.with_(dtype=dtype, dims=dims)


def _reduction(call: Call, dtype: DType) -> tuple[Type, ...]:
    source = call.tensor(0)
    axes = normal_axes(call.axes("dim"), source.rank)
    return (reduced_type(source, axes, call.flag("keepdim"), dtype),)


def _infer_sum(call: Call) -> tuple[Type, ...]:
    source = call.tensor(0)
    given = call.dtype("dtype")
    return _reduction(call, given or (source.dtype if source.dtype.is_float else I64))


def _infer_reduce_float(call: Call) -> tuple[Type, ...]:
    given = call.dtype("dtype") if "dtype" in call.fields else None
    dtype = given or call.tensor(0).dtype
    if not dtype.is_float:
        raise TypeError(f"could not infer output dtype: the input must be floating, not {dtype}")
    return _reduction(call, dtype)


def _infer_extreme(call: Call) -> tuple[Type, ...]:
    source = call.tensor(0)
    for axis in normal_axes(call.axes("dim"), source.rank):
        size = source.dims[axis]
        # of a symbol only capture can tell; what it finds becomes a guard
        if size == 0 or (call.sizes.hints and call.sizes.holds("==", size, 0)):
            raise IndexError("reduction over a dim of size 0 has no identity")
    return _reduction(call, source.dtype)


def _infer_truth(call: Call) -> tuple[Type, ...]:
    if call.tensor(0).dtype.category is not Category.BOOL:
        raise TypeError(f"expected bool, not {call.tensor(0).dtype}")
    return _reduction(call, BOOL)


def _infer_var_mean(call: Call) -> tuple[Type, ...]:
    return _infer_reduce_float(call) * 2


REDUCED = (
    ("f32[3, 4]",),
    ("f32[2, 3, 5]",),
    ("f64[4]",),
    ("bf16[3, 33]",),
    ("f16[3, 33]",),
    ("f32[2, 3, 5] order(2,0,1)",),
    ("f32[1, 4]",),
)
SUM = Rule(_infer_sum, None, (*REDUCED, *INTEGER, ("bool[3, 4]",), ("f32[0, 4]",)))
MEAN = Rule(_infer_reduce_float, None, (*REDUCED, ("f32[0, 4]",)))
VARIANCE = MEAN
EXTREME = Rule(_infer_extreme, None, (*REDUCED, *INTEGER, ("bool[3, 4]",)))
TRUTH = Rule(_infer_truth, None, (("bool[3, 4]",), ("bool[]",), ("bool[0, 4]",)))
VAR_MEAN = Rule(_infer_var_mean, None, REDUCED)


def same(call: Call) -> tuple[Type, ...]:
    """The first operand's dtype and sizes, contiguous."""
    source = call.tensor(0)
    return (source.with_(dims=source.dims),)
