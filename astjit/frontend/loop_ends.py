"""The end of a loop's body that was captured once: what is carried, stacked, written, and why not.

    h = h * d + x[t]      h is another tensor: carried, and another one after the loop
    h += x[t]             h is what it was: carried, and written after the loop
    a, b = b, a + b       both carried
    out[t] = h            stacked, and written to out[0:n] after the loop
    ys.append(h)          stacked; `ys` is what torch.stack may be given, and nothing else

Everything else is refused: a tensor that shares memory with another one, or whose type is another
one after an iteration; a number that changes; a read of what other iterations write.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from astjit.frontend.carriers import Number, carrier
from astjit.frontend.counted import Plan
from astjit.frontend.gathered import Gathered, held_besides
from astjit.frontend.loop_sizes import Unlooped, parts
from astjit.frontend.memory import Place
from astjit.frontend.session import Session
from astjit.frontend.symbolic import SymbolicTensor
from astjit.fusion.looping import fits
from astjit.fusion.pieces import Unfit, root_of
from astjit.ir.function import Block, Node
from astjit.ir.value import Param, Result, Value
from astjit.ir.walk import inputs, may_raise
from astjit.location import Location
from astjit.ops.spec import FieldKind
from astjit.ops.table import OPS
from astjit.types.shape import Dim, add, hint, mul, sub
from astjit.types.tensor import PY_INT, TensorType

_SELECT, _SELECT_AT, _SIZE, _FOR = OPS["select"], OPS["select_at"], OPS["size"], OPS["for"]
_PLAIN = (int, float, bool, str, bytes, type(None), torch.dtype, torch.device)
_ABSENT = object()
_CHAIN = 3  # variables that hand a tensor on, one an iteration


@dataclass(eq=False, slots=True)
class Entry:
    """A loop as its body begins.

    Attributes:
        name: the symbol of the number of the iteration.
        start: the loop's variable in the first one.
        step: what it grows by.
        trip: how many there are.
        outer: the block that the loop is in.
        block: what the body becomes.
        location: of the `for`.
        before: the local variables.
        params: for the tensors among them what the body is given.
        firsts: what these hold as it begins.
    """

    name: str
    start: Dim
    step: int
    trip: Dim
    outer: Block
    block: Block
    location: Location | None
    before: dict[str, Any] = field(default_factory=dict)
    params: dict[str, SymbolicTensor] = field(default_factory=dict)
    firsts: dict[str, Param] = field(default_factory=dict)


class Ends:
    """Closes one loop.

    Args:
        session: the capture.
        plan: what the body does to names.
        entry: the loop as its body began.
        after: the local variables now.
    """

    def __init__(
        self, session: Session, plan: Plan, entry: Entry, after: Mapping[str, Any]
    ) -> None:
        self.session, self.capture, self.entry, self.after = session, session.capture, entry, after
        self.carried, self.assigned, self.live, self.lists, self.target = map(set, plan)
        assert self.capture.trace is not None
        self.trace = self.capture.trace
        self.in_place: set[str] = set()
        self.invariant: set[str] = set()
        self.handed: dict[str, str] = {}
        self.values: dict[str, Value] = {}  # what each carried variable holds at the end
        self.stacked: list[Value] = []
        self.backward: list[int] = []
        self.lowest: list[Dim] = []  # of each write the first index in memory

    def check(self) -> None:
        """What the body does to variables, tensors and lists.

        Raises:
            Unlooped: if that cannot be said of all iterations at once.
        """
        for name in sorted(self.assigned):
            self._variable(name)
        for name in self.handed:
            self._chain(name)
        homes = {n: self.entry.before[n].place.storage for n in self.entry.params}
        for name in self.in_place:
            if sum(home is homes[name] for home in homes.values()) > 1:
                raise Unlooped(f"{name} shares memory with another variable, and is written")
        for tensor, value in self.trace.writes:
            self._write(tensor, value)
        for owner, item in self.trace.appends:
            self._append(owner, item)
        written = [tensor.place.storage for tensor, _ in self.trace.writes]
        written += [homes[name] for name in self.in_place]
        if len(set(written)) < len(written):
            raise Unlooped("a tensor is written twice")

    # -- variables ------------------------------------------------------------------------------
    def _variable(self, name: str) -> None:
        before, now = self.entry.before.get(name, _ABSENT), self.after.get(name, _ABSENT)
        param = self.entry.params.get(name)
        if param is None:
            if name in self.carried | self.live and not same(before, now):
                raise Unlooped(f"{name} is another value after an iteration", again=True)
            return
        storage = param.place.storage
        if now is param:
            (self.in_place if storage.writes else self.invariant).add(name)
        elif storage.writes:
            raise Unlooped(f"{name} is written, and then another tensor")
        elif not isinstance(now, SymbolicTensor):
            raise Unlooped(f"{name} is no tensor any more")
        elif (other := next((n for n, p in self.entry.params.items() if p is now), "")) != "":
            self.handed[name] = other
        elif not self._own(now):
            raise Unlooped(f"{name} is a tensor in the memory of another", again=True)
        self.values[name] = now.value

    def _own(self, tensor: SymbolicTensor) -> bool:
        """Whether a tensor was made by this iteration, and shares memory with no other."""
        mine = tensor.place.storage in self.trace.own
        given = any(p.place.storage is tensor.place.storage for p in self.entry.params.values())
        return mine and not given and not tensor.place.steps and not tensor.alias

    def _chain(self, name: str) -> None:
        """A variable gets the tensor of another one, which must be another each time."""
        for _ in range(_CHAIN):
            name = self.handed[name]
            if name not in self.handed:
                if name in self.invariant | self.in_place:
                    raise Unlooped(f"{name} has several names")
                return
        raise Unlooped("variables hand their tensors on in a ring")

    # -- what is stacked ------------------------------------------------------------------------
    def _write(self, tensor: SymbolicTensor, value: Value) -> None:
        """`out[t] = value`."""
        steps, kind = tensor.place.steps, value.type
        if not steps or steps[-1].node.op is not _SELECT:
            raise Unlooped("a write to a tensor that is no item of it")
        varies = self.capture.sizes.varies
        if any(varies(*step.sizes()) or len(step.node.operands) > 1 for step in steps[:-1]):
            raise Unlooped("a write at an index inside another one")
        first, by = parts(self._index(steps[-1].node), self.entry.name)
        assert isinstance(kind, TensorType)
        if by not in (1, -1) or not self._one_size(kind, tensor.kind):
            raise Unlooped("a write at every other index, or of another size")
        if by == -1:
            self.backward.append(len(self.stacked))
            first = sub(first, sub(self.entry.trip, 1))
        self.lowest.append(first)
        if kind.dtype != tensor.kind.dtype:
            value = self.capture.emit("to", value, dtype=tensor.kind.dtype)
        self.stacked.append(value)

    def _append(self, owner: object, value: object) -> None:
        """`ys.append(value)`."""
        names = [n for n in self.lists if self.entry.before.get(n) is owner]
        if len(names) != 1 or held_besides(self.entry.before, owner, names[0]):
            raise Unlooped("a list changes that has several names")
        if sum(other is owner for other, _ in self.trace.appends) > 1:
            raise Unlooped(f"{names[0]} gets several items")
        if not isinstance(value, SymbolicTensor):
            raise Unlooped(f"{names[0]} gets what is no tensor")
        given = [n for n, p in self.entry.params.items() if p is value]
        if not self._own(value) and not (given and given[0] not in self.in_place | self.invariant):
            raise Unlooped(f"{names[0]} gets a tensor in the memory of another")
        self.stacked.append(value.value)

    def _index(self, node: Node) -> Dim:
        """The index of a select, counted from 0."""
        index: Any = node.fields["index"]
        source = node.operands[0]
        assert source is not None
        assert isinstance(source.type, TensorType)
        size = source.type.dims[node.fields["dim"]]  # type: ignore[call-overload]  # an int
        return add(index, size) if self.capture.sizes.holds("<", index, 0) else index

    # -- the node -------------------------------------------------------------------------------
    def close(self) -> dict[str, object]:
        """Emit the loop; the variables after it.

        Raises:
            Unlooped: if no kernel runs it.
        """
        capture, entry, block = self.capture, self.entry, self.entry.block
        capture.builder.block, capture.trace = entry.outer, None
        inits = {n: entry.before[n].value for n in entry.params}
        same: dict[Value, Value] = {entry.firsts[n]: inits[n] for n in self.invariant}
        block.replace(same)
        names = [n for n in self.values if n not in self.invariant]
        ends = [self.values[n] for n in names]
        block.results = [same.get(v, v) for v in (*ends, *self.stacked)]
        self._keep_needed()
        self._read_nothing_written()
        for name in names:
            if not self._one_type(inits[name], self.values[name]):
                raise Unlooped(f"{name} has another type after an iteration", again=True)
        given = [entry.firsts[n] for n in names]
        self._hoist(given)
        index = Param(PY_INT, entry.name, location=entry.location)
        block.params[:] = [index, *given]
        fields = {"trip": entry.trip, "index": entry.name, "backward": tuple(self.backward)}
        capture.builder.location = entry.location
        made = capture.builder.node(_FOR, tuple(inits[n] for n in names), fields, (block,))
        try:
            fits(made, capture.sizes)
        except Unfit as reason:
            raise Unlooped(str(reason)) from None
        capture.sizes.trips[entry.name] = None
        return self._bound(names, made.results)

    def _one_type(self, one: Value, other: Value) -> bool:
        a, b = one.type, other.type
        if not (isinstance(a, TensorType) and isinstance(b, TensorType)):
            return False
        if a.dtype is not b.dtype or a.order is None or a.order != b.order:
            return a == b
        return a.device == b.device and self._one_size(a, b)

    def _one_size(self, a: TensorType, b: TensorType) -> bool:
        equal = self.capture.sizes.equal
        return a.rank == b.rank and all(map(equal, a.dims, b.dims))

    def _keep_needed(self) -> None:
        """Leave out what nothing is made of."""
        block, needed = self.entry.block, set(self.entry.block.results)
        kept = []
        for node in reversed(block.nodes):
            if any(r in needed for r in node.results):
                kept.append(node)
                needed.update(inputs(node))
            elif may_raise(node):
                raise Unlooped(f"{node.op.name}, which nothing needs, may refuse its operands")
        block.nodes = kept[::-1]
        self.needed = needed

    def _read_nothing_written(self) -> None:
        """Refuse a body that reads what iterations before it wrote."""
        homes = [tensor.place.storage for tensor, _ in self.trace.writes]
        homes += [self.entry.before[n].place.storage for n in self.in_place]
        held = {home.value for home in homes}
        for node in self.entry.block.nodes:
            if any(root_of(v) in held for v in inputs(node)):
                raise Unlooped("an iteration reads what another one writes")
        if any(root_of(v) in held for v in self.entry.block.results):
            raise Unlooped("an iteration reads what another one writes")

    def _hoist(self, given: list[Param]) -> None:
        """Move what is the same in all iterations in front of the loop."""
        entry, capture = self.entry, self.capture
        capture.function.body.params += [p for p in entry.block.params if p not in given]
        inner, kept = set[Value](given), []
        for node in entry.block.nodes:
            if any(capture.sizes.varies(*_type_dims(r)) for r in node.results):
                raise Unlooped("a size depends on the number of the iteration")
            varies = capture.sizes.varies(*_field_dims(node))
            if varies:
                self._at_index(node)
            if not varies and not any(v in inner for v in inputs(node)):
                entry.outer.nodes.append(node)
                continue
            inner.update(node.results)
            kept.append(node)
        entry.block.nodes = kept

    def _at_index(self, node: Node) -> None:
        """A node that names the number of the iteration."""
        if node.op is _SELECT:
            index = self._index(node)
            parts(index, self.entry.name)
            node.op, node.fields = _SELECT_AT, {"dim": node.fields["dim"], "index": index}
        elif node.op is not _SIZE:
            raise Unlooped(f"{node.op.name} depends on the number of the iteration")

    # -- after the loop -------------------------------------------------------------------------
    def _bound(self, names: list[str], results: tuple[Result, ...]) -> dict[str, object]:
        """The variables after the loop; memory is written."""
        capture, entry = self.capture, self.entry
        ends: dict[str, object] = {n: entry.before[n] for n in self.invariant}
        known: dict[int, SymbolicTensor] = {}
        homes = tuple(entry.before[n].place.storage for n in entry.params)
        for name, result in zip(names, results, strict=False):
            now, result.name = self.after[name], name
            if name in self.in_place:
                capture.write(entry.before[name], result)
                ends[name] = entry.before[name]
                continue
            if id(now) not in known:
                known[id(now)] = made = capture.fresh_tensor(result)
                capture.either.carry(made.place.storage, now.place.storage, homes)
            ends[name] = known[id(now)]
        last = [*known.values(), *(t for t in entry.before.values() if _is_tensor(t))]
        stacks = list(results[len(names) :])
        writes = zip(self.trace.writes, self.lowest, stacks, strict=False)
        for (tensor, _), lowest, value in writes:
            self._written(tensor, lowest, value)
        for (owner, _), value in zip(
            self.trace.appends, stacks[len(self.trace.writes) :], strict=True
        ):
            (name,) = [n for n in self.lists if entry.before.get(n) is owner]
            value.name = name
            assert isinstance(owner, list)
            ends[name] = Gathered(tuple(owner), value, tuple((t, t.value) for t in last))
        (target,) = self.target
        dim = add(entry.start, mul(sub(entry.trip, 1), entry.step))
        number = Number(hint(dim), capture.dim_text(dim), dim)
        return {**ends, target: carrier(capture, number)}

    def _written(self, tensor: SymbolicTensor, lowest: Dim, value: Result) -> None:
        """Write what iterations wrote one after the other, at once."""
        capture, entry, place = self.capture, self.entry, tensor.place
        step = place.steps[-1].node
        source = step.operands[0]
        assert source is not None
        assert isinstance(source.type, TensorType)
        axis: Any = step.fields["dim"]
        axis %= source.type.rank
        outer = Place(capture, place.storage, place.steps[:-1])
        whole: torch.Tensor = capture.tensor_at(outer, source.type)
        if not capture.sizes.equal(source.type.dims[axis], entry.trip):
            bounds = (Number(hint(d), capture.dim_text(d), d) for d in (lowest, entry.trip))
            start, length = (carrier(capture, n) for n in bounds)
            whole = torch.narrow(whole, axis, start, length)  # type: ignore[arg-type]
        if not value.name and tensor.place.storage.value.name:
            value.name = tensor.place.storage.value.name
        rank = source.type.rank
        order = (*range(1, axis + 1), 0, *range(axis + 1, rank))
        made = capture.emit("permute", value, dims=order) if axis else value
        assert isinstance(whole, SymbolicTensor)
        capture.write(whole, made)


def same(before: object, now: object) -> bool:
    """Whether two values are one object, or one plain value."""
    if now is before:
        return now is not _ABSENT
    plain = type(before) in _PLAIN and type(before) is type(now)
    return plain and before == now and repr(before) == repr(now)


def _is_tensor(value: object) -> bool:
    return isinstance(value, SymbolicTensor)


def _type_dims(value: Value) -> tuple[Dim, ...]:
    kind = value.type
    return (*kind.dims, *(kind.strides or ())) if isinstance(kind, TensorType) else ()


def _field_dims(node: Node) -> list[Dim]:
    found: list[Dim] = []
    for inner in (node, *(n for region in node.regions for n in region.walk())):
        for declared in inner.op.fields:
            value: Any = inner.fields[declared.name]
            if declared.kind is FieldKind.SIZE and value is not None:
                found.append(value)
            elif declared.kind is FieldKind.SIZES and isinstance(value, tuple):
                found += value
    return found
