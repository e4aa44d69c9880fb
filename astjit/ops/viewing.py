"""Torch's names for views as arrangements of the view rows: indexing, splitting, reshaping."""

from typing import TypeGuard

from astjit.ops.layout import contiguous, resolved_shape, view_strides
from astjit.ops.rules import normal_axis
from astjit.ops.spec import Emitter, Field, FieldKind, Operand, Ref, Spelling, tensor_of
from astjit.types.dtype import I32, I64
from astjit.types.shape import Dim, Expr, Sym, add, floordiv, mod, mul, product
from astjit.types.tensor import TensorType

X, XY = (Operand("input"),), (Operand("input"), Operand("other"))
DIM = Field("dim", FieldKind.INT)
DIM_OF_0 = Field("dim", FieldKind.INT, 0)


def _contiguous(emit: Emitter, x: Ref) -> Ref:
    return x if contiguous(emit.sizes, tensor_of(x)) else emit.emit("contiguous", x)


def _reshape(emit: Emitter, x: Ref, *, shape: tuple[Dim, ...]) -> Ref:
    """A view where the layout allows it, else a view of a contiguous copy."""
    kind = tensor_of(x)
    dims = resolved_shape(emit.sizes, kind.numel, shape)
    if view_strides(emit.sizes, kind, dims) is None:
        x = emit.emit("contiguous", x)
    return emit.emit("view", x, shape=dims)


def _flatten(emit: Emitter, x: Ref, *, start_dim: int, end_dim: int) -> object:
    dims = tensor_of(x).dims
    if not dims:
        return _reshape(emit, x, shape=(1,))
    start, end = normal_axis(start_dim, len(dims)), normal_axis(end_dim, len(dims))
    if start > end:
        return NotImplemented
    if start == end:
        return x
    return _reshape(
        emit, x, shape=(*dims[:start], product(dims[start : end + 1]), *dims[end + 1 :])
    )


def _unflatten(emit: Emitter, x: Ref, *, dim: int, sizes: tuple[Dim, ...]) -> Ref:
    dims = tensor_of(x).dims
    axis = normal_axis(dim, len(dims))
    inner = resolved_shape(emit.sizes, dims[axis], sizes)
    return emit.emit("view", x, shape=(*dims[:axis], *inner, *dims[axis + 1 :]))


def _view_as(emit: Emitter, x: Ref, other: Ref) -> Ref:
    return emit.emit("view", x, shape=tensor_of(other).dims)


def _reshape_as(emit: Emitter, x: Ref, other: Ref) -> Ref:
    return _reshape(emit, x, shape=tensor_of(other).dims)


def _expand_as(emit: Emitter, x: Ref, other: Ref) -> Ref:
    return emit.emit("expand", x, size=tensor_of(other).dims)


def _swapped(emit: Emitter, x: Ref, a: int, b: int) -> Ref:
    rank = tensor_of(x).rank
    first, second = normal_axis(a, rank), normal_axis(b, rank)
    axes = list(range(rank))
    if rank:
        axes[first], axes[second] = second, first
    return emit.emit("permute", x, dims=tuple(axes))


def _transpose(emit: Emitter, x: Ref, *, dim0: int, dim1: int) -> Ref:
    return _swapped(emit, x, dim0, dim1)


def _swapaxes(emit: Emitter, x: Ref, *, axis0: int, axis1: int) -> Ref:
    return _swapped(emit, x, axis0, axis1)


def _t(emit: Emitter, x: Ref) -> object:
    rank = tensor_of(x).rank
    if rank > 2:
        return NotImplemented
    if rank < 2:
        return emit.emit("permute", x, dims=tuple(range(rank)))
    return _swapped(emit, x, 0, 1)


def _mt(emit: Emitter, x: Ref) -> object:
    return _swapped(emit, x, -2, -1) if tensor_of(x).rank >= 2 else NotImplemented


def _movedim(
    emit: Emitter, x: Ref, *, source: tuple[int, ...], destination: tuple[int, ...]
) -> object:
    rank = tensor_of(x).rank
    origin = [normal_axis(a, rank) for a in source]
    target = [normal_axis(a, rank) for a in destination]
    distinct = len(set(origin)) == len(set(target)) == len(origin) == len(target)
    if not distinct:
        return NotImplemented
    placed = dict(zip(target, origin, strict=True))
    rest = iter(a for a in range(rank) if a not in origin)
    axes = tuple(placed[a] if a in placed else next(rest) for a in range(rank))
    return emit.emit("permute", x, dims=axes)


def _squeeze(emit: Emitter, x: Ref, *, dim: tuple[int, ...] | None) -> Ref:
    """Without `dim`, of all axes; a size that is a symbol is never 1 (decision D1)."""
    if dim is None:
        dim = tuple(a for a, size in enumerate(tensor_of(x).dims) if size == 1)
    return emit.emit("squeeze", x, dim=dim)


