"""Comments that say which of the user's lines a block computes, and other finishing of text."""

import re
from collections.abc import Callable, Iterable

from astjit.ir.function import Node
from astjit.location import Location

SourceLine = Callable[[Location], str]
WIDTH = 100
_BREAK = re.compile(r" (?=(?:[-+*/?:<>]|&&|\|\|) )")


class Comments:
    """Gives each source line's comment once."""

    def __init__(self, source_line: SourceLine) -> None:
        self._source_line = source_line
        self._shown: set[tuple[str, int]] = set()

    def of(self, nodes: Iterable[Node]) -> list[str]:
        """Comments for the lines of `nodes` that were not shown before, in order of lines."""
        found: dict[tuple[str, int], Location] = {}
        for node in nodes:
            where = node.location
            if where is not None and (where.file, where.line) not in self._shown:
                found.setdefault((where.file, where.line), where)
        self._shown |= set(found)
        return [self._comment(found[key]) for key in sorted(found)]

    def _comment(self, where: Location) -> str:
        text = self._source_line(where).strip()
        place = f"({where.file.rsplit('/', 1)[-1]}:{where.line})"
        room = WIDTH - 12 - len(place)
        if len(text) > room:
            text = text[: room - 3] + "..."
        return f"// {text}   {place}" if text else f"// {place}"


def prune(lines: list[str], rest: str) -> list[str]:
    """Drop `const ... name = ...;` lines whose name nothing after them uses."""
    kept: list[str] = []
    for line in reversed(lines):
        declared = re.match(r"\s*(?:const )?[\w ]+[*&]? ?\b(\w+) = ", line)
        text = "\n".join([rest, *kept])
        if declared and not re.search(rf"\b{declared[1]}\b", text):
            continue
        kept.insert(0, line)
    return kept


def parameters(opening: str, declarations: list[str], closing: str) -> str:
    """A function head with its parameters aligned under the first, at most WIDTH columns."""
    longest = max(map(len, declarations), default=0) + len(closing)
    beside = len(opening) < 48 and len(opening) + longest <= WIDTH
    indent = " " * (len(opening) if beside else 4)
    first = opening if beside else opening + "\n" + indent
    lines, current = [], first
    for position, declaration in enumerate(declarations):
        piece = declaration + (", " if position < len(declarations) - 1 else closing)
        if len(current.rsplit("\n", 1)[-1]) + len(piece.rstrip()) > WIDTH and current.strip():
            lines.append(current.rstrip())
            current = indent
        current += piece
    return "\n".join([*lines, current.rstrip()])


def wrap(line: str, indent: int) -> str:
    """A statement broken at operators or commas so that it fits in WIDTH columns."""
    room = WIDTH - indent
    if len(line) <= room or line.lstrip().startswith(("//", "#")):
        return " " * indent + line
    breaks = [m.start() for m in _BREAK.finditer(line[:room]) if m.start() > 12]
    best = breaks[-1] if breaks else line.rfind(" ", 13, room)
    if best <= 0:
        return " " * indent + line
    return " " * indent + line[:best] + "\n" + wrap(line[best + 1 :], indent + 4)


def block(lines: Iterable[str], indent: int) -> str:
    """Statements at an indentation, wrapped."""
    return "\n".join(wrap(line, indent) for line in lines)
