"""Who needs what in a function, with views seen through: the graph that grouping cuts."""

from collections.abc import Callable, Iterable, Sequence

from astjit.fusion.pieces import root_of
from astjit.ir.function import Block, Function, Node
from astjit.ir.value import Literal, Param, Result, Value
from astjit.ir.walk import may_raise
from astjit.ops.spec import Kind
from astjit.types.tensor import TensorType


class Graph:
    """The nodes that a function's results need.

    Attributes:
        results: what the function returns.
        nodes: the live ones, in order.
        position: of each in the function.
    """

    def __init__(self, function: Function) -> None:
        self.results: Sequence[Value] = function.results
        live = _live(function)
        self.nodes = [n for n in function.body.nodes if n in live]
        self.position = {n: i for i, n in enumerate(self.nodes)}
        self._users: dict[Value, set[Node | None]] = {}
        self._after: dict[Node, tuple[Node, ...]] = {}
        self._ends = [*range(len(self.nodes))]  # for a place a later one of its stretch
        for node in (n for n in self.nodes if n.op.kind is not Kind.VIEW):
            for value in operands(node):
                self._users.setdefault(root_of(value), set()).add(node)
        for value in function.results:
            self._users.setdefault(root_of(value), set()).add(None)

    def users(self, value: Value) -> set[Node | None]:
        """Nodes that read a value, itself or through views; None stands for the caller."""
        return self._users.get(value, set())

    def roots(self, node: Node) -> list[Value]:
        """The tensors that a node reads, views seen through, each once."""
        found = (root_of(v) for v in operands(node) if isinstance(v.type, TensorType))
        return list(dict.fromkeys(found))

    def between(self, group: set[Node], together: Callable[[Node], Iterable[Node]]) -> Node | None:
        """A node outside that the group feeds and that feeds it, straight or through others.

        Args:
            group: nodes that are to run at once.
            together: the nodes that run at once with a node outside.
        """
        last = self._end(max(self.position[n] for n in group))
        todo = [user for n in group for user in self._next(n) if user not in group]
        seen = set(todo)
        while todo:
            node = todo.pop()
            others = [n for n in together(node) if n not in group]
            if min(self.position[n] for n in others) > last:
                continue
            for user in (user for n in others for user in self._next(n)):
                if user in group:
                    return node
                if user not in seen:
                    seen.add(user)
                    todo.append(user)
        return None

    def join(self, group: Iterable[Node]) -> None:
        """Note that nodes run at once: the stretch from the first to the last is one.

        What lies behind a stretch feeds nothing in it: values flow forward, and no group of nodes
        that run at once reaches over the end of a stretch.
        """
        places = [self.position[n] for n in group]
        at, last = self._end(min(places)), self._end(max(places))
        while at < last:
            self._ends[at] = last
            at = self._end(at + 1)

    def _end(self, at: int) -> int:
        """The last place of the stretch of a place (disjoint sets, paths halved)."""
        ends = self._ends
        while ends[at] != at:
            ends[at] = at = ends[ends[at]]
        return at

    def _next(self, node: Node) -> tuple[Node, ...]:
        """The nodes that read a node's results; grouping asks again and again."""
        found = self._after.get(node)
        if found is None:
            users = {u: None for result in node.results for u in self.users(result)}
            found = self._after[node] = tuple(u for u in users if u is not None)
        return found


def operands(node: Node) -> list[Value]:
    """The values that a node reads, those that its regions capture included."""
    found = list(node.values)
    for region in node.regions:
        found += _captured(region)
    return [v for v in found if not isinstance(v, Literal)]


def _captured(block: Block) -> list[Value]:
    inside: set[Value] = set()
    for node in block.walk():
        inside.update(node.results)
        for region in node.regions:
            inside.update(region.params)
    inside.update(block.params)
    used = [v for node in block.walk() for v in node.values] + list(block.results)
    used += [v for node in block.walk() for region in node.regions for v in region.results]
    return [v for v in used if v not in inside and isinstance(v, Param | Result)]


def _live(function: Function) -> set[Node]:
    todo = list(function.results)
    todo += (r for node in function.body.nodes if may_raise(node) for r in node.results)
    found: set[Node] = set()
    while todo:
        value = todo.pop()
        if isinstance(value, Result) and isinstance(value.node, Node) and value.node not in found:
            found.add(value.node)
            todo += operands(value.node)
    return found
