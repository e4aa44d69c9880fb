"""What a node of a function is made of, as far as a kernel is concerned.

    before: %y = softmax %x {dim=-1}        x: bf16[rows, cols]
    after:  %w = to %x {dtype=f32} ; %m = amax %w ; %s = sub %w, %m ; %e = exp %s
            %t = sum %e ; %q = div %e, %t ; %y = to %q {dtype=bf16}

Elementwise rows and reductions are their own only piece. A composite becomes the rows of its
expansion (decision D7), widened to f32 around it when it rounds once (decision D8). An `if` on a
tensor of one element is a row of its condition and of all that its arms read. A node that no kernel
can compute has a reason instead.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from astjit.errors import ShapeMismatch
from astjit.fusion.describe import called
from astjit.ir.builder import Builder
from astjit.ir.function import Block, Node, make_node
from astjit.ir.value import Result, Value, tensor_type
from astjit.ir.walk import inputs
from astjit.ops.rules import normal_axes
from astjit.ops.spec import Call, Kind, Trait
from astjit.ops.table import OPS
from astjit.types.dtype import F32
from astjit.types.shape import Dim, Expr, Sizes, Undecided
from astjit.types.tensor import ScalarType, TensorType

CAST, MAP, IF, PICK = OPS["to"], OPS["map"], OPS["if"], OPS["pick"]
OWN = (PICK, OPS["iota"], OPS["full"])  # rows of no common kind that kernels compute
DEPTH = 8  # composites inside composites


@dataclass(frozen=True, slots=True)
class Unit:
    """A node of the function that one kernel computes whole.

    Attributes:
        node: of the function.
        pieces: elementwise, reduce, view and size nodes, in order; the node itself when it is one.
        results: for each of the node's results the value of the pieces that it is.
    """

    node: Node
    pieces: tuple[Node, ...]
    results: tuple[Value, ...]


class Unfit(Exception):
    """Why values cannot share a kernel, in plain words."""


def call_of(node: Node, sizes: Sizes) -> Call:
    """The use of an op as its rule sees it."""
    default = F32
    for result in node.results:  # a float made from integers has torch's default type
        if isinstance(result.type, TensorType) and result.type.dtype.is_float:
            default = result.type.dtype
    types = tuple(None if v is None else v.type for v in node.operands)
    return Call(types, node.fields, sizes, default)


def is_view(value: Value) -> bool:
    """True for the result of a view."""
    node = value.node if isinstance(value, Result) else None
    return isinstance(node, Node) and node.op.kind is Kind.VIEW


def view_source(value: Value) -> Value:
    """What a view's result is a view of."""
    assert isinstance(value, Result)
    assert isinstance(value.node, Node)
    source = value.node.operands[0]
    assert source is not None
    return source


def root_of(value: Value) -> Value:
    """The value that a chain of views starts from; the value itself when it is no view."""
    while is_view(value):
        value = view_source(value)
    return value


def unit_of(node: Node, sizes: Sizes, target: str) -> Unit:
    """The pieces of a node.

    Raises:
        Unfit: if no kernel computes it, with the reason.
    """
    name = called(node)
    if Trait.EFFECT in node.op.traits or (node.regions and node.op not in (MAP, IF)):
        raise Unfit(f"{name} is not part of any kernel")
    types = [v.type for v in (*inputs(node), *node.results) if isinstance(v.type, TensorType)]
    if not any(isinstance(r.type, TensorType) for r in node.results):
        raise Unfit(f"{name} makes Python numbers")
    if len({t.device for t in types}) > 1:
        raise Unfit(f"{name} mixes devices")
    scratch = Block()
    if expands(node):
        results = expansion(node, Builder(scratch, sizes, location=node.location))
    elif node.op.kind in (Kind.ELEMENTWISE, Kind.REDUCE) or node.op in (*OWN, MAP):
        scratch.nodes.append(node)
        results = node.results
    elif node.op is IF:
        kinds = tuple(r.type for r in node.results)
        piece = make_node(IF, inputs(node), {}, kinds, node.location, node.regions)
        scratch.nodes.append(piece)
        results = piece.results
    else:
        raise Unfit(f"{name} is {_KINDS.get(node.op.kind, 'a library call')}")
    for piece in scratch.nodes:
        check_piece(piece, node, target, sizes)
    made = {r for piece in scratch.nodes for r in piece.results}
    if not all(root_of(value) in made for value in results):
        raise Unfit(f"{name} returns its operand")
    return Unit(node, tuple(scratch.nodes), results)


_KINDS = {
    Kind.COMPOSITE: "composite without an expansion",
    Kind.FACTORY: "a factory",
}


def checked_picks(unit: Unit) -> Iterator[Value]:
    """What a unit reads at indices that fail the call where they are out of range."""
    for piece in unit.pieces:
        if piece.op is PICK and piece.fields["checked"]:
            yield piece.result


def expands(node: Node) -> bool:
    """Whether a kernel computes the node by other rows."""
    kinds = (Kind.ELEMENTWISE, Kind.REDUCE, Kind.COMPOSITE, Kind.GATHER)
    return node.op.kind in kinds and node.op.expand is not None and not node.op.spell


