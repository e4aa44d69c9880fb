"""Shapes of PyTorch's own functions, without PyTorch's compiler.

Many of PyTorch's meta functions are written in Python. The first call of one imports sympy and
torch._dynamo, which takes seconds, and that of a recurrent network takes every step in turn. For
functions that models call often the result's shape is worked out here instead:

    run("torch.mm", torch.mm, (x, w), {})  =>  an empty meta tensor of [rows of x, columns of w]

A rule knows the plain use of its function; anything else goes to PyTorch's meta function. The
tests compare every rule with that function and with the kernel.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from astjit.frontend.meta_nets import NET_RULES
from astjit.frontend.meta_shapes import Other, Refused, broadcast, empty, need, plain
from astjit.ops.layout import elementwise_type
from astjit.ops.spec import Call
from astjit.types.dtype import F32
from astjit.types.shape import Sizes
from astjit.types.tensor import TensorType

Rule = Callable[..., object]
Tensor = torch.Tensor


def run(
    dotted: str,
    func: Callable[..., object],
    args: Sequence[object],
    kwargs: Mapping[str, object],
    *,
    guess: bool,
) -> object:
    """What a function returns for meta tensors.

    Args:
        dotted: its public name.
        func: the function itself.
        args: meta tensors and numbers.
        kwargs: the same, by name.
        guess: the sizes are tried: that they do not fit is an answer, of which the words do not
            matter.

    Raises:
        Refused: if guessed sizes do not fit.
        Exception: what PyTorch's meta function raises.
    """
    rule = _RULES.get(dotted)
    try:
        if rule is not None:
            return rule(*args, **kwargs)
        if _is_pointwise(dotted):
            return _pointwise(func, args, kwargs)
    except Refused:
        if guess:
            raise
    except (Other, TypeError, ValueError, IndexError, AttributeError, NotImplementedError):
        pass  # no plain use: PyTorch says what it is
    return func(*args, **kwargs)


# --- one element at a time -----------------------------------------------------------------------


def _is_pointwise(dotted: str) -> bool:
    """Whether PyTorch says that a function works on elements alone, its results being new."""
    name = dotted.rpartition(".")[2]
    if name.endswith("_"):
        return False
    name = f"special_{name}" if dotted.startswith("torch.special.") else name
    packet: Any = getattr(torch.ops.aten, name, None)
    if packet is None or not hasattr(packet, "overloads"):
        return False
    return any(torch.Tag.pointwise in getattr(packet, o).tags for o in packet.overloads())


def _pointwise(
    func: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object]
) -> Tensor:
    """The operands broadcast; the dtype is that of the kernel's result for one element each."""
    if {"out", "memory_format"} & kwargs.keys():
        raise Other
    given = [a for a in (*args, *kwargs.values()) if isinstance(a, Tensor)]
    if not given:
        raise Other
    small = {id(t): torch.ones([1] * t.dim(), dtype=t.dtype, device="cpu") for t in given}
    versions = [t._version for t in small.values()]

    def one(value: object) -> object:
        return small[id(value)] if isinstance(value, Tensor) else value

    try:
        made = func(*map(one, args), **{key: one(value) for key, value in kwargs.items()})
    except RuntimeError:
        raise Other from None
    rank = max(t.dim() for t in given)
    need(isinstance(made, Tensor) and [t._version for t in small.values()] == versions)
    assert isinstance(made, Tensor)
    need(not any(made is t for t in small.values()) and tuple(made.shape) == (1,) * rank)
    shape = broadcast(*(tuple(t.shape) for t in given))
    if all(t.is_contiguous() for t in given):
        return empty(shape, made.dtype)
    kinds = tuple(TensorType(F32, tuple(t.shape), None, tuple(t.stride())) for t in given)
    strides = elementwise_type(Call(kinds, {}, Sizes()), F32).element_strides()
    return empty(shape, made.dtype, tuple(int(s) for s in strides))  # type: ignore[arg-type]


# --- products of matrices ------------------------------------------------------------------------


def _mm(a: Tensor, b: Tensor) -> Tensor:
    need(a.dim() == b.dim() == 2 and a.dtype == b.dtype)
    if a.size(1) != b.size(0):
        raise Refused("the sizes of two matrices do not fit")
    return empty((a.size(0), b.size(1)), a.dtype)


def _bmm(a: Tensor, b: Tensor) -> Tensor:
    need(a.dim() == b.dim() == 3 and a.dtype == b.dtype)
    if a.size(2) != b.size(1) or a.size(0) != b.size(0):
        raise Refused("the sizes of two batches of matrices do not fit")
    return empty((a.size(0), a.size(1), b.size(2)), a.dtype)


def _added(product: Rule) -> Rule:
    """The rule of a product that is added to a tensor, which is broadcast."""

    def rule(base: Tensor, a: Tensor, b: Tensor, *, beta: object = 1, alpha: object = 1) -> object:
        made = product(a, b)
        need(isinstance(made, Tensor) and base.dtype == a.dtype)
        shape = tuple(made.shape)  # type: ignore[attr-defined]  # a tensor, as asked above
        if broadcast(tuple(base.shape), shape) != shape:
            raise Refused("the sum is larger than the product")
        return made

    return rule


