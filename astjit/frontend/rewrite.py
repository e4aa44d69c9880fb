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

from astjit.frontend.scopes import NESTED, Scopes
from astjit.frontend.stops import HOOKS

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
    node: ast.FunctionDef | ast.Lambda, free: frozenset[str], class_name: str = ""
) -> ast.FunctionDef | ast.Lambda:
    """The tree with hooks.

    Args:
        node: a function's own tree; it is changed.
        free: the names of its closure cells.
        class_name: the class whose body it stands in, for names such as `self.__secret`.
    """
    _Mangler(class_name).visit(node)
    return _Rewriter(free).function(node)


class _Mangler(ast.NodeTransformer):
    """Spells out private names, because hooks name attributes by strings."""

    def __init__(self, class_name: str) -> None:
        self.prefix = "_" + class_name.lstrip("_") if class_name.lstrip("_") else ""

    def visit(self, node: ast.AST) -> ast.AST:
        for field in ("attr", "id", "arg", "name", "names") if self.prefix else ():
            value = getattr(node, field, None)
            if isinstance(value, str):
                setattr(node, field, self._mangled(value))
            elif isinstance(node, ast.Global | ast.Nonlocal):
                node.names = [self._mangled(name) for name in node.names]
        if isinstance(node, ast.ClassDef):
            outer, self.prefix = self.prefix, "_" + node.name.lstrip("_")
            node.body = [self.visit(statement) for statement in node.body]  # type: ignore[misc]
            self.prefix = outer
            return node
        return self.generic_visit(node)

    def _mangled(self, name: str) -> str:
        private = name.startswith("__") and not name.endswith("__")
        return f"{self.prefix}{name}" if private else name


def _hook(name: str, *arguments: ast.expr) -> ast.Call:
    hooks = ast.Name(HOOKS, ast.Load())
    return ast.Call(ast.Attribute(hooks, name, ast.Load()), list(arguments), [])


def _text(value: str) -> ast.Constant:
    return ast.Constant(value)


