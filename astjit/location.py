"""Where in the user's source something came from: carried by every SSA value, printed in errors."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Location:
    """A place in the user's source text. Lines count from 1, columns from 0."""

    file: str
    line: int
    column: int | None = None
    end_column: int | None = None
    function: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def short(self) -> str:
        """File name and line, for texts that name many places."""
        return f"{Path(self.file).name}:{self.line}"


def excerpt(location: Location, source_line: str) -> str:
    """The source line with a caret under what `location` names.

    before: file.py, line 3, columns 8 to 11; text `    y = x.foo()`
    after:      y = x.foo()
                    ^^^
    """
    if not source_line.strip():
        return ""
    text = source_line.rstrip("\n").expandtabs(1)
    start = location.column
    if start is None:
        start = len(text) - len(text.lstrip())
    end = location.end_column if location.end_column is not None else len(text)
    return f"    {text}\n    {' ' * start}{'^' * max(1, min(end, len(text)) - start)}"
