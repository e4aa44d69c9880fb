"""Which names a piece of a function assigns and reads, from its tree alone.

    for i in range(n):      assigned: i, s      read before they are assigned: n, s
        s = s + i

A loop carries a name from one iteration to the next if it is assigned in the loop, and read there
before it is assigned, or anywhere outside.
"""

import ast
from collections.abc import Iterable, Iterator

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
Trees = Iterable[ast.AST]


def assigned(trees: Trees) -> dict[str, ast.AST]:
    """The names that are assigned, each with the first place; those of inner scopes are not."""
    found: dict[str, ast.AST] = {}
    for node in _own(trees):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.setdefault(name, node)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.setdefault(name, node)
            case ast.ClassDef(name=name) | ast.MatchAs(name=str(name)):
                found.setdefault(name, node)
            case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                found.setdefault(name, node)
            case ast.alias(name=name, asname=other):
                found.setdefault(other or name.split(".")[0], node)
    return found


def _own(trees: Trees) -> Iterator[ast.AST]:
    """Every node in the scope of these trees; of a comprehension only what a walrus assigns."""
    for tree in trees:
        yield tree
        if isinstance(tree, _SCOPES):
            yield from _own(_outside_of(tree))
        elif isinstance(tree, _COMPREHENSIONS):
            inner = [n for n in ast.walk(tree) if isinstance(n, ast.NamedExpr)]
            yield from (n.target for n in inner)
            yield from _own([tree.generators[0].iter])
        else:
            yield from _own(ast.iter_child_nodes(tree))


def _outside_of(tree: ast.AST) -> list[ast.AST]:
    """What of a function or class is evaluated where it is defined."""
    if isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        defaults = [*tree.args.defaults, *(d for d in tree.args.kw_defaults if d is not None)]
        return [*defaults, *getattr(tree, "decorator_list", [])]
    return []


def read(trees: Trees) -> set[str]:
    """The names that are read anywhere inside, inner scopes included."""
    return {
        node.id
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store)
    } | {
        node.target.id
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
    }


def exposed(statements: Iterable[ast.AST], known: frozenset[str] = frozenset()) -> set[str]:
    """The names that may be read before the statements assign them.

    Only plain assignments in a row count as assigning; all else is taken to read first.
    """
    found: set[str] = set()
    done = set(known)
    for statement in statements:
        found |= read([statement]) - done
        match statement:
            case ast.Assign() | ast.AnnAssign(value=ast.expr()) | ast.AugAssign():
                done |= _targets(statement)
            case ast.If(body=body, orelse=orelse):
                done |= _surely(body) & _surely(orelse)
    return found


def _targets(statement: ast.Assign | ast.AnnAssign | ast.AugAssign) -> set[str]:
    trees = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return set(assigned(trees))


def _surely(statements: Iterable[ast.AST]) -> set[str]:
    """The names that a run of statements assigns whatever happens."""
    found: set[str] = set()
    for statement in statements:
        match statement:
            case ast.Assign() | ast.AnnAssign(value=ast.expr()) | ast.AugAssign():
                found |= _targets(statement)
            case ast.If(body=body, orelse=orelse):
                found |= _surely(body) & _surely(orelse)
    return found


def leaves(statements: list[ast.stmt]) -> bool:
    """Whether a run of statements never reaches its end."""
    for statement in statements:
        match statement:
            case ast.Return() | ast.Break() | ast.Continue() | ast.Raise():
                return True
            case ast.If(body=body, orelse=orelse) if leaves(body) and leaves(orelse):
                return True
    return False
