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
import types
from collections.abc import Callable, Iterable
from enum import Enum, auto
from operator import attrgetter, is_, itemgetter
from typing import Any, NamedTuple

from astjit.runtime.words import dict_version, tensor_guards

SCALARS = (types.NoneType, bool, int, float, str, bytes)
_TYPES = (
    *SCALARS,
    tuple,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.CodeType,
    types.CellType,
    types.ModuleType,
    property,
)
_FIXED = (
    (types.FunctionType, "__globals__"),
    (types.FunctionType, "__closure__"),
)
_FIRST: Callable[[Any], int] = itemgetter(0)
_VERSION = 384  # where a type object of CPython holds its version
_MANY = 6  # attributes of one name that are compared in one go
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
        """The version now, and what was found when it was the same: then it is the same list."""
        kept, found = self._kept
        now = list(map(_FIRST, self._versions))
        return (kept, found) if now == kept else (now, None)

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


class Way(Enum):
    """How one object is reached from another, and what that relies on."""

    CONSTANT = auto()  # the object itself
    ATTRIBUTE = auto()  # that it is the same object
    CLASS = auto()  # an attribute of a class: the version of the classes
    FIXED = auto()  # nothing: an attribute that cannot be given another value
    ITEM = auto()  # nothing: of a tuple
    NAME = auto()  # the state of a dict
    PART = auto()  # the state of a module
    STATE = auto()  # the state of a dict, of which nothing is taken


class Step(NamedTuple):
    """One step to something that guards ask.

    Attributes:
        way: what kind of step.
        owner: the number of the step before it.
        key: an attribute, an item, or the object itself.
    """

    way: Way
    owner: int
    key: Any


class Functions:
    """Memory of functions, cells and the dicts in which functions find names.

    Dicts have versions, which a change gives a new one that none had before; torch.compile's
    guards rely on that.

    Args:
        steps: to what guards ask.
    """

    def __init__(self, steps: tuple[Step, ...]) -> None:
        self._steps = steps
        self._kept: tuple[_State, object, tuple[object, ...]] | None = None
        self._misses = 0 if _DICT_VERSION is not None else _MOST

    def ask(self, classes: object) -> tuple["_State | None", tuple[object, ...] | None]:
        """The state now, and what was found when it was the same.

        Args:
            classes: the version that a memory of classes gave; the same object for the same.
        """
        kept = self._kept
        if kept is not None and kept[1] is classes and kept[0].holds():
            self._misses = 0
            return kept[0], kept[2]
        if self._misses == _MOST:
            return None, None
        self._misses += 1
        try:
            return _State(self._steps, classes), None
        except Exception:  # whatever the tests themselves will raise
            return None, None

    def keep(self, version: "_State | None", found: tuple[object, ...]) -> None:
        """Keep what was found after `ask` gave this state."""
        if version is not None:
            self._kept = version, version.classes, found


class _State:
    """What steps lead to and rely on, at one time.

    Attributes:
        classes: the version of the classes then.
    """

    def __init__(self, steps: tuple[Step, ...], classes: object) -> None:
        self.classes = classes
        self._dicts: dict[int, dict[str, object]] = {}
        self._found: dict[str, list[tuple[object, object]]] = {}
        values: list[object] = []
        for step in steps:
            values.append(self._take(step, values[step.owner] if step.owner >= 0 else None))
        self._states = list(self._dicts.values())
        self._versions = self._now()
        many = [key for key, pairs in self._found.items() if len(pairs) >= _MANY]
        self._many = [(attrgetter(key), *_parted(self._found.pop(key))) for key in many]
        rest = ((key, *pair) for key, pairs in self._found.items() for pair in pairs)
        self._few = [(attrgetter(key), owner, value) for key, owner, value in rest]

    def _take(self, step: Step, owner: Any) -> object:
        """Take one step, and note what it relies on.

        Raises:
            Exception: if it cannot be taken, or leads from or to what may not be held.
        """
        way, _, key = step
        match way:
            case Way.CONSTANT:
                return key
            case Way.ITEM:
                found: object = tuple.__getitem__(owner, key)
                return found
            case Way.NAME | Way.STATE | Way.PART:
                names = vars(owner) if way is Way.PART else owner
                _need(type(names) is dict and (way is not Way.PART or is_held(owner)))
                self._dicts[id(names)] = names
                return None if way is Way.STATE else names[key]
        value = getattr(owner, key)
        _need(is_held(owner) and (way is not Way.FIXED or is_fixed(owner, key)))
        if way is Way.ATTRIBUTE:
            _need(is_held(value))
            self._found.setdefault(key, []).append((owner, value))
        return value

    def _now(self) -> list[int]:
        assert _DICT_VERSION is not None
        return list(map(_DICT_VERSION, self._states))

    def holds(self) -> bool:
        """Whether nothing has changed."""
        if self._now() != self._versions:
            return False
        for get, owner, value in self._few:
            if get(owner) is not value:
                return False
        return all(all(map(is_, map(get, owners), was)) for get, owners, was in self._many)


def _parted(pairs: list[tuple[object, object]]) -> tuple[list[object], list[object]]:
    return [owner for owner, _ in pairs], [value for _, value in pairs]


def _need(fits: bool) -> None:
    if not fits:
        raise TypeError("an object of another kind")


def is_fixed(owner: object, name: str) -> bool:
    """Whether an attribute stays what it is as long as its owner lives."""
    return (type(owner), name) in _FIXED


def is_held(value: object) -> bool:
    """Whether a memory may hold an object: it holds no tensors, and nothing that may."""
    if type(value) is types.FunctionType:
        return _holds_little(value, ())
    if type(value) is tuple:
        return all(map(is_held, value))
    return type(value) in _TYPES or isinstance(value, type | Enum)


def _holds_little(function: types.FunctionType, within: tuple[object, ...]) -> bool:
    """Whether closures and defaults hold no more than what may be held."""
    if function in within:
        return True
    values = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    for cell in function.__closure__ or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:  # not bound yet
            continue
    inner = (*within, function)
    return all(
        _holds_little(v, inner) if type(v) is types.FunctionType else is_held(v) for v in values
    )


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


def _numbers_dicts() -> Callable[[dict[str, object]], int] | None:
    """What gives the version of a dict, tried on dicts made for it; None if nothing does."""
    version = dict_version()
    if version is None:
        return None
    names: dict[str, object] = {"a": 1}
    other: dict[str, object] = {"a": 1}
    changes: tuple[Callable[[], object], ...] = (
        lambda: names.update(b=1),
        lambda: names.update(a=2),
        lambda: names.update(a=1),
        lambda: names.pop("a"),
    )
    try:
        seen, fixed = [version(names)], version(other)
        for change in changes:
            if version(names) != seen[-1]:
                return None
            change()
            seen.append(version(names))
        told = len({*seen, fixed}) == 6 and version(other) == fixed
    except Exception:  # a private function
        return None
    return version if told else None


_DICT_VERSION = _numbers_dicts()
