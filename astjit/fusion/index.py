"""Over which axes the values of a candidate group vary: one index per independent loop.

    before: %m = amax %x {dim=(1,)} ; %d = sub %x, %m        x: f32[rows, cols], m: f32[rows, 1]
    after:  x at (0, 1), m at (0, -), d at (0, 1); amax combines axis 1

Every dim of every value starts as an axis of its own. Axes that one element of a result ties
together become one (union-find); loops of equal sizes that nothing ties are then identified, so
that a reduction and the work after it share a loop. A group is legal only if one value varies over
every axis, all reductions combine the same axes, but for those that combine what is left: all rows,
into one value, and no value is read at two indices, except where a row says where it reads
(fusion/demand.py).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from astjit.fusion.axes import Axis, moving
from astjit.fusion.demand import FULL, IOTA, PICK, Axes, Demand, Use, picked_axis, walks_of
from astjit.fusion.pieces import (
    MAP,
    Unfit,
    Unit,
    call_of,
    is_one,
    is_view,
    reduced_axes,
    view_source,
)
from astjit.ir.function import Node
from astjit.ir.value import Value, tensor_type
from astjit.ops.spec import Kind, Walk
from astjit.types.shape import Dim, Sizes
from astjit.types.tensor import TensorType


@dataclass(slots=True)
class Space:
    """The axes of a group.

    Attributes:
        axes: of every tensor that the group computes, and of views of these.
        leaves: of every tensor it reads, at each use.
        varies: over which axes each computed tensor really varies (an expanded one does not).
        sizes: the size of each axis.
        whole: all axes of the loop nest.
        reduced: the axes that reductions combine.
        combined: by each reduction, where it combines any.
        finals: values made of all rows.
        deep: a value of an element, if the same for all, is made of a reduction.
        walked: views of computed values that read them at other indices.
        needed: values computed at the kernel's own index.
        reads: for each use of a leaf the sets of axes that stand elsewhere.
        indexed: axes whose index is a value.
    """

    axes: dict[Value, Axes] = field(default_factory=dict)
    leaves: dict[Use, Axes] = field(default_factory=dict)
    varies: dict[Value, frozenset[Axis]] = field(default_factory=dict)
    sizes: dict[Axis, Dim] = field(default_factory=dict)
    whole: frozenset[Axis] = frozenset()
    reduced: frozenset[Axis] = frozenset()
    combined: dict[Node, frozenset[Axis]] = field(default_factory=dict)
    finals: set[Value] = field(default_factory=set)
    deep: bool = False
    walked: dict[Value, tuple[Walk, ...]] = field(default_factory=dict)
    needed: set[Value] = field(default_factory=set)
    reads: dict[Use, list[frozenset[Axis]]] = field(default_factory=dict)
    indexed: frozenset[Axis] = frozenset()


def space_of(units: Iterable[Unit], sizes: Sizes, outputs: Iterable[Value] | None = None) -> Space:
    """The axes of these units computed together.

    Args:
        units: in order.
        sizes: the function's.
        outputs: what is needed outside; None: all results.

    Raises:
        Unfit: if one loop nest does not hold them.
    """
    return _Indexer(tuple(units), sizes, outputs).run()


def aliases(units: Iterable[Unit]) -> dict[Value, Value]:
    """For each result of the units' nodes the value of their pieces that it is."""
    return {
        result: value
        for unit in units
        for result, value in zip(unit.node.results, unit.results, strict=True)
        if result is not value
    }


