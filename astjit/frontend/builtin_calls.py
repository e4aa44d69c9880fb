"""Python's own functions during capture: run as they are where they are pure, else refused.

Those that look into containers, at types or at attributes are answered here, because what they
read must be guarded.
"""

import builtins
import enum
import math
import re
import types
from collections.abc import Callable, Mapping
from typing import Any

import torch

from astjit.frontend.attributes import absence_is_guarded, attribute, plain_attribute
from astjit.frontend.carriers import Float, Int, square_root
from astjit.frontend.classes import by_type
from astjit.frontend.iterating import ITERATING, wrapped
from astjit.frontend.mutations import MUTATORS, mutate
from astjit.frontend.outside import is_container
from astjit.frontend.session import (
    Session,
    is_static,
    iterate,
    key,
    operand,
    plain,
    shown,
    stood_in,
)
from astjit.frontend.shadows import GONE, UNTOUCHED, DictShadow
from astjit.frontend.source import is_rewritten
from astjit.frontend.stand_ins import all_stood_for
from astjit.frontend.stops import Stop, words
from astjit.frontend.stores import delete_attribute, plain_delete, plain_set, set_attribute
from astjit.frontend.symbolic import SymbolicTensor

Args = tuple[object, ...]
Kwargs = dict[str, object]

_PURE = {
    getattr(builtins, name)
    for name in words(
        "abs bytes callable chr complex divmod hash issubclass ord "
        "pow range round slice object bin hex oct ascii bytearray memoryview"
    )
}
PURE_MODULES = words(
    "math cmath operator _operator itertools functools _functools collections "
    "_collections numbers numeric string typing dataclasses _abc abc enum re _sre _bisect "
    "unicodedata binascii _struct"
)
_MUTATING_OPERATORS = words(
    "setitem delitem iadd isub imul itruediv ifloordiv imod ipow iand ior ixor ilshift "
    "irshift iconcat imatmul insort_left insort_right pack_into _count_elements"
)
_PURE_OWNERS = frozenset({"builtins", "collections", "torch", "itertools", "functools", "re"})
_COMPARING = words("index count __contains__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__")
_WHOLE = frozenset({"extend", "update", "extendleft", "__iadd__"})
_OF_OBJECT: dict[str, Callable[..., object]] = {
    "__getattribute__": plain_attribute,
    "__setattr__": plain_set,
    "__delattr__": plain_delete,
}


def builtin_call(session: Session, function: Any, args: Args, kwargs: Kwargs) -> object:
    """A call of a builtin function or type.

    Raises:
        Stop: for one with an effect, or that is not known.
    """
    special = _SPECIAL.get(function)
    if special is not None:
        return special(session, *args, **kwargs)
    if function in (property, staticmethod, classmethod):
        return function(*args, **kwargs)
    if function in ITERATING:
        return ITERATING[function](session, *args, **kwargs)
    if function in _PURE:
        return in_c(session, function, args, kwargs)
    raise Stop(f"{getattr(function, '__name__', function)}() is an effect")


def _looked_into(session: Session, value: object, depth: int = 3) -> None:
    """Stop for objects whose Python code C code would run, unseen."""
    if is_static(value) or isinstance(value, type | types.FunctionType | types.MethodType):
        return
    if is_container(value) and depth:
        inner = value.values() if isinstance(value, dict) else value
        for part in inner:  # type: ignore[attr-defined]
            _looked_into(session, part, depth - 1)
        return
    if session.speaks(value):
        raise Stop(f"a {type(value).__name__}, whose Python code would run unseen")


def in_c(session: Session, function: Any, args: Args, kwargs: Kwargs) -> object:
    """A call of C code that reads its arguments and calls no function: given stand-ins."""
    given = [stood_in(session, session.outside.exposed(a)) for a in args]
    named = {k: stood_in(session, session.outside.exposed(v)) for k, v in kwargs.items()}
    return all_stood_for(function(*given, **named))


def calling_back(session: Session, function: Any, args: Args, kwargs: Kwargs) -> object:
    """A call of C code that may call functions it is given, or keep what it is given."""
    own = getattr(function, "__module__", "") == "itertools"
    live = own and getattr(function, "__name__", "") not in ("repeat", "starmap", "from_iterable")

    def given(value: object) -> object:
        if live and type(value) in (list, dict, set) and session.outside.path(value):
            return iterate(session, value)  # which follows later stores
        if callable(value) and not isinstance(value, torch.Tensor):
            return value if _runs_as_it_is(value) else wrapped(session, value)
        if is_static(value) or isinstance(value, types.GeneratorType):
            return value
        iterated = session.python_method(value, "__iter__", "__next__", "__getitem__")
        return iterate(session, value) if iterated else session.outside.exposed(value)

    return function(*map(given, args), **{k: given(v) for k, v in kwargs.items()})


def _runs_as_it_is(function: object) -> bool:
    if isinstance(function, type):
        return function.__module__ == "builtins"
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return code is not None and is_rewritten(code)


