"""Stores to objects that were there before the call: kept here, written once the program has run.

self.h = y          reads of `self.h` give y from now on; the program ends with `self.h = y`
cache.append(k)     `cache` is longer for what follows; the program ends with `cache.append(k)`

Capture changes nothing outside (decision D18). What an object holds now is noted in a shadow of its
dict, list or set: instance attributes are the items of `vars(object)`, module attributes and
globals those of the module's dict. At the end a shadow is compared with what was there, so that
what was put back is not written at all.
"""

from typing import Any

from astjit.frontend.shadows import (
    UNTOUCHED,
    DictShadow,
    ListShadow,
    Reader,
    SetShadow,
    Shadow,
    Write,
)
from astjit.frontend.stops import Stop


class Overlay:
    """The shadows of one capture.

    Args:
        reader: reads what lies outside.
    """

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self._shadows: dict[int, Shadow] = {}
        self._slots: dict[int, tuple[object, dict[Any, object]]] = {}
        self._owners: dict[int, object] = {}  # by the id of their dict

    def of_list(self, real: list[object], path: str) -> ListShadow:
        """The shadow of a list."""
        made = self._shadows.setdefault(id(real), ListShadow(self.reader, real, path))
        assert isinstance(made, ListShadow)
        return made

    def of_dict(self, real: dict[Any, object], path: str) -> DictShadow:
        """The shadow of a dict."""
        made = self._shadows.setdefault(id(real), DictShadow(self.reader, real, path))
        assert isinstance(made, DictShadow)
        return made

    def of_set(self, real: set[object], path: str) -> SetShadow:
        """The shadow of a set."""
        made = self._shadows.setdefault(id(real), SetShadow(real, path, set(real)))
        assert isinstance(made, SetShadow)
        return made

    def found(self, real: object) -> Shadow | None:
        """The shadow of a container, if it has one."""
        return self._shadows.get(id(real))

    def attributes(self, owner: object, path: str) -> DictShadow:
        """The shadow of an object's attributes.

        Raises:
            Stop: if its dict is made anew whenever it is asked for.
        """
        real = self._namespace(owner)
        if real is None:
            raise Stop(f"a store to {path}, a {type(owner).__name__}")
        self._owners[id(real)] = owner
        made = self.of_dict(real, f"{path}.__dict__")
        if id(owner) in self._slots:
            made.owner, made.slotted = path, True
        return made

    def _namespace(self, owner: object) -> "dict[Any, object] | None":
        """The dict of an object's attributes, or what stands for it; None for an unusual one."""
        if (slots := self._slots.get(id(owner))) is not None:
            return slots[1]
        try:
            real = object.__getattribute__(owner, "__dict__")
        except AttributeError:
            return self._slots.setdefault(id(owner), (owner, {}))[1]
        same = object.__getattribute__(owner, "__dict__") is real
        return real if type(real) is dict and same else None

    def attribute(self, owner: object, name: str) -> object:
        """What was stored to an attribute: UNTOUCHED, GONE or a value."""
        if not self._shadows:
            return UNTOUCHED
        real = self._namespace(owner)
        shadow = None if real is None else self._shadows.get(id(real))
        return shadow.get(name) if isinstance(shadow, DictShadow) else UNTOUCHED

    def writes(self) -> list[Write]:
        """Everything that the program has to write."""
        return [write for shadow in self._shadows.values() for write in shadow.writes()]

    def changed(self) -> list[tuple[object, str]]:
        """The objects that are written, each with its path."""
        found = []
        for shadow in self._shadows.values():
            if any(True for _ in shadow.writes()):
                owner = self._owners.get(id(shadow.real), shadow.real)
                path = shadow.path.removesuffix(".__dict__") if owner is not shadow.real else None
                found.append((owner, path or shadow.path))
        return found


def apart(changed: tuple[object, ...], others: tuple[object, ...]) -> bool:
    """Whether objects that a program writes are none of the others, nor each other."""
    ids = set(map(id, changed))
    return len(ids) == len(changed) and ids.isdisjoint(map(id, others))
