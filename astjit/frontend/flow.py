"""Which local variables are surely bound before each statement, and which are read after it.

Both follow from the structure of the blocks, loops to a fixed point. `caught` is what is read if a
statement raises and the function goes on: by a handler, a `finally`, or after a manager that may
have swallowed the exception.
"""

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from astjit.frontend.order import DELETE, READ, WRITE, Event, events

Names = frozenset[str]
NONE: Names = frozenset()


@dataclass(slots=True)
class _Loop:
    """A loop around the statement: where its jumps lead."""

    at_break: Names = NONE
    at_continue: Names = NONE
    breaks: list[Names] = field(default_factory=list)


@dataclass(slots=True)
class Flow:
    """Facts of the statements of one function, by the id of their nodes.

    Attributes:
        before: names surely bound where a statement begins.
        after: names surely bound where it ends normally; None where it never does.
        live: names that may be read after it.
        caught: names that may be read if it raises.
        always: names that functions defined inside may read at any time.
    """

    before: dict[int, Names] = field(default_factory=dict)
    after: dict[int, Names | None] = field(default_factory=dict)
    live: dict[int, Names] = field(default_factory=dict)
    caught: dict[int, Names] = field(default_factory=dict)
    always: Names = NONE


def header(node: ast.stmt) -> list[Event]:
    """The events of a statement outside its blocks, in order."""
    match node:
        case ast.If() | ast.While():
            return list(events(node.test))
        case ast.For():
            return list(events(node.iter))
        case ast.With():
            return [e for item in node.items for e in events(item)]
        case ast.Match():
            read = [e for case in node.cases for e in events(case.pattern, sure=False)]
            return [*events(node.subject), *read]
        case ast.Try():
            return []
    return list(events(node))


