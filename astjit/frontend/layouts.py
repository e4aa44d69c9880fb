"""The type of a real tensor that becomes an input: symbols for what may vary.

x: (32, 64) contiguous  =>  f32[x0, x1]        w: (1, 64)  =>  f32[1, w1]
x.t()                   =>  f32[x0, x1] order(1,0)
x[:, ::2]               =>  f32[x0, x1] strides(x_stride0,x_stride1)
"""

from collections.abc import Callable, Sequence

import torch

from astjit.types.dtype import BY_TORCH, DType
from astjit.types.shape import Dim, Sym, hint
from astjit.types.tensor import TensorType

Namer = Callable[[str], str]


def dense_order(sizes: Sequence[int], strides: Sequence[int]) -> tuple[int, ...] | None:
    """The axes outermost first when the elements lie dense in some order of them, else None.

    Axes of size 1 have no order of their own and stay where they are; so do all axes of a tensor
    without elements.
    """
    rank = len(sizes)
    if 0 in sizes:
        return tuple(range(rank))
    order = sorted((a for a in range(rank) if sizes[a] != 1), key=lambda a: (-strides[a], a))
    running = 1
    for axis in reversed(order):
        if strides[axis] != running:
            return None
        running *= sizes[axis]
    for axis in range(rank):
        if sizes[axis] == 1:
            order.insert(axis, axis)
    return tuple(order)


def dtype_of(tensor: torch.Tensor) -> DType | None:
    """The element type, None when astjit has no such type (complex, quantised, float8)."""
    return BY_TORCH.get(str(tensor.dtype).removeprefix("torch."))


def input_type(tensor: torch.Tensor, dtype: DType, prefix: str, fresh: Namer) -> TensorType:
    """The type of an input.

    Args:
        tensor: a plain strided tensor.
        dtype: its element type.
        prefix: a name for its sizes, such as "x".
        fresh: makes a name unique.
    """
    sizes, strides = tuple(tensor.shape), tensor.stride()
    dims: tuple[Dim, ...] = tuple(
        1 if size == 1 else Sym(fresh(f"{prefix}{axis}"), size) for axis, size in enumerate(sizes)
    )
    device = str(tensor.device)
    order = dense_order(sizes, strides)
    if order is not None:
        return TensorType(dtype, dims, order, None, device)
    shown: list[Dim] = []
    for axis, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        fixed = stride in (0, 1) or size == 1
        name = f"{prefix}_stride{axis}"
        shown.append((1 if size == 1 else stride) if fixed else Sym(fresh(name), stride))
    return TensorType(dtype, dims, None, tuple(shown), device)


def separate(written: Sequence[torch.Tensor], others: Sequence[torch.Tensor]) -> bool:
    """Whether tensors can be written to as if each had memory of its own.

    Not so if one shares memory with another tensor, may have two elements in one place, or is an
    inference tensor outside inference mode, which eager does not write to.
    """
    spans: list[tuple[int, int]] = []
    for tensor in written:
        if tensor.is_inference() and not torch.is_inference_mode_enabled():
            return False
        if not tensor.is_contiguous() and not _distinct(tensor):
            return False
        if _meets(tensor, spans):
            return False
        spans.append(_span(tensor))
    return not any(_meets(tensor, spans) for tensor in others)


def _meets(tensor: torch.Tensor, spans: list[tuple[int, int]]) -> bool:
    """Whether a tensor has a byte in one of the spans."""
    start, stop = _span(tensor)
    return any(begin < stop and start < end for begin, end in spans)


def _span(tensor: torch.Tensor) -> tuple[int, int]:
    """The addresses of the first byte and of the one after the last."""
    start = tensor.data_ptr()
    if tensor.is_contiguous():
        stop = start + tensor.numel() * tensor.element_size()
    else:
        stop = start + _reach(tensor) * tensor.element_size()
    return start, stop


def _reach(tensor: torch.Tensor) -> int:
    """Elements from the first of a strided tensor to the one after the last."""
    if not tensor.numel():
        return 0
    return 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True))


def _distinct(tensor: torch.Tensor) -> bool:
    """Whether every element has a place of its own, as far as strides tell."""
    reach = 0
    pairs = zip(tensor.stride(), tensor.shape, strict=True)
    for stride, size in sorted((stride, size) for stride, size in pairs if size != 1):
        if stride <= reach:
            return False
        reach += (size - 1) * stride
    return True


def pinned(kind: TensorType) -> TensorType:
    """The type with the sizes and strides of this call."""
    strides = kind.strides and tuple(hint(s) for s in kind.strides)
    dims = tuple(hint(d) for d in kind.dims)
    return TensorType(kind.dtype, dims, kind.order, strides, kind.device)
