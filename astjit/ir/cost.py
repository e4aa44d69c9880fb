"""Bytes and floating-point operations, symbolic in the sizes.

%y = add %x, %w : f32[rows, cols]  =>  bytes_moved 12*rows*cols when both operands are full,
                                       flops rows*cols
"""

from collections.abc import Iterable

from astjit.errors import ShapeMismatch
from astjit.ir.builder import Builder
from astjit.ir.function import Block, Node
from astjit.ir.value import Literal, Param, Value
from astjit.ops.spec import Kind
from astjit.types.shape import Dim, Predicate, Sizes, Undecided, add, mul
from astjit.types.tensor import TensorType

_FREE = (Kind.VIEW, Kind.SIZE)  # another index map, a number on the host


def value_bytes(value: Value) -> Dim:
    """Bytes of a tensor's elements, each counted once; 0 for a Python number."""
    if not isinstance(value.type, TensorType):
        return 0
    return mul(value.type.numel, value.type.dtype.itemsize)


def bytes_moved(node: Node) -> Dim:
    """Bytes read and written when the node runs alone: operands once each, and results."""
    if node.op.kind in _FREE:
        return 0
    operands = {v: None for v in node.values if not isinstance(v, Literal)}
    return add(*(value_bytes(v) for v in (*operands, *node.results)))


def flops(node: Node, assumed: Iterable[Predicate] = ()) -> Dim | None:
    """Operations of a node, counted as one for each elementwise row and element.

    A reduction counts one for each element that it reads, a composite what it expands into.

    Args:
        node: any node.
        assumed: the function's assumptions, for what composites expand into.

    Returns:
        None where the row does not say: library calls and control.
    """
    match node.op.kind:
        case Kind.VIEW | Kind.SIZE | Kind.FACTORY | Kind.GATHER:
            return 0
        case Kind.ELEMENTWISE:
            return _numel(node.results)
        case Kind.REDUCE:
            return _numel(node.values[:1])
        case Kind.COMPOSITE:
            return _expanded(node, assumed)
    return None


def _numel(values: Iterable[Value]) -> Dim:
    return add(*(v.type.numel for v in values if isinstance(v.type, TensorType)))


def _expanded(node: Node, assumed: Iterable[Predicate]) -> Dim | None:
    if node.op.expand is None:
        return None
    scratch = Builder(Block(), Sizes(assumed))
    operands = [v if v is None or isinstance(v, Literal) else Param(v.type) for v in node.operands]
    try:
        node.op.expand(scratch, *operands, **node.fields)
    except (ShapeMismatch, Undecided):
        return None  # the expansion asks what is not assumed
    counts = [flops(inner, assumed) for inner in scratch.block.nodes]
    return add(*(c for c in counts if c is not None)) if None not in counts else None
