"""Cuts a function into segments and statements that stay Python (decision D10).

    y = x * 2                          y = __astjit_segment_0__(x)
    print("half way")          =>      print("half way")
    return y.sum() + w                 return __astjit_segment_1__(y, w)

A segment is a run of neighbouring statements of one block. What capture could not take is *marked*
and stays; blocks around it stay Python and are cut themselves. Names that a segment reads are its
parameters and names that are read after it are its results, so both must surely be bound.
"""

import ast
import types
from collections.abc import Iterator

from astjit.frontend.flow import Flow, Names, blocks, flow_of, header, inside, mentioned, written
from astjit.frontend.order import READ, WRITE, captured, events, nested_scopes
from astjit.frontend.runs import Marks, Run, place
from astjit.frontend.scopes import FUNCTIONS, parameters, scope_of
from astjit.frontend.swallowing import swallows

_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Assert)
_WORK = (ast.BinOp, ast.Call, ast.Compare, ast.Subscript, ast.AugAssign, ast.UnaryOp)
_TESTED = (ast.If, ast.While)
_SEEING = frozenset({"locals", "eval", "exec", "breakpoint"})
_SEEING_ALONE = frozenset({"vars", "dir"})
_FRAMES = frozenset({"_getframe", "currentframe", "set_trace"})


def why_whole(tree: ast.FunctionDef | ast.Lambda) -> str:
    """Why a function cannot be cut, "" if it can."""
    if isinstance(tree, ast.Lambda):
        return "it is a lambda"
    for node in ast.walk(tree):
        match node:
            case ast.Yield() | ast.YieldFrom() | ast.Await():
                return "it is a generator or coroutine"
            case ast.AsyncFor() | ast.AsyncWith() | ast.TryStar():
                return "it has asynchronous or except* blocks"
            case ast.Call(func=ast.Name(id=name), args=args) if name in _SEEING or (
                name in _SEEING_ALONE and not args
            ):
                return f"{name}() sees its variables"
            case ast.Attribute(attr=name) | ast.Name(id=name) if name in _FRAMES:
                return f"{name}() sees its variables"
    return ""


