"""Memory during capture: which tensors share it, and what it holds now (decision D6).

    y = x[:, 0]        y: the memory of x, seen through `select`
    x.mul_(2)          x's memory holds another value; y, when it is read, is `select` of that
    y.zero_()          an update of x's memory through `select`

The SSA function is pure: a write gives the storage another value, and a tensor that is read after
it is derived again. At the end the values of inputs that were written are copied back.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import torch

from astjit.frontend.stops import Stop
from astjit.ir.function import Node
from astjit.ir.value import Literal, Param, Result, Value
from astjit.ops.host import host_text
from astjit.ops.library import Slot
from astjit.ops.spec import FieldKind, FieldValue, Op
from astjit.ops.table import OPS
from astjit.types.bounds import never_negative
from astjit.types.shape import Dim, evaluate, hint
from astjit.types.tensor import TensorType


class Keeper(Protocol):
    """What memory asks of the capture it belongs to."""

    def node(self, op: Op, operands: Iterable[object], fields: Mapping[str, FieldValue]) -> Node:
        """Append a node of a row."""
        ...

    def emit(self, name: str, *operands: object, **fields: FieldValue) -> Result:
        """Append the op called `name`; its first result."""
        ...


@dataclass(eq=False, slots=True)
class Storage:
    """The memory behind one or more tensors.

    Attributes:
        value: what all of it holds now.
        param: the input whose memory it is, None for memory of this call.
        writes: how often it was written.
        last: the number of its last write among all writes of the capture.
    """

    value: Value
    param: Param | None = None
    writes: int = 0
    last: int = 0

    @property
    def kind(self) -> TensorType:
        """Its type, which never changes."""
        assert isinstance(self.value.type, TensorType)
        return self.value.type


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One view: a row of kind VIEW, or a torch function that returns a view of an operand.

    Attributes:
        node: the use of it that was captured first.
        at: which operand it is a view of.
        index: which result it is.
    """

    node: Node
    at: int = 0
    index: int = 0

    def of(self, keeper: Keeper, source: Value) -> Value:
        """The same view of another value of the source's type."""
        operands = list(self.node.operands)
        if operands[self.at] is source:
            return self.node.results[self.index]
        operands[self.at] = source
        return keeper.node(self.node.op, operands, self.node.fields).results[self.index]

    def updated(self, keeper: Keeper, source: Value, new: Value) -> Value:
        """The source, as it is once the view's elements are those of `new`."""
        node = self.node
        if node.op.view is not None:
            return node.op.view.update(keeper, source, new, node.fields)  # type: ignore[arg-type, return-value]
        rest = [v for at, v in enumerate(node.operands) if at != self.at]
        order = [at for at in range(len(node.operands)) if at != self.at]
        slots = {self.at: 0, **{old: at + 1 for at, old in enumerate(order)}}
        picks = node.fields["picks"]
        fields = {
            "target": node.fields["target"],
            "template": _renumbered(node.fields["template"], slots),
            "pick": picks[self.index] if isinstance(picks, tuple) else self._pick(),
        }
        return keeper.node(OPS["view_update"], (source, new, *rest), fields).results[0]

    def sizes(self) -> list[Dim]:
        """The sizes among its fields."""
        found: list[Dim] = []
        for declared in self.node.op.fields:
            value = self.node.fields[declared.name]
            if declared.kind is FieldKind.SIZE and value is not None:
                found.append(value)  # type: ignore[arg-type]  # a Dim
            elif declared.kind is FieldKind.SIZES and isinstance(value, tuple):
                found += value
        return found

    def _pick(self) -> tuple[int, ...]:
        return (self.index,) if len(self.node.results) > 1 else ()

    def on_meta(self, source: torch.Tensor, sizes: Mapping[str, int]) -> torch.Tensor:
        """The view of a meta tensor, for sizes of an example."""

        def number(dim: Dim) -> str:
            return str(evaluate(dim, sizes))

        names = [f"_{at}" for at in range(len(self.node.operands))]
        known: dict[str, object] = {"torch": torch}
        for name, value in zip(names, self.node.operands, strict=True):
            known[name] = value.value if isinstance(value, Literal) else None
        known[names[self.at]] = source
        made = eval(host_text(self.node.op, names, self.node.fields, size=number), known)
        found = made[self.index] if isinstance(made, tuple | list) else made
        assert isinstance(found, torch.Tensor)
        return found


def _renumbered(template: FieldValue, slots: Mapping[int, int]) -> FieldValue:
    match template:
        case Slot(index):
            return Slot(slots[index])
        case tuple() | list():
            return type(template)(_renumbered(part, slots) for part in template)
        case dict():
            return {key: _renumbered(part, slots) for key, part in template.items()}
        case slice():
            ends = (template.start, template.stop, template.step)
            return slice(*(_renumbered(part, slots) for part in ends))
    return template


