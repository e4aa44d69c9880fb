"""The source text of a function, checked to be what is running.

A file edited after import, a generated function or a moved line would otherwise be compiled as
something else: the text found is compiled again and its code compared with the running code.
"""

import __future__

import ast
import bisect
import copy
import dis
import inspect
import linecache
import threading
import types
from dataclasses import dataclass

from astjit.frontend.stops import HOOKS, Stop
from astjit.frontend.syntax import Mangler
from astjit.location import Location

FACTORY = "__astjit_factory__"
_FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
_ASSERTS = "@pytest_ar"  # the global that pytest's rewriting of assert adds to a module


@dataclass(frozen=True, slots=True)
class Source:
    """Where a function is written.

    Attributes:
        file: path of its file.
        first_line: of its first decorator or `def`, counted from 1.
        text: its lines as they stand in the file, indentation kept.
        tree: its syntax tree, with the file's line numbers and columns.
        class_name: the class whose body it stands in, "" for none.
    """

    file: str
    first_line: int
    text: str
    tree: ast.FunctionDef | ast.Lambda
    class_name: str = ""

    def fresh_tree(self) -> ast.FunctionDef | ast.Lambda:
        """A tree of one's own, with private names spelled out."""
        if isinstance(self.tree, ast.Lambda):
            tree: ast.FunctionDef | ast.Lambda = copy.deepcopy(self.tree)
        else:
            tree = _parse(self.text, self.first_line)  # four times as fast as a copy
        if self.class_name:
            Mangler(self.class_name).visit(tree)
        return tree


_LOCK = threading.Lock()
_KNOWN: dict[int, tuple[types.CodeType, Source]] = {}


_REWRITTEN: dict[int, types.CodeType] = {}


def mark_rewritten(code: types.CodeType) -> None:
    """Record code, and all code inside it, as part of a capture copy."""
    _REWRITTEN[id(code)] = code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            mark_rewritten(inner)


def is_rewritten(code: types.CodeType) -> bool:
    """Whether code is part of a capture copy; its functions were made during capture."""
    return id(code) in _REWRITTEN


def source_of(function: types.FunctionType) -> Source:
    """The source of a function. The tree belongs to the cache; `fresh_tree` gives another.

    Raises:
        Stop: if there is no source, or it is not the text of the running code.
    """
    code = function.__code__
    with _LOCK:
        known = _KNOWN.get(id(code))
    if known is not None:
        return known[1]
    source = _find(function)
    if not _same_code(source, function):
        _stop(f"the source of {function.__qualname__} has changed since it was imported", code)
    with _LOCK:
        _KNOWN[id(code)] = code, source
    return source


def _stop(reason: str, code: types.CodeType) -> None:
    raise Stop(reason, syntax=True).at(
        Location(code.co_filename, code.co_firstlineno, function=code.co_qualname)
    )


def _find(function: types.FunctionType) -> Source:
    code = function.__code__
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines or code.co_firstlineno > len(lines):
        _stop(f"no source for {function.__qualname__}", code)
    try:
        if code.co_name == "<lambda>":
            return _find_lambda(code, lines)
        return _find_def(code, lines)
    except (SyntaxError, ValueError, StopIteration, IndentationError):
        _stop(f"no readable source for {function.__qualname__}", code)
    raise AssertionError


def _find_def(code: types.CodeType, lines: list[str]) -> Source:
    """A `def`: its block of lines, parsed inside `if 1:` so that indentation needs no change."""
    block = inspect.getblock(lines[code.co_firstlineno - 1 :])
    text = "".join(block)
    found = _parse(text, code.co_firstlineno)
    if found.name != code.co_name:
        raise ValueError("another function stands there")
    return Source(code.co_filename, code.co_firstlineno, text, found, class_of(code))


def _parse(text: str, first_line: int) -> ast.FunctionDef:
    """The tree of a `def`, at the lines of its file.

    Raises:
        ValueError: if there is none in the text.
    """
    indented = text[:1] in (" ", "\t")
    (statement,) = ast.parse(("if 1:\n" if indented else "\n") + text).body
    found = statement.body[0] if indented and isinstance(statement, ast.If) else statement
    if not isinstance(found, ast.FunctionDef):
        raise ValueError("no plain function")
    ast.increment_lineno(found, first_line - 2)
    return found


def class_of(code: types.CodeType) -> str:
    """The innermost class around a function, by its qualified name: A.f.<locals>.g stands in A."""
    parts = code.co_qualname.split(".")
    for name, inner in zip(parts[-2::-1], parts[:0:-1], strict=True):
        if "<locals>" not in (name, inner):
            return name
    return ""


