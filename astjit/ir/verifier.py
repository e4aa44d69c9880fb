"""Checks that a function keeps the rules of SSA and of its rows.

    %1 = add %0, %9 : f32[4], where %9 is defined nowhere  =>  InvalidIR("add uses %9 before ...")

A message names the two things that disagree. The checks: every operand is defined where it is used
(dominance, regions included) and once; operand counts, fields and number of results are the row's;
result types are what the row infers under the function's assumptions; results of blocks are
defined; every size symbol is a size or a stride of a parameter.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from astjit.errors import InvalidIR, ShapeMismatch
from astjit.ir.builder import check_operands, infer_types
from astjit.ir.function import Block, Function, Node
from astjit.ir.notation import field_text, fits
from astjit.ir.printer import block_text, function_text, node_text, value_names, value_text
from astjit.ir.value import Literal, Value
from astjit.ops.spec import FieldKind
from astjit.ops.table import OPS
from astjit.types.dtype import F32, DType
from astjit.types.shape import Dim, Predicate, Sizes, Sym, Undecided, symbols
from astjit.types.tensor import PY_INT, TensorType, Type

# What the checks of one node read, but for where its operands are defined.
_FOR = OPS["for"]
_Seen = tuple[object, ...]


class Verified:
    """Nodes that were checked, with what was read of them: what is as it was is not checked again.

    Inferring types costs most. Whether operands are defined is checked each time. Everything is
    compared by identity and held, so that no other object can take its place.
    """

    def __init__(self) -> None:
        self.nodes: dict[Node, _Seen] = {}
        self.facts: _Seen = ()

    def under(self, assumed: Iterable[Predicate], default: DType) -> dict[Node, _Seen]:
        """The nodes checked so far under these assumptions; none if they are others."""
        facts = (default, *assumed)
        if not _same(facts, self.facts):
            self.nodes, self.facts = {}, facts
        return self.nodes


def _same(one: _Seen, other: _Seen) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def _seen(node: Node) -> _Seen:
    found: list[object] = [node.op, *node.operands, None, *node.fields, *node.fields.values()]
    found += [None if v is None else v.type for v in node.operands if not isinstance(v, Literal)]
    for result in node.results:
        found += [result, result.node, result.index, result.type]
    return tuple(found)


def verify(function: Function, after: str = "", verified: Verified | None = None) -> None:
    """Check a function.

    Args:
        function: what to check.
        after: the pass that ran last, for the message.
        verified: what is known from checks before, and is added to.

    Raises:
        InvalidIR: for the first broken rule, with the function's text.
    """
    try:
        check = _Check(function.body, function.assumed, function.default)
        if verified is not None:
            check.verified = verified.under(function.assumed, function.default)
        check.block(function.body, set())
        check.symbols(function)
    except _Broken as broken:
        raise InvalidIR(str(broken), after=after, text=function_text(function)) from broken


def verify_block(block: Block, assumed: Iterable[Predicate] = (), after: str = "") -> None:
    """Check a block that stands alone, such as a kernel's body.

    Raises:
        InvalidIR: for the first broken rule, with the block's text.
    """
    try:
        _Check(block, assumed, F32).block(block, set())
    except _Broken as broken:
        raise InvalidIR(str(broken), after=after, text=block_text(block)) from broken


class _Broken(Exception):
    """A rule that does not hold, in words."""


class _Check:
    def __init__(self, block: Block, assumed: Iterable[Predicate], default: DType) -> None:
        self.whole = block
        self.sizes = Sizes(assumed)
        self.default = default
        self.made: set[Value] = set()
        self.verified: dict[Node, _Seen] = {}

    @cached_property
    def names(self) -> Mapping[Value, str]:
        """Names of all values, for messages."""
        return value_names(self.whole)

    def shown(self, value: Value | None) -> str:
        return value_text(value, self.names)

    def block(self, block: Block, outer: set[Value]) -> None:
        """Check a block in which the values of `outer` are known."""
        known = set(outer)
        for param in block.params:
            self.define(param, known)
        for node in block.nodes:
            self.node(node, known)
            for result in node.results:
                self.define(result, known)
        for value in block.results:
            if not (isinstance(value, Literal) or value in known):
                raise _Broken(f"the block's result {self.shown(value)} is not defined in it")

    def define(self, value: Value, known: set[Value]) -> None:
        if value in self.made:
            raise _Broken(f"{self.shown(value)} is defined twice")
        self.made.add(value)
        known.add(value)

    def line(self, node: Node) -> str:
        return f"`{node_text(node, self.names)}`"

    def node(self, node: Node, known: set[Value]) -> None:
        if OPS.get(node.op.name) is not node.op:
            raise _Broken(f"{self.line(node)}: the row {node.op.name!r} is not in the table")
        try:
            check_operands(node.op, node.operands)
        except TypeError as error:
            raise _Broken(f"{self.line(node)}: {error}") from error
        for value in node.values:
            if not isinstance(value, Literal) and value not in known:
                raise _Broken(
                    f"{self.line(node)} uses {self.shown(value)}, which is not defined there"
                )
        seen = () if node.regions else _seen(node)
        if seen and _same(seen, self.verified.get(node, ())):
            return
        self.fields(node)
        if len(node.regions) != len(node.op.regions):
            shown = f"{len(node.regions)} regions, but the row is of kind {node.op.kind.value}"
            raise _Broken(f"{self.line(node)}: {shown}")
        for region in node.regions:
            self.block(region, known)
        self.results(node)
        if seen:
            self.verified[node] = seen

    def fields(self, node: Node) -> None:
        declared = {f.name: f for f in node.op.fields}
        if declared.keys() != node.fields.keys():
            shown = f"the fields are {sorted(node.fields)}, the row's {sorted(declared)}"
            raise _Broken(f"{self.line(node)}: {shown}")
        for name, value in node.fields.items():
            kind, default = declared[name].kind, declared[name].default
            if not (fits(kind, value) or (value is None and default is None)):
                shown = field_text(kind, value)
                raise _Broken(
                    f"{self.line(node)}: field {name}={shown} is not of kind {kind.value}"
                )

    def results(self, node: Node) -> None:
        for index, result in enumerate(node.results):
            if result.node is not node or result.index != index:
                raise _Broken(f"{self.line(node)}: {self.shown(result)} points to another node")
        wanted = node.op.results
        if wanted is not None and len(node.results) != wanted:
            raise _Broken(
                f"{self.line(node)}: {len(node.results)} results, but the row has {wanted}"
            )
        found = tuple(r.type for r in node.results)
        inferred = self.infer(node)
        if found != inferred and not self.alike(found, inferred):
            shown = f"the types are {_types(found)}, the row infers {_types(inferred)}"
            raise _Broken(f"{self.line(node)}: {shown}")

    def alike(self, found: tuple[Type, ...], inferred: tuple[Type, ...]) -> bool:
        """Whether types differ only in which of several sizes assumed equal they name."""
        if len(found) != len(inferred):
            return False
        for a, b in zip(found, inferred, strict=True):
            if a == b:
                continue
            if not (isinstance(a, TensorType) and isinstance(b, TensorType)):
                return False
            dims, others = _type_dims(a), _type_dims(b)
            same = len(dims) == len(others) and all(map(self.sizes.equal, dims, others))
            if not same or replace(a, dims=b.dims, strides=b.strides) != b:
                return False
        return True

    def infer(self, node: Node) -> tuple[Type, ...]:
        try:
            return infer_types(
                node.op, node.operands, node.fields, self.sizes, self.default, node.regions
            )
        except ShapeMismatch as error:
            raise _Broken(f"{self.line(node)}: {error.seen}") from error
        except Undecided as error:
            raise _Broken(f"{self.line(node)} needs {error}, which is not assumed") from error

    def symbols(self, function: Function) -> None:
        """Every size symbol can be read from a tensor parameter, or is an int by its name."""
        bound = {s for p in function.params for d in _type_dims(p.type) for s in _bare(d)}
        bound |= {Sym(p.name) for p in function.params if p.type == PY_INT}
        bound |= {Sym(str(n.fields["index"])) for n in function.body.walk() if n.op is _FOR}
        for what, dim in _all_dims(function):
            for symbol in symbols(dim):
                if symbol not in bound:
                    shown = self.line(what) if isinstance(what, Node) else str(what)
                    raise _Broken(f"{shown} has {symbol}, which is no size of a parameter")


def _bare(dim: Dim) -> tuple[Sym, ...]:
    return (dim,) if isinstance(dim, Sym) else ()


def _type_dims(kind: Type) -> tuple[Dim, ...]:
    return (*kind.dims, *(kind.strides or ())) if isinstance(kind, TensorType) else ()


def _all_dims(function: Function) -> Iterator[tuple[Predicate | Type | Node, Dim]]:
    for fact in function.assumed:
        yield from ((fact, side) for side in (fact.left, fact.right))
    for param in function.params:
        yield from ((param.type, dim) for dim in _type_dims(param.type))
    for node in function.body.walk():
        dims = [dim for result in node.results for dim in _type_dims(result.type)]
        for declared in node.op.fields:
            value = node.fields[declared.name]
            if declared.kind is FieldKind.SIZE and value is not None:
                dims.append(value)  # type: ignore[arg-type]  # of its kind, as checked before
            elif declared.kind is FieldKind.SIZES and isinstance(value, tuple):
                dims += value
        yield from ((node, dim) for dim in dims)


def _types(types: tuple[Type, ...]) -> str:
    return ", ".join(map(str, types)) or "none"
