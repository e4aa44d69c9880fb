"""Torch calls that write to a tensor, as pure operations and a write of their result.

x.mul_(y), x *= y           mul of x and y, written to x
torch.exp(x, out=z)         exp of x, written to z
x[:, 0] = y                 y, written to the view x[:, 0]
x[mask] = y                 no row does this: `mutate`, see library.py
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import torch
import torch.nn.functional as F

from astjit.frontend.capture import Capture
from astjit.frontend.carriers import Float, Int, number_of
from astjit.frontend.library import library_call
from astjit.frontend.memory import disjoint, refuse_overlap, same_view
from astjit.frontend.stops import Stop, words
from astjit.frontend.symbolic import SymbolicTensor

Args = Sequence[object]
Kwargs = Mapping[str, object]
Func = Callable[..., object]

_OPERATORS = {
    f"__i{name}__": f"__{name}__"
    for name in words("add sub mul truediv floordiv mod pow and or xor lshift rshift div matmul")
}
_HOMES: dict[str, object] = {
    "torch": torch,
    "Tensor": torch.Tensor,
    "torch.nn.functional": F,
    "torch.special": torch.special,
    "torch.linalg": torch.linalg,
    "torch.fft": torch.fft,
    "torch._C._nn": torch._C._nn,
}


class Operator(Protocol):
    """What writes need of the operations of a capture."""

    capture: Capture

    def row(self, dotted: str, args: Args, kwargs: Kwargs) -> object:
        """A call as a use of rows, NotImplemented where no row does it."""
        ...


def written(operations: Operator, func: Func, dotted: str, args: Args, kwargs: Kwargs) -> object:
    """The result of a call that writes to one of its arguments; NotImplemented for any other call.

    Raises:
        Stop: if what it writes to shares memory with another operand in a way that matters.
        Failed: if PyTorch refuses it as well.
    """
    home, _, name = dotted.rpartition(".")
    if name == "__setitem__":
        return _set_item(operations, func, dotted, *args)
    target: object = args[0] if args else kwargs.get("input")
    pure = _pure_name(home, name)
    given: dict[str, object] = dict(kwargs)
    if kwargs.get("out") is not None:
        target, pure = given.pop("out"), dotted
        args = tuple(args)
    elif kwargs.get("inplace"):
        pure = dotted
        given.pop("inplace")
    elif not pure:
        return NotImplemented
    if isinstance(target, tuple | list):
        return library_call(operations.capture, dotted, func, args, kwargs)
    if not isinstance(target, SymbolicTensor):
        raise Stop(f"{name} writes to what is not a tensor of the capture")
    check_target(target, (*args, *given.values()))
    made = _value_of(operations, name, pure, target, args, given)
    if made is NotImplemented:
        return library_call(operations.capture, dotted, func, args, kwargs)
    if name not in ("copy_", "fill_", "zero_") and not _castable(made, target):
        raise Stop(f"{name} gives {made.kind.dtype}, which is not written to {target.kind.dtype}")
    if kwargs.get("out") is not None:
        if not _of_one_shape(operations.capture, made, target):
            raise Stop(f"{name}(out=...) resizes a tensor")
        if made.kind.dtype != target.kind.dtype:  # which neg refuses, and add does not
            return library_call(operations.capture, dotted, func, args, kwargs)
    operations.capture.write(target, made.value, shared=_is_shared(made, args))
    return target


def _castable(made: SymbolicTensor, target: SymbolicTensor) -> bool:
    one, other = (getattr(torch, t.kind.dtype.torch) for t in (made, target))
    return torch.can_cast(one, other)


def _of_one_shape(capture: Capture, one: SymbolicTensor, other: SymbolicTensor) -> bool:
    pairs = zip(one.kind.dims, other.kind.dims, strict=False)
    return one.kind.rank == other.kind.rank and all(capture.sizes.equal(a, b) for a, b in pairs)


def _is_shared(made: SymbolicTensor, args: Args) -> bool:
    """Whether what is written is in memory that an operand has."""
    homes = [a.place.storage for a in args if isinstance(a, SymbolicTensor)]
    return made.place.storage in homes


def _value_of(
    operations: Operator, name: str, pure: str, target: SymbolicTensor, args: Args, given: Kwargs
) -> Any:
    """What is written to the target, NotImplemented where no row says it."""
    match name:
        case "copy_":
            source = args[1] if len(args) > 1 else given.get("src", given.get("other"))
            return source if isinstance(source, SymbolicTensor) else NotImplemented
        case "zero_":
            return filled(operations.capture, target, 0)
        case "fill_" | "fill":
            value = args[1] if len(args) > 1 else given.get("value")
            if isinstance(value, SymbolicTensor):
                return value if value.kind.rank == 0 else NotImplemented
            return filled(operations.capture, target, value)
    return operations.row(pure, args, given)


def filled(capture: Capture, target: SymbolicTensor, value: object) -> Any:
    """A 0-d tensor of a number, in the dtype of the target; NotImplemented for what is none."""
    number = number_of(value)
    if number is None and not isinstance(value, bool):
        return NotImplemented
    kind = target.kind
    held: object = value
    if isinstance(value, Int | Float):
        held = capture.number_value(value.node.number)
    if not fits(value, kind.dtype.torch):
        return NotImplemented
    made = capture.emit("full", held, size=(), dtype=kind.dtype, device=kind.device)
    return capture.fresh_tensor(made)


def fits(value: object, dtype: str) -> bool:
    """Whether a number becomes an element of this dtype without an error or a surprise."""
    kind = getattr(torch, dtype)
    if kind in (torch.float32, torch.float64, torch.bool):
        return not isinstance(value, int) or abs(value) < 2**53
    if isinstance(value, Int | Float) or not isinstance(value, int | float):
        return False
    if kind.is_floating_point:
        return value != value or abs(value) == float("inf") or abs(value) <= 65504
    info = torch.iinfo(kind)
    return isinstance(value, int) and info.min <= value <= info.max


def _pure_name(home: str, name: str) -> str:
    """The function without the write, "" for a function that does not write by its name."""
    if name in _OPERATORS:
        return f"{home}.{_OPERATORS[name]}"
    if name.endswith("_") and not name.endswith("__") and hasattr(_HOMES.get(home), name[:-1]):
        return f"{home}.{name[:-1]}"
    return f"{home}.{name[:-1]}" if name.endswith("_") and not name.endswith("__") else ""


def check_target(target: SymbolicTensor, others: Args) -> None:
    """Stop where a write to `target` could reach what another operand reads.

    Raises:
        Stop: for another view of the same memory, unless it shows other elements.
    """
    refuse_overlap(target.kind)
    for other in others:
        if isinstance(other, tuple | list):
            check_target(target, other)
        if not isinstance(other, SymbolicTensor) or other is target:
            continue
        if other.place.storage is not target.place.storage:
            continue
        if not same_view(other.place, target.place) and not disjoint(other.place, target.place):
            raise Stop("an operand of an in-place operation overlaps what is written")


def _set_item(
    operations: Operator, func: Func, dotted: str, owner: object, index: object, value: object
) -> object:
    """`owner[index] = value`."""
    if not isinstance(owner, SymbolicTensor):
        raise Stop("a store to an item of a tensor that was reached without a path")
    check_target(owner, (value,)) if not _is_basic(index) else None
    args = (owner, index, value)
    view = operations.row("Tensor.__getitem__", (owner, index), {}) if _is_basic(index) else None
    if not isinstance(view, SymbolicTensor):
        check_target(owner, (value,))
        library_call(operations.capture, dotted, func, args, {})
        return None
    check_target(view, (value,))
    if isinstance(value, SymbolicTensor):
        made: Any = _without_leading_ones(operations, value, view.kind.rank)
    else:
        made = filled(operations.capture, view, value)
    if made is NotImplemented:
        library_call(operations.capture, dotted, func, args, {})
    else:
        operations.capture.write(view, made.value, shared=_is_shared(made, (value,)))
    return None


def _without_leading_ones(operations: Operator, value: SymbolicTensor, rank: int) -> object:
    while value.kind.rank > rank and value.kind.dims[0] == 1:
        made = operations.row("torch.select", (value, 0, 0), {})
        assert isinstance(made, SymbolicTensor)
        value = made
    return value if value.kind.rank <= rank else NotImplemented


def _is_basic(index: object) -> bool:
    items = index if isinstance(index, tuple) else (index,)
    kinds = (slice, type(None), type(Ellipsis), int, Int)
    return all(isinstance(item, kinds) and not isinstance(item, bool) for item in items)
