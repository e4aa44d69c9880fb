"""Objects that element functions make: of namedtuples and of frozen dataclasses.

Point(x, y=1.0)      a Record of the class with the values of its fields; no code of the class runs
"""

import ast
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from astjit.frontend.elements.containers import static
from astjit.frontend.elements.environment import Record
from astjit.frontend.elements.frames import Frame

_SHOWN = ("len", "bool", "iter", "getitem", "contains", "getattr")
_COMPUTED = ("eq", "ne", "lt", "le", "gt", "ge", "add", "radd", "mul", "rmul")
_OF_TUPLES = tuple(f"__{name}__" for name in (*_SHOWN, *_COMPUTED))


def constructed(
    frame: Frame, node: ast.AST, cls: Any, args: Sequence[object], named: Mapping[str, object]
) -> object:
    """An object of a namedtuple or of a frozen dataclass; None for any other class."""
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        if any(getattr(cls, n, None) is not getattr(tuple, n, None) for n in _OF_TUPLES):
            seen = f"a {cls.__name__}, which is no plain tuple"
            raise frame.error("AJ103", node, seen, "a tuple")
        names, defaults = cls._fields, dict(cls._field_defaults)
        values = _fields(frame, node, cls, names, defaults, args, named)
        return tuple.__new__(cls, values)
    if not hasattr(cls, "__dataclass_params__"):
        return None
    frozen = cls.__dataclass_params__.frozen
    plain = not hasattr(cls, "__post_init__") and "__init__" in vars(cls)
    fields = dataclasses.fields(cls)
    if not frozen or not plain or not all(f.init and not f.kw_only for f in fields):
        seen = f"an object of {cls.__name__}"
        raise frame.error("AJ103", node, seen, "a frozen dataclass without __post_init__")
    defaults = {f.name: f.default for f in fields if f.default is not dataclasses.MISSING}
    names = tuple(f.name for f in fields)
    return Record(cls, names, tuple(_fields(frame, node, cls, names, defaults, args, named)))


def _fields(
    frame: Frame,
    node: ast.AST,
    cls: type,
    names: Sequence[str],
    defaults: Mapping[str, object],
    args: Sequence[object],
    named: Mapping[str, object],
) -> list[object]:
    if len(args) > len(names) or any(n not in names[len(args) :] for n in named):
        raise frame.error("AJ109", node, f"arguments that do not fit {cls.__name__}")
    found = {**dict(zip(names, args, strict=False)), **named}
    missing = [n for n in names if n not in found and n not in defaults]
    if missing:
        raise frame.error("AJ109", node, f"no `{missing[0]}` for {cls.__name__}")
    values = [found[n] if n in found else static(frame, node, defaults[n]) for n in names]
    return [frame.kept(node, value) for value in values]
