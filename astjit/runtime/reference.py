"""An element function as Python runs it: once for each element, the oracle of what is compiled.

Integers and float64 are given as Python's numbers; narrower floats as 0-d tensors, which round as
tensors do, and then float64 too.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch


def reference(function: Callable[..., object], values: Sequence[object]) -> Any:
    """The tensors of a call.

    Args:
        function: takes one number for each tensor, and the other values as they are.
        values: of all parameters; a tuple stands for `*args`.

    Returns:
        A tensor, or a tuple of as many as the function returns numbers. A Python float has the
        dtype of the float inputs, or torch's default where there is none; an int is int64.
    """
    tensors = _tensors(values)
    shape: torch.Size = torch.broadcast_shapes(*(t.shape for t in tensors))  # type: ignore[no-untyped-call]
    floats = [t.dtype for t in tensors if t.dtype.is_floating_point]
    narrow = any(dtype is not torch.float64 for dtype in floats)
    count = shape.numel()
    spread = _spread(values, shape)
    rows = [_one(function, spread, at, narrow) for at in range(count)]
    wide = torch.get_default_dtype()
    if floats:
        wide = floats[0]
        for dtype in floats:
            wide = torch.promote_types(wide, dtype)
    if not rows:
        return torch.empty(shape, dtype=wide)
    first: Any = rows[0]
    if isinstance(first, tuple | list):
        columns = zip(*rows, strict=True)
        made = [_stacked(column, shape, wide) for column in columns]
        return type(first)(*made) if hasattr(first, "_fields") else type(first)(made)
    return _stacked(rows, shape, wide)


def _tensors(values: object) -> list[torch.Tensor]:
    if isinstance(values, tuple | list):
        return [t for value in values for t in _tensors(value)]
    return [values] if isinstance(values, torch.Tensor) else []


def _spread(value: Any, shape: torch.Size) -> Any:
    if isinstance(value, tuple | list):
        return [_spread(v, shape) for v in value]
    return value.broadcast_to(shape).reshape(-1) if isinstance(value, torch.Tensor) else value


def _one(function: Callable[..., object], spread: Any, at: int, narrow: bool) -> object:
    try:
        return function(*_elements(spread, at, narrow))
    except TypeError:
        if narrow:
            raise
        return function(*_elements(spread, at, True))  # torch's functions want tensors


def _elements(value: Any, at: int, narrow: bool) -> Any:
    if isinstance(value, list):
        return tuple(_elements(v, at, narrow) for v in value)
    if not isinstance(value, torch.Tensor):
        return value
    element = value[at]
    keeps = element.dtype.is_floating_point and narrow
    return element.clone() if keeps else element.item()


def _stacked(column: Sequence[Any], shape: torch.Size, wide: torch.dtype) -> torch.Tensor:
    dtype: torch.dtype | None = None
    for value in column:
        own = _dtype(value, wide)
        dtype = own if dtype is None else torch.promote_types(dtype, own)
    made = torch.tensor([v.item() if isinstance(v, torch.Tensor) else v for v in column])
    assert dtype is not None
    if dtype.is_floating_point:
        numbers = [float(v) for v in column]
        made = torch.tensor(numbers, dtype=torch.float64)
    return made.to(dtype).reshape(shape)


def _dtype(value: object, wide: torch.dtype) -> torch.dtype:
    if isinstance(value, torch.Tensor):
        return value.dtype if value.dtype.is_floating_point else _whole(value.dtype)
    return (
        torch.bool if isinstance(value, bool) else torch.int64 if isinstance(value, int) else wide
    )


def _whole(dtype: torch.dtype) -> torch.dtype:
    return torch.bool if dtype is torch.bool else torch.int64
