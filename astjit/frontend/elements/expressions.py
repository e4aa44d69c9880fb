"""Expressions of the element language. A node of a class without a row here is refused."""

import ast
from collections.abc import Callable, Iterator, Sequence

from astjit.frontend.attributes import attribute
from astjit.frontend.carriers import Float, Int
from astjit.frontend.elements import operators
from astjit.frontend.elements.environment import (
    Environment,
    Record,
    contains_dynamic,
    joined,
)
from astjit.frontend.elements.frames import Frame, shown
from astjit.frontend.elements.kinds import INT, Dynamic, is_number, kind_of, kind_of_element
from astjit.frontend.elements.operators import known, truth
from astjit.frontend.elements.refusals import NeedsStatic
from astjit.frontend.session import item
from astjit.frontend.session import shown as formatted
from astjit.frontend.symbolic import SymbolicTensor
from astjit.ir.function import Block

Handler = Callable[[Frame, ast.expr], object]
_HANDLERS: dict[type[ast.expr], Callable[[Frame, object], object]] = {}


def handles(*kinds: type[ast.expr]) -> Callable[[Handler], Handler]:
    """Registers what lowers nodes of these classes."""

    def register(handler: Handler) -> Handler:
        _HANDLERS.update(dict.fromkeys(kinds, handler))  # type: ignore[arg-type]
        return handler

    return register


def lower(frame: Frame, node: ast.expr) -> object:
    """The value of an expression.

    Raises:
        ElementError: if the element language does not have it.
    """
    handler = _HANDLERS.get(type(node))
    if handler is None:
        raise frame.error("AJ101", node, f"{_WORDS.get(type(node), type(node).__name__)}")
    return handler(frame, node)


_WORDS: dict[type[ast.expr], str] = {
    ast.Await: "`await`",
    ast.Yield: "`yield`",
    ast.YieldFrom: "`yield from`",
    ast.Starred: "a star outside a call or a tuple",
}


@handles(ast.Constant)
def _constant(frame: Frame, node: ast.Constant) -> object:
    if isinstance(node.value, complex):
        raise frame.error("AJ103", node, "a complex number", "its two parts as floats")
    return node.value


@handles(ast.Name)
def _name(frame: Frame, node: ast.Name) -> object:
    return frame.lookup(node.id, node)


@handles(ast.BinOp)
def _binary(frame: Frame, node: ast.BinOp) -> object:
    left = lower(frame, node.left)
    return operators.binary(frame, node, node.op, left, lower(frame, node.right))


@handles(ast.UnaryOp)
def _unary(frame: Frame, node: ast.UnaryOp) -> object:
    return operators.unary(frame, node, node.op, lower(frame, node.operand))


@handles(ast.NamedExpr)
def _walrus(frame: Frame, node: ast.NamedExpr) -> object:
    value = lower(frame, node.value)
    if frame.temporaries:
        raise frame.error("AJ101", node, "`:=` in a comprehension", "a loop")
    frame.bind(node.target.id, value)
    return value


# --- choices -------------------------------------------------------------------------------------


def branch(
    frame: Frame,
    node: ast.AST,
    condition: object,
    then: Callable[[], None],
    other: Callable[[], None],
    why: tuple[str, str] = ("", ""),
) -> None:
    """Lower one arm, or both where the condition depends on elements; both bind names.

    Args:
        frame: whose names they bind.
        node: for the location.
        condition: a bool, known now or not.
        then: lowers the arm where it holds.
        other: lowers the other.
        why: how a name comes to hold nothing that only the second, only the first arm binds.
    """
    if not isinstance(condition, Dynamic):
        (then if condition else other)()
        return
    before, region = frame.environment, frame.region
    arms: list[tuple[Block, Environment]] = []
    for lower_arm in (then, other):
        frame.environment = before.copy()
        with region.inside(Block()) as block:
            lower_arm()
        arms.append((block, frame.environment))
    with frame.at(node):
        frame.environment = joined(region, condition, (arms[0], arms[1]), why)


_CHOSEN = "the value of the expression"


