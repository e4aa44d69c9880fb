"""Statements of the capture copy that store: each place is written by a hook, in Python's order.

a[i], b.x = pair      __astjit_0__, __astjit_1__ = H.unpack(('', ''), pair)
                      H.store_item(__astjit_0__, a, i); H.store_attribute(__astjit_1__, b, 'x')
for h.k in steps:     for __astjit_0__ in H.iterate(steps): H.store_attribute(..., h, 'k')
a[f()] += g()         H.in_place_item('Add', *H.item_before(a, f()), g())
"""

import ast
from typing import Any

from astjit.frontend.branching import Arms, arms_of, both
from astjit.frontend.counted import Plan, counts, plan_of, traced
from astjit.frontend.flow import Flow
from astjit.frontend.patterns import captures, described
from astjit.frontend.scopes import Scopes
from astjit.frontend.syntax import (
    Transformer,
    at,
    hook,
    index,
    names_of,
    only_names,
    statement,
    text,
)


class Statements(Transformer):
    """Rewrites statements; a subclass rewrites the expressions in them.

    Args:
        free: the names of the function's closure cells.
        annotations: the annotations of variables in class bodies are evaluated.
        marks: lines and columns of the conditions of `if`s of which both arms are captured.
    """

    def __init__(
        self, free: frozenset[str], *, annotations: bool, marks: frozenset[tuple[int, int | None]]
    ) -> None:
        super().__init__()
        self.marks = marks
        self.scopes = Scopes(free)
        self.annotations = annotations
        self.flows: list[Flow | None] = []  # of the functions around a statement
        self._count = 0

    def outer_store(self, name: str) -> bool:
        """Whether a name that is bound here is a variable of another function, or a global."""
        return self.scopes.origin(name) != "local"

    def _outer(self, *targets: ast.AST) -> str:
        """The first name stored in targets that is not a local variable."""
        for target in targets:
            for inner in ast.walk(target):
                match inner:
                    case ast.Name(ctx=ast.Store() | ast.Del(), id=name) if self.outer_store(name):
                        return name
        return ""

    def refused(self, name: str, node: ast.stmt) -> ast.stmt:
        """A statement that ends the capture, in place of one that stores to an outer name."""
        return statement(hook("stop", text(f"a store to the outer variable {name}")), node)

    def fresh(self) -> str:
        """A name for a value on its way into several places."""
        self._count += 1
        return f"__astjit_{self._count}__"

    # --- assignments ---

    def visit_Assign(self, node: ast.Assign) -> Any:
        """`a = b.c = value`."""
        if name := self._outer(*(t for t in node.targets if not isinstance(t, ast.Name))):
            return self.refused(name, node)
        node.value = self.visit(node.value)
        if len(node.targets) == 1:
            return [at(made, node) for made in self.store(node.targets[0], node.value, node)]
        if all(isinstance(t, ast.Name) and not self.outer_store(t.id) for t in node.targets):
            first = names_of(node.targets[0])
            node.value = at(hook("bind", text(str(first)), node.value), node)
            return node
        return self._through(node, node.targets, node.value)

    def _through(self, node: ast.stmt, targets: list[ast.expr], value: ast.expr) -> list[ast.stmt]:
        """The value under a name of its own, stored to each target, and the name deleted."""
        name = self.fresh()
        made: list[ast.stmt] = [ast.Assign([ast.Name(name, ast.Store())], value)]
        for target in targets:
            made += self.store(target, ast.Name(name, ast.Load()), node)
        made.append(ast.Delete([ast.Name(name, ast.Del())]))
        return [at(part, node) for part in made]

    def _store_outer(self, value: ast.expr, name: str) -> ast.Call:
        """`global n; n = value`  =>  `H.store_name(value, 'n')`."""
        cell = self.scopes.origin(name) == "cell"
        return hook("store_cell" if cell else "store_name", value, text(name))

    def store(self, target: ast.expr, value: ast.expr, node: ast.stmt) -> list[ast.stmt]:
        """Statements that store a value, whose expression is rewritten already, in a target."""
        match target:
            case ast.Name(id=name) if self.outer_store(name):
                return [statement(self._store_outer(value, name), node)]
            case ast.Name():
                return [ast.Assign([target], at(hook("bind", text(target.id), value), value))]
            case ast.Attribute():
                done = hook("store_attribute", value, self.visit(target.value), text(target.attr))
                return [statement(done, node)]
            case ast.Subscript():
                place = self.visit(target.value), index(self.visit(target.slice))
                return [statement(hook("store_item", value, *place), node)]
            case ast.Tuple() | ast.List():
                parts = at(hook("unpack", _shape(target), value), value)
                if only_names(target):
                    return [ast.Assign([target], parts)]
                return self._parts(target, parts, node)
        raise AssertionError(ast.dump(target))

    def _parts(
        self, target: ast.Tuple | ast.List, value: ast.expr, node: ast.stmt
    ) -> list[ast.stmt]:
        """An unpacking of which some parts are places."""
        names = [self.fresh() for _ in target.elts]
        into: list[ast.expr] = []
        for name, part in zip(names, target.elts, strict=True):
            held: ast.expr = ast.Name(name, ast.Store())
            into.append(ast.Starred(held, ast.Store()) if isinstance(part, ast.Starred) else held)
        made: list[ast.stmt] = [ast.Assign([ast.Tuple(into, ast.Store())], value)]
        for name, part in zip(names, target.elts, strict=True):
            inner = part.value if isinstance(part, ast.Starred) else part
            made += self.store(inner, ast.Name(name, ast.Load()), node)
        made.append(ast.Delete([ast.Name(name, ast.Del()) for name in names]))
        return made

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """`a: T = value`: T is evaluated in class bodies only, where it can be seen."""
        if self.scopes.in_class and isinstance(node.target, ast.Name) and node.simple:
            if self.annotations:
                node.annotation = self.visit(node.annotation)
            node.value = node.value and self.visit(node.value)
            return node
        if node.value is None:
            return at(ast.Pass(), node)
        return self.visit(at(ast.Assign([node.target], node.value), node))

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """`target OP= value`: the target is read before the value is evaluated."""
        sign = text(type(node.op).__name__)
        match node.target:
            case ast.Name(id=name):
                if self.outer_store(name):
                    read = self.visit(at(ast.Name(name, ast.Load()), node.target))
                    done = hook("in_place", sign, read, self.visit(node.value))
                    return statement(self._store_outer(done, name), node)
                read = at(ast.Name(name, ast.Load()), node.target)
                done = hook("in_place", sign, read, self.visit(node.value))
                return at(ast.Assign([node.target], at(done, node)), node)
            case ast.Attribute(attr=attr):
                before = hook("attribute_before", self.visit(node.target.value), text(attr))
                place = "in_place_attribute"
            case ast.Subscript():
                key = index(self.visit(node.target.slice))
                before = hook("item_before", self.visit(node.target.value), key)
                place = "in_place_item"
        read_first = ast.Starred(before, ast.Load())
        return statement(hook(place, sign, read_first, self.visit(node.value)), node)

    def visit_Delete(self, node: ast.Delete) -> Any:
        """`del a, b.c, d[0]`, one after the other."""
        if name := self._outer(*node.targets):
            return self.refused(name, node)
        return [at(made, node) for target in node.targets for made in self._deleted(target, node)]

    def _deleted(self, target: ast.expr, node: ast.Delete) -> list[ast.stmt]:
        match target:
            case ast.Attribute():
                done = hook("delete_attribute", self.visit(target.value), text(target.attr))
                return [statement(done, node)]
            case ast.Subscript():
                key = index(self.visit(target.slice))
                return [statement(hook("delete_item", self.visit(target.value), key), node)]
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return [made for part in parts for made in self._deleted(part, node)]
        return [ast.Delete([target])]

    # --- blocks that bind ---

    def visit_For(self, node: ast.For) -> Any:
        """`for target in iterable`."""
        if name := self._outer(node.target):
            return self.refused(name, node)
        call, flow = counts(node.iter), self.flows[-1] if self.flows else None
        plain = all(self.scopes.origin(name) == "global" for name in ("range", "reversed"))
        plan = plan_of(node, flow) if call is not None and flow is not None and plain else None
        if call is not None and plan is not None:
            return self._counted(node, call, plan)
        node.iter = self.iterated(node.target, self.visit(node.iter))
        first: list[ast.stmt] = []
        if not only_names(node.target):
            held, target = self.fresh(), node.target
            node.target = at(ast.Name(held, ast.Store()), target)
            first = [at(s, target) for s in self.store(target, ast.Name(held, ast.Load()), node)]
        node.body = [*first, *self.block(node.body)]
        node.orelse = self.block(node.orelse)
        return node

    def _counted(self, node: ast.For, call: ast.Call, plan: Plan) -> list[ast.stmt]:
        """A loop over a range that may stay one."""
        held = self.fresh()
        where: Any = (node.lineno, node.col_offset)
        backwards = ast.Constant(call is not node.iter)
        function = hook("name", text("range"), ast.Name("range", ast.Load()))
        bounds = [self.visit(a) for a in call.args]
        told: Any = plan
        made = hook("loop", ast.Constant(where), ast.Constant(told), backwards, function, *bounds)
        first = at(ast.Assign([ast.Name(held, ast.Store())], made), node.iter)
        node.iter = at(ast.Name(held, ast.Load()), node.iter)
        node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        traced(node, plan, held, hook("here"))
        return [at(first, node), node]

    def visit_If(self, node: ast.If) -> Any:
        """`if test`."""
        flow = self.flows[-1] if self.flows else None
        if flow is not None and (node.test.lineno, node.test.col_offset) in self.marks:
            arms = arms_of(node, flow)
            if arms is not None and not any(map(self.outer_store, arms[0])):
                return self._both(node, arms)
        self.generic_visit(node)
        node.test = at(hook("branch", node.test), node.test)
        return node

    def _both(self, node: ast.If, arms: Arms) -> list[ast.stmt]:
        """An `if` of which both arms are captured."""
        where: Any = (node.test.lineno, node.test.col_offset)
        told: Any = arms
        test = self.visit(node.test)
        made = at(hook("choice", ast.Constant(where), ast.Constant(told), test), test)
        node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        return both(node, arms, self.fresh(), self.fresh(), made, hook("here"))

    def iterated(self, target: ast.expr, iterable: ast.expr) -> ast.expr:
        """What a loop with this target iterates over; the items are unpacked by a hook."""
        if isinstance(target, ast.Tuple | ast.List) and only_names(target):
            return at(hook("each", _shape(target), iterable), iterable)
        return at(hook("iterate", iterable), iterable)

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of a block, rewritten."""
        made: list[ast.stmt] = []
        for part in body:
            done = self.visit(part)
            made += done if isinstance(done, list) else [done]
        return made

    def visit_With(self, node: ast.With) -> Any:
        """`with a as b.c, d as e`: one inside the other where a target is a place."""
        if name := self._outer(*(i.optional_vars for i in node.items if i.optional_vars)):
            return self.refused(name, node)
        body = self.block(node.body)
        for item in reversed(node.items):
            target = item.optional_vars
            item.context_expr = self._entered(item.context_expr)
            if target is not None and not isinstance(target, ast.Name):
                held = self.fresh()
                item.optional_vars = at(ast.Name(held, ast.Store()), target)
                stored = self.store(target, ast.Name(held, ast.Load()), node)
                body = [*(at(part, target) for part in stored), *body]
            body = [at(ast.With([item], body), node)]
        return body[0]

    def _entered(self, manager: ast.expr) -> ast.expr:
        made = self.visit(manager)
        return at(hook("context", made), made)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        """`except E as name`."""
        if node.type is not None:
            caught = self.visit(node.type)
            node.type = at(hook("operand", caught), caught)
        if node.name and self.outer_store(node.name):
            node.body = [self.refused(node.name, node.body[0])]
        else:
            node.body = self.block(node.body)
        node.body.insert(0, statement(hook("passing"), node))
        return node

    def visit_Try(self, node: ast.Try) -> Any:
        """`try: ... finally: ...`."""
        node.body = self.block(node.body)
        node.handlers = [self.visit(handler) for handler in node.handlers]
        node.orelse, last = self.block(node.orelse), self.block(node.finalbody)
        if last:
            node.finalbody = [statement(hook("passing"), last[0]), *last]
        return node

    def visit_Raise(self, node: ast.Raise) -> Any:
        """`raise a from b`: classes are called through the capture."""
        if node.exc is not None:
            made = self.visit(node.exc)
            node.exc = at(hook("raised", made), made)
        if node.cause is not None:
            made = self.visit(node.cause)
            node.cause = at(hook("raised", made), made)
        return node

    def visit_Match(self, node: ast.Match) -> Any:
        """`match s: case P if g: ...`  =>  `if H.case(s, P) and (names of P, 1) and g: ...`."""
        subject, cases = self.fresh(), []
        for case in node.cases:
            for name in captures(case.pattern):
                if self.outer_store(name):
                    return self.refused(name, node)
            asked = hook("case", ast.Name(subject, ast.Load()), described(case.pattern, self.visit))
            bound = [
                ast.NamedExpr(ast.Name(name, ast.Store()), hook("captured", text(name)))
                for name in captures(case.pattern)
            ]
            tests: list[ast.expr] = [asked]
            tests += [ast.Tuple(list(bound), ast.Load())] if bound else []
            if case.guard is not None:
                tests.append(hook("test", self.visit(case.guard)))
            test = at(tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests), case.pattern)
            cases.append((test, self.block(case.body)))
        chain: list[ast.stmt] = []
        for test, body in reversed(cases):
            chain = [at(ast.If(test, body, chain), test)]
        held = ast.Assign([ast.Name(subject, ast.Store())], self.visit(node.subject))
        return [at(held, node), *chain]

    # --- imports ---

    def visit_Import(self, node: ast.Import) -> Any:
        """`import a.b as c`  =>  `c = H.module('a.b', 'a.b')`; only of what is imported already."""
        names, values = [], []
        for alias in node.names:
            top = alias.name if alias.asname else alias.name.split(".")[0]
            names.append(alias.asname or top)
            values.append(hook("module", text(alias.name), text(top)))
        return self._bound(node, names, values)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        """`from m import a`  =>  `a = H.imported('m', 'a', 0)`."""
        names = [alias.asname or alias.name for alias in node.names]
        values = [
            hook("imported", text(node.module or ""), text(a.name), ast.Constant(node.level))
            for a in node.names
        ]
        return self._bound(node, names, values)

    def _bound(self, node: ast.stmt, names: list[str], values: list[ast.Call]) -> ast.AST:
        for name in names:
            if self.outer_store(name):
                return self.refused(name, node)
        targets = ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())
        return at(ast.Assign([targets], ast.Tuple(list(values), ast.Load())), node)


def _shape(target: ast.expr) -> ast.expr:
    """The names of an unpacking as a display: `a, (b, *c), d.e`  =>  ('a', ('b', '*c'), '')."""

    def shown(names: object) -> ast.expr:
        if isinstance(names, str):
            return text(names)
        assert isinstance(names, tuple)
        return ast.Tuple([shown(part) for part in names], ast.Load())

    return shown(names_of(target))
