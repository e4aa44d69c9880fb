"""What may be called while a loop's body is captured once for all of its iterations.

Torch's functions, Python functions (their code is captured as well), and C code that certainly
changes nothing: what it would change, it would change once instead of in every iteration.
"""

import dis
import functools
import types

import torch

from astjit.frontend.session import Session

_CLASSES = (
    *(int, float, bool, complex, str, tuple, list, dict, slice, range, type),
    *(torch.Size, torch.device, torch.dtype, zip, enumerate, reversed, map, filter),
)
_BUILTINS = (
    *(len, isinstance, issubclass, abs, min, max, sum, round, divmod, pow, any, all, sorted),
    *(getattr, hasattr, callable, hash, ord, chr, format, repr),
)
_MODULES = ("math", "cmath", "_operator", "operator")
_READING = frozenset(["get", "keys", "values", "items", "index", "count", "copy"])
_BINDING = ("STORE_DEREF", "DELETE_DEREF")
_RUN = (types.FunctionType, types.MethodType, functools.partial, torch.nn.Module)


def check_call(session: Session, function: object, args: tuple[object, ...]) -> None:
    """Refuse a call that may change something besides tensors.

    Raises:
        Unlooped: for such a call, while the body of a loop is captured.
    """
    if session.capture.trace is None:
        return
    if any(hasattr(type(a), "__next__") for a in args):
        session.unchanged("an iterator is advanced in a loop")
    if isinstance(function, types.FunctionType) and _rebinds(function.__code__):
        session.unchanged(f"{function.__name__}() binds a variable of a function around it")
    if isinstance(function, _RUN) or function in _CLASSES:
        return
    if isinstance(function, type):
        session.unchanged(f"a {function.__name__} is made in a loop")
    owner = getattr(function, "__self__", None)
    module = getattr(function, "__module__", None) or ""
    if module.split(".")[0] == "torch" or isinstance(owner, torch.Tensor):
        return
    if isinstance(owner, types.ModuleType) and owner.__name__ == "torch":
        return
    home = getattr(function, "__objclass__", None)
    if home in (torch._C.TensorBase, torch.Tensor) or owner is torch._C.TensorBase:
        return
    name = getattr(function, "__name__", "")
    if isinstance(owner, types.ModuleType):
        module = owner.__name__
    if function in _BUILTINS or (module in _MODULES and not _writes(name)):
        return
    kinds = (list, tuple, dict, str, range, torch.Size)
    if isinstance(owner, kinds) and (name in _READING or isinstance(owner, str)):
        return
    if type(owner) is list and name == "append":
        return  # frontend/loop_ends.py looks at it
    session.unchanged(f"{name or function}() in a loop may change something")


@functools.lru_cache(1024)
def _rebinds(code: types.CodeType) -> bool:
    """Whether a function says `nonlocal x` and assigns x, or a function inside it may."""
    written = (i.argval for i in dis.get_instructions(code) if i.opname in _BINDING)
    inner = (c for c in code.co_consts if isinstance(c, types.CodeType))
    return any(name in code.co_freevars for name in written) or any(map(_rebinds, inner))


def _writes(name: str) -> bool:
    return name in ("setitem", "delitem") or (name.startswith("i") and name[1:2] in "acfilmoprstx")
