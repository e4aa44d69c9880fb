"""Tuples and other containers of the element language, texts, and tables.

Containers have a length that is known now; their items may be elements. A tensor is a table: an
index for each axis gives one element.
"""

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from astjit.frontend.carriers import Float, Int
from astjit.frontend.elements import operators
from astjit.frontend.elements.environment import Once, Record, contains_dynamic
from astjit.frontend.elements.expressions import handles, lower
from astjit.frontend.elements.frames import Frame, shown
from astjit.frontend.elements.kinds import INT, Dynamic, is_number, kind_of, kind_of_element
from astjit.frontend.elements.operators import known
from astjit.frontend.elements.refusals import NeedsStatic
from astjit.frontend.session import item
from astjit.frontend.session import shown as formatted
from astjit.frontend.symbolic import SymbolicTensor


@handles(ast.Tuple)
def _tuple(frame: Frame, node: ast.Tuple) -> object:
    return tuple(unstarred(frame, node.elts))


@handles(ast.List)
def _list(frame: Frame, node: ast.List) -> object:
    return list(unstarred(frame, node.elts))


@handles(ast.Set)
def _set(frame: Frame, node: ast.Set) -> object:
    values = unstarred(frame, node.elts)
    if any(map(contains_dynamic, values)):
        raise frame.error("AJ103", node, "a set of elements", "a tuple")
    return known(frame, node, lambda: frozenset(values))


@handles(ast.Dict)
def _dict(frame: Frame, node: ast.Dict) -> object:
    made: dict[object, object] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            raise frame.error("AJ101", value, "`**` in a dict", "its items")
        name = static(frame, key, lower(frame, key))
        made[name] = frame.kept(value, lower(frame, value))
    return made


def unstarred(frame: Frame, nodes: Sequence[ast.expr]) -> list[object]:
    """The values of expressions, those of a starred one in its place."""
    found: list[object] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            found += iterated(frame, node, lower(frame, node.value))
        else:
            found.append(frame.kept(node, lower(frame, node)))
    return found


def static(frame: Frame, node: ast.AST, value: object) -> object:
    """A value that Python must know now; a number known at run time is pinned.

    Raises:
        NeedsStatic: if it depends on elements.
    """
    if contains_dynamic(value):
        seen = f"{shown(value)} is not known when the function is compiled"
        instead = "a literal, a global, or a tensor as a table"
        raise NeedsStatic(frame.error("AJ108", node, seen, instead))
    if isinstance(value, Int):
        return known(frame, node, lambda: int(value))
    if isinstance(value, Float):
        return known(frame, node, lambda: float(value))
    return value


def iterated(frame: Frame, node: ast.AST, value: object) -> list[object]:
    """What iterating gives, of a length that is known now.

    Raises:
        ElementError: for what cannot be iterated.
    """
    if isinstance(value, Once):
        return list(value.items)
    if isinstance(value, tuple | list | str | frozenset | range | dict):
        return list(value)
    raise frame.error("AJ103", node, f"iteration over {shown(value)}", "range, a tuple, zip")


@handles(ast.Subscript)
def _subscript(frame: Frame, node: ast.Subscript) -> object:
    owner = lower(frame, node.value)
    index = lower(frame, node.slice)
    if isinstance(owner, SymbolicTensor):
        return element_of(frame, node, owner, index)
    if isinstance(owner, Dynamic | Record) or is_number(owner):
        raise frame.error("AJ103", node, f"an item of {shown(owner)}")
    place = static(frame, node.slice, index)
    if isinstance(owner, tuple | list | dict | str | range):
        held: Any = owner
        return known(frame, node, lambda: held[place])
    session = frame.lowering.session
    return frame.opened(node, lambda: item(session, owner, place))


@handles(ast.Slice)
def _slice(frame: Frame, node: ast.Slice) -> object:
    bounds = (
        None if part is None else static(frame, part, lower(frame, part))
        for part in (node.lower, node.upper, node.step)
    )
    return slice(*bounds)


def element_of(frame: Frame, node: ast.AST, table: SymbolicTensor, index: object) -> object:
    """The element of a tensor at an index for each axis.

    Raises:
        ElementError: for another number of indices, or for slices.
    """
    places = list(index) if isinstance(index, tuple) else [index]
    for place in places:
        if not is_number(place) or kind_of(place).is_float:
            raise frame.error("AJ103", node, f"a tensor indexed by {shown(place)}", "ints")
    if len(places) != table.kind.rank:
        seen = f"{len(places)} indices for a tensor of {table.kind.rank} dims"
        raise frame.error("AJ103", node, seen, "one index for each dim")
    region = frame.region

    def read() -> Dynamic:
        at = [region.value(p, INT) for p in places]
        found = region.emit("element", table.value, *at)
        kind = kind_of_element(table.kind.dtype)
        if found.type.dtype is not kind.dtype:  # type: ignore[union-attr]
            found = region.emit("to", found, dtype=kind.dtype)
        return Dynamic(found, kind)

    return operators.guarded(frame, node, read)


# --- text ----------------------------------------------------------------------------------------


_CONVERSIONS: dict[str, Any] = {"s": str, "r": repr, "a": ascii}


@handles(ast.JoinedStr)
def _f_string(frame: Frame, node: ast.JoinedStr) -> object:
    return "".join(str(lower(frame, part)) for part in node.values)


@handles(ast.FormattedValue)
def _formatted(frame: Frame, node: ast.FormattedValue) -> object:
    value = static(frame, node.value, lower(frame, node.value))
    if contains_dynamic(value):
        raise frame.error("AJ103", node, "text of an element")
    spec = "" if node.format_spec is None else str(lower(frame, node.format_spec))
    session = frame.lowering.session

    def text() -> str:
        given: Any = formatted(session, value)
        if node.conversion != -1:
            given = _CONVERSIONS[chr(node.conversion)](given)
        return format(given, spec)

    return known(frame, node, text)


# --- targets --------------------------------------------------------------------------------------


def targets(frame: Frame, node: ast.expr, value: object) -> Iterator[tuple[str, object]]:
    """The names that an assignment to a target binds, with their values.

    Raises:
        ElementError: for a target that is no name or tuple, or of another length.
    """
    match node:
        case ast.Name(id=name):
            yield name, frame.kept(node, value)
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            yield from _unpacked(frame, node, elts, value)
        case ast.Attribute() | ast.Subscript():
            raise frame.error("AJ101", node, "a store to an object", "a local variable")
        case _:
            raise frame.error("AJ101", node, f"an assignment to {type(node).__name__}")


def _unpacked(
    frame: Frame, node: ast.AST, elts: Sequence[ast.expr], value: object
) -> Iterator[tuple[str, object]]:
    values = iterated(frame, node, value)
    stars = [i for i, part in enumerate(elts) if isinstance(part, ast.Starred)]
    wanted = len(elts) - len(stars)
    if len(values) < wanted or (not stars and len(values) != wanted):
        seen = f"{len(values)} values for {wanted} names"
        raise frame.error("AJ111", node, f"Python raises ValueError: {seen}")
    if not stars:
        for part, one in zip(elts, values, strict=True):
            yield from targets(frame, part, one)
        return
    (at,) = stars
    after = len(elts) - at - 1
    star = elts[at]
    assert isinstance(star, ast.Starred)
    middle = values[at : len(values) - after]
    for part, one in zip(elts[:at], values[:at], strict=True):
        yield from targets(frame, part, one)
    yield from targets(frame, star.value, middle)
    for part, one in zip(elts[at + 1 :], values[len(values) - after :], strict=True):
        yield from targets(frame, part, one)
