"""What is known of sizes: facts, the questions that type rules ask, and broadcasting.

    Sizes(hints=True).equal(x1, w0)  =>  True where the example says so, and records `x1 == w0`

The sizes themselves are in dim.py; their names are here too, for those who ask and compute.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from astjit.types.bounds import never_negative, never_one
from astjit.types.dim import (
    Dim,
    Expr,
    Sym,
    add,
    cancelled,
    evaluate,
    floordiv,
    hint,
    maximum,
    minimum,
    mod,
    mul,
    multiple,
    product,
    quotient,
    sub,
    substitute,
    symbols,
    text,
)

__all__ = [
    "Dim",
    "Expr",
    "Predicate",
    "Sizes",
    "Sym",
    "Undecided",
    "add",
    "broadcast",
    "cancelled",
    "evaluate",
    "floordiv",
    "hint",
    "maximum",
    "minimum",
    "mod",
    "mul",
    "multiple",
    "product",
    "quotient",
    "sub",
    "substitute",
    "symbols",
    "text",
]


@dataclass(frozen=True, slots=True)
class Predicate:
    """A fact about sizes that capture relied on: `left OP right`, OP one of == != < <=."""

    op: str
    left: Dim
    right: Dim

    def __str__(self) -> str:
        return f"{text(self.left)} {self.op} {text(self.right)}"

    def holds(self, sizes: Mapping[str, int]) -> bool:
        """Whether the fact is true for these values of the symbols."""
        return _COMPARE[self.op](evaluate(self.left, sizes), evaluate(self.right, sizes))

    @property
    def plain(self) -> bool:
        """Whether the fact is true whatever the symbols are, by the form of both sides."""
        difference = sub(self.left, self.right)
        return isinstance(difference, int) and _COMPARE[self.op](difference, 0)

    @property
    def turned(self) -> "Predicate":
        """The sides exchanged: the same fact where it says that they are equal or differ."""
        return Predicate(self.op, self.right, self.left)

    def negated(self) -> "Predicate":
        """The opposite fact."""
        match self.op:
            case "==":
                return Predicate("!=", self.left, self.right)
            case "!=":
                return Predicate("==", self.left, self.right)
            case "<":
                return Predicate("<=", self.right, self.left)
        return Predicate("<", self.right, self.left)


_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
}


class Undecided(Exception):
    """A question about sizes that neither assumptions nor hints answer."""


class Sizes:
    """Answers questions about sizes, and records every answer that was not plain from the form.

    With hints (capture) a question is answered by the example and recorded, so that it becomes a
    guard; without (parser, verifier, passes) only what was assumed is known.

    Attributes:
        assumed: the recorded facts, in order.
        pins: sizes that Python took the value of, with the reason.
    """

    def __init__(self, assumed: Iterable[Predicate] = (), *, hints: bool = False) -> None:
        self.assumed: list[Predicate] = list(assumed)
        self.hints = hints
        self.pins: dict[Dim, str] = {}
        self._answers: dict[Predicate, bool] = {}
        self._read = 0  # so many of the facts are among the answers

    def holds(self, op: str, a: Dim, b: Dim) -> bool:
        """Whether `a OP b`.

        Raises:
            Undecided: if that is not known and there are no hints.
        """
        if isinstance(a, int) and isinstance(b, int):
            return _COMPARE[op](a, b)
        difference = sub(a, b)
        if isinstance(difference, int):
            return _COMPARE[op](difference, 0)
        if (plain := self._plain(op, a, b)) is not None:
            return plain
        question = Predicate(op, a, b)
        if (known := self._known(question)) is not None:
            return known
        if not self.hints:
            raise Undecided(str(question))
        answer = _COMPARE[op](hint(a), hint(b))
        if op == "==" and answer:
            self._by_symbols(a, b)
        self.assumed.append(question if answer else question.negated())
        return answer

    def _by_symbols(self, a: Dim, b: Dim) -> None:
        """Assume that symbols are equal where that is why two expressions are, as it mostly is.

        `t0*t1 - t0 == x0*x1 - x0` says nothing of rows and columns; `t0 == x0` and `t1 == x1` do.
        """
        pairs = [*zip(symbols(b), symbols(a), strict=False)]
        renamed = substitute(b, {one.name: other for one, other in pairs})
        if len(pairs) > 1 and renamed == a and all(hint(x) == hint(y) for x, y in pairs):
            for one, other in pairs:
                self.holds("==", other, one)

    def _known(self, question: Predicate) -> bool | None:
        """The answer that one of the facts is, the first of them where they disagree."""
        for fact in self.assumed[self._read :]:
            for said in (fact, fact.turned) if fact.op in ("==", "!=") else (fact,):
                self._answers.setdefault(said, True)
                self._answers.setdefault(said.negated(), False)
        self._read = len(self.assumed)
        return self._answers.get(question)

    def simplest(self, dim: Dim) -> Dim:
        """The size with one symbol, or a number, for all that were found equal."""
        found: dict[str, Dim] = {}

        def root(part: Dim) -> Dim:
            while isinstance(part, Sym) and part.name in found:
                part = found[part.name]
            return part

        for fact in self.assumed:
            left, right = root(fact.left), root(fact.right)
            if fact.op != "==" or left == right:
                continue
            if isinstance(right, Sym) and isinstance(left, int | Sym):
                found[right.name] = left
            elif isinstance(left, Sym) and isinstance(right, int):
                found[left.name] = right
        return substitute(dim, {name: root(Sym(name)) for name in found})

    def equal(self, a: Dim, b: Dim) -> bool:
        """Whether the sizes are equal; where that is unknown without hints, False."""
        try:
            return self.holds("==", a, b)
        except Undecided:
            return False

    def _plain(self, op: str, a: Dim, b: Dim) -> bool | None:
        """Answers that follow from a symbol being 0 or at least 2."""
        if op == "<" and never_negative(sub(a, b)):
            return False
        if op == "<=" and never_negative(sub(b, a)):
            return True
        if op in ("==", "!=") and isinstance(a, int) and not isinstance(b, int):
            a, b = b, a
        if op in ("==", "!=") and b == 1 and never_one(a):
            return op == "!="
        if isinstance(a, Sym) and isinstance(b, int):
            if op in ("==", "!=") and b < 0:
                return op == "!="
            if op in ("<", "<=") and b < 0:
                return False
            if op == "<" and b == 0:
                return False
        if isinstance(b, Sym) and isinstance(a, int):
            if op in ("<", "<=") and a < 0:
                return True
            if op == "<=" and a == 0:
                return True
        return None


def broadcast(sizes: Sizes, *shapes: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """The common shape by PyTorch's broadcasting rule.

    Raises:
        ValueError: if two sizes differ and neither is 1; the message is the two shapes.
    """
    widest: tuple[Dim, ...] = max(shapes, key=len, default=())
    if all(s is widest or not s or s == widest for s in shapes):
        return widest
    rank = len(widest)
    result: list[Dim] = []
    for axis in range(rank):
        here: Dim = 1
        for shape in shapes:
            position = axis - rank + len(shape)
            if position < 0:
                continue
            size = shape[position]
            if size == 1 or (here != 1 and sizes.equal(here, size)):
                here = size if isinstance(size, int) and size != 1 else here
            elif here == 1 or sizes.equal(here, 1):
                here = size
            elif not sizes.equal(size, 1):
                shown = " and ".join(f"[{', '.join(map(str, s))}]" for s in shapes)
                raise ValueError(f"sizes {here} and {size} do not fit (shapes {shown})")
        result.append(here)
    return tuple(result)
