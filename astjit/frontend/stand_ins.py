"""What C code is given for an object whose special methods are Python code.

Python's own protocols stay in charge: an operator, sorted(), str.format() ask the stand-in, whose
methods call those of the object through the capture, where they are rewritten.

    a + b            =>  <stand-in of a> + <stand-in of b>     which method answers, Python decides
    sorted(pairs)    =>  sorted(stand-ins), and the result has the pairs again

The classes of stand-ins mirror those of the objects: same name, same bases, the same methods.
"""

import functools
import types
from collections.abc import Callable
from typing import Any, Protocol

_BINARY = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
    *("and", "or", "xor", "lshift", "rshift", "divmod"),
)
SPECIAL = (
    *(f"__{side}{name}__" for name in _BINARY for side in ("", "r", "i")),
    *(f"__{name}__" for name in ("neg", "pos", "invert", "abs", "int", "float", "complex")),
    *(f"__{name}__" for name in ("index", "round", "trunc", "floor", "ceil", "bytes")),
    *(f"__{name}__" for name in ("eq", "ne", "lt", "le", "gt", "ge", "hash", "bool", "len")),
    *(f"__{name}__" for name in ("iter", "next", "reversed", "contains", "getitem")),
    *(f"__{name}__" for name in ("str", "repr", "format", "call", "length_hint")),
)


class Caller(Protocol):
    """What stand-ins ask of the session."""

    def call(self, function: object, *args: object, **kwargs: object) -> object:
        """Call something during capture."""
        ...

    def bound(self, function: types.FunctionType, owner: object) -> types.MethodType:
        """A method of the class of `owner`, with its path recorded."""
        ...


class StandIn:
    """Base of the classes of stand-ins."""

    _astjit_value: object
    _astjit_caller: Caller

    def __getattr__(self, name: str) -> object:
        found = self._astjit_caller.call(getattr, self._astjit_value, name)
        if not isinstance(found, types.MethodType):
            return found
        return functools.partial(self._astjit_caller.call, found)


class StandIns:
    """The stand-ins of one capture: one for each object, so that `is` and == agree.

    Args:
        caller: the session.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._classes: dict[type, type] = {}
        self._made: dict[int, tuple[object, StandIn]] = {}

    def of(self, value: object) -> Any:
        """The stand-in of an object."""
        if (known := self._made.get(id(value))) is not None:
            return known[1]
        made: StandIn = object.__new__(self._class_of(type(value)))
        made._astjit_value, made._astjit_caller = value, self._caller
        self._made[id(value)] = value, made
        return made

    def _class_of(self, cls: type) -> type:
        if cls is object:
            return StandIn
        if (known := self._classes.get(cls)) is not None:
            return known
        bases = tuple(self._class_of(base) for base in cls.__bases__)
        own = {name: _forward(name, vars(cls)[name]) for name in SPECIAL if name in vars(cls)}
        if "__eq__" in own and "__hash__" not in own:
            own["__hash__"] = None
        own["__class__"] = property(lambda self: type(self._astjit_value))
        made = types.new_class(cls.__name__, bases, exec_body=lambda space: space.update(own))
        made.__qualname__ = cls.__qualname__
        self._classes[cls] = made
        return made


def _forward(name: str, method: object) -> object:
    """A method of a stand-in, for one that a class defines."""
    if method is None:
        return None
    if isinstance(method, types.FunctionType):
        function = method

        def forward(self: StandIn, *args: object) -> object:
            caller, owner = self._astjit_caller, self._astjit_value
            return caller.call(caller.bound(function, owner), *map(stood_for, args))

    else:
        in_c: Callable[..., object] = method  # type: ignore[assignment]

        def forward(self: StandIn, *args: object) -> object:
            return in_c(self._astjit_value, *map(stood_for, args))

    forward.__name__ = name
    return forward


def stood_for(value: Any) -> Any:
    """The object that a stand-in stands for, any other value itself."""
    return value._astjit_value if _is(value) else value


def _is(value: object) -> bool:
    return issubclass(type(value), StandIn)


def all_stood_for(value: Any, depth: int = 4) -> Any:
    """A result of C code with the objects themselves in it."""
    if _is(value):
        return stood_for(value)
    if not depth or type(value) not in (list, tuple, dict):
        return value
    parts = value.values() if type(value) is dict else value
    inner = [all_stood_for(part, depth - 1) for part in parts]
    if all(a is b for a, b in zip(inner, parts, strict=True)):
        return value
    if type(value) is dict:
        value.update(zip([*value], inner, strict=True))
        return value
    if type(value) is list:
        value[:] = inner
        return value
    return tuple(inner)
