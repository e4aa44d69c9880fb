"""Operators on numbers, as Python has them: `//` and `%` floor, `/` divides, ints have 64 bits."""

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

from astjit.errors import ShapeMismatch
from astjit.frontend.carriers import Float, Int
from astjit.frontend.elements.environment import Record, contains_dynamic
from astjit.frontend.elements.frames import Frame, shown
from astjit.frontend.elements.kinds import (
    BOOL,
    FLOAT,
    INT,
    Dynamic,
    arithmetic,
    is_number,
    kind_of,
    promoted,
)
from astjit.frontend.elements.region import Region
from astjit.frontend.session import identical, test
from astjit.frontend.stops import Stop
from astjit.frontend.symbolic import SymbolicTensor
from astjit.ops.binding import bind

_SIGNS: dict[type[ast.AST], tuple[str, Callable[[Any, Any], object]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
    ast.Pow: ("**", operator.pow),
    ast.LShift: ("<<", operator.lshift),
    ast.RShift: (">>", operator.rshift),
    ast.BitAnd: ("&", operator.and_),
    ast.BitOr: ("|", operator.or_),
    ast.BitXor: ("^", operator.xor),
}
_ROWS = {"+": "add", "-": "sub", "*": "mul"}
_BITS = {"&": ("logical_and", "bitwise_and"), "|": ("logical_or", "bitwise_or")}
_BITS["^"] = ("logical_xor", "bitwise_xor")
_SHIFTS = {"<<": "bitwise_left_shift", ">>": "bitwise_right_shift"}
_COMPARISONS: dict[type[ast.AST], tuple[str, Callable[[Any, Any], object]]] = {
    ast.Eq: ("eq", operator.eq),
    ast.NotEq: ("ne", operator.ne),
    ast.Lt: ("lt", operator.lt),
    ast.LtE: ("le", operator.le),
    ast.Gt: ("gt", operator.gt),
    ast.GtE: ("ge", operator.ge),
}
_MOST = 64  # multiplications of an integer power


def known(frame: Frame, node: ast.AST, compute: Callable[[], object], instead: str = "") -> object:
    """What Python computes of values known now.

    Args:
        frame: where errors come from.
        node: for the location.
        compute: does it.
        instead: what to write where it cannot be done now.

    Raises:
        ElementError: where it raises.
    """
    try:
        return compute()
    except (ArithmeticError, TypeError, ValueError, LookupError, AttributeError) as error:
        seen = f"Python raises {type(error).__name__}: {error}"
        raise frame.error("AJ111", node, seen) from error
    except Stop as stop:
        raise frame.error("AJ102", node, stop.reason, instead) from None


def guarded(
    frame: Frame, node: ast.AST, compute: Callable[[], Dynamic], instead: str = ""
) -> Dynamic:
    """What a row gives.

    Args:
        frame: where errors come from.
        node: for the location.
        compute: appends the row.
        instead: what to write where torch has no such operation.

    Raises:
        ElementError: where a number does not fit 64 bits, or torch has no such operation.
    """
    try:
        with frame.at(node):
            return compute()
    except OverflowError as error:
        raise frame.error("AJ112", node, str(error)) from error
    except (ShapeMismatch, TypeError, NotImplementedError) as error:
        raise frame.error("AJ103", node, str(error), instead) from error


def binary(frame: Frame, node: ast.AST, op: ast.AST, left: object, right: object) -> object:
    """`left OP right`.

    Raises:
        ElementError: for operands that have no such operator.
    """
    if type(op) not in _SIGNS:
        seen = f"the operator {type(op).__name__} on elements"
        raise frame.error("AJ101", node, seen, "sums of products, or matrices outside")
    sign, compute = _SIGNS[type(op)]
    if not contains_dynamic(left) and not contains_dynamic(right):
        _refuse_tensors(frame, node, left, right)
        return known(frame, node, lambda: compute(left, right))
    if sign in ("+", "*") and (isinstance(left, tuple | list) or isinstance(right, tuple | list)):
        return known(frame, node, lambda: compute(left, right))
    _refuse_tensors(frame, node, left, right)
    for side in (left, right):
        if not is_number(side):
            seen = f"`{sign}` of {shown(left)} and {shown(right)}"
            raise frame.error("AJ103", node, seen)
    if sign in ("//", "%", "/") and _is_zero(right) and not arithmetic(kind_of(left)).is_float:
        raise frame.error("AJ111", node, "Python raises ZeroDivisionError: division by zero")
    if sign == "**":
        return power(frame, node, left, right)
    return guarded(frame, node, lambda: _row(frame.region, sign, left, right))


def _is_zero(value: object) -> bool:
    return type(value) in (int, bool) and not value


def _refuse_tensors(frame: Frame, node: ast.AST, *values: object) -> None:
    if any(isinstance(v, SymbolicTensor) for v in values):
        seen = "a whole tensor is no element"
        raise frame.error("AJ103", node, seen, "table[i], or give it as an argument")


def _row(region: Region, sign: str, left: object, right: object) -> Dynamic:
    kinds = kind_of(left), kind_of(right)
    kind = arithmetic(*kinds)
    if sign in _ROWS:
        return region.op(_ROWS[sign], kind, left, right)
    if sign == "/":
        wide = kind if kind.is_float else FLOAT
        return region.op("div", wide, left, right)
    if sign in _BITS:
        logical, bitwise = _BITS[sign]
        if promoted(*kinds) == BOOL:
            return region.op(logical, BOOL, left, right)
        if kind.is_float:
            raise TypeError(f"`{sign}` of {kinds[0]} and {kinds[1]}")
        return region.op(bitwise, INT, left, right)
    if sign in _SHIFTS:
        if kind.is_float:
            raise TypeError(f"`{sign}` of {kinds[0]} and {kinds[1]}")
        if type(right) in (int, bool) and right < 0:  # type: ignore[operator]
            raise TypeError("a negative shift count")
        return region.op(_SHIFTS[sign], INT, left, right)
    if not kind.is_float:
        plain = type(right) is int and right not in (0, -1)
        if plain:
            name = "integer_floor_divide" if sign == "//" else "integer_remainder"
        else:
            name = "floordiv" if sign == "//" else "modulo"
        return region.op(name, INT, left, right)
    if sign == "//":
        return torch_row(region, "torch.floor_divide", kind, left, right)
    rest = torch_row(region, "torch.remainder", kind, left, right)
    signed = region.op("copysign", kind, rest, right)  # Python's zero has the divisor's sign
    zero = region.op("eq", kind, rest, 0.0, result=BOOL)
    return Dynamic(region.emit("where", zero.value, signed.value, rest.value), kind)


def torch_row(region: Region, name: str, kind: Any, *numbers: object) -> Dynamic:
    """An arrangement of rows by torch's name, on numbers all as of one kind.

    Raises:
        TypeError: if there is none.
    """
    values: list[Any] = [region.value(n, kind) for n in numbers]
    if not any(hasattr(v, "node") or hasattr(v, "path") for v in values):
        values[0] = region.real(numbers[0], kind)
    bound = bind(name, values, {}, lambda value: True)
    made = NotImplemented if bound is None else bound.build(region, lambda value: value)  # type: ignore[arg-type,return-value]
    if made is NotImplemented or isinstance(made, tuple | list):
        raise TypeError(f"{name} has no row for elements")
    return Dynamic(made, kind)  # type: ignore[arg-type]


def power(frame: Frame, node: ast.AST, left: object, right: object) -> object:
    """`left ** right`: of ints only where the exponent is known and not negative.

    Raises:
        ElementError: if it is not, since the result is then an int or a float.
    """
    region = frame.region
    kind = arithmetic(kind_of(left), kind_of(right))
    if not kind.is_float:
        exponent = int(right) if type(right) in (int, bool) else None  # type: ignore[call-overload]
        if exponent is None or exponent > _MOST:
            seen = "an int to the power of an int that is not known now"
            raise frame.error("AJ103", node, seen, "float(a) ** b")
        if exponent >= 0:
            return guarded(frame, node, lambda: _repeated(region, left, exponent))
        kind = FLOAT
    if type(right) in (int, float) and right == 2:
        return guarded(frame, node, lambda: region.op("mul", kind, left, left))
    return guarded(frame, node, lambda: region.op("pow", kind, left, right))


def _repeated(region: Region, base: object, exponent: int) -> Dynamic:
    """An integer power by squaring."""
    found: Dynamic | None = None
    square = region.op("add", INT, base, 0) if kind_of(base) == BOOL else base
    while exponent:
        if exponent & 1:
            found = square if found is None else region.op("mul", INT, found, square)  # type: ignore[assignment]
        exponent >>= 1
        if exponent:
            square = region.op("mul", INT, square, square)
    return found if found is not None else Dynamic(region.real(1, INT), INT)


def unary(frame: Frame, node: ast.AST, op: ast.unaryop, value: object) -> object:
    """`-x`, `+x`, `~x`, `not x`."""
    if isinstance(op, ast.Not):
        return negated(frame, node, truth(frame, node, value))
    if not isinstance(op, ast.USub | ast.UAdd | ast.Invert):
        raise frame.error("AJ101", node, f"the operator {type(op).__name__}")
    _refuse_tensors(frame, node, value)
    if not contains_dynamic(value):
        plain = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
        compute: Any = plain[type(op)]
        return known(frame, node, lambda: compute(value))
    if not is_number(value):
        raise frame.error("AJ103", node, f"an operator on {shown(value)}")
    kind = arithmetic(kind_of(value))
    if isinstance(op, ast.UAdd):
        return frame.region.converted(value, kind) if isinstance(value, Dynamic) else value
    if isinstance(op, ast.Invert) and kind.is_float:
        raise frame.error("AJ103", node, f"`~` of {shown(value)}")
    name = "neg" if isinstance(op, ast.USub) else "bitwise_not"
    return guarded(frame, node, lambda: frame.region.op(name, kind, value))


def negated(frame: Frame, node: ast.AST, value: object) -> object:
    """The other bool."""
    if not isinstance(value, Dynamic):
        return not value
    return guarded(frame, node, lambda: frame.region.op("logical_not", BOOL, value))


def truth(frame: Frame, node: ast.AST, value: object) -> object:
    """Whether a value is true: a bool known now, or of the element."""
    if isinstance(value, Dynamic):
        if value.kind == BOOL:
            return value
        zero = 0.0 if value.kind.is_float else 0
        return guarded(
            frame, node, lambda: frame.region.op("ne", value.kind, value, zero, result=BOOL)
        )
    _refuse_tensors(frame, node, value)
    if isinstance(value, tuple | list):
        return bool(value)
    if isinstance(value, Record):
        if hasattr(value.cls, "__bool__") or hasattr(value.cls, "__len__"):
            seen = f"the truth of a {value.cls.__name__}, which it computes itself"
            raise frame.error("AJ103", node, seen, "a condition on its fields")
        return True
    return known(frame, node, lambda: bool(test(frame.lowering.session, value)))


def compare(frame: Frame, node: ast.AST, op: ast.AST, left: object, right: object) -> object:
    """`left OP right` for one comparison: a bool.

    Raises:
        ElementError: where Python raises, or identity depends on elements.
    """
    if isinstance(op, ast.Is | ast.IsNot):
        return _identical(frame, node, left, right) is not isinstance(op, ast.IsNot)
    if isinstance(op, ast.In | ast.NotIn):
        found = _contained(frame, node, left, right)
        return negated(frame, node, found) if isinstance(op, ast.NotIn) else found
    if type(op) not in _COMPARISONS:
        raise frame.error("AJ101", node, f"the comparison {type(op).__name__}")
    name, compute = _COMPARISONS[type(op)]
    if not contains_dynamic(left) and not contains_dynamic(right):
        _refuse_tensors(frame, node, left, right)
        return known(frame, node, lambda: bool(compute(left, right)))
    if is_number(left) and is_number(right):
        kind = promoted(kind_of(left), kind_of(right))
        return guarded(frame, node, lambda: _compared(frame.region, name, kind, left, right))
    if name in ("eq", "ne"):
        equal = _equal_parts(frame, node, left, right)
        return negated(frame, node, equal) if name == "ne" else equal
    raise frame.error("AJ103", node, f"a comparison of {shown(left)} and {shown(right)}")


def _compared(region: Region, name: str, kind: Any, left: object, right: object) -> Dynamic:
    return region.op(name, kind, left, right, result=BOOL)


def _equal_parts(frame: Frame, node: ast.AST, left: object, right: object) -> object:
    """Whether two values that hold elements are equal: tuples part by part."""
    if type(left) is not type(right) or not isinstance(left, tuple | list):
        if isinstance(left, tuple | list | str | None) or isinstance(right, tuple | list | str):
            return False
        if left is None or right is None:
            return False
        raise frame.error("AJ103", node, f"a comparison of {shown(left)} and {shown(right)}")
    assert isinstance(right, tuple | list)
    if len(left) != len(right):
        return False
    found: object = True
    for a, b in zip(left, right, strict=True):
        found = both(frame, node, found, compare(frame, node, ast.Eq(), a, b))
    return found


def both(frame: Frame, node: ast.AST, one: object, other: object) -> object:
    """Whether two bools hold; the second has been computed already."""
    if not isinstance(one, Dynamic):
        return other if one else False
    if not isinstance(other, Dynamic):
        return one if other else False
    return guarded(frame, node, lambda: frame.region.op("logical_and", BOOL, one, other))


def either(frame: Frame, node: ast.AST, one: object, other: object) -> object:
    """Whether one of two bools holds; the second has been computed already."""
    if not isinstance(one, Dynamic):
        return True if one else other
    if not isinstance(other, Dynamic):
        return True if other else one
    return guarded(frame, node, lambda: frame.region.op("logical_or", BOOL, one, other))


def _identical(frame: Frame, node: ast.AST, left: object, right: object) -> bool:
    if isinstance(left, Dynamic | Int | Float) or isinstance(right, Dynamic | Int | Float):
        others = [v for v in (left, right) if not isinstance(v, Dynamic | Int | Float)]
        if len(others) == 1 and not isinstance(others[0], bool | int | float):
            return False
        raise frame.error("AJ103", node, "`is` between numbers", "==")
    for value in (left, right):
        if type(value) in (int, float):
            raise frame.error("AJ103", node, "`is` between numbers", "==")
    if isinstance(left, Record | tuple) or isinstance(right, Record | tuple):
        return left is right
    session = frame.lowering.session
    return bool(known(frame, node, lambda: identical(session, left, right)))


def _contained(frame: Frame, node: ast.AST, item: object, container: object) -> object:
    if isinstance(container, str):
        if contains_dynamic(item):
            raise frame.error("AJ103", node, "a number in a text")
        text: Any = container
        return known(frame, node, lambda: operator.contains(text, item))
    if isinstance(container, range):
        if not contains_dynamic(item):
            numbers: range = container
            return known(frame, node, lambda: operator.contains(numbers, item))
        return _in_range(frame, node, item, container)
    if isinstance(container, frozenset | set | dict):
        container = tuple(container)
    if not isinstance(container, tuple | list):
        raise frame.error("AJ103", node, f"`in` {shown(container)}", "a tuple")
    found: object = False
    for part in container:
        found = either(frame, node, found, compare(frame, node, ast.Eq(), item, part))
    return found


def _in_range(frame: Frame, node: ast.AST, item: object, found: range) -> object:
    if not is_number(item) or kind_of(item).is_float:
        raise frame.error("AJ103", node, f"{shown(item)} in a range", "an int")
    if not found:
        return False
    least, most = min(found[0], found[-1]), max(found[0], found[-1])
    inside = both(
        frame,
        node,
        compare(frame, node, ast.GtE(), item, least),
        compare(frame, node, ast.LtE(), item, most),
    )
    rest = binary(
        frame, node, ast.Mod(), binary(frame, node, ast.Sub(), item, least), abs(found.step)
    )
    return both(frame, node, inside, compare(frame, node, ast.Eq(), rest, 0))


def operands_known(values: Sequence[object]) -> bool:
    """Whether Python can compute with all of these now."""
    return not any(contains_dynamic(v) for v in values)
