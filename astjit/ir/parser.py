r"""Reads the text that the printer writes.

    parse("fn f(%x: f32[4]):\n  %y = neg %x : f32[4]\n  return %y")  =>  Function f

Types of results may be left out in text written by hand; they are then inferred. Blank lines and
lines that begin with `;` are skipped. What the text says is not checked beyond what is needed to
build it: the verifier does that.
"""

import difflib
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import NoReturn, TypeVar

from astjit.errors import ParseError, ShapeMismatch
from astjit.ir.builder import check_operands, fill_fields, infer_types
from astjit.ir.function import Block, Function, Node, make_node
from astjit.ir.notation import (
    parse_dim,
    parse_field,
    parse_number,
    parse_predicate,
    parse_type,
)
from astjit.ir.value import Literal, Param, Value
from astjit.location import Location
from astjit.ops.spec import FieldKind, FieldValue, Op
from astjit.ops.table import OPS
from astjit.types.dtype import BY_NAME, F32
from astjit.types.shape import Sizes
from astjit.types.tensor import Type

__all__ = ["parse", "parse_dim", "parse_type"]

_T = TypeVar("_T")
_NAME = re.compile(r"%(?:(?P<base>[^\W\d]\w*)(?:\.\d+)?|\d+)")
_WORD = re.compile(r"[^\W\d]\w*")
_CLOSING = {"(": ")", "[": "]", "{": "}"}


def parse(text: str, file: str = "<text>") -> Function:
    """The function that `text` describes.

    Args:
        text: as written by `function_text`.
        file: named in errors.

    Raises:
        ParseError: with the line and a caret, if the text cannot be read.
    """
    return _Parser(text, file).function()


