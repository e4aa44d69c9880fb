"""Loops: `range` and `while` become rows with regions; what has a length known now is unrolled.

    s = 0.0                       %s = range 0, %n, 1, 0.0 : f32[] {
    for i in range(n):     =>       body(%i: i64[], %s.1: f32[]):
        s = s + x * i                 ...
                                      yield %s.2
                                  }

A body is lowered with the kinds that its names have before the loop, and again with wider ones as
long as it gives them back wider. A `while` whose test assigns names tests inside the body.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from astjit.frontend.elements.carried import Carried, alike, form_of, params, walk
from astjit.frontend.elements.comprehensions import looped_over
from astjit.frontend.elements.environment import (
    HOLE,
    RETURNED,
    Binding,
    Conflict,
    Environment,
    Exit,
    Hole,
    anything,
    filled,
)
from astjit.frontend.elements.expressions import branch, lower
from astjit.frontend.elements.frames import Frame, shown
from astjit.frontend.elements.functions import Span
from astjit.frontend.elements.kinds import BOOL, INT, Dynamic, Kind, is_number, kind_of, promoted
from astjit.frontend.elements.names import assigned, exposed
from astjit.frontend.elements.operators import truth
from astjit.frontend.elements.refusals import NeedsStatic
from astjit.frontend.elements.statements import (
    assign,
    body,
    for_those_who_stay,
    handles,
    resumed,
)
from astjit.ir.function import Block
from astjit.ir.value import Literal, Param, Value
from astjit.types.tensor import TensorType

_MOST_ROUNDS = 256  # of a loop that is unrolled


@dataclass(slots=True)
class Made:
    """A loop that was lowered once.

    Attributes:
        test: the block of the test, None for a range.
        body: the block of the body.
        end: what holds at the end of the body.
    """

    test: Block | None
    body: Block
    end: Environment


@dataclass(frozen=True, slots=True)
class Head:
    """What kind of loop it is.

    Attributes:
        node: the statement.
        row: "while" or "range".
        operands: start, stop and step of a range.
        target: what a range assigns.
        test: of a while, None where it always goes on.
        inside: the test is made in the body, where it may assign names.
        least: how often it runs at least.
        endless: it ends by break and return only.
    """

    node: ast.While | ast.For
    row: str
    operands: tuple[object, ...] = ()
    target: ast.expr | None = None
    test: ast.expr | None = None
    inside: bool = False
    least: int = 0
    endless: bool = False


@handles(ast.While)
def _while(frame: Frame, node: ast.While) -> None:
    test = node.test
    if isinstance(test, ast.Constant):
        if not test.value:
            body(frame, node.orelse)
            return
        _loop(frame, Head(node, "while", endless=True, least=1))
        return
    inside = any(isinstance(n, ast.NamedExpr) for n in ast.walk(test))
    _loop(frame, Head(node, "while", test=test, inside=inside))


@handles(ast.For)
def _for(frame: Frame, node: ast.For) -> None:
    source = lower(frame, node.iter)
    if not isinstance(source, range | Span):
        _unroll(frame, node, looped_over(frame, node, source))
        return
    bounds = (source.start, source.stop, source.step)
    count = len(source) if isinstance(source, range) else 0
    if isinstance(source, range) and not count:
        body(frame, node.orelse)
        return
    before, variables = frame.environment.copy(), dict(frame.temporaries)
    try:
        _loop(frame, Head(node, "range", bounds, target=node.target, least=count))
    except NeedsStatic:
        if not isinstance(source, range) or count > _MOST_ROUNDS:
            raise
        frame.environment, frame.temporaries = before, variables
        _unroll(frame, node, list(source))


# --- unrolled ------------------------------------------------------------------------------------


def _unroll(frame: Frame, node: ast.For, values: Sequence[object]) -> None:
    """The body once for each value."""
    if len(values) > _MOST_ROUNDS:
        seen = f"a loop over {len(values)} values, each of which would be a copy of the body"
        raise frame.error("AJ103", node, seen, "range")

    def go_on(at: int) -> None:
        while at < len(values):
            assign(frame, node.target, values[at])
            body(frame, node.body)
            frame.environment = resumed(frame.environment, Exit.CONTINUE)
            at += 1
            if frame.environment.ended:
                return
            if frame.environment.possible != {Exit.FALL}:
                for_those_who_stay(frame, node, lambda at=at: go_on(at))  # type: ignore[misc]
                return

    go_on(0)
    broke = frame.environment.exits.get(Exit.BREAK, False)
    frame.environment = resumed(frame.environment, Exit.BREAK)
    if node.orelse and not frame.environment.ended:  # a break there is of the loop around
        _otherwise(frame, node, broke)


# --- as a row ------------------------------------------------------------------------------------


def _loop(frame: Frame, head: Head) -> None:
    before = frame.environment
    carried = _carried(frame, head)
    made = _attempt(frame, head, carried, before)
    while _widened(frame, head, carried, made):  # a kind only ever becomes wider
        made = _attempt(frame, head, carried, before)
    _finish(frame, head, carried, made, before)


def _carried(frame: Frame, head: Head) -> list[Carried]:
    """The names that one iteration leaves to the next or to what follows."""
    inside: list[ast.AST] = [*head.node.body]
    if head.test is not None:
        inside.insert(0, head.test)
    if head.target is not None:
        inside.insert(0, head.target)
    names = list(assigned(inside))
    first = set(assigned([head.target] if head.target is not None else []))
    tested: list[ast.AST] = [] if head.test is None else [ast.Expr(head.test)]
    early = exposed([*tested, *head.node.body], frozenset(first))
    wanted = early | frame.read_outside(inside)
    kept = [name for name in names if name in wanted]
    if any(isinstance(n, ast.Return) for n in walk(head.node.body)):
        kept.append(RETURNED)
    found = []
    for name in kept:
        binding = frame.environment.names.get(name)
        one = Carried(name, HOLE if binding is None else binding.value)
        if binding is not None and Exit.FALL in binding.unbound:
            one.start = HOLE if not is_number(binding.value) else binding.value
        if isinstance(one.start, Conflict):
            one.start = HOLE
        if not isinstance(one.start, Hole):
            one.shape(one.start)
        found.append(one)
    return found


def _attempt(frame: Frame, head: Head, carried: Sequence[Carried], before: Environment) -> Made:
    """Lower test and body with the kinds as they are known so far."""
    region = frame.region
    start = before.copy()
    for one in carried:
        if isinstance(one.start, Hole):
            start.names.pop(one.name, None)

    def entered(block: Block) -> None:
        frame.environment = start.copy()
        for one in carried:
            if not isinstance(one.start, Hole):
                values = params(frame, block, one)
                held = filled(one.form, values.__getitem__)
                frame.environment.names[one.name] = Binding(
                    held, before.names[one.name].unbound, before.names[one.name].why
                )

    test: Block | None = None
    if head.row == "while":
        with region.inside(Block()) as test:
            entered(test)
            answer: object = True
            if head.test is not None and not head.inside:
                answer = truth(frame, head.test, lower(frame, head.test))
            test.results[:] = [region.value(answer, BOOL)]
    with region.inside(Block()) as block:
        index = Param(TensorType(INT.dtype, ()), "", "", region.location)
        if head.target is not None:
            block.params.append(index)
        entered(block)
        if head.target is not None:
            if isinstance(head.target, ast.Name):
                index.name = head.target.id
            assign(frame, head.target, Dynamic(index, INT))
        if head.inside and head.test is not None:
            answer = truth(frame, head.test, lower(frame, head.test))
            branch(
                frame,
                head.test,
                answer,
                lambda: body(frame, head.node.body),
                lambda: frame.environment.leave(Exit.END),
            )
        else:
            body(frame, head.node.body)
    return Made(test, block, frame.environment)


def _widened(frame: Frame, head: Head, carried: list[Carried], made: Made) -> bool:
    """Whether the body gives numbers back that are wider than it was given.

    Raises:
        ElementError: for values that cannot be carried.
    """
    wider = False
    for one in list(carried):
        binding = made.end.names.get(one.name)
        if binding is None:
            carried.remove(one)  # it is assigned where nothing comes
            continue
        if isinstance(binding.value, Conflict):
            _refuse(frame, head, one, binding.value.one, binding.value.other)
        if isinstance(one.start, Hole):
            one.shape(binding.value)
            continue
        numbers: list[object] = []
        form = form_of(binding.value, numbers)
        if not alike(form, one.form):
            _refuse(frame, head, one, one.start, binding.value)
        kinds = [promoted(k, kind_of(n)) for k, n in zip(one.kinds, numbers, strict=True)]
        wider |= kinds != one.kinds
        one.kinds = kinds
    return wider


def _refuse(frame: Frame, head: Head, one: Carried, before: object, after: object) -> None:
    place = assigned(head.node.body).get(one.name, head.node)
    seen = f"`{one.name}` is {shown(before)} before the loop and {shown(after)} in it"
    raise frame.error("AJ105", place, seen, "the same kind of value")


def _finish(
    frame: Frame, head: Head, carried: Sequence[Carried], made: Made, before: Environment
) -> None:
    """Append the loop, and say what holds after it."""
    region, end = frame.region, made.end
    blocks = [b for b in (made.test, made.body) if b is not None]
    flagged = [how for how in _flags(head, end) if how in end.possible]
    starts: list[Value] = []
    yields: list[Value] = []
    shaped = [c for c in carried if not isinstance(c.start, Hole)]
    late = [c for c in carried if isinstance(c.start, Hole)]
    with region.inside(made.body), frame.at(head.node):
        leaving = (end.exits.get(how, False) for how in (Exit.BREAK, Exit.RETURN, Exit.END))
        stop = anything(region, leaving)
        for one in (*shaped, *late):
            numbers: list[object] = []
            form_of(end.names[one.name].value, numbers)
            yields += [region.value(n, k) for n, k in zip(numbers, one.kinds, strict=True)]
        yields += [region.value(end.exits.get(how, False), BOOL) for how in flagged]
        breaks = stop is not False
        made.body.results[:] = [*([region.value(stop, BOOL)] if breaks else []), *yields]
    for one in late:
        for block in blocks:
            params(frame, block, one)
    for block in blocks:
        block.params += [Param(TensorType(BOOL.dtype, ())) for _ in flagged]
    with frame.at(head.node):
        for one in shaped:
            starts += [region.value(n, k) for n, k in zip(one.starts, one.kinds, strict=True)]
        starts += [Literal(_zero(kind)) for one in late for kind in one.kinds]
        starts += [Literal(False) for _ in flagged]
        fields: dict[str, object] = {"breaks": breaks}
        operands: list[Value] = starts
        if head.row == "while":
            fields["limit"] = frame.lowering.limit
        else:
            operands = [*_bounds(frame, head), *starts]
        node = region.structured(head.row, tuple(operands), *blocks, **fields)
    results = iter(node.results)
    after = before.copy()
    for name in assigned([*head.node.body, *([head.target] if head.target else [])]):
        after.names.pop(name, None)
    for one in (*shaped, *late):
        made_here = [Dynamic(next(results), kind) for kind in one.kinds]
        value = filled(one.form, made_here.__getitem__)
        after.names[one.name] = _after(head, one, value, end, before)
        if isinstance(value, Dynamic) and one.name != RETURNED:
            frame.name(value, one.name)
    flags = {how: Dynamic(next(results), BOOL) for how in flagged}
    _leave(frame, head, after, end, flags)


def _zero(kind: Kind) -> float:
    return False if kind == BOOL else 0.0 if kind.is_float else 0


def _bounds(frame: Frame, head: Head) -> list[Value]:
    """Start, stop and step; a step that is 0 for some element fails the call."""
    return [frame.region.value(v, INT) for v in head.operands]


def _flags(head: Head, end: Environment) -> list[Exit]:
    """Which ways out must be told apart after the loop."""
    found = [] if head.endless and Exit.BREAK not in end.possible else [Exit.RETURN]
    if head.node.orelse:
        found.append(Exit.BREAK)
    return found


def _after(
    head: Head, one: Carried, value: object, end: Environment, before: Environment
) -> Binding:
    """What a name holds after the loop, and how it may hold nothing."""
    binding = end.names[one.name]
    known = before.names.get(one.name)
    absent = known is None or Exit.FALL in known.unbound or isinstance(one.start, Hole)
    goes_on = {Exit.FALL, Exit.CONTINUE, Exit.END} & end.possible
    unbound = bool(binding.unbound & goes_on) and not head.endless
    unbound |= Exit.END in binding.unbound
    unbound |= absent and not head.least and not head.endless
    unbound |= Exit.BREAK in binding.unbound
    why = binding.why or f"the loop in line {head.node.lineno} may end before"
    return Binding(value, frozenset({Exit.FALL} if unbound else ()), why)


def _leave(
    frame: Frame,
    head: Head,
    after: Environment,
    end: Environment,
    flags: dict[Exit, Dynamic],
) -> None:
    """The ways out of the loop as seen from after it, and its `else`."""
    returns, breaks = Exit.RETURN in end.possible, Exit.BREAK in end.possible
    ends = not head.endless or Exit.END in end.possible
    after.possible, after.exits = frozenset({Exit.FALL}), {}
    if returns and not breaks and not ends:
        after.leave(Exit.RETURN)
    elif returns:
        after.possible = frozenset({Exit.FALL, Exit.RETURN})
        after.exits = {Exit.RETURN: flags[Exit.RETURN]}
    frame.environment = after
    if not breaks and not ends and not returns:
        raise frame.error("AJ101", head.node, "a loop that never ends", "a test, or break")
    if not head.node.orelse or not ends:
        return
    _otherwise(frame, head.node, flags.get(Exit.BREAK, False))


def _otherwise(frame: Frame, node: ast.For | ast.While, broke: object) -> None:
    """The `else` of a loop, for the elements that neither broke out of it nor returned."""

    def lower_rest() -> None:
        branch(frame, node, broke, lambda: None, lambda: body(frame, node.orelse))

    if frame.environment.possible == {Exit.FALL}:
        lower_rest()
    else:
        for_those_who_stay(frame, node, lower_rest)
