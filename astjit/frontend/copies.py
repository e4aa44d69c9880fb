"""copy.copy and copy.deepcopy during capture: of containers and plain objects."""

import copyreg
from typing import Any

from astjit.frontend.attributes import attribute
from astjit.frontend.outside import is_container
from astjit.frontend.session import Session, is_static, key
from astjit.frontend.stops import Stop
from astjit.frontend.symbolic import SymbolicTensor

_SAME = (type, type(len), type(lambda: 0), type(Ellipsis), type(NotImplemented))


def shallow(session: Session, value: Any) -> object:
    """`copy.copy(value)`.

    Raises:
        Stop: for a tensor, and for objects that are copied in a way of their own.
    """
    if isinstance(value, SymbolicTensor):
        raise Stop("copy.copy of a tensor")
    if is_static(value) or isinstance(value, _SAME) or type(value) is tuple:
        return value
    if is_container(value) or type(value) in (set, frozenset):
        held = session.outside.items(value)
        return type(held)(held) if type(held) in (list, dict, set) else held
    if method := session.python_method(value, "__copy__"):
        return session.call(session.bound(method, value))
    return _object(session, value, lambda part: part)


def deep(session: Session, value: Any, memo: object = None) -> object:
    """`copy.deepcopy(value)`.

    Raises:
        Stop: for a tensor, and for objects that are copied in a way of their own.
    """
    if memo is not None:
        raise Stop("copy.deepcopy with a memo")
    return _deep(session, value, {})


def _deep(session: Session, value: Any, done: dict[int, tuple[object, object]]) -> object:
    if id(value) in done:
        return done[id(value)][1]
    if isinstance(value, SymbolicTensor):
        raise Stop("copy.deepcopy of a tensor")
    if is_static(value) or isinstance(value, _SAME):
        return value
    held = session.outside.items(value)
    made: Any
    if type(held) is list:
        made = []
        done[id(value)] = value, made
        made.extend(_deep(session, part, done) for part in held)
    elif type(held) is dict:
        made = {}
        done[id(value)] = value, made
        for name, part in held.items():
            made[key(session, _deep(session, name, done))] = _deep(session, part, done)
    elif isinstance(held, tuple) and is_container(held):
        parts = [_deep(session, part, done) for part in held]
        same = all(a is b for a, b in zip(parts, held, strict=True))
        made = value if same else tuple.__new__(type(held), parts)
    elif type(held) in (set, frozenset):
        made = type(held)(key(session, _deep(session, part, done)) for part in held)
    elif session.python_method(value, "__deepcopy__"):
        raise Stop(f"copy.deepcopy of a {type(value).__name__}, which Python code copies")
    else:
        made = _object(session, value, lambda part: _deep(session, part, done), done)
    done[id(value)] = value, made
    return made


def _object(session: Session, value: Any, part: Any, done: Any = None) -> object:
    """A copy of an object that is nothing but its attributes."""
    cls = type(value)
    own = ("__reduce_ex__", "__reduce__", "__getstate__", "__setstate__", "__new__")
    redefined = any(getattr(cls, name, None) is not getattr(object, name, None) for name in own)
    if redefined or not hasattr(value, "__dict__") or copyreg.dispatch_table.get(cls):
        raise Stop(f"a copy of a {cls.__name__}")
    made = object.__new__(cls)
    if done is not None:
        done[id(value)] = value, made
    names = list(vars(value))
    if (path := session.outside.path(value)) is not None:
        session.capture.guard(f"[*vars({path})] == {names}", f"the attributes of {path}")
    for name in names:
        vars(made)[name] = part(attribute(session, value, name))
    return made
