"""`C(...)` during capture: Python's own steps, with the parts that are Python code rewritten.

metaclass.__call__  ->  C.__new__  ->  type(made).__init__

A dataclass's generated `__init__` has no source; what it does is done here, so that factories of
defaults and `__post_init__` are called through the capture. Its other generated methods run as
they are, on a copy of the record whose fields were read.
"""

import dataclasses
import enum
import functools
import inspect
import operator
import types
from collections.abc import Callable
from typing import Any

import torch

from astjit.frontend.attributes import attribute
from astjit.frontend.builtin_calls import Args, Kwargs, calling_back, exposed, in_c
from astjit.frontend.classes import FACTORIES, by_factory
from astjit.frontend.session import Session, stood_in
from astjit.frontend.source import is_rewritten
from astjit.frontend.stand_ins import all_stood_for
from astjit.frontend.stops import Stop
from astjit.frontend.stores import set_attribute

GENERATED = "<string>"  # the file of methods that dataclasses and namedtuples make
_KEEPING = ("collections", "functools", "itertools", "types", "string", "fractions", "decimal")
"""Modules whose classes keep what they are given, and run no code of it when they are made."""
_BY_HAND = (functools.partial, operator.itemgetter, operator.attrgetter, operator.methodcaller)
_BY_HAND += (types.MethodType,)  # type: ignore[assignment]
_MADE_FREELY = (
    *(object.__new__, tuple.__new__, list.__new__, dict.__new__, set.__new__, frozenset.__new__),
    *(str.__new__, bytes.__new__, int.__new__, float.__new__, complex.__new__),
)


def construct(session: Session, cls: Any, args: Args, kwargs: Kwargs) -> object:
    """An object of a class.

    Raises:
        Stop: where code would run that cannot be looked into.
    """
    if id(cls) in session.made and all(map(_own, (cls.__init__, cls.__new__))):
        return cls(*args, **kwargs)
    if issubclass(cls, torch.nn.Module):
        raise Stop(f"a module is made: {cls.__name__}")
    if (cls.__module__ == "builtins" and issubclass(cls, BaseException)) or cls in _BY_HAND:
        return cls(*args, **kwargs)
    if cls.__module__ in _KEEPING:
        return calling_back(session, cls, args, kwargs)
    if cls in FACTORIES:
        return by_factory(session, cls, *args, **kwargs)
    if isinstance(cls, enum.EnumType):
        return in_c(session, cls, args, kwargs)
    if getattr(type(cls), "__module__", "") == "typing" and issubclass(cls, dict):
        return dict(*args, **kwargs)  # a TypedDict
    meta = type(cls).__call__
    if isinstance(meta, types.FunctionType):
        bound = types.MethodType(_read(session, type(cls), "__call__"), cls)
        return session.call(bound, *args, **kwargs)
    made = _new(session, cls, args, kwargs)
    if not isinstance(made, cls):
        return made
    _init(session, made, args, kwargs)
    return made


def _own(method: object) -> bool:
    """Whether a method is object's or was written inside the captured function."""
    return not isinstance(method, types.FunctionType) or is_rewritten(method.__code__)


def _read(session: Session, cls: type, name: str) -> Any:
    """A method of a class, with its path recorded where it is Python code."""
    home = next(c for c in cls.__mro__ if name in vars(c))
    found = vars(home)[name]
    function = found.__func__ if isinstance(found, staticmethod | classmethod) else found
    path = session.class_path(home)
    if isinstance(function, types.FunctionType) and path and not is_rewritten(function.__code__):
        session.outside.read(function, f"{path}.{name}")
    return function


def _new(session: Session, cls: Any, args: Args, kwargs: Kwargs) -> object:
    new = _read(session, cls, "__new__")
    if isinstance(new, types.FunctionType):
        if is_of_namedtuple(new):
            return new(cls, *args, **kwargs)
        return session.call(new, cls, *args, **kwargs)
    session.class_path(cls)
    if issubclass(cls, BaseException):
        return cls.__new__(cls, *args)
    if new not in _MADE_FREELY:
        raise Stop(f"the class {cls.__name__}, which C code makes")
    if new is object.__new__:
        if cls.__init__ is object.__init__ or inspect.isabstract(cls):
            return cls(*args, **kwargs)  # raises where there are arguments or abstract methods
        return object.__new__(cls)
    if issubclass(cls, list | dict | set):
        return cls.__new__(cls)
    return cls.__new__(cls, *exposed(session, args))


