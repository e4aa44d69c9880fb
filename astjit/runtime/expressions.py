"""The places in the text of a test, found by one regular expression.

    "type(self.norm.eps) is float"   =>   "self.norm.eps", where it begins, its steps .norm .eps

A place is a name with attributes and items of constants or names. A model has a thousand guards,
and Python's own parser, with a tree of objects for each, takes ten times as long; it is left for
tests that are made of others.
"""

import ast
import functools
import keyword
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_STRING = r"(?:[bBrRuU]{0,2}(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"))"
_NAME = r"[^\W\d]\w*"
_STEP = rf"(?:\.{_NAME}|\[(?:{_STRING}|-?\d[\w.]*|{_NAME})\])"
PLACE = rf"{_NAME}{_STEP}*"
"""A place, as a regular expression."""

_TOKENS = re.compile(rf"{_STRING}|(?<![\w.])({_NAME})({_STEP})*")  # the last step is kept
_WHOLE = re.compile(rf"{_NAME}({_STEP})*")
_JOINED = re.compile(r"\b(?:and|or|if|lambda|for)\b|:=")
_END, _KEYS = re.compile(r"\W"), re.compile(rf"\[({_NAME})\]")
_WORDS = frozenset(keyword.kwlist)
_MOST = 4096  # tests that are known at a time
_KNOWN: "dict[str, tuple[Found, ...]]" = {}


class Found(NamedTuple):  # made in a third of the time that a frozen record takes
    """A place in a text.

    Attributes:
        text: as it is written.
        start: where it begins.
        called: it is a name or item that is called, and so no place.
        method: what is called of it, such as ".dim".
    """

    text: str
    start: int
    called: bool = False
    method: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The name that it begins with, and those of items."""
        return _END.split(self.text, maxsplit=1)[0], *_KEYS.findall(self.text)


def found_in(test: str) -> tuple[Found, ...]:
    """The longest places in a test, and what it calls, in order."""
    if (known := _KNOWN.get(test)) is not None:
        return known
    return remember(test, _found_in(test))


def remember(test: str, found: Iterable[Found]) -> tuple[Found, ...]:
    """Record what `found_in` finds in a test, which whoever made the test may know."""
    if len(_KNOWN) >= _MOST:
        _KNOWN.clear()
    made = _KNOWN[test] = tuple(found)
    return made


def _found_in(test: str) -> Iterator[Found]:
    for match in _TOKENS.finditer(test):
        place, name, last = match.group(0, 1, 2)
        if name is None or name in _WORDS:
            continue
        start, end = match.span()
        after, method, called = test[end : end + 2], "", False
        if after[:1] == "=" and after != "==":  # the name of an argument
            continue
        if after[:1] == "(":
            called = last is None or last[0] != "."
            if not called:
                place, method = place[: -len(last)], last
        yield Found(place, start, called, method)


@functools.lru_cache(4096)
def parent_of(place: str) -> tuple[str, str]:
    """A place without its last attribute or item, and that; "" and the text where it has none."""
    if (whole := _WHOLE.fullmatch(place)) is not None:
        last = whole[1]
        return ("", place) if last is None else (place[: -len(last)], last)
    tree = ast.parse(place, mode="eval").body
    if not isinstance(tree, ast.Attribute | ast.Subscript):
        return "", place
    inner = span(place, tree.value)
    return inner, place[len(inner) :]


def is_simple(test: str) -> bool:
    """Whether a test surely is one comparison, call or place, or the opposite of one."""
    return _JOINED.search(test) is None


@functools.lru_cache(1024)
def tree_of(test: str) -> ast.expr:
    """The tree of a test; programs of one function ask much the same."""
    return ast.parse(test, mode="eval").body


def begin(test: str, tree: ast.AST) -> int:
    """Where a part of a test begins; Python counts in bytes."""
    at: int = tree.col_offset  # type: ignore[attr-defined]
    return at if test.isascii() else len(test.encode()[:at].decode())


def span(test: str, tree: ast.AST) -> str:
    """The text of a part of a test."""
    first: int = tree.col_offset  # type: ignore[attr-defined]
    last: int = tree.end_col_offset  # type: ignore[attr-defined]
    return test[first:last] if test.isascii() else test.encode()[first:last].decode()
