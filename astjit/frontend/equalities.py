"""Sizes that a capture found equal: each symbol leads to an earlier one, or to an int.

x1 == w0, w0 == 4     =>    root of w0: x1, then 4
"""

from collections.abc import Iterable, Mapping

from astjit.types.shape import Dim, Predicate, Sym


def equalities(facts: Iterable[Predicate]) -> dict[str, Dim]:
    """What each symbol, by name, was found equal to."""
    found: dict[str, Dim] = {}
    for fact in facts:
        if fact.op == "==":
            _unite(found, fact.left, fact.right)
    return found


def root(found: Mapping[str, Dim], dim: Dim) -> Dim:
    """The end of the way from a size to what it equals."""
    while isinstance(dim, Sym) and dim.name in found:
        dim = found[dim.name]
    return dim


def _unite(found: dict[str, Dim], left: Dim, right: Dim) -> None:
    """Record that a symbol is another, earlier one, or an int."""
    a, b = root(found, left), root(found, right)
    if a == b or not all(isinstance(d, int | Sym) for d in (a, b)):
        return
    if isinstance(b, Sym):
        found[b.name] = a
    elif isinstance(a, Sym):
        found[a.name] = b
