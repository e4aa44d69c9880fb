"""Layouts that eager gives (decision D5): of elementwise results and of views."""

from astjit.ops.spec import Call
from astjit.types.dtype import DType
from astjit.types.shape import (
    Dim,
    Expr,
    Sizes,
    Undecided,
    broadcast,
    cancelled,
    mul,
    multiple,
    product,
    quotient,
)
from astjit.types.tensor import TensorType


def device_of(call: Call) -> str:
    """The device of the result: that of the tensors; a 0-d CPU tensor goes with any device.

    Raises:
        TypeError: if tensors with dims lie on two devices.
    """
    tensors = [k for k in call.types if isinstance(k, TensorType)]
    devices = {k.device for k in tensors if k.dims or k.device != "cpu"}
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
    return TensorType(dtype, dims, iterator_order(call.sizes, operands, dims), None, device)


def iterator_order(
    sizes: Sizes, operands: list[TensorType], dims: tuple[Dim, ...]
) -> tuple[int, ...]:
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
                if _more(sizes, dims[inner], dims[outer]):
                    return 1
                continue
            return 1 if _more(sizes, a, b) else -1
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


def _more(sizes: Sizes, a: Dim, b: Dim) -> bool:
    """Whether a > b; strides of one tensor are multiples of each other, which needs no guard."""
    if a == b:
        return False
    if isinstance(a, int) and isinstance(b, int):
        return a > b
    if multiple(a, b):
        return True
    if multiple(b, a):
        return False
    try:
        return sizes.holds("<", b, a)
    except Undecided:
        return len(str(a)) > len(str(b))


def _aligned_strides(kind: TensorType, dims: tuple[Dim, ...]) -> list[Dim]:
    own = zip(kind.dims, dims[len(dims) - kind.rank :], kind.element_strides(), strict=True)
    return [0] * (len(dims) - kind.rank) + [0 if k == 1 and d != 1 else s for k, d, s in own]


def dense_or_strided(
    source: TensorType, dims: tuple[Dim, ...], strides: tuple[Dim, ...]
) -> TensorType:
    """The type of a view; recognised as dense when some order of the axes makes it so.

    Without elements it is contiguous, whatever its strides, as in torch.
    """
    if 0 in dims:
        return TensorType(source.dtype, dims, device=source.device)
    running: Dim = 1
    left = [a for a in range(len(dims)) if dims[a] != 1]
    order: list[int] = []
    while left:
        inner = next((a for a in reversed(left) if strides[a] == running), None)
        if inner is None:
            return TensorType(source.dtype, dims, None, strides, source.device)
        order.insert(0, inner)
        running = mul(running, dims[inner])
        left.remove(inner)
    for axis in range(len(dims)):
        if dims[axis] == 1:
            order.insert(axis, axis)
    return TensorType(source.dtype, dims, tuple(order), None, source.device)


def contiguous(sizes: Sizes, kind: TensorType) -> bool:
    """Whether a tensor is contiguous in torch's sense, where that depends on sizes as a fact.

    Strides that its type does not show as dense are so for some sizes: `x[:, :4]` of 4 columns.
    """
    if kind.is_contiguous or sizes.equal(kind.numel, 0):
        return True
    if kind.order is not None:
        return False
    running: Dim = 1
    for size, stride in zip(reversed(kind.dims), reversed(kind.element_strides()), strict=True):
        if size != 1 and not _same_size(sizes, stride, running):
            return False
        running = mul(running, size)
    return True


def settled(sizes: Sizes, wanted: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """The sizes that a shape asks for: none is negative but -1, which may be so by a fact.

    Raises:
        ValueError: for another negative size.
    """
    found = tuple(-1 if _below_zero(sizes, size) else size for size in wanted)
    for size, asked in zip(found, wanted, strict=True):
        if size == -1 and not _same_size(sizes, asked, -1):
            raise ValueError(f"invalid shape dimension {asked}")
    return found


def _below_zero(sizes: Sizes, size: Dim) -> bool:
    return size < 0 if isinstance(size, int) else sizes.holds("<", size, 0)


def resolved_shape(sizes: Sizes, numel: Dim, wanted: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """The sizes of a reshape with -1 worked out.

    Raises:
        ValueError: if the number of elements does not fit.
    """
    wanted = tuple(_one_or_size(sizes, size) for size in wanted)
    shown = f"shape [{', '.join(map(str, wanted))}] is invalid for input of size {numel}"
    wanted = settled(sizes, wanted)
    open_axes = [a for a, size in enumerate(wanted) if size == -1]
    if len(open_axes) > 1:
        raise ValueError("only one dimension can be inferred")
    if not open_axes:
        if not _as_many(sizes, product(wanted), numel):
            raise ValueError(shown)
        return wanted
    known = product(size for size in wanted if size != -1)
    if known == 0 or not sizes.holds("!=", known, 0):
        raise ValueError(f"cannot infer -1: {shown}")
    numel, known = cancelled(sizes.simplest(numel), sizes.simplest(known))
    rest = quotient(numel, known)
    if rest is None or not _same_size(sizes, mul(rest, known), numel):
        raise ValueError(shown)
    rest = _one_or_size(sizes, rest)
    return tuple(rest if size == -1 else size for size in wanted)


def _as_many(sizes: Sizes, a: Dim, b: Dim) -> bool:
    """Whether two products are equal, asked of what they do not share: that says more.

    Where what they share is 0 they may be equal without it.
    """
    rest = cancelled(a, b)
    return _same_size(sizes, *rest) or (rest != (a, b) and _same_size(sizes, a, b))


def _one_or_size(sizes: Sizes, size: Dim) -> Dim:
    """The literal 1 for a computed size that is 1 (decision D1)."""
    return 1 if isinstance(size, Expr) and sizes.equal(size, 1) else size


def _same_size(sizes: Sizes, a: Dim, b: Dim) -> bool:
    return a == b or sizes.equal(a, b)


def view_strides(
    sizes: Sizes, source: TensorType, wanted: tuple[Dim, ...]
) -> tuple[Dim, ...] | None:
    """Strides with which `wanted` shows the same memory, or None where only a copy can.

    As ATen's computeStride: the source's axes fall into runs that lie densely in memory, and every
    run must be a product of whole axes of the result.
    """
    if source.is_contiguous:
        return TensorType(source.dtype, wanted).element_strides()
    runs = [(size, stride) for size, stride in _runs(sizes, source) if size != 1]
    strides: list[Dim] = []
    axes = list(wanted)
    for size, stride in reversed(runs):
        covered: Dim = 1
        while axes and (axes[-1] == 1 or not _same_size(sizes, covered, size)):
            strides.insert(0, mul(stride, covered))
            covered = mul(covered, axes.pop())
            if isinstance(covered, int) and isinstance(size, int) and covered > size:
                return None
        if not _same_size(sizes, covered, size):
            return None
    if any(size != 1 for size in axes):
        return None
    return (1,) * len(axes) + tuple(strides)


def _runs(sizes: Sizes, source: TensorType) -> list[tuple[Dim, Dim]]:
    """(size, innermost stride) of the runs of axes that lie densely, outermost first.

    Whether the strides of a tensor that is not dense are products of its sizes becomes a guard.
    """
    runs: list[tuple[Dim, Dim]] = []
    for size, stride in zip(source.dims, source.element_strides(), strict=True):
        if size == 1:
            continue
        whole = mul(size, stride)
        asked = source.strides is not None
        if runs and (runs[-1][1] == whole or (asked and sizes.equal(runs[-1][1], whole))):
            runs[-1] = (mul(runs[-1][0], size), stride)
        else:
            runs.append((size, stride))
    return runs
