"""Questions about where values are made and used, regions included.

%y used by two nodes and returned  =>  users(block)[%y] is those nodes, use_counts(block)[%y] is 3
"""

from collections import Counter
from collections.abc import Iterator

from astjit.ir.function import Block, Node
from astjit.ir.value import Literal, Value
from astjit.ops.spec import Trait

Place = tuple[int, ...]  # index of a node, and for each region it lies in: index of node, region


def blocks(block: Block) -> Iterator[Block]:
    """The block and those of all regions inside it, outer ones first."""
    yield block
    for node in block.nodes:
        for region in node.regions:
            yield from blocks(region)


def users(block: Block) -> dict[Value, list[Node]]:
    """The nodes that have each value as an operand, in order, each node once a value."""
    found: dict[Value, list[Node]] = {}
    for node in block.walk():
        for value in dict.fromkeys(node.values):
            if not isinstance(value, Literal):
                found.setdefault(value, []).append(node)
    return found


def use_counts(block: Block) -> Counter[Value]:
    """How often each value is an operand, a yield or a result; unused values are absent."""
    found: Counter[Value] = Counter()
    for inner in blocks(block):
        found.update(v for node in inner.nodes for v in node.values if not isinstance(v, Literal))
        found.update(v for v in inner.results if not isinstance(v, Literal))
    return found


def may_raise(node: Node) -> bool:
    """Whether it may refuse the values that it is given.

    A row says so; PyTorch's own kernel may refuse what its meta function took. Such a call is made
    even if nothing needs its result, as eager makes it.
    """
    return "template" in node.fields or Trait.RAISES in node.op.traits


def has_effect(node: Node) -> bool:
    """Whether the node, or one inside its regions, must stay and must not be merged."""
    return bool(node.op.traits & Trait.EFFECT) or any(
        has_effect(inner) for region in node.regions for inner in region.nodes
    )


def inputs(node: Node) -> tuple[Value, ...]:
    """What a node reads: its operands, then what its regions take from outside, each once."""
    if not node.regions:
        return node.values
    outer = (v for region in node.regions for v in outer_values(region))
    return tuple(dict.fromkeys((*node.values, *outer)))


class Places:
    """Where every node of a block and of its regions stands.

    A value dominates a node when it is always known there: it is made earlier in the same block, or
    in a block that holds the node's.
    """

    def __init__(self, block: Block) -> None:
        self.nodes: dict[Node, Place] = {}
        self.values: dict[Value, Place] = {}
        self._visit(block, ())

    def _visit(self, block: Block, inside: Place) -> None:
        for param in block.params:
            self.values[param] = (*inside, -1)
        for index, node in enumerate(block.nodes):
            place = (*inside, index)
            self.nodes[node] = place
            self.values.update(dict.fromkeys(node.results, place))
            for number, region in enumerate(node.regions):
                self._visit(region, (*place, number))

    def dominates(self, value: Value, node: Node) -> bool:
        """Whether `value` is known wherever `node` runs.

        Raises:
            KeyError: if the node, or the value, does not belong to the block.
        """
        if isinstance(value, Literal):
            return True
        made, used = self.values[value], self.nodes[node]
        block, index = made[:-1], made[-1]
        return used[: len(block)] == block and index < used[len(block)]


def outer_values(region: Block) -> list[Value]:
    """What a region uses and does not make itself, in the order of first use."""
    own: set[Value] = {p for inner in blocks(region) for p in inner.params}
    own.update(r for node in region.walk() for r in node.results)
    used = [v for inner in blocks(region) for node in inner.nodes for v in node.values]
    used += [v for inner in blocks(region) for v in inner.results]
    return [v for v in dict.fromkeys(used) if v not in own and not isinstance(v, Literal)]
