"""The standard library's `inspect` during capture: run as it is, with what it looks at guarded.

inspect.signature(f)        f's code is guarded where f is read; here its defaults and wrappers are
"""

import inspect
import types
from collections.abc import Callable
from typing import Any

from astjit.frontend.builtin_calls import Args, Kwargs
from astjit.frontend.session import Session
from astjit.frontend.source import is_rewritten
from astjit.frontend.stops import Stop, words

INSPECTED = (inspect.Signature, inspect.Parameter, inspect.FullArgSpec)
_KNOWN = words(
    "signature unwrap getfullargspec isfunction ismethod isclass ismodule isroutine isbuiltin "
    "iscoroutinefunction isgeneratorfunction isabstract"
)
_PARTS = ("__defaults__", "__kwdefaults__", "__signature__", "__annotations__")


def inspect_call(
    session: Session, function: Callable[..., object], args: Args, kwargs: Kwargs
) -> object:
    """A call of a function of `inspect`.

    Raises:
        Stop: if it looks at more than functions, or at a function that was made during capture.
    """
    name = getattr(function, "__name__", "")
    if name not in _KNOWN:
        raise Stop(f"inspect.{name}() is not known to be without effect")
    for value in (*args, *kwargs.values()):
        _guard(session, value)
    return function(*args, **kwargs)


def _guard(session: Session, value: Any) -> None:
    if isinstance(value, types.MethodType):
        value = value.__func__
    if isinstance(value, type | types.ModuleType | str | bool | None):
        return
    if not isinstance(value, types.FunctionType):
        raise Stop(f"inspect looks at a {type(value).__name__}")
    if is_rewritten(value.__code__):
        return  # made during capture
    path = session.outside.path(value)
    if path is None:
        raise Stop(f"inspect looks at {value.__qualname__}, which was reached without a path")
    for part in _PARTS:
        if part in ("__defaults__", "__kwdefaults__", "__annotations__") or hasattr(value, part):
            session.outside.same(getattr(value, part), f"{path}.{part}", part.strip("_"))
        else:
            session.capture.guard(f"not hasattr({path}, {part!r})", f"{path} has no {part}")
    if hasattr(value, "__wrapped__"):
        session.outside.read(value.__wrapped__, f"{path}.__wrapped__")
        _guard(session, value.__wrapped__)
    else:
        session.capture.guard(f"not hasattr({path}, '__wrapped__')", f"{path} wraps nothing")
