"""Lines of generated Python: indented, joined, and calls that are cut where they are too long."""

from collections.abc import Iterable, Sequence


def call_lines(opening: str, given: Sequence[str], width: int) -> list[str]:
    """A call on one line, or its arguments on several.

    Args:
        opening: up to the bracket, such as "f(".
        given: the arguments.
        width: of a line.
    """
    line = f"{opening}{', '.join(given)})"
    if len(line) <= width:
        return [line]
    lines, current = [opening], "   "
    for at, argument in enumerate(given):
        piece = f" {argument}{',' if at < len(given) - 1 else ''}"
        if len(current) + len(piece) > width:
            lines.append(current)
            current = "   "
        current += piece
    return [*lines, current, ")"]


def indented(lines: Iterable[str], depth: int) -> list[str]:
    """The lines, four spaces a level further in."""
    return [f"{'    ' * depth}{line}" for line in lines]


def joined(lines: Iterable[str]) -> str:
    """A text that ends with a newline."""
    return "\n".join(lines) + "\n"
