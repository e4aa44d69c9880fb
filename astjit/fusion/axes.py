"""The loop nest of a group: which axes it has, in which order, and how its buffers lie over them.

    before: y[a, b, c] = x[a, b, c] + bias[c]     axes a, b, c
    after:  rows = a*b, cols = c                   x dense over both, bias over cols

Adjacent axes become one where every buffer is either dense across both or varies over neither.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cmp_to_key

from astjit.types.shape import (
    Dim,
    Expr,
    Sizes,
    Sym,
    add,
    maximum,
    minimum,
    mul,
    multiple,
    product,
    sub,
)
from astjit.types.tensor import TensorType

Axis = int  # an axis before it has a name: the index of its class in fusion/index.py


@dataclass(frozen=True, slots=True)
class Access:
    """How one buffer is reached.

    Attributes:
        strides: element stride along each axis that it varies over.
        sizes: its own size along each of these axes.
    """

    strides: dict[Axis, Dim]
    sizes: dict[Axis, Dim]


@dataclass(frozen=True, slots=True)
class Nest:
    """Named axes, outermost first.

    Attributes:
        parallel: names of the parallel axes.
        reduced: names of the reduced axes.
        extents: size of each.
        members: the axes, outermost first, that each name collapses.
        inner: the axis along which lanes run: the innermost in memory.
    """

    parallel: tuple[str, ...]
    reduced: tuple[str, ...]
    extents: dict[str, Dim]
    members: dict[str, tuple[Axis, ...]]
    inner: str

    @property
    def axes(self) -> tuple[str, ...]:
        """All names, outermost in memory first."""
        if self.inner in self.reduced or not self.reduced:
            return self.parallel + self.reduced
        return (*self.parallel[:-1], *self.reduced, self.inner)

    @property
    def kind(self) -> str:
        """The kind of kernel with these loops."""
        if not self.reduced:
            return "pointwise"
        if not self.parallel:
            return "full"
        return "row" if self.inner in self.reduced else "column"

    def inside(self, names: Sequence[str]) -> frozenset[Axis]:
        """The axes that these names collapse."""
        return frozenset(axis for name in names for axis in self.members[name])


def access(
    kind: TensorType,
    axes: Sequence[Axis | None],
    made: Mapping[Axis, Sequence[Axis]] | None = None,
    extents: Mapping[Axis, Dim] | None = None,
) -> Access:
    """How a tensor whose dims are these axes (None: of size 1) is reached.

    Args:
        kind: its type.
        axes: one a dim.
        made: of which loops, outermost first, an axis is made that is none.
        extents: the sizes of loops.
    """
    made, extents = made or {}, extents or {}
    parts = [() if a is None else tuple(made.get(a, (a,))) for a in axes]
    shape = [
        tuple(extents[loop] for loop in loops) if axis in made else (size,)
        for axis, loops, size in zip(axes, parts, kind.dims, strict=True)
    ]
    own = list(kind.element_strides())
    if kind.order is not None and any(axis in made for axis in axes):
        running: Dim = 1  # the sizes of loops say more: strides of one form collapse
        for dim in reversed(kind.order):
            own[dim], running = running, mul(running, *shape[dim])
    strides: dict[Axis, Dim] = {}
    sizes: dict[Axis, Dim] = {}
    for loops, stride, dims, moved in zip(parts, own, shape, moving(kind), strict=True):
        for at, loop in enumerate(loops if moved else ()):
            strides[loop], sizes[loop] = mul(stride, *dims[at + 1 :]), dims[at]
    return Access(strides, sizes)


def moving(kind: TensorType) -> tuple[bool, ...]:
    """Whether a step along each dim moves in memory; all do where the layout is dense."""
    if kind.strides is None:
        return (True,) * kind.rank
    return tuple(stride != 0 for stride in kind.strides)


def memory_order(kind: TensorType) -> tuple[int, ...]:
    """The dims of a tensor from the outermost to the innermost in memory."""
    if kind.order is not None:
        return kind.order
    strides = kind.element_strides()

    def compare(a: int, b: int) -> int:
        return _compare(strides[a], strides[b]) or b - a

    return tuple(sorted(range(kind.rank), key=cmp_to_key(compare), reverse=True))


def _compare(a: Dim, b: Dim) -> int:
    """Positive where the stride a is the larger; strides of one tensor divide one another."""
    if a == b:
        return 0
    if isinstance(a, int) and isinstance(b, int):
        return a - b
    if 0 in (a, b):
        return 1 if b == 0 else -1
    if multiple(a, b):
        return 1
    if multiple(b, a):
        return -1
    return len(str(a)) - len(str(b))


def collapse(
    order: Sequence[Axis], accesses: Sequence[Access], alone: frozenset[Axis] = frozenset()
) -> list[tuple[Axis, ...]]:
    """Runs of adjacent axes that every buffer sees as one; those in `alone` stay themselves."""
    runs: list[tuple[Axis, ...]] = []
    for axis in order:
        apart = axis in alone or bool(runs and runs[-1][-1] in alone)
        if runs and not apart and all(_one(runs[-1][-1], axis, a) for a in accesses):
            runs[-1] = (*runs[-1], axis)
        else:
            runs.append((axis,))
    return runs


def _one(outer: Axis, inner: Axis, a: Access) -> bool:
    if outer not in a.strides or inner not in a.strides:
        return outer not in a.strides and inner not in a.strides
    return a.strides[outer] == mul(a.strides[inner], a.sizes[inner])


def nest(
    parallel: Sequence[Axis],
    reduced: Sequence[Axis],
    accesses: Sequence[Access],
    sizes: dict[Axis, Dim],
    alone: frozenset[Axis] = frozenset(),
    *,
    columns: bool = False,
) -> Nest:
    """Collapse and name axes that are already in order.

    Args:
        parallel: outermost first.
        reduced: outermost first.
        accesses: of all buffers.
        sizes: of every axis.
        alone: axes that are loops of their own.
        columns: the last parallel axis is the innermost in memory, not the reduced ones.
    """
    outer, inner = collapse(parallel, accesses, alone), collapse(reduced, accesses, alone)
    if not outer and not inner:
        outer = [()]  # one element
    names = _names(len(outer), len(inner), columns)
    runs = dict(zip(names, [*outer, *inner], strict=True))
    extents = {name: product(sizes[a] for a in run) for name, run in runs.items()}
    along = names[len(outer) - 1] if columns else names[-1]
    return Nest(names[: len(outer)], names[len(outer) :], extents, runs, along)


def _names(parallel: int, reduced: int, columns: bool) -> tuple[str, ...]:
    """n; rows, cols; outer, rows, cols; d0, d1, ...; the innermost in memory is always cols."""
    count = parallel + reduced
    if columns:
        leading = ("outer",) if parallel == 2 else tuple(f"d{i}" for i in range(parallel - 1))
        rows = ("rows",) if reduced == 1 else tuple(f"rows{i}" for i in range(reduced))
        return (*leading, "cols", *rows)
    if count <= 3:
        return (("n",), ("rows", "cols"), ("outer", "rows", "cols"))[count - 1]
    leading = tuple(f"d{i}" for i in range(parallel if reduced else count))
    return leading + (("cols",) if reduced == 1 else tuple(f"cols{i}" for i in range(reduced)))


def place(where: Nest, a: Access) -> tuple[tuple[str, ...], tuple[Dim, ...] | None]:
    """The names of the axes that a buffer varies over, and its strides, None where it is dense."""
    names, strides, sizes = [], [], []
    for name in where.axes:
        run = where.members[name]
        if run and run[-1] in a.strides:
            names.append(name)
            strides.append(a.strides[run[-1]])
            sizes.append(product(a.sizes[axis] for axis in run))
    running: Dim = 1
    dense = True
    for stride, size in zip(reversed(strides), reversed(sizes), strict=True):
        dense = dense and stride == running
        running = mul(running, size)
    return tuple(names), None if dense else tuple(strides)


def own_size(dim: Dim, where: Nest, sizes: Sizes, *, rows: bool) -> Dim | None:
    """A size in terms of a reduced axis, such as `cols - 1`, where it is one.

    Args:
        dim: the size.
        where: the axes.
        sizes: the function's.
        rows: whether there are values of all rows, which know how many there are.
    """
    for name in where.reduced:
        extent = where.extents[name]
        if isinstance(rest := sub(dim, extent), int):
            return add(Sym(name), rest)
        if sizes.equal(dim, extent):
            return Sym(name)
    for name in where.parallel if rows else ():
        if sizes.equal(dim, where.extents[name]):
            return Sym(name)
    if not isinstance(dim, Expr) or dim.op not in ("min", "max"):
        return None
    first, second = (
        a if isinstance(a, int) else own_size(a, where, sizes, rows=rows) for a in dim.args
    )
    if first is None or second is None:
        return None
    return minimum(first, second) if dim.op == "min" else maximum(first, second)
