"""The source text of a function, checked to be what is running.

A file edited after import, a generated function or a moved line would otherwise be compiled as
something else: the text found is compiled again and its code compared with the running code.
"""

import __future__

import ast
import copy
import inspect
import linecache
import re
import sys
import tokenize
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from astjit.frontend.codes import PerCode, nested, requalified, same_code
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
        parsed: its syntax tree, with the file's line numbers and columns; the first who asks for a
            tree of a `def` gets it for good.
        class_name: the class whose body it stands in, "" for none.
        is_part: the tree is part of a function, so that the text is not its own.
    """

    file: str
    first_line: int
    text: str
    parsed: ast.FunctionDef | ast.Lambda
    class_name: str = ""
    is_part: bool = False
    _unused: list[None] = field(default_factory=lambda: [None], compare=False)

    @property
    def tree(self) -> ast.FunctionDef | ast.Lambda:
        """A tree of one's own."""
        if isinstance(self.parsed, ast.Lambda) or self.is_part:
            return copy.deepcopy(self.parsed)
        try:
            self._unused.pop()  # one thread alone
        except IndexError:
            return _parse(self.text, self.first_line)  # four times as fast as a copy
        return self.parsed

    def fresh_tree(self) -> ast.FunctionDef | ast.Lambda:
        """A tree of one's own, with private names spelled out."""
        tree = self.tree
        if self.class_name and _has_private_names(self.text):
            Mangler(self.class_name).visit(tree)
        return tree


def _has_private_names(text: str) -> bool:
    """Whether a text may have names such as `__secret`: few have, and walking a tree is slow."""
    found = re.findall(r"\b__\w+", text)
    return not text.isascii() or not all(name.endswith("__") for name in found)


_KNOWN: PerCode[Source] = PerCode()
_REWRITTEN: PerCode[bool] = PerCode()


def mark_rewritten(code: types.CodeType) -> None:
    """Record code, and all code inside it, as part of a capture copy."""
    for part in nested(code):
        _REWRITTEN.put(part, True)


def is_rewritten(code: types.CodeType) -> bool:
    """Whether code is part of a capture copy; its functions were made during capture."""
    return _REWRITTEN.get(code) is not None


def know_source(code: types.CodeType, source: Source) -> None:
    """Record the source of code that was made here."""
    _KNOWN.put(code, source)


def source_of(function: types.FunctionType) -> Source:
    """The source of a function.

    Raises:
        Stop: if there is no source, or it is not the text of the running code.
    """
    code = function.__code__
    if (known := _KNOWN.get(code)) is not None:
        return known
    found = list(_candidates(function))
    if not found:
        _stop(f"no readable source for {function.__qualname__}", code)
    for source in found:
        if _is_text_of(source, function):
            _KNOWN.put(code, source)
            return source
    _stop(f"the source of {function.__qualname__} has changed since it was imported", code)
    raise AssertionError


def _stop(reason: str, code: types.CodeType) -> None:
    raise Stop(reason, syntax=True).at(
        Location(code.co_filename, code.co_firstlineno, function=code.co_qualname)
    )


def _candidates(function: types.FunctionType) -> Iterator[Source]:
    """What stands where the function was defined."""
    code = function.__code__
    file = code.co_filename
    if file.startswith("<frozen "):  # Python's own, compiled into it; the text may be there
        file = str(function.__globals__.get("__file__", file))
    linecache.checkcache(file)
    lines = linecache.getlines(file, function.__globals__)
    if not lines or code.co_firstlineno > len(lines):
        _stop(f"no source for {function.__qualname__}", code)
    try:
        if code.co_name == "<lambda>":
            yield from _lambdas(code, lines)
        else:
            yield _find_def(code, lines)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return


def _find_def(code: types.CodeType, lines: list[str]) -> Source:
    """A `def`: its block of lines, parsed inside `if 1:` so that indentation needs no change.

    Raises:
        SyntaxError: if it cannot be read.
        ValueError: if another function stands there.
    """
    first = code.co_firstlineno
    try:
        text = "".join(lines[first - 1 : _block_end(code, lines)])
        found = _parse(text, first)
    except (SyntaxError, ValueError):  # cut too early: Python's own way reads every token
        try:
            text = "".join(inspect.getblock(lines[first - 1 :]))
        except tokenize.TokenError as error:
            raise SyntaxError(str(error)) from None
        found = _parse(text, first)
    if found.name != code.co_name:
        raise ValueError("another function stands there")
    return Source(code.co_filename, code.co_firstlineno, text, found, class_of(code))