def choose(
    frame: Frame,
    node: ast.AST,
    condition: object,
    then: Callable[[], object],
    other: Callable[[], object],
) -> object:
    """The value of one of two expressions, of which only that one is computed.

    Raises:
        ElementError: for two values that cannot be one.
    """
    if not isinstance(condition, Dynamic):
        return then() if condition else other()
    branch(
        frame,
        node,
        condition,
        lambda: frame.hold(_CHOSEN, then()),
        lambda: frame.hold(_CHOSEN, other()),
    )
    value = frame.environment.names[_CHOSEN].value
    del frame.environment.names[_CHOSEN]
    refuse_conflict(frame, node, value)
    return value


def refuse_conflict(frame: Frame, node: ast.AST, value: object) -> None:
    """An error for two values that could not become one."""
    one, other = getattr(value, "one", None), getattr(value, "other", None)
    if type(value).__name__ == "Conflict":
        seen = f"{shown(one)} on one path and {shown(other)} on another"
        raise frame.error("AJ105", node, seen, "the same kind of value on both")


@handles(ast.IfExp)
def _ternary(frame: Frame, node: ast.IfExp) -> object:
    condition = truth(frame, node.test, lower(frame, node.test))
    return choose(
        frame, node, condition, lambda: lower(frame, node.body), lambda: lower(frame, node.orelse)
    )


@handles(ast.BoolOp)
def _and_or(frame: Frame, node: ast.BoolOp) -> object:
    """`a and b`: a where it is false, else b, which only then is computed."""
    return _operand(frame, node, node.values)


def _operand(frame: Frame, node: ast.BoolOp, values: Sequence[ast.expr]) -> object:
    first = lower(frame, values[0])
    if len(values) == 1:
        return first
    holds = truth(frame, values[0], first)
    if isinstance(node.op, ast.And):
        return choose(
            frame, node, holds, lambda: _operand(frame, node, values[1:]), lambda: first
        )
    return choose(frame, node, holds, lambda: first, lambda: _operand(frame, node, values[1:]))


@handles(ast.Compare)
def _compare(frame: Frame, node: ast.Compare) -> object:
    """A chain: each middle operand once, and nothing after the first that does not hold."""
    return _chain(frame, node, lower(frame, node.left), 0)


def _chain(frame: Frame, node: ast.Compare, left: object, at: int) -> object:
    right = lower(frame, node.comparators[at])
    found = operators.compare(frame, node, node.ops[at], left, right)
    if at == len(node.ops) - 1:
        return found
    return choose(frame, node, found, lambda: _chain(frame, node, right, at + 1), lambda: False)


# --- containers ----------------------------------------------------------------------------------


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
            raise frame.error("AJ101", value, "`**` in a dict")
        name = static(frame, key, lower(frame, key))
        made[name] = lower(frame, value)
    return made


def unstarred(frame: Frame, nodes: Sequence[ast.expr]) -> list[object]:
    """The values of expressions, those of a starred one in its place."""
    found: list[object] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            found += iterated(frame, node, lower(frame, node.value))
        else:
            found.append(lower(frame, node))
    return found


def static(frame: Frame, node: ast.AST, value: object) -> object:
    """A value that Python must know now; a number known at run time is pinned.

    Raises:
        NeedsStatic: if it depends on elements.
    """
    if contains_dynamic(value):
        seen = f"{shown(value)} is not known when the function is compiled"
        raise NeedsStatic(frame.error("AJ108", node, seen))
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
    if isinstance(value, tuple | list | str | frozenset | range):
        return list(value)
    if isinstance(value, dict):
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
        return known(frame, node, lambda: owner[place])  # type: ignore[index]
    session = frame.lowering.session
    return frame.opened(node, lambda: item(session, owner, place))


@handles(ast.Slice)
def _slice(frame: Frame, node: ast.Slice) -> object:
    bounds = (
        None if part is None else static(frame, part, lower(frame, part))
        for part in (node.lower, node.upper, node.step)
    )
    return slice(*bounds)


