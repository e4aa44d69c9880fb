"""Stores to items, methods that change their owner, and operators in place.

owner[key] = y, del owner[key]
owner.append(y), d.update(...)      `mutate`
owner SIGN= y

What was made during capture really changes; other objects get a shadow in the overlay.
"""

import operator
import types
from collections.abc import Callable
from typing import Any

import torch

from astjit.frontend.outside import is_container, is_mapping
from astjit.frontend.session import Session, is_static, item, iterate, operand, plain
from astjit.frontend.shadows import GONE, UNTOUCHED, DictShadow, ListShadow, SetShadow
from astjit.frontend.stops import Stop, words
from astjit.frontend.stores import set_attribute
from astjit.frontend.symbolic import SymbolicTensor

MUTATORS = words(
    "append extend insert pop remove clear sort reverse update setdefault popitem add "
    "discard appendleft popleft rotate extendleft move_to_end difference_update "
    "intersection_update symmetric_difference_update __setitem__ __delitem__ __iadd__ __imul__ "
    "__ior__ __iand__ __ixor__ __isub__"
)
_PLAIN_KEYS = (str, bytes, int, float, bool, type(None), torch.dtype, torch.device)

# --- items ---


def set_item(session: Session, owner: object, index: object, value: object) -> None:
    """`owner[index] = value`.

    Raises:
        Stop: for what cannot be written later.
    """
    if isinstance(owner, SymbolicTensor):
        owner[session.outside.exposed(index)] = value  # type: ignore[assignment]
    elif (handler := session.python_method(owner, "__setitem__")) is not None:
        session.call(session.bound(handler, owner), index, value)
    else:
        mutate(session, owner, "__setitem__", index, value)


def delete_item(session: Session, owner: object, index: object) -> None:
    """`del owner[index]`.

    Raises:
        Stop: for what cannot be deleted later.
    """
    if isinstance(owner, SymbolicTensor):
        raise TypeError("a tensor's items cannot be deleted")
    if (handler := session.python_method(owner, "__delitem__")) is not None:
        session.call(session.bound(handler, owner), index)
    else:
        mutate(session, owner, "__delitem__", index)


def mutate(session: Session, owner: Any, name: str, *args: object, **kwargs: object) -> object:
    """A method, written in C, that changes its owner.

    Raises:
        Stop: for one that cannot be done later.
    """
    session.unchanged(f"{type(owner).__name__}.{name}() in a loop")
    path = session.outside.path(owner)
    if path is None:
        return getattr(_base(owner), name)(owner, *args, **kwargs)
    owner = session.outside.real(owner)
    overlay = session.outside.overlay
    if not hasattr(type(owner), name):
        raise AttributeError(f"{type(owner).__name__!r} object has no attribute {name!r}")
    if type(owner) is list:
        made = _change_list(session, overlay.of_list(owner, path), name, args, kwargs)
    elif is_mapping(owner):
        made = _change_dict(session, overlay.of_dict(owner, path), name, args, kwargs)
    elif type(owner) is set:
        made = _change_set(session, overlay.of_set(owner, path), name, args)
    else:
        raise Stop(f"{path}.{name}(...) changes what was there before the call")
    return owner if name.startswith("__i") else made


def _base(owner: object) -> type:
    """The class written in C whose methods change an object."""
    for cls in type(owner).__mro__:
        if not cls.__flags__ & 1 << 9:  # not made by a class statement
            return cls
    return type(owner)


