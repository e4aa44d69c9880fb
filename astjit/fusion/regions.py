"""Lowers the body of a `map` into a kernel's: rows inline, control flow as regions.

    before: %y = map %x { body(%a: bf16[]): %b = if %c {then(): %d = mul %a, 2 ; yield %d} ... }
    after:  %a = load x ; %b = if %c {then(): %0 = mul %a, 2.0 ; %d = round_to %0 {bf16} ; ...}

An element is a value of rank 0 already, so that lowering it changes dtypes only: each is computed
in what its row says, and one of a 16-bit type is rounded where it is made, before any region reads
it (decision D8).
"""

from collections.abc import Iterable, Mapping, Sequence

from astjit.fusion.kernel import IF, WHILE
from astjit.fusion.numbers import converted, narrow
from astjit.fusion.pieces import CAST, call_of, expands, expansion
from astjit.ir.builder import Builder
from astjit.ir.function import Block, Node, make_node
from astjit.ir.value import Literal, Param, Result, Value
from astjit.ops.spec import Kind
from astjit.ops.table import OPS
from astjit.types.dtype import BOOL, F32, I64, DType
from astjit.types.shape import Sizes
from astjit.types.tensor import ScalarType, TensorType

ROUND = OPS["round_to"]


class Inliner:
    """Appends the nodes of one block, and makes those of the blocks inside it.

    Args:
        block: where nodes go.
        sizes: the function's.
        rounds: values of 16-bit types are rounded.
        device: of the body's values.
        known: for each value seen so far the body's value, rounded.
    """

    def __init__(
        self, block: Block, sizes: Sizes, rounds: bool, device: str, known: Mapping[Value, Value]
    ) -> None:
        self.emit = Builder(block, sizes)
        self.sizes, self.rounds, self.device = sizes, rounds, device
        self.known = dict(known)
        self.casts: dict[tuple[Value, DType], Value] = {}

    def run(self, nodes: Iterable[Node]) -> None:
        """Lower nodes in order."""
        for node in nodes:
            self.emit.location = node.location
            if node.op.kind is Kind.CONTROL:
                self._flow(node)
            elif expands(node):
                scratch = Builder(Block(), self.sizes, location=node.location)
                results = expansion(node, scratch)
                self.run(scratch.block.nodes)
                for result, made in zip(node.results, results, strict=True):
                    self._know(result, self.value(made))
            else:
                self._know(node.result, self._row(node))

    def value(self, value: Value) -> Value:
        """The body's value for one of the map's."""
        return value if isinstance(value, Literal) else self.known[value]

    def ends(self, values: Sequence[Value], dtypes: Sequence[DType]) -> list[Value]:
        """What a block ends with, numbers as elements of these types."""
        return [self._to(self.value(v), d) for v, d in zip(values, dtypes, strict=True)]

    def _know(self, result: Result, made: Value) -> None:
        self.known[result] = made
        if isinstance(made, Result) and not made.name:
            made.name = result.name

    # -- rows -----------------------------------------------------------------------------------
    def _row(self, node: Node) -> Value:
        if isinstance(node.result.type, ScalarType):  # of numbers alone
            assert node.op.evaluate is not None
            numbers = [v.value for v in map(self.value, node.values) if isinstance(v, Literal)]
            made = node.op.evaluate(*numbers)
            assert isinstance(made, int | float)
            return Literal(made)
        dtype = node.result.type.dtype
        if node.op is CAST:
            cast = self._to(self.value(node.values[0]), dtype.compute)
            return self._rounded(cast, dtype, always=True)
        call = call_of(node, self.sizes)
        assert node.op.rule.computes is not None
        wanted = node.op.rule.computes(call)
        operands = [
            None if v is None else self._operand(v, wanted[at], narrow(node, call, at))
            for at, v in enumerate(node.operands)
        ]
        kind = TensorType(dtype.compute, (), device=self.device)
        result = self._append(make_node(node.op, tuple(operands), node.fields, (kind,)))
        return self._rounded(result, dtype)

    def _operand(self, value: Value, wanted: DType, narrower: DType | None) -> Value:
        given = self.value(value)
        if isinstance(given, Literal):
            return converted(given.value, narrower or wanted)
        made = self._to(given, wanted)
        own = value.type.dtype if isinstance(value.type, TensorType) else None
        if narrower is not None and wanted is F32 and own is not narrower:
            return self._round(made, narrower)
        return made

    def _rounded(self, made: Value, dtype: DType, *, always: bool = False) -> Value:
        return self._round(made, dtype) if dtype.is_half and (always or self.rounds) else made

    def _round(self, made: Value, dtype: DType) -> Value:
        if isinstance(made, Literal):
            return converted(made.value, dtype)
        kind = TensorType(F32, (), device=self.device)
        return self._append(make_node(ROUND, (made,), {"dtype": dtype}, (kind,)))

    def _to(self, value: Value, dtype: DType) -> Value:
        if isinstance(value, Literal):
            return converted(value.value, dtype)
        if isinstance(value.type, TensorType) and value.type.dtype is dtype.compute:
            return value
        if (value, dtype) not in self.casts:
            kind = TensorType(dtype, (), device=self.device)
            node = make_node(CAST, (value,), {"dtype": dtype}, (kind,))
            self.casts[value, dtype] = self._append(node)
        return self.casts[value, dtype]

    def _append(self, node: Node) -> Result:
        node.location = self.emit.location
        self.emit.block.nodes.append(node)
        return node.results[0]

    # -- control flow ---------------------------------------------------------------------------
    def _flow(self, node: Node) -> None:
        """An `if` or a loop: its operands in the types that its regions take, and its regions."""
        carried = [_element(r.type) for r in node.results]
        stops = [BOOL] if node.fields.get("breaks") else []
        takes: list[list[DType]]
        if node.op is IF:
            wanted, takes, yields = [BOOL], [[], []], [carried, carried]
        elif node.op is WHILE:
            wanted, takes = carried, [carried, carried]
            yields = [[BOOL], [*stops, *carried]]
        else:
            wanted, takes = [I64, I64, I64, *carried], [[I64, *carried]]
            yields = [[*stops, *carried]]
        operands = tuple(
            self._operand(v, dtype.compute, dtype if dtype.is_half else None)
            for v, dtype in zip(node.values, wanted, strict=True)
        )
        regions = tuple(map(self._region, node.regions, takes, yields))
        kinds = tuple(TensorType(d.compute, (), device=self.device) for d in carried)
        made = make_node(node.op, operands, node.fields, kinds, node.location, regions)
        self.emit.block.nodes.append(made)
        for result, value in zip(node.results, made.results, strict=True):
            self._know(result, value)

    def _region(self, region: Block, takes: Sequence[DType], yields: Sequence[DType]) -> Block:
        block = Block()
        inner = Inliner(block, self.sizes, self.rounds, self.device, self.known)
        for param, dtype in zip(region.params, takes, strict=True):
            kind = TensorType(dtype.compute, (), device=self.device)
            inner.known[param] = made = Param(kind, param.name, location=param.location)
            block.params.append(made)
        inner.run(region.nodes)
        block.results = inner.ends(region.results, yields)
        return block


def _element(kind: object) -> DType:
    assert isinstance(kind, TensorType)
    return kind.dtype
