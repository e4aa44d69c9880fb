"""What changes objects: made during capture they really change, others get a shadow in the overlay.

owner.name = y, del owner.name      by Python's rules: `__setattr__`, properties, slots, the dict
owner[key] = y, del owner[key]
owner.append(y), d.update(...)      `mutate`
owner SIGN= y
"""

import operator
import re
import types
from collections.abc import Callable
from typing import Any

import torch
from torch.nn.modules import module as of_all

from astjit.frontend.attributes import attribute
from astjit.frontend.carriers import Float, Int
from astjit.frontend.outside import is_container, is_mapping
from astjit.frontend.overlay import GONE, UNTOUCHED, DictShadow, ListShadow, SetShadow, apart
from astjit.frontend.session import Session, is_static, item, iterate, operand, plain
from astjit.frontend.source import is_rewritten
from astjit.frontend.stops import Stop, words
from astjit.frontend.symbolic import SymbolicTensor

MUTATORS = words(
    "append extend insert pop remove clear sort reverse update setdefault popitem add "
    "discard appendleft popleft rotate extendleft move_to_end difference_update "
    "intersection_update symmetric_difference_update __setitem__ __delitem__ __iadd__ __imul__ "
    "__ior__ __iand__ __ixor__ __isub__"
)
_PLAIN_KEYS = (str, bytes, int, float, bool, type(None), torch.dtype, torch.device)
_MODULE_PARTS = ("_parameters", "_modules", "_buffers")
_MISSING = object()

# --- attributes ---


def set_attribute(session: Session, owner: object, name: str, value: object) -> None:
    """`owner.name = value`.

    Raises:
        Stop: for what cannot be written later.
    """
    if _changes_now(session, owner, f".{name}"):
        setattr(owner, name, value)
    elif isinstance(owner, types.ModuleType):
        _namespace(session, owner, name).set(name, value)
    elif (handler := session.python_method(owner, "__setattr__")) is not None:
        session.call(session.bound(handler, owner), name, value)
    else:
        plain_set(session, owner, name, value)


def delete_attribute(session: Session, owner: object, name: str) -> None:
    """`del owner.name`.

    Raises:
        AttributeError: as Python does.
        Stop: for what cannot be deleted later.
    """
    if _changes_now(session, owner, f".{name}"):
        delattr(owner, name)
    elif isinstance(owner, types.ModuleType):
        raise Stop(f"del of {owner.__name__}.{name}")
    elif (handler := session.python_method(owner, "__delattr__")) is not None:
        if handler is not torch.nn.Module.__delattr__ or name not in vars(owner):
            raise Stop(f"del of an attribute of {type(owner).__name__}")
        plain_delete(session, owner, name)
    else:
        plain_delete(session, owner, name)


def _changes_now(session: Session, owner: object, what: str) -> bool:
    """Whether a function or class was made during capture; other objects follow Python's rules.

    Raises:
        Stop: for a tensor, or a function or class that was there before.
    """
    if isinstance(owner, SymbolicTensor):
        raise Stop(f"a store to a tensor ({what} = ...)")
    if isinstance(owner, types.FunctionType):
        if not is_rewritten(owner.__code__):
            raise Stop(f"a store to {owner.__name__}{what}")
        return True
    if isinstance(owner, type):
        if id(owner) not in session.made:
            raise Stop(f"a store to {owner.__name__}{what}")
        return True
    return False


def _static(session: Session, owner: object, name: str) -> tuple[object, str | None]:
    """What the class holds under a name, and the path at which guards find it."""
    cls = type(owner)
    home = next((c for c in cls.__mro__ if name in vars(c)), None)
    if home is None:
        return _MISSING, None
    nearest = session.class_path(cls) or session.class_path(home)
    return vars(home)[name], nearest and f"{nearest}.{name}"


