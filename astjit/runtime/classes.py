"""Which lookups and tests depend on nothing but what a few classes say.

`Linear.forward` depends on Linear, its bases and its metaclass, and so does a test whether it is a
certain function; `Linear.forward.__code__` does not, since a function's code can be replaced, nor
`Flag.RED`, since a metaclass of its own may answer.
"""

import abc
import ast
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch

from astjit.frontend.reads import Guard
from astjit.runtime.places import Place, Places

KINDS = (type, abc.ABCMeta, type(torch.Tensor))
"""Metaclasses whose classes are looked up in as Python describes it."""

_HEAP_TYPE = 1 << 9
_MISSING = object()
_DESCRIPTORS = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    property,
)
"""What gives itself when it is found on a class."""


def found_on(cls: type, name: str) -> object:
    """What the dicts of a class and its bases hold under a name, `_MISSING` if nothing."""
    return next((vars(c)[name] for c in type.mro(cls) if name in vars(c)), _MISSING)


def is_missing(found: object) -> bool:
    """Whether `found_on` found nothing."""
    return found is _MISSING


def sources(cls: type, name: str) -> tuple[type, ...]:
    """The classes that decide what `cls.name` is or that it is not; () where other things do."""
    kind = type(cls)
    if kind not in KINDS:
        return ()
    above = type(found_on(kind, name))
    if hasattr(above, "__set__") or hasattr(above, "__delete__"):
        return ()
    found = found_on(cls, name)
    decide = cls, kind
    if found is _MISSING:
        return decide if found_on(kind, name) is _MISSING else ()
    if isinstance(found, classmethod):
        return decide if type(found.__func__) is types.FunctionType else ()
    if type(found) in _DESCRIPTORS or type(found) is staticmethod:
        return decide
    if hasattr(type(found), "__get__") or type(type(found)) not in KINDS:
        return ()
    return (*decide, type(found))  # it may become a descriptor


def changing(classes: Iterable[type]) -> list[type]:
    """Each class once, without those that can never change."""
    return [cls for cls in dict.fromkeys(classes) if cls.__flags__ & _HEAP_TYPE]


def deciding(test: str, constants: Mapping[str, object]) -> tuple[type, ...]:
    """The classes that decide a test; () where other things do."""
    return _deciding(ast.parse(test, mode="eval").body, constants)


def settled_by_classes(
    guards: list[Guard], places: Places, constants: Mapping[str, object]
) -> tuple[list[Guard], set[type]]:
    """The guards that classes alone decide, and these classes."""
    settled, used = list[Guard](), set[type]()
    for guard in guards:
        if classes := deciding(places.shown(guard.test), constants):
            settled.append(guard)
            used.update(classes)
    return settled, used


def class_attributes(
    places: Places, constants: Mapping[str, object]
) -> Iterator[tuple[Place, tuple[type, ...]]]:
    """The attributes of classes that other places begin with, with the classes that decide them."""
    for place in places.all():
        owner = place.parent
        if owner is None or place.local or not place.parts:
            continue
        cls = constants.get(owner.same_as or owner.text)
        _, dot, name = place.text[len(owner.text) :].rpartition(".")
        if isinstance(cls, type) and dot and (classes := sources(cls, name)):
            yield place, classes


def _deciding(test: ast.expr, constants: Mapping[str, object]) -> tuple[type, ...]:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return _deciding(inner, constants)
        case ast.Call(
            func=ast.Name("hasattr"), args=[ast.Name(name), ast.Constant(str(part))], keywords=[]
        ):
            cls = constants.get(name)
            lacks = isinstance(cls, type) and found_on(cls, part) is _MISSING
            return sources(cls, part) if isinstance(cls, type) and lacks else ()
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot()], comparators=[right]):
            sides = [_side(side, constants) for side in (left, right)]
            if None not in sides:
                return tuple(cls for side in sides if side is not None for cls in side)
    return ()


def _side(side: ast.expr, constants: Mapping[str, object]) -> tuple[type, ...] | None:
    match side:
        case ast.Constant():
            return ()
        case ast.Name(name) if name in constants:
            return ()
        case ast.Attribute(value=ast.Name(name), attr=part):
            cls: Any = constants.get(name)
            return (sources(cls, part) or None) if isinstance(cls, type) else None
    return None
