"""Type and layout rules, shared by many rows, each with the shapes that try it.

Layouts are those eager gives (decision D5): elementwise results follow TensorIterator, reductions
and composites are documented at their rule.
"""

from astjit.ops.spec import Call, Rule
from astjit.types.dtype import BOOL, I64, Category, DType, promote
from astjit.types.shape import Dim, Undecided, broadcast, multiple
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


def device_of(call: Call) -> str:
    """The device of the result: that of the tensors; a 0-d CPU tensor goes with any device.

    Raises:
        TypeError: if tensors with dims lie on two devices.
    """
    devices = {k.device for k in call.types if isinstance(k, TensorType) and (k.dims or k.device != "cpu")}
    if len(devices) > 1:
        raise TypeError(f"operands are on different devices: {', '.join(sorted(devices))}")
    return devices.pop() if devices else "cpu"


def elementwise_type(call: Call, dtype: DType) -> TensorType:
    """The broadcast type with TensorIterator's layout.

    Operands that are all contiguous, or all of one dense layout and size, keep it. Otherwise the
    axes are sorted by the operands' strides, as in ATen's TensorIterator::reorder_dimensions.
    """
    operands = [k for k in call.types if isinstance(k, TensorType)]
    dims = broadcast(call.sizes, *(k.dims for k in operands))
    device = device_of(call)
    full = [k for k in operands if k.rank == len(dims) and k.dims == dims]
    if len(full) == len(operands) and full and full[0].order is not None:
        if all(k.is_contiguous for k in full):
            return TensorType(dtype, dims, device=device)
        if all(k.order == full[0].order for k in full):
            return TensorType(dtype, dims, full[0].order, None, device)
    return TensorType(dtype, dims, iterator_order(call, operands, dims), None, device)


def iterator_order(call: Call, operands: list[TensorType], dims: tuple[Dim, ...]) -> tuple[int, ...]:
    """Axes outermost first, as TensorIterator::reorder_dimensions of ATen sorts them.

    Insertion sort from the innermost axis outwards; two axes are compared by the first operand
    whose strides for both are not 0 and differ; ties go by size.
    """
    rank = len(dims)
    strides = [_aligned_strides(k, dims) for k in operands]
    perm = list(range(rank - 1, -1, -1))  # innermost first

    def compare(inner: int, outer: int) -> int:
        for s in strides:
            a, b = s[inner], s[outer]
            if a == 0 or b == 0:
                continue
            if a == b:
                if _more(call, dims[inner], dims[outer]):
                    return 1
                continue
            return 1 if _more(call, a, b) else -1
        return 0

    for i in range(1, rank):
        here = i
        for other in range(i - 1, -1, -1):
            order = compare(perm[other], perm[here])
            if order > 0:
                perm[other], perm[here] = perm[here], perm[other]
                here = other
            elif order < 0:
                break
    return tuple(reversed(perm))


def _more(call: Call, a: Dim, b: Dim) -> bool:
    """Whether a > b; strides of one tensor are multiples of each other, which needs no guard."""
    if a == b:
        return False
    if multiple(a, b):
        return True
    if multiple(b, a):
        return False
    try:
        return call.sizes.holds("<", b, a)
    except Undecided:
        return len(str(a)) > len(str(b))


def _aligned_strides(kind: TensorType, dims: tuple[Dim, ...]) -> list[Dim]:
    own = kind.element_strides()
    pad = len(dims) - kind.rank
    return [0] * pad + [0 if k == 1 and d != 1 else s for k, d, s in zip(kind.dims, dims[pad:], own, strict=True)]


def _scalar_or(call: Call, dtype: DType) -> tuple[Type, ...]:
    if all_scalars(call):
        return (ScalarType(dtype.category),)
    return (elementwise_type(call, dtype),)


def _infer_promote(call: Call) -> tuple[Type, ...]:
    return _scalar_or(call, promoted(call))


def _compute_promote(call: Call) -> tuple[DType, ...]:
    return (promoted(call).compute,) * len(call.types)


def _float_of(call: Call) -> DType:
    dtype = promoted(call)
    return dtype if dtype.is_float else call.default


def _infer_float(call: Call) -> tuple[Type, ...]:
    return _scalar_or(call, _float_of(call))


def _compute_float(call: Call) -> tuple[DType, ...]:
    return (_float_of(call).compute,) * len(call.types)


def _infer_compare(call: Call) -> tuple[Type, ...]:
    return _scalar_or(call, BOOL)


def _infer_where(call: Call) -> tuple[Type, ...]:
    condition = call.types[0]
    if isinstance(condition, TensorType) and condition.dtype is not BOOL:
        raise TypeError(f"where: the condition must be bool, not {condition.dtype}")
    rest = Call(call.types[1:], call.fields, call.sizes, call.default)
    return _scalar_or(call, promoted(rest))


def _compute_where(call: Call) -> tuple[DType, ...]:
    rest = Call(call.types[1:], call.fields, call.sizes, call.default)
    dtype = promoted(rest).compute
    return (BOOL, dtype, dtype)


