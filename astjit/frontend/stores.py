"""Stores to attributes, by Python's rules: `__setattr__`, properties, descriptors, slots, the dict.

What was made during capture really changes; other objects get a shadow in the overlay.
"""

import re
import types
from typing import Any

import torch
from torch.nn.modules import module as of_all

from astjit.frontend.attributes import attribute
from astjit.frontend.carriers import Float, Int
from astjit.frontend.overlay import apart
from astjit.frontend.session import Session
from astjit.frontend.shadows import GONE, UNTOUCHED, DictShadow
from astjit.frontend.source import is_rewritten
from astjit.frontend.stops import Stop
from astjit.frontend.symbolic import SymbolicTensor
from astjit.types.shape import symbols

_MODULE_PARTS = ("_parameters", "_modules", "_buffers")
_MISSING = object()


def set_attribute(session: Session, owner: object, name: str, value: object) -> None:
    """`owner.name = value`.

    Raises:
        Stop: for what cannot be written later.
    """
    session.unchanged(f"a store to .{name} in a loop")
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
    session.unchanged(f"del of .{name} in a loop")
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
        home = next(c for c in cls.__mro__ if name in vars(c))
        if home_path := session.class_path(home):
            session.outside.read(static, f"vars({home_path})[{name!r}]")
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


def store_attribute(session: Session, value: object, owner: object, name: str) -> None:
    """`owner.name = value`, the value evaluated first."""
    set_attribute(session, owner, name, value)


def attribute_before(session: Session, owner: object, name: str) -> tuple[object, str, object]:
    """What `owner.name SIGN= ...` reads before the rest is evaluated."""
    return owner, name, attribute(session, owner, name)


# --- the end ---


def write_guards(session: Session) -> None:
    """What must hold for the stores of a capture.

    An object that is written is none of the others that the program read, as it was here.

    Raises:
        Stop: for a number that is stored while the program depends on its old value; each call
            would need a program of its own, as with `self.calls += 1; if self.calls > 10: ...`
    """
    outside, capture = session.outside, session.capture
    pinned = {capture.size_paths[s.name] for dim in capture.sizes.pins for s in symbols(dim)}
    for write in outside.overlay.writes():
        place = write.owner + write.place
        numbers = isinstance(write.value, Int | Float) and isinstance(
            outside.known(place), Int | Float
        )
        if numbers and (
            place in pinned or any(_pins(guard.test, place) for guard in capture.reads.guards)
        ):
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