class _Cursor:
    """A place in a text."""

    def __init__(self, text: str, file: str) -> None:
        self.text, self.file, self.at = text, file, 0

    def fail(self, problem: str, start: int | None = None, end: int | None = None) -> NoReturn:
        """Raise ParseError with a caret under `start` to `end`, by default here."""
        start = self.at if start is None else start
        first = self.text.rfind("\n", 0, start) + 1
        line = self.text[first:].split("\n", 1)[0]
        column = start - first
        stop = column + 1 if end is None else end - first
        number = self.text.count("\n", 0, start) + 1
        place = Location(self.file, number, column, max(stop, column + 1))
        raise ParseError(problem, location=place, source_line=line)

    def spaces(self, *, lines: bool = False) -> None:
        """Skip blanks; with `lines`, also ends of lines and lines that begin with `;`."""
        while self.at < len(self.text):
            if self.text[self.at] in " \t\r" or (lines and self.text[self.at] == "\n"):
                self.at += 1
            elif lines and self.text[self.at] == ";":
                self.at = (
                    len(self.text) if "\n" not in self.rest() else self.text.index("\n", self.at)
                )
            else:
                return

    def rest(self) -> str:
        """What follows."""
        return self.text[self.at :]

    def sees(self, literal: str) -> bool:
        """Whether `literal` comes next, after blanks."""
        self.spaces()
        return self.text.startswith(literal, self.at)

    def accept(self, literal: str) -> bool:
        """Skip `literal` if it comes next."""
        if found := self.sees(literal):
            self.at += len(literal)
        return found

    def expect(self, literal: str) -> None:
        """Skip `literal`, which must come next."""
        if not self.accept(literal):
            self.fail(f"expected {literal!r}")

    def ends(self) -> bool:
        """Whether nothing is left of the line."""
        self.spaces()
        return self.at >= len(self.text) or self.text[self.at] == "\n"

    def match(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        """Skip what matches, which must come next."""
        self.spaces()
        found = pattern.match(self.text, self.at)
        if found is None:
            self.fail(f"expected {what}")
        self.at = found.end()
        return found

    def until(self, stops: str, read: Callable[[str], _T]) -> _T:
        """Read what lies before the first of `stops` outside brackets and quotes, on this line."""
        self.spaces()
        start, closing = self.at, ""
        while self.at < len(self.text) and self.text[self.at] != "\n":
            here = self.text[self.at]
            if not closing and here in stops:
                break
            if here in "'\"":
                self._quoted(here)
            elif here in _CLOSING:
                closing += _CLOSING[here]
            elif closing and here == closing[-1]:
                closing = closing[:-1]
            self.at += 1
        found = self.text[start : self.at].rstrip()
        try:
            return read(found)
        except (ValueError, ZeroDivisionError) as error:
            self.fail(str(error), start, start + len(found))

    def _quoted(self, quote: str) -> None:
        start = self.at
        self.at += 1
        while not self.text.startswith(quote, self.at):
            self.at += 2 if self.text.startswith("\\", self.at) else 1
            if self.at >= len(self.text):
                self.fail("a quote is not closed", start)


class _Parser(_Cursor):
    def __init__(self, text: str, file: str) -> None:
        super().__init__(text, file)
        self.made = Function("")

    def function(self) -> Function:
        self.spaces(lines=True)
        self.expect("fn ")
        self.made.name = self.match(re.compile(r"[^\s(]+"), "the function's name")[0]
        scope: dict[str, Value] = {}
        self.params(self.made.body, scope, top=True)
        if self.accept("default "):
            self.made.default = BY_NAME.get(self.match(_WORD, "a dtype")[0], F32)
        while self.accept("where ") or (self.made.assumed and self.accept(",")):
            self.spaces(lines=True)
            self.made.assumed.append(self.until(",:", parse_predicate))
        self.expect(":")
        self.body(self.made.body, scope, "return")
        self.spaces(lines=True)
        if self.at < len(self.text):
            self.fail("expected nothing after `return`")
        return self.made

    def params(self, block: Block, scope: dict[str, Value], *, top: bool) -> None:
        self.expect("(")
        self.spaces(lines=True)
        while not self.accept(")"):
            if block.params:
                self.expect(",")
                self.spaces(lines=True)
            start = self.at
            found = self.match(_NAME, "a parameter, such as %x")
            name = found["base"] or ""
            path = self.until(":", str) if self.accept("=") else name if top else ""
            self.expect(":")
            param = Param(self.until(",)", parse_type), name, path)
            block.params.append(param)
            self.define(scope, found[0], param, start)
            self.spaces(lines=True)

    def define(self, scope: dict[str, Value], name: str, value: Value, start: int) -> None:
        if name in scope:
            self.fail(f"{name} is defined twice", start, start + len(name))
        scope[name] = value

    def body(self, block: Block, scope: dict[str, Value], end: str) -> None:
        """Nodes up to `end` (return or yield) and the values after it."""
        self.end_of_line()
        while True:
            self.spaces(lines=True)
            start = self.at
            if self.at >= len(self.text):
                self.fail(f"expected `{end}`")
            if re.compile(rf"{end}\b").match(self.text, self.at):
                self.at += len(end)
                break
            block.nodes.append(self.node(scope, start))
        while not self.ends():
            if block.results:
                self.expect(",")
            value = self.operand(scope)
            if value is None:
                self.fail("a result cannot be none")
            block.results.append(value)

    def end_of_line(self) -> None:
        if not self.ends():
            self.fail("expected the end of the line")

    def node(self, scope: dict[str, Value], start: int) -> Node:
        names: list[tuple[str, str, int]] = []
        if self.sees("%"):
            while not names or self.accept(","):
                self.spaces()
                at = self.at
                found = self.match(_NAME, "a result, such as %y")
                names.append((found[0], found["base"] or "", at))
            self.expect("=")
        op = self.op()
        operands = self.operands(scope, op)
        fields = self.fields(op)
        types: list[Type] = []
        if self.accept(":"):
            while not types or self.accept(","):
                types.append(self.until(",{;", parse_type))
        regions, location = self.regions(scope) if self.accept("{") else ((), self.location())
        node = self.make(op, operands, fields, types or None, regions, location, start)
        if len(node.results) != len(names):
            shown = f"{op.name} has {len(node.results)} results, {len(names)} are named"
            self.fail(shown, start, start + len(self.text[start:].split("\n", 1)[0]))
        for result, (name, base, at) in zip(node.results, names, strict=True):
            result.name = base
            self.define(scope, name, result, at)
        return node

    def op(self) -> Op:
        self.spaces()
        start = self.at
        name = self.match(_WORD, "an op")[0]
        if name not in OPS:
            close = difflib.get_close_matches(name, OPS, 1)
            hint = f"; is it {close[0]}?" if close else ""
            self.fail(f"no op is called {name!r}{hint}", start, self.at)
        return OPS[name]

    def operands(self, scope: Mapping[str, Value], op: Op) -> list[Value | None]:
        found: list[Value | None] = []
        start = self.at
        while not (self.ends() or self.sees("{") or self.sees(":") or self.sees(";")):
            if found:
                self.expect(",")
            found.append(self.operand(scope))
        try:
            check_operands(op, found)
        except TypeError as error:
            self.fail(str(error), start + 1, self.at)
        return found

    def operand(self, scope: Mapping[str, Value]) -> Value | None:
        if not self.sees("%"):
            start = self.at
            if self.match(re.compile(r"[^,\s{:;]*"), "a value")[0] == "none":
                return None
            self.at = start
            return Literal(self.until(", {:;", parse_number))
        start = self.at
        name = self.match(_NAME, "a value, such as %x")[0]
        if name not in scope:
            self.fail(f"no value is called {name} here", start, self.at)
        return scope[name]

    def fields(self, op: Op) -> dict[str, FieldValue]:
        found: dict[str, FieldValue] = {}
        if not self.sees("{") or re.compile(r"\{[ \t]*(;|\n|$)").match(self.text, self.at):
            return found
        self.expect("{")
        while not self.accept("}"):
            if found:
                self.expect(",")
            self.spaces()
            start = self.at
            name = self.match(_WORD, "a field")[0]
            try:
                kind = op.field(name).kind
            except KeyError as error:
                self.fail(str(error.args[0]), start, self.at)
            self.expect("=")
            found[name] = self.until(",}", partial(parse_field, kind))
        return found

    def location(self) -> Location | None:
        if not self.accept(";"):
            self.end_of_line()
            return None
        self.spaces()
        start = self.at
        file, colon, line = self.until("", str).rpartition(":")
        if not colon or not line.isdecimal():
            self.fail("expected a location, such as model.py:5", start, self.at)
        return Location(file, int(line))

    def regions(self, scope: Mapping[str, Value]) -> tuple[tuple[Block, ...], Location | None]:
        location = self.location()
        found: list[Block] = []
        while True:
            self.spaces(lines=True)
            if self.accept("}"):
                self.end_of_line()
                return tuple(found), location
            self.match(_WORD, "a region or `}`")
            block, inner = Block(), dict(scope)
            self.params(block, inner, top=False)
            self.expect(":")
            self.body(block, inner, "yield")
            found.append(block)

    def make(
        self,
        op: Op,
        operands: list[Value | None],
        fields: dict[str, FieldValue],
        types: list[Type] | None,
        regions: tuple[Block, ...],
        location: Location | None,
        start: int,
    ) -> Node:
        for declared in op.fields:
            if declared.kind is FieldKind.TYPES:
                fields[declared.name] = tuple(types or ())
        try:
            filled = fill_fields(op, fields)
            if types is None:
                sizes = Sizes(self.made.assumed)
                types = list(
                    infer_types(op, tuple(operands), filled, sizes, self.made.default, regions)
                )
        except (KeyError, ShapeMismatch) as error:
            line = self.text[start:].split("\n", 1)[0]
            self.fail(str(error.args[0]), start, start + len(line))
        return make_node(op, tuple(operands), filled, tuple(types), location, regions)
