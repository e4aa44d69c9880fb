"""Classes defined during capture: by a statement, by `type(name, bases, namespace)`, by a factory.

Each call of the function makes classes of its own, so their objects are no results of a program.
"""

import abc
import collections
import dataclasses
import enum
import types
import typing
from typing import Any

import torch

from astjit.frontend.session import Session, is_static
from astjit.frontend.stops import Stop, user_frame

FACTORIES = (collections.namedtuple, typing.NamedTuple, enum.Enum)
"""Functions of the standard library that make a class of plain values."""
_MEMBERS = (types.FunctionType, staticmethod, classmethod, property)


def made(session: Session, cls: type) -> type:
    """A class that was defined during capture."""
    session.made[id(cls)] = cls
    return cls


def is_own(session: Session, value: object) -> bool:
    """Whether a value is a class defined during capture, or an object of one."""
    return id(value) in session.made or id(type(value)) in session.made


def base(cls: object) -> object:
    """A base of a class defined during capture.

    Raises:
        Stop: if Python code outside would run when the class is made.
    """
    if cls is typing.NamedTuple:
        return cls
    if not isinstance(cls, type) or type(cls) not in (type, abc.ABCMeta):
        raise Stop(f"a class made by {type(cls).__name__}")
    if isinstance(cls.__init_subclass__, types.MethodType):
        raise Stop(f"a class whose base {cls.__name__} defines __init_subclass__")
    if issubclass(cls, torch.nn.Module):
        raise Stop("a module class defined inside the function")
    return cls


def metaclass(session: Session, cls: object) -> object:
    """The metaclass of a class defined during capture.

    Raises:
        Stop: if it is written in Python outside the capture.
    """
    if cls not in (type, abc.ABCMeta, enum.EnumType) and id(cls) not in session.made:
        raise Stop("a class with a metaclass")
    return cls


def by_factory(session: Session, function: Any, *args: object, **kwargs: object) -> object:
    """What `namedtuple('P', 'a b')` makes."""
    given = [session.outside.exposed(a) for a in args]
    cls = function(*given, **{k: session.outside.exposed(v) for k, v in kwargs.items()})
    return made(session, _at_home(cls))


def by_type(session: Session, *args: object, **kwargs: object) -> type:
    """What `type(name, bases, namespace)` makes.

    Raises:
        Stop: if Python code outside would run when the class is made.
    """
    if len(args) != 3:
        raise TypeError("type() takes 1 or 3 arguments")
    name, bases, namespace = args
    parents = tuple(base(parent) for parent in session.outside.items(bases))
    held = dict(session.outside.items(namespace))
    for value in (*held.values(), *kwargs.values()):
        if not (is_static(value) or isinstance(value, _MEMBERS)):
            raise Stop(f"a class made by type() that holds a {type(value).__name__}")
    cls = type(name, parents, held, **kwargs)  # type: ignore[call-overload]
    return made(session, _at_home(cls) if "__module__" not in held else cls)


def _at_home(cls: Any) -> Any:
    """The class, said to be defined in the user's module and not in this one."""
    frame = user_frame()
    if frame is not None and not dataclasses.is_dataclass(cls):
        cls.__module__ = frame.f_globals.get("__name__")
    return cls
