"""Which names of a function come from outside: worked out from its syntax tree.

def f(x):                       scale: global or cell of f
    y = x * scale               y, x:  local
    return [y + i for i in y]   i:     local to the comprehension
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
NESTED = (*FUNCTIONS, *COMPREHENSIONS, ast.ClassDef)


@dataclass
class Scope:
    """One scope.

    Attributes:
        bound: names it binds.
        global_names: names it declares global.
        nonlocal_names: names it declares nonlocal.
        is_class: a class body, whose names inner functions do not see.
    """

    bound: set[str] = field(default_factory=set)
    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)
    is_class: bool = False


def parameters(arguments: ast.arguments) -> list[str]:
    """Every parameter name, in order."""
    named = [*arguments.posonlyargs, *arguments.args]
    if arguments.vararg:
        named.append(arguments.vararg)
    named += arguments.kwonlyargs
    if arguments.kwarg:
        named.append(arguments.kwarg)
    return [a.arg for a in named]


def scope_of(node: ast.AST) -> Scope:
    """The scope that a function, lambda, class or comprehension opens."""
    scope = Scope(is_class=isinstance(node, ast.ClassDef))
    if isinstance(node, FUNCTIONS):
        scope.bound.update(parameters(node.args))
        parts: list[ast.AST] = list(node.body) if isinstance(node.body, list) else [node.body]
    elif isinstance(node, COMPREHENSIONS):
        for generator in node.generators:
            scope.bound.update(_targets(generator.target))
        return scope
    else:
        assert isinstance(node, ast.ClassDef)
        parts = list(node.body)
    for part in parts:
        _collect(part, scope)
    scope.bound -= scope.global_names | scope.nonlocal_names
    return scope


def _targets(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner.id


def _collect(node: ast.AST, scope: Scope) -> None:
    """Names bound by a statement, looking into comprehensions for `:=` only."""
    todo = [node]
    while todo:
        inner = todo.pop()
        kind = type(inner)
        if kind in _PLAIN:
            if kind is ast.Name and not isinstance(inner.ctx, ast.Load):  # type: ignore[attr-defined]
                scope.bound.add(inner.id)  # type: ignore[attr-defined]
            continue
        if kind in _BINDING:
            _bind(inner, scope)
        if kind in COMPREHENSIONS:
            named = (n.target for n in ast.walk(inner) if isinstance(n, ast.NamedExpr))
            scope.bound.update(name for target in named for name in _targets(target))
        elif isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            scope.bound.add(inner.name)
            todo += _evaluated_outside(inner)
        elif isinstance(inner, ast.Lambda):
            todo += _defaults(inner.args)
        else:
            todo += ast.iter_child_nodes(inner)


_PLAIN = frozenset((ast.Name, ast.Constant, ast.Load, ast.Store))
_BINDING = frozenset(
    (
        ast.Global,
        ast.Nonlocal,
        ast.Import,
        ast.ImportFrom,
        ast.ExceptHandler,
        ast.MatchAs,
        ast.MatchStar,
        ast.MatchMapping,
    )
)


def _bind(node: ast.AST, scope: Scope) -> None:
    """What a statement or pattern binds itself."""
    match node:
        case ast.Global():
            scope.global_names.update(node.names)
        case ast.Nonlocal():
            scope.nonlocal_names.update(node.names)
        case ast.Import() | ast.ImportFrom():
            scope.bound.update((a.asname or a.name).split(".")[0] for a in node.names)
        case (
            ast.ExceptHandler(name=str(name))
            | ast.MatchAs(name=str(name))
            | ast.MatchStar(name=str(name))
            | ast.MatchMapping(rest=str(name))
        ):
            scope.bound.add(name)


def _defaults(arguments: ast.arguments) -> list[ast.expr]:
    return [*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)]


def _evaluated_outside(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef,
) -> list[ast.expr]:
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *(k.value for k in node.keywords)]
    return [*node.decorator_list, *_defaults(node.args)]


class Scopes:
    """The stack of scopes while a tree is walked."""

    def __init__(self, free: frozenset[str]) -> None:
        self.free = free
        self._stack: list[Scope] = []

    def push(self, node: ast.AST) -> None:
        """Enter the scope of a node."""
        self._stack.append(scope_of(node))

    def pop(self) -> None:
        """Leave it."""
        self._stack.pop()

    @property
    def in_class(self) -> bool:
        """Whether the innermost scope is the body of a class."""
        return self._stack[-1].is_class

    def origin(self, name: str) -> str:
        """Where a name is found: "local" (in the tree), "cell" or "global"."""
        for depth, scope in enumerate(reversed(self._stack)):
            if name in scope.global_names:
                return "global"
            if name in scope.bound and not (scope.is_class and depth):
                return "local"
        return "cell" if name in self.free else "global"
