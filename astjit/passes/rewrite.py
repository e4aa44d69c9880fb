"""What passes that replace values share: the replacing, and which values must stay as they are.

    replace(%2 by %1):   %3 = mul %1, %2   =>   %3 = mul %1, %1;   the node of %2 is left for dce

A tensor that leaves the function keeps its node. Eager gives every result memory of its own, and a
caller may write into one; merging two results, or returning an argument where eager returns a copy
of it, would let such a write reach the other.
"""

from collections.abc import Callable, Sequence

from astjit.ir.function import Block, Function, Node
from astjit.ir.value import Param, Result, Value
from astjit.ops.spec import FieldKind, Kind
from astjit.types.tensor import TensorType

Rule = Callable[[Node], Value | None]


class Replacements:
    """Values to be used instead of others, applied while walking forwards.

    Attributes:
        changed: whether an operand or a result was replaced.
    """

    def __init__(self, function: Function) -> None:
        self.changed = False
        self._leaving = leaving(function)
        self._new: dict[Value, Value] = {}

    def replace(self, node: Node, values: Sequence[Value]) -> None:
        """From here on use `values` for the node's results, unless one of them leaves."""
        if not any(result in self._leaving for result in node.results):
            self._new.update(zip(node.results, values, strict=True))

    def apply(self, node: Node) -> None:
        """Replace operands of a node."""
        node.operands = tuple(v if v is None else self._used(v) for v in node.operands)

    def finish(self, block: Block) -> None:
        """Replace results of a block: Python numbers, and tensors of regions that go nowhere."""
        block.results = [self._used(v) for v in block.results]

    def _used(self, old: Value) -> Value:
        new = self._new.get(old)
        if new is None:
            return old
        self.changed = True
        if isinstance(new, Param | Result) and not new.name:
            new.name = old.name  # the user's variable is worth more than a number
        return new


def rewrite(function: Function, rule: Rule) -> bool:
    """Replace the result of every node for which `rule` knows a better value; whether it did."""
    changes = Replacements(function)

    def visit(block: Block) -> None:
        for node in block.nodes:
            changes.apply(node)
            for region in node.regions:
                visit(region)
            if len(node.results) == 1 and (value := rule(node)) is not None:
                changes.replace(node, (value,))
        changes.finish(block)

    visit(function.body)
    return changes.changed


def leaving(function: Function) -> set[Value]:
    """Tensors whose memory the caller gets: results, and what results may be views of."""
    found: set[Value] = set()

    def visit(block: Block, wanted: Sequence[Value]) -> None:
        found.update(v for v in wanted if isinstance(v.type, TensorType))
        for node in reversed(block.nodes):
            if not _may_alias(node) or not any(result in found for result in node.results):
                continue
            found.update(v for v in node.values if isinstance(v.type, TensorType))
            for region in node.regions:
                visit(region, region.results)

    visit(function.body, function.results)
    return found


def _may_alias(node: Node) -> bool:
    """Whether a result may lie in the memory of an operand."""
    if node.op.kind in (Kind.VIEW, Kind.CONTROL):
        return True
    return any(declared.kind is FieldKind.TYPES for declared in node.op.fields)