class _Rewriter(ast.NodeTransformer):
    def __init__(self, free: frozenset[str]) -> None:
        self.scopes = Scopes(free)

    def function(self, node: ast.FunctionDef | ast.Lambda) -> ast.FunctionDef | ast.Lambda:
        """The outermost function: defaults and decorators are not part of the copy."""
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = []
            node.returns = None
        node.args.defaults = [_at(ast.Constant(None), d) for d in node.args.defaults]
        node.args.kw_defaults = [d and _at(ast.Constant(None), d) for d in node.args.kw_defaults]
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

    def visit(self, node: ast.AST) -> ast.AST:  # type: ignore[override]
        if what := _UNSUPPORTED.get(type(node)):
            stop = _at(_hook("stop", _text(what)), node)
            return _at(ast.Expr(stop), node) if isinstance(node, ast.stmt) else stop
        made = super().visit(node)
        if isinstance(node, (ast.expr, ast.stmt)) and made is not node:
            _at(made, node)
        return made  # type: ignore[no-any-return]

    # --- scopes ---

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.decorator_list = [
            _at(_hook("decorator", self.visit(d)), d) for d in node.decorator_list
        ]
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
        node.bases = [self.visit(b) for b in node.bases]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        made = ast.Attribute(ast.Name(HOOKS, ast.Load()), "made", ast.Load())
        node.decorator_list = [
            *(_at(_hook("decorator", d), d) for d in node.decorator_list),
            _at(made, node),
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
            generator.iter = _at(_hook("iterate", iterable), iterable)
            generator.ifs = [_at(_hook("test", self.visit(c)), c) for c in generator.ifs]
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
        return _hook("cell" if origin == "cell" else "name", _text(node.id), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return _hook("attribute", node.value, _text(node.attr))

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return _hook("item", node.value, _index(node.slice))

    def visit_Starred(self, node: ast.Starred) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.value = _at(_hook("iterate", node.value), node.value)
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        self.generic_visit(node)
        for position, key in enumerate(node.keys):
            if key is None:
                value = node.values[position]
                node.values[position] = _at(_hook("mapping", value), value)
        return node

    # --- calls and operators ---

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and self.scopes.origin(node.func.id) == "global":
            if node.func.id == "super" and not node.args and not node.keywords:
                return node
            if node.func.id in ("locals", "globals", "vars", "eval", "exec", "dir"):
                return _hook("stop", _text(f"{node.func.id}()"))
        self.generic_visit(node)
        for keyword in node.keywords:
            if keyword.arg is None:
                keyword.value = _at(_hook("mapping", keyword.value), keyword.value)
        call = _hook("call", node.func, *node.args)
        call.keywords = node.keywords
        return call

    def _operand(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Constant):
            return node
        return _at(_hook("operand", node), node)  # type: ignore[return-value]

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        node.left, node.right = self._operand(node.left), self._operand(node.right)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        hook = "test" if isinstance(node.op, ast.Not) else "operand"
        if not isinstance(node.operand, ast.Constant):
            node.operand = _at(_hook(hook, node.operand), node.operand)  # type: ignore[assignment]
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        identity = [isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops]
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            found = _hook("contains", node.comparators[0], node.left)
            return found if isinstance(node.ops[0], ast.In) else ast.UnaryOp(ast.Not(), found)
        if not all(identity):
            node.left = self._operand(node.left)
            node.comparators = [self._operand(c) for c in node.comparators]
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        node.values = [
            *(_at(_hook("test", value), value) for value in node.values[:-1]),
            node.values[-1],
        ]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        node.test = _at(_hook("test", node.test), node.test)  # type: ignore[assignment]
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        self.generic_visit(node)
        node.value = _at(_hook("shown", node.value), node.value)  # type: ignore[assignment]
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        self.generic_visit(node)
        if self._outer_store(node.target.id):
            return _hook("stop", _text(f"a store to the outer variable {node.target.id}"))
        node.value = _at(_hook("bind", _text(node.target.id), node.value), node.value)  # type: ignore[assignment]
        return node

    # --- statements ---

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        node.test = _at(_hook("test", node.test), node.test)  # type: ignore[assignment]
        return node

    visit_While = visit_Assert = visit_If  # type: ignore[assignment]

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.iter = _at(_hook("iterate", node.iter), node.iter)  # type: ignore[assignment]
        return node

    def visit_With(self, node: ast.With) -> ast.AST:
        self.generic_visit(node)
        for item in node.items:
            item.context_expr = _at(_hook("context", item.context_expr), item.context_expr)  # type: ignore[assignment]
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
                case.guard = _at(_hook("test", self.visit(case.guard)), case.guard)  # type: ignore[assignment]
            case.body = [self.visit(statement) for statement in case.body]
        node.subject = _at(_hook("matched", node.subject, *named), node.subject)  # type: ignore[assignment]
        return node

    def _outer_store(self, name: str) -> bool:
        return self.scopes.origin(name) != "local"

    def _stores_outside(self, target: ast.expr) -> str:
        """The first name or place of an assignment target that is not a local name."""
        for inner in ast.walk(target):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store | ast.Del):
                if self._outer_store(inner.id):
                    return f"the outer variable {inner.id}"
        return ""

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        for target in node.targets:
            if outer := self._stores_outside(target):
                return _statement(_hook("stop", _text(f"a store to {outer}")), node)
        self.generic_visit(node)
        if len(node.targets) > 1 and not all(isinstance(t, ast.Name) for t in node.targets):
            return _statement(_hook("stop", _text("several targets, one of them a place")), node)
        return self._assign(node, node.targets[0], node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return _at(ast.Pass(), node)
        if outer := self._stores_outside(node.target):
            return _statement(_hook("stop", _text(f"a store to {outer}")), node)
        plain = _at(ast.Assign([node.target], node.value), node)
        return self.visit(plain)

    def _assign(self, node: ast.Assign, target: ast.expr, value: ast.expr) -> ast.AST:
        match target:
            case ast.Name():
                node.value = _at(_hook("bind", _text(target.id), value), value)  # type: ignore[assignment]
            case ast.Attribute():
                return _statement(
                    _hook("set_attribute", target.value, _text(target.attr), value), node
                )
            case ast.Subscript():
                return _statement(
                    _hook("set_item", target.value, _index(target.slice), value), node
                )
            case ast.Tuple() | ast.List():
                if any(not _name_or_star(e) for e in ast.walk(target)):
                    return _statement(_hook("stop", _text("a store inside an unpacking")), node)
                names = [e.id if isinstance(e, ast.Name) else "" for e in target.elts]
                shown = ast.Tuple([_text(n) for n in names], ast.Load())
                node.value = _at(_hook("unpack", shown, value), value)  # type: ignore[assignment]
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if isinstance(node.target, ast.Name):
            if self._outer_store(node.target.id):
                return _statement(
                    _hook("stop", _text(f"a store to the outer variable {node.target.id}")), node
                )
            read = _at(ast.Name(node.target.id, ast.Load()), node.target)
            value = self.visit(node.value)
            done = _hook("in_place", _text(type(node.op).__name__), read, value)  # type: ignore[arg-type]
            return _at(ast.Assign([node.target], _at(done, node)), node)
        self.generic_visit(node)
        sign = _text(type(node.op).__name__)
        match node.target:
            case ast.Attribute():
                hook = _hook(
                    "in_place_attribute",
                    sign,
                    node.target.value,
                    _text(node.target.attr),
                    node.value,
                )
            case ast.Subscript():
                hook = _hook(
                    "in_place_item", sign, node.target.value, _index(node.target.slice), node.value
                )
        return _statement(hook, node)

    def visit_Delete(self, node: ast.Delete) -> ast.AST:
        if all(isinstance(t, ast.Name) and not self._outer_store(t.id) for t in node.targets):
            return node
        return _statement(_hook("stop", _text("del of an item, attribute or outer name")), node)

    def visit_Import(self, node: ast.Import) -> ast.AST:
        """`import a.b as c`  =>  `c = H.module('a.b', 'a.b')`; only of what is imported already."""
        names, values = [], []
        for alias in node.names:
            top = alias.name if alias.asname else alias.name.split(".")[0]
            names.append(alias.asname or top)
            values.append(_hook("module", _text(alias.name), _text(top)))
        return self._bound(node, names, values)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        """`from m import a`  =>  `a = H.imported('m', 'a', 0)`."""
        names = [alias.asname or alias.name for alias in node.names]
        values = [
            _hook("imported", _text(node.module or ""), _text(a.name), ast.Constant(node.level))
            for a in node.names
        ]
        return self._bound(node, names, values)

    def _bound(self, node: ast.stmt, names: list[str], values: list[ast.Call]) -> ast.AST:
        if any(self._outer_store(name) for name in names):
            return _statement(_hook("stop", _text("an import into an outer name")), node)
        targets = ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())
        return _at(ast.Assign([targets], ast.Tuple(list(values), ast.Load())), node)


def _index(index: ast.expr) -> ast.expr:
    """The index of a subscript as an expression: slices become calls of slice()."""
    match index:
        case ast.Slice():
            parts = [
                p or _at(ast.Constant(None), index) for p in (index.lower, index.upper, index.step)
            ]
            return _at(_hook("slice", *parts), index)  # type: ignore[arg-type,return-value]
        case ast.Tuple():
            return _at(ast.Tuple([_index(e) for e in index.elts], ast.Load()), index)  # type: ignore[return-value]
    return index


def _name_or_star(node: ast.AST) -> bool:
    kinds = (ast.Name, ast.Starred, ast.Tuple, ast.List, ast.expr_context)
    return isinstance(node, kinds)


def _statement(hook: ast.expr, node: ast.stmt) -> ast.AST:
    return _at(ast.Expr(_at(hook, node)), node)  # type: ignore[arg-type]


def _at(made: ast.AST, node: ast.AST) -> ast.AST:
    """`made` at the position of `node`, with everything new inside it."""
    if not hasattr(made, "lineno"):
        ast.copy_location(made, node)
    for child in ast.iter_child_nodes(made):
        if isinstance(child, (ast.expr, ast.stmt)) and not hasattr(child, "lineno"):
            _at(child, node)
    return made


__all__ = ["NESTED", "rewrite"]
