"""Classes of axes: which axes of values are one loop, and which are several loops walked as one.

    before: %h = mul %x, 2 ; %v = view %h {shape=[b, s, 4, d // 4]}          x: f32[b, s, d]
    after:  x and h at (b, s, (p, q)), v at (b, s, p, q): the axis of size d is made of p and q

A reshape keeps the elements and their order, so its axes and those of its source are one index,
written to two lists of radices. The loops run over the common refinement of both lists: an axis of
one that covers several of the other is *made of* these. Sizes must divide by their form or by a
fact of the function, for whatever sizes a program is run with.
"""

from collections.abc import Iterable, Iterator, Sequence

from astjit.fusion.axes import Axis
from astjit.fusion.demand import Axes
from astjit.fusion.pieces import Unfit, is_one
from astjit.types.shape import Dim, Sizes, mod, mul, product, quotient
from astjit.types.tensor import TensorType

APART = "view of a computed value is more than a choice of axes"


class Classes:
    """Disjoint sets of axes, some of them made of others.

    Args:
        facts: the function's sizes.

    Attributes:
        size: of each axis.
    """

    def __init__(self, facts: Sizes) -> None:
        self.facts = facts
        self.size: list[Dim] = []
        self._parent: list[Axis] = []
        self._parts: dict[Axis, tuple[Axis, ...]] = {}  # of the first axis of a class

    def fresh(self, kind: TensorType) -> Axes:
        """New axes for the dims of a tensor."""
        return tuple(None if is_one(d, self.facts) else self._new(d) for d in kind.dims)

    def _new(self, size: Dim) -> Axis:
        self._parent.append(len(self._parent))
        self.size.append(size)
        return len(self.size) - 1

    def find(self, axis: Axis) -> Axis:
        """The axis that stands for its class."""
        while self._parent[axis] != axis:
            self._parent[axis] = self._parent[self._parent[axis]]
            axis = self._parent[axis]
        return axis

    def found(self, axes: Iterable[Axis | None]) -> Axes:
        """Each axis by the one that stands for its class."""
        parent, find = self._parent, self.find
        return tuple([a if a is None or parent[a] == a else find(a) for a in axes])

    def tie(self, a: Axis | None, b: Axis | None) -> None:
        """Make two axes one.

        Raises:
            Unfit: if they are made of axes that do not fit.
        """
        if a is None or b is None:
            return
        first, second = self.find(a), self.find(b)
        if first == second:
            return
        if first > second:
            first, second = second, first
        one, other = self._parts.get(first), self._parts.pop(second, None)
        self._parent[second] = first
        if other is not None:
            self._parts[first] = other
            if one is not None:
                self.same(one, other)

    # -- what axes are made of ------------------------------------------------------------------
    def loops(self, axes: Iterable[Axis | None]) -> tuple[Axis, ...]:
        """The axes, in order, with what they are made of in their place."""
        if not self._parts:  # the usual case
            parent, find = self._parent, self.find
            return tuple([a if parent[a] == a else find(a) for a in axes if a is not None])
        return tuple(a for axis in axes if axis is not None for a in self._finest(axis, 0))

    def _finest(self, axis: Axis, depth: int) -> Iterator[Axis]:
        if depth > len(self._parts):
            raise Unfit("an axis is made of itself")
        axis = self.find(axis)
        if axis not in self._parts:
            yield axis
            return
        for part in self._parts[axis]:
            yield from self._finest(part, depth + 1)

    def made(self) -> dict[Axis, tuple[Axis, ...]]:
        """What each axis that is no loop is made of."""
        return {self.find(axis): self.loops([axis]) for axis in self._parts}

    def same(self, one: Sequence[Axis], other: Sequence[Axis]) -> None:
        """Make two lists of axes one index, outermost first.

        Raises:
            Unfit: if the sizes of one list are not known to divide those of the other.
        """
        left, right = [*self.loops(one)], [*self.loops(other)]
        while left and right:
            if len(left) == 1 and self._make(left[0], right):
                return
            if len(right) == 1 and self._make(right[0], left):
                return
            a, b = left[0], right[0]
            end = next((e for e in (0, -1) if self._alike(left[e], right[e])), None)
            if end is not None:
                self.tie(left.pop(end), right.pop(end))
            elif (rest := self._rest(a, b)) is not None:
                del right[0]
                left[0] = rest
            elif (rest := self._rest(b, a)) is not None:
                del left[0]
                right[0] = rest
            else:
                raise Unfit(APART)
            left, right = [*self.loops(left)], [*self.loops(right)]
        if left or right:
            raise Unfit(APART)

    def _make(self, axis: Axis, parts: Sequence[Axis]) -> bool:
        """Make an axis of these, if its size is known to be their product."""
        if not self._equal(self.size[axis], product(self.size[p] for p in parts)):
            return False
        if len(parts) == 1:
            self.tie(axis, parts[0])
        elif axis in parts:
            raise Unfit(APART)
        else:
            self._parts[axis] = tuple(parts)
        return True

    def _rest(self, axis: Axis, outer: Axis) -> Axis | None:
        """The new inner part of an axis whose outer part is given; None if that does not divide."""
        whole, part = self.size[axis], self.size[outer]
        inner = None if part == 0 else quotient(whole, part)
        if inner is None or not self._times(whole, part, inner):
            return None
        made = self._new(inner)
        self._parts[axis] = (outer, made)
        return made

    def _times(self, whole: Dim, part: Dim, inner: Dim) -> bool:
        """Whether a size is the product of two: of a size that may be 0 by its form only."""
        if mul(part, inner) == whole or not isinstance(part, int):
            return mul(part, inner) == whole
        return self.facts.equal(mul(part, inner), whole) or self.facts.equal(mod(whole, part), 0)

    def _alike(self, a: Axis, b: Axis) -> bool:
        return self._equal(self.size[a], self.size[b])

    def _equal(self, a: Dim, b: Dim) -> bool:
        return a == b or self.facts.equal(a, b)
