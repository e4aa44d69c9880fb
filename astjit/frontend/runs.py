"""Records of a function that is cut: what must stay Python, and the segments between.

Marks({(3, 4): "print() is an effect"})      the statement at line 3, column 4 stays
Run(body, reads=("x",), results=("y",))      y = __astjit_segment_0__(x)
"""

import ast
from dataclasses import dataclass, field

SEGMENT = "__astjit_segment_{}__"
CALLEE = "__astjit_callee__"

Place = tuple[int, int]  # line and column of a statement


@dataclass(slots=True)
class Marks:
    """What is known of a function's statements, by their places; it only grows.

    Attributes:
        python: statements that stay Python, with the reason.
        inert: statements that touch no tensor: capturable, and not worth it.
        cuts: statements before which a segment ends.
        tests: tests of `if` and `while` that stay Python.
    """

    python: dict[Place, str] = field(default_factory=dict)
    inert: set[Place] = field(default_factory=set)
    cuts: set[Place] = field(default_factory=set)
    tests: set[Place] = field(default_factory=set)

    def state(self) -> tuple[int, ...]:
        """Another value whenever something was added."""
        return len(self.python), len(self.inert), len(self.cuts), len(self.tests)


@dataclass(frozen=True, slots=True)
class Run:
    """One segment.

    Attributes:
        body: its statements; none where it is the test of an `if` or `while`.
        reads: names it is given, in the order of the first reads.
        results: names it gives back.
        tail: the `return` that ends it.
        test: the expression that it is.
    """

    body: tuple[ast.stmt, ...]
    reads: tuple[str, ...]
    results: tuple[str, ...] = ()
    tail: ast.Return | None = None
    test: ast.expr | None = None

    @property
    def statements(self) -> tuple[ast.stmt, ...]:
        """The body and the `return`."""
        return (*self.body, self.tail) if self.tail is not None else self.body

    @property
    def first(self) -> ast.stmt | ast.expr:
        """The node at which it begins."""
        return self.test if self.test is not None else self.statements[0]

    @property
    def last(self) -> ast.stmt | ast.expr:
        """The node at which it ends."""
        return self.test if self.test is not None else self.statements[-1]

    @property
    def lines(self) -> str:
        """Its lines in words."""
        return in_words(self.first.lineno, self.last.end_lineno or self.last.lineno)

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal segments of one function."""
        ends = place(self.first), place(self.last), self.tail is None, self.test is None
        return *ends, self.reads, self.results


def place(node: ast.stmt | ast.expr) -> Place:
    """Where a node begins."""
    return node.lineno, node.col_offset


def in_words(first: int, last: int) -> str:
    """Some lines of a file."""
    return f"line {first}" if first == last else f"lines {first}-{last}"
