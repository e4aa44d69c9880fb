"""Expressions of the element language. A node of a class without a row here is refused."""

import ast
import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any

from astjit.frontend.attributes import attribute
from astjit.frontend.elements import operators
from astjit.frontend.elements.advice import of_method
from astjit.frontend.elements.environment import Conflict, Environment, Record, joined
from astjit.frontend.elements.frames import Frame, shown
from astjit.frontend.elements.kinds import BOOL, Dynamic
from astjit.frontend.elements.operators import truth
from astjit.ir.function import Block

Handler = Callable[[Frame, Any], object]
_HANDLERS: dict[type[ast.expr], Handler] = {}


def handles(*kinds: type[ast.expr]) -> Callable[[Handler], Handler]:
    """Registers what lowers nodes of these classes."""

    def register(handler: Handler) -> Handler:
        _HANDLERS.update(dict.fromkeys(kinds, handler))
        return handler

    return register


def lower(frame: Frame, node: ast.expr) -> object:
    """The value of an expression.

    Raises:
        ElementError: if the element language does not have it.
    """
    handler = _HANDLERS.get(type(node))
    if handler is None:
        seen = _WORDS.get(type(node), type(node).__name__)
        raise frame.error("AJ101", node, seen, "a value that the function returns")
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
    value = frame.kept(node, lower(frame, node.value))
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
        lambda: frame.hold(_CHOSEN, frame.kept(node, then())),
        lambda: frame.hold(_CHOSEN, frame.kept(node, other())),
    )
    value = frame.environment.names[_CHOSEN].value
    del frame.environment.names[_CHOSEN]
    refuse_conflict(frame, node, value)
    return value


def refuse_conflict(frame: Frame, node: ast.AST, value: object) -> None:
    """An error for two values that could not become one."""
    if isinstance(value, Conflict):
        seen = f"{shown(value.one)} on one path and {shown(value.other)} on another"
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
    known = first
    if isinstance(first, Dynamic) and first.kind == BOOL:
        known = isinstance(node.op, ast.Or)  # what it is where nothing follows
    if isinstance(node.op, ast.And):
        return choose(frame, node, holds, lambda: _operand(frame, node, values[1:]), lambda: known)
    return choose(frame, node, holds, lambda: known, lambda: _operand(frame, node, values[1:]))


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


@handles(ast.Attribute)
def _attribute(frame: Frame, node: ast.Attribute) -> object:
    owner = lower(frame, node.value)
    return attribute_of(frame, node, owner, node.attr)


def _of_class(frame: Frame, node: ast.AST, owner: Record, name: str) -> object:
    """What the class of a record has: a method that is bound to the record, or a plain value."""
    found = inspect.getattr_static(owner.cls, name, None)
    if isinstance(found, types.FunctionType):
        function = frame.opened(node, lambda: attribute(frame.lowering.session, owner.cls, name))
        if isinstance(function, types.FunctionType):
            return types.MethodType(function, owner)
    if type(found) in (int, float, bool, str, tuple):
        return frame.opened(node, lambda: attribute(frame.lowering.session, owner.cls, name))
    seen = f"`.{name}` of a {owner.cls.__name__}"
    raise frame.error("AJ103", node, seen, "a field or a method of it")


def attribute_of(frame: Frame, node: ast.AST, owner: object, name: str) -> object:
    """`owner.name`.

    Raises:
        ElementError: for an attribute of a number, or one that Python does not find.
    """
    if isinstance(owner, Record):
        if name in owner.names:
            return owner.values[owner.names.index(name)]
        return _of_class(frame, node, owner, name)
    if isinstance(owner, Dynamic):
        seen = f"`.{name}` of {shown(owner)}"
        raise frame.error("AJ103", node, seen, of_method(name))
    if isinstance(owner, tuple) and name in getattr(type(owner), "_fields", ()):
        return owner[type(owner)._fields.index(name)]  # type: ignore[attr-defined]
    session = frame.lowering.session
    try:
        return frame.opened(node, lambda: attribute(session, owner, name))
    except AttributeError as error:
        raise frame.error("AJ111", node, f"Python raises AttributeError: {error}") from None