class Cutter:
    """The runs of one function.

    Args:
        tree: the function's own tree.
        marks: what must stay Python.
        function: the function, for the managers that its `with` statements name.
    """

    def __init__(self, tree: ast.FunctionDef, marks: Marks, function: types.FunctionType) -> None:
        self.tree, self.marks = tree, marks
        scope = scope_of(tree)
        self.locals: Names = frozenset(scope.bound)
        self.globals, self.nonlocals = scope.global_names, scope.nonlocal_names
        nested = list(nested_scopes(ast.Module(tree.body, [])))
        self.kept = {id(node): captured(node) & self.locals for node in nested}
        self.shared: Names = frozenset().union(*self.kept.values())
        self.foreign = frozenset(_written_inside(nested)) & self.locals

        self.function = function
        bound = frozenset(parameters(tree.args))
        self.flow: Flow = flow_of(tree.body, bound, self.shared, self.swallows)

    def swallows(self, node: ast.With) -> bool:
        """Whether the managers of a `with` may swallow an exception."""
        return swallows(node, self.function, self.locals)

    # --- blocks ---

    def runs(self, body: list[ast.stmt]) -> Iterator[Run | ast.stmt]:
        """The statements of a block in order, with those of a segment as a run."""
        index = 0
        while index < len(body):
            run = self._longest(body, index)
            if run is None:
                yield body[index]
                index += 1
            else:
                yield run
                index = body.index(run.statements[-1]) + 1

    def _longest(self, body: list[ast.stmt], start: int) -> Run | None:
        """The longest segment that begins at a statement, if any does."""
        if not self._works(body[start]):
            return None
        found = None
        taken: list[ast.stmt] = []
        for node in body[start:]:
            if taken and (place(node) in self.marks.cuts or not self._goes_on(taken)):
                break
            if isinstance(node, ast.Return):
                return self._run(taken, node) or found
            if not self._can(node):
                break
            taken.append(node)
            run = self._run(taken)
            if run is None and not self._given(taken):
                break
            if run is not None and self._works(node):
                found = run
        return found

    def _works(self, node: ast.stmt) -> bool:
        """Whether a statement may do something with a tensor."""
        if place(node) in self.marks.inert:
            return False
        return any(isinstance(part, _WORK) for part in _evaluated(node))

    def _can(self, node: ast.stmt) -> bool:
        """Whether a statement may be part of a segment, by itself."""
        if not isinstance(node, (*_SIMPLE, ast.If, ast.For, ast.While, ast.With, ast.Try)):
            return isinstance(node, ast.Match) and self._closed(node)
        return self._closed(node)

    def _closed(self, node: ast.stmt) -> bool:
        """Nothing in it is marked, jumps out of it, or unbinds or shares a variable."""
        for part in inside(node):
            at_part = place(part)
            if at_part in self.marks.python or (part is not node and at_part in self.marks.cuts):
                return False
            match part:
                case ast.Return() | ast.Global() | ast.Nonlocal():
                    return False
                case ast.Delete(targets=targets) if any(isinstance(t, ast.Name) for t in targets):
                    return False
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    if name in self.flow.live[id(node)] | self.flow.caught[id(node)]:
                        return False
        return not (mentioned(node) & self.foreign) and not _jumps_out(node)

    # --- names ---

    def _goes_on(self, taken: list[ast.stmt]) -> bool:
        """Whether what was taken may be followed by more in the same segment."""
        last = taken[-1]
        names = written(last) & self.locals
        return not names & self.flow.caught[id(last)] and not names & self._shared_with(taken)

    def _shared_with(self, taken: list[ast.stmt]) -> Names:
        """The variables that functions defined elsewhere see."""
        own = {id(n) for node in taken for n in nested_scopes(node)}
        return frozenset().union(*(names for n, names in self.kept.items() if n not in own))

    def _given(self, taken: list[ast.stmt]) -> bool:
        """Whether all that is read is surely bound."""
        return self._reads(taken, None) is not None

    def _run(self, taken: list[ast.stmt], tail: ast.Return | None = None) -> Run | None:
        """The segment of these statements; None where a name may be unbound."""
        statements: list[ast.stmt] = [*taken, tail] if tail is not None else taken
        reads = self._reads(statements, tail)
        if reads is None:
            return None
        names = frozenset().union(*map(written, statements)) & self.locals
        if tail is not None:
            marked = place(tail) in self.marks.python or place(tail) in self.marks.inert
            if marked or tail.value is None or mentioned(tail) & self.foreign:
                return None
            if written(tail) & (self.flow.caught[id(tail)] | self._shared_with(statements)):
                return None
            return Run(tuple(taken), reads, (), tail)
        last = taken[-1]
        bound = self.flow.after[id(last)]
        live = self.flow.live[id(last)] | self.flow.caught[id(last)]
        results = tuple(sorted(names & live))
        if bound is None or not set(results) <= bound:
            return None
        delicate = self.flow.caught[id(last)] | self._shared_with(taken)
        if names & delicate and not _binds_last(last, written(last) & delicate):
            return None
        sure = self._sure(taken)
        for name in results:
            if name not in sure and name not in reads:
                if name not in self.flow.before[id(taken[0])]:
                    return None
                reads = (*reads, name)
        return Run(tuple(taken), reads, results)

    def _reads(self, taken: list[ast.stmt], tail: ast.Return | None) -> tuple[str, ...] | None:
        """What a run reads before it surely wrote it; None where that may be unbound."""
        before = self.flow.before[id(taken[0])] if taken else None
        if before is None:
            return None
        reads: list[str] = []
        sure: set[str] = set()
        for node in taken:
            for name in self._exposed(node):
                if name not in self.locals or name in sure or name in reads:
                    continue
                if name not in before and _evaluated_first(taken[0]) != name:
                    return None
                reads.append(name)
            sure |= self._sure([node])
        first = [a.arg for a in (*self.tree.args.posonlyargs, *self.tree.args.args)][:1]
        if first and any(_is_super(n) for node in taken for n in ast.walk(node)):
            if first[0] not in before or first[0] in frozenset().union(*map(written, taken)):
                return None
            reads = [*first, *(name for name in reads if name != first[0])]
        return tuple(reads)

    def _exposed(self, node: ast.stmt) -> Iterator[str]:
        """Names that a statement may read before it surely wrote them, in order."""
        sure: set[str] = set()
        for event in header(node):
            if event.kind == READ and event.name not in sure:
                yield event.name
            elif event.kind == WRITE and event.sure:
                sure.add(event.name)
        for block in blocks(node):
            known = sure | _named_by(node, block)
            for part in block:
                yield from (name for name in self._exposed(part) if name not in known)
                known |= self._sure([part])
                if self.flow.after[id(part)] is None:
                    break  # what follows never runs, and what it reads is kept by nobody
        rest = [node.target] if isinstance(node, ast.For) else []
        rest += [handler.type for handler in getattr(node, "handlers", [])]
        rest += [case.guard for case in getattr(node, "cases", [])]
        yield from (e.name for part in rest for e in events(part) if e.kind == READ)

    def _sure(self, taken: list[ast.stmt]) -> set[str]:
        """Names that a run surely binds before it ends."""
        names: set[str] = set()
        for node in taken:
            names |= {e.name for e in header(node) if e.kind == WRITE and e.sure}
            match node:
                case ast.If():
                    names |= self._sure(node.body) & self._sure(node.orelse)
                case ast.With() if not self.swallows(node):
                    names |= self._sure(node.body)
        return names

    def test(self, node: ast.stmt) -> Run | None:
        """The segment of a test that reads a tensor, which Python then asks for its truth."""
        if not isinstance(node, _TESTED) or place(node) not in self.marks.python:
            return None
        if place(node.test) in self.marks.tests or place(node) in self.marks.tests:
            return None
        found = list(events(node.test))
        before = self.flow.before[id(node)]
        names = [e.name for e in found if e.kind == READ and e.name in self.locals]
        if any(e.kind == WRITE for e in found) or not set(names) <= before:
            return None
        if frozenset(names) & self.foreign or any(map(_is_super, ast.walk(node.test))):
            return None
        if not any(isinstance(part, ast.BinOp | ast.Call) for part in ast.walk(node.test)):
            return None
        if isinstance(node.test, ast.BoolOp | ast.UnaryOp) or _is_chain(node.test):
            return None
        return Run((), tuple(dict.fromkeys(names)), test=node.test)


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """What is in a statement, without the bodies of functions that are defined in it."""
    yield node
    for inner in ast.iter_child_nodes(node):
        if not isinstance(inner, FUNCTIONS):
            yield from _evaluated(inner)


