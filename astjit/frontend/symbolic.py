"""Symbolic tensors: what rewritten code computes with during capture.

A symbolic tensor has no memory of its own; it stands for the SSA value that a place holds now.
Every torch function that is given one, and while the mode is on every torch function at all, ends
in `Capture.torch_call`.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import torch

from astjit.frontend import torch_api
from astjit.frontend.memory import Place
from astjit.frontend.stops import NeedsGrad, Stop
from astjit.ir.value import Param, Value
from astjit.types.tensor import TensorType


class Handler(Protocol):
    """What answers torch calls during a capture."""

    def torch_call(
        self, func: Callable[..., object], args: Sequence[object], kwargs: dict[str, object]
    ) -> object:
        """The result of a torch function, symbolically."""
        ...


class _Current(threading.local):
    handler: Handler | None = None


CURRENT = _Current()


def _handle(func: object, args: Sequence[object], kwargs: dict[str, object] | None) -> object:
    if CURRENT.handler is None:
        raise RuntimeError("a symbolic tensor of astjit was used after its capture")
    return CURRENT.handler.torch_call(func, args, kwargs or {})  # type: ignore[arg-type]


class SymbolicTensor(torch.Tensor):
    """A tensor of a capture.

    Attributes:
        place: the memory it shows.
        kind: its type, kept here because the tensor's own attributes are hooked.
        is_parameter: an nn.Parameter came in by this path.
        wants_grad: requires_grad of the input, with gradients switched off.
        alias: for another object of one memory, how it is made of the input: ".detach()".
    """

    place: Place
    kind: TensorType
    is_parameter: bool
    wants_grad: bool
    alias: str

    @property
    def value(self) -> Value:
        """The SSA value that it holds now."""
        return self.place.value()

    @property
    def origin(self) -> Param | None:
        """The input that it is, whatever was written to it; None for any other tensor."""
        place = self.place
        return None if place.steps or self.alias else place.storage.param

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        return _handle(func, args, kwargs)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def,override]
        raise Stop(f"C++ code reached a symbolic tensor through {func}")

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self, **options: object) -> str:  # type: ignore[override]
        if CURRENT.handler is not None:
            raise Stop("printing a tensor reads its values")
        return f"SymbolicTensor({self.kind})"

    def __format__(self, spec: str) -> str:
        raise Stop("formatting a tensor reads its values")

    def __reduce_ex__(self, protocol: object) -> str:
        raise Stop("pickling a tensor reads its values")

    def __deepcopy__(self, memo: object) -> "SymbolicTensor":
        raise Stop("a deep copy of a tensor")


SymbolicTensor.__name__ = "Tensor"  # in the messages of errors that user code catches


def symbolic(
    place: Place,
    kind: TensorType,
    sizes: Sequence[int],
    strides: Sequence[int],
    dtype: torch.dtype,
    *,
    is_parameter: bool = False,
    wants_grad: bool = False,
) -> SymbolicTensor:
    """A symbolic tensor at a place, with the sizes and strides of this call."""
    device = torch.device(kind.device)
    made = torch_api.wrapper(SymbolicTensor, sizes, strides, dtype, device)
    assert isinstance(made, SymbolicTensor)
    made.place, made.kind = place, kind
    made.is_parameter, made.wants_grad, made.alias = is_parameter, wants_grad, ""
    return made


class Mode(torch_api.FunctionMode):
    """Sees what no subclass hook sees: factories, and calls on tensors that are not symbolic."""

    def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        return _handle(func, args, kwargs)


def tensors_in(values: Iterable[object]) -> list[SymbolicTensor]:
    """The tensors among arguments, those in lists included."""
    found: list[SymbolicTensor] = []
    for value in values:
        if isinstance(value, SymbolicTensor):
            found.append(value)
        elif isinstance(value, tuple | list):
            found += tensors_in(value)
    return found


def refuse_gradients(wanted: bool, values: Iterable[object]) -> None:
    """What was read with gradients off must not be used with gradients on.

    Args:
        wanted: whether a tensor that requires a gradient was read.
        values: the arguments of a call.

    Raises:
        NeedsGrad: if one of them requires a gradient, and gradients are on.
    """
    if wanted and torch.is_grad_enabled():
        for tensor in tensors_in(values):
            if tensor.wants_grad:
                raise NeedsGrad(tensor.origin.path if tensor.origin else "a tensor")