def element_of(
    frame: Frame, node: ast.AST, table: SymbolicTensor, index: object
) -> object:
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


@handles(ast.Attribute)
def _attribute(frame: Frame, node: ast.Attribute) -> object:
    owner = lower(frame, node.value)
    return attribute_of(frame, node, owner, node.attr)


def attribute_of(frame: Frame, node: ast.AST, owner: object, name: str) -> object:
    """`owner.name`.

    Raises:
        ElementError: for an attribute of a number, or one that Python does not find.
    """
    if isinstance(owner, Record):
        if name in owner.names:
            return owner.values[owner.names.index(name)]
        raise frame.error("AJ103", node, f"`.{name}` of a {owner.cls.__name__}")
    if isinstance(owner, Dynamic):
        seen = f"`.{name}` of {shown(owner)}"
        raise frame.error("AJ103", node, seen, f"torch.{name}(...) if it is a function")
    if isinstance(owner, tuple) and name in getattr(type(owner), "_fields", ()):
        return owner[type(owner)._fields.index(name)]  # type: ignore[attr-defined]
    session = frame.lowering.session
    try:
        return frame.opened(node, lambda: attribute(session, owner, name))
    except AttributeError as error:
        raise frame.error("AJ111", node, f"Python raises AttributeError: {error}") from None


# --- text ----------------------------------------------------------------------------------------


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
        given = formatted(session, value)
        if node.conversion != -1:
            given = {"s": str, "r": repr, "a": ascii}[chr(node.conversion)](given)
        return format(given, spec)

    return known(frame, node, text)


# --- comprehensions ------------------------------------------------------------------------------


@handles(ast.ListComp, ast.GeneratorExp)
def _list_of(frame: Frame, node: ast.ListComp | ast.GeneratorExp) -> object:
    return [lower(frame, node.elt) for _ in rounds(frame, node, node.generators)]


@handles(ast.SetComp)
def _set_of(frame: Frame, node: ast.SetComp) -> object:
    values = [lower(frame, node.elt) for _ in rounds(frame, node, node.generators)]
    if any(map(contains_dynamic, values)):
        raise frame.error("AJ103", node, "a set of elements", "a tuple")
    return known(frame, node, lambda: frozenset(values))


@handles(ast.DictComp)
def _dict_of(frame: Frame, node: ast.DictComp) -> object:
    made: dict[object, object] = {}
    for _ in rounds(frame, node, node.generators):
        key = static(frame, node.key, lower(frame, node.key))
        made[key] = lower(frame, node.value)
    return made


def rounds(
    frame: Frame, node: ast.AST, generators: Sequence[ast.comprehension]
) -> Iterator[None]:
    """One round for each combination of a comprehension's variables, which are set within it.

    Raises:
        ElementError: if how many there are depends on elements.
    """
    if any(isinstance(n, ast.Lambda) for n in ast.walk(node)):
        raise frame.error("AJ101", node, "a lambda in a comprehension")
    before = dict(frame.temporaries)
    try:
        yield from _rounds(frame, generators)
    finally:
        frame.temporaries.clear()
        frame.temporaries.update(before)


def _rounds(frame: Frame, generators: Sequence[ast.comprehension]) -> Iterator[None]:
    if not generators:
        yield
        return
    first, *rest = generators
    if first.is_async:
        raise frame.error("AJ101", first.iter, "an async comprehension")
    source = lower(frame, first.iter)
    for value in iterated(frame, first.iter, source):
        for name, part in targets(frame, first.target, value):
            frame.temporaries[name] = part
        kept = True
        for asked in first.ifs:
            answer = static(frame, asked, truth(frame, asked, lower(frame, asked)))
            if not answer:
                kept = False
                break
        if kept:
            yield from _rounds(frame, rest)


def targets(frame: Frame, node: ast.expr, value: object) -> Iterator[tuple[str, object]]:
    """The names that an assignment to a target binds, with their values.

    Raises:
        ElementError: for a target that is no name or tuple, or of another length.
    """
    match node:
        case ast.Name(id=name):
            yield name, value
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
