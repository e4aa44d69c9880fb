"""Statements of the element language. A node of a class without a row here is refused.

A statement may leave the block for some elements only; what follows is then lowered for the others:

    if a: return 0        if %a { yield 0 } else { ...rest }
    rest
"""

import ast
from collections.abc import Callable, Sequence
from typing import Any

from astjit.frontend.elements import operators
from astjit.frontend.elements.calls import local
from astjit.frontend.elements.containers import targets
from astjit.frontend.elements.environment import (
    RETURNED,
    Environment,
    Exit,
    Record,
    anything,
    joined,
)
from astjit.frontend.elements.expressions import attribute_of, branch, lower
from astjit.frontend.elements.frames import Frame
from astjit.frontend.elements.functions import is_of
from astjit.frontend.elements.kinds import Dynamic
from astjit.frontend.elements.names import leaves
from astjit.frontend.elements.operators import truth
from astjit.ir.function import Block

Handler = Callable[[Frame, Any], None]
_HANDLERS: dict[type[ast.stmt], Handler] = {}


def handles(*kinds: type[ast.stmt]) -> Callable[[Handler], Handler]:
    """Registers what lowers statements of these classes."""

    def register(handler: Handler) -> Handler:
        _HANDLERS.update(dict.fromkeys(kinds, handler))
        return handler

    return register


_WORDS: dict[type[ast.stmt], str] = {
    ast.With: "`with`",
    ast.Try: "`try`",
    ast.ClassDef: "a class",
    ast.Import: "`import`",
    ast.ImportFrom: "`import`",
    ast.Global: "`global`",
    ast.Nonlocal: "`nonlocal`",
    ast.Delete: "`del`",
    ast.Raise: "`raise`",
    ast.AsyncFunctionDef: "an async function",
    ast.AsyncFor: "`async for`",
    ast.AsyncWith: "`async with`",
}
_INSTEAD: dict[type[ast.stmt], str] = {
    ast.With: "the body alone, with what it manages around the call of this function",
    ast.Try: "an `if` on what may fail, such as a divisor",
    ast.ClassDef: "a class outside: a NamedTuple or a frozen dataclass",
    ast.Delete: "nothing: a name may stay",
    ast.AsyncFunctionDef: "a plain function",
    ast.AsyncFor: "`for`",
    ast.AsyncWith: "the body alone",
    ast.Raise: "return a value that says so, such as math.nan",
    ast.Import: "an import at the top of the file",
    ast.ImportFrom: "an import at the top of the file",
    ast.Nonlocal: "return the value",
    ast.Global: "return the value",
}


def body(frame: Frame, statements: Sequence[ast.stmt]) -> None:
    """Lower statements in order, for the elements that get there.

    Raises:
        ElementError: if the element language does not have one.
    """
    for at, statement in enumerate(statements):
        if frame.environment.ended:
            return
        rest = statements[at:]
        if frame.environment.possible != {Exit.FALL}:
            for_those_who_stay(frame, statement, lambda rest=rest: body(frame, rest))  # type: ignore[misc]
            return
        if isinstance(statement, ast.If):
            if _if(frame, statement, rest[1:]):
                return
            continue
        handler = _HANDLERS.get(type(statement))
        if handler is None:
            kind = type(statement)
            seen = _WORDS.get(kind, f"a statement {kind.__name__}")
            raise frame.error("AJ101", statement, seen, _INSTEAD.get(kind, ""))
        handler(frame, statement)


def for_those_who_stay(frame: Frame, node: ast.AST, lower_rest: Callable[[], None]) -> None:
    """Lower what follows for the elements that have not left the block."""
    before, region = frame.environment, frame.region
    with frame.at(node):
        gone = anything(region, before.exits.values())
    if not isinstance(gone, Dynamic):
        if not gone:
            frame.environment = before.staying()
            lower_rest()
        return
    frame.environment = before.staying()
    with region.inside(Block()) as block:
        lower_rest()
    arms = (Block(), before.left()), (block, frame.environment)
    with frame.at(node):
        frame.environment = joined(region, gone, arms, ("", ""))


