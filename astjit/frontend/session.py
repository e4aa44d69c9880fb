"""What all parts of one capture share, and the hooks that rewritten code calls.

H.name, H.cell              a global, a closure cell
H.attribute, H.item         `o.a`, `o[i]`
H.call                      `f(...)`
H.operand, H.test           what an operator, a condition is given
H.bind, H.unpack            `y = ...`, `a, b = ...`
H.set_attribute, ...        stores
"""

import enum
import itertools
import operator
import sys
import types
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

import torch

from astjit.frontend.branches import Branches
from astjit.frontend.capture import Capture
from astjit.frontend.carriers import Float, Int
from astjit.frontend.loop_sizes import Unlooped
from astjit.frontend.marks import Answer
from astjit.frontend.outside import Outside, is_container, is_mapping, is_sequence
from astjit.frontend.shadows import GONE, UNTOUCHED, DictShadow, ListShadow
from astjit.frontend.source import is_rewritten
from astjit.frontend.stand_ins import SPECIAL, StandIns
from astjit.frontend.stops import Stop
from astjit.frontend.symbolic import SymbolicTensor

TRUSTED = ("collections", "fractions", "decimal", "datetime", "types", "typing", "torch._tensor")
"""Modules whose classes' methods read nothing but the objects they are given."""
PLAIN = (int, float, bool, str, bytes, type(None), complex, slice, range, Int, Float, torch.Size)


_IN_PYTHON = 1 << 9  # of the flags of a class


@dataclass(slots=True)
class Session:
    """One capture.

    Attributes:
        capture: the SSA function that grows.
        outside: the objects that were there before.
        caller: calls a function or object the way capture does.
        made: classes defined during capture, whose methods are rewritten code.
        answer: to `is_compiling()`.
        stand_ins: what C code is given for objects with operators written in Python.
        kept: values that one hook leaves for the next.
        keys: objects with Python code that became keys, and their hashes.
        handled: the exception that the caller was handling when the capture began.
        thrown: exceptions that the user's code raised and that no `except Exception` catches.
        hooks: what rewritten code reaches, where it is the same for every function.
        apart: of loops how many iterations are captured by themselves: None for all.
        tried: loops that were captured as one.
        branches: what is known of the `if`s on tensors.
    """

    capture: Capture
    outside: Outside
    caller: "Callable[[Session, object, tuple[object, ...], dict[str, object]], object]"
    made: dict[int, type] = field(default_factory=dict)
    answer: Answer = field(default_factory=Answer)
    stand_ins: StandIns = field(init=False)
    kept: list[object] = field(default_factory=list)
    keys: list[tuple[object, int]] = field(default_factory=list)
    handled: BaseException | None = field(default_factory=lambda: sys.exc_info()[1])
    thrown: list[BaseException] = field(default_factory=list)
    hooks: dict[str, object] = field(default_factory=dict)
    apart: dict[object, int | None] = field(default_factory=dict)
    tried: list[object] = field(default_factory=list)
    branches: Branches = field(default_factory=Branches)

    def unchanged(self, what: str) -> None:
        """Raise Unlooped while the body of a loop is captured once for all iterations."""
        if self.capture.trace is not None:
            raise Unlooped(what)

    def __post_init__(self) -> None:
        self.stand_ins = StandIns(self)

    def call(self, function: object, *args: object, **kwargs: object) -> object:
        """Call something during capture."""
        return self.caller(self, function, args, kwargs)

    def class_path(self, cls: type) -> str | None:
        """How guards name a class; None for one made during capture."""
        if id(cls) in self.made:
            return None
        return self.outside.path(cls) or self.outside.constant(cls.__name__, cls)

    def python_method(self, value: object, *names: str) -> types.FunctionType | None:
        """The first of these special methods that Python code outside the capture defines."""
        cls = type(value)
        if cls in (Int, Float) or isinstance(value, enum.Enum):
            return None
        trusted = cls.__module__ in TRUSTED and self.outside.path(value) is None
        for name in names:
            found = getattr(cls, name, None)
            if isinstance(found, types.FunctionType) and not is_rewritten(found.__code__):
                return None if trusted else found
        return None

    def speaks(self, value: object) -> bool:
        """Whether Python code outside the capture says what operators do with a value."""
        return not is_static(value) and self.python_method(value, *SPECIAL) is not None

    def as_now(self, value: object, *names: str) -> None:
        """Guard that the class of a value has the special methods that it has now, and no other."""
        if type(value).__flags__ & _IN_PYTHON and (path := self.class_path(type(value))):
            self.outside.methods(type(value), path, names)

    def bound(self, function: types.FunctionType, owner: object) -> types.MethodType:
        """A method that was found on the class of `owner`, with its path recorded."""
        for cls in type(owner).__mro__:
            for name, value in vars(cls).items():
                if value is function and (path := self.class_path(cls)):
                    self.outside.read(function, f"{path}.{name}")
        return types.MethodType(function, owner)