def _infer_cast(call: Call) -> tuple[Type, ...]:
    dtype = call.dtype("dtype")
    assert dtype is not None
    return (elementwise_type(call, dtype),)


def _compute_same(call: Call) -> tuple[DType, ...]:
    return (call.tensor(0).dtype.compute,)


PAIR = (
    ("f32[3, 4]", "f32[3, 4]"),
    ("f32[3, 1]", "f32[4]"),
    ("f32[0, 4]", "f32[4]"),
    ("bf16[5]", "f32[5]"),
    ("i32[5]", "f16[]"),
)
SINGLE = (("f32[3, 4]",), ("f32[0]",), ("f32[]",), ("bf16[7]",), ("f32[2, 3] order(1,0)",))

PROMOTE = Rule(_infer_promote, _compute_promote, PAIR)  # torch.result_type of the operands
PROMOTE_ONE = Rule(_infer_promote, _compute_promote, SINGLE)
FLOAT = Rule(_infer_float, _compute_float, PAIR)  # as PROMOTE, integers become the default float
FLOAT_ONE = Rule(_infer_float, _compute_float, SINGLE)
COMPARE = Rule(_infer_compare, _compute_promote, PAIR)  # operands promoted, result bool
WHERE = Rule(_infer_where, _compute_where, (("bool[3, 4]", "f32[4]", "f32[3, 1]"),))
CAST = Rule(_infer_cast, _compute_same, SINGLE)


def normal_axes(dims: tuple[int, ...] | None, rank: int) -> tuple[int, ...]:
    """Axes counted from 0, sorted; all of them for None or ().

    Raises:
        IndexError: for an axis out of range.
        ValueError: for an axis given twice.
    """
    if not dims:
        return tuple(range(rank))
    result = []
    for axis in dims:
        limit = max(rank, 1)
        if not -limit <= axis < limit:
            raise IndexError(f"dimension out of range (expected [{-limit}, {limit - 1}], got {axis})")
        result.append(axis % limit)
    if len(set(result)) != len(result):
        raise ValueError(f"axis given twice in {dims}")
    return tuple(sorted(result)) if rank else ()


def reduced_type(source: TensorType, axes: tuple[int, ...], keepdim: bool, dtype: DType) -> TensorType:
    """The type of a reduction's result: reduced sizes 1 or gone, the other axes in the input's order."""
    dims = tuple(1 if a in axes else d for a, d in enumerate(source.dims))
    order = source.order or _stride_order(source)
    if keepdim:
        return TensorType(dtype, dims, order, None, source.device)
    kept = [a for a in range(source.rank) if a not in axes]
    position = {a: i for i, a in enumerate(kept)}
    return TensorType(
        dtype,
        tuple(source.dims[a] for a in kept),
        tuple(position[a] for a in order if a in position),
        None,
        source.device,
    )


def _stride_order(kind: TensorType) -> tuple[int, ...]:
    assert kind.strides is not None
    numbers = kind.strides

    def weight(axis: int) -> tuple[int, int]:
        stride = numbers[axis]
        return (stride if isinstance(stride, int) else len(str(stride)) * 1000, -axis)

    return tuple(sorted(range(kind.rank), key=weight, reverse=True))


def _infer_sum(call: Call) -> tuple[Type, ...]:
    source = call.tensor(0)
    dtype = call.dtype("dtype")
    if dtype is None:
        dtype = I64 if source.dtype.category is not Category.FLOAT else source.dtype
    axes = normal_axes(call.axes("dim"), source.rank)
    return (reduced_type(source, axes, call.flag("keepdim"), dtype),)


def _infer_reduce_float(call: Call) -> tuple[Type, ...]:
    source = call.tensor(0)
    dtype = call.dtype("dtype") if "dtype" in call.fields else None
    dtype = dtype or source.dtype
    if not dtype.is_float:
        raise TypeError(f"could not infer output dtype: the input must be floating, not {dtype}")
    axes = normal_axes(call.axes("dim"), source.rank)
    return (reduced_type(source, axes, call.flag("keepdim"), dtype),)


def _infer_extreme(call: Call) -> tuple[Type, ...]:
    source = call.tensor(0)
    axes = normal_axes(call.axes("dim"), source.rank)
    for axis in axes:
        if source.dims[axis] == 0:
            raise IndexError("reduction over a dim of size 0 has no identity")
    return (reduced_type(source, axes, call.flag("keepdim"), source.dtype),)


def _infer_var_mean(call: Call) -> tuple[Type, ...]:
    return _infer_reduce_float(call) * 2


REDUCED = (("f32[3, 4]",), ("f32[2, 3, 5]",), ("bf16[3, 33]",))
SUM = Rule(_infer_sum, None, REDUCED)
MEAN = Rule(_infer_reduce_float, None, REDUCED)
EXTREME = Rule(_infer_extreme, None, REDUCED)
VAR_MEAN = Rule(_infer_var_mean, None, REDUCED)


def same(call: Call) -> tuple[Type, ...]:
    """The first operand's dtype and sizes, contiguous."""
    source = call.tensor(0)
    return (source.with_(dims=source.dims),)
