"""Finds the helper pieces that a generated text uses, and those they need, in a fixed order.

A piece is a file of templates/TARGET/helpers; its first line names the pieces it needs. A text uses
a piece if it mentions an identifier that the piece defines; overloads of `load`, `store` and the
like are told apart by the memory types that the text mentions. A piece called NAME_f64 has the
overloads for doubles: a text without doubles does not get it.
"""

import re
from dataclasses import dataclass
from functools import cache

from astjit.text.environment import template_root

_NEEDS = re.compile(r"\A// needs:(.*)\n")
_DEFINES = re.compile(
    r"^(?:#define (\w+)"
    r"|(?:template <[^\n]*?>\s*)?"
    r"(?:HELPER|static|INLINE|__device__ __forceinline__|constexpr|extern \"C\")"
    r"[^;={}]*?\b(\w+)\("
    r"|constexpr [\w ]+?\b(\w+) ="
    r"|(?:template <[^\n]*?>\s*)?(?:struct|union)(?: alignas\(.*?\))? (\w+)"
    r"|typedef [^;\n]*?\b(\w+)(?: __attribute__[^;\n]*)?;)",
    re.MULTILINE | re.DOTALL,
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_DOUBLE = re.compile(r"\bdouble\b|\b\d+(?:\.\d*(?:e[-+]?\d+)?|e[-+]?\d+)(?![\w.])")


@dataclass(frozen=True, slots=True)
class Piece:
    """A helper file.

    Attributes:
        name: its file name without the suffix.
        text: what is printed.
        needs: the pieces it needs.
        defines: identifiers it defines.
    """

    name: str
    text: str
    needs: tuple[str, ...]
    defines: frozenset[str]


@cache
def pieces(target: str) -> dict[str, Piece]:
    """All helper pieces of a target by name."""
    suffix = {"cpu": ".h", "cuda": ".cuh"}[target]
    found = {}
    for path in sorted((template_root() / target / "helpers").glob(f"*{suffix}")):
        text = path.read_text(encoding="utf-8")
        first = _NEEDS.match(text)
        needs = tuple(first[1].split()) if first else ()
        body = _NEEDS.sub("", text, count=1)
        names = {name for match in _DEFINES.findall(body) for name in match if name}
        found[path.stem] = Piece(path.stem, body.strip() + "\n", needs, frozenset(names))
    return found


def closure(target: str, wanted: set[str]) -> list[Piece]:
    """The pieces named and all that they need, each after what it needs.

    Raises:
        KeyError: for a piece that does not exist.
    """
    table, order = pieces(target), list[Piece]()

    def visit(name: str) -> None:
        piece = table[name]
        if piece in order:
            return
        for need in piece.needs:
            visit(need)
        order.append(piece)

    for name in sorted(wanted):
        visit(name)
    return order


def used_pieces(target: str, text: str, overloaded: frozenset[str] = frozenset()) -> set[str]:
    """Pieces that define an identifier of `text`; identifiers in `overloaded` are not looked up."""
    code = re.sub(r"//[^\n]*", "", text)
    words = set(_WORD.findall(code)) - overloaded
    doubles = _DOUBLE.search(code) is not None
    return {
        name
        for name, piece in pieces(target).items()
        if piece.defines & words and (doubles or not name.endswith("_f64"))
    }
