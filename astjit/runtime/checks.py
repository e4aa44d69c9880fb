"""Guards as statements: names that are given, tests, and what is said when one fails.

Bind("x0, x1 = x.shape")
Check("x0 == 1", "size 0 of x is 1")        =>      x0, x1 = x.shape
Check("x1 == 1", "size 1 of x is 1")                if x0 == 1 or x1 == 1:
                                                        return MISS
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from textwrap import fill

from astjit.runtime.expressions import PLACE, span, tree_of

_WIDTH = 92
_OPPOSITES: dict[type[ast.cmpop], str] = {
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
}
_SIDE = rf"(?:type\({PLACE}\)|{PLACE}|-?\d+|'\w*')"
_PLAIN = re.compile(rf"({_SIDE}) (is not|is|==|!=|not in|in) ({_SIDE})")
_SINGLE = re.compile(rf"(not )?(hasattr\({PLACE}, '\w*'\)|{PLACE})")
_TURNED = {
    "is": "is not",
    "is not": "is",
    "==": "!=",
    "!=": "==",
    "in": "not in",
    "not in": "in",
}


@dataclass(frozen=True, slots=True)
class Bind:
    """A statement that gives a name to something guarded, such as `x0, x1 = x.shape`."""

    statement: str


@dataclass(frozen=True, slots=True)
class Check:
    """A test that is true when the program does not fit.

    Attributes:
        fails: a Python expression.
        reason: what is wrong then, such as "x is not contiguous".
        about: tests about the same thing share an `if`.
        shown: False when a statement that follows raises in the same case; then only the function
            that explains tests it.
    """

    fails: str
    reason: str
    about: str = ""
    shown: bool = True


@dataclass(frozen=True, slots=True)
class Note:
    """What the following tests are about, for the reader."""

    text: str


@dataclass(frozen=True, slots=True)
class Kept:
    """Items that need not run again while what they ask is as it was when they last held.

    before: Kept("classes", (), (Bind("forward = Linear.forward"), ...), ("forward",), "v", "found")
    after:
        v, found = classes.ask()
        if found is None:
            forward = Linear.forward
            ...
            found = (forward,)
            classes.keep(v, found)
        (forward,) = found

    Attributes:
        memory: the name of an object of runtime/kept.py.
        given: what it is asked with.
        items: the statements and tests.
        names: what they bind for those that follow.
        version: a local name for what the memory compares.
        found: a local name for the values of `names`.
    """

    memory: str
    given: tuple[str, ...]
    items: "tuple[Item, ...]"
    names: tuple[str, ...]
    version: str
    found: str


Item = Bind | Check | Note | Kept


def kept(
    take: Callable[[str], str],
    memory: str,
    given: tuple[str, ...],
    items: list[Item],
    names: Iterable[str],
) -> Kept:
    """Items that a memory of this name guards; `take` gives local names."""
    version, found = take(f"{memory}_version"), take(f"{memory}_found")
    return Kept(memory, given, tuple(items), tuple(names), version, found)


def bound(items: Iterable[Item]) -> list[str]:
    """The names that statements give."""
    texts = (item.statement.partition(" = ")[0] for item in items if isinstance(item, Bind))
    return [name for text in texts for name in re.findall(r"\w+", text)]


def alternatives(test: str) -> list[str]:
    """The parts of `a or b or c`."""
    tree = tree_of(test) if " or " in test else None
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.Or):
        return [span(test, part) for part in tree.values]
    return [test]


def negated(test: str) -> str:
    """The opposite of a Python test.

    before: fn_globals['torch'] is torch         after: fn_globals['torch'] is not torch
    """
    if (plain := _PLAIN.fullmatch(test)) is not None:
        return f"{plain[1]} {_TURNED[plain[2]]} {plain[3]}"
    if (single := _SINGLE.fullmatch(test)) is not None:
        return single[2] if single[1] else f"not {test}"
    match tree_of(test):
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return span(test, inner)
        case ast.Compare(left=left, ops=[sign], comparators=[right]) if type(sign) in _OPPOSITES:
            return f"{span(test, left)} {_OPPOSITES[type(sign)]} {span(test, right)}"
        case ast.BoolOp() | ast.IfExp() | ast.Lambda() | ast.NamedExpr():
            return f"not ({test})"
    return f"not {test}"


def guard_lines(items: Iterable[Item], miss: str) -> Iterator[str]:
    """Statements that return MISS as soon as a test fails; neighbours about one thing share one."""
    tests: list[str] = []
    about = ""
    for item in items:
        if not isinstance(item, Check) or item.about != about:
            yield from _test(tests, miss)
            tests = []
        if isinstance(item, Kept):
            yield from _kept(item, miss)
            continue
        if not isinstance(item, Check):
            yield item.statement if isinstance(item, Bind) else f"# {item.text}"
            continue
        about = item.about
        tests += [item.fails] if item.shown else []
    yield from _test(tests, miss)


def _kept(block: Kept, miss: str) -> Iterator[str]:
    asked = f"{block.version}, {block.found} = {block.memory}.ask("
    yield from _call(asked, block.given)
    yield f"if {block.found} is None:"
    for line in guard_lines(block.items, miss):
        yield f"    {line}"
    for line in _call("(", block.names, f"{block.found} = "):
        yield f"    {line}"
    yield f"    {block.memory}.keep({block.version}, {block.found})"
    if block.names:
        *lines, last = _call("(", block.names)
        yield from (*lines, f"{last} = {block.found}")


def _call(opening: str, given: tuple[str, ...], before: str = "") -> Iterator[str]:
    """Parenthesized names, broken into lines where they are many."""
    comma = "," if len(given) == 1 and opening == "(" else ""
    line = f"{before}{opening}{', '.join(given)}{comma})"
    if len(line) <= _WIDTH:
        yield line
        return
    yield f"{before}{opening}"
    pieces = fill(", ".join(given), _WIDTH - 4, break_long_words=False)
    yield from (f"    {piece}" for piece in pieces.splitlines())
    yield ")"


def _test(tests: list[str], miss: str) -> Iterator[str]:
    if not tests:
        return
    one = f"if {' or '.join(_grouped(tests))}:"
    if len(one) <= _WIDTH:
        yield one
    else:
        yield "if ("
        for at, test in enumerate(_grouped(tests)):
            yield from _broken(f"    {'or ' if at else ''}{test}")
        yield "):"
    yield f"    return {miss}"


def _broken(line: str) -> Iterator[str]:
    """A line that is too long, broken inside its parentheses."""
    opening, found, rest = line.partition(" and (")
    if len(line) <= _WIDTH or not found or "'" in line:
        yield line
        return
    yield f"{opening}{found}"
    first, *others = rest.removesuffix(")").split(" or ")
    closing = ")" if rest.endswith(")") else ""
    lines = [f"        {first}", *(f"        or {other}" for other in others)]
    yield from lines
    yield f"    {closing}"


def _grouped(tests: list[str]) -> list[str]:
    return [f"({test})" if " and " in test else test for test in tests] if len(tests) > 1 else tests


def reason_lines(items: Iterable[Item]) -> Iterator[str]:
    """Statements that return the reason of the first test that fails."""
    for item in items:
        if isinstance(item, Bind):
            yield item.statement
        elif isinstance(item, Kept):
            yield from reason_lines(item.items)
        elif isinstance(item, Check):
            yield f"if {item.fails}:"
            yield f"    return {item.reason!r}"