def _find_lambda(code: types.CodeType, lines: list[str]) -> Source:
    """A lambda: the innermost in the file whose body covers what the code does."""
    found: Source | None = None
    module = ast.parse("".join(lines))
    spans = [p for p in code.co_positions() if (None not in p and p[0] != p[1]) or p[2] != p[3]]
    first = min((p[0], p[2]) for p in spans if p[0] is not None and p[2] is not None)
    last = max((p[1], p[3]) for p in spans if p[1] is not None and p[3] is not None)
    for node in ast.walk(module):
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno:
            body = node.body
            start, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
            if start <= first and last <= end:
                text = "".join(lines[node.lineno - 1 : node.end_lineno])
                found = Source(code.co_filename, node.lineno, text, node, class_of(code))
    if found is None:
        raise ValueError("no such lambda")
    return found


# --- compiling a tree as the function it was -----------------------------------------------------


def compiled(
    tree: ast.FunctionDef | ast.Lambda, code: types.CodeType, *, hooks: bool
) -> types.CodeType:
    """The code of a function's tree, with the names in `code.co_freevars` as closure cells.

    Args:
        tree: the function's own tree.
        code: the running code, whose file, flags and free names it takes.
        hooks: the tree has hooks, reached by one more free name.
    """
    free = [*code.co_freevars, *([HOOKS] if hooks else [])]
    if isinstance(tree, ast.Lambda):
        statement: ast.stmt = ast.copy_location(ast.Return(tree), tree)
        name = code.co_name
    else:
        name = FACTORY  # its own name would hide the global that a recursive call names
        statement = ast.FunctionDef(name, tree.args, tree.body, [], tree.returns)
        ast.copy_location(statement, tree)
    (inner,) = _inside(_compile(_factory(free, statement), code), FACTORY)
    made = _inside(inner, name)[-1]  # a lambda among the defaults comes before
    return made.replace(co_name=code.co_name, co_qualname=code.co_qualname)


def _factory(free: list[str], statement: ast.stmt) -> ast.stmt:
    """A function with the free names as parameters and `statement` as its body."""
    places = [ast.copy_location(ast.arg(name), statement) for name in free]
    arguments = ast.arguments([], places, None, [], [], None, [])
    return ast.copy_location(ast.FunctionDef(FACTORY, arguments, [statement], []), statement)


def _compile(statement: ast.stmt, code: types.CodeType) -> types.CodeType:
    module = ast.Module([statement], [])
    flags = code.co_flags & _FUTURE
    made: types.CodeType = compile(module, code.co_filename, "exec", flags=flags, dont_inherit=True)
    return made


def _inside(code: types.CodeType, name: str) -> list[types.CodeType]:
    """The code objects of this name right inside another."""
    return [c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name]


def _same_code(source: Source, function: types.FunctionType) -> bool:
    """Whether the text compiles to the running code; rewritten asserts are not compared."""
    code = function.__code__
    tree = source.fresh_tree()
    made = compiled(tree, code, hooks=False)
    if _equal(made, code):
        return True
    has_asserts = any(isinstance(n, ast.Assert) for n in ast.walk(tree))
    if has_asserts and _ASSERTS in function.__globals__:
        return made.co_varnames[: made.co_argcount] == code.co_varnames[: code.co_argcount]
    return False


def _equal(one: types.CodeType, other: types.CodeType) -> bool:
    """Whether two code objects do the same."""
    fields = ("co_varnames", "co_freevars", "co_cellvars", "co_argcount", "co_kwonlyargcount")
    if any(getattr(one, f) != getattr(other, f) for f in fields):
        return False
    if (one.co_flags ^ other.co_flags) & ~inspect.CO_NESTED:
        return False
    if one.co_code == other.co_code and one.co_names == other.co_names:
        pairs = list(zip(one.co_consts, other.co_consts, strict=False))
        return len(one.co_consts) == len(other.co_consts) and all(
            _equal_constants(a, b) for a, b in pairs
        )
    mine, theirs = _steps(one), _steps(other)
    return len(mine) == len(theirs) and all(
        a[0] == b[0] and _equal_constants(a[1], b[1]) for a, b in zip(mine, theirs, strict=True)
    )


_NOISE = frozenset({"CACHE", "PRECALL", "PUSH_NULL", "RESUME", "NOP", "EXTENDED_ARG"})


def _steps(code: types.CodeType) -> list[tuple[str, object]]:
    """The instructions, alike for both ways in which Python compiles `name.attribute(...)`.

    Which of the two it takes depends on whether the module imports `name`, which the function's
    own text does not tell.
    """
    kept = [i for i in dis.get_instructions(code) if i.opname not in _NOISE]
    offsets = [i.offset for i in kept]
    steps: list[tuple[str, object]] = []
    for step in kept:
        name = "LOAD_ATTR" if step.opname == "LOAD_METHOD" else step.opname
        value = step.argval
        if step.opcode in dis.hasjrel or step.opcode in dis.hasjabs:
            value = bisect.bisect_left(offsets, step.argval)
        steps.append((name, value))
    return steps


def _equal_constants(a: object, b: object) -> bool:
    if isinstance(a, types.CodeType) and isinstance(b, types.CodeType):
        return _equal(a, b)
    if isinstance(a, str) and isinstance(b, str) and "<locals>" in b:
        return True  # a qualified name, which tells where the function stands
    return type(a) is type(b) and (a == b or a != a)
