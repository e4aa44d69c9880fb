"""`owner.name` during capture, by the rules of Python's own attribute lookup.

What Python code would run (properties, `__getattr__`) is called through the capture; what is only
stored is read by path. The order is that of object.__getattribute__: data descriptors of the class,
the instance, other attributes of the class, `__getattr__`.
"""

import enum
import functools
import inspect
import types
from typing import Any

import torch

from astjit.frontend.carriers import Float, Int
from astjit.frontend.outside import STATIC, TORCH_STATIC
from astjit.frontend.session import Session
from astjit.frontend.shadows import GONE, UNTOUCHED, DictShadow
from astjit.frontend.stops import Stop
from astjit.frontend.symbolic import SymbolicTensor

_MISSING = object()
_HIDDEN = frozenset({"value", "kind", "is_parameter", "wants_grad", "alias"})  # of SymbolicTensor
_PARTS = ("_parameters", "_buffers", "_modules")  # in the order of torch.nn.Module.__getattr__
_CACHED = (functools.cached_property,)
_LOOKED_UP_IN_C = (
    *(SymbolicTensor, types.ModuleType, type, super, enum.Enum, inspect.Signature),
    *(inspect.Parameter, types.FunctionType, types.MethodType, types.BuiltinFunctionType),
)
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
    if isinstance(owner, Int | Float):
        return getattr(owner.node.keeper.pin(owner.node.number, f".{name} took its value"), name)
    if type(owner) in (*STATIC, int, float, bool, Int, Float) or isinstance(owner, TORCH_STATIC):
        return getattr(owner, name)
    if isinstance(owner, inspect.Signature | inspect.Parameter):
        return getattr(owner, name)  # made during capture, of what was guarded then
    if isinstance(owner, types.CodeType):  # it never changes
        if (path := session.outside.path(owner)) is not None:
            session.outside.same(owner, path, f"{owner.co_name}_code")
        return getattr(owner, name)
    if isinstance(owner, enum.Enum) and name in ("name", "value"):
        return getattr(owner, name)
    if isinstance(owner, types.ModuleType):
        return _of_module(session, owner, name)
    if isinstance(owner, type):
        return _of_class(session, owner, name)
    if isinstance(owner, super):
        return _of_super(session, owner, name)
    if isinstance(owner, torch.nn.Module) and hasattr(type(owner), "__astjit__"):
        return attribute(session, compiled_from(session, owner), name)
    if isinstance(owner, types.FunctionType | types.MethodType | types.BuiltinFunctionType):
        value = getattr(owner, name)
        path = session.outside.path(owner)
        return value if path is None else session.outside.read(value, f"{path}.{name}")
    return _of_object(session, owner, name)


def compiled_from(session: Session, compiled: object) -> object:
    """What a module compiled by astjit, or another callable, was made of."""
    inner = compiled.__astjit__.function  # type: ignore[attr-defined]
    path = session.outside.path(compiled)
    if not callable(inner) or path is None:
        raise Stop("a call of a transformed function")
    return session.outside.read(inner, f"{path}.__astjit__.function")


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
    if (stored := session.outside.overlay.attribute(owner, name)) is not UNTOUCHED:
        return stored
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
    if isinstance(value, types.BuiltinFunctionType) and value.__self__ is owner:
        return value  # a class method written in C, another object at each look
    if isinstance(value, types.MethodType) and value.__self__ is owner:
        session.outside.read(value.__func__, f"{path}.{name}.__func__")
        return value
    return session.outside.read(value, f"{path}.{name}")


def _of_super(session: Session, owner: Any, name: str) -> object:
    """What `super()` finds, by the path `super(Class, type_of_self).name`."""
    this, cls = owner.__thisclass__, owner.__self_class__
    after = cls.__mro__[cls.__mro__.index(this) + 1 :]
    home = next((c for c in after if name in vars(c)), None)
    static = vars(home)[name] if home is not None else _MISSING
    paths = session.class_path(this), session.class_path(cls)
    path = f"{session.outside.constant('super', super)}({paths[0]}, {paths[1]}).{name}"
    if not all(paths):  # a class made during capture
        home_path = session.class_path(home) if home is not None else None
        path = f"{home_path}.{name}" if home_path else ""
    if isinstance(static, property) and owner.__self__ is not cls:
        return _property(session, owner.__self__, static, home, name, path)
    value = getattr(owner, name)
    if isinstance(static, types.FunctionType | classmethod | staticmethod) and path:
        bound = isinstance(static, classmethod)
        function = value.__func__ if isinstance(value, types.MethodType) else value
        session.outside.read(function, f"{path}.__func__" if bound else path)
    elif path and not hasattr(type(static), "__get__") and static is not _MISSING:
        return session.outside.read(value, path)
    return value