def _if(frame: Frame, node: ast.If, rest: Sequence[ast.stmt]) -> bool:
    """Lower an `if`; whether what follows was lowered in the arm that goes on."""
    condition = truth(frame, node.test, lower(frame, node.test))
    if not isinstance(condition, Dynamic):
        body(frame, node.body if condition else node.orelse)
        return False
    one, two = leaves(node.body), leaves(node.orelse)
    then = [*node.body, *(rest if two and not one else ())]
    other = [*node.orelse, *(rest if one and not two else ())]
    line = f"line {node.lineno}"
    why = (
        f"where the condition in {line} holds, nothing is assigned",
        f"where the condition in {line} does not hold, nothing is assigned",
    )
    branch(frame, node, condition, lambda: body(frame, then), lambda: body(frame, other), why)
    return one != two


# --- simple statements ---------------------------------------------------------------------------


@handles(ast.Pass)
def _pass(frame: Frame, node: ast.Pass) -> None:
    del frame, node


@handles(ast.Expr)
def _expression(frame: Frame, node: ast.Expr) -> None:
    lower(frame, node.value)


@handles(ast.Assign)
def _assign(frame: Frame, node: ast.Assign) -> None:
    value = lower(frame, node.value)
    if len(node.targets) > 1:
        frame.kept(node, value)
    for target in node.targets:
        assign(frame, target, value)


def assign(frame: Frame, target: ast.expr, value: object) -> None:
    """Bind the names of a target."""
    for name, part in list(targets(frame, target, value)):
        frame.bind(name, part)


@handles(ast.AnnAssign)
def _annotated(frame: Frame, node: ast.AnnAssign) -> None:
    """The annotation of a local variable is not evaluated, as in Python."""
    if not isinstance(node.target, ast.Name):
        raise frame.error("AJ101", node, "a store to an object", "a local variable")
    if node.value is not None:
        frame.bind(node.target.id, frame.kept(node, lower(frame, node.value)))


@handles(ast.AugAssign)
def _augmented(frame: Frame, node: ast.AugAssign) -> None:
    if not isinstance(node.target, ast.Name):
        raise frame.error("AJ101", node, "a store to an object", "a local variable")
    before = frame.lookup(node.target.id, node.target)
    if isinstance(before, list):
        raise frame.error("AJ101", node, "a list that is changed", "a tuple")
    value = operators.binary(frame, node, node.op, before, lower(frame, node.value))
    frame.bind(node.target.id, value)


@handles(ast.Return)
def _return(frame: Frame, node: ast.Return) -> None:
    value = None if node.value is None else frame.kept(node, lower(frame, node.value))
    frame.hold(RETURNED, value)
    frame.environment.leave(Exit.RETURN)


@handles(ast.Break)
def _break(frame: Frame, node: ast.Break) -> None:
    del node
    frame.environment.leave(Exit.BREAK)


@handles(ast.Continue)
def _continue(frame: Frame, node: ast.Continue) -> None:
    del node
    frame.environment.leave(Exit.CONTINUE)


@handles(ast.FunctionDef)
def _function(frame: Frame, node: ast.FunctionDef) -> None:
    if node.decorator_list:
        seen = "a decorator of an inner function"
        raise frame.error("AJ101", node.decorator_list[0], seen, "a call of it where it is needed")
    frame.hold(node.name, local(frame, node, node.name))


@handles(ast.Assert)
def _assert(frame: Frame, node: ast.Assert) -> None:
    """One that is known to hold says nothing; any other cannot be made."""
    answer = truth(frame, node.test, lower(frame, node.test))
    if isinstance(answer, Dynamic):
        seen = "an `assert` on elements"
        raise frame.error("AJ101", node, seen, "return a value that says so, such as math.nan")
    if not answer:
        raise frame.error("AJ111", node, "Python raises AssertionError")


# --- match ---------------------------------------------------------------------------------------


@handles(ast.Match)
def _match(frame: Frame, node: ast.Match) -> None:
    _case(frame, node, frame.kept(node.subject, lower(frame, node.subject)), 0)


def _case(frame: Frame, node: ast.Match, subject: object, at: int) -> None:
    if at == len(node.cases):
        return
    case = node.cases[at]
    captured: dict[str, object] = {}
    fits = _fits(frame, case.pattern, subject, captured)

    def guarded() -> object:
        assert case.guard is not None
        return truth(frame, case.guard, lower(frame, case.guard))

    def taken() -> None:
        for name, value in captured.items():  # only now: the whole pattern fits
            frame.bind(name, value)
        if case.guard is None:
            body(frame, case.body)
            return
        branch(frame, case.guard, guarded(), lambda: body(frame, case.body), following, why)

    def following() -> None:
        _case(frame, node, subject, at + 1)

    line = f"line {case.pattern.lineno}"
    why = (f"where the case in {line} is taken", f"where the case in {line} is not taken")
    branch(frame, case.pattern, fits, taken, following, why)