def is_static(value: object) -> bool:
    """A value that no hook needs to look at."""
    return value is None or type(value) in PLAIN or isinstance(value, SymbolicTensor)


def operand(session: Session, value: object) -> object:
    """What an operator is given: outside containers copied, with their items read."""
    if is_static(value):
        return value
    if is_container(value):
        return session.outside.exposed(value)
    if session.speaks(value):
        return session.stand_ins.of(value)
    session.as_now(value, "__eq__")
    return value


def stood_in(session: Session, value: object, depth: int = 4) -> object:
    """A value for C code that looks at what it holds: stand-ins for objects with Python code."""
    if is_static(value) or isinstance(value, type | types.FunctionType | types.MethodType):
        return value
    if depth and type(value) in (list, tuple, dict):
        parts = value.values() if isinstance(value, dict) else value
        inner = [stood_in(session, part, depth - 1) for part in parts]  # type: ignore[attr-defined]
        if all(a is b for a, b in zip(inner, parts, strict=True)):  # type: ignore[call-overload]
            return value
        if isinstance(value, dict):
            return dict(zip(value, inner, strict=True))
        return type(value)(inner)  # type: ignore[call-arg]
    return session.stand_ins.of(value) if session.speaks(value) else value


def test(session: Session, value: object) -> object:
    """A condition: itself, with what its truth depends on guarded.

    Raises:
        Stop: for a tensor.
    """
    if isinstance(value, SymbolicTensor):
        instead = "torch.where(condition, a, b)"
        raise Stop("a condition on the values of a tensor", syntax=True, instead=instead)
    if not is_static(value):
        if is_container(value) or session.outside.overlay.found(value):
            known = session.outside.path(value) is not None
            if known and bool(count := session.outside.length(value)) is not bool(value):
                return bool(count)  # as it is after the stores of this call
        elif session.python_method(value, "__bool__", "__len__"):
            return session.stand_ins.of(value)
        else:
            session.as_now(value, "__bool__", "__len__")
    return value


def iterate(session: Session, value: object) -> object:
    """What a `for`, a star or an unpacking iterates over.

    Raises:
        Stop: for an iterator that belongs to the caller.
    """
    if isinstance(value, SymbolicTensor):
        if not value.kind.rank:
            raise TypeError("iteration over a 0-d tensor")
        size = value.shape[0]
        return [value[i] for i in range(size)]
    if is_static(value):
        return value
    if hasattr(type(value), "__next__"):
        session.unchanged("an iterator is advanced in a loop")
    if is_container(value) or type(value) is set:
        return session.outside.items(value)
    if (found := session.python_method(value, "__iter__")) is not None:
        iterator = session.call(session.bound(found, value))
        return _steps(session, iterator) if iterator is value else iterate(session, iterator)
    if session.python_method(value, "__next__", "__getitem__"):
        return _steps(session, value)
    if session.outside.path(value) is not None:
        if type(value) in (set, frozenset) or isinstance(value, type):
            return value
        raise Stop(f"iteration over {session.outside.path(value)}, a {type(value).__name__}")
    return value


def _steps(session: Session, iterator: object) -> Generator[object, None, object]:
    """What an iterator written in Python gives, or `o[0], o[1], ...` until an IndexError."""
    if (found := session.python_method(iterator, "__next__")) is not None:
        while True:
            try:
                given = session.call(session.bound(found, iterator))
            except StopIteration as stop:
                return stop.value
            yield given
    if (found := session.python_method(iterator, "__getitem__")) is None:
        raise TypeError(f"{type(iterator).__name__!r} object is not iterable")
    for index in itertools.count():
        try:
            given = session.call(session.bound(found, iterator), index)
        except IndexError:
            break
        yield given
    return None


def contains(session: Session, container: object, item: object) -> bool:
    """`item in container`, guarded where the container is outside.

    Raises:
        Stop: for tensors.
    """
    if isinstance(container, SymbolicTensor):
        raise Stop("`in` reads the values of a tensor")
    if method := session.python_method(container, "__contains__"):
        return bool(test(session, session.call(session.bound(method, container), item)))
    if hasattr(type(container), "__next__"):
        session.unchanged("`in` advances an iterator in a loop")
    path = session.outside.path(container)
    hashed = type(container) in (set, frozenset, dict) and path is None
    if hashed and type(item).__hash__ in (object.__hash__, SymbolicTensor.__hash__):
        others: Any = container
        return any(identical(session, item, other) for other in others)
    if isinstance(item, SymbolicTensor):
        raise Stop("`in` reads the values of a tensor")
    if path is not None and is_mapping(container):
        container = session.outside.real(container)
        stored = _stored(session, container, plain(item))
        if stored is not UNTOUCHED:
            return stored is not GONE
        found = item in container  # type: ignore[operator]
        asked = f"{session.outside.key(plain(item))} in {path}"
        session.capture.guard(asked if found else f"not ({asked})", f"whether {asked}")
        return bool(found)
    if isinstance(container, enum.EnumType):
        return item in container  # type: ignore[operator]
    held = container
    if session.speaks(container):
        held = session.stand_ins.of(container)
        if not hasattr(type(container), "__contains__"):
            held = iterate(session, container)
    else:
        held = stood_in(session, session.outside.exposed(container))
    return bool(stood_in(session, operand(session, item)) in held)  # type: ignore[operator]


