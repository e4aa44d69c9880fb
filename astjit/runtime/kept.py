"""What guards found before, as long as nothing that they asked can have changed.

    version, found = classes.ask()
    if found is None:
        ... look attributes of classes up, test them ...
        found = (forward,)
        classes.keep(version, found)
    (forward,) = found

A memory answers with what it was given to keep while it can tell that the same lookups and tests
would give the same again; else with None, and they run. `version` is taken before they run, so that
what changes meanwhile is noticed at the next call.
"""

import ctypes
import struct
import sys
from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any

from astjit.runtime.words import tensor_guards

_FIRST: Callable[[Any], int] = itemgetter(0)
_VERSION = 384  # where a type object of CPython holds its version
_MOST = 16  # misses in a row, after which tensors are not expected to stay alike


class Classes:
    """Memory of what a few classes say.

    CPython numbers the states of a class: a change of its attributes, bases or those of a base
    takes the number away, the next lookup gives it a new one that no class had before. Its own
    inline caches rely on that.

    Args:
        classes: whose attributes are asked.
    """

    def __init__(self, classes: Iterable[type]) -> None:
        self._classes = tuple(classes)  # the memory that is looked at stays theirs
        self._versions = [_version(cls) for cls in self._classes] if _NUMBERED else []
        self._kept: tuple[list[int], tuple[object, ...]] = [-1], ()  # no version

    def ask(self) -> tuple[list[int], tuple[object, ...] | None]:
        """The version now, and what was found when it was the same."""
        kept, found = self._kept
        now = list(map(_FIRST, self._versions))
        return now, found if now == kept else None

    def keep(self, version: list[int], found: tuple[object, ...]) -> None:
        """Keep what was found after `ask` gave this version."""
        if version and 0 not in version:
            self._kept = version, found


class Tensors:
    """Memory of the types, dtypes, devices, sizes, strides and gradients of a few tensors.

    It holds these facts, not the tensors.
    """

    def __init__(self) -> None:
        self._kept: tuple[_Facts, tuple[object, ...]] | None = None
        self._misses = 0 if tensor_guards() is not None else _MOST

    def ask(self, *tensors: object) -> tuple[object, tuple[object, ...] | None]:
        """The facts now, and what was found when they were the same."""
        if self._misses == _MOST:
            return None, None
        kept = self._kept
        if kept is not None and kept[0].hold(tensors):
            self._misses = 0
            return None, kept[1]
        self._misses += 1
        return (_Facts(tensors), tensors), None

    def keep(self, version: Any, found: tuple[object, ...]) -> None:
        """Keep what was found after `ask` gave this version, if they still are what they were."""
        if version is not None and version[0].hold(version[1]):
            self._kept = version[0], found


class _Facts:
    """What a few tensors have in common with those of another call."""

    def __init__(self, tensors: tuple[object, ...]) -> None:
        first: dict[int, int] = {}
        for at, tensor in enumerate(tensors):
            first.setdefault(id(tensor), at)
        own = list(first.values())
        pairs = [(at, first[id(tensor)]) for at, tensor in enumerate(tensors)]
        self._same = [(one, other) for one, other in pairs if one != other]
        self._own = own if self._same else []
        guards = tensor_guards()
        assert guards is not None
        dynamic = {"dynamic_dims_sizes": None, "dynamic_dims_strides": None}
        self._check = guards(*(tensors[at] for at in own), **dynamic).check

    def hold(self, tensors: tuple[object, ...]) -> bool:
        """Whether these tensors have the same facts, and are one where those were one."""
        if self._own:
            if any(tensors[one] is not tensors[other] for one, other in self._same):
                return False
            tensors = tuple(tensors[at] for at in self._own)
        held: bool = self._check(*tensors)
        return held


# --- the versions of classes ---------------------------------------------------------------------
def _version(cls: type) -> memoryview:
    """A view of the number that CPython gives to the state of a class, 0 while it has none."""
    number = ctypes.c_uint.from_address(id(cls) + _VERSION)
    return memoryview(number).cast("B").cast("I")


def _is_numbered() -> bool:
    """Whether classes have versions where they are looked for: tried on classes made for it."""
    if sys.implementation.name != "cpython" or struct.calcsize("P") != 8:
        return False
    size: int = vars(type)["__basicsize__"].__get__(type)
    if size < _VERSION + 4:
        return False
    base = type("Base", (), {"a": 1})
    classes = [type("Derived", (base,), {"b": at}) for at in range(3)]
    views = [_version(cls) for cls in classes]
    seen: list[int] = []
    for change in range(3):
        if change and any(view[0] for view in views):
            return False
        for cls in classes:
            cls.b  # type: ignore[attr-defined]  # noqa: B018
        numbers = [view[0] for view in views]
        if 0 in numbers or numbers != [view[0] for view in views]:
            return False
        seen += numbers
        setattr(base, f"c{change}", change)
    return len(set(seen)) == len(seen)


_NUMBERED = _is_numbered()
