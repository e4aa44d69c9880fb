"""Runs the regions of `map` through PyTorch: every value is a vector with a lane an element.

    if %c {...} {...}      the lanes where %c holds run one arm, the others the other: no arm sees
                           an element that does not take it
    while, range           run with the lanes that are still in the loop

It is the oracle of kernels with control flow, and the way without a C++ compiler. Nothing is
computed for a lane that Python would not compute, so that a guarded division or read is safe.
"""

import linecache
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from astjit.errors import InternalError, TripLimit
from astjit.ir.function import Block, Node
from astjit.ir.value import Literal, Param, Value
from astjit.ops.control import FLAG
from astjit.ops.table import OPS
from astjit.types.dtype import DType
from astjit.types.shape import evaluate
from astjit.types.tensor import ScalarType, TensorType

Datum = torch.Tensor | float
RunNode = Callable[[Node, Mapping[Value, Datum], Mapping[str, int]], tuple[Datum, ...]]
_ELEMENT, _DIV = OPS["element"], OPS["div"]
_DIVISIONS: dict[int, Callable[..., Any]] = {
    id(OPS["floordiv"]): torch.floor_divide,
    id(OPS["modulo"]): torch.remainder,
}


class Scope:
    """The values that a block sees for some of the lanes of the block around it.

    Args:
        count: how many lanes there are.
        outer: the scope around it, None for the outermost.
        lanes: which of the lanes around it are in it; None: all.
    """

    def __init__(
        self, count: int, outer: "Scope | None" = None, lanes: torch.Tensor | None = None
    ) -> None:
        self.count, self.outer, self.lanes = count, outer, lanes
        self.own: dict[Value, Datum] = {}

    def __getitem__(self, value: Value) -> Datum:
        """The value of every lane: a vector, or a number or whole tensor that all share."""
        if value in self.own:
            return self.own[value]
        if self.outer is None:
            raise KeyError(value)
        found = self.outer[value]
        if self.lanes is not None and isinstance(found, Lane):
            found = lane(found.index_select(0, self.lanes))
        self.own[value] = found
        return found

    def given(self, value: Value | None) -> Any:
        """An operand: as above, a number for a literal, None where it is absent."""
        if value is None:
            return None
        return value.value if isinstance(value, Literal) else self[value]


class Lane(torch.Tensor):
    """A vector with one element a lane, told by its class from tensors that lanes read."""

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]


def lane(data: torch.Tensor) -> Lane:
    """The vector as a value of lanes."""
    return data.as_subclass(Lane)