def _of_object(session: Session, owner: object, name: str) -> object:
    """An attribute of a plain object; a `__getattribute__` of Python code is called."""
    cls = type(owner)
    lookup = cls.__getattribute__
    if not isinstance(lookup, types.FunctionType):
        return plain_attribute(session, owner, name)
    if class_path := session.class_path(cls):
        session.outside.read(lookup, f"{class_path}.__getattribute__")
    try:
        return session.call(types.MethodType(lookup, owner), name)
    except AttributeError:
        if not hasattr(cls, "__getattr__"):
            if class_path:
                lacks = f"not hasattr({class_path}, '__getattr__')"
                session.capture.guard(lacks, f"{class_path} has no __getattr__")
            raise
    return _fallback(session, owner, name)


def absence_is_guarded(session: Session, owner: object, name: str) -> bool:
    """Whether `attribute`, which raised, guarded each of the places where the name could appear.

    It did where Python code looks for attributes, which the capture followed: a plain `hasattr`
    would run that code at each call.
    """
    cls = type(owner)
    if isinstance(owner, _LOOKED_UP_IN_C) or hasattr(cls, "__astjit__") or hasattr(cls, name):
        return False
    followed = not _in_c(cls.__getattribute__) or hasattr(cls, "__getattr__")
    return followed and session.class_path(cls) is not None


def plain_attribute(session: Session, owner: object, name: str) -> object:
    """What `object.__getattribute__` finds, and for most classes all there is.

    Raises:
        AttributeError: as Python does.
        Stop: for what cannot be guarded.
    """
    cls = type(owner)
    if class_path := session.class_path(cls):
        lookup = f"{class_path}.__getattribute__"
        if _in_c(cls.__getattribute__):
            session.outside.same(cls.__getattribute__, lookup, "getattribute")
    if name == "__class__":
        return cls
    home = next((c for c in cls.__mro__ if name in vars(c)), None)
    static = vars(home)[name] if home is not None else _MISSING
    path = session.outside.path(owner)
    if isinstance(static, property):
        nearest = session.class_path(cls) or session.class_path(home or cls)
        return _property(session, owner, static, home, name, nearest and f"{nearest}.{name}")
    if path is not None:
        stored = session.outside.overlay.attribute(owner, name)
        if stored is GONE:
            return _deleted(session, owner, name, static)
        if stored is not UNTOUCHED:
            return stored
    own = getattr(owner, "__dict__", {}) if not isinstance(owner, torch.Tensor) else {}
    if name not in own and static is not _MISSING:
        made = _from_class(session, owner, name, static, home)
        if made is not _MISSING:
            return made
    if name not in own and static is _MISSING and hasattr(cls, "__getattr__"):
        if cls.__getattr__ is torch.nn.Module.__getattr__:
            return part(session, owner, name)  # type: ignore[arg-type]
        if _in_c(cls.__getattribute__):
            return _fallback(session, owner, name)
    return _stored(session, owner, name, path)


def _deleted(session: Session, owner: object, name: str, static: object) -> object:
    """What is found instead of an attribute that this call deleted."""
    slot = isinstance(static, types.MemberDescriptorType)
    if (static is not _MISSING and not slot) or hasattr(type(owner), "__getattr__"):
        raise Stop(f"{name} of a {type(owner).__name__}, which this call deleted")
    raise AttributeError(f"{type(owner).__name__!r} object has no attribute {name!r}")