def _is_chain(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and len(test.ops) > 1


def _is_super(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="super"), args=[], keywords=[]):
            return True
    return False


def _binds_last(node: ast.stmt, names: Names) -> bool:
    """Whether all that a statement does to these names is to bind them, at its end, as one."""
    match node:
        case ast.Assign(targets=[ast.Name()], value=value):
            bound = [value]
        case (
            ast.AnnAssign(target=ast.Name(), value=value)
            | ast.AugAssign(target=ast.Name(), value=value)
        ):
            bound = [value] if value is not None else []
        case _:
            return not names
    return not any(e.kind != READ and e.name in names for v in bound for e in events(v))


def _evaluated_first(node: ast.stmt) -> str:
    """The local variable whose reading is the first thing that a statement does, "" if none is."""
    part: ast.AST | None = getattr(node, "value", None) or getattr(node, "test", None)
    if isinstance(node, ast.AugAssign):
        part = node.target
    while part is not None:
        match part:
            case ast.Name(id=name):
                return name
            case ast.BinOp(left=inner) | ast.Compare(left=inner) | ast.Call(func=inner):
                part = inner
            case ast.Attribute(value=inner) | ast.Subscript(value=inner):
                part = inner
            case _:
                return ""
    return ""


def _named_by(node: ast.stmt, block: list[ast.stmt]) -> set[str]:
    """What a loop, a handler or a case binds before its block."""
    if isinstance(node, ast.For) and block is node.body:
        return {e.name for e in events(node.target) if e.kind == WRITE}
    for handler in getattr(node, "handlers", []):
        if handler.body is block:
            return {handler.name} if handler.name else set()
    for case in getattr(node, "cases", []):
        if case.body is block:
            named = {getattr(p, "name", None) for p in ast.walk(case.pattern)}
            return {n for n in named | {getattr(case.pattern, "rest", None)} if n}
    return set()


def _written_inside(nested: list[ast.AST]) -> Iterator[str]:
    """Names that functions defined inside rebind with `nonlocal`."""
    for node in nested:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Nonlocal):
                yield from inner.names
            elif isinstance(inner, ast.GeneratorExp):
                yield from (n.target.id for n in ast.walk(inner) if isinstance(n, ast.NamedExpr))


def _jumps_out(node: ast.stmt, *, in_loop: bool = False) -> bool:
    """Whether a `break` or `continue` inside belongs to a loop around the statement."""
    if isinstance(node, ast.Break | ast.Continue):
        return not in_loop
    looping = isinstance(node, ast.For | ast.While)
    for block in blocks(node):
        inner = in_loop or (looping and block is not getattr(node, "orelse", None))
        if any(_jumps_out(part, in_loop=inner) for part in block):
            return True
    return False
