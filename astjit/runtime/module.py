"""Compiled modules: called as the module, and in everything else the module itself (decision D23).

    model = astjit.compile(Model())
    model(x)                      # Model.__call__ with its hooks, compiled
    model.load_state_dict(state)  # the module's own: no parameters here, no prefix in the keys

A compiled module has no attributes of its own besides the methods that show what became of a call:
what is read, set or deleted on it is read, set or deleted on the module.
"""

import copy
import functools
import types
from collections.abc import Callable, Mapping
from typing import Any

import torch

from astjit.frontend.stops import words
from astjit.runtime.bound import Record

_SHOWN = frozenset(
    {"ssa", "cuda_source", "cpp_source", "program_source", "rewritten_source", "guards", "explain"}
)
_COUNTED = frozenset({"cache_info", "cache_clear"})
_OWN = _SHOWN | _COUNTED | {"__astjit__", "__wrapped__", "__class__", "resolved"}
_COPIES = frozenset({"__copy__", "__deepcopy__", "__reduce__", "__reduce_ex__"})
# Methods of modules that return the module: the compiled one returns itself.
_FLUENT = words(
    "to train eval half float double bfloat16 cuda cpu xpu ipu mtia to_empty requires_grad_ apply "
    "type share_memory"
)


def _call(self: torch.nn.Module, /, *args: object, **kwargs: object) -> object:
    return self(*args, **kwargs)


def caller(module: torch.nn.Module) -> types.FunctionType:
    """A function that calls the module it is given, called as the module's class."""
    made = types.FunctionType(_call.__code__, _call.__globals__)
    made.__name__ = made.__qualname__ = type(module).__name__
    made.__module__, made.__doc__ = type(module).__module__, type(module).forward.__doc__
    return made


class CompiledModule(torch.nn.Module):
    """A module whose calls are compiled.

    `ssa`, `cuda_source`, `cpp_source`, `program_source`, `rewritten_source`, `guards` and `explain`
    take the arguments of a call; `cache_info` and `cache_clear` take none.

    Args:
        module: called and looked into.
        compiled: compiles a function.
        again: compiles another module in the same way.
        explain: what becomes of a call of a compiled function.
    """

    __slots__ = ("_again", "_explain", "_function", "_module")

    def __new__(
        cls,
        module: torch.nn.Module,
        compiled: Callable[[Callable[..., object]], Any],
        again: Callable[[torch.nn.Module], "CompiledModule"],
        explain: Callable[..., object],
    ) -> "CompiledModule":
        """One of a class that has the special methods of the module, such as `__len__`."""
        return super().__new__(_class_for(cls, type(module)))

    def __init__(
        self,
        module: torch.nn.Module,
        compiled: Callable[[Callable[..., object]], Any],
        again: Callable[[torch.nn.Module], "CompiledModule"],
        explain: Callable[..., object],
    ) -> None:
        put = object.__setattr__
        put(self, "_module", module)
        put(self, "_function", compiled(caller(module)))
        put(self, "_again", again)
        put(self, "_explain", explain)

    def __call__(self, /, *args: object, **kwargs: object) -> Any:
        """The module's result."""
        own = object.__getattribute__
        return own(self, "_function")(own(self, "_module"), *args, **kwargs)

    @property
    def __wrapped__(self) -> torch.nn.Module:
        """The module."""
        module: torch.nn.Module = object.__getattribute__(self, "_module")
        return module

    @property
    def __astjit__(self) -> Record:
        """What capture looks at."""
        return Record(self.__wrapped__)

    def resolved(
        self, args: tuple[object, ...], kwargs: Mapping[str, object]
    ) -> tuple[Any, tuple[object, ...], dict[str, object]]:
        """The compiled function that a call runs, with all of its arguments."""
        own = object.__getattribute__
        return own(self, "_function"), (own(self, "_module"), *args), dict(kwargs)

    # -- everything else is the module's --------------------------------------------------------
    def __getattribute__(self, name: str) -> Any:
        own = object.__getattribute__
        if name in _SHOWN:
            function, module = own(self, "_function"), own(self, "_module")
            if name == "explain":
                return functools.partial(own(self, "_explain"), function, module)
            return functools.partial(getattr(function, name), module)
        if name in _COUNTED:
            return getattr(own(self, "_function"), name)
        if name in _OWN or name in _COPIES:
            return own(self, name)
        module = own(self, "_module")
        found = getattr(module, name)
        return _returning(self, module, found) if name in _FLUENT and callable(found) else found

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "_module"), name)  # raises the module's error

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self.__wrapped__, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self.__wrapped__, name)

    def __dir__(self) -> list[str]:
        return sorted({*dir(self.__wrapped__), *_SHOWN, *_COUNTED})

    def __repr__(self) -> str:
        return repr(self.__wrapped__)

    def __copy__(self) -> "CompiledModule":
        again: Any = object.__getattribute__(self, "_again")
        made: CompiledModule = again(copy.copy(self.__wrapped__))
        return made

    def __deepcopy__(self, memo: dict[int, object]) -> "CompiledModule":
        again: Any = object.__getattribute__(self, "_again")
        made: CompiledModule = again(copy.deepcopy(self.__wrapped__, memo))
        return made

    def __reduce_ex__(self, protocol: object) -> tuple[object, ...]:
        return object.__getattribute__(self, "_again"), (self.__wrapped__,)


def _returning(
    compiled: CompiledModule, module: torch.nn.Module, method: Callable[..., object]
) -> Callable[..., object]:
    @functools.wraps(method)
    def call(*args: object, **kwargs: object) -> object:
        made = method(*args, **kwargs)
        return compiled if made is module else made

    return call


_CLASSES: dict[frozenset[str], type[CompiledModule]] = {}


def _class_for(base: type[CompiledModule], kind: type) -> type[CompiledModule]:
    """The class with the special methods that modules of this kind have, such as `__getitem__`.

    Python looks these up on the class, not on the object.
    """
    known = set(dir(base))
    names = frozenset(
        name
        for name in dir(kind)
        if name.startswith("__") and name not in known and callable(getattr(kind, name))
    )
    if not names:
        return base
    if names not in _CLASSES:
        methods = {name: _special(name) for name in names}
        _CLASSES[names] = type(base.__name__, (base,), {"__slots__": (), **methods})
    return _CLASSES[names]


def _special(name: str) -> Callable[..., object]:
    def method(self: CompiledModule, *args: object, **kwargs: object) -> object:
        return getattr(self.__wrapped__, name)(*args, **kwargs)

    method.__name__ = name
    return method