def _fits(
    frame: Frame, pattern: ast.pattern, subject: object, captured: dict[str, object]
) -> object:
    """Whether a pattern fits; what it captures is added."""
    match pattern:
        case ast.MatchValue(value=value):
            return operators.compare(frame, pattern, ast.Eq(), subject, lower(frame, value))
        case ast.MatchSingleton(value=value):
            if isinstance(value, bool) and isinstance(subject, Dynamic):
                raise frame.error("AJ103", pattern, f"case {value} of an element")
            return subject is value
        case ast.MatchOr(patterns=patterns):
            found: object = False
            for one in patterns:
                found = operators.either(
                    frame, pattern, found, _fits(frame, one, subject, captured)
                )
            return found
        case ast.MatchAs(pattern=None, name=None):
            return True
        case ast.MatchAs(pattern=inner, name=str(name)):
            holds = True if inner is None else _fits(frame, inner, subject, captured)
            captured[name] = subject
            return holds
        case ast.MatchSequence(patterns=patterns):
            return _sequence(frame, pattern, patterns, subject, captured)
        case ast.MatchClass():
            return _instance(frame, pattern, subject, captured)
    raise frame.error("AJ101", pattern, "a pattern of a mapping", "`if` on its items")


def _sequence(
    frame: Frame,
    pattern: ast.pattern,
    patterns: Sequence[ast.pattern],
    subject: object,
    captured: dict[str, object],
) -> object:
    stars = [i for i, p in enumerate(patterns) if isinstance(p, ast.MatchStar)]
    least = len(patterns) - len(stars)
    if not isinstance(subject, tuple | list) or len(subject) < least:
        return False
    if not stars and len(subject) != least:
        return False
    taken = list(subject)
    if stars:
        (at,) = stars
        star, end = patterns[at], len(subject) - (least - at)
        assert isinstance(star, ast.MatchStar)
        if star.name is not None:
            captured[star.name] = taken[at:end]
        taken[at:end] = []
        patterns = [*patterns[:at], *patterns[at + 1 :]]
    return _both(frame, pattern, list(zip(patterns, taken, strict=True)), captured)


def _instance(
    frame: Frame, pattern: ast.MatchClass, subject: object, captured: dict[str, object]
) -> object:
    """Whether a class pattern fits: of numbers and texts, of records and of namedtuples."""
    cls = lower(frame, pattern.cls)
    if not isinstance(cls, type):
        raise frame.error("AJ111", pattern.cls, "Python raises TypeError: no class")
    if not is_of(frame, pattern, subject, cls):
        return False
    positional, named = pattern.patterns, pattern.kwd_attrs
    if cls in _MATCH_THEMSELVES and len(positional) <= 1 and not named:
        return _both(frame, pattern, [(p, subject) for p in positional], captured)
    names = [*getattr(cls, "__match_args__", ())[: len(positional)], *named]
    own = subject.names if isinstance(subject, Record) else getattr(subject, "_fields", ())
    if len(names) != len(positional) + len(named) or not set(names) <= set(own):
        seen = f"a pattern of a {cls.__name__} with other than its fields"
        raise frame.error("AJ101", pattern, seen, "`if` and isinstance()")
    parts = [
        (one, attribute_of(frame, pattern, subject, name))
        for one, name in zip([*positional, *pattern.kwd_patterns], names, strict=True)
    ]
    return _both(frame, pattern, parts, captured)


_MATCH_THEMSELVES = (bool, int, float, str, tuple, list, dict)


def _both(
    frame: Frame,
    pattern: ast.pattern,
    parts: Sequence[tuple[ast.pattern, object]],
    captured: dict[str, object],
) -> object:
    found: object = True
    for one, part in parts:
        found = operators.both(frame, pattern, found, _fits(frame, one, part, captured))
    return found


def resumed(environment: Environment, how: Exit) -> Environment:
    """The place after a way out has led back to where the block goes on."""
    if how not in environment.possible:
        return environment
    names = {}
    for name, binding in environment.names.items():
        unbound = binding.unbound
        if how in unbound:
            unbound = (unbound - {how}) | {Exit.FALL}
            binding = type(binding)(binding.value, unbound, binding.why)
        names[name] = binding
    exits = {k: v for k, v in environment.exits.items() if k is not how}
    return Environment(names, exits, (environment.possible - {how}) | {Exit.FALL})
