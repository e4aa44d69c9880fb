"""Questions about sizes inside a counted loop: asked once for all of its iterations.

    for t in range(1, T): ... x[t - 1] ...      is t - 1 < x0?   asked of t = 1 and of t = T - 1

What is linear in the number of the iteration has its extremes at the first and at the last. A
question that has another answer in one iteration than in another is one of that iteration alone.
"""

from astjit.frontend.stops import Stop
from astjit.types.dim import terms_of
from astjit.types.shape import Dim, Expr, Sizes, Sym, sub, substitute, symbols


class Unlooped(Stop):
    """A counted loop is not captured as one; its iterations are, one after the other.

    Args:
        reason: why.
        again: the first iteration may be the only one that is unlike the others.
    """

    def __init__(self, reason: str, *, again: bool = False) -> None:
        super().__init__(reason)
        self.again = again


class LoopSizes(Sizes):
    """Sizes of a capture.

    Attributes:
        trips: how often each loop runs, by the symbol of its iterations; None once it is closed.
    """

    def __init__(self) -> None:
        super().__init__(hints=True)
        self.trips: dict[str, Dim | None] = {}

    def varies(self, *dims: Dim) -> bool:
        """Whether sizes depend on the number of an iteration."""
        return bool(self.trips) and any(s.name in self.trips for d in dims for s in symbols(d))

    def holds(self, op: str, a: Dim, b: Dim) -> bool:
        """Whether `a OP b`, in every iteration of a loop.

        Raises:
            Unlooped: if iterations differ.
        """
        if not self.varies(a, b) or isinstance(sub(a, b), int):
            return super().holds(op, a, b)
        ends = self._ends(a, b)
        if op in ("<", "<="):
            return self._alike([super(LoopSizes, self).holds(op, *end) for end in ends])
        below = [super(LoopSizes, self).holds("<", x, y) for x, y in ends]
        above = [False] * len(ends)
        if not any(below):
            above = [super(LoopSizes, self).holds("<", y, x) for x, y in ends]
        differ = self._alike(below) or self._alike(above)
        return differ is (op == "!=")

    def _alike(self, answers: list[bool]) -> bool:
        if len(set(answers)) > 1:
            raise Unlooped("iterations of the loop differ", again=True)
        return answers[0]

    def _ends(self, a: Dim, b: Dim) -> list[tuple[Dim, Dim]]:
        """Both sides in the first and in the last iteration."""
        names = {s.name for d in (a, b) for s in symbols(d) if s.name in self.trips}
        (name, *others) = names
        trip = self.trips[name]
        if others or trip is None or not linear(sub(a, b), name):
            raise Unlooped("a size is not linear in the number of the iteration")
        ends: list[Dim] = [0, sub(trip, 1)]
        return [(substitute(a, {name: end}), substitute(b, {name: end})) for end in ends]


def linear(dim: Dim, name: str) -> bool:
    """Whether a size is a constant plus a constant times a symbol."""
    for factors in terms_of(dim):
        inside = [f for f in factors if any(s.name == name for s in symbols(f))]
        if len(inside) > 1 or any(isinstance(f, Expr) for f in inside):
            return False
    return True


def parts(dim: Dim, name: str) -> tuple[Dim, Dim]:
    """The constant and the factor of a size that is linear in a symbol.

    Raises:
        Unlooped: if it is not.
    """
    if not linear(dim, name):
        raise Unlooped("a size is not linear in the number of the iteration")
    first = substitute(dim, {name: 0})
    return first, sub(substitute(dim, {name: 1}), first)


def symbol_of(name: str) -> Sym:
    """The number of an iteration as a size."""
    return Sym(name, 2)