def _block_end(code: types.CodeType, lines: list[str]) -> int:
    """The last line of a `def`, by its code and its indentation.

    It is too small where a text or brackets go on to the left of the block; then what is cut off
    does not parse.
    """
    opening = lines[code.co_firstlineno - 1]
    indent = len(opening) - len(opening.lstrip())
    numbers = (line for part in nested(code) for _, _, line in part.co_lines() if line)
    end = last = max(numbers, default=code.co_firstlineno)
    for number in range(last, len(lines)):
        line = lines[number]
        shown = line.lstrip()
        if not shown:
            continue
        if len(line) - len(shown) <= indent and shown[0] not in ")]}":
            break
        end = number + 1
    return end


def _parse(text: str, first_line: int) -> ast.FunctionDef:
    """The tree of a `def`, at the lines of its file.

    Raises:
        ValueError: if there is none in the text.
    """
    indented = text[:1] in (" ", "\t")
    opening = "\n" * (first_line - 2) + "if 1:\n" if indented else "\n" * (first_line - 1)
    (statement,) = ast.parse(opening + text).body
    if indented and isinstance(statement, ast.If):
        (statement,) = statement.body
    found = statement
    if not isinstance(found, ast.FunctionDef):
        raise ValueError("no plain function")
    return found


def class_of(code: types.CodeType) -> str:
    """The innermost class around a function, by its qualified name: A.f.<locals>.g stands in A."""
    parts = code.co_qualname.split(".")
    for name, inner in zip(parts[-2::-1], parts[:0:-1], strict=True):
        if "<locals>" not in (name, inner):
            return name
    return ""


def _lambdas(code: types.CodeType, lines: list[str]) -> Iterator[Source]:
    """The lambdas on the first line of the code, those first whose body covers what it does.

    Python may run without columns; then every lambda of the line may be the one.
    """
    found = [
        node
        for node in ast.walk(ast.parse("".join(lines)))
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno
    ]
    spans = [p for p in code.co_positions() if None not in p and (p[0], p[2]) != (p[1], p[3])]
    starts = [(p[0], p[2]) for p in spans if p[0] is not None and p[2] is not None]
    ends = [(p[1], p[3]) for p in spans if p[1] is not None and p[3] is not None]
    if starts:
        found = [node for node in found if _covers(node.body, min(starts), max(ends))]
    for node in reversed(found):  # the innermost comes last in a walk
        text = "".join(lines[node.lineno - 1 : node.end_lineno])
        yield Source(code.co_filename, node.lineno, text, node, class_of(code))


def _covers(node: ast.expr, first: tuple[int, int], last: tuple[int, int]) -> bool:
    start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    return start <= first and last <= end


# --- compiling a tree as the function it was -----------------------------------------------------


def compiled(
    tree: ast.FunctionDef | ast.Lambda,
    code: types.CodeType,
    *,
    hooks: bool,
    imported: Iterable[str] = (),
    given: Iterable[str] = (),
) -> types.CodeType:
    """The code of a function's tree, with the names in `code.co_freevars` as closure cells.

    Args:
        tree: the function's own tree.
        code: the running code, whose file, flags and free names it takes.
        hooks: the tree has hooks, reached by one more free name.
        imported: globals that the module imports: Python compiles calls of their attributes with
            many arguments in another way.
        given: more free names that the tree has.
    """
    free = [*code.co_freevars, *([HOOKS] if hooks else []), *given]
    if isinstance(tree, ast.Lambda):
        statement: ast.stmt = ast.copy_location(ast.Return(tree), tree)
        name = code.co_name
    else:
        name = FACTORY  # its own name would hide the global that a recursive call names
        statement = ast.FunctionDef(name, tree.args, tree.body, [], tree.returns)
        ast.copy_location(statement, tree)
    (inner,) = _inside(_compile(_factory(free, statement), code, imported), FACTORY)
    made = _inside(inner, name)[-1]  # a lambda among the defaults comes before
    return requalified(made, code.co_name, code.co_qualname)


