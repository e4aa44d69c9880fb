"""Gives every reader of a tensor that is made of sizes and numbers one of its own.

    before: %i = iota {size=n} ; %a = unsqueeze %i {dim=-1} ; %m = ge %a, %i
    after:  %i = iota {size=n} ; %a = unsqueeze %i {dim=-1} ; %0 = iota {size=n} ; %m = ge %a, %0

A kernel computes such a value where it reads it, which costs nothing, and reads each value at one
index: the positions of rows and of columns are two values. What PyTorch's kernels read, or what is
returned, stays one tensor, which its views share.
"""

from astjit.ir.function import Function, Node, make_node
from astjit.ir.value import Result, Value
from astjit.ops.spec import Kind

_READERS = (Kind.ELEMENTWISE, Kind.REDUCE, Kind.COMPOSITE, Kind.GATHER, Kind.VIEW)


def apart(function: Function) -> None:
    """Copy factories, and views of them, for all of their readers in kernels but the first."""
    made = _of_factories(function)
    kept = set(function.body.results)  # values that are tensors, or views of one
    readers: dict[Value, list[tuple[Node, int]]] = {}
    nodes: list[Node] = []  # last first
    for node in reversed(function.body.nodes):
        nodes.append(node)
        if node in made:
            (value,) = node.results
            uses = readers.get(value, [])
            kernels = [use for use in uses if _copies(use[0], kept)]
            if len(kernels) < len(uses):
                kept.add(value)
            spare = 0 if value in kept else 1
            for reader, at in kernels[spare:]:
                copy = make_node(
                    node.op, node.operands, dict(node.fields), (value.type,), node.location
                )
                operands = list(reader.operands)
                operands[at] = copy.result
                reader.operands = tuple(operands)
                nodes.append(copy)
                _note(copy, readers)
        _note(node, readers)
    function.body.nodes[:] = reversed(nodes)


def _copies(reader: Node, kept: set[Value]) -> bool:
    """Whether a reader may have a value of its own: a view that is a tensor shares the value's."""
    shares = reader.op.kind is Kind.VIEW and reader.result in kept
    return reader.op.kind in _READERS and not shares


def _of_factories(function: Function) -> set[Node]:
    """Factories, and views of them that nothing else goes into."""
    found: set[Node] = set()
    for node in function.body.nodes:
        source = node.operands[0] if node.operands else None
        chained = isinstance(source, Result) and source.node in found
        if node.op.kind is Kind.FACTORY or (node.op.kind is Kind.VIEW and chained):
            found.add(node)
    return found


def _note(node: Node, readers: dict[Value, list[tuple[Node, int]]]) -> None:
    for at, value in enumerate(node.operands):
        if value is not None:
            readers.setdefault(value, []).append((node, at))
    for region in node.regions:
        for inner in region.walk():
            _note(inner, readers)
