"""The capture copy: the user's syntax tree with every hidden read, call and store made visible.

    y = helper(x) * scale            y = H.bind('y', H.operand(H.call(H.name('helper', helper), x))
                                                     * H.operand(H.cell('scale', scale)))
    if cfg.causal:                   if H.test(H.attribute(H.name('cfg', cfg), 'causal')):
    state['n'] = x                   H.set_item(state, 'n', x)

H is the free variable `__astjit__`. Nobody reads the copy: it runs once, at the original line and
column numbers. Python's own control flow, comparisons and operators stay as they are.
"""

import ast
from typing import Any

from astjit.frontend.counted import flow_of_function
from astjit.frontend.statements import Statements
from astjit.frontend.stops import HOOKS
from astjit.frontend.syntax import Mangler, at, hook, index, no_arguments, only_names, text

_UNSUPPORTED = {
    ast.Await: "await",
    ast.AsyncFor: "async for",
    ast.AsyncWith: "async with",
    ast.AsyncFunctionDef: "an async function",
    ast.TryStar: "except*",
}


_IN_FUNCTION = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)  # where they stand


def rewrite(
    node: ast.FunctionDef | ast.Lambda,
    free: frozenset[str],
    *,
    annotations: bool = True,
    marks: frozenset[tuple[int, int | None]] = frozenset(),
) -> ast.FunctionDef | ast.Lambda:
    """The tree with hooks.

    Args:
        node: a function's own tree, private names spelled out; it is changed.
        free: the names of its closure cells.
        annotations: those of variables in class bodies are evaluated, and not kept as text.
        marks: lines and columns of the conditions of `if`s of which both arms are captured.
    """
    return _Rewriter(free, annotations=annotations, marks=marks).function(node)


