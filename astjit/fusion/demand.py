"""Which values a kernel computes at its own index, and which at others.

    before: %y = cat(%a, %b) ; %z = mul %y, %w        %a = neg %x, computed in the same kernel
    after:  y and z at (i, j), w at (i, j); x at (i, j'), where j' is the index that `pick` reads

A value that is read at another index is computed again there, from its operands at that index,
down to what is loaded: an index map moves through elementwise rows and views. Reductions are read
where they are only.
"""

from collections.abc import Iterable, Mapping, Sequence

from astjit.fusion.axes import Axis
from astjit.fusion.pieces import Unfit, call_of, is_view, view_source
from astjit.ir.function import Node
from astjit.ir.value import Result, Value
from astjit.ops.spec import Kind, Walk
from astjit.ops.table import OPS
from astjit.types.shape import Sizes

Axes = tuple[Axis | None, ...]  # one entry a dim; None where the size is 1
Use = tuple[Node, int]  # a piece and the position of one of its operands
Elsewhere = Mapping[Axis, object]  # axes that stand elsewhere, with what says where
PICK, IOTA, FULL = OPS["pick"], OPS["iota"], OPS["full"]
MOST = 200  # values computed again


def picked_axis(piece: Node) -> int:
    """The axis of its first operand at which a `pick` reads."""
    dim, kind = piece.fields["dim"], piece.values[0].type
    assert isinstance(dim, int)
    return dim % kind.rank  # type: ignore[union-attr]  # a tensor


def walks_of(value: Value, sizes: Sizes) -> tuple[Walk, ...]:
    """For each axis of what a view is a view of, where it stands.

    Raises:
        Unfit: where the view does not say.
    """
    node = value.node  # type: ignore[union-attr]  # a view is a Result
    assert isinstance(node, Node)
    assert node.op.view is not None
    walks = node.op.view.walks and node.op.view.walks(call_of(node, sizes))
    if walks is None or not all(w.cheap for w in walks):
        raise Unfit(f"{node.op.name} of a computed value is more than a choice of axes")
    return walks


def standing(
    own: Axes, source: Axes, walks: Sequence[Walk], here: Elsewhere, *, reshaped: bool
) -> list[tuple[int, Axis, Walk]]:
    """The axes of a view's source that stand elsewhere: their places, themselves, and where.

    Args:
        own: the axes of the view.
        source: those of its source.
        walks: where each of these stands.
        here: which of the view's axes stand elsewhere.
        reshaped: the axes of one are made of those of the other, so that only what these are part
            of stands elsewhere.

    Raises:
        Unfit: if the view does not say where, or not without dividing by a run-time size.
    """
    found = []
    for at, axis in enumerate(source):
        if reshaped and not walks and any(a in here for a in own):
            raise Unfit("a reshaped value is read at an index that is computed")
        walk = walks[at] if walks else Walk(())
        whole = walk.plain and (not reshaped or all(own[d] == axis for d in walk.axes))
        if axis is None or whole or (reshaped and not any(own[d] in here for d in walk.axes)):
            continue
        if not walk.cheap:
            raise Unfit("a reshaped value is read at an index that is computed")
        found.append((at, axis, walk))
    return found


class Demand:
    """Follows what is wanted of a group to what it loads.

    Args:
        axes: of every value that the group computes.
        leaves: axes of what it loads, at each use.
        alias: for results of composites the value of their pieces that they are.
        walked: views of computed values that are more than a choice of axes.
        reshaped: those that are so only where they are read elsewhere.

    Attributes:
        needed: values computed at the kernel's own index.
        reads: for each use of what is loaded the sets of axes that stand elsewhere.
        indexed: axes whose index is a value.
    """

    def __init__(
        self,
        axes: Mapping[Value, Axes],
        leaves: Mapping[Use, Axes],
        alias: Mapping[Value, Value],
        walked: Mapping[Value, tuple[Walk, ...]],
        reshaped: Mapping[Value, tuple[Walk, ...]],
    ) -> None:
        self.axes, self.leaves, self.alias = axes, leaves, alias
        self.walked, self.reshaped = walked, reshaped
        self.needed: set[Value] = set()
        self.reads: dict[Use, list[frozenset[Axis]]] = {}
        self.indexed: set[Axis] = set()
        self._seen: set[tuple[Value, frozenset[tuple[Axis, object]]]] = set()

    def want(self, values: Iterable[Value]) -> None:
        """Follow values that are wanted at the kernel's own index.

        Raises:
            Unfit: if a reduction is read elsewhere, or too much is computed again.
        """
        for value in values:
            self._value(value, {})

    def _value(self, value: Value, elsewhere: Elsewhere) -> None:
        here = {a: elsewhere[a] for a in self.axes[value] if a is not None and a in elsewhere}
        key = value, frozenset(here.items())
        if key in self._seen:
            return
        self._seen.add(key)
        if not here:
            self.needed.add(value)
        elif len(self._seen) - len(self.needed) > MOST:
            raise Unfit("too much would be computed again at other indices")
        if value in self.alias:
            self._value(self.alias[value], here)
        elif value in self.walked:
            self._walk(value, self.walked[value], here)
        elif value in self.reshaped:
            self._walk(value, self.reshaped[value], here)
        elif is_view(value):
            self._value(view_source(value), here)
        else:
            assert isinstance(value, Result)
            assert isinstance(value.node, Node)
            self._piece(value.node, here)

    def _walk(self, value: Value, walks: Sequence[Walk], here: Elsewhere) -> None:
        source, own = view_source(value), self.axes[value]
        there = dict(here)
        reshaped = value in self.reshaped
        for at, axis, walk in standing(own, self.axes[source], walks, here, reshaped=reshaped):
            mine = (a for d in walk.axes if (a := own[d]) is not None)
            self.indexed.update(a for a in mine if a not in here)
            there[axis] = (value, at, frozenset(here.items()))
        self._value(source, there)

    def _piece(self, piece: Node, here: Elsewhere) -> None:
        if piece.op is IOTA:
            own = (a for a in self.axes[piece.result] if a is not None)
            self.indexed.update(a for a in own if a not in here)
        elif piece.op is PICK:
            source = self._axes_of(piece, 0)
            there = dict(here)
            axis = source[picked_axis(piece)]
            if axis is not None:
                there[axis] = (piece, frozenset(here.items()))
            self._operand(piece, 0, there)
            for at in range(1, len(piece.operands)):
                self._operand(piece, at, here)
        elif piece.op.kind is Kind.REDUCE:
            if here:
                raise Unfit(f"{piece.op.name} is read at an index that is computed")
            self._operand(piece, 0, here)
        else:
            for at in range(len(piece.operands)):
                self._operand(piece, at, here)

    def _axes_of(self, piece: Node, at: int) -> Axes:
        operand = piece.operands[at]
        assert operand is not None
        leaf = self.leaves.get((piece, at))
        return self.axes[operand] if leaf is None else leaf

    def _operand(self, piece: Node, at: int, elsewhere: Elsewhere) -> None:
        operand = piece.operands[at]
        if (piece, at) in self.leaves:
            axes = self.leaves[piece, at]
            away = frozenset(a for a in axes if a is not None and a in elsewhere)
            ways = self.reads.setdefault((piece, at), [])
            if away not in ways:
                ways.append(away)
        elif operand is not None and operand in self.axes:
            self._value(operand, elsewhere)