# --- along an axis -------------------------------------------------------------------------------


def _cumulative(x: Tensor, dim: int, *, dtype: torch.dtype | None = None) -> Tensor:
    need(plain(x) and -x.dim() <= dim < x.dim())
    whole = torch.int64 if not x.dtype.is_floating_point else x.dtype
    return empty(tuple(x.shape), dtype or whole)


def _triangle(x: Tensor, diagonal: int = 0) -> Tensor:
    need(plain(x) and x.dim() >= 2)
    return empty(tuple(x.shape), x.dtype)


def _flip(x: Tensor, *dims: Any) -> Tensor:
    axes = dims[0] if len(dims) == 1 and isinstance(dims[0], tuple | list) else dims
    need(plain(x) and all(isinstance(a, int) and -x.dim() <= a < x.dim() for a in axes))
    need(len({a % x.dim() for a in axes}) == len(axes))
    return empty(tuple(x.shape), x.dtype)


def _roll(x: Tensor, shifts: Any, dims: Any = ()) -> Tensor:
    """Elements moved along axes, or, without axes, along all of them at once."""
    by, axes = (n if isinstance(n, tuple | list) else (n,) for n in (shifts, dims))
    need(plain(x) and all(type(n) is int for n in (*by, *axes)))
    need(len(by) == (len(axes) or 1) and all(-x.dim() <= a < x.dim() for a in axes))
    return empty(tuple(x.shape), x.dtype)


def _gather(x: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    need(x.dim() == index.dim() > 0 and index.dtype == torch.int64 and plain(index))
    need(-x.dim() <= dim < x.dim() and index.numel() > 0)
    for axis in range(x.dim()):
        if axis != dim % x.dim() and index.size(axis) > x.size(axis):
            raise Refused("an index is larger than what it points into")
    return empty(tuple(index.shape), x.dtype)


def _place(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Where the largest or smallest is: argmax, argmin."""
    need(x.numel() > 0 and x.dim() > 0 and not x.dtype.is_complex)
    if dim is None:
        need(not keepdim)
        return empty((), torch.int64)
    need(-x.dim() <= dim < x.dim())
    axis, sizes = dim % x.dim(), list(x.shape)
    sizes[axis : axis + 1] = [1] if keepdim else []
    return empty(tuple(sizes), torch.int64)


def _topk(x: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> object:
    need(plain(x) and x.dim() > 0 and dim in (-1, x.dim() - 1))
    if not 0 <= k <= x.size(-1):
        raise Refused("fewer elements than are wanted")
    shape = (*x.shape[:-1], k)
    return torch.return_types.topk((empty(shape, x.dtype), empty(shape, torch.int64)))


def _sort(x: Tensor, dim: int = -1, descending: bool = False) -> object:
    need(plain(x) and x.dim() > 0 and -x.dim() <= dim < x.dim())
    shape = tuple(x.shape)
    return torch.return_types.sort((empty(shape, x.dtype), empty(shape, torch.int64)))


def _one_hot(x: Tensor, num_classes: int = -1) -> Tensor:
    need(x.dtype == torch.int64 and plain(x) and num_classes > 0 and x.numel() > 0)
    return empty((*x.shape, num_classes), torch.int64)


def _repeat(x: Tensor, *sizes: object) -> Tensor:
    times: Any = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], tuple | list) else sizes
    need(len(times) >= x.dim() and all(type(n) is int and n >= 0 for n in times) and plain(x))
    shape = (1,) * (len(times) - x.dim()) + tuple(x.shape)
    return empty(tuple(n * s for n, s in zip(times, shape, strict=True)), x.dtype)


def _arange(
    *ends: object, dtype: torch.dtype | None = None, device: object = None, step: object = 1
) -> Tensor:
    start, end, by = {1: (0, *ends, step), 2: (*ends, step), 3: ends}.get(len(ends), (0, 0.0, 1))
    if not (type(start) is int and type(end) is int and type(by) is int and by):
        raise Other
    if (end - start) * by < 0:
        raise Refused("the ends do not fit the sign of the step")
    return empty((-((start - end) // by),), dtype or torch.int64)


_ALONG: dict[str, Rule] = {
    "cumsum": _cumulative,
    "cumprod": _cumulative,
    "tril": _triangle,
    "triu": _triangle,
    "flip": _flip,
    "roll": _roll,
    "gather": _gather,
    "argmax": _place,
    "argmin": _place,
    "topk": _topk,
    "sort": _sort,
}
_RULES: dict[str, Rule] = {
    "torch.mm": _mm,
    "Tensor.mm": _mm,
    "torch.bmm": _bmm,
    "Tensor.bmm": _bmm,
    "torch.addmm": _added(_mm),
    "Tensor.addmm": _added(_mm),
    "torch.baddbmm": _added(_bmm),
    "Tensor.baddbmm": _added(_bmm),
    "torch.nn.functional.one_hot": _one_hot,
    "torch.arange": _arange,
    "Tensor.repeat": _repeat,
    **{f"{home}.{name}": rule for home in ("torch", "Tensor") for name, rule in _ALONG.items()},
    **NET_RULES,
}