def _stored(session: Session, owner: object, name: str, path: str | None) -> object:
    """What an object holds, by the path at which guards find it whatever its class redefines."""
    find = type(owner).__getattribute__
    if _in_c(find):
        place = f"{path}.{name}"
    else:
        find = object.__getattribute__
        place = f"{session.outside.constant('plain_attribute', find)}({path}, {name!r})"
    try:
        value = find(owner, name)
    except AttributeError:
        if path is not None:
            absent = f"not hasattr({path}, {name!r})"
            class_path = session.class_path(type(owner))
            if not _in_c(type(owner).__getattribute__):
                absent = f"{name!r} not in {path}.__dict__"
                if class_path and not hasattr(type(owner), name):
                    lacks = f"not hasattr({class_path}, {name!r})"
                    session.capture.guard(lacks, f"{class_path} has no {name}")
            session.capture.guard(absent, f"{path} has no {name}")
        raise
    return value if path is None else session.outside.read(value, place)


def part(session: Session, module: torch.nn.Module, name: str) -> object:
    """A parameter, buffer or submodule, as torch.nn.Module.__getattr__ finds it.

    Raises:
        AttributeError: if there is none.
    """
    path, guard = session.outside.path(module), session.capture.guard
    held = vars(module)
    home = next((h for h in _PARTS if name in held.get(h, ())), "")
    if not home:
        for other in ("__dict__", *_PARTS) if path is not None else ():
            guard(f"{name!r} not in {path}.{other}", f"{path} has no {name}")
        if path is not None and (class_path := session.class_path(type(module))):
            session.outside.same(type(module).__getattr__, f"{class_path}.__getattr__", "getattr")
            guard(f"not hasattr({class_path}, {name!r})", f"{class_path} has no {name}")
        raise AttributeError(f"{type(module).__name__!r} object has no attribute {name!r}")
    if path is None:
        return held[home][name]
    shadow = session.outside.overlay.found(held[home])
    if isinstance(shadow, DictShadow) and (stored := shadow.get(name)) is not UNTOUCHED:
        if stored is GONE:
            raise Stop(f"{path}.{name}, which this call deleted")
        return stored
    if class_path := session.class_path(type(module)):
        session.outside.same(type(module).__getattr__, f"{class_path}.__getattr__", "getattr")
        guard(f"not hasattr({class_path}, {name!r})", f"{class_path} has no {name}")
    guard(f"{name!r} not in {path}.__dict__", f"{path} has no {name} of its own")
    for other in _PARTS[: _PARTS.index(home)]:
        if held[other]:
            guard(f"{name!r} not in {path}.{other}", f"{path} has no {name} in {other}")
        else:
            guard(f"not {path}.{other}", f"{path} has nothing in {other}")
    return session.outside.read(held[home][name], f"{path}.{home}[{name!r}]")


def _in_c(function: object) -> bool:
    return not isinstance(function, types.FunctionType)


def _property(
    session: Session, owner: object, static: property, home: object, name: str, path: str | None
) -> object:
    """What a property gives, called through the capture; `path` is the property's own, if known."""
    if static.fget is None:
        return getattr(owner, name)
    assert isinstance(home, type)
    if not isinstance(static.fget, types.FunctionType):
        raise Stop(f"the property {home.__name__}.{name}")
    if path:
        session.outside.read(static.fget, f"{path}.fget")
    return session.call(static.fget, owner)


def _from_class(session: Session, owner: object, name: str, static: object, home: object) -> object:
    """A method, or `_MISSING` for what is simply stored."""
    assert isinstance(home, type)
    path, class_path = session.outside.path(owner), session.class_path(home)
    if not _in_c(type(owner).__getattribute__):
        path = None
    read = session.outside.read
    match static:
        case types.FunctionType():
            if path is not None and hasattr(owner, "__dict__"):
                own = f"{path} has no {name} of its own"
                session.capture.guard(f"{name!r} not in {path}.__dict__", own)
            if nearest := session.class_path(type(owner)) or class_path:
                read(static, f"{nearest}.{name}")
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
    if isinstance(static, functools.cached_property) and type(static) in _CACHED:
        if class_path is not None:
            read(static.func, f"vars({class_path})[{name!r}].func")
        value = session.call(static.func, owner)
        session.call(object.__setattr__, owner, name, value)
        return value
    if isinstance(static, functools._lru_cache_wrapper):
        if class_path is not None:
            read(static, f"{class_path}.{name}")
        return types.MethodType(static, owner)
    if (getter := session.python_method(static, "__get__")) is not None:
        if class_path is not None:
            read(static, f"vars({class_path})[{name!r}]")
        return session.call(session.bound(getter, static), owner, type(owner))
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
