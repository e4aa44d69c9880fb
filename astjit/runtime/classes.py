"""Which lookups and tests depend on nothing but what a few classes say.

`Linear.forward` depends on Linear, its bases and its metaclass, and so does a test whether it is a
certain function; `Linear.forward.__code__` does not, since a function's code can be replaced, nor
`Flag.RED`, since a metaclass of its own may answer.
"""

import abc
import re
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch

from astjit.frontend.reads import Guard
from astjit.runtime.places import Place, Places

KINDS = (type, abc.ABCMeta, type(torch.Tensor))
"""Metaclasses whose classes are looked up in as Python describes it."""

_HEAP_TYPE = 1 << 9
_LACKS = re.compile(r"(?:not )*hasattr\((\w+), '(\w+)'\)")
_SIDE = r"([^\W\d]\w*(?:\.\w+)?)"
_SAME = re.compile(rf"(?:not )*{_SIDE} is (?:not )?{_SIDE}")
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
    if (lacks := _LACKS.fullmatch(test)) is not None:
        cls = constants.get(lacks[1])
        absent = isinstance(cls, type) and found_on(cls, lacks[2]) is _MISSING
        return sources(cls, lacks[2]) if isinstance(cls, type) and absent else ()
    if (same := _SAME.fullmatch(test)) is None:
        return ()
    sides = [_side(side, constants) for side in same.groups()]
    return () if None in sides else tuple(cls for side in sides if side for cls in side)


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


def _side(side: str, constants: Mapping[str, object]) -> tuple[type, ...] | None:
    """The classes that decide a constant or an attribute of a class; None where others do."""
    name, _, part = side.partition(".")
    if not part:
        return () if name in constants or name in ("True", "False", "None") else None
    cls: Any = constants.get(name)
    return (sources(cls, part) or None) if isinstance(cls, type) else None