def blocks(node: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a compound statement; functions and classes have none here."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return []
    found = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
    found += [handler.body for handler in getattr(node, "handlers", [])]
    found += [case.body for case in getattr(node, "cases", [])]
    return [block for block in found if block]


def inside(node: ast.stmt) -> Iterable[ast.stmt]:
    """A statement and all statements in its blocks."""
    yield node
    for block in blocks(node):
        for part in block:
            yield from inside(part)


def written(node: ast.stmt) -> Names:
    """The names that a statement may write or delete."""
    names = {e.name for part in inside(node) for e in header(part) if e.kind != READ}
    for part in inside(node):
        names |= _bound_by_blocks(part)
    return frozenset(names)


def mentioned(node: ast.stmt) -> Names:
    """All names that a statement reads, writes or deletes."""
    return written(node) | {e.name for part in inside(node) for e in header(part)}


def _bound_by_blocks(node: ast.stmt) -> set[str]:
    """What a compound statement binds besides its header: targets, `as` names, patterns."""
    if isinstance(node, ast.For):
        return {e.name for e in events(node.target) if e.kind == WRITE}
    names = {handler.name for handler in getattr(node, "handlers", []) if handler.name}
    for case in getattr(node, "cases", []):
        names |= _captures(case.pattern)
        names |= {e.name for e in events(case.guard) if e.kind == WRITE}
    return names


def _captures(pattern: ast.AST) -> set[str]:
    found = {getattr(p, "name", None) for p in ast.walk(pattern)}
    found |= {getattr(p, "rest", None) for p in ast.walk(pattern)}
    return {name for name in found if name}


def _deleted(node: ast.stmt) -> set[str]:
    """Names that may be unbound again somewhere in a statement."""
    names = {e.name for part in inside(node) for e in header(part) if e.kind == DELETE}
    for part in inside(node):
        names |= {h.name for h in getattr(part, "handlers", []) if h.name}
    return names


def _forward(names: Names, found: Iterable[Event]) -> Names:
    """The names bound after events: a read that succeeded shows that its name is bound."""
    bound = set(names)
    for event in found:
        if event.kind == DELETE:
            bound.discard(event.name)
        elif event.sure:
            bound.add(event.name)
    return frozenset(bound)


def _backward(live: Names, found: Sequence[Event]) -> Names:
    """The names that may be read before events, given those after."""
    names = set(live)
    for event in reversed(found):
        if event.kind != WRITE:  # what is deleted must be bound
            names.add(event.name)
        elif event.sure:
            names.discard(event.name)
    return frozenset(names)


def _joined(states: Iterable[Names | None]) -> Names | None:
    known = [state for state in states if state is not None]
    return frozenset.intersection(*known) if known else None


def flow_of(
    body: list[ast.stmt],
    bound: Names,
    always: Names,
    swallows: Callable[[ast.With], bool],
) -> Flow:
    """The facts of a function's body.

    Args:
        body: its statements.
        bound: names bound where it begins: its parameters.
        always: names that may be read at any time, by functions defined in it.
        swallows: whether the managers of a `with` may swallow an exception.
    """
    made = Flow(always=always)
    _Bound(made, swallows).block(body, bound)
    _Live(made, swallows, always).block(body, always)
    return made


class _Bound:
    """Forward: what is surely bound. None stands for a place that is never reached."""

    def __init__(self, flow: Flow, swallows: Callable[[ast.With], bool]) -> None:
        self.flow, self.swallows = flow, swallows
        self.loops: list[_Loop] = []

    def block(self, body: list[ast.stmt], before: Names | None) -> Names | None:
        for node in body:
            self.flow.before[id(node)] = before or NONE
            after = self.step(node, before or NONE)
            before = None if before is None else after  # what is in it has facts all the same
            self.flow.after[id(node)] = before
        return before

    def step(self, node: ast.stmt, before: Names) -> Names | None:
        entered = _forward(before, header(node))
        match node:
            case ast.Return() | ast.Raise() | ast.Continue():
                return None
            case ast.Break():
                self.loops[-1].breaks.append(before)
                return None
            case ast.If():
                arms = [self.block(node.body, entered), self.block(node.orelse, entered)]
                return _joined(arms)
            case ast.For() | ast.While():
                return self.loop(node, before)
            case ast.With():
                done = self.block(node.body, entered)
                return _joined([done, entered]) if self.swallows(node) else done
            case ast.Try():
                return self.attempt(node, entered)
            case ast.Match():
                return self.match(node, entered)
        return entered

    def loop(self, node: ast.For | ast.While, before: Names) -> Names | None:
        first = before - frozenset(_deleted(node))
        entered = _forward(first, header(node))
        inner = entered
        if isinstance(node, ast.For):
            inner = _forward(entered, events(node.target))
        self.loops.append(_Loop())
        self.block(node.body, inner)
        breaks = self.loops.pop().breaks
        endless = isinstance(node, ast.While) and _is_true(node.test)
        done = None if endless else self.block(node.orelse, entered)
        return _joined([done, *breaks])

    def attempt(self, node: ast.Try, before: Names) -> Names | None:
        lost = before - frozenset(_deleted(node))
        done = self.block(node.body, before)
        if node.orelse:
            done = self.block(node.orelse, done)
        ends = [done]
        for handler in node.handlers:
            entered = _forward(lost, events(handler.type))
            named = entered | {handler.name} if handler.name else entered
            end = self.block(handler.body, named)
            ends.append(end if end is None or not handler.name else end - {handler.name})
        after = _joined(ends)
        if node.finalbody:
            last = self.block(node.finalbody, lost)
            if after is None or last is None:
                return None
            after = (after - frozenset(_deleted(node))) | last
        return after

    def match(self, node: ast.Match, before: Names) -> Names | None:
        ends: list[Names | None] = [before]
        for case in node.cases:
            bound = before | _captures(case.pattern)
            ends.append(self.block(case.body, _forward(bound, events(case.guard))))
        return _joined(ends)


class _Live:
    """Backward: what may be read."""

    def __init__(self, flow: Flow, swallows: Callable[[ast.With], bool], always: Names) -> None:
        self.flow, self.swallows, self.always = flow, swallows, always
        self.loops: list[_Loop] = []
        self.caught = NONE

    def block(self, body: list[ast.stmt], live: Names) -> Names:
        for node in reversed(body):
            self.flow.live[id(node)] = live
            self.flow.caught[id(node)] = self.caught
            live = self.step(node, live) | self.caught | self.always
        return live

    def step(self, node: ast.stmt, live: Names) -> Names:
        found = header(node)
        match node:
            case ast.Return() | ast.Raise():
                return _backward(NONE, found)
            case ast.Break():
                return self.loops[-1].at_break
            case ast.Continue():
                return self.loops[-1].at_continue
            case ast.If():
                arms = self.block(node.body, live) | self.block(node.orelse, live)
                return _backward(arms, found)
            case ast.For() | ast.While():
                return self.loop(node, live)
            case ast.With():
                outer = self.caught
                self.caught |= live if self.swallows(node) else NONE
                inner = self.block(node.body, live)
                self.caught = outer
                return _backward(inner | (live if self.swallows(node) else NONE), found)
            case ast.Try():
                return self.attempt(node, live)
            case ast.Match():
                return self.match(node, live)
        return _backward(live, found)

    def loop(self, node: ast.For | ast.While, live: Names) -> Names:
        found = header(node)
        orelse = self.block(node.orelse, live)
        target = list(events(node.target)) if isinstance(node, ast.For) else []
        again = orelse
        while True:
            test = _backward(again, found) if isinstance(node, ast.While) else again
            self.loops.append(_Loop(live, test))
            inner = _backward(self.block(node.body, test), target) | again
            self.loops.pop()
            if inner == again:
                break
            again = inner
        return _backward(again, found)

    def attempt(self, node: ast.Try, live: Names) -> Names:
        outer = self.caught
        if node.finalbody:
            jumps = NONE.union(*(loop.at_break | loop.at_continue for loop in self.loops))
            live = self.block(node.finalbody, live | outer | jumps)
            self.caught |= live
        orelse = self.block(node.orelse, live)
        handlers = NONE
        for handler in node.handlers:
            inner = self.block(handler.body, live) - {handler.name or ""}
            handlers |= _backward(inner, list(events(handler.type)))
        self.caught |= handlers
        body = self.block(node.body, orelse)
        self.caught = outer
        return body | handlers | live

    def match(self, node: ast.Match, live: Names) -> Names:
        found = live
        for case in node.cases:
            found |= _backward(self.block(case.body, live), list(events(case.guard)))
        return _backward(found, header(node))


def _is_true(test: ast.expr) -> bool:
    return isinstance(test, ast.Constant) and bool(test.value)
