"""Comparisons, conditions and text during capture: what Python code of the objects decides.

a < b is c      links: each operand is evaluated once and kept for the next comparison
a or b          the value that decided is kept, and taken as the result
"""

import operator
from collections.abc import Callable
from typing import Any

from astjit.frontend.carriers import Float, Int
from astjit.frontend.outside import is_container
from astjit.frontend.session import (
    Session,
    contains,
    identical,
    operand,
    shown,
    stood_in,
    test,
)
from astjit.frontend.symbolic import SymbolicTensor

_SIGNS: dict[str, Callable[[Any, Any], object]] = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
}


def compared(session: Session, value: object) -> object:
    """An operand of a comparison: what it holds is compared as well."""
    return stood_in(session, operand(session, value))


def compare(session: Session, sign: str, left: object, right: object) -> object:
    """`left SIGN right`.

    Raises:
        Stop: where the answer depends on the values of a tensor.
    """
    match sign:
        case "Is":
            return identical(session, left, right)
        case "IsNot":
            return not identical(session, left, right)
        case "In":
            return contains(session, right, left)
        case "NotIn":
            return not contains(session, right, left)
    return _SIGNS[sign](compared(session, left), compared(session, right))


# --- values on their way: kept by one hook, taken by the next ---


def taken(session: Session) -> object:
    """What the hook before kept."""
    return session.kept.pop()


def link(session: Session, sign: str, left: object, right: object) -> bool:
    """A comparison that is not the last of a chain.

    Keeps the right operand if the chain goes on, else the answer, which is the chain's.
    """
    answer = compare(session, sign, left, right)
    goes_on = bool(test(session, answer))
    session.kept.append(right if goes_on else answer)
    return goes_on


def either(session: Session, value: object) -> bool:
    """Whether an operand of `or` is its result: then it is kept."""
    if truth := bool(test(session, value)):
        session.kept.append(value)
    return truth


def both(session: Session, value: object) -> bool:
    """Whether an operand of `and` lets the next one decide: if not, it is kept as the result."""
    if not (truth := bool(test(session, value))):
        session.kept.append(value)
    return truth


# --- text ---


def remainder(session: Session, left: object, right: object) -> object:
    """`left % right`, which formats where left is text."""
    if not isinstance(left, str | bytes):
        return operand(session, left) % operand(session, right)  # type: ignore[operator]
    if isinstance(right, SymbolicTensor):
        return left % shown(session, right)
    if isinstance(right, Int | Float):
        right = right.node.keeper.pin(right.node.number, "formatting took its value")
    elif is_container(right):
        right = _formatted(session, session.outside.items(right))
    else:
        right = shown(session, right)
    return left % right


def _formatted(session: Session, value: object) -> object:
    """The values that % formats: numbers as they are now, since C code looks at their types."""

    def plain(part: object) -> object:
        if isinstance(part, Int | Float):
            return part.node.keeper.pin(part.node.number, "formatting took its value")
        return shown(session, part)

    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if type(value) is tuple:
        return tuple(map(plain, value))
    return shown(session, value)