def exposed(session: Session, args: Args) -> list[object]:
    """Arguments fit for C code."""
    made = [session.outside.exposed(a) for a in args]
    for value in made:
        _looked_into(session, value)
    return made


def exposed_names(session: Session, kwargs: Mapping[str, object]) -> Kwargs:
    """Arguments by name fit for C code."""
    return {k: session.outside.exposed(v) for k, v in kwargs.items()}


def c_call(session: Session, function: object, args: Args, kwargs: Kwargs) -> object:
    """A call of a C function or C method outside torch.

    Raises:
        Stop: for one that is not known to be pure.
    """
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", "")
    if isinstance(function, types.MethodDescriptorType | types.WrapperDescriptorType) and args:
        owner, args = args[0], args[1:]
        function = function.__get__(owner)  # that of the class named, whatever others redefine
    if getattr(function, "__objclass__", None) is object and name in _OF_OBJECT:
        return _OF_OBJECT[name](session, owner, *args)
    if name == "__init__" and owner is not None:
        if function.__qualname__ == "object.__init__":  # type: ignore[attr-defined]
            return None
        return calling_back(session, function, args, kwargs)
    if owner is not None and not isinstance(owner, types.ModuleType | type):
        path = session.outside.path(function)
        if path is not None and session.outside.path(owner) is None:  # f = outside.append
            owner = session.outside.read(owner, f"{path}.__self__")
        return _method(session, owner, name, args, kwargs)
    module = getattr(function, "__module__", None) or getattr(owner, "__module__", None) or ""
    if isinstance(owner, types.ModuleType):
        module = owner.__name__
    if getattr(builtins, name, None) is function:
        return builtin_call(session, function, args, kwargs)
    home = getattr(function, "__qualname__", "").split(".")[0]
    of_builtin = isinstance(getattr(builtins, home, None), type) and not module  # str.maketrans
    if (isinstance(owner, type) and owner.__module__ == "builtins") or of_builtin:
        module = module or "builtins"
    if module == "_heapq" and session.outside.path(args[0]) is None:
        return function(*args, **kwargs)  # type: ignore[operator]
    if module in (*PURE_MODULES, "builtins"):
        if name in _MUTATING_OPERATORS:
            raise Stop(f"{module}.{name}() writes to its argument")
        calls = module in ("functools", "_functools", "itertools") or name == "fromkeys"
        return (calling_back if calls else in_c)(session, function, args, kwargs)
    raise Stop(f"{module}.{name}() is not known to be without effect")


def _method(session: Session, owner: object, name: str, args: Args, kwargs: Kwargs) -> object:
    """A method, written in C, of a value that is no tensor."""
    path = session.outside.path(owner)
    if name in MUTATORS:
        trace = session.capture.trace
        if trace is not None and type(owner) is list and name == "append" and path is None:
            trace.appends.append((owner, *args))  # type: ignore[arg-type]  # a pair
            return None
        session.unchanged(f"{type(owner).__name__}.{name}() in a loop")
        if path is not None:
            return mutate(session, owner, name, *args, **kwargs)
        if name in _WHOLE:
            args = tuple(session.outside.exposed(a) for a in args)
        if isinstance(owner, dict | set):
            for value in args:
                key(session, value)
        if name == "sort":
            owner[:] = ITERATING[sorted](session, owner, **kwargs)  # type: ignore[index]
            return None
        return mutate(session, owner, name, *args, **kwargs)
    if path is not None:
        if name == "get" and isinstance(owner, dict):
            return _get(session, owner, path, *args)
        fixed = isinstance(owner, enum.Enum) or type(owner) in (set, frozenset)
        if not is_container(owner) and not fixed:
            raise Stop(f"{path}.{name}() is not known to be without effect")
        owner = session.outside.items(owner)
    home = next((c for c in type(owner).__mro__ if name in vars(c)), type(owner))
    known = home.__module__ in _PURE_OWNERS or is_container(owner)
    if not known and not isinstance(owner, BaseException):
        raise Stop(f"{type(owner).__name__}.{name}() is not known to be without effect")
    if isinstance(owner, types.GeneratorType):
        return getattr(owner, name)(*args, **kwargs)
    if isinstance(owner, re.Pattern):
        return calling_back(session, getattr(owner, name), args, kwargs)
    held = stood_in(session, owner) if name in _COMPARING else owner
    for value in args if isinstance(owner, dict | set | frozenset) else ():
        key(session, value)
    return in_c(session, getattr(held, name), args, kwargs)


def _get(
    session: Session, owner: dict[object, object], path: str, key: object, default: object = None
) -> object:
    key = plain(operand(session, key))
    asked = f"{session.outside.key(key)} in {path}"
    owner = session.outside.real(owner)
    shadow = session.outside.overlay.found(owner)
    if isinstance(shadow, DictShadow) and (stored := shadow.get(key)) is not UNTOUCHED:
        return default if stored is GONE else stored
    if key not in owner:
        session.capture.guard(f"not ({asked})", f"whether {asked}")
        return default
    session.capture.guard(asked, f"whether {asked}")
    return session.outside.read(owner[key], f"{path}[{session.outside.key(key)}]")


