"""What all parts of one capture share, and the hooks that rewritten code calls.

H.name, H.cell              a global, a closure cell
H.attribute, H.item         `o.a`, `o[i]`
H.call                      `f(...)`
H.operand, H.test           what an operator, a condition is given
H.bind, H.unpack            `y = ...`, `a, b = ...`
H.set_attribute, ...        stores
"""

import enum
import operator
import types
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from astjit.frontend.capture import Capture
from astjit.frontend.carriers import Float, Int
from astjit.frontend.outside import Outside, is_container, is_mapping, is_sequence
from astjit.frontend.source import is_rewritten
from astjit.frontend.stops import Stop
from astjit.frontend.symbolic import SymbolicTensor

PLAIN = (int, float, bool, str, bytes, type(None), complex, slice, range, Int, Float, torch.Size)
OPERATORS = frozenset(
    f"__{side}{name}__"
    for name in (
        "add",
        "sub",
        "mul",
        "truediv",
        "floordiv",
        "mod",
        "pow",
        "matmul",
        "and",
        "or",
        "xor",
    )
    for side in ("", "r", "i")
) | {
    "__eq__",
    "__ne__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
    "__neg__",
    "__invert__",
    "__contains__",
}


@dataclass(slots=True)
class Session:
    """One capture.

    Attributes:
        capture: the SSA function that grows.
        outside: the objects that were there before.
        caller: calls a function or object the way capture does.
        made: classes defined during capture, whose methods are rewritten code.
    """

    capture: Capture
    outside: Outside
    caller: "Callable[[Session, object, tuple[object, ...], dict[str, object]], object]"
    made: dict[int, type] = field(default_factory=dict)

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
        if type(value) in (Int, Float):
            return None
        for name in names:
            found = getattr(type(value), name, None)
            if isinstance(found, types.FunctionType) and not is_rewritten(found.__code__):
                return found
        return None

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
    """What an operator is given: outside containers copied, with their items read.

    Raises:
        Stop: for an object whose class redefines operators in Python.
    """
    if is_static(value):
        return value
    if is_container(value):
        return session.outside.exposed(value)
    if (found := session.python_method(value, *OPERATORS)) and not _same_as_builtin(found):
        raise Stop(f"an operator that {type(value).__name__} defines in Python")
    return value


def _same_as_builtin(function: types.FunctionType) -> bool:
    return function.__module__ in ("enum", "torch._tensor")


def test(session: Session, value: object) -> object:
    """A condition: itself, with what its truth depends on guarded.

    Raises:
        Stop: for a tensor.
    """
    if isinstance(value, SymbolicTensor):
        instead = "torch.where(condition, a, b)"
        raise Stop("a condition on the values of a tensor", syntax=True, instead=instead)
    if not is_static(value):
        if is_container(value):
            session.outside.length(value)
        elif session.python_method(value, "__bool__", "__len__"):
            raise Stop(f"the truth of a {type(value).__name__}, which Python code defines")
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
    if is_container(value):
        return session.outside.items(value)
    if (found := session.python_method(value, "__iter__")) is not None:
        return iterate(session, session.call(session.bound(found, value)))
    if session.python_method(value, "__next__", "__getitem__"):
        raise Stop(f"iteration over a {type(value).__name__}, which Python code defines")
    if session.outside.path(value) is not None:
        if type(value) in (set, frozenset) or isinstance(value, type):
            return value
        raise Stop(f"iteration over {session.outside.path(value)}, a {type(value).__name__}")
    return value


def contains(session: Session, container: object, item: object) -> bool:
    """`item in container`, guarded where the container is outside.

    Raises:
        Stop: for tensors.
    """
    if isinstance(container, SymbolicTensor) or isinstance(item, SymbolicTensor):
        raise Stop("`in` reads the values of a tensor")
    path = session.outside.path(container)
    if path is not None and is_mapping(container):
        found = item in container  # type: ignore[operator]
        asked = f"{session.outside.key(plain(item))} in {path}"
        session.capture.guard(asked if found else f"not ({asked})", f"whether {asked}")
        return bool(found)
    if session.python_method(container, "__contains__", "__iter__"):
        raise Stop(f"`in` on a {type(container).__name__}, which Python code defines")
    exposed = session.outside.exposed(container)
    return bool(operand(session, item) in exposed)


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
        key = plain(index)
        value = owner[key]  # type: ignore[index]
        if is_sequence(owner) and isinstance(key, int) and key < 0:
            session.outside.length(owner)
            key += len(owner)  # type: ignore[arg-type]
        return session.outside.read(value, f"{path}[{session.outside.key(key)}]")
    if (found := session.python_method(owner, "__getitem__")) is not None:
        return session.call(session.bound(found, owner), index)
    if path is not None and not isinstance(owner, (str, bytes, range, torch.Size, type)):
        raise Stop(f"an item of {path}, a {type(owner).__name__}")
    if type(owner) in (list, tuple, torch.Size) and isinstance(index, Int):
        index = int(index)
    return operator.getitem(owner, index)  # type: ignore[call-overload]


