"""Small makers of syntax trees, and the spelling of private names."""

import ast
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from astjit.frontend.stops import HOOKS

Tree = TypeVar("Tree", bound=ast.AST)


def hook(name: str, *arguments: ast.expr) -> ast.Call:
    """`__astjit__.name(arguments)`."""
    hooks = ast.Name(HOOKS, ast.Load())
    return ast.Call(ast.Attribute(hooks, name, ast.Load()), list(arguments), [])


def no_arguments() -> ast.arguments:
    """The parameters of a function that has none."""
    return ast.arguments([], [], None, [], [], None, [])


def text(value: str) -> ast.Constant:
    """A string in the tree."""
    return ast.Constant(value)


def index(node: ast.expr) -> ast.expr:
    """The index of a subscript as an expression: slices become calls of slice()."""
    match node:
        case ast.Slice():
            bounds = (node.lower, node.upper, node.step)
            return at(hook("slice", *(b or ast.Constant(None) for b in bounds)), node)
        case ast.Tuple():
            return at(ast.Tuple([index(e) for e in node.elts], ast.Load()), node)
    return node


def only_names(target: ast.expr) -> bool:
    """Whether an assignment target is made of names, tuples, lists and stars."""
    kinds = (ast.Name, ast.Starred, ast.Tuple, ast.List, ast.expr_context)
    return all(isinstance(inner, kinds) for inner in ast.walk(target))


Names = str | tuple["Names", ...]


def names_of(target: ast.expr) -> Names:
    """The names that a target binds, nested as it is: "*c" for a starred one, "" for a place."""
    match target:
        case ast.Name(id=name):
            return name
        case ast.Starred(value=ast.Name(id=name)):
            return f"*{name}"
        case ast.Starred():
            return "*"
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return tuple(map(names_of, parts))
    return ""


def statement(call: ast.expr, node: ast.AST) -> ast.Expr:
    """A call as a statement, where `node` stands."""
    return at(ast.Expr(at(call, node)), node)


def at(made: Tree, node: ast.AST) -> Tree:
    """`made` at the position of `node`, with everything new inside it."""
    if hasattr(node, "lineno"):
        where = node.lineno, node.col_offset, node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
        _place(made, where)
    return made


def _place(made: Any, where: tuple[int, int, int | None, int | None]) -> None:
    if not hasattr(made, "lineno"):
        made.lineno, made.col_offset, made.end_lineno, made.end_col_offset = where
    kind = type(made)
    if kind is ast.Name or kind is ast.Constant:
        return
    for child in _hook_parts(made) if kind is ast.Call else _parts(made):
        if not hasattr(child, "lineno"):
            _place(child, where)


def _hook_parts(call: ast.Call) -> list[ast.expr]:
    return [call.func, *call.args]


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    if type(node) is ast.Attribute:
        yield node.value
        return
    for field in node._fields:
        part = getattr(node, field, None)
        for child in part if isinstance(part, list) else (part,):
            if isinstance(child, (ast.expr, ast.stmt)):
                yield child


class Transformer(ast.NodeTransformer):
    """Python's own, in half the time: what has no parts is not visited, a method found once."""

    def __init__(self) -> None:
        self._methods: dict[type[ast.AST], Callable[[Any], Any]] = {}

    def visit(self, node: ast.AST) -> Any:
        """What stands for a node."""
        kind = type(node)
        if kind not in self._methods:
            self._methods[kind] = getattr(self, f"visit_{kind.__name__}", self.generic_visit)
        return self._methods[kind](node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """The node with its parts replaced by what stands for them."""
        for name in node._fields:
            part = getattr(node, name, None)
            if isinstance(part, list):
                part[:] = self._visited(part)
            elif isinstance(part, ast.AST) and not isinstance(part, _LEAVES):
                made = self.visit(part)
                if made is None:
                    delattr(node, name)
                elif made is not part:
                    setattr(node, name, made)
        return node

    def _visited(self, parts: list[Any]) -> Iterator[Any]:
        for part in list(parts):
            if not isinstance(part, ast.AST) or isinstance(part, _LEAVES):
                yield part
                continue
            made = self.visit(part)
            if isinstance(made, list):
                yield from made
            elif made is not None:
                yield made


_LEAVES = (ast.expr_context, ast.Constant, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)


class Mangler(ast.NodeTransformer):
    """Spells out private names, because hooks name attributes by strings.

    Args:
        class_name: the class around the tree, "" for none.
    """

    def __init__(self, class_name: str) -> None:
        self.prefix = _prefix(class_name)

    def visit(self, node: ast.AST) -> ast.AST:
        """`self.__secret` in class A  =>  `self._A__secret`."""
        for field in ("attr", "id", "arg", "name", "names") if self.prefix else ():
            value = getattr(node, field, None)
            if isinstance(value, str):
                setattr(node, field, self._mangled(value))
            elif isinstance(node, ast.Global | ast.Nonlocal):
                node.names = [self._mangled(name) for name in node.names]
        if isinstance(node, ast.ClassDef):
            outer, self.prefix = self.prefix, _prefix(node.name)
            for inner in node.body:
                self.visit(inner)
            self.prefix = outer
            return node
        return self.generic_visit(node)

    def _mangled(self, name: str) -> str:
        private = name.startswith("__") and not name.endswith("__")
        return f"{self.prefix}{name}" if private else name


def _prefix(class_name: str) -> str:
    """What private names in a class begin with; a class of underscores has none."""
    shown = class_name.lstrip("_")
    return f"_{shown}" if shown else ""
