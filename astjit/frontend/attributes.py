"""`owner.name` during capture, by the rules of Python's own attribute lookup.

What Python code would run (properties, `__getattr__`) is called through the capture; what is only
stored is read by path. The order is that of object.__getattribute__: data descriptors of the class,
the instance, other attributes of the class, `__getattr__`.
"""

import enum
import types
from typing import Any

import torch

from astjit.frontend.carriers import Float, Int
from astjit.frontend.outside import STATIC, TORCH_STATIC
from astjit.frontend.session import Session
from astjit.frontend.stops import Stop
from astjit.frontend.symbolic import SymbolicTensor

_MISSING = object()
_HIDDEN = frozenset({"value", "kind", "is_parameter", "wants_grad", "alias"})  # of SymbolicTensor
_CONSTANT_MODULES = ("math", "cmath", "torch", "sys")


def attribute(session: Session, owner: object, name: str) -> object:
    """`owner.name`.

    Raises:
        AttributeError: as Python does.
        Stop: for what cannot be guarded.
    """
    if isinstance(owner, SymbolicTensor):
        if name in _HIDDEN:
            raise AttributeError(f"'Tensor' object has no attribute {name!r}")
        if not hasattr(torch.Tensor, name):
            return _own(session, owner, name)
        session.outside.of_tensors(name)
        return getattr(owner, name)
    if type(owner) in (*STATIC, int, float, bool, Int, Float) or isinstance(owner, TORCH_STATIC):
        return getattr(owner, name)
    if isinstance(owner, enum.Enum) and name in ("name", "value"):
        return getattr(owner, name)
    if isinstance(owner, types.ModuleType):
        return _of_module(session, owner, name)
    if isinstance(owner, type):
        return _of_class(session, owner, name)
    if isinstance(owner, super):
        return _of_super(session, owner, name)
    if isinstance(owner, types.FunctionType | types.MethodType | types.BuiltinFunctionType):
        value = getattr(owner, name)
        path = session.outside.path(owner)
        return value if path is None else session.outside.read(value, f"{path}.{name}")
    return _of_object(session, owner, name)


def _own(session: Session, owner: SymbolicTensor, name: str) -> object:
    """An attribute that the caller gave a tensor."""
    real = session.capture.real(owner)
    if real is None or owner.origin is None:
        raise AttributeError(f"'Tensor' object has no attribute {name!r}")
    path = owner.origin.path
    if name in vars(real):
        return session.outside.read(vars(real)[name], f"{path}.{name}")
    session.capture.guard(f"not hasattr({path}, {name!r})", f"{path} has no {name}")
    raise AttributeError(f"'Tensor' object has no attribute {name!r}")


def _of_module(session: Session, owner: types.ModuleType, name: str) -> object:
    path = session.outside.path(owner) or session.outside.constant(owner.__name__, owner)
    value = getattr(owner, name)
    if type(value) in (int, float) and owner.__name__ in _CONSTANT_MODULES:  # math.pi
        test = f"repr({path}.{name}) == {repr(value)!r}"
        session.capture.guard(test, f"{path}.{name} is {value}")
        return value
    return session.outside.read(value, f"{path}.{name}")


def _of_class(session: Session, owner: type, name: str) -> object:
    path = session.class_path(owner)
    value = getattr(owner, name)
    if path is None or name in ("__name__", "__qualname__", "__module__"):
        return value
    if isinstance(value, types.MethodType) and value.__self__ is owner:
        session.outside.read(value.__func__, f"{path}.{name}.__func__")
        return value
    return session.outside.read(value, f"{path}.{name}")


def _of_super(session: Session, owner: Any, name: str) -> object:
    value = getattr(owner, name)
    if isinstance(value, types.MethodType):
        for cls in type(owner.__self__).__mro__:
            if vars(cls).get(name) is value.__func__ and (path := session.class_path(cls)):
                session.outside.read(value.__func__, f"{path}.{name}")
                break
    return value