def _factory(free: list[str], statement: ast.stmt) -> ast.stmt:
    """A function with the free names as parameters and `statement` as its body."""
    places = [ast.copy_location(ast.arg(name), statement) for name in free]
    arguments = ast.arguments([], places, None, [], [], None, [])
    return ast.copy_location(ast.FunctionDef(FACTORY, arguments, [statement], []), statement)


def _compile(
    statement: ast.stmt, code: types.CodeType, imported: Iterable[str] = ()
) -> types.CodeType:
    names = [ast.alias(name) for name in imported]
    imports: list[ast.stmt] = [ast.copy_location(ast.Import(names), statement)] if names else []
    module = ast.Module([*imports, statement], [])
    flags = code.co_flags & _FUTURE

    def make() -> types.CodeType:
        made: types.CodeType = compile(
            module, code.co_filename, "exec", flags=flags, dont_inherit=True
        )
        return made

    try:
        return make()  # most trees have all their places; filling them in takes as long again
    except (TypeError, ValueError):
        ast.fix_missing_locations(module)
        return make()


def _inside(code: types.CodeType, name: str) -> list[types.CodeType]:
    """The code objects of this name right inside another."""
    return [c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name]


def _compiles_as_it_stands(source: Source, function: types.FunctionType) -> bool:
    """Whether the text, inside stand-ins for what is around it, compiles to the running code.

    No needs no reason: a tree then decides. Most texts need none, and Python compiles a text in a
    third of the time that it takes for a tree.
    """
    code = function.__code__
    if isinstance(source.parsed, ast.Lambda):
        return False
    around = [code.co_name]
    imported = _imported(function)
    opening = f"import {', '.join(imported)}\n" if imported else ""
    if source.text[:1] in (" ", "\t"):
        around = [FACTORY, *([source.class_name] if source.class_name else []), code.co_name]
        free = [name for name in code.co_freevars if name != "__class__"]
        opening += f"def {FACTORY}({', '.join(free)}):\n"
        opening += f" class {source.class_name}:\n" if source.class_name else ""
    flags = code.co_flags & _FUTURE
    try:
        made = compile(
            opening + source.text, code.co_filename, "exec", flags=flags, dont_inherit=True
        )
    except (SyntaxError, ValueError):
        return False
    for name in around:
        inner = _inside(made, name)
        if not inner:
            return False
        made = inner[-1]
    return same_code(requalified(made, code.co_name, code.co_qualname), code)


def _imported(function: types.FunctionType) -> list[str]:
    """The globals in its text that its module seems to import: they are of other modules.

    Python compiles calls of attributes of such names in another way.
    """
    found, own = function.__globals__, (function.__module__, None)
    return [n for n in function.__code__.co_names if n in found and _home(found[n]) not in own]


def _home(value: object) -> object:
    """The module that a function or class says it is of, or a module itself; None for others."""
    if isinstance(value, types.ModuleType):
        return value
    if isinstance(value, type):
        return vars(type)["__module__"].__get__(value)
    return value.__module__ if isinstance(value, types.FunctionType) else None


def _is_text_of(source: Source, function: types.FunctionType) -> bool:
    """Whether the text compiles to the running code, in which pytest may have changed asserts."""
    if _compiles_as_it_stands(source, function):
        return True
    tree, code = source.fresh_tree(), function.__code__
    if same_code(compiled(tree, code, hooks=False), code):
        return True
    found = function.__globals__
    modules = [n for n in code.co_names if isinstance(found.get(n), types.ModuleType)]
    if modules and same_code(compiled(tree, code, hooks=False, imported=modules), code):
        return True
    pytest = sys.modules.get("_pytest.assertion.rewrite")
    if pytest is None or _ASSERTS not in function.__globals__ or isinstance(tree, ast.Lambda):
        return False
    pytest.rewrite_asserts(ast.Module([tree], []), source.text.encode(), code.co_filename)
    return same_code(compiled(tree, code, hooks=False), code)