def expansion(node: Node, emit: Builder, depth: int = DEPTH) -> tuple[Value, ...]:
    """The node's expansion, composites inside it expanded in turn.

    Raises:
        Unfit: if there is none for these operands.
    """
    if not depth:
        raise Unfit(f"{node.op.name} expands too deeply")
    operands = list(node.operands)
    if node.op.rounds == "once":
        operands = [_widened(v, emit) for v in operands]
    inner = Builder(Block(), emit.sizes, emit.default, emit.location)
    assert node.op.expand is not None
    try:
        made = tuple(node.op.expand(inner, *operands, **node.fields))
    except ShapeMismatch as error:  # an extreme of a dim of size 0, where eager has a result
        raise Unfit(f"the expansion of {node.op.name} does not fit: {error.seen}") from error
    except (NotImplementedError, Undecided) as error:
        raise Unfit(f"{node.op.name} {error}") from error
    replaced: dict[Value, Value] = {}
    for piece in inner.block.nodes:
        piece.operands = tuple(v if v is None else replaced.get(v, v) for v in piece.operands)
        if expands(piece):
            replaced.update(zip(piece.results, expansion(piece, emit, depth - 1), strict=True))
        else:
            emit.block.nodes.append(piece)
    results = []
    for value, wanted in zip(made, node.results, strict=True):
        result = replaced.get(value, value)  # type: ignore[call-overload]  # a Ref of ours
        if isinstance(wanted.type, TensorType) and result.type.dtype != wanted.type.dtype:
            result = emit.emit(CAST.name, result, dtype=wanted.type.dtype)
        results.append(result)
    return tuple(results)


def _widened(value: Value | None, emit: Builder) -> Value | None:
    if value is not None and isinstance(value.type, TensorType) and value.type.dtype.is_half:
        return emit.emit(CAST.name, value, dtype=F32)
    return value


def check_piece(piece: Node, node: Node, target: str, sizes: Sizes) -> None:
    """Check that a kernel's body can hold a piece of a node.

    Raises:
        Unfit: if not, with the reason.
    """
    op = piece.op
    if op is MAP:
        _check_body(piece.regions[0], target, sizes)
        return
    if op is IF:
        _check_arms(piece, target, sizes)
        return
    where = "" if piece is node else f"{node.op.name} needs "
    if op.kind is Kind.ELEMENTWISE:
        assert op.rule.computes is not None
        dtype = op.rule.computes(call_of(piece, sizes))[-1]
        if op is not CAST and op.spelling((target, "c"), dtype.name) is None:
            raise Unfit(f"{where}{op.name}, which has no text for {target}")
    elif op.kind is Kind.REDUCE:
        if not op.combine:
            raise Unfit(f"{where}{op.name}, which no kernel combines")
    elif op.kind not in (Kind.VIEW, Kind.SIZE) and op not in (*OWN, MAP):
        raise Unfit(f"{where}{op.name}, which is {_KINDS.get(op.kind, 'a library call')}")


def _check_body(body: Block, target: str, sizes: Sizes) -> None:
    """Raise Unfit unless a kernel's body can hold the nodes of a map's."""
    for node in body.walk():
        numbers = all(isinstance(r.type, ScalarType) for r in node.results)
        if node.op.kind is Kind.CONTROL or numbers:
            continue
        scratch = Builder(Block(), sizes, location=node.location)
        if expands(node):
            expansion(node, scratch)
        pieces = scratch.block.nodes if expands(node) else [node]
        for piece in pieces:
            if piece.op.kind is not Kind.ELEMENTWISE:
                raise Unfit(f"a map's body has {piece.op.name}, which is not elementwise")
            check_piece(piece, node, target, sizes)


def _check_arms(node: Node, target: str, sizes: Sizes) -> None:
    """Raise Unfit unless a kernel over what an `if` gives computes both of its arms.

    Args:
        node: the `if`, whose operands are all that it reads.
        target: what the kernel is for.
        sizes: the function's.
    """
    dims = tensor_type(node.results[0]).dims
    for result in node.results:
        own = tensor_type(result).dims
        if len(own) != len(dims) or not all(map(sizes.equal, own, dims)):
            raise Unfit("an if gives tensors of several sizes")
    for value in node.values:
        _check_spread(value, dims, sizes)
    for arm in node.regions:
        for inner in arm.walk():
            if inner.op.kind is Kind.VIEW or inner.op in (MAP, *OWN):
                raise Unfit(f"{inner.op.name} of what an arm computes")
            for result in inner.results:
                _check_spread(result, dims, sizes)
        _check_body(arm, target, sizes)


def _check_spread(value: Value, dims: tuple[Dim, ...], sizes: Sizes) -> None:
    """Raise Unfit unless a value is a number, or broadcasts to these sizes."""
    if not isinstance(value.type, TensorType):
        return
    own = value.type.dims
    pairs = zip(reversed(own), reversed(dims), strict=False)
    if len(own) > len(dims) or not all(is_one(a, sizes) or sizes.equal(a, b) for a, b in pairs):
        raise Unfit("an arm computes more than it gives")


def is_one(dim: Dim, sizes: Sizes) -> bool:
    """Whether a size is 1, plainly or by an assumption of the function."""
    return dim == 1 or (isinstance(dim, Expr) and sizes.equal(dim, 1))


def reduced_axes(piece: Node) -> tuple[int, ...]:
    """The axes of its operand that a reduction combines."""
    source = piece.values[0].type
    assert isinstance(source, TensorType)
    dims = piece.fields["dim"]
    assert dims is None or isinstance(dims, tuple)
    return normal_axes(dims, source.rank)


def reduces_all(piece: Node, node: Node) -> bool:
    """Whether a reduction combines a whole tensor, whose axes are no batch of one, and alone."""
    source = piece.values[0].type
    assert isinstance(source, TensorType)
    kinds = [r.type for r in node.results if isinstance(r.type, TensorType)]
    alone = all(kind.dims != source.dims for kind in kinds)
    return alone and len(reduced_axes(piece)) == source.rank
