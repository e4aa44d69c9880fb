"""A list to which a loop appended a tensor in every iteration, where the loop was captured as one.

    for t in range(n): ys.append(h)       ys: what was in it before, then n tensors, stacked
    torch.stack(ys)                       the stacked tensor itself

It is no list: whatever asks it for anything but to be stacked has the capture start anew.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import torch

from astjit.frontend.capture import Capture
from astjit.frontend.carriers import Int
from astjit.frontend.loop_sizes import Unlooped
from astjit.frontend.session import is_static
from astjit.frontend.symbolic import SymbolicTensor
from astjit.ir.value import Result, Value


@dataclass(eq=False, slots=True)
class Gathered:
    """What stands for the list.

    Attributes:
        before: its items before the loop.
        stacked: the others.
        last: tensors that may be among them, and what each holds.
        given: how often it was stacked.
    """

    before: tuple[object, ...]
    stacked: Result
    last: tuple[tuple[SymbolicTensor, Value], ...]
    given: int = 0

    def _asked(self, *args: object, **kwargs: object) -> NoReturn:
        raise Unlooped("a list is read that a loop appended to")

    __len__ = __iter__ = __getitem__ = __setitem__ = __delitem__ = __contains__ = _asked
    __bool__ = __eq__ = __ne__ = __add__ = __radd__ = __iadd__ = __mul__ = __rmul__ = _asked
    __lt__ = __le__ = __gt__ = __ge__ = __reversed__ = __imul__ = __repr__ = _asked
    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> NoReturn:
        raise Unlooped("a list is read that a loop appended to")

    def joined(self, capture: Capture, dim: int = 0) -> object:
        """torch.stack of the list.

        Raises:
            Unlooped: if a tensor in it changed since.
        """
        if any(tensor.value is not value for tensor, value in self.last):
            raise Unlooped("a tensor changes that may be in a list")
        whole: Any = self.stacked
        kind: Any = whole.type
        if self.before:
            if not all(
                isinstance(t, SymbolicTensor) and t.kind.dtype is kind.dtype for t in self.before
            ):
                raise Unlooped("a list of tensors of several kinds")
            first: list[Any] = [t.value for t in self.before]  # type: ignore[attr-defined]
            if any(v.type.dims != kind.dims[1:] for v in first):
                raise Unlooped("a list of tensors of several sizes")
            parts = [capture.emit("unsqueeze", v, dim=0) for v in first]
            whole = capture.emit("cat", *parts, whole, dim=0)
        rank = kind.rank
        if not -rank <= dim < rank:
            raise Unlooped("torch.stack at a dim that is none")
        if dim % rank:
            axis = dim % rank
            order = (*range(1, axis + 1), 0, *range(axis + 1, rank))
            whole = capture.emit("contiguous", capture.emit("permute", whole, dims=order))
        elif self.given:
            whole = capture.emit("copy", whole, order=tuple(range(rank)))
        self.given += 1
        return capture.fresh_tensor(whole)


def stacked(
    capture: Capture, function: object, args: tuple[object, ...], kwargs: Mapping[str, object]
) -> object:
    """A call that is given such a list: torch.stack.

    Raises:
        Unlooped: for any other.
    """
    given, *rest = args or (None,)
    dims = [*rest, *kwargs.values()]
    ints = [int(d) for d in dims if type(d) in (int, Int)]  # type: ignore[call-overload]
    plain = set(kwargs) <= {"dim"} and len(ints) == len(dims) < 2
    if function is torch.stack and isinstance(given, Gathered) and plain:
        return given.joined(capture, *ints)
    raise Unlooped("a list is read that a loop appended to")


def held_besides(variables: Mapping[str, object], wanted: object, name: str) -> bool:
    """Whether anything but one variable holds a list."""
    return any(_reaches(v, wanted, 4) for n, v in variables.items() if n != name)


def _reaches(value: object, wanted: object, depth: int) -> bool:
    if value is wanted or (not is_static(value) and getattr(value, "__self__", None) is wanted):
        return True
    if is_static(value) or not depth:
        return not is_static(value)
    if isinstance(value, dict):
        return any(_reaches(v, wanted, depth - 1) for v in value.values())
    if isinstance(value, list | tuple | set | frozenset):
        return any(_reaches(v, wanted, depth - 1) for v in value)
    cells = getattr(value, "__closure__", None) or ()
    inside = [c.cell_contents for c in cells if _is_full(c)]
    held = getattr(value, "__dict__", None)
    if isinstance(held, dict) and not isinstance(value, type | torch.nn.Module):
        inside += held.values()
    return any(_reaches(v, wanted, depth - 1) for v in inside)


def _is_full(cell: object) -> bool:
    try:
        return cell.cell_contents is not cell  # type: ignore[attr-defined]
    except ValueError:
        return False
