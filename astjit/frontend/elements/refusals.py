"""Errors of the element language: a code, the line with a caret, what was seen, what to write.

AJ104  reading a name that may have no value
...    docs/elements.md lists all
"""

import ast
import linecache
from collections.abc import Sequence
from dataclasses import dataclass

from astjit.errors import ElementError
from astjit.location import Location

CODES = {
    "AJ101": "syntax that the element language does not have",
    "AJ102": "a call of something that is not known for elements",
    "AJ103": "a value of a kind that cannot be used so",
    "AJ104": "a name that may have no value",
    "AJ105": "a value that changes its kind in a loop, or from path to path",
    "AJ106": "recursion",
    "AJ107": "a path that returns nothing",
    "AJ108": "a value that must be known when the function is compiled",
    "AJ109": "arguments that do not fit",
    "AJ110": "a source that cannot be had, or is not what runs",
    "AJ111": "Python raises an exception here",
    "AJ112": "a number beyond 64 bits",
}


class NeedsStatic(Exception):
    """A value of an element where Python must know it now; unrolling a loop may help.

    Args:
        error: what is said if nothing helps.
    """

    def __init__(self, error: ElementError) -> None:
        super().__init__(str(error))
        self.error = error


@dataclass(frozen=True, slots=True)
class Text:
    """Where a tree was written.

    Attributes:
        file: its path.
        function: the qualified name of the function.
    """

    file: str
    function: str

    def location(self, node: ast.AST) -> Location:
        """Where a node stands; columns in characters."""
        line: int = getattr(node, "lineno", 1)
        start: int = getattr(node, "col_offset", 0)
        end: int | None = getattr(node, "end_col_offset", None)
        if getattr(node, "end_lineno", line) != line:
            end = None
        text = linecache.getline(self.file, line)
        if not text.isascii():
            raw = text.encode()
            start = len(raw[:start].decode(errors="replace"))
            end = None if end is None else len(raw[:end].decode(errors="replace"))
        return Location(self.file, line, start, end, self.function)

    def error(self, code: str, node: ast.AST, seen: str, instead: str = "") -> ElementError:
        """The error for a node."""
        where = self.location(node)
        line = linecache.getline(where.file, where.line)
        return ElementError(code, seen, location=where, source_line=line, instead=instead)


def called_from(error: ElementError, chain: Sequence[Location]) -> ElementError:
    """The same error with the calls that led there, innermost first."""
    for place in reversed(chain):
        error.add_note(f"called from {place}, in {place.function}")
    return error