def _narrow(emit: Emitter, x: Ref, *, dim: int, start: Dim, length: Dim) -> Ref:
    size = tensor_of(x).dims[normal_axis(dim, tensor_of(x).rank)]
    sizes = emit.sizes
    if sizes.holds("<", start, 0):
        start = add(start, size)
    stop = add(start, length)
    if sizes.holds("<", start, 0) or sizes.holds("<", length, 0) or sizes.holds("<", size, stop):
        raise IndexError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return emit.emit("slice", x, dim=dim, start=start, stop=stop)


def _pieces(emit: Emitter, x: Ref, dim: int, step: Dim) -> object:
    """Slices of `step` elements, the last one shorter; their number is decided by the sizes."""
    size = tensor_of(x).dims[normal_axis(dim, tensor_of(x).rank)]
    sizes = emit.sizes
    if not sizes.holds("<", 0, step):
        return NotImplemented
    pieces: list[Ref] = []
    start: Dim = 0
    last = False
    while not last:
        stop = add(start, step)
        last = not sizes.holds("<", stop, size)
        pieces.append(emit.emit("slice", x, dim=dim, start=start, stop=size if last else stop))
        start = stop
    return tuple(pieces)


def _chunk(emit: Emitter, x: Ref, *, chunks: int, dim: int) -> object:
    """Where the size divides, pieces of one size: their types are equal then."""
    size = tensor_of(x).dims[normal_axis(dim, tensor_of(x).rank)]
    sizes = emit.sizes
    if chunks <= 0 or not sizes.holds("<", 0, size):
        return NotImplemented
    if not sizes.equal(mod(size, chunks), 0):
        return _pieces(emit, x, dim, floordiv(add(size, chunks - 1), chunks))
    step = floordiv(size, chunks)
    ends = [(mul(i, step), mul(i + 1, step)) for i in range(chunks)]
    return tuple(emit.emit("slice", x, dim=dim, start=a, stop=b) for a, b in ends)


def _split(emit: Emitter, x: Ref, *, split_size: Dim, dim: int) -> object:
    return _pieces(emit, x, dim, split_size)


def _split_sizes(emit: Emitter, x: Ref, *, split_size: tuple[Dim, ...], dim: int) -> object:
    size = tensor_of(x).dims[normal_axis(dim, tensor_of(x).rank)]
    if any(emit.sizes.holds("<", length, 0) for length in split_size):
        return NotImplemented
    if not emit.sizes.equal(add(*split_size), size):
        return NotImplemented
    pieces: list[Ref] = []
    start: Dim = 0
    for length in split_size:
        stop = add(start, length)
        pieces.append(emit.emit("slice", x, dim=dim, start=start, stop=stop))
        start = stop
    return tuple(pieces)


def _unbind(emit: Emitter, x: Ref, *, dim: int) -> object:
    """One select for each index; only where the size is a plain number."""
    size = tensor_of(x).dims[normal_axis(dim, tensor_of(x).rank)]
    if not isinstance(size, int):
        return NotImplemented
    return tuple(emit.emit("select", x, dim=dim, index=i) for i in range(size))


def _getitem(emit: Emitter, x: Ref, *, index: object) -> object:
    """Ints, slices, None, `...` and one tensor of indices; anything else is a library call."""
    items = list(index) if isinstance(index, tuple) else [index]
    tensors = [item for item in items if _picks(item)]
    if not all(_basic(item) or _picks(item) for item in items) or len(tensors) > 1:
        return NotImplemented
    if tensors and any(item is None for item in items):
        return NotImplemented
    used = sum(item is not None and item is not Ellipsis for item in items)
    picks: list[tuple[int, Ref]] = []
    missing = tensor_of(x).rank - used
    if missing < 0:
        raise IndexError(f"too many indices for tensor of dimension {tensor_of(x).rank}")
    if not any(item is Ellipsis for item in items):
        items.append(Ellipsis)
    at = next(i for i, item in enumerate(items) if item is Ellipsis)
    if any(item is Ellipsis for item in items[at + 1 :]):
        return NotImplemented
    items[at : at + 1] = [slice(None)] * missing
    axis = 0
    for item in items:
        match item:
            case None:
                x = emit.emit("unsqueeze", x, dim=axis)
                axis += 1
            case slice():
                if item != slice(None):
                    step = 1 if item.step is None else item.step
                    x = emit.emit("slice", x, dim=axis, start=item.start, stop=item.stop, step=step)
                axis += 1
            case _ if _picks(item):
                picks.append((axis, item))
                axis += 1
            case _:
                x = emit.emit("select", x, dim=axis, index=item)
    for axis, picked in picks:
        x = emit.emit("index", x, picked, dim=axis)
    return x


