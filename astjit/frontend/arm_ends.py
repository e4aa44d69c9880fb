"""What variables are after an `if` on a tensor of which both arms were captured.

    y = x * 2  |  y = x + 1       another tensor, that the SSA's `if` gives
    x = x * 2  |                  either a new tensor or the old one: fine where it is only read
    n = 3      |  n = 3           that number
    y = x * 2  |                  unbound, and nothing reads it after the `if`

Everything else is refused: numbers and objects that differ, types that differ, tensors that share
memory in one arm only, and arms that are more than elementwise, of which a kernel would run both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from astjit.frontend.branches import Site, Unbranched
from astjit.frontend.loop_ends import same
from astjit.frontend.memory import Storage
from astjit.frontend.session import Session
from astjit.frontend.symbolic import SymbolicTensor
from astjit.fusion.looping import HOST
from astjit.fusion.pieces import Unfit, unit_of
from astjit.ir.function import Block, Node
from astjit.ir.value import Value, tensor_type
from astjit.ir.walk import inputs, may_raise
from astjit.location import Location
from astjit.ops.spec import Kind
from astjit.ops.table import OPS
from astjit.types.tensor import ScalarType, TensorType

_IF = OPS["if"]
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Arm:
    """One arm, captured.

    Attributes:
        bound: the variables that the `if` assigns, at the end of the arm.
        values: what those that are tensors, and are read later, hold.
        own: memory made in the arm.
        block: what it computes.
    """

    bound: Mapping[str, object]
    values: Mapping[str, Value]
    own: set[Storage]
    block: Block


class Chosen(Protocol):
    """An `if` whose arms were captured."""

    site: Site
    assigned: tuple[str, ...]
    live: tuple[str, ...]
    made: list[Arm]


def joined(
    session: Session, choice: Chosen, condition: Value, location: Location | None
) -> tuple[dict[str, object], tuple[str, ...]]:
    """Emit the `if`; the variables that it binds, and those that are bound and should not be.

    Args:
        session: the capture, which goes on after the `if`.
        choice: the `if`.
        condition: whether the first arm is taken.
        location: of the `if`.

    Raises:
        Unbranched: if no kernel can run both arms, or what they end with differs.
    """
    then, other = choice.made
    ends: dict[str, object] = {}
    gone: list[str] = []
    pairs: dict[tuple[int, int], list[str]] = {}
    for name in choice.assigned:
        one, two = then.bound.get(name, _ABSENT), other.bound.get(name, _ABSENT)
        if one is two or (same(one, two) and name in choice.live):
            continue
        if name not in choice.live:
            gone += [name] if two is not _ABSENT else []
        elif isinstance(one, SymbolicTensor) and isinstance(two, SymbolicTensor):
            pairs.setdefault((id(one), id(two)), []).append(name)
        else:
            raise Unbranched(f"{name} is one thing in one arm, and another in the other")
    if pairs:
        ends = _Join(session, choice, list(pairs.values())).run(condition, location)
    return ends, tuple(gone)


class _Join:
    """Joins the tensors of both arms."""

    def __init__(self, session: Session, choice: Chosen, groups: list[list[str]]) -> None:
        self.session, self.capture, self.choice = session, session.capture, choice
        self.groups = groups  # names of one tensor each
        self.then, self.other = choice.made

    def run(self, condition: Value, location: Location | None) -> dict[str, object]:
        either = [self._either(names[0]) for names in self.groups]
        self._apart()
        firsts = [names[0] for names in self.groups]
        blocks = (self.then.block, self.other.block)
        for arm, block in zip((self.then, self.other), blocks, strict=True):
            block.results = [arm.values[name] for name in firsts]
            self._hoist(block)
        self.capture.builder.location = location
        made = self.capture.builder.node(_IF, (condition,), {}, blocks)
        try:
            device = tensor_type(made.results[0]).device
            unit_of(made, self.capture.sizes, device.split(":")[0])
        except Unfit as reason:
            raise Unbranched(str(reason)) from None
        ends: dict[str, object] = {}
        for names, result, others in zip(self.groups, made.results, either, strict=True):
            result.name = names[0]
            tensor = self.capture.fresh_tensor(result)
            if others:
                self.capture.either.note(tensor.place.storage, self.choice.site, others)
            ends.update(dict.fromkeys(names, tensor))
        return ends

    def _either(self, name: str) -> tuple[Storage, ...]:
        """The memory from before the `if` that a variable may lie in after it.

        Raises:
            Unbranched: if both arms' tensors are of two types, or no kernel makes one.
        """
        found: list[Storage] = []
        for arm in (self.then, self.other):
            tensor = arm.bound[name]
            assert isinstance(tensor, SymbolicTensor)
            home = tensor.place.storage
            if home in arm.own:
                if tensor.place.steps or tensor.alias:
                    raise Unbranched(f"{name} is a view of what an arm computes")
                continue
            if tensor.is_parameter or tensor.wants_grad or tensor.alias:
                raise Unbranched(f"{name} is a parameter in one arm")
            found += [home, *self.capture.either.homes(home)]
        one, two = self.then.values[name].type, self.other.values[name].type
        if not self._one_type(one, two):
            raise Unbranched(f"{name} has one type in one arm, and another in the other")
        return tuple(dict.fromkeys(found))

    def _one_type(self, one: object, two: object) -> bool:
        if not (isinstance(one, TensorType) and isinstance(two, TensorType)):
            return False
        if one.order is None or one.order != two.order or one.rank != two.rank:
            return False
        equal = self.capture.sizes.equal
        alike = one.dtype is two.dtype and one.device == two.device
        return alike and all(map(equal, one.dims, two.dims))

    def _apart(self) -> None:
        """Refuse tensors that share memory in one arm and not in the other."""
        for arm in (self.then, self.other):
            homes = [arm.bound[names[0]].place.storage for names in self.groups]  # type: ignore[attr-defined]
            if len(set(homes)) < len(homes):
                raise Unbranched("variables share memory in one arm only")

    def _hoist(self, block: Block) -> None:
        """Move what costs nothing, or is kept for later, in front of the `if`; drop what is unused.

        Views and numbers may be met again after the `if`, which then has them in both cases.
        """
        outer = self.capture.builder.block
        self.capture.function.body.params += block.params
        block.params.clear()
        made: set[Value] = set()
        kept: list[Node] = []
        for node in block.nodes:
            if _costs_nothing(node) and not any(v in made for v in inputs(node)):
                outer.nodes.append(node)
                continue
            if may_raise(node):
                raise Unbranched(f"an arm has {node.op.name}, which is not elementwise")
            made.update(node.results)
            kept.append(node)
        block.nodes = _needed(kept, block.results)


def _costs_nothing(node: Node) -> bool:
    """Whether a kernel, or the host, has a node's results for nothing, or where it reads them."""
    numbers = all(isinstance(r.type, ScalarType) for r in node.results)
    return node.op.kind in (Kind.VIEW, Kind.SIZE, Kind.FACTORY) or (numbers and node.op in HOST)


def _needed(nodes: Sequence[Node], results: Sequence[Value]) -> list[Node]:
    """Those that results are made of."""
    wanted, kept = set(results), []
    for node in reversed(nodes):
        if any(r in wanted for r in node.results):
            kept.append(node)
            wanted.update(inputs(node))
    return kept[::-1]