def _of_object(session: Session, owner: object, name: str) -> object:
    cls = type(owner)
    if cls.__getattribute__ is not object.__getattribute__ and not _in_c(cls.__getattribute__):
        raise Stop(f"{cls.__name__} defines __getattribute__")
    if class_path := session.class_path(cls):
        lookup = f"{class_path}.__getattribute__"
        session.outside.same(cls.__getattribute__, lookup, "getattribute")
    if name == "__class__":
        return cls
    if name == "__dict__" and session.outside.path(owner) is not None:
        raise Stop(f"__dict__ of {session.outside.path(owner)}")
    home = next((c for c in cls.__mro__ if name in vars(c)), None)
    static = vars(home)[name] if home is not None else _MISSING
    path = session.outside.path(owner)
    if isinstance(static, property):
        return _property(session, owner, static, home, name)
    own = getattr(owner, "__dict__", {}) if not isinstance(owner, torch.Tensor) else {}
    if name not in own and static is not _MISSING:
        made = _from_class(session, owner, name, static, home)
        if made is not _MISSING:
            return made
    absent = name not in own and static is _MISSING and hasattr(cls, "__getattr__")
    if absent and not isinstance(owner, torch.nn.Module):
        return _fallback(session, owner, name)
    value = getattr(owner, name)
    return value if path is None else session.outside.read(value, f"{path}.{name}")


def _in_c(function: object) -> bool:
    return not isinstance(function, types.FunctionType)


def _property(session: Session, owner: object, static: property, home: object, name: str) -> object:
    if static.fget is None:
        return getattr(owner, name)
    assert isinstance(home, type)
    if not isinstance(static.fget, types.FunctionType):
        raise Stop(f"the property {home.__name__}.{name}")
    if path := session.class_path(home):
        session.outside.read(static.fget, f"{path}.{name}.fget")
    return session.call(static.fget, owner)


def _from_class(session: Session, owner: object, name: str, static: object, home: object) -> object:
    """A method, or `_MISSING` for what is simply stored."""
    assert isinstance(home, type)
    path, class_path = session.outside.path(owner), session.class_path(home)
    read = session.outside.read
    match static:
        case types.FunctionType():
            if path is not None:
                read(static, f"{path}.{name}.__func__")
            elif class_path is not None:
                read(static, f"{class_path}.{name}")
            return types.MethodType(static, owner)
        case staticmethod():
            function, found = static.__func__, path or class_path
            return read(function, f"{found}.{name}") if found else function
        case classmethod():
            function, found = static.__func__, path or class_path
            if found:
                read(function, f"{found}.{name}.__func__")
            return types.MethodType(function, type(owner))
        case (
            types.MethodDescriptorType()
            | types.WrapperDescriptorType()
            | types.ClassMethodDescriptorType()
        ):
            return getattr(owner, name)
        case types.MemberDescriptorType() | types.GetSetDescriptorType():
            return _MISSING
    if name in getattr(home, "_fields", ()) and issubclass(home, tuple):
        return _MISSING  # a namedtuple's field
    if hasattr(type(static), "__get__"):
        raise Stop(f"the descriptor {home.__name__}.{name}")
    if path is None and class_path is not None:
        return read(static, f"{class_path}.{name}")
    return _MISSING


def _fallback(session: Session, owner: object, name: str) -> object:
    """What the class's own `__getattr__` gives, as long as there is no attribute of this name."""
    guard, path = session.capture.guard, session.outside.path(owner)
    if class_path := session.class_path(type(owner)):
        guard(f"not hasattr({class_path}, {name!r})", f"{class_path} has no {name}")
    if path is not None and hasattr(owner, "__dict__"):
        guard(f"{name!r} not in {path}.__dict__", f"{path} has no {name} of its own")
    for cls in type(owner).__mro__:
        function = vars(cls).get("__getattr__")
        if isinstance(function, types.FunctionType):
            if path := session.class_path(cls):
                session.outside.read(function, f"{path}.__getattr__")
            return session.call(types.MethodType(function, owner), name)
    raise Stop(f"__getattr__ of {type(owner).__name__}")
