"""The function that runs in place of one that was cut: the user's statements and calls of segments.

Line numbers, file, globals and closure cells are the user's own, and so are the segments': each is
a function made of the user's statements, with what they read as parameters.
"""

import ast
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from astjit.frontend.flow import blocks
from astjit.frontend.runs import CALLEE, SEGMENT, Marks, Run, place
from astjit.frontend.scopes import parameters
from astjit.frontend.segmenting import Cutter
from astjit.frontend.source import FACTORY, Source, compiled, know_source, source_of
from astjit.frontend.syntax import at


@dataclass(frozen=True, slots=True)
class Twin:
    """A function that was cut.

    Attributes:
        code: of the function that runs, whose free names are the function's own and `names`.
        runs: its segments by the free names that call them.
        trees: the function of each segment, by the same names.
        callees: whether statements that stay call something that may be compiled by itself.
    """

    code: types.CodeType
    runs: Mapping[str, Run]
    trees: Mapping[str, ast.FunctionDef]
    callees: bool


def twin_of(function: types.FunctionType, marks: Marks) -> Twin:
    """A function cut at its marks.

    Raises:
        Stop: if it has no source.
    """
    tree = source_of(function).fresh_tree()
    assert isinstance(tree, ast.FunctionDef)
    builder = _Builder(Cutter(tree, marks, function), marks)
    own = sorted(builder.cutter.locals - set(parameters(tree.args)))
    tree.body = [*builder.block(tree.body), *(_local(name, tree.body[-1]) for name in own)]
    code = compiled(tree, function.__code__, hooks=False, given=(*builder.runs, CALLEE))
    return Twin(code, builder.runs, builder.trees, builder.callees)


def linked(
    twin: Twin, function: types.FunctionType, given: Mapping[str, object]
) -> types.FunctionType:
    """The function that runs, with what its free names stand for."""
    return _function(function, twin.code, function.__name__, given)


def segment_function(
    function: types.FunctionType, tree: ast.FunctionDef, name: str
) -> types.FunctionType:
    """A segment as a function, whose source is known to capture."""
    code = compiled(tree, function.__code__, hooks=False)
    source = Source(code.co_filename, tree.lineno, "", tree, is_part=True)
    know_source(code, source)
    made = _function(function, code, f"{function.__name__}_{name}", {})
    made.__qualname__ = f"{function.__qualname__}.{name}"
    return made


def _function(
    function: types.FunctionType, code: types.CodeType, name: str, given: Mapping[str, object]
) -> types.FunctionType:
    own = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells = tuple(
        types.CellType(given[free]) if free in given else own[free] for free in code.co_freevars
    )
    made = types.FunctionType(code, function.__globals__, name, None, cells)
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return made


class _Builder:
    """Rewrites the blocks of a tree, in place."""

    def __init__(self, cutter: Cutter, marks: Marks) -> None:
        self.cutter, self.marks = cutter, marks
        self.runs: dict[str, Run] = {}
        self.trees: dict[str, ast.FunctionDef] = {}
        self.callees = False

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        parts = list(self.cutter.runs(body))
        return [self.called(p) if isinstance(p, Run) else self.opened(p) for p in parts]

    def named(self, run: Run) -> ast.Call:
        """The call of a segment."""
        name = SEGMENT.format(len(self.runs))
        self.runs[name] = run
        self.trees[name] = self.function(run)
        given: list[ast.expr] = [ast.Name(read, ast.Load()) for read in run.reads]
        return at(ast.Call(ast.Name(name, ast.Load()), given, []), run.first)

    def called(self, run: Run) -> ast.stmt:
        """The statement that calls a segment, where the segment begins."""
        call = self.named(run)
        made: ast.stmt
        if run.tail is not None:
            made = ast.Return(call)
        elif run.results:
            made = ast.Assign([_names(run.results, ast.Store())], call)
        else:
            made = ast.Expr(call)
        return at(made, run.first)

    def function(self, run: Run) -> ast.FunctionDef:
        """A segment as the definition of a function."""
        body: list[ast.stmt] = list(run.statements)
        if run.test is not None:
            body = [at(ast.Return(run.test), run.test)]
        elif run.results:
            body.append(at(ast.Return(_names(run.results, ast.Load())), run.last))
        used = {n.id for part in body for n in ast.walk(part) if isinstance(n, ast.Name)}
        for kind, declared in (
            (ast.Global, self.cutter.globals),
            (ast.Nonlocal, self.cutter.nonlocals),
        ):
            if names := sorted(used & declared):
                body.insert(0, at(kind(names), run.first))
        places = [at(ast.arg(name), run.first) for name in run.reads]
        arguments = ast.arguments([], places, None, [], [], None, [])
        return at(ast.FunctionDef(FACTORY, arguments, body, []), run.first)

    def opened(self, node: ast.stmt) -> ast.stmt:
        """A statement that stays, with its blocks cut."""
        marked = place(node) in self.marks.python
        if (test := self.cutter.test(node)) is not None:
            assert isinstance(node, ast.If | ast.While)
            node.test = self.named(test)
        elif marked:
            self.callees |= _wrap_calls(node)
        for inner in blocks(node):
            inner[:] = self.block(inner)
        return node


def _local(name: str, last: ast.stmt) -> ast.stmt:
    """`name: None`, which does nothing, and makes a variable local that only segments bind."""
    target = ast.Name(name, ast.Store())
    return at(ast.AnnAssign(target, ast.Constant(None), None, 1), last)


def _names(names: Sequence[str], context: ast.expr_context) -> ast.expr:
    """One name, or a tuple of several."""
    made: list[ast.expr] = [ast.Name(name, context) for name in names]
    return made[0] if len(made) == 1 else ast.Tuple(made, context)


def _wrap_calls(node: ast.stmt) -> bool:
    """Let the calls in a statement that stays, but not in its blocks, ask for compiled callees."""
    wrap = _Calls()
    held = [id(part) for block in blocks(node) for part in block]
    for field, value in ast.iter_fields(node):
        parts = value if isinstance(value, list) else [value]
        if any(id(part) in held for part in parts) or isinstance(value, str):
            continue
        made = [
            wrap.visit(p) if isinstance(p, ast.expr | ast.withitem | ast.keyword) else p
            for p in parts
        ]
        setattr(node, field, made if isinstance(value, list) else made[0])
    return wrap.found


class _Calls(ast.NodeTransformer):
    """`f(x)`  =>  `__astjit_callee__(f)(x)`: evaluated where and when `f` was."""

    found = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            return node
        self.found = True
        callee = ast.Call(ast.Name(CALLEE, ast.Load()), [node.func], [])
        node.func = at(callee, node.func)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node
