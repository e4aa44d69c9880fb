"""Functions that elements can be given: Python's own, and math's.

math.sqrt(x), torch.sqrt(x)      the row sqrt
max(a, b)                        as Python has it: b where b > a, else a; nan as it comes
round(x)                         to even, an int
"""

import ast
import builtins
import math
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from astjit.frontend.carriers import Float, Int
from astjit.frontend.elements import operators
from astjit.frontend.elements.containers import iterated, static
from astjit.frontend.elements.environment import Once, Record, contains_dynamic
from astjit.frontend.elements.expressions import choose
from astjit.frontend.elements.frames import Frame, shown
from astjit.frontend.elements.kinds import (
    BOOL,
    FLOAT,
    INT,
    Dynamic,
    Kind,
    arithmetic,
    is_number,
    kind_of,
    promoted,
)
from astjit.frontend.elements.operators import guarded, torch_row, truth

Args = Sequence[object]
Named = Mapping[str, object]
Handler = Callable[[Frame, ast.AST, Args], object]

# math's functions of floats that are torch's, by torch's name.
_OF_FLOATS = {
    **{getattr(math, n): f"torch.{n}" for n in ("sqrt", "exp", "expm1", "log2", "log10", "log1p")},
    **{getattr(math, n): f"torch.{n}" for n in ("sin", "cos", "tan", "asin", "acos", "atan")},
    **{getattr(math, n): f"torch.{n}" for n in ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh")},
    **{getattr(math, n): f"torch.{n}" for n in ("erf", "erfc", "copysign", "fmod")},
    **{getattr(math, n): f"torch.{n}" for n in ("exp2", "nextafter") if hasattr(math, n)},
    math.atan2: "torch.atan2",
    math.hypot: "torch.hypot",
    math.fabs: "torch.abs",
    math.pow: "torch.pow",
    math.radians: "torch.deg2rad",
    math.degrees: "torch.rad2deg",
}
_ASKED = {math.isnan: "isnan", math.isinf: "isinf", math.isfinite: "isfinite"}
_TO_INT = {math.floor: "floor", math.ceil: "ceil", math.trunc: "trunc", int: "trunc"}


def _floats(frame: Frame, node: ast.AST, values: Args) -> Kind:
    """The float kind in which numbers are computed."""
    for value in values:
        if not is_number(value):
            raise frame.error("AJ103", node, f"a function of numbers is given {shown(value)}")
    kind = promoted(*(kind_of(v) for v in values))
    return kind if kind.is_float else FLOAT


def of_math(frame: Frame, node: ast.AST, function: Any, args: Args) -> object:
    """A function of the math module on elements."""
    region = frame.region
    if function in _TO_INT:
        return _whole(frame, node, _TO_INT[function], *args)
    if function in _ASKED and len(args) == 1:
        kind = _floats(frame, node, args)
        return guarded(frame, node, lambda: region.op(_ASKED[function], kind, *args, result=BOOL))
    if function is math.log and len(args) in (1, 2):
        kind = _floats(frame, node, args)
        logs = [guarded(frame, node, lambda a=a: region.op("log", kind, a)) for a in args]  # type: ignore[misc]
        return logs[0] if len(logs) == 1 else operators.binary(frame, node, ast.Div(), *logs)
    _count(frame, node, args, 2 if function in _PAIRS else 1)
    name, kind = _OF_FLOATS[function], _floats(frame, node, args)
    if function in _TENSORS_ONLY:
        args = [Dynamic(region.real(a, kind), kind) for a in args]
    return guarded(frame, node, lambda: torch_row(region, name, kind, *args))


_PAIRS = (math.atan2, math.copysign, math.fmod, math.hypot, math.pow)
_PAIRS = (*_PAIRS, *(getattr(math, n) for n in ("nextafter",) if hasattr(math, n)))
_TENSORS_ONLY = (math.atan2, math.hypot)  # torch gives numbers to neither


def _count(frame: Frame, node: ast.AST, args: Args, *wanted: int) -> None:
    if len(args) not in wanted:
        numbers = " or ".join(map(str, wanted))
        raise frame.error("AJ109", node, f"{len(args)} arguments", f"{numbers} of them")


def _whole(frame: Frame, node: ast.AST, row: str, *args: object) -> object:
    """A float as an int: towards zero, down or up."""
    _count(frame, node, args, 1)
    (value,) = args
    if not is_number(value):
        raise frame.error("AJ103", node, f"an int of {shown(value)}")
    kind = kind_of(value)
    region = frame.region
    if not kind.is_float:
        return guarded(frame, node, lambda: Dynamic(region.value(value, INT), INT))
    return guarded(frame, node, lambda: region.converted(region.op(row, kind, value), INT))


# --- Python's own --------------------------------------------------------------------------------


def _absolute(frame: Frame, node: ast.AST, args: Args) -> object:
    _count(frame, node, args, 1)
    kind = arithmetic(kind_of(args[0]))
    return guarded(frame, node, lambda: frame.region.op("abs", kind, args[0]))


def _largest(sign: ast.cmpop) -> Handler:
    def chosen(frame: Frame, node: ast.AST, args: Args) -> object:
        values = iterated(frame, node, args[0]) if len(args) == 1 else list(args)
        if not values:
            raise frame.error("AJ111", node, "Python raises ValueError: nothing to choose from")
        best = values[0]
        for value in values[1:]:
            better = operators.compare(frame, node, sign, value, best)
            best = choose(frame, node, better, lambda v=value: v, lambda b=best: b)  # type: ignore[misc]
        return best

    return chosen


def _round(frame: Frame, node: ast.AST, args: Args) -> object:
    """To the nearest int, halves to even."""
    if len(args) == 2:
        raise frame.error("AJ103", node, "round() to digits", "round(x * 100) / 100")
    return _whole(frame, node, "round", *args)


def _float(frame: Frame, node: ast.AST, args: Args) -> object:
    _count(frame, node, args, 1)
    return guarded(frame, node, lambda: Dynamic(frame.region.value(args[0], FLOAT), FLOAT))


def _bool(frame: Frame, node: ast.AST, args: Args) -> object:
    _count(frame, node, args, 1)
    return truth(frame, node, args[0])


def _pow(frame: Frame, node: ast.AST, args: Args) -> object:
    _count(frame, node, args, 2)
    return operators.binary(frame, node, ast.Pow(), *args)


def _divmod(frame: Frame, node: ast.AST, args: Args) -> object:
    _count(frame, node, args, 2)
    return (
        operators.binary(frame, node, ast.FloorDiv(), *args),
        operators.binary(frame, node, ast.Mod(), *args),
    )


def _sum(frame: Frame, node: ast.AST, args: Args) -> object:
    _count(frame, node, args, 1, 2)
    total = args[1] if len(args) == 2 else 0
    for value in iterated(frame, node, args[0]):
        total = operators.binary(frame, node, ast.Add(), total, value)
    return total


def _product(frame: Frame, node: ast.AST, args: Args) -> object:
    _count(frame, node, args, 1)
    total: object = 1
    for value in iterated(frame, node, args[0]):
        total = operators.binary(frame, node, ast.Mult(), total, value)
    return total


def _any(frame: Frame, node: ast.AST, args: Args) -> object:
    _count(frame, node, args, 1)
    found: object = False
    for value in iterated(frame, node, args[0]):
        found = operators.either(frame, node, found, truth(frame, node, value))
    return found


def _all(frame: Frame, node: ast.AST, args: Args) -> object:
    _count(frame, node, args, 1)
    found: object = True
    for value in iterated(frame, node, args[0]):
        found = operators.both(frame, node, found, truth(frame, node, value))
    return found


def _length(frame: Frame, node: ast.AST, args: Args) -> object:
    _count(frame, node, args, 1)
    if isinstance(args[0], tuple | list | dict | frozenset):
        return len(args[0])
    raise frame.error("AJ103", node, f"the length of {shown(args[0])}")


@dataclass(frozen=True, slots=True)
class Span:
    """A range whose bounds are known when the function runs.

    Attributes:
        start: a number, as are the others.
        stop: where it ends.
        step: not 0.
    """

    start: object
    stop: object
    step: object


def _range(frame: Frame, node: ast.AST, args: Args) -> object:
    _count(frame, node, args, 1, 2, 3)
    for value in args:
        if not is_number(value) or kind_of(value).is_float:
            raise frame.error("AJ103", node, f"range() of {shown(value)}", "ints")
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    bounds = (start, stop, step)
    if any(isinstance(v, Dynamic | Int) for v in bounds):
        if type(step) in (int, bool) and not step:
            raise frame.error("AJ111", node, "Python raises ValueError: the step is 0")
        return Span(*bounds)
    numbers: Any = bounds
    return operators.known(frame, node, lambda: range(*numbers))


def _once(items: Iterable[object], *sources: object) -> Once:
    """What an iterator over others gives."""
    found = [s for s in sources if isinstance(s, Once)]
    reads = frozenset[str]().union(*(s.reads for s in found))
    return Once(tuple(items), reads, any(s.stops for s in found))


def _zip(frame: Frame, node: ast.AST, args: Args, strict: bool = False) -> object:
    taken = [iterated(frame, node, a) for a in args]
    if strict and len({len(t) for t in taken}) > 1:
        raise frame.error("AJ111", node, "Python raises ValueError: one is longer than another")
    return _once(zip(*taken, strict=False), *args)


def _enumerate(frame: Frame, node: ast.AST, args: Args) -> object:
    _count(frame, node, args, 1, 2)
    first = static(frame, node, args[1]) if len(args) == 2 else 0
    return _once(enumerate(iterated(frame, node, args[0]), first), args[0])  # type: ignore[arg-type]


def _reversed(frame: Frame, node: ast.AST, args: Args) -> object:
    _count(frame, node, args, 1)
    if isinstance(args[0], range):
        return args[0][::-1]
    return _once(iterated(frame, node, frame.kept(node, args[0]))[::-1])


def _tuple(frame: Frame, node: ast.AST, args: Args) -> object:
    _count(frame, node, args, 0, 1)
    return tuple(iterated(frame, node, args[0])) if args else ()


def _list(frame: Frame, node: ast.AST, args: Args) -> object:
    return list(_tuple(frame, node, args))  # type: ignore[call-overload]


def _isinstance(frame: Frame, node: ast.AST, args: Args) -> object:
    """Of an element: whether the class is that of its kind."""
    _count(frame, node, args, 2)
    value, classes = frame.kept(node, args[0]), args[1]
    if isinstance(classes, types.UnionType):
        classes = classes.__args__
    found = classes if isinstance(classes, tuple) else (classes,)
    return any(is_of(frame, node, value, c) for c in found)


def is_of(frame: Frame, node: ast.AST, value: object, cls: object) -> bool:
    """Whether a value is of a class, that of its kind if it is an element.

    Raises:
        ElementError: for what is no class, or one that decides that itself.
    """
    if not isinstance(cls, type):
        raise frame.error("AJ103", node, "isinstance() of what is no class", "a class")
    if isinstance(value, Record):
        own: type = value.cls
    elif isinstance(value, Dynamic | Int | Float):
        own = {BOOL: bool, INT: int}.get(kind_of(value), float)
    else:
        own = type(value)
    if type(cls).__instancecheck__ is not type.__instancecheck__:
        if isinstance(value, Record | Dynamic):
            return issubclass(own, cls)
        return isinstance(value, cls)
    return issubclass(own, cls)


_BUILTINS: dict[object, Handler] = {
    abs: _absolute,
    range: _range,
    max: _largest(ast.Gt()),
    min: _largest(ast.Lt()),
    round: _round,
    float: _float,
    bool: _bool,
    pow: _pow,
    divmod: _divmod,
    sum: _sum,
    math.prod: _product,
    any: _any,
    all: _all,
    len: _length,
    zip: _zip,
    enumerate: _enumerate,
    reversed: _reversed,
    tuple: _tuple,
    list: _list,
    isinstance: _isinstance,
}


def is_known(function: object) -> bool:
    """Whether a function of Python or of math is known here."""
    kinds = type | type(len)
    if not isinstance(function, kinds):
        return False
    return (
        function in _BUILTINS
        or function in _TO_INT
        or function in _ASKED
        or function in _OF_FLOATS
        or function is math.log
    )


def of_python(frame: Frame, node: ast.AST, function: Any, args: Args, named: Named) -> object:
    """A function of Python or of math on elements.

    Raises:
        ElementError: for arguments that it does not take here.
    """
    if function is zip and set(named) == {"strict"}:
        return _zip(frame, node, args, bool(static(frame, node, named["strict"])))
    if function in (sum, enumerate) and set(named) == {"start"} and len(args) == 1:
        args, named = (*args, named["start"]), {}
    if named:
        seen = f"{function.__name__}({next(iter(named))}=...) on elements"
        raise frame.error("AJ109", node, seen, "a loop that does the same")
    if function in _BUILTINS:
        try:
            return _BUILTINS[function](frame, node, args)
        except TypeError as error:
            raise frame.error("AJ103", node, str(error)) from error
    return of_math(frame, node, function, args)


def can_be_called_now(function: object, values: Sequence[object]) -> bool:
    """Whether Python can make a call now: nothing in it depends on elements."""
    own = (
        function in (zip, enumerate, reversed, isinstance, range) if _hashable(function) else False
    )
    return not own and not any(map(contains_dynamic, values))


def _hashable(function: object) -> bool:
    return isinstance(function, type | type(builtins.len))
