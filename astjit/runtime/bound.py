"""Compiled callables that are no functions: partials, bound methods, objects with `__call__`.

    step = astjit.compile(functools.partial(update, rate=0.1))
    step(w, g)                    # update(w, g, rate=0.1), compiled

What a call runs is looked up at each call, as Python does: another `__call__` of the class, another
keyword of the partial, another attribute of the object take effect.
"""

import functools
import types
from collections.abc import Callable, Mapping
from typing import Any

import torch

_ASKED = frozenset(
    {
        "ssa",
        "cuda_source",
        "cpp_source",
        "program_source",
        "rewritten_source",
        "guards",
        "cache_info",
        "cache_clear",
    }
)

DECORATED = (
    staticmethod,
    classmethod,
    property,
    functools.cached_property,
    functools.partialmethod,
    functools._lru_cache_wrapper,
)  # what decorators make of a function that is to be compiled first


def parts(
    target: object,
) -> tuple[Callable[..., object], tuple[object, ...], dict[str, object]] | None:
    """The function or module that a call of `target` runs, and what it is given besides.

    partial(f, 1, k=2)  =>  f, (1,), {"k": 2};   a.method  =>  A.method, (a,), {}

    None where C code would run.
    """
    first: tuple[object, ...] = ()
    named: dict[str, object] = {}
    while not isinstance(target, types.FunctionType | torch.nn.Module):
        if isinstance(target, types.MethodType):
            first = (target.__self__, *first)
            target = target.__func__
        elif isinstance(target, functools.partial):
            first = (*target.args, *first)
            named = {**target.keywords, **named}
            target = target.func
        elif isinstance(target, Bound):
            target = target.__wrapped__
        elif (method := _call_method(target)) is not None:
            target = method
        else:
            return None
    return target, first, named


def _call_method(target: object) -> object:
    """What the class of an object defines in Python for calls of it."""
    if isinstance(target, type):
        return None
    for cls in type(target).__mro__:
        if "__call__" in vars(cls):
            found = vars(cls)["__call__"]
            if isinstance(found, types.FunctionType | staticmethod | classmethod):
                return found.__get__(target, type(target))
            return None
    return None


class Bound:
    """Called as `target`; attributes are those of `target`.

    Args:
        target: a partial, a bound method or an object with `__call__`.
        compiled: compiles the function that a call runs.
    """

    __wrapped__: Callable[..., object]

    def __init__(self, target: object, compiled: Callable[[Callable[..., object]], Any]) -> None:
        own = self.__dict__
        own["_compiled"], own["_made"] = compiled, (None, None)
        own["__wrapped__"] = target
        own["__doc__"] = getattr(target, "__doc__", None)

    def __call__(self, /, *args: object, **kwargs: object) -> object:
        """The result of the target."""
        found = self.resolved(args, kwargs)
        if found is None:
            return self.__wrapped__(*args, **kwargs)
        function, given, named = found
        return function(*given, **named)

    def resolved(
        self, args: tuple[object, ...], kwargs: Mapping[str, object]
    ) -> tuple[Any, tuple[object, ...], dict[str, object]] | None:
        """The compiled function that a call runs now, with all of its arguments."""
        found = parts(self.__wrapped__)
        if found is None:
            return None
        function, first, named = found
        known, made = self.__dict__["_made"]
        if known is not function:
            made = self.__dict__["_compiled"](function)
            self.__dict__["_made"] = function, made
        return made, (*first, *args), {**named, **kwargs}

    @property
    def __astjit__(self) -> "Record":
        """What capture looks at."""
        return Record(self.__wrapped__)

    def _ask(self, name: str, /, *args: object, **kwargs: object) -> object:
        found = self.resolved(args, kwargs)
        if found is None:
            raise AttributeError(f"{self.__wrapped__!r} is not written in Python: no {name}")
        function, given, named = found
        if name.startswith("cache_"):
            return getattr(function, name)()
        return getattr(function, name)(*given, **named)

    def __getattr__(self, name: str) -> Any:
        if name in _ASKED:
            return functools.partial(self._ask, name)
        if name in ("__wrapped__", "__deepcopy__", "__copy__") or "__wrapped__" not in vars(self):
            raise AttributeError(name)
        return getattr(self.__wrapped__, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self.__wrapped__, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self.__wrapped__, name)

    def __repr__(self) -> str:
        return f"<compiled {self.__wrapped__!r}>"

    def __reduce__(self) -> tuple[object, ...]:
        return Bound, (self.__wrapped__, self.__dict__["_compiled"])


class Record:
    """What capture finds on a bound callable.

    Attributes:
        function: what it was made of.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        self.function = function