class Lanes:
    """Runs one map.

    Args:
        node: the map.
        run_node: runs a node without regions.
        sizes: the value of every size symbol.
        device: where the elements lie.
    """

    def __init__(
        self, node: Node, run_node: RunNode, sizes: Mapping[str, int], device: torch.device
    ) -> None:
        self.node, self.run_node, self.sizes, self.device = node, run_node, sizes, device
        self.control = {
            id(OPS["if"]): self._if,
            id(OPS["while"]): self._while,
            id(OPS["range"]): self._range,
        }

    def run(self, known: Mapping[Value, Datum]) -> tuple[torch.Tensor, ...]:
        """The results of the map, given its operands and what its region reads besides."""
        operands = [v.value if isinstance(v, Literal) else known[v] for v in self.node.values]
        tensors = [v for v in operands if isinstance(v, torch.Tensor)]
        shape: torch.Size = torch.broadcast_shapes(*(t.shape for t in tensors))  # type: ignore[no-untyped-call]
        region = self.node.regions[0]
        outer = Scope(shape.numel())
        outer.own.update(known)
        scope = Scope(shape.numel(), outer)
        for param, given in zip(region.params, operands, strict=True):
            assert isinstance(param.type, TensorType)
            if isinstance(given, torch.Tensor):
                whole = given.to(self.device).broadcast_to(shape)
                scope.own[param] = lane(whole.reshape(-1))
            else:
                scope.own[param] = self.filled(given, param.type.dtype, shape.numel())
        yielded = self.block(region, scope)
        return tuple(
            self._laid(value, result.type, shape)
            for value, result in zip(yielded, self.node.results, strict=True)
        )

    def _laid(self, value: Datum, kind: object, shape: torch.Size) -> torch.Tensor:
        """A result of all lanes, laid out as its type says."""
        assert isinstance(kind, TensorType)
        strides = [evaluate(s, self.sizes) for s in kind.element_strides()]
        dtype = getattr(torch, kind.dtype.torch)
        made = torch.empty_strided(shape, strides, dtype=dtype, device=self.device)
        return made.copy_(value.reshape(shape)) if isinstance(value, Lane) else made.fill_(value)

    def filled(self, number: Any, dtype: DType, count: int) -> Lane:
        """One number for all lanes."""
        kind = getattr(torch, dtype.torch)
        return lane(torch.full((count,), number, dtype=kind, device=self.device))

    def block(self, block: Block, scope: Scope) -> list[Any]:
        """Run a block; what it yields, literals as numbers."""
        for node in block.nodes:
            run = self.control.get(id(node.op), self._plain)
            for result, value in zip(node.results, run(node, scope), strict=True):
                scope.own[result] = value
        return [scope.given(v) for v in block.results]

    def _plain(self, node: Node, scope: Scope) -> Sequence[Datum]:
        if node.op is _ELEMENT:
            return (self._element(node, scope),)
        if (divide := _DIVISIONS.get(id(node.op))) is not None:
            return (self._divided(node, divide, *map(scope.given, node.operands)),)
        if isinstance(node.results[0].type, ScalarType):  # a size
            return self.run_node(node, scope.own, self.sizes)
        known: dict[Value, Datum] = {v: scope[v] for v in node.values if not isinstance(v, Literal)}
        operands = node.operands
        if not any(isinstance(v, Lane) for v in known.values()):
            operands = tuple(
                None if v is None else self._as_lane(v, scope, known) for v in operands
            )
        made = self._run(node, operands, known, scope)
        for result, value in zip(node.results, made, strict=True):
            wanted = result.type
            assert isinstance(wanted, TensorType)
            assert isinstance(value, torch.Tensor)
            if str(value.dtype) != f"torch.{wanted.dtype.torch}":
                raise InternalError(f"{node.op} gave {value.dtype}, the row infers {wanted.dtype}")
        return [lane(v) for v in made if isinstance(v, torch.Tensor)]

    def _run(
        self,
        node: Node,
        operands: tuple[Value | None, ...],
        known: dict[Value, Datum],
        scope: Scope,
    ) -> tuple[Datum, ...]:
        """A row; where torch's function takes no numbers they are as the vectors beside them."""
        kinds = [v.dtype for v in known.values() if isinstance(v, Lane)]
        numbers = [isinstance(v, Literal) for v in operands]
        # a number divided by a tensor is torch's reciprocal times the number
        if node.op is not _DIV or not numbers[0]:
            used = Node(node.location, node.op, operands, node.fields, node.results)
            try:
                return self.run_node(used, known, self.sizes)
            except TypeError:
                if not kinds or not any(numbers):
                    raise
        spread = []
        for value in operands:
            if isinstance(value, Literal):
                stand_in = Param(value.type)
                made = torch.full((scope.count,), value.value, dtype=kinds[0], device=self.device)
                known[stand_in], value = lane(made), stand_in
            spread.append(value)
        used = Node(node.location, node.op, tuple(spread), node.fields, node.results)
        return self.run_node(used, known, self.sizes)

    def _as_lane(self, value: Value, scope: Scope, known: dict[Value, Datum]) -> Value:
        """A number that all lanes share as a vector: torch wants one tensor at least."""
        given = value.value if isinstance(value, Literal) else known[value]
        if isinstance(given, torch.Tensor):
            return value
        kind = torch.bool if isinstance(given, bool) else torch.float64
        kind = torch.int64 if isinstance(given, int) and not isinstance(given, bool) else kind
        made = lane(torch.full((scope.count,), given, dtype=kind, device=self.device))
        stand_in = Param(value.type)
        known[stand_in] = made
        return stand_in

    def _divided(self, node: Node, divide: Callable[..., Any], a: Any, b: Any) -> Lane:
        """A quotient or rest of ints; by -1 it is computed without dividing, which may trap."""
        both = torch.broadcast_tensors(  # type: ignore[no-untyped-call]
            *(torch.as_tensor(v, device=self.device) for v in (a, b))
        )
        dividend, divisor = (v.as_subclass(torch.Tensor) for v in both)
        if bool((divisor == 0).any()):
            raise self._at(node, ZeroDivisionError("integer division or modulo by zero"))
        safe = torch.where(divisor == -1, 1, divisor)
        by_minus_one = -dividend if divide is torch.floor_divide else torch.zeros_like(dividend)
        return lane(torch.where(divisor == -1, by_minus_one, divide(dividend, safe)))

    def _element(self, node: Node, scope: Scope) -> Lane:
        table, *places = (scope.given(v) for v in node.operands)
        assert isinstance(table, torch.Tensor)
        at: list[Any] = []
        for axis, place in enumerate(places):
            size = table.shape[axis]
            given = torch.as_tensor(place, device=self.device)
            if bool(((given < -size) | (given >= size)).any()):
                first = given.reshape(-1)[((given < -size) | (given >= size)).reshape(-1)][0]
                shown = f"index {int(first)} is out of range for an axis of size {size}"
                raise self._at(node, IndexError(shown))
            at.append(given.as_subclass(torch.Tensor).to(table.device))
        found = table[tuple(at)].to(self.device)
        return lane(found.broadcast_to((scope.count,)))

    def _at(self, node: Node, error: Exception) -> Exception:
        if (place := node.location or self.node.location) is not None:
            error.add_note(f"in {place}")
        return error

    # --- control ---

    def _if(self, node: Node, scope: Scope) -> Sequence[Datum]:
        condition = scope.given(node.operands[0])
        assert isinstance(condition, torch.Tensor)
        made: list[Datum] = []
        for region, asked in zip(node.regions, (condition, ~condition), strict=True):
            chosen = asked.nonzero().reshape(-1)
            if len(chosen) == scope.count and scope.count:
                return self._whole(node, self.block(region, Scope(scope.count, scope)), scope.count)
            inner = Scope(len(chosen), scope, chosen)
            yielded = self.block(region, inner) if len(chosen) else None
            if not made:
                made = [self._empty(r.type, scope.count) for r in node.results]
            for whole, part in zip(made, yielded or (), strict=False):
                _put(whole, chosen, part)
        return made

    def _whole(self, node: Node, values: Sequence[Any], count: int) -> list[Datum]:
        """What one block yields for all lanes."""
        return [self._full(v, r.type, count) for v, r in zip(values, node.results, strict=True)]

    def _full(self, value: Any, kind: object, count: int) -> Datum:
        if isinstance(value, torch.Tensor) or not isinstance(kind, TensorType):
            return value  # type: ignore[no-any-return]
        return self.filled(value, kind.dtype, count)

    def _empty(self, kind: object, count: int) -> Datum:
        if not isinstance(kind, TensorType):
            raise InternalError(f"an arm yields numbers alone, of type {kind}")
        return self.filled(0, kind.dtype, count)

    def _while(self, node: Node, scope: Scope) -> Sequence[Datum]:
        test, body = node.regions
        limit = node.fields["limit"]

        def asks(inner: Scope, carried: Sequence[Datum], count: int) -> torch.Tensor:
            inner.own.update(zip(test.params, carried, strict=True))
            (answer,) = self.block(test, inner)
            going: torch.Tensor = self._full(answer, FLAG, inner.count)  # type: ignore[assignment]
            if isinstance(limit, int) and count >= limit and bool(going.any()):
                raise TripLimit(limit, node.location, _line(node))
            return going

        return self._loop(node, scope, node.operands, body, asks, None)

    def _range(self, node: Node, scope: Scope) -> Sequence[Datum]:
        (body,) = node.regions
        start, stop, step = (
            torch.as_tensor(scope.given(v), device=self.device) for v in node.operands[:3]
        )
        if bool((step == 0).any()):
            raise self._at(node, ValueError("range() arg 3 must not be zero"))
        up = torch.div(stop - start + step - step.sign(), step, rounding_mode="floor")
        trips = up.clamp(min=0).broadcast_to((scope.count,))
        index = start.broadcast_to((scope.count,)), step.broadcast_to((scope.count,))

        def asks(inner: Scope, carried: Sequence[Datum], count: int) -> torch.Tensor:
            mine = trips if inner.lanes is None else trips.index_select(0, inner.lanes)
            return mine > count

        return self._loop(node, scope, node.operands[3:], body, asks, index)

    def _loop(
        self,
        node: Node,
        scope: Scope,
        starts: Sequence[Value | None],
        body: Block,
        asks: Callable[[Scope, Sequence[Datum], int], torch.Tensor],
        index: tuple[torch.Tensor, torch.Tensor] | None,
    ) -> Sequence[Datum]:
        """Iterate until no lane is left; a lane leaves with the values that it carries then."""
        kinds = [r.type for r in node.results]
        pairs = zip(starts, kinds, strict=True)
        carried = [self._full(scope.given(v), kind, scope.count) for v, kind in pairs]
        finals = [lane(torch.clone(v)) for v in carried if isinstance(v, torch.Tensor)]
        here = torch.arange(scope.count, device=self.device)
        count = 0
        while len(here):
            whole = None if len(here) == scope.count else here
            going = asks(Scope(len(here), scope, whole), carried, count)
            if not bool(going.all()):
                kept = going.nonzero().reshape(-1)
                here, carried = here[kept], [lane(v[kept]) for v in carried]  # type: ignore[index]
                if not len(here):
                    break
            inner = Scope(len(here), scope, None if len(here) == scope.count else here)
            given = list(carried)
            if index is not None:
                start, step = (v[here] for v in index)
                given.insert(0, lane(start + count * step))
            inner.own.update(zip(body.params, given, strict=True))
            yielded = self.block(body, inner)
            stop = yielded.pop(0) if node.fields["breaks"] else False
            pairs = zip(yielded, kinds, strict=True)
            carried = [self._full(v, kind, len(here)) for v, kind in pairs]
            for final, value in zip(finals, carried, strict=True):
                final[here] = value
            if isinstance(stop, torch.Tensor):
                kept = (~stop).nonzero().reshape(-1)
                here, carried = here[kept], [lane(v[kept]) for v in carried]  # type: ignore[index]
            elif stop:
                break
            count += 1
        return finals


def _line(node: Node) -> str:
    place = node.location
    return "" if place is None else linecache.getline(place.file, place.line)


def _put(whole: Datum, chosen: torch.Tensor, part: Any) -> None:
    assert isinstance(whole, torch.Tensor)
    whole[chosen] = part