def _picks(item: object) -> TypeGuard[Ref]:
    """Whether an index is a tensor of integers."""
    kind = getattr(item, "type", None)
    return isinstance(kind, TensorType) and kind.dtype in (I32, I64)


def _size(value: object) -> bool:
    return isinstance(value, int | Sym | Expr) and not isinstance(value, bool)


def _basic(item: object) -> bool:
    if isinstance(item, slice):
        bounds = all(b is None or _size(b) for b in (item.start, item.stop))
        step = item.step is None or (isinstance(item.step, int) and item.step > 0)
        return bounds and step
    return item is None or item is Ellipsis or _size(item)


SPELLINGS = (
    Spelling(
        torch=("Tensor.__getitem__",),
        signature="input, index",
        build=_getitem,
        fields=(Field("index", FieldKind.ANY),),
    ),
    Spelling(
        torch=("Tensor.contiguous",), signature="input, memory_format=None", build=_contiguous
    ),
    Spelling(
        torch=("torch.reshape", "Tensor.reshape"),
        signature="input, *shape",
        build=_reshape,
        fields=(Field("shape", FieldKind.SIZES),),
    ),
    Spelling(
        torch=("torch.flatten", "Tensor.flatten"),
        signature="input, start_dim=0, end_dim=-1",
        build=_flatten,
        fields=(Field("start_dim", FieldKind.INT), Field("end_dim", FieldKind.INT)),
    ),
    Spelling(
        torch=("torch.ravel", "Tensor.ravel"),
        signature="input",
        build=lambda emit, x: _reshape(emit, x, shape=(-1,)),
    ),
    Spelling(
        torch=("torch.unflatten", "Tensor.unflatten"),
        signature="input, dim, sizes",
        build=_unflatten,
        fields=(DIM, Field("sizes", FieldKind.SIZES)),
    ),
    Spelling(torch=("Tensor.view_as",), signature="input, other", build=_view_as, operands=XY),
    Spelling(
        torch=("Tensor.reshape_as",), signature="input, other", build=_reshape_as, operands=XY
    ),
    Spelling(torch=("Tensor.expand_as",), signature="input, other", build=_expand_as, operands=XY),
    Spelling(
        torch=("torch.transpose", "Tensor.transpose", "torch.swapdims", "Tensor.swapdims"),
        signature="input, dim0, dim1",
        build=_transpose,
        fields=(Field("dim0", FieldKind.INT), Field("dim1", FieldKind.INT)),
    ),
    Spelling(
        torch=("torch.swapaxes", "Tensor.swapaxes"),
        signature="input, axis0, axis1",
        build=_swapaxes,
        fields=(Field("axis0", FieldKind.INT), Field("axis1", FieldKind.INT)),
    ),
    Spelling(torch=("torch.t", "Tensor.t", "Tensor.T"), signature="input", build=_t),
    Spelling(
        torch=("Tensor.mT", "torch.adjoint", "Tensor.adjoint", "Tensor.mH"),
        signature="input",
        build=_mt,
    ),
    Spelling(
        torch=("torch.movedim", "Tensor.movedim", "torch.moveaxis", "Tensor.moveaxis"),
        signature="input, source, destination",
        build=_movedim,
        fields=(Field("source", FieldKind.AXES), Field("destination", FieldKind.AXES)),
    ),
    Spelling(
        torch=("torch.squeeze", "Tensor.squeeze"),
        signature="input, dim=None",
        build=_squeeze,
        fields=(Field("dim", FieldKind.AXES, None),),
    ),
    Spelling(
        torch=("torch.narrow", "Tensor.narrow"),
        signature="input, dim, start, length",
        build=_narrow,
        fields=(DIM, Field("start", FieldKind.SIZE), Field("length", FieldKind.SIZE)),
    ),
    Spelling(
        torch=("torch.chunk", "Tensor.chunk"),
        signature="input, chunks, dim=0",
        build=_chunk,
        fields=(Field("chunks", FieldKind.INT), DIM_OF_0),
    ),
    Spelling(
        torch=("torch.split", "Tensor.split"),
        signature="input, split_size, dim=0",
        build=_split,
        fields=(Field("split_size", FieldKind.SIZE), DIM_OF_0),
    ),
    Spelling(
        torch=("torch.split", "Tensor.split"),
        signature="input, split_size, dim=0",
        build=_split_sizes,
        fields=(Field("split_size", FieldKind.SIZES), DIM_OF_0),
    ),
    Spelling(
        torch=("torch.unbind", "Tensor.unbind"),
        signature="input, dim=0",
        build=_unbind,
        fields=(DIM_OF_0,),
    ),
)