class _Indexer:
    """Ties the axes of one candidate group."""

    def __init__(
        self, units: tuple[Unit, ...], sizes: Sizes, outputs: Iterable[Value] | None
    ) -> None:
        self.units, self.facts = units, sizes
        results = (r for unit in units for r in unit.node.results)
        self.outputs = tuple(results if outputs is None else outputs)
        self.space = Space()
        self.alias = aliases(units)
        self.parent: list[Axis] = []
        self.size: list[Dim] = []
        self.reductions: dict[Node, tuple[frozenset[Axis], frozenset[Axis]]] = {}
        self.makes: dict[Value, list[Value]] = {}  # the computed values made of each

    def run(self) -> Space:
        for unit in self.units:
            for piece in unit.pieces:
                self.piece(piece)
            for result in unit.node.results:
                self.read_computed(result)
        self.demand()
        if self.align():
            self.demand()
        self.finish()
        return self.space

    def demand(self) -> None:
        """What is computed at the kernel's own index, and what is loaded where."""
        space = self.space
        axes = {value: self.found(own) for value, own in space.axes.items()}
        leaves = {use: self.found(own) for use, own in space.leaves.items()}
        space.axes, space.leaves = axes, leaves
        wanted = Demand(axes, leaves, self.alias, space.walked, self.facts)
        wanted.want(self.outputs)
        space.needed, space.reads = wanted.needed, wanted.reads
        space.indexed = frozenset(wanted.indexed)

    # -- union-find -----------------------------------------------------------------------------
    def fresh(self, kind: TensorType) -> Axes:
        """New axes for the dims of a tensor."""
        made: list[Axis | None] = []
        for dim in kind.dims:
            if is_one(dim, self.facts):
                made.append(None)
                continue
            made.append(len(self.parent))
            self.parent.append(len(self.parent))
            self.size.append(dim)
        return tuple(made)

    def find(self, axis: Axis) -> Axis:
        while self.parent[axis] != axis:
            self.parent[axis] = self.parent[self.parent[axis]]
            axis = self.parent[axis]
        return axis

    def tie(self, a: Axis | None, b: Axis | None) -> None:
        if a is not None and b is not None:
            first, second = sorted((self.find(a), self.find(b)))
            self.parent[second] = first

    def found(self, axes: Iterable[Axis | None]) -> Axes:
        return tuple(None if a is None else self.find(a) for a in axes)

    # -- pieces ---------------------------------------------------------------------------------
    def piece(self, piece: Node) -> None:
        if piece.op is PICK:
            self.pick(piece)
        elif piece.op.kind is Kind.ELEMENTWISE or piece.op in (IOTA, FULL, MAP):
            self.elementwise(piece)
        elif piece.op.kind is Kind.REDUCE:
            self.reduction(piece)

    def elementwise(self, piece: Node) -> None:
        axes = self.fresh(tensor_type(piece.results[0]))
        varies = frozenset(a for a in axes if a is not None and piece.op is IOTA)
        for position, operand in enumerate(piece.operands):
            if operand is None or not isinstance(operand.type, TensorType):
                continue
            read, moves = self.read(piece, position, operand)
            for result in piece.results:
                self.note(result, operand)
            varies |= moves
            for a, b in zip(reversed(read), reversed(axes), strict=False):
                self.tie(a, b)
        for result in piece.results:
            self.space.axes[result], self.space.varies[result] = axes, varies

    def pick(self, piece: Node) -> None:
        """Its source is read at the result's index but for one axis, which stands elsewhere."""
        result = piece.result
        assert isinstance(result.type, TensorType)
        axes, gone = self.fresh(result.type), picked_axis(piece)
        varies: frozenset[Axis] = frozenset()
        for position, operand in enumerate(piece.operands):
            if operand is None:
                continue
            read, moves = self.read(piece, position, operand)
            self.note(result, operand)
            varies |= moves if position else self.without(moves, read[gone])
            for at, (a, b) in enumerate(zip(read, axes, strict=True)):
                if position or at != gone:
                    self.tie(a, b)
        self.space.axes[result], self.space.varies[result] = axes, varies

    def reduction(self, piece: Node) -> None:
        result, operand = piece.result, piece.values[0]
        read, moves = self.read(piece, 0, operand)
        self.note(result, operand)
        gone = set(reduced_axes(piece))
        combined = frozenset(a for i in gone if (a := read[i]) is not None)
        if piece.fields["keepdim"]:
            axes: Axes = tuple(None if i in gone else a for i, a in enumerate(read))
        else:
            axes = tuple(a for i, a in enumerate(read) if i not in gone)
        self.space.axes[result] = axes
        gone_now = set(map(self.find, combined))
        self.space.varies[result] = frozenset(a for a in moves if self.find(a) not in gone_now)
        if combined:
            self.reductions[piece] = moves, combined

    def without(self, moves: frozenset[Axis], axis: Axis | None) -> frozenset[Axis]:
        """Axes but for those that are tied to one."""
        return frozenset(a for a in moves if axis is None or self.find(a) != self.find(axis))

    def note(self, result: Value, operand: Value) -> None:
        """That a result is made of an operand, which may be a view of one."""
        self.makes.setdefault(operand, []).append(result)

    def read(self, piece: Node, position: int, operand: Value) -> tuple[Axes, frozenset[Axis]]:
        """The axes at which an operand is read, and those over which it varies."""
        if (axes := self.read_computed(operand)) is not None:
            return axes, self.space.varies[operand]
        kind = operand.type
        assert isinstance(kind, TensorType)
        axes = self.fresh(kind)
        self.space.leaves[piece, position] = axes
        pairs = zip(axes, moving(kind), strict=True)
        return axes, frozenset(a for a, moves in pairs if a is not None and moves)

    def read_computed(self, value: Value) -> Axes | None:
        """The axes of a value that the group computes, through views of it, else None."""
        space = self.space
        if value in space.axes:
            return space.axes[value]
        if (other := self.alias.get(value)) is not None:
            axes = self.read_computed(other)
        elif is_view(value):
            axes = self.read_view(value)
            other = view_source(value)
        else:
            return None
        if axes is not None:
            space.axes[value] = axes
            space.varies[value] = self.view_varies(value, other)
            self.note(value, other)
        return axes

    def view_varies(self, value: Value, source: Value) -> frozenset[Axis]:
        """The axes over which a view or an alias varies."""
        moves = self.space.varies[source]
        for at, walk in enumerate(self.space.walked.get(value, ())):
            axis = self.space.axes[source][at]
            rest = self.without(moves, axis)
            if rest != moves and not walk.plain:
                own = self.space.axes[value]
                moves = rest | {a for d in walk.axes if (a := own[d]) is not None}
        return moves

    def read_view(self, value: Value) -> Axes | None:
        source = self.read_computed(view_source(value))
        if source is None:
            return None
        node, kind = value.node, value.type  # type: ignore[union-attr]  # a view is a Result
        assert isinstance(node, Node)
        assert isinstance(kind, TensorType)
        assert node.op.view is not None
        chosen = node.op.view.axes(call_of(node, self.facts))
        made = self.fresh(kind)
        if chosen is None:
            self.space.walked[value] = walks = walks_of(value, self.facts)
            plain = {w.axes[0]: at for at, w in enumerate(walks) if w.plain and w.axes}
            chosen = tuple(plain.get(at) for at in range(len(made)))
        return tuple(
            None if new is None else new if old is None else source[old]
            for new, old in zip(made, chosen, strict=True)
        )

    # -- the whole ------------------------------------------------------------------------------
    def everything(self) -> Iterator[Axes]:
        """The axes of what is computed at the kernel's own index, and of what is loaded for it."""
        space = self.space
        yield from (axes for value, axes in space.axes.items() if value in space.needed)
        for use, ways in space.reads.items():
            axes = self.found(space.leaves[use])
            for away in ways:
                yield tuple(None if a in away else a for a in axes)

    def align(self) -> bool:
        """Identify loops of equal sizes, so that every widest value runs over the same ones.

        Returns:
            whether any were two before.
        """
        changed = False
        entries = [self.found(axes) for axes in self.everything()]
        width = max((_width(axes) for axes in entries), default=0)
        widest = [axes for axes in entries if _width(axes) == width]
        for axes in widest[1:]:
            here, first = self.found(axes), self.found(widest[0])
            missing = [a for a in here if a is not None and a not in first]
            spare = [a for a in first if a is not None and a not in here]
            if len(missing) != len(spare):
                raise Unfit("one value is read at two indices")
            for a, b in zip(missing, spare, strict=True):
                if not self.facts.equal(self.size[a], self.size[b]):
                    raise Unfit("their shapes differ")
                self.tie(a, b)
                changed = True
        return changed

    def finish(self) -> None:
        """Name each class by its first axis and check that one loop nest does."""
        space = self.space
        space.axes = {value: self.found(axes) for value, axes in space.axes.items()}
        space.leaves = {use: self.found(axes) for use, axes in space.leaves.items()}
        space.varies = {v: frozenset(map(self.find, moves)) for v, moves in space.varies.items()}
        used = list(self.everything())
        space.whole = frozenset(a for axes in used for a in axes if a is not None)
        space.sizes = {a: self.size[a] for a in space.whole}
        for axes in used:
            real = [a for a in axes if a is not None]
            if len(set(real)) != len(real):
                raise Unfit("one value is read at two indices")
        if max(map(_width, used), default=0) != len(space.whole):
            raise Unfit("no value runs over all of their axes")
        self.combine()

    def combine(self) -> None:
        """Which axes reductions combine: some of them, and with those, or after them, the rest."""
        space, moved = self.space, {}
        for piece, (moves, axes) in self.reductions.items():
            space.combined[piece] = frozenset(map(self.find, axes))
            moved[piece] = frozenset(map(self.find, moves))
        first = {axes for n, axes in space.combined.items() if moved[n] == space.whole}
        inner = first - {space.whole} or first
        if len(inner) > 1:
            raise Unfit("they reduce over different axes")
        space.reduced = next(iter(inner), frozenset())
        rest = space.whole - space.reduced
        whole = [n for n, axes in space.combined.items() if rest and rest <= axes]
        for piece, axes in space.combined.items():
            if axes not in (moved[piece], space.reduced) or moved[piece] not in (space.whole, rest):
                raise Unfit("a reduction's operand does not vary over all axes")
        space.finals = self.made_of(n.result for n in whole)
        for value in space.finals:
            if any(a is not None for a in space.axes[value]):
                raise Unfit("a value of each row is made of all rows")
        later = self.made_of(n.result for n in space.combined)
        space.deep = any(a in space.reduced for v in later for a in space.axes[v])

    def made_of(self, values: Iterable[Value]) -> set[Value]:
        """The values, and all that the group makes of them."""
        found, todo = set[Value](), [*values]
        while todo:
            if (value := todo.pop()) not in found:
                found.add(value)
                todo += self.makes.get(value, ())
        return found


def _width(axes: Axes) -> int:
    return sum(a is not None for a in axes)
