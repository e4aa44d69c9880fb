"""The patterns of `match`, described in the capture copy and matched by hooks.

case 1 | 2:                      ("or", (("value", 1), ("value", 2)))
case {"op": "add", **rest}:      ("mapping", (("op", ("value", "add")),), "rest")
case Point(0, y=b):              ("class", Point, (("value", 0),), (("y", ("as", None, "b")),))
"""

import ast
import collections.abc
from collections.abc import Callable, Iterator
from typing import Any

from astjit.frontend.operators import compare
from astjit.frontend.session import Session, contains, is_static, item, iterate, test
from astjit.frontend.symbolic import SymbolicTensor
from astjit.frontend.syntax import text

Pattern = Any
_MISSING = object()
_ITSELF = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
"""Classes whose one positional pattern is given the subject itself."""


# --- in the tree ---


def captures(pattern: ast.pattern) -> list[str]:
    """The names that a pattern binds, in order."""
    found: dict[str, None] = {}
    for part in ast.walk(pattern):
        match part:
            case (
                ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.MatchMapping(rest=str(name))
            ):
                found[name] = None
    return list(found)


def described(pattern: ast.pattern, visit: Callable[[ast.expr], ast.expr]) -> ast.expr:
    """A pattern as a display, for `matches`.

    Args:
        pattern: in the user's tree.
        visit: rewrites the expressions in it.
    """

    def inner(patterns: list[ast.pattern]) -> ast.expr:
        return ast.Tuple([described(p, visit) for p in patterns], ast.Load())

    def display(kind: str, *parts: ast.expr) -> ast.expr:
        return ast.Tuple([text(kind), *parts], ast.Load())

    def pairs(keys: list[ast.expr], patterns: list[ast.pattern]) -> ast.expr:
        found = zip(keys, patterns, strict=True)
        made = [ast.Tuple([key, described(p, visit)], ast.Load()) for key, p in found]
        return ast.Tuple(list(made), ast.Load())

    match pattern:
        case ast.MatchValue():
            return display("value", visit(pattern.value))
        case ast.MatchSingleton():
            return display("same", ast.Constant(pattern.value))
        case ast.MatchSequence():
            return display("sequence", inner(pattern.patterns))
        case ast.MatchStar():
            return display("star", ast.Constant(pattern.name))
        case ast.MatchMapping():
            keys = pairs([visit(key) for key in pattern.keys], pattern.patterns)
            return display("mapping", keys, ast.Constant(pattern.rest))
        case ast.MatchClass():
            named = pairs([text(name) for name in pattern.kwd_attrs], pattern.kwd_patterns)
            return display("class", visit(pattern.cls), inner(pattern.patterns), named)
        case ast.MatchAs():
            nothing: ast.expr = ast.Constant(None)
            held = nothing if pattern.pattern is None else described(pattern.pattern, visit)
            return display("as", held, ast.Constant(pattern.name))
        case ast.MatchOr():
            return display("or", inner(pattern.patterns))
    raise AssertionError(ast.dump(pattern))


# --- during capture ---


def matches(session: Session, value: object, pattern: Pattern) -> dict[str, object] | None:
    """What the names of a pattern are bound to, None if the value does not match.

    Raises:
        Stop: where the answer depends on the values of a tensor.
    """
    bound: dict[str, object] = {}
    return bound if _matches(session, value, pattern, bound) else None


def _matches(session: Session, value: Any, pattern: Pattern, bound: dict[str, object]) -> bool:
    match pattern:
        case ("value", wanted):
            return bool(test(session, compare(session, "Eq", value, wanted)))
        case ("same", wanted):
            return value is wanted
        case ("as", held, name):
            if held is not None and not _matches(session, value, held, bound):
                return False
            if name is not None:
                bound[name] = value
            return True
        case ("or", choices):
            return any(_matches(session, value, choice, bound) for choice in choices)
        case ("sequence", parts):
            return _sequence(session, value, parts, bound)
        case ("mapping", pairs, rest):
            return _mapping(session, value, pairs, rest, bound)
        case ("class", cls, parts, named):
            return _class(session, value, cls, parts, named, bound)
    raise AssertionError(pattern)


def _sequence(session: Session, value: Any, parts: Pattern, bound: dict[str, object]) -> bool:
    if isinstance(value, SymbolicTensor | str | bytes | bytearray):
        return False
    if not isinstance(value, collections.abc.Sequence):
        return False
    items = list(iterate(session, value))  # type: ignore[call-overload]
    stars = [i for i, part in enumerate(parts) if part[0] == "star"]
    if not stars:
        return len(items) == len(parts) and _all(session, items, parts, bound)
    (star,) = stars
    after = len(parts) - star - 1
    if len(items) < star + after:
        return False
    end = len(items) - after
    if not _all(session, items[:star], parts[:star], bound):
        return False
    if (name := parts[star][1]) is not None:
        bound[name] = items[star:end]
    return _all(session, items[end:], parts[star + 1 :], bound)


def _all(session: Session, items: list[object], parts: Pattern, bound: dict[str, object]) -> bool:
    return all(_matches(session, i, p, bound) for i, p in zip(items, parts, strict=True))


def _mapping(
    session: Session, value: Any, pairs: Pattern, rest: str | None, bound: dict[str, object]
) -> bool:
    if is_static(value) or not isinstance(value, collections.abc.Mapping):
        return False
    if not all(contains(session, value, key) for key, _ in pairs):
        return False
    if not all(_matches(session, item(session, value, key), p, bound) for key, p in pairs):
        return False
    if rest is not None:
        used = [key for key, _ in pairs]
        held = session.outside.items(value)
        bound[rest] = {key: item(session, held, key) for key in held if key not in used}
    return True


def _class(
    session: Session, value: Any, cls: Any, parts: Pattern, named: Pattern, bound: dict[str, object]
) -> bool:
    if not isinstance(cls, type):
        raise TypeError("called match pattern must be a class")
    if not session.call(isinstance, value, cls):
        return False
    for name, pattern in [*_positional(session, cls, parts), *named]:
        part = value if name is None else session.call(getattr, value, name, _MISSING)
        if part is _MISSING or not _matches(session, part, pattern, bound):
            return False
    return True


def _positional(session: Session, cls: type, parts: Pattern) -> Iterator[tuple[str | None, object]]:
    """The patterns by position, each with the attribute it is given; None for the subject."""
    if not parts:
        return
    own = issubclass(cls, _ITSELF) and not hasattr(cls, "__match_args__")
    if own:
        allowed = 1
    else:
        names: Any = session.call(getattr, cls, "__match_args__", ())
        allowed = len(names)
    if len(parts) > allowed:
        plural = "" if allowed == 1 else "s"
        raise TypeError(
            f"{cls.__name__}() accepts {allowed} positional sub-pattern{plural} "
            f"({len(parts)} given)"
        )
    for i, pattern in enumerate(parts):
        yield (None if own else names[i]), pattern