def plain_set(session: Session, owner: object, name: str, value: object) -> None:
    """What `object.__setattr__` does.

    Raises:
        AttributeError: as Python does.
        Stop: for what cannot be written later.
    """
    cls = type(owner)
    static, path = _static(session, owner, name)
    if isinstance(static, property):
        if not isinstance(static.fset, types.FunctionType):
            raise AttributeError(f"property {name!r} of {cls.__name__!r} object has no setter")
        if path:
            session.outside.read(static.fset, f"{path}.fset")
        session.call(static.fset, owner, value)
        return
    slot = isinstance(static, types.MemberDescriptorType)
    if handler := session.python_method(static, "__set__"):
        session.call(session.bound(handler, static), owner, value)
        return
    in_c = isinstance(static, types.GetSetDescriptorType) and isinstance(owner, BaseException)
    if in_c and session.outside.path(owner) is None:
        object.__setattr__(owner, name, value)
        return
    if hasattr(type(static), "__set__") and not slot:
        raise Stop(f"a store through the descriptor {cls.__name__}.{name}")
    if session.outside.path(owner) is None:
        object.__setattr__(owner, name, value)
        return
    if not slot and not hasattr(owner, "__dict__"):
        raise AttributeError(f"{cls.__name__!r} object has no attribute {name!r}")
    if static is _MISSING and (class_path := session.class_path(cls)):
        test = f"not hasattr({class_path}, {name!r})"
        session.capture.guard(test, f"{class_path} has no {name}")
    _namespace(session, owner, name, slot=slot).set(name, value)


def plain_delete(session: Session, owner: object, name: str) -> None:
    """What `object.__delattr__` does.

    Raises:
        AttributeError: as Python does.
        Stop: for what cannot be deleted later.
    """
    static, _ = _static(session, owner, name)
    slot = isinstance(static, types.MemberDescriptorType)
    if hasattr(type(static), "__delete__") and not slot:
        raise Stop(f"del of the descriptor {type(owner).__name__}.{name}")
    path = session.outside.path(owner)
    if path is None:
        object.__delattr__(owner, name)
        return
    shadow = _namespace(session, owner, name, slot=slot)
    state = shadow.get(name)
    if state is UNTOUCHED:
        if not (hasattr(owner, name) if slot else name in shadow.real):
            state = GONE
        else:
            test = f"hasattr({path}, {name!r})" if slot else f"{name!r} in {path}.__dict__"
            session.capture.guard(test, f"{path} has {name}")
    if state is GONE:
        raise AttributeError(f"{type(owner).__name__!r} object has no attribute {name!r}")
    shadow.delete(name)


def _namespace(session: Session, owner: object, name: str, *, slot: bool = False) -> DictShadow:
    """The shadow of an outside object's attributes.

    Raises:
        Stop: for an object whose attributes are not simply stored.
    """
    cls, outside = type(owner), session.outside
    path = outside.path(owner)
    if name.startswith("__") and name.endswith("__"):
        raise Stop(f"a store to {cls.__name__}.{name}")
    if isinstance(owner, types.ModuleType):
        if cls is not types.ModuleType:
            raise Stop(f"a store to {owner.__name__}.{name}")
        path = path or outside.constant(owner.__name__, owner)
    assert path is not None
    if not isinstance(owner, torch.nn.Module | types.ModuleType):
        written_in_c = not isinstance(cls.__setattr__, types.FunctionType)
        if written_in_c and cls.__setattr__ is not object.__setattr__:
            raise Stop(f"a store to {path}.{name}, a {cls.__name__}")
        if slot and (not written_in_c or hasattr(owner, "__dict__")):
            raise Stop(f"a store to {path}.{name}, one of the slots of {cls.__name__}")
    shadow = outside.overlay.attributes(owner, path)
    simple = cls.__setattr__ in (
        object.__setattr__,
        torch.nn.Module.__setattr__,
        types.ModuleType.__setattr__,
    )
    if simple:
        shadow.owner = path
        if class_path := session.class_path(cls):
            place = f"{class_path}.__setattr__"
            outside.same(cls.__setattr__, place, "setattr")
    return shadow


