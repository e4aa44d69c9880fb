"""Which counted loops one kernel runs: elementwise bodies of the size of what they carry.

fits:      h = h * decay + x[t]            every x[t] of the size of h, or of one that broadcasts
does not:  h = torch.softmax(h + x[t], 0)  an element needs the others of its iteration
"""

from astjit.fusion.pieces import IF, Unfit, check_piece, expands, expansion, is_one, root_of
from astjit.ir.builder import Builder
from astjit.ir.function import Block, Node
from astjit.ir.value import Literal, Value, tensor_type
from astjit.ir.walk import inputs
from astjit.ops.spec import Kind
from astjit.ops.table import OPS
from astjit.types.shape import Sizes
from astjit.types.tensor import ScalarType, TensorType

SIZE = OPS["size"]
HOST = (OPS["add"], OPS["sub"], OPS["mul"])  # arithmetic of Python numbers that is the processor's
_MOST_NODES, _MOST_BUFFERS = 250, 24


def fits(node: Node, sizes: Sizes) -> None:
    """Check that one kernel runs a loop.

    Raises:
        Unfit: if not, with the reason.
    """
    body, count = node.regions[0], len(node.values)
    if not count:
        raise Unfit("the loop carries no tensor")
    kind = tensor_type(node.results[0])
    target = kind.device.split(":")[0]
    for value in (*node.values, *body.results):
        if not isinstance(value.type, TensorType):
            raise Unfit("the loop carries a Python number")
        own = value.type
        if own.rank != kind.rank or not all(map(sizes.equal, own.dims, kind.dims)):
            raise Unfit("what the loop carries and stacks is not of one size")
    own_values: set[Value] = {*body.params, *(r for inner in body.walk() for r in inner.results)}
    if len(body.nodes) > _MOST_NODES:
        raise Unfit(f"a kernel has at most {_MOST_NODES} operations")
    for inner in body.nodes:
        _check_node(inner, kind, target, sizes, own_values)
    buffers = {v for v in leaves(node) if isinstance(v.type, TensorType)}
    if len(buffers) + len(node.values) + len(node.results) > _MOST_BUFFERS:
        raise Unfit(f"a loop has at most {_MOST_BUFFERS} buffers")
    for value in (*buffers, *node.values):
        _check_kind(value, kind, sizes)


def _check_node(node: Node, kind: TensorType, target: str, sizes: Sizes, own: set[Value]) -> None:
    if node.op.kind is Kind.VIEW:
        if root_of(node.result) in own:
            raise Unfit(f"{node.op.name} of what an iteration computes")
        return
    if node.op is SIZE:
        return
    if all(isinstance(r.type, ScalarType) for r in node.results):
        if node.op not in HOST:
            raise Unfit(f"{node.op.name} of Python numbers in a loop")
        return
    if node.op is IF:
        for inner in (n for arm in node.regions for n in arm.nodes):
            _check_node(inner, kind, target, sizes, own)
        for result in node.results:
            _check_kind(result, kind, sizes)
        return
    scratch = Builder(Block(), sizes, location=node.location)
    if expands(node):
        expansion(node, scratch)
    for piece in scratch.block.nodes if expands(node) else [node]:
        if piece.op.kind is not Kind.ELEMENTWISE:
            raise Unfit(f"the loop has {piece.op.name}, which is not elementwise")
        check_piece(piece, node, target, sizes)
    for result in node.results:
        _check_kind(result, kind, sizes)


def _check_kind(value: Value, kind: TensorType, sizes: Sizes) -> None:
    """Raise Unfit unless a tensor broadcasts to the carried ones."""
    own = tensor_type(value)
    if own.device != kind.device:
        raise Unfit("the loop mixes devices")
    pairs = zip(reversed(own.dims), reversed(kind.dims), strict=False)
    if own.rank > kind.rank or not all(is_one(a, sizes) or sizes.equal(a, b) for a, b in pairs):
        raise Unfit("the loop computes more than it carries")


def leaves(node: Node) -> list[Value]:
    """What the body of a loop reads of what was there before, views of that included."""
    (body,) = node.regions
    nodes = [inner for inner in body.nodes if inner.op.kind is not Kind.VIEW]
    own: set[Value] = {r for inner in nodes for r in inner.results}
    own |= set(body.params)
    used = [v for inner in nodes for v in inputs(inner)]
    found = dict.fromkeys((*used, *body.results))
    return [v for v in found if v not in own and not isinstance(v, Literal)]
