"""The capture copy: the user's syntax tree with every hidden read, call and store made visible.

    y = helper(x) * scale            y = H.bind('y', H.operand(H.call(H.name('helper', helper), x))
                                                     * H.operand(H.cell('scale', scale)))
    if cfg.causal:                   if H.test(H.attribute(H.name('cfg', cfg), 'causal')):
    state['n'] = x                   H.set_item(state, 'n', x)

H is the free variable `__astjit__`. Nobody reads the copy: it runs once, at the original line and
column numbers. Python's own control flow, comparisons and operators stay as they are.
"""

import ast
import copy
from typing import Any

from astjit.frontend.scopes import Scopes
from astjit.frontend.stops import HOOKS
from astjit.frontend.syntax import Mangler, at, hook, index, only_names, statement, text

_UNSUPPORTED = {
    ast.Await: "await",
    ast.AsyncFor: "async for",
    ast.AsyncWith: "async with",
    ast.AsyncFunctionDef: "an async function",
    ast.Yield: "yield",
    ast.YieldFrom: "yield from",
    ast.TryStar: "except*",
}


def rewrite(
    node: ast.FunctionDef | ast.Lambda, free: frozenset[str]
) -> ast.FunctionDef | ast.Lambda:
    """The tree with hooks.

    Args:
        node: a function's own tree, private names spelled out; it is changed.
        free: the names of its closure cells.
    """
    Mangler("").visit(node)  # classes inside the function
    return _Rewriter(free).function(node)