class _Rewriter(Statements):
    def function(self, node: ast.FunctionDef | ast.Lambda) -> ast.FunctionDef | ast.Lambda:
        """The outermost function: defaults and decorators are not part of the copy."""
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = []
            node.returns = None
        node.args.defaults = [at(ast.Constant(None), d) for d in node.args.defaults]
        node.args.kw_defaults = [d and at(ast.Constant(None), d) for d in node.args.kw_defaults]
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        self._body(node)
        return node

    def _body(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
    ) -> None:
        self.scopes.push(node)
        flow = None
        if isinstance(node, ast.FunctionDef):
            flow = flow_of_function(node, always=bool(self.marks))
        self.flows.append(flow)
        if isinstance(node, ast.Lambda):
            node.body = self.visit(node.body)
        else:
            node.body = self.block(node.body)
        self.flows.pop()
        self.scopes.pop()

    def visit(self, node: ast.AST) -> Any:
        if what := _UNSUPPORTED.get(type(node)):
            stop = at(hook("stop", text(what)), node)
            return at(ast.Expr(stop), node) if isinstance(node, ast.stmt) else stop
        made = super().visit(node)
        if isinstance(node, (ast.expr, ast.stmt)) and made is not node:
            for part in made if isinstance(made, list) else [made]:
                at(part, node)
        return made

    # --- scopes ---

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if self.outer_store(node.name):
            return self.refused(node.name, node)
        node.decorator_list = [at(hook("decorator", self.visit(d)), d) for d in node.decorator_list]
        node.returns = None
        self._signature(node.args)
        self._body(node)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self._signature(node.args)
        self._body(node)
        return node

    def _signature(self, arguments: ast.arguments) -> None:
        arguments.defaults = [self.visit(d) for d in arguments.defaults]
        arguments.kw_defaults = [d and self.visit(d) for d in arguments.kw_defaults]
        for argument in ast.walk(arguments):
            if isinstance(argument, ast.arg):
                argument.annotation = None

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        Mangler("").visit(node)
        if self.outer_store(node.name):
            return self.refused(node.name, node)
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        node.bases = [at(hook("base", self.visit(b)), b) for b in node.bases]
        for keyword in node.keywords:
            value = self.visit(keyword.value)
            wanted = "metaclass" if keyword.arg == "metaclass" else ""
            keyword.value = at(hook(wanted, value), value) if wanted else value
        made = ast.Attribute(ast.Name(HOOKS, ast.Load()), "made", ast.Load())
        node.decorator_list = [
            *(at(hook("decorator", d), d) for d in node.decorator_list),
            at(made, node),
        ]
        self._body(node)
        return node

    def _comprehension(self, node: ast.AST) -> ast.AST:
        assert isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp))
        first = node.generators[0]
        outer = self.visit(first.iter)  # evaluated in the enclosing scope
        self.scopes.push(node)
        if isinstance(node, ast.DictComp):
            node.key, node.value = self._key(node.key), self.visit(node.value)
        else:
            hashed = isinstance(node, ast.SetComp)
            node.elt = self._key(node.elt) if hashed else self.visit(node.elt)
        for generator in node.generators:
            iterable = outer if generator is first else self.visit(generator.iter)
            if not only_names(generator.target):
                what = text("a place that a comprehension stores to")
                generator.target = at(ast.Name("_", ast.Store()), generator.target)
                generator.iter = at(hook("stop", what), iterable)
            else:
                generator.iter = self.iterated(generator.target, iterable)
            generator.ifs = [at(hook("test", self.visit(c)), c) for c in generator.ifs]
        self.scopes.pop()
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    # --- reads ---

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if not isinstance(node.ctx, ast.Load) or node.id in (HOOKS, "__class__"):
            return node
        origin = self.scopes.origin(node.id)
        if origin == "local":
            return node
        return hook("cell" if origin == "cell" else "name", text(node.id), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return hook("attribute", node.value, text(node.attr))

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return hook("item", node.value, index(node.slice))

    def visit_Starred(self, node: ast.Starred) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.value = at(hook("iterate", node.value), node.value)
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        node.values = [self.visit(value) for value in node.values]
        for position, key in enumerate(node.keys):
            value = node.values[position]
            if key is None:
                node.values[position] = at(hook("mapping", value), value)
            else:
                node.keys[position] = self._key(key)
        return node

    def visit_Set(self, node: ast.Set) -> ast.AST:
        node.elts = [self._key(part) for part in node.elts]
        return node

    def _key(self, node: ast.expr) -> ast.expr:
        """What becomes a key: Python code of its class may run to hash and compare it."""
        if isinstance(node, ast.Constant):
            return node
        made: ast.expr = self.visit(node)
        return made if isinstance(made, ast.Starred) else at(hook("key", made), made)

    # --- calls and operators ---

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and self.scopes.origin(node.func.id) == "global":
            if node.func.id == "super" and not node.args and not node.keywords:
                return node
            if node.func.id in ("vars", "dir") and not node.args:
                return hook("stop", text(f"{node.func.id}()"))
            if node.func.id in ("locals", "globals", "eval", "exec", "breakpoint"):
                return hook("stop", text(f"{node.func.id}()"))
        self.generic_visit(node)
        for keyword in node.keywords:
            if keyword.arg is None:
                keyword.value = at(hook("mapping", keyword.value), keyword.value)
        call = hook("call", node.func, *node.args)
        call.keywords = node.keywords
        return call

    def _operand(self, node: ast.expr, name: str = "operand") -> ast.expr:
        if isinstance(node, ast.Constant):
            return node
        return at(hook(name, node), node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Mod):
            return hook("remainder", node.left, node.right)
        node.left, node.right = self._operand(node.left), self._operand(node.right)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        wanted = "test" if isinstance(node.op, ast.Not) else "operand"
        if not isinstance(node.operand, ast.Constant):
            node.operand = at(hook(wanted, node.operand), node.operand)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """A chain keeps what was evaluated: `a < b < c`, each once.

        H.compare('Lt', H.taken(), c) if H.link('Lt', a, b) else H.taken()
        """
        self.generic_visit(node)
        signs = [text(type(op).__name__) for op in node.ops]
        if len(node.ops) > 1:
            return self._chain(node.left, signs, node.comparators)
        match node.ops[0]:
            case ast.In() | ast.NotIn() | ast.Is() | ast.IsNot():
                return hook("compare", signs[0], node.left, node.comparators[0])
        node.left = self._operand(node.left, "compared")
        node.comparators = [self._operand(node.comparators[0], "compared")]
        return node

    def _chain(self, left: ast.expr, signs: list[ast.Constant], others: list[ast.expr]) -> ast.expr:
        if len(others) == 1:
            return hook("compare", signs[0], left, others[0])
        rest = self._chain(hook("taken"), signs[1:], others[1:])
        return ast.IfExp(hook("link", signs[0], left, others[0]), rest, hook("taken"))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """`a or b`  =>  `H.taken() if H.either(a) else b`."""
        self.generic_visit(node)
        made = node.values[-1]
        for value in reversed(node.values[:-1]):
            if isinstance(node.op, ast.Or):
                made = ast.IfExp(hook("either", value), hook("taken"), made)
            else:
                made = ast.IfExp(hook("both", value), made, hook("taken"))
        return made

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """`a if t else b`  =>  `H.chosen((line, column), t, lambda: a, lambda: b)` if marked."""
        where: Any = (node.test.lineno, node.test.col_offset)
        marked = where in self.marks and not self.scopes.in_class
        stays = any(isinstance(part, _IN_FUNCTION) for part in ast.walk(node))
        self.generic_visit(node)
        if marked and not stays:
            arms = [ast.Lambda(no_arguments(), arm) for arm in (node.body, node.orelse)]
            return hook("chosen", ast.Constant(where), node.test, *arms)
        node.test = at(hook("branch", node.test), node.test)
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        self.generic_visit(node)
        node.value = at(hook("shown", node.value), node.value)
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        self.generic_visit(node)
        if self.outer_store(node.target.id):
            return hook("stop", text(f"a store to the outer variable {node.target.id}"))
        node.value = at(hook("bind", text(node.target.id), node.value), node.value)
        return node

    # --- statements ---

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        node.test = at(hook("test", node.test), node.test)
        return node

    visit_Assert = visit_While  # type: ignore[assignment]  # both have a test

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.AST:
        self.generic_visit(node)
        node.value = at(hook("iterate", node.value), node.value)
        return node