def _change_list(
    session: Session,
    shadow: ListShadow,
    name: str,
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> object:
    match name:
        case "append":
            shadow.append([*args])
            return None
        case "extend" | "__iadd__":
            shadow.append(_drained(session, *args))
            return None
        case "clear":
            shadow.clear()
            return None
    items = shadow.read() if name in ("sort", "remove") else shadow.opened()
    if name in ("__setitem__", "__delitem__", "insert", "pop", "__imul__") and args:
        index = args[0]
        if isinstance(index, slice):
            index = slice(plain(index.start), plain(index.stop), plain(index.step))
            args = (args[0], *(_drained(session, value) for value in args[1:]))
        args = (plain(index), *args[1:])
    compares = name == "remove" or (name == "sort" and not kwargs.get("key"))
    if compares and any(session.python_method(v, "__eq__", "__lt__") for v in (*items, *args)):
        raise Stop(f"{shadow.path}.{name}() compares objects by Python code")
    if name == "sort":
        kwargs = {k: _called(session, v) for k, v in kwargs.items()}
    found = getattr(list, name)(items, *args, **kwargs)
    return shadow.value(found) if name == "pop" else found


def _called(session: Session, value: object) -> object:
    if isinstance(value, types.FunctionType | types.MethodType):
        return lambda *args: session.call(value, *args)
    return value


def _drained(session: Session, values: object) -> list[object]:
    """The items that a list is extended by."""
    try:
        return [*iterate(session, values)]  # type: ignore[misc]
    except Exception as error:
        raise Stop(f"an iteration that fails with {type(error).__name__}") from None


def _key(key: object) -> object:
    """A key that guards and programs can name."""
    key = plain(key)
    parts = key if type(key) is tuple else (key,)
    if not all(type(p) in _PLAIN_KEYS or isinstance(p, type) for p in parts):
        raise Stop(f"a store under a key of type {type(key).__name__}")
    return key


def _held(session: Session, shadow: DictShadow, key: object) -> object:
    """What a dict holds under a key, GONE if nothing."""
    state = shadow.get(key)
    if state is not UNTOUCHED:
        return state
    shown, path = session.outside.key(key), shadow.path
    if key not in shadow.real:
        session.capture.guard(f"not ({shown} in {path})", f"whether {shown} in {path}")
        return GONE
    session.capture.guard(f"{shown} in {path}", f"whether {shown} in {path}")
    return session.outside.read(shadow.real[key], f"{path}[{shown}]")


def _change_dict(
    session: Session,
    shadow: DictShadow,
    name: str,
    args: Any,
    kwargs: dict[str, object],
) -> object:
    match name:
        case "__setitem__":
            shadow.set(_key(args[0]), args[1])
            return None
        case "setdefault":
            key, *default = args
            if (found := _held(session, shadow, _key(key))) is GONE:
                found = default[0] if default else None
                shadow.set(_key(key), found)
            return found
        case "__delitem__" | "pop":
            key, *default = args
            if (found := _held(session, shadow, _key(key))) is GONE:
                if not default:
                    raise KeyError(key)
                return default[0]
            shadow.delete(_key(key))
            return found if name == "pop" else None
        case "update" | "__ior__":
            for other in args:
                for key, value in _pairs(session, other):
                    shadow.set(_key(key), value)
            for key, value in kwargs.items():
                shadow.set(key, value)
            return None
        case "clear":
            shadow.clear()
            return None
    return getattr(type(shadow.real), name)(shadow.read(), *args, **kwargs)


def _pairs(session: Session, other: object) -> list[tuple[object, object]]:
    """What a dict is updated with.

    Raises:
        Stop: for a mapping written in Python.
    """
    if is_mapping(other):
        return list(session.outside.items(other).items())
    if hasattr(other, "keys"):
        raise Stop(f"an update with a {type(other).__name__}")
    pairs = []
    for pair in _drained(session, other):
        key, value = _drained(session, pair)
        pairs.append((key, value))
    return pairs


def _change_set(session: Session, shadow: SetShadow, name: str, args: tuple[object, ...]) -> object:
    if name == "pop":
        raise Stop(f"{shadow.path}.pop() takes any item")
    given = []
    for value in args:
        many = name not in ("add", "discard", "remove")
        values = [*iterate(session, value)] if many else [value]  # type: ignore[misc]
        if not all(type(plain(v)) in _PLAIN_KEYS for v in values):
            raise Stop(f"{shadow.path} would hold other things than numbers and strings")
        given.append({*map(plain, values)} if many else plain(value))
    getattr(set, name)(shadow.items, *given)
    return None


# --- operators ---

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
_METHODS = {
    "Add": "__iadd__",
    "Mult": "__imul__",
    "BitOr": "__ior__",
    "BitAnd": "__iand__",
    "BitXor": "__ixor__",
    "Sub": "__isub__",
}


def in_place(session: Session, sign: str, target: object, value: object) -> object:
    """`target SIGN= value`; the new value of the target.

    Raises:
        Stop: for what cannot be written later.
    """
    changes = not isinstance(target, tuple) and (is_container(target) or type(target) is set)
    if changes or not (is_static(target) or isinstance(target, tuple)):
        session.unchanged("an object changes in a loop")
    if changes and session.outside.path(target) is not None:
        name = _METHODS.get(sign, "")
        if hasattr(type(target), name):
            return mutate(session, target, name, value)
    if not is_static(target) and not changes:
        operand(session, target)
    if changes and type(target) is list and sign == "Add":
        target += _drained(session, value)
        return target
    own = f"__{_IN_PLACE[sign].__name__}__"
    known = is_static(target) or isinstance(target, torch.Tensor | tuple)
    if not known and hasattr(type(target), own) and (path := session.outside.path(target)):
        raise Stop(f"{path}, a {type(target).__name__}, is changed in place")
    return _IN_PLACE[sign](target, operand(session, value))


def store_item(session: Session, value: object, owner: object, index: object) -> None:
    """`owner[index] = value`, the value evaluated first."""
    set_item(session, owner, index, value)


def item_before(session: Session, owner: object, index: object) -> tuple[object, object, object]:
    """What `owner[index] SIGN= ...` reads before the rest is evaluated."""
    return owner, index, item(session, owner, index)


def in_place_attribute(
    session: Session, sign: str, owner: object, name: str, before: object, value: object
) -> None:
    """`owner.name SIGN= value`."""
    set_attribute(session, owner, name, in_place(session, sign, before, value))


def in_place_item(
    session: Session, sign: str, owner: object, index: object, before: object, value: object
) -> None:
    """`owner[index] SIGN= value`."""
    set_item(session, owner, index, in_place(session, sign, before, value))