class _Rewriter(ast.NodeTransformer):
    def __init__(self, free: frozenset[str]) -> None:
        self.scopes = Scopes(free)

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
        if isinstance(node, ast.Lambda):
            node.body = self.visit(node.body)
        else:
            node.body = [self.visit(statement) for statement in node.body]
        self.scopes.pop()

    def visit(self, node: ast.AST) -> Any:
        if what := _UNSUPPORTED.get(type(node)):
            stop = at(hook("stop", text(what)), node)
            return at(ast.Expr(stop), node) if isinstance(node, ast.stmt) else stop
        made = super().visit(node)
        if isinstance(node, (ast.expr, ast.stmt)) and made is not node:
            at(made, node)
        return made

    # --- scopes ---

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
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
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        node.bases = [at(hook("base", self.visit(b)), b) for b in node.bases]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
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
            node.key, node.value = self.visit(node.key), self.visit(node.value)
        else:
            node.elt = self.visit(node.elt)
        for generator in node.generators:
            iterable = outer if generator is first else self.visit(generator.iter)
            generator.iter = at(hook("iterate", iterable), iterable)
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
        self.generic_visit(node)
        for position, key in enumerate(node.keys):
            if key is None:
                value = node.values[position]
                node.values[position] = at(hook("mapping", value), value)
        return node

    # --- calls and operators ---

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and self.scopes.origin(node.func.id) == "global":
            if node.func.id == "super" and not node.args and not node.keywords:
                return node
            if node.func.id in ("locals", "globals", "vars", "eval", "exec", "dir"):
                return hook("stop", text(f"{node.func.id}()"))
        self.generic_visit(node)
        for keyword in node.keywords:
            if keyword.arg is None:
                keyword.value = at(hook("mapping", keyword.value), keyword.value)
        call = hook("call", node.func, *node.args)
        call.keywords = node.keywords
        return call

    def _operand(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Constant):
            return node
        return at(hook("operand", node), node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        node.left, node.right = self._operand(node.left), self._operand(node.right)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        wanted = "test" if isinstance(node.op, ast.Not) else "operand"
        if not isinstance(node.operand, ast.Constant):
            node.operand = at(hook(wanted, node.operand), node.operand)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        identity = [isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops]
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            found = hook("contains", node.comparators[0], node.left)
            return found if isinstance(node.ops[0], ast.In) else ast.UnaryOp(ast.Not(), found)
        if any(identity):
            if len(node.ops) > 1:
                return hook("stop", text("`is` in a chain of comparisons"))
            same = hook("identical", node.left, node.comparators[0])
            return same if isinstance(node.ops[0], ast.Is) else ast.UnaryOp(ast.Not(), same)
        else:
            node.left = self._operand(node.left)
            node.comparators = [self._operand(c) for c in node.comparators]
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        node.values = [
            *(at(hook("test", value), value) for value in node.values[:-1]),
            node.values[-1],
        ]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        node.test = at(hook("test", node.test), node.test)
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        self.generic_visit(node)
        node.value = at(hook("shown", node.value), node.value)
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        self.generic_visit(node)
        if self._outer_store(node.target.id):
            return hook("stop", text(f"a store to the outer variable {node.target.id}"))
        node.value = at(hook("bind", text(node.target.id), node.value), node.value)
        return node

    # --- statements ---

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        node.test = at(hook("test", node.test), node.test)
        return node

    visit_While = visit_Assert = visit_If  # type: ignore[assignment]  # all have a test

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.iter = at(hook("iterate", node.iter), node.iter)
        return node

    def visit_With(self, node: ast.With) -> ast.AST:
        self.generic_visit(node)
        for item in node.items:
            item.context_expr = at(hook("context", item.context_expr), item.context_expr)
        return node

    def visit_Match(self, node: ast.Match) -> ast.AST:
        """Patterns stay; what they name is also read through a hook, before the match."""
        node.subject = self.visit(node.subject)
        named: list[ast.expr] = []
        for case in node.cases:
            for inner in ast.walk(case.pattern):
                if isinstance(inner, ast.MatchValue | ast.MatchClass):
                    value = inner.value if isinstance(inner, ast.MatchValue) else inner.cls
                    named.append(self.visit(copy.deepcopy(value)))
            if case.guard is not None:
                case.guard = at(hook("test", self.visit(case.guard)), case.guard)
            case.body = [self.visit(statement) for statement in case.body]
        node.subject = at(hook("matched", node.subject, *named), node.subject)
        return node

    def _outer_store(self, name: str) -> bool:
        return self.scopes.origin(name) != "local"

    def _stores_outside(self, target: ast.expr) -> str:
        """The first name or place of an assignment target that is not a local name."""
        for inner in ast.walk(target):
            match inner:
                case ast.Name(ctx=ast.Store() | ast.Del()) if self._outer_store(inner.id):
                    return f"the outer variable {inner.id}"
        return ""

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        for target in node.targets:
            if outer := self._stores_outside(target):
                return statement(hook("stop", text(f"a store to {outer}")), node)
        self.generic_visit(node)
        if len(node.targets) > 1 and not all(isinstance(t, ast.Name) for t in node.targets):
            return statement(hook("stop", text("several targets, one of them a place")), node)
        return self._assign(node, node.targets[0], node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is None:
            return at(ast.Pass(), node)
        if outer := self._stores_outside(node.target):
            return statement(hook("stop", text(f"a store to {outer}")), node)
        plain = at(ast.Assign([node.target], node.value), node)
        return self.visit(plain)

    def _assign(self, node: ast.Assign, target: ast.expr, value: ast.expr) -> ast.AST:
        match target:
            case ast.Name():
                node.value = at(hook("bind", text(target.id), value), value)
            case ast.Attribute():
                return statement(
                    hook("set_attribute", target.value, text(target.attr), value), node
                )
            case ast.Subscript():
                return statement(hook("set_item", target.value, index(target.slice), value), node)
            case ast.Tuple() | ast.List():
                if not only_names(target):
                    return statement(hook("stop", text("a store inside an unpacking")), node)
                names = [e.id if isinstance(e, ast.Name) else "" for e in target.elts]
                shown = ast.Tuple([text(n) for n in names], ast.Load())
                node.value = at(hook("unpack", shown, value), value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if isinstance(node.target, ast.Name):
            if self._outer_store(node.target.id):
                return statement(
                    hook("stop", text(f"a store to the outer variable {node.target.id}")), node
                )
            read = at(ast.Name(node.target.id, ast.Load()), node.target)
            value = self.visit(node.value)
            done = hook("in_place", text(type(node.op).__name__), read, value)
            return at(ast.Assign([node.target], at(done, node)), node)
        self.generic_visit(node)
        sign = text(type(node.op).__name__)
        place: str
        what: ast.expr
        match node.target:
            case ast.Attribute():
                place, what = "in_place_attribute", text(node.target.attr)
            case ast.Subscript():
                place, what = "in_place_item", index(node.target.slice)
        return statement(hook(place, sign, node.target.value, what, node.value), node)

    def visit_Delete(self, node: ast.Delete) -> ast.AST:
        if all(isinstance(t, ast.Name) and not self._outer_store(t.id) for t in node.targets):
            return node
        match node.targets:
            case [ast.Attribute() as target]:
                owner, what = self.visit(target.value), text(target.attr)
                return statement(hook("delete_attribute", owner, what), node)
            case [ast.Subscript() as target]:
                owner = self.visit(target.value)
                key = index(self.visit(target.slice))
                return statement(hook("delete_item", owner, key), node)
        return statement(hook("stop", text("del of an outer name, or of several things")), node)

    def visit_Import(self, node: ast.Import) -> ast.AST:
        """`import a.b as c`  =>  `c = H.module('a.b', 'a.b')`; only of what is imported already."""
        names, values = [], []
        for alias in node.names:
            top = alias.name if alias.asname else alias.name.split(".")[0]
            names.append(alias.asname or top)
            values.append(hook("module", text(alias.name), text(top)))
        return self._bound(node, names, values)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        """`from m import a`  =>  `a = H.imported('m', 'a', 0)`."""
        names = [alias.asname or alias.name for alias in node.names]
        values = [
            hook("imported", text(node.module or ""), text(a.name), ast.Constant(node.level))
            for a in node.names
        ]
        return self._bound(node, names, values)

    def _bound(self, node: ast.stmt, names: list[str], values: list[ast.Call]) -> ast.AST:
        if any(self._outer_store(name) for name in names):
            return statement(hook("stop", text("an import into an outer name")), node)
        targets = ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())
        return at(ast.Assign([targets], ast.Tuple(list(values), ast.Load())), node)
