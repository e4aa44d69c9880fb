"""Every use of PyTorch's private interface by the front end, one function a use.

Each has a test of its own in tests/frontend/test_torch_api.py, so that a new PyTorch that changes
one of them says which.
"""

import types
import weakref
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch
import torch.nn.functional as F
from torch._library.custom_ops import CustomOpDef
from torch.overrides import TorchFunctionMode as FunctionMode

__all__ = [
    "CustomOpDef",
    "FunctionMode",
    "attribute_of",
    "count_modes",
    "dotted_name",
    "grad_mode",
    "inside_transform",
    "operators_of",
    "plain_calls",
    "registered",
    "state_is_plain",
    "why_not_plain",
    "wrapper",
]

# Where a torch function may be found, in the order in which it is written in user code.
_HOMES: tuple[tuple[str, object], ...] = (
    ("torch", torch),
    ("Tensor", torch.Tensor),
    ("torch.nn.functional", F),
    ("torch.special", torch.special),
    ("torch.linalg", torch.linalg),
    ("torch.fft", torch.fft),
    ("torch._C._nn", torch._C._nn),
)


def wrapper(
    cls: type[torch.Tensor],
    sizes: Sequence[int],
    strides: Sequence[int],
    dtype: torch.dtype,
    device: torch.device,
) -> torch.Tensor:
    """A tensor without memory, of a subclass, that C code takes for one of this shape."""
    make = torch.Tensor._make_wrapper_subclass
    return make(cls, tuple(sizes), strides=tuple(strides), dtype=dtype, device=device)


def plain_calls() -> AbstractContextManager[object]:
    """Within it torch functions run themselves: no subclass hook and no mode is asked."""
    return torch._C.DisableTorchFunction()


def count_modes() -> int:
    """How many function modes, dispatch modes and function transforms are active on this thread."""
    functions = torch._C._len_torch_function_stack()
    dispatch = torch._C._len_torch_dispatch_stack()
    return functions + dispatch + inside_transform()


def state_is_plain() -> bool:
    """Whether torch functions do what they say: no mode, no transform, no autocast."""
    return not torch._C._is_any_autocast_enabled() and not count_modes()


def inside_transform() -> bool:
    """Whether torch.func.vmap, grad, jvp, ... is running on this thread."""
    return torch._C._functorch.peek_interpreter_stack() is not None


def grad_mode(func: object) -> bool:
    """Whether `func` is what torch.no_grad() and its kind call to switch gradients."""
    return func is torch._C._set_grad_enabled


def why_not_plain(tensor: torch.Tensor) -> str:
    """What makes a tensor unfit to be an input, "" when it is a plain strided one.

    A subclass may change what any operation means, so only torch.Tensor itself and Parameter pass.
    """
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        return f"a tensor subclass, {type(tensor).__name__}"
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        return "a tensor inside a function transform"
    if tensor.layout is not torch.strided:
        return f"a tensor of layout {tensor.layout}"
    if tensor.is_neg() or tensor.is_conj():
        return "a tensor with a lazy negation or conjugation"
    return ""


def attribute_of(func: object) -> str | None:
    """The tensor attribute that a hook call reads, such as "shape"; None for other calls."""
    descriptor = getattr(func, "__self__", None)
    if getattr(func, "__name__", "") != "__get__" or descriptor is None:
        return None
    return str(descriptor.__name__)


_OPERATORS = {
    **{name: (f"__{name}__", f"__r{name}__") for name in ("add", "sub", "mul", "matmul", "pow")},
    **{f"{name}_": (f"__i{name}__",) for name in ("add", "sub", "mul", "pow")},
    **{name: (f"__{name}__",) for name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "abs")},
    "div": ("__truediv__",),
    "__rdiv__": ("__rtruediv__",),
    **{f"bitwise_{name}": (f"__r{name}__",) for name in ("and", "or", "xor")},
    "div_": ("__itruediv__", "__idiv__"),
    "remainder": ("__mod__", "__rmod__"),
    "remainder_": ("__imod__",),
    "positive": ("__pos__",),
}


def operators_of(name: str) -> tuple[str, ...]:
    """The methods of Tensor behind the operator that comes to the hook as a function so called."""
    if name.startswith("__") and name not in _OPERATORS:
        return name, f"__r{name[2:]}"
    return _OPERATORS.get(name, ())


_NAMES: dict[object, str | None] = {}
_OTHERS: weakref.WeakSet[types.FunctionType] = weakref.WeakSet()  # the user's are not kept alive


def dotted_name(func: object) -> str | None:
    """How user code writes a torch function, such as "torch.add" or "Tensor.add".

    None for what cannot be found by a public name, and so could not be called by a program.
    """
    try:
        return _NAMES[func]
    except KeyError:
        pass
    except TypeError:
        return None
    if isinstance(func, types.FunctionType) and func in _OTHERS:
        return None
    found = _find(func)
    if found is not None or isinstance(getattr(func, "__self__", 0), types.ModuleType | None):
        _NAMES[func] = found
    elif isinstance(func, types.FunctionType):
        _OTHERS.add(func)
    return found


def registered(func: object) -> tuple[str, tuple[torch._ops.OpOverload[..., object], ...]] | None:
    """How a program writes an operator of torch.library, and its overloads; None for others.

    torch.ops.lib.scale  =>  "torch.ops.lib.scale", (torch.ops.lib.scale.default,)
    """
    if isinstance(func, CustomOpDef):
        func = func._opoverload
    if isinstance(func, torch._ops.OpOverloadPacket):
        names: Any = func.overloads()  # type: ignore[no-untyped-call]
        overloads = tuple(getattr(func, name) for name in names)
        return f"torch.ops.{func._qualified_op_name.replace('::', '.')}", overloads
    if isinstance(func, torch._ops.OpOverload):
        name = func._schema.name.replace("::", ".")
        return f"torch.ops.{name}.{func._overloadname}", (func,)
    return None


def _find(func: object) -> str | None:
    name = getattr(func, "__name__", "")
    homes = _HOMES
    if getattr(func, "__objclass__", None) is object:
        return None  # what Tensor inherits from object is none of torch's
    if getattr(func, "__objclass__", None) is not None:
        homes = tuple(home for home in homes if home[1] is torch.Tensor)
    for prefix, home in homes:
        short = name.removeprefix(f"{prefix.rpartition('.')[2]}_")  # special_expit
        for spelled in (name, short, f"__{name}__") if short != name else (name, f"__{name}__"):
            # what a module lacks, its own `__getattr__` may look for at length
            held = getattr(home, spelled, None) if home is torch.Tensor else vars(home).get(spelled)
            if spelled and held == func:
                return f"{prefix}.{spelled}"
    if getattr(func, "__qualname__", "") == f"TensorBase.{name}" and hasattr(torch.Tensor, name):
        return f"Tensor.{name}"  # a method that torch wraps on the class of its C code
    return None
