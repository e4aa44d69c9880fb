"""Nodes, blocks and functions: the SSA that everything between capture and kernels works on."""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field

from astjit.ir.value import NodeLike, Param, Result, Value
from astjit.location import Location
from astjit.ops.layout import dense_or_strided
from astjit.ops.spec import FieldKind, FieldValue, Op
from astjit.types.dtype import F32, DType
from astjit.types.shape import Dim, Predicate, substitute
from astjit.types.tensor import TensorType, Type


@dataclass(eq=False, slots=True)
class Node(NodeLike):
    """One use of an op.

    Attributes:
        op: the row.
        operands: one value for each of the row's operands, None where an optional one is absent.
        fields: every field of the row by name, defaults filled in.
        results: the values it makes.
        regions: the blocks of a control op.
    """

    op: Op
    operands: tuple[Value | None, ...]
    fields: dict[str, FieldValue]
    results: tuple[Result, ...] = ()
    regions: tuple["Block", ...] = ()

    @property
    def result(self) -> Result:
        """The only result."""
        (only,) = self.results
        return only

    @property
    def values(self) -> tuple[Value, ...]:
        """The operands that are present."""
        return tuple(v for v in self.operands if v is not None)


def make_node(
    op: Op,
    operands: tuple[Value | None, ...],
    fields: dict[str, FieldValue],
    types: tuple[Type, ...],
    location: Location | None = None,
    regions: tuple["Block", ...] = (),
) -> Node:
    """A node with fresh results of the given types."""
    node = Node(location, op, operands, fields, (), regions)
    node.results = tuple(Result(node, index, kind) for index, kind in enumerate(types))
    return node


@dataclass(eq=False, slots=True)
class Block:
    """Parameters, nodes in order, and what is returned or yielded at the end."""

    params: list[Param] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    results: list[Value] = field(default_factory=list)

    def walk(self) -> Iterator[Node]:
        """Every node in order, those of regions right after the node that holds them."""
        for node in self.nodes:
            yield node
            for region in node.regions:
                yield from region.walk()

    def replace(self, values: Mapping[Value, Value]) -> None:
        """Replace uses of values, here and in regions."""
        if not values:
            return
        for node in self.nodes:
            node.operands = tuple(v if v is None else values.get(v, v) for v in node.operands)
            for region in node.regions:
                region.replace(values)
        self.results = [values.get(v, v) for v in self.results]


Region = Block


@dataclass(eq=False, slots=True)
class Function:
    """A captured segment.

    Attributes:
        name: the user's name for it.
        body: parameters, nodes and returned values.
        assumed: facts about sizes that hold whenever it runs; each becomes a guard.
        default: torch's default float dtype when it was captured.
    """

    name: str
    body: Block = field(default_factory=Block)
    assumed: list[Predicate] = field(default_factory=list)
    default: DType = F32

    @property
    def params(self) -> list[Param]:
        """The inputs."""
        return self.body.params

    @property
    def results(self) -> list[Value]:
        """The outputs."""
        return self.body.results

    def substitute(self, sizes: Mapping[str, Dim]) -> None:
        """Replace size symbols by name in every type, field and assumption."""
        if not sizes:
            return
        nonzero: set[Dim] = set()
        # twice: which sizes are not 0 is known once all facts are in the new symbols
        for _ in range(2):
            facts = [_substitute_fact(fact, sizes, nonzero) for fact in self.assumed]
            nonzero |= {f.left for f in facts if f.op == "!=" and f.right == 0}
        self.assumed = [fact for fact in dict.fromkeys(facts) if not fact.plain]
        for block in _blocks(self.body):
            for param in block.params:
                param.type = substitute_type(param.type, sizes, nonzero)
            for node in block.nodes:
                for result in node.results:
                    result.type = substitute_type(result.type, sizes, nonzero)
                for declared in node.op.fields:
                    node.fields[declared.name] = _substitute_field(
                        declared.kind, node.fields[declared.name], sizes, nonzero
                    )


def _blocks(block: Block) -> Iterator[Block]:
    yield block
    for node in block.nodes:
        for region in node.regions:
            yield from _blocks(region)


def substitute_type(kind: Type, sizes: Mapping[str, Dim], nonzero: Container[Dim] = ()) -> Type:
    """The type with size symbols replaced by name."""
    if not isinstance(kind, TensorType):
        return kind
    dims = tuple(substitute(d, sizes, nonzero) for d in kind.dims)
    if kind.strides is None:
        return TensorType(kind.dtype, dims, kind.order, None, kind.device)
    # sizes that are found equal may make a layout dense
    return dense_or_strided(kind, dims, tuple(substitute(s, sizes, nonzero) for s in kind.strides))


def _substitute_fact(
    fact: Predicate, sizes: Mapping[str, Dim], nonzero: Container[Dim]
) -> Predicate:
    left, right = (substitute(side, sizes, nonzero) for side in (fact.left, fact.right))
    return Predicate(fact.op, left, right)


def _substitute_field(
    kind: FieldKind, value: FieldValue, sizes: Mapping[str, Dim], nonzero: Container[Dim]
) -> FieldValue:
    if kind is FieldKind.SIZE and value is not None:
        # the verifier checks the kind
        return substitute(value, sizes, nonzero)  # type: ignore[arg-type]
    if kind is FieldKind.SIZES and isinstance(value, tuple):
        return tuple(substitute(v, sizes, nonzero) for v in value)
    if kind is FieldKind.TYPES and isinstance(value, tuple):
        return tuple(substitute_type(v, sizes, nonzero) for v in value)
    return value


def maker(value: Value | None) -> Node | None:
    """The node that makes a value; None for parameters and literals."""
    if isinstance(value, Result) and isinstance(value.node, Node):
        return value.node
    return None
