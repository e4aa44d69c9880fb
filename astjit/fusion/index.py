"""Over which axes the values of a candidate group vary: one index per independent loop.

    before: %m = amax %x {dim=(1,)} ; %d = sub %x, %m        x: f32[rows, cols], m: f32[rows, 1]
    after:  x at (0, 1), m at (0, -), d at (0, 1); amax combines axis 1

Every dim of every value starts as an axis of its own. Axes that one element of a result ties
together become one (fusion/classes.py), and reshapes make some of others; loops of equal sizes that
nothing ties are then identified, so that a reduction and the work after it share a loop. A group is
legal only if one value varies over every axis, all reductions combine the same axes, but for those
that combine what is left: all rows, into one value, and no value is read at two indices, except
where a row says where it reads (fusion/demand.py).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from astjit.fusion.axes import Axis, moving
from astjit.fusion.classes import Classes
from astjit.fusion.demand import FULL, IOTA, PICK, Axes, Demand, Use, picked_axis, walks_of
from astjit.fusion.pieces import (
    IF,
    MAP,
    Unfit,
    Unit,
    call_of,
    is_view,
    reduced_axes,
    view_source,
)
from astjit.ir.function import Node
from astjit.ir.value import Value, tensor_type
from astjit.ops.spec import Kind, Walk
from astjit.types.shape import Dim, Sizes, product
from astjit.types.tensor import TensorType


@dataclass(slots=True)
class Space:
    """The axes of a group.

    Attributes:
        axes: of every tensor that the group computes, and of views of these.
        made: what each axis that is no loop is made of, outermost first.
        leaves: of every tensor it reads, at each use.
        varies: over which axes each computed tensor really varies (an expanded one does not).
        sizes: the size of each axis.
        whole: all axes of the loop nest.
        reduced: the axes that reductions combine.
        combined: by each reduction, where it combines any.
        finals: values made of all rows.
        deep: a value of an element, if the same for all, is made of a reduction.
        walked: views of computed values that read them at other indices.
        reshaped: views of computed values whose axes are made of theirs, or theirs of these: only
            where they are read elsewhere they read at other indices.
        needed: values computed at the kernel's own index.
        reads: for each use of a leaf the sets of axes that stand elsewhere.
        indexed: axes whose index is a value.
    """

    axes: dict[Value, Axes] = field(default_factory=dict)
    made: dict[Axis, tuple[Axis, ...]] = field(default_factory=dict)
    leaves: dict[Use, Axes] = field(default_factory=dict)
    varies: dict[Value, frozenset[Axis]] = field(default_factory=dict)
    sizes: dict[Axis, Dim] = field(default_factory=dict)
    whole: frozenset[Axis] = frozenset()
    reduced: frozenset[Axis] = frozenset()
    combined: dict[Node, frozenset[Axis]] = field(default_factory=dict)
    finals: set[Value] = field(default_factory=set)
    deep: bool = False
    walked: dict[Value, tuple[Walk, ...]] = field(default_factory=dict)
    reshaped: dict[Value, tuple[Walk, ...]] = field(default_factory=dict)
    needed: set[Value] = field(default_factory=set)
    reads: dict[Use, list[frozenset[Axis]]] = field(default_factory=dict)
    indexed: frozenset[Axis] = frozenset()

    def loops(self, axes: Iterable[Axis | None]) -> tuple[Axis, ...]:
        """The loops that axes are, in order."""
        return tuple(a for axis in axes if axis is not None for a in self.made.get(axis, (axis,)))


def space_of(units: Iterable[Unit], sizes: Sizes, outputs: Iterable[Value] | None = None) -> Space:
    """The axes of these units computed together.

    Args:
        units: in order.
        sizes: the function's.
        outputs: what is needed outside; None: all results.

    Raises:
        Unfit: if one loop nest does not hold them.
    """
    indexer = _Indexer(tuple(units), sizes, outputs)
    try:
        return indexer.run()
    except Unfit:
        if not indexer.space.reshaped:
            raise
    return _Indexer(tuple(units), sizes, outputs, refines=False).run()


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
        self,
        units: tuple[Unit, ...],
        sizes: Sizes,
        outputs: Iterable[Value] | None,
        *,
        refines: bool = True,
    ) -> None:
        self.units, self.facts, self.refines = units, sizes, refines
        results = (r for unit in units for r in unit.node.results)
        self.outputs = tuple(results if outputs is None else outputs)
        self.space = Space()
        self.alias = aliases(units)
        classes = self.classes = Classes(sizes)
        self.fresh, self.tie, self.found = classes.fresh, classes.tie, classes.found
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
        wanted = Demand(axes, leaves, self.alias, space.walked, space.reshaped)
        wanted.want(self.outputs)
        space.needed, space.reads = wanted.needed, wanted.reads
        space.indexed = self.loops(wanted.indexed)

    def loops(self, axes: Iterable[Axis | None]) -> frozenset[Axis]:
        """The loops that axes are, as far as they are known now."""
        return frozenset(self.classes.loops(axes))

    # -- pieces ---------------------------------------------------------------------------------
    def piece(self, piece: Node) -> None:
        if piece.op is PICK:
            self.pick(piece)
        elif piece.op.kind is Kind.ELEMENTWISE or piece.op in (IOTA, FULL, MAP, IF):
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
        self.space.varies[result] = self.loops(moves) - self.loops(combined)
        if combined:
            self.reductions[piece] = moves, combined

    def without(self, moves: frozenset[Axis], axis: Axis | None) -> frozenset[Axis]:
        """Axes but for those that are tied to one."""
        return self.loops(moves) - self.loops([axis])

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
            if not walk.plain and rest != self.loops(moves):
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
        if chosen is None and self.refines and node.op.view.whole:
            assert node.op.view.walks is not None
            self.space.reshaped[value] = node.op.view.walks(call_of(node, self.facts)) or ()
            self.classes.same(*([a for a in axes if a is not None] for axes in (source, made)))
            return made
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

    def widths(self) -> list[tuple[Axis, ...]]:
        """The loops of everything."""
        return [self.classes.loops(axes) for axes in self.everything()]

    def align(self) -> bool:
        """Identify loops of equal sizes, so that every widest value runs over the same ones.

        Returns:
            whether any were two before.
        """
        changed = False
        entries = sorted(self.widths(), key=len, reverse=True)
        size = self.classes.size
        for axes in entries[1:]:
            here, first = self.classes.loops(axes), self.classes.loops(entries[0])
            missing = [a for a in here if a not in first]
            spare = [a for a in first if a not in here]
            if len(here) < len(first):  # the same elements as fewer loops
                counts = (product(size[a] for a in loops) for loops in (missing, spare))
                if missing and self.space.reshaped and self.facts.equal(*counts):
                    self.classes.same(missing, spare)
                    changed = True
                continue
            if len(missing) != len(spare):
                raise Unfit("one value is read at two indices")
            for a, b in zip(missing, spare, strict=True):
                if not self.facts.equal(size[a], size[b]):
                    raise Unfit("their shapes differ")
                self.tie(a, b)
                changed = True
        return changed

    def finish(self) -> None:
        """Name each class by its first axis and check that one loop nest does."""
        space = self.space
        space.axes = {value: self.found(axes) for value, axes in space.axes.items()}
        space.leaves = {use: self.found(axes) for use, axes in space.leaves.items()}
        space.varies = {v: self.loops(moves) for v, moves in space.varies.items()}
        space.made = self.classes.made()
        used = self.widths()
        space.whole = frozenset(a for axes in used for a in axes)
        space.sizes = {a: self.classes.size[a] for a in space.whole}
        if any(len(set(axes)) != len(axes) for axes in used):
            raise Unfit("one value is read at two indices")
        if max(map(len, used), default=0) != len(space.whole):
            raise Unfit("no value runs over all of their axes")
        self.combine()

    def combine(self) -> None:
        """Which axes reductions combine: some of them, and with those, or after them, the rest."""
        space, moved = self.space, {}
        for piece, (moves, axes) in self.reductions.items():
            space.combined[piece], moved[piece] = self.loops(axes), self.loops(moves)
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
        space.deep = any(space.reduced & self.loops(space.axes[v]) for v in later)

    def made_of(self, values: Iterable[Value]) -> set[Value]:
        """The values, and all that the group makes of them."""
        found, todo = set[Value](), [*values]
        while todo:
            if (value := todo.pop()) not in found:
                found.add(value)
                todo += self.makes.get(value, ())
        return found
