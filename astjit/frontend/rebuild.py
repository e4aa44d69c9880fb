"""Objects made during a call, made again at each call: no Python code of their classes runs.

Output(h, pooled)   =>   object.__new__(Output) with the attributes and items that it had
"""

import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_WRITTEN_IN_C = (object, list, dict, OrderedDict, defaultdict, deque, types.SimpleNamespace)


@dataclass(frozen=True, slots=True, eq=False)
class Rebuilt:
    """Makes an object of a class from the values of its parts: attributes first, then items.

    Attributes:
        kind: its class.
        base: the class written in C that it extends.
        attributes: names in the order in which they were stored.
        keys: of its items, for a dict.
        factory: what a defaultdict calls.
        limit: the longest that a deque may be.
    """

    kind: type
    base: Any
    attributes: tuple[str, ...] = ()
    keys: tuple[object, ...] = ()
    factory: Callable[[], object] | None = None
    limit: int | None = None

    def __call__(self, *parts: object) -> object:
        """The object, of the values of its attributes and items."""
        made: Any = self.base.__new__(self.kind)
        if self.base is deque:
            deque.__init__(made, (), self.limit)
        elif self.base is defaultdict:
            defaultdict.__init__(made, self.factory)
        for name, part in zip(self.attributes, parts, strict=False):
            object.__setattr__(made, name, part)
        items = parts[len(self.attributes) :]
        if issubclass(self.base, dict):
            for key, item in zip(self.keys, items, strict=True):
                self.base.__setitem__(made, key, item)
        elif self.base in (list, deque):
            self.base.extend(made, items)
        return made


def rebuilt(value: Any) -> tuple[Rebuilt, list[object]] | None:
    """How an object is made again, and its parts; None where that is not known."""
    kind = type(value)
    base: Any = next(cls for cls in kind.__mro__ if not cls.__flags__ & 1 << 9)  # written in C
    if base not in _WRITTEN_IN_C or kind is object or _holds_more(kind, base):
        return None
    held = _attributes(value, kind)
    keys: tuple[object, ...] = ()
    items: list[object] = []
    if issubclass(base, dict):
        keys = tuple(base.keys(value))
        items = [base.__getitem__(value, key) for key in keys]
        if any(type(key) not in (str, int, bool, bytes, type(None)) for key in keys):
            return None
    elif base in (list, deque):
        items = [*base.__iter__(value)]
    factory = value.default_factory if base is defaultdict else None
    if not (factory is None or isinstance(factory, type)):
        return None
    limit = value.maxlen if base is deque else None
    made = Rebuilt(kind, base, tuple(held), keys, factory, limit)
    return made, [*held.values(), *items]


def _holds_more(kind: type, base: type) -> bool:
    """Whether another class written in C has a part in the object."""
    others = [c for c in kind.__mro__ if not c.__flags__ & 1 << 9]
    return any(not issubclass(base, c) for c in others)


def _attributes(value: object, kind: type) -> dict[str, object]:
    """What an object holds in its slots and its dict."""
    held: dict[str, object] = {}
    for cls in kind.__mro__:
        for name, found in vars(cls).items():
            if isinstance(found, types.MemberDescriptorType) and cls.__flags__ & 1 << 9:
                try:
                    held[name] = found.__get__(value, kind)
                except AttributeError:
                    continue
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return held
    return {**held, **own}