@dataclass(slots=True, eq=False)
class Place:
    """Where a tensor lies: a storage seen through views.

    Attributes:
        keeper: where reads after a write append nodes.
        storage: the memory.
        steps: the views, from the storage inwards.
    """

    keeper: Keeper
    storage: Storage
    steps: tuple[Step, ...] = ()
    _known: Value | None = field(default=None)
    _writes: int = -1

    def know(self, value: Value) -> "Place":
        """Record the value that the place has now."""
        self._known, self._writes = value, self.storage.writes
        return self

    def value(self) -> Value:
        """What the tensor holds now."""
        if self._known is None or self._writes != self.storage.writes:
            self.know(self.chain(self.storage.value)[-1])
        assert self._known is not None
        return self._known

    def chain(self, source: Value) -> list[Value]:
        """The storage's value and each view inwards, the tensor's own last."""
        values = [source]
        for step in self.steps:
            values.append(step.of(self.keeper, values[-1]))
        return values

    def write(self, new: Value, count: int) -> None:
        """Let the tensor hold `new`, which has its sizes, dtype and layout.

        Args:
            new: an SSA value.
            count: the number of this write among all of the capture.
        """
        before = self.chain(self.storage.value)
        after = new
        for step, source in zip(reversed(self.steps), reversed(before[:-1]), strict=True):
            try:
                whole = step.updated(self.keeper, source, after)
            except ValueError as error:  # expand
                raise Stop(f"a write to a tensor of which {error}") from None
            after = laid_out(self.keeper, whole, source.type)
        if isinstance(after, Result) and not after.name:
            after.name = self.storage.value.name
        self.storage.value = after
        self.storage.writes += 1
        self.storage.last = count
        if not self.steps:
            self.know(new)

    def dims(self, kind: TensorType) -> list[Dim]:
        """Sizes and strides of a tensor here, and those that the way from its storage needs."""
        found = [*kind.dims, *kind.element_strides()]
        if self.steps:
            home = self.storage.kind
            found += [*home.dims, *home.element_strides()]
            found += [dim for step in self.steps for dim in step.sizes()]
        return found

    def meta(self, sizes: Mapping[str, int], base: torch.Tensor) -> torch.Tensor:
        """A meta tensor at this place in `base`, which stands for the storage."""
        for step in self.steps:
            base = step.on_meta(base, sizes)
        return base


def laid_out(keeper: Keeper, value: Value, wanted: object, *, copy: bool = False) -> Value:
    """The value in the layout of a type of the same sizes and dtype, `copy`: as a new one."""
    assert isinstance(wanted, TensorType)
    if value.type == wanted and not copy:
        return value
    if wanted.order is not None:
        return keeper.emit("copy", value, order=wanted.order)
    return keeper.emit("restride", value, strides=wanted.element_strides())


def disjoint(one: Place, other: Place) -> bool:
    """Whether two places in one storage are known not to overlap: other parts of one axis."""
    for a, b in zip(one.steps, other.steps, strict=False):
        if not _alike(a, b):
            return _apart(a, b)
    return False


def same_view(one: Place, other: Place) -> bool:
    """Whether two tensors show the same elements in the same way."""
    if one.storage is not other.storage or len(one.steps) != len(other.steps):
        return False
    return all(_alike(a, b) for a, b in zip(one.steps, other.steps, strict=True))


def _alike(a: Step, b: Step) -> bool:
    if a.node is b.node:
        return a.index == b.index
    same = a.node.op is b.node.op and a.node.fields == b.node.fields and a.index == b.index
    return same and len(a.node.operands) == len(b.node.operands) == 1


def _apart(a: Step, b: Step) -> bool:
    """`x[0]` and `x[1]`, `x[:n]` and `x[n:]`."""
    one, two = _span(a), _span(b)
    if one is None or two is None or one[0] != two[0]:
        return False
    (_, start, stop), (_, begin, end) = one, two
    if all(isinstance(v, int) for v in (start, stop, begin, end)):
        return stop <= begin or end <= start  # type: ignore[operator]
    return stop == begin or end == start


def _span(step: Step) -> tuple[int, Dim, Dim] | None:
    """Axis, first and one after the last index of a slice or select, None for other views."""
    fields = step.node.fields
    source = step.node.operands[0]
    if source is None or not isinstance(source.type, TensorType) or step.node.op.view is None:
        return None
    if "dim" not in fields or not isinstance(fields["dim"], int) or not source.type.rank:
        return None
    axis = fields["dim"] % source.type.rank
    size = source.type.dims[axis]
    if "index" in fields:
        index = _from_start(fields["index"], size)
        if index is not None and not never_negative(index):  # what follows -1 is 0
            return None
        return None if index is None else (axis, index, index + 1)  # type: ignore[operator]
    if "start" not in fields:
        return None
    start = _from_start(0 if fields["start"] is None else fields["start"], size)
    stop = _from_start(size if fields["stop"] is None else fields["stop"], size)
    return None if start is None or stop is None else (axis, start, stop)


def _from_start(bound: object, size: Dim) -> Dim | None:
    if isinstance(bound, int):
        if bound >= 0:
            return bound
        return size + bound if isinstance(size, int) else None
    return bound  # type: ignore[return-value]  # a Dim


def refuse_overlap(kind: TensorType) -> None:
    """Stop for the target of a write of which several elements may be one in memory.

    Raises:
        Stop: for an expanded tensor, where eager raises, and for strides that may overlap.
    """
    if kind.strides is None:
        return
    axes = [a for a in range(kind.rank) if kind.dims[a] != 1]
    if any(kind.strides[a] == 0 for a in axes):
        raise Stop("a write to an expanded tensor, whose elements share memory")
    reach = 0
    for stride, size in sorted((hint(kind.strides[a]), hint(kind.dims[a])) for a in axes):
        if stride <= reach:
            raise Stop("a write to a tensor whose elements may share memory")
        reach += (size - 1) * stride
