"""Counted loops in the capture copy: `for t in range(...)` whose body may be traced once.

    for t in range(n):            __astjit_1__ = H.loop((...), H.name('range', range), n)
        h = h * d + x[t]          for t in __astjit_1__:
        ys.append(h)                  __astjit_1__.enter(H.here())
    return h                          if 'h' in __astjit_1__.given: h = __astjit_1__.given['h']
                                      h = ...
                                      __astjit_1__.leave(H.here())
                                  else:
                                      if 'h' in __astjit_1__.ends: h = __astjit_1__.ends['h']

Only loops are taken that no statement leaves, and in which nothing but names, items of tensors and
lists change; everything else is found while the body is traced (frontend/loops.py).
"""

import ast
from collections.abc import Iterable

from astjit.frontend.flow import Flow, Names, blocks, flow_of, header, inside, written
from astjit.frontend.order import READ, WRITE, captured, events, nested_scopes
from astjit.frontend.scopes import parameters, scope_of
from astjit.frontend.syntax import at, text

_TAKEN = (
    *(ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.If, ast.For),
    *(ast.Pass, ast.Assert, ast.Raise),
)
NEVER = (
    *(ast.NamedExpr, ast.Lambda, ast.Yield, ast.YieldFrom, ast.Await, ast.GeneratorExp),
    *(ast.ListComp, ast.SetComp, ast.DictComp),
)
Plan = tuple[tuple[str, ...], ...]


def flow_of_function(node: ast.FunctionDef, *, always: bool = False) -> Flow | None:
    """The facts of a function that has counted loops, None for any other unless `always`."""
    if not always and not any(isinstance(n, ast.For) and counts(n.iter) for n in ast.walk(node)):
        return None
    nested = list(nested_scopes(ast.Module(node.body, [])))
    shared: Names = frozenset().union(*map(captured, nested))
    made = flow_of(node.body, frozenset(parameters(node.args)), shared, lambda with_: True)
    own = frozenset(scope_of(node).bound)  # a read shows that a name is bound, not in which scope
    made.before = {statement: names & own for statement, names in made.before.items()}
    return made


def counts(iterable: ast.expr) -> ast.Call | None:
    """The call of `range` that a loop goes over, forwards or reversed."""
    match iterable:
        case ast.Call(func=ast.Name(id="range"), args=args, keywords=[]):
            return None if any(isinstance(a, ast.Starred) for a in args) else iterable
        case ast.Call(
            func=ast.Name(id="reversed"),
            args=[ast.Call(func=ast.Name(id="range")) as inner],
            keywords=[],
        ):
            return counts(inner)
    return None


def plan_of(node: ast.For, flow: Flow) -> Plan | None:
    """What a loop does to names; None for a loop that is not traced.

    Returns:
        the names read from the iteration before, those assigned, those read after the loop, the
        lists that it only appends to, and the loop's own variable.
    """
    if not isinstance(node.target, ast.Name) or not _traceable(node.body):
        return None
    assigned: Names = frozenset().union(*map(written, node.body))
    if node.target.id in assigned:
        return None
    carried = _exposed(node.body, {node.target.id}) & assigned
    live = flow.live[id(node)] & (assigned | {node.target.id})
    lists = (_appended(node.body) - assigned) & flow.before[id(node)]  # none of another scope
    names = (carried, assigned, live, lists, {node.target.id})
    return tuple(tuple(sorted(found)) for found in names)


def _traceable(body: list[ast.stmt]) -> bool:
    parts = [part for node in body for part in inside(node)]
    if any(isinstance(part, ast.For) and part.orelse for part in parts):
        return False
    if not all(isinstance(part, _TAKEN) for part in parts):
        return False
    return not any(isinstance(part, NEVER) for node in body for part in ast.walk(node))


def _exposed(body: Iterable[ast.stmt], before: set[str]) -> frozenset[str]:
    """Names that statements may read before they surely wrote them."""
    sure, found = set(before), set[str]()
    for node in body:
        for event in header(node):
            if event.kind == READ and event.name not in sure:
                found.add(event.name)
            elif event.kind == WRITE and event.sure:
                sure.add(event.name)
        target = events(node.target) if isinstance(node, ast.For) else ()
        bound = {e.name for e in target if e.kind == WRITE}
        for block in blocks(node):
            found |= _exposed(block, sure | bound)
        if isinstance(node, ast.If) and node.orelse:
            sure |= _written(node.body) & _written(node.orelse)
    return frozenset(found)


def _written(body: list[ast.stmt]) -> set[str]:
    """Names that statements of a block itself surely write."""
    return {e.name for node in body for e in header(node) if e.kind == WRITE and e.sure}


def _appended(body: list[ast.stmt]) -> frozenset[str]:
    """Variables with which a body does nothing but `name.append(value)`."""
    found, others = set[str](), set[str]()
    for node in body:
        match node:
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name(id=name), attr="append"),
                    args=[value],
                    keywords=[],
                )
            ):
                found.add(name)
                others |= {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
            case _:
                others |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    return frozenset(found - others)


def traced(node: ast.For, plan: Plan, held: str, here: ast.expr) -> None:
    """Let a loop, whose parts are rewritten already, tell `held` where its body begins and ends.

    Args:
        node: the loop; it is changed.
        plan: what it does to names.
        held: the variable of the object that counts.
        here: an expression for the local variables.
    """
    carried, assigned, _, lists, target = plan
    first = [told(held, "enter", here), *(taken_from(held, "given", name) for name in carried)]
    node.body = [*(at(s, node) for s in first), *node.body, at(told(held, "leave", here), node)]
    names = dict.fromkeys((*assigned, *lists, *target))
    node.orelse = [*(at(taken_from(held, "ends", name), node) for name in names), *node.orelse]


def told(held: str, what: str, here: ast.expr) -> ast.stmt:
    """`held.what(here)`."""
    method = ast.Attribute(ast.Name(held, ast.Load()), what, ast.Load())
    return ast.Expr(ast.Call(method, [here], []))


def taken_from(held: str, which: str, name: str) -> ast.stmt:
    """`if 'name' in held.which: name = held.which['name']`."""

    def values() -> ast.expr:
        return ast.Attribute(ast.Name(held, ast.Load()), which, ast.Load())

    found = ast.Subscript(values(), text(name), ast.Load())
    bound = ast.Assign([ast.Name(name, ast.Store())], found)
    return ast.If(ast.Compare(text(name), [ast.In()], [values()]), [bound], [])