def _init(session: Session, made: Any, args: Args, kwargs: Kwargs) -> None:
    cls = type(made)
    init = _read(session, cls, "__init__")
    if not isinstance(init, types.FunctionType):
        if init is not object.__init__:
            session.call(init, made, *args, **kwargs)
    elif is_generated(init):
        _init_record(session, made, init, args, kwargs)
    else:
        session.call(init, made, *args, **kwargs)


def is_of_namedtuple(function: types.FunctionType) -> bool:
    """Whether `namedtuple` wrote a function, in a namespace of its own: a `__new__`."""
    named = f"namedtuple_{function.__qualname__.partition('.')[0]}"
    generated = function.__code__.co_filename.startswith("<")
    return generated and function.__globals__.get("__name__") == named


# --- dataclasses ---


def is_generated(function: Callable[..., object]) -> bool:
    """Whether a method was made by `@dataclass`."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    written = getattr(code, "co_qualname", "").startswith("__create_fn__.<locals>.")
    return written and code.co_filename == GENERATED  # type: ignore[union-attr]


def _init_record(
    session: Session, made: Any, init: types.FunctionType, args: Args, kwargs: Kwargs
) -> None:
    """What the `__init__` of a dataclass does."""
    signature = inspect.signature(init)
    bound = signature.bind(made, *args, **kwargs).arguments
    home: Any = next(c for c in type(made).__mro__ if vars(c).get("__init__") is init)
    path = session.class_path(home)
    passed_on: list[object] = []
    for field in home.__dataclass_fields__.values():
        kind = field._field_type.name
        if kind == "_FIELD_CLASSVAR":
            continue
        given = field.init and field.name in bound
        if given:
            value = bound[field.name]
        elif field.default_factory is not dataclasses.MISSING:
            factory: Any = field.default_factory
            if path:
                place = f"{path}.__dataclass_fields__[{field.name!r}].default_factory"
                factory = session.outside.read(factory, place)
            value = session.call(factory)
        elif field.default is not dataclasses.MISSING:
            value = field.default
            if path:
                place = f"{path}.__dataclass_fields__[{field.name!r}].default"
                value = session.outside.read(value, place)
            if not field.init and kind != "_FIELD_INITVAR" and not _slotted(home):
                continue  # stays an attribute of the class
        else:
            continue
        if kind == "_FIELD_INITVAR":
            passed_on.append(value)
        elif home.__dataclass_params__.frozen:
            object.__setattr__(made, field.name, value)
        else:
            set_attribute(session, made, field.name, value)
    if hasattr(home, "__post_init__"):
        session.call(attribute(session, made, "__post_init__"), *passed_on)


def _slotted(cls: type) -> bool:
    return "__slots__" in vars(cls)


def generated(
    session: Session, function: Callable[..., object], args: Args, kwargs: Kwargs
) -> object:
    """A call of a method that `@dataclass` made, other than `__init__`.

    Raises:
        Stop: for one that writes to a record that was there before.
    """
    name = function.__name__
    if name in ("__setattr__", "__delattr__"):
        if session.outside.path(args[0]) is not None:
            raise Stop(f"{type(args[0]).__name__}.{name}() of what was there before the call")
        return function(*args, **kwargs)
    return all_stood_for(function(*(_copied(session, a) for a in args), **kwargs))


def _copied(session: Session, record: Any) -> object:
    """A record of the same class, whose fields were read and hold stand-ins."""
    cls = type(record)
    if not dataclasses.is_dataclass(cls):
        return record
    made = object.__new__(cls)
    for field in dataclasses.fields(cls):
        try:
            value = attribute(session, record, field.name)
        except AttributeError:
            continue
        value = stood_in(session, session.outside.exposed(value))
        object.__setattr__(made, field.name, value)
    return made
