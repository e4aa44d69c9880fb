"""The names that a host function uses besides the user's, and the objects they stand for.

A user's parameter may be called `type` or `empty`; then ours gets another name, never the user's.
"""

import builtins
import keyword
from collections.abc import Iterable
from typing import Any

import torch

from astjit.fusion.names import Names
from astjit.runtime.pool import empty_strided_cpu
from astjit.runtime.threads import threads
from astjit.types.dtype import DType

_C: Any = torch._C
MISS = object()
"""What a host function returns when it does not fit the call."""

PLAIN = frozenset((torch.Tensor, torch.nn.Parameter))
"""The types of tensor whose operations mean what PyTorch says they mean."""


def tensor_guards() -> Any:
    """What torch.compile compares the facts of many tensors with in one call, None if it is gone.

    `f(*tensors, dynamic_dims_sizes=None, dynamic_dims_strides=None).check(*tensors)` tells whether
    Python types, dispatch keys, dtypes, devices, requires_grad, sizes and strides are the same,
    where all given tensors are different objects.
    """
    try:
        return _C._dynamo.guards.TensorGuards
    except AttributeError:  # a private name
        return None


def dict_version() -> Any:
    """What torch.compile asks whether a dict has changed, None if it is gone.

    `f(d)` is a number that d had only since it was last changed.
    """
    try:
        return _C._dynamo.guards.dict_version
    except AttributeError:  # a private name
        return None


def copy_of(tensor: torch.Tensor) -> torch.Tensor:
    """A copy with the same strides."""
    made = torch.empty_strided(
        tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device
    )
    return made.copy_(tensor)


def laid(tensor: torch.Tensor, shape: tuple[int, ...], strides: tuple[int, ...]) -> torch.Tensor:
    """A result of PyTorch's own kernel, with the strides that its meta function promised.

    Which kernel runs, and so the layout, may depend on the processor: attention on the CPU.

    Raises:
        RuntimeError: if it has another shape, so that the call runs eagerly.
    """
    if tensor.shape != shape:
        raise RuntimeError(f"a result of size {[*tensor.shape]}, which was to be {[*shape]}")
    if tensor.stride() == strides or tensor.numel() == 0:
        return tensor
    own = zip(tensor.shape, tensor.stride(), strides, strict=True)
    if all(size == 1 or have == want for size, have, want in own):
        return tensor
    made = torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype, device=tensor.device)
    return made.copy_(tensor)


def promised(tensor: torch.Tensor, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    """What a registered operator returned is of the type that its fake implementation promised.

    Raises:
        RuntimeError: if not, so that the call runs eagerly.
    """
    if tuple(tensor.shape) != shape or tensor.dtype != dtype:
        found, meant = f"{tensor.dtype}{[*tensor.shape]}", f"{dtype}{[*shape]}"
        raise RuntimeError(f"an operator returned {found}, its fake implementation {meant}")


def written(tensor: torch.Tensor) -> None:
    """Let autograd know that a kernel wrote to a tensor."""
    if not tensor.is_inference():
        torch.autograd.graph.increment_version(tensor)


_OBJECTS: dict[str, object] = {
    "INT64_MAX": 2**63 - 1,
    "INT64_MIN": -(2**63),
    "MISS": MISS,
    "PLAIN": PLAIN,
    "copy_of": copy_of,
    "device": torch.device,
    "empty_like": torch.empty_like,
    "empty_strided": torch.empty_strided,
    "empty_strided_cpu": empty_strided_cpu,
    "grad_enabled": torch.is_grad_enabled,
    "laid": laid,
    "threads": threads,
    "promised": promised,
    "written": written,
}


class Words:
    """Names taken in one host function, and its namespace.

    Attributes:
        names: hands out local names.
        namespace: what the function's global names stand for.
    """

    def __init__(self, taken: Iterable[str]) -> None:
        own = {*_OBJECTS, *dir(builtins)}
        self._user = set(taken)
        self.names = Names({*self._user, *own, *keyword.kwlist})
        self.namespace: dict[str, object] = {}
        self._given: dict[str, str] = {}

    def word(self, name: str) -> str:
        """The name under which the function knows one of the objects above, or a builtin."""
        if name not in self._given:
            found = _OBJECTS[name] if name in _OBJECTS else getattr(builtins, name)
            self._given[name] = self._global(name, found)
        return self._given[name]

    def dtype(self, dtype: DType) -> str:
        """The name of a torch dtype, such as `float32`."""
        name = f"dtype {dtype}"
        if name not in self._given:
            wish = dtype.torch if dtype.torch not in dir(builtins) else f"{dtype.torch}_"
            self._given[name] = self.define(wish, getattr(torch, dtype.torch))
        return self._given[name]

    def define(self, wish: str, value: object) -> str:
        """A new global name for an object."""
        name = self.names.take(wish)
        self.namespace[name] = value
        return name

    def _global(self, name: str, value: object) -> str:
        if name in self._user:
            return self.define(name, value)
        self.namespace[name] = value
        return name