def set_module_attribute(session: Session, owner: Any, name: str, value: object) -> None:
    """What `torch.nn.Module.__setattr__` does.

    Raises:
        Stop: for parameters and submodules, which it registers.
    """
    path, outside = session.outside.path(owner), session.outside
    if path is None:
        raise Stop(f"a store to a {type(owner).__name__} that was reached without a path")
    parameter = isinstance(value, SymbolicTensor) and value.is_parameter
    if parameter or isinstance(value, torch.nn.Module | torch.nn.Parameter):
        raise Stop(f"{path}.{name} is set to a parameter or module")
    held = next((p for p in _MODULE_PARTS if name in vars(owner)[p]), "")
    if held in ("_parameters", "_modules"):
        raise Stop(f"{path}.{name}, a parameter or module, is replaced")
    if not held:
        tests = " or ".join(f"{name!r} in {path}.{part}" for part in _MODULE_PARTS)
        session.capture.guard(f"not ({tests})", f"{path}.{name} is an attribute like any other")
        plain_set(session, owner, name, value)
        return
    if not (value is None or isinstance(value, SymbolicTensor)):
        raise TypeError(f"cannot assign a {type(value).__name__} as buffer {name!r}")
    hooks = outside.constant("buffer_hooks", of_all._global_buffer_registration_hooks)
    if of_all._global_buffer_registration_hooks:
        raise Stop("hooks are registered for buffers")
    session.capture.guard(f"not {hooks}", "no hook is registered for buffers")
    buffers = vars(owner)["_buffers"]
    outside.know(buffers, f"{path}._buffers")
    session.capture.guard(f"{name!r} in {path}._buffers", f"{path}.{name} is a buffer")
    outside.overlay.of_dict(buffers, f"{path}._buffers").set(name, value)


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
    if changes and session.outside.path(target) is not None:
        name = _METHODS.get(sign, "")
        if hasattr(type(target), name):
            return mutate(session, target, name, value)
    if not is_static(target) and not changes:
        operand(session, target)
    if changes and type(target) is list and sign == "Add":
        target += _drained(session, value)
        return target
    return _IN_PLACE[sign](target, operand(session, value))


def store_attribute(session: Session, value: object, owner: object, name: str) -> None:
    """`owner.name = value`, the value evaluated first."""
    set_attribute(session, owner, name, value)


def store_item(session: Session, value: object, owner: object, index: object) -> None:
    """`owner[index] = value`, the value evaluated first."""
    set_item(session, owner, index, value)


def attribute_before(session: Session, owner: object, name: str) -> tuple[object, str, object]:
    """What `owner.name SIGN= ...` reads before the rest is evaluated."""
    return owner, name, attribute(session, owner, name)


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


def write_guards(session: Session) -> None:
    """What must hold for the stores of a capture.

    An object that is written is none of the others that the program read, as it was here.

    Raises:
        Stop: for a number that is stored while the program depends on its old value; each call
            would need a program of its own, as with `self.calls += 1; if self.calls > 10: ...`
    """
    outside, capture = session.outside, session.capture
    for write in outside.overlay.writes():
        place = write.owner + write.place
        numbers = isinstance(write.value, Int | Float) and isinstance(
            outside.known(place), Int | Float
        )
        if numbers and any(_pins(guard.test, place) for guard in capture.reads.guards):
            raise Stop(f"{place} is a counter: its value is needed, and changes at each call")
    changed = outside.overlay.changed()
    for kind in dict.fromkeys(type(owner) for owner, _ in changed):
        of_kind = [(owner, path) for owner, path in changed if type(owner) is kind]
        others = outside.others([kind], [owner for owner, _ in of_kind])
        if len(of_kind) + len(others) > 1 and not issubclass(kind, types.ModuleType):
            paths = ", ".join(path for _, path in of_kind)
            name = outside.constant("apart", apart)
            test = f"{name}(({paths},), ({''.join(f'{path}, ' for path in others)}))"
            capture.guard(test, f"{paths} is no other object")


def _pins(test: str, place: str) -> bool:
    """Whether a guard asks for one value of a number: `(s.n + 1) == 4`, not `(s.n == 4)`."""
    shown, _, value = test.rpartition(" == ")
    found = re.search(rf"(?<![\w.]){re.escape(place)}(?![\w.\[(])", shown)
    return found is not None and not value.endswith(")")