def identical(session: Session, one: object, other: object) -> bool:
    """`one is other`, guarded where both were there before and differ.

    Raises:
        Stop: for two numbers: whether equal ones are one object is up to Python.
    """
    if one is other:
        return True  # one object at two paths is guarded where it is read
    if all(type(value) in (int, float, Int, Float) for value in (one, other)):
        raise Stop("`is` between two numbers")
    paths = [_place(session, value) for value in (one, other)]
    if all(paths):
        session.capture.guard(f"{paths[0]} is not {paths[1]}", f"{paths[0]} is not {paths[1]}")
    return False


def _place(session: Session, value: object) -> str | None:
    if isinstance(value, SymbolicTensor):
        session.capture.either.check(value.place.storage, "is compared by `is`")
        return value.origin.path if value.origin is not None else None
    return session.outside.path(value)


def plain(value: object) -> object:
    """An index or key as a plain value: run-time numbers are pinned."""
    if isinstance(value, Int):
        return int(value)
    if isinstance(value, Float):
        return float(value)
    if type(value) is tuple:
        return tuple(map(plain, value))
    return value


def item(session: Session, owner: object, index: object) -> object:
    """`owner[index]`."""
    if isinstance(owner, SymbolicTensor):
        return owner[session.outside.exposed(index)]
    path = session.outside.path(owner)
    if path is not None and is_container(owner):
        if isinstance(index, slice):
            return operator.getitem(session.outside.items(owner), index)
        place = plain(index)
        owner = session.outside.real(owner)
        if (stored := _stored(session, owner, place)) is not UNTOUCHED:
            if stored is GONE:
                raise KeyError(place)
            return stored
        value = owner[place]  # type: ignore[index]
        if is_sequence(owner) and isinstance(place, int) and place < 0:
            session.outside.length(owner)
            place += len(owner)  # type: ignore[arg-type]
        return session.outside.read(value, f"{path}[{session.outside.key(place)}]")
    if (found := session.python_method(owner, "__getitem__")) is not None:
        return session.call(session.bound(found, owner), index)
    if path is not None and not isinstance(owner, (str, bytes, range, torch.Size, type)):
        raise Stop(f"an item of {path}, a {type(owner).__name__}")
    if type(owner) in (list, tuple, torch.Size) and isinstance(index, Int):
        index = int(index)
    if not is_static(index):
        index = key(session, index) if is_mapping(owner) else operand(session, index)
    if isinstance(owner, dict) and hasattr(type(owner), "__missing__") and index not in owner:
        session.unchanged(f"a {type(owner).__name__} is asked for what it lacks")
    return operator.getitem(owner, index)  # type: ignore[call-overload]


def _stored(session: Session, owner: object, key: object) -> object:
    """What an outside container holds under a key after stores, UNTOUCHED where there was none."""
    shadow = session.outside.overlay.found(owner)
    if isinstance(shadow, ListShadow):
        return shadow.at(key)
    return shadow.get(key) if isinstance(shadow, DictShadow) else UNTOUCHED


def key(session: Session, value: object) -> object:
    """A value that becomes the key of a dict or an element of a set.

    Python will hash and compare it, unseen. So the same is done here first, through the capture:
    what that reads is guarded, and effects end the capture.
    """
    if is_static(value) or session.python_method(value, "__hash__", "__eq__") is None:
        return value
    number = hash(session.stand_ins.of(value))
    for other, known in session.keys:
        if known == number and other is not value:
            bool(session.stand_ins.of(other) == session.stand_ins.of(value))
            bool(session.stand_ins.of(value) == session.stand_ins.of(other))
    session.keys.append((value, number))
    return value


def bind(session: Session, name: str, value: object) -> object:
    """`name = value`."""
    session.capture.bind(name, value)
    return value


def shown(session: Session, value: object) -> object:
    """What an f-string formats.

    Raises:
        Stop: for objects that Python code formats.
    """
    if isinstance(value, SymbolicTensor):
        raise Stop("formatting a tensor reads its values")
    if is_static(value):
        return value
    if is_container(value):
        return stood_in(session, session.outside.exposed(value))
    return _speaking(session, value)


def _speaking(session: Session, value: object) -> object:
    """What formats an object.

    Raises:
        Stop: for one whose text has its address in it.
    """
    cls = type(value)
    if cls.__str__ is object.__str__ and cls.__repr__ is object.__repr__:
        raise Stop(f"the text of a {cls.__name__}, which shows its address")
    if isinstance(value, types.FunctionType | types.MethodType | types.GeneratorType):
        raise Stop(f"the text of a {cls.__name__}, which shows its address")
    return session.stand_ins.of(value) if session.speaks(value) else value
