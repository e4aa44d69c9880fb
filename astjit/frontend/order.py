"""What a statement does to local variables, in the order in which Python does it.

    y = f(x) if c else g(z := x)     read c, read x (perhaps), write z (perhaps), write y

What may not happen (the right of an `or`, an arm, the body of a comprehension) is not sure.
"""

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from astjit.frontend.scopes import COMPREHENSIONS, FUNCTIONS, NESTED, scope_of

READ, WRITE, DELETE = "read", "write", "delete"
EAGER = (ast.ListComp, ast.SetComp, ast.DictComp)  # run where they stand, and are gone
_SIGNS = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
_LEAVES = frozenset((ast.Constant, *(kind for base in _SIGNS for kind in base.__subclasses__())))
_PLAIN = frozenset((ast.Attribute, ast.BinOp, ast.Call, ast.Expr, ast.Subscript, ast.Tuple))


class Event(NamedTuple):
    """One thing done to a name.

    Attributes:
        kind: READ, WRITE or DELETE.
        name: which.
        sure: it happens whenever the statement ends normally.
    """

    kind: str
    name: str
    sure: bool = True


def events(node: ast.AST | None, *, sure: bool = True) -> Iterator[Event]:
    """The events of an expression, a target or a statement without blocks of its own."""
    kind = type(node)
    if node is None or kind in _LEAVES:
        return
    if kind in _PLAIN:  # most nodes, without a look at what else they might be
        yield from _all(ast.iter_child_nodes(node), sure)
        return
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            yield Event(READ, name, sure)
        case ast.Name(id=name, ctx=ast.Store()):
            yield Event(WRITE, name, sure)
        case ast.Name(id=name):
            yield Event(DELETE, name, sure)
        case ast.BoolOp(values=[first, *rest]):
            yield from events(first, sure=sure)
            yield from _all(rest, False)
        case ast.IfExp():
            yield from events(node.test, sure=sure)
            yield from _all((node.body, node.orelse), False)
        case ast.Compare(left=left, comparators=[second, *rest]):
            yield from _all((left, second), sure)
            yield from _all(rest, False)
        case ast.NamedExpr():
            yield from events(node.value, sure=sure)
            yield from events(node.target, sure=sure)
        case ast.Dict():
            for key, value in zip(node.keys, node.values, strict=True):
                yield from _all((key, value), sure)
        case ast.Assign():
            yield from events(node.value, sure=sure)
            yield from _all(node.targets, sure)
        case ast.AnnAssign():
            if node.value is not None:
                yield from _all((node.value, node.target), sure)
        case ast.AugAssign():
            if isinstance(node.target, ast.Name):
                yield Event(READ, node.target.id, sure)
            yield from events(node.value, sure=sure)
            yield from events(node.target, sure=sure)
        case ast.Assert():
            yield from events(node.test, sure=sure)
            yield from events(node.msg, sure=False)
        case ast.Import() | ast.ImportFrom():
            for alias in node.names:
                yield Event(WRITE, (alias.asname or alias.name).split(".")[0], sure)
        case ast.Global() | ast.Nonlocal():
            return
        case _ if isinstance(node, NESTED):
            yield from _nested(node, sure)
        case _:
            yield from _all(ast.iter_child_nodes(node), sure)


def _all(nodes: Iterable[ast.AST | None], sure: bool) -> Iterator[Event]:
    for node in nodes:
        if type(node) not in _LEAVES:
            yield from events(node, sure=sure)


def _nested(node: ast.AST, sure: bool) -> Iterator[Event]:
    """A function, class or comprehension: what is evaluated here, then what it may read later."""
    if isinstance(node, COMPREHENSIONS):
        yield from events(node.generators[0].iter, sure=sure)
        for inner in ast.walk(node):
            if isinstance(inner, ast.NamedExpr):
                yield Event(WRITE, inner.target.id, False)
    elif isinstance(node, ast.ClassDef):
        outer = (*node.decorator_list, *node.bases, *(k.value for k in node.keywords))
        yield from _all(outer, sure)
    elif isinstance(node, FUNCTIONS):
        decorators = getattr(node, "decorator_list", ())
        yield from _all((*decorators, *node.args.defaults, *node.args.kw_defaults), sure)
    for name in sorted(captured(node)):
        yield Event(READ, name, False)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield Event(WRITE, node.name, sure)


def captured(node: ast.AST) -> frozenset[str]:
    """The names that a nested function, class or comprehension uses and does not bind itself."""
    scope = scope_of(node)
    used = set(scope.nonlocal_names)
    for inner in _within(node):
        if isinstance(inner, ast.Name):
            used.add(inner.id)
        elif isinstance(inner, NESTED):
            used |= captured(inner)
    return frozenset(used - scope.bound - scope.global_names)


def _within(node: ast.AST) -> Iterator[ast.AST]:
    """What is inside a nested scope, without what is inside those in it."""
    stack = list(ast.iter_child_nodes(node))
    while stack:
        inner = stack.pop()
        yield inner
        if not isinstance(inner, NESTED):
            stack += ast.iter_child_nodes(inner)


def nested_scopes(node: ast.AST) -> Iterator[ast.AST]:
    """The functions, lambdas, classes and generator expressions in a tree, each with a life.

    A list, set or dict comprehension has none of its own, but may hold such.
    """
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, NESTED) and not isinstance(inner, EAGER):
            yield inner
        elif type(inner) not in _LEAVES and type(inner) is not ast.Name:
            yield from nested_scopes(inner)