def bind(session: Session, name: str, value: object) -> object:
    """`name = value`."""
    session.capture.bind(name, value)
    return value


def unpack(session: Session, names: tuple[str, ...], value: object) -> object:
    """`a, b = value`."""
    items = iterate(session, value)
    if isinstance(items, (list, tuple)) and len(items) == len(names):
        for name, part in zip(names, items, strict=True):
            if name:
                session.capture.bind(name, part)
    return items


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
        return session.outside.exposed(value)
    if session.python_method(value, "__format__", "__str__", "__repr__"):
        raise Stop(f"the text of a {type(value).__name__}, which Python code makes")
    return value


def matched(session: Session, value: object, *named: object) -> object:
    """The subject of a `match`.

    Raises:
        Stop: for tensors and for objects that were there before.
    """
    if isinstance(value, SymbolicTensor):
        raise Stop("a match on a tensor", syntax=True)
    if is_container(value):
        return session.outside.exposed(value)
    known = session.outside.path(value)
    fixed = type(value) in PLAIN or isinstance(value, type | types.FunctionType | enum.Enum)
    if known is not None and not fixed:
        raise Stop(f"a match on {known}, a {type(value).__name__}", syntax=True)
    return value


def set_attribute(session: Session, owner: object, name: str, value: object) -> None:
    """`owner.name = value`, on objects made during capture.

    Raises:
        Stop: for an object that was there before.
    """
    refuse_store(session, owner, f".{name}")
    cls = type(owner)
    if session.python_method(owner, "__setattr__"):
        raise Stop(f"a store to an attribute of {cls.__name__}, which Python code handles")
    static = next((vars(c)[name] for c in cls.__mro__ if name in vars(c)), None)
    if isinstance(static, property) and id(cls) not in session.made:
        raise Stop(f"a store through the property {cls.__name__}.{name}")
    setattr(owner, name, value)


def set_item(session: Session, owner: object, index: object, value: object) -> None:
    """`owner[index] = value`, on containers made during capture.

    Raises:
        Stop: for a container that was there before.
    """
    if isinstance(owner, SymbolicTensor):
        owner[session.outside.exposed(index)] = value
        return
    refuse_store(session, owner, "[...]")
    if session.python_method(owner, "__setitem__"):
        raise Stop(f"a store to an item of {type(owner).__name__}, which Python code handles")
    operator.setitem(owner, index, value)  # type: ignore[call-overload]


def refuse_store(session: Session, owner: object, what: str) -> None:
    """Stop unless `owner` was made during capture."""
    if isinstance(owner, SymbolicTensor):
        raise Stop(f"a store to a tensor ({what} = ...)")
    if isinstance(owner, types.FunctionType) and is_rewritten(owner.__code__):
        return
    if isinstance(owner, types.ModuleType | types.FunctionType):
        raise Stop(f"a store to {owner.__name__}{what}")
    if isinstance(owner, type) and id(owner) not in session.made:
        raise Stop(f"a store to {owner.__name__}{what}")
    if (path := session.outside.path(owner)) is not None:
        raise Stop(f"a store to {path}{what}, which was there before the call")


_IN_PLACE: dict[str, Callable[[object, object], object]] = {
    "Add": operator.iadd,
    "Sub": operator.isub,
    "Mult": operator.imul,
    "MatMult": operator.imatmul,
    "Div": operator.itruediv,
    "Mod": operator.imod,
    "Pow": operator.ipow,
    "LShift": operator.ilshift,
    "RShift": operator.irshift,
    "BitOr": operator.ior,
    "BitXor": operator.ixor,
    "BitAnd": operator.iand,
    "FloorDiv": operator.ifloordiv,
}


def in_place(session: Session, sign: str, target: object, value: object) -> object:
    """`target SIGN= value`; the new value of the target.

    Raises:
        Stop: for a container that was there before.
    """
    if not is_static(target):
        if is_container(target) or type(target) is set:
            if not isinstance(target, tuple):
                refuse_store(session, target, "")
        else:
            operand(session, target)
    return _IN_PLACE[sign](target, operand(session, value))


def context(session: Session, manager: object) -> object:
    """A context manager that a `with` may enter during capture.

    Raises:
        Stop: for any other than no_grad and nullcontext.
    """
    if type(manager).__qualname__ in ("no_grad", "nullcontext", "set_grad_enabled") and type(
        manager
    ).__module__ in ("torch.autograd.grad_mode", "contextlib"):
        return manager
    raise Stop(f"with {type(manager).__qualname__}", syntax=True)