# --- the ones that are answered here ---


def _isinstance(session: Session, value: object, classes: object) -> bool:
    if isinstance(value, SymbolicTensor):
        _type(session, value)
        wanted = classes if isinstance(classes, tuple) else (classes,)
        own = torch.nn.Parameter if value.is_parameter else torch.Tensor
        return any(isinstance(c, type) and issubclass(own, c) for c in wanted)
    if isinstance(value, Int | Float):
        return isinstance(value.node.number.hint, classes)  # type: ignore[arg-type]
    return isinstance(value, classes)  # type: ignore[arg-type]


def _type(session: Session, *args: object, **kwargs: object) -> object:
    if len(args) != 1:
        return by_type(session, *args, **kwargs)
    (value,) = args
    if isinstance(value, SymbolicTensor):
        kind = torch.nn.Parameter if value.is_parameter else torch.Tensor
        if value.origin is not None:
            name = session.outside.constant(kind.__name__, kind)
            asked = f"type({value.origin.path}) is {name}"
            session.capture.guard(asked, asked)
        return kind
    return type(value.node.number.hint) if isinstance(value, Int | Float) else type(value)


def _len(session: Session, value: object) -> object:
    if isinstance(value, SymbolicTensor):
        if not value.kind.rank:
            raise TypeError("len() of a 0-d tensor")
        return value.shape[0]
    if (found := session.python_method(value, "__len__")) is not None:
        return session.call(attribute(session, value, found.__name__))
    if is_container(value) or type(value) is set:
        return session.outside.length(value)
    if session.outside.path(value) is not None and type(value) not in (frozenset, str):
        raise Stop(f"len({session.outside.path(value)})")
    return len(value)  # type: ignore[arg-type]


def _number(kind: type) -> Callable[..., object]:
    def convert(session: Session, value: object = 0, *rest: object) -> object:
        if isinstance(value, SymbolicTensor):
            raise Stop(f"{kind.__name__}() reads the values of a tensor")
        if (kind is int and isinstance(value, Int)) or (kind is float and isinstance(value, Float)):
            return value
        if kind is float and isinstance(value, Int):
            return value * 1.0
        if type(value) in (Int, Float):
            return kind(value)
        if session.speaks(value):
            return kind(session.stand_ins.of(value), *rest)
        if kind is bool and is_container(value):
            return bool(session.outside.length(value))
        return kind(value, *rest)

    return convert


def _getattr(session: Session, owner: object, name: str, *default: object) -> object:
    try:
        return attribute(session, owner, name)
    except AttributeError:
        if not default:
            raise
        _absent(session, owner, name)
        return default[0]


def _absent(session: Session, owner: object, name: str) -> None:
    path = session.outside.path(owner)
    if path is None or absence_is_guarded(session, owner, name):
        return
    if session.outside.overlay.attribute(owner, name) is UNTOUCHED:
        session.capture.guard(f"not hasattr({path}, {name!r})", f"{path} has no {name}")


def _hasattr(session: Session, owner: object, name: str) -> bool:
    try:
        attribute(session, owner, name)
    except AttributeError:
        _absent(session, owner, name)
        return False
    return True


def _setattr(session: Session, owner: object, name: str, value: object) -> None:
    set_attribute(session, owner, name, value)


def _delattr(session: Session, owner: object, name: str) -> None:
    delete_attribute(session, owner, name)


def _next(session: Session, iterator: object, *default: object) -> object:
    if session.outside.path(iterator) is not None:
        raise Stop("next() advances an iterator of the caller")
    return next(iterator, *default)  # type: ignore[call-overload]


def _text(kind: Callable[..., object]) -> Callable[..., object]:
    def convert(session: Session, *args: object) -> object:
        return kind(*(shown(session, a) for a in args))

    return convert


def _id(session: Session, value: object) -> int:
    raise Stop("id() of an object")


def _square_root(session: Session, value: object) -> object:
    return square_root(value) if type(value) is Int else in_c(session, math.sqrt, (value,), {})


def _vars(session: Session, owner: object) -> object:
    return attribute(session, owner, "__dict__")


def _super(session: Session, *args: object) -> object:
    return super(*args)


_SPECIAL: dict[object, Callable[..., object]] = {
    isinstance: _isinstance,
    type: _type,
    len: _len,
    int: _number(int),
    float: _number(float),
    bool: _number(bool),
    getattr: _getattr,
    hasattr: _hasattr,
    setattr: _setattr,
    delattr: _delattr,
    next: _next,
    str: _text(str),
    repr: _text(repr),
    format: _text(format),
    id: _id,
    super: _super,
    vars: _vars,
    math.sqrt: _square_root,
}
BUILTINS = frozenset({property, staticmethod, classmethod, *_SPECIAL, *ITERATING, *_PURE})
