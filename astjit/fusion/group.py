"""Cuts a function into kernels and library calls: which values share a kernel, and why not.

    before: %m = mean %x ; %d = sub %x, %m ; %y = matmul %d, %w ; %z = relu %y
    after:  kernel (mean, sub) ; library call (matmul) ; kernel (relu)
            matmul: "matmul is a library call"

Greedy by bytes saved: the edges between fusible nodes are tried from the largest value down, then
groups that read the same large value. A merge is made only if one loop nest holds both, everything
needed outside can be stored from it, and nothing outside lies between the two.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from astjit.config import Config
from astjit.fusion.apart import apart
from astjit.fusion.graph import Graph
from astjit.fusion.index import Space, space_of
from astjit.fusion.kernel import Group, Kernel, Parts, Unfused, is_free
from astjit.fusion.loops import FOR, loop_group
from astjit.fusion.lower import Lowering
from astjit.fusion.names import Names, identifier
from astjit.fusion.order import arranged
from astjit.fusion.pieces import IF, Unfit, Unit, checked_picks, reduces_all, root_of, unit_of
from astjit.fusion.reads import layout, memories, reads_of
from astjit.ir.function import Function, Node
from astjit.ir.value import Result, Value
from astjit.location import Location
from astjit.ops.spec import Kind
from astjit.types.shape import Dim, Sizes, hint
from astjit.types.tensor import TensorType

MOST_BUFFERS = 16
MOST_PIECES = 250
NEAR = 5  # readers of one value are tried with this many after them, less one
_COPIES = (Kind.GATHER, Kind.FACTORY)
_GUESS = 64  # a size without an example


@dataclass(eq=False, slots=True)
class Cluster:
    """Nodes of the function that share a kernel."""

    units: tuple[Unit, ...]
    space: Space
    nodes: tuple[Node, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.nodes = tuple(unit.node for unit in self.units)


def groups(function: Function, target: str, config: Config) -> Parts:
    """The parts that a Program runs, in execution order, with the reasons of the cuts.

    Args:
        function: its tensors become kernels' buffers.
        target: "cpu" or "cuda": rows it cannot spell become library calls.
        config: says where 16-bit values are rounded.
    """
    apart(function)
    grouping = Grouping(function, target)
    grouping.merge()
    return grouping.parts(config)


class Grouping:
    """The state of the greedy search."""

    def __init__(self, function: Function, target: str) -> None:
        self.function, self.target = function, target
        self.sizes = Sizes(function.assumed)
        self.graph = Graph(function)
        self.of: dict[Node, Cluster] = {}
        self.reasons: dict[Node, str] = {}
        self.apart: set[tuple[Cluster, Cluster]] = set()  # what lies between them stays there
        for node in self.graph.nodes:
            if node.op.kind is Kind.VIEW:
                continue
            try:
                if not any(map(self.graph.users, node.results)):
                    raise Unfit("nothing needs its result, but it may refuse its operands")
                unit = unit_of(node, self.sizes, target)
                self.of[node] = self.legal((unit,))
            except Unfit as reason:
                self.reasons[node] = str(reason)

    # -- legality -------------------------------------------------------------------------------
    def legal(self, units: tuple[Unit, ...]) -> Cluster:
        """The units as one kernel.

        Raises:
            Unfit: if they are none, with the reason.
        """
        if sum(len(unit.pieces) for unit in units) > MOST_PIECES and len(units) > 1:
            raise Unfit(f"a kernel has at most {MOST_PIECES} operations")
        outputs = self.outputs(units)
        space = space_of(units, self.sizes, outputs)
        if space.deep and space.reduced == space.whole and self.target == "cuda":
            # one block does it all: blocks cannot wait for each other between stages
            pieces = ((p, unit.node) for unit in units for p in unit.pieces)
            if any(p in space.combined and reduces_all(p, node) for p, node in pieces):
                raise Unfit("a whole tensor is reduced in several stages")
        if any(p not in space.needed for unit in units for p in checked_picks(unit)):
            raise Unfit("not all of its indices would be checked")
        for value in outputs:
            axes = frozenset(space.loops(space.axes[value]))
            rows = space.reduced and axes == space.whole - space.reduced
            if axes != space.whole and not rows and value not in space.finals:
                raise Unfit("a value needed elsewhere does not run over all of its axes")
        read = {piece.operands[at] for piece, at in space.leaves}
        if len(read) + len(outputs) > MOST_BUFFERS and len(units) > 1:
            raise Unfit(f"a kernel has at most {MOST_BUFFERS} buffers")
        if space.reduced:
            inputs, written, _ = memories(units, space, outputs, self.sizes)
            columns = layout(space, inputs, written).kind == "column"
            if columns and any(n.op.kind is Kind.CONTROL for u in units for n in _flows(u)):
                raise Unfit("branches and loops are not combined along columns")
        return Cluster(units, space)

    def outputs(self, units: Sequence[Unit]) -> list[Value]:
        """Results of the units' nodes that anything else needs."""
        inside = {unit.node for unit in units}
        results = (r for unit in units for r in unit.node.results)
        return [r for r in results if not self.graph.users(r) <= inside]

    def joined(self, a: Cluster, b: Cluster) -> Cluster:
        """Two clusters as one.

        Raises:
            Unfit: with the reason.
        """
        between = self.graph.between({*a.nodes, *b.nodes}, self.members)
        if between is not None:
            raise Unfit(f"{between.op.name} lies between them")
        place = self.graph.position
        return self.legal(tuple(sorted((*a.units, *b.units), key=lambda u: place[u.node])))

    def members(self, node: Node) -> Sequence[Node]:
        """The nodes that run together with `node`."""
        cluster = self.of.get(node)
        return (node,) if cluster is None else cluster.nodes

    # -- search ---------------------------------------------------------------------------------
    def merge(self) -> None:
        """Merge until nothing more can be: along edges first, then beside each other."""
        edges = self.edges()
        changed = True
        while changed:
            merged = [self.try_merge(producer, consumer) for producer, consumer in edges]
            if not any(merged):
                merged = [self.try_merge(a, b) for a, b in self.siblings()]
            changed = any(merged)
        for cluster in dict.fromkeys(self.of.values()):
            if all(node.op.kind in _COPIES for node in cluster.nodes):
                for node in cluster.nodes:
                    del self.of[node]
                    self.reasons[node] = f"{node.op.name} alone is PyTorch's own copy"

    def try_merge(self, a: Node, b: Node) -> bool:
        """Merge the clusters of two nodes if that is legal."""
        first, second = self.of[a], self.of[b]
        if first is second or (first, second) in self.apart:
            return False
        try:
            made = self.joined(first, second)
        except Unfit:
            self.apart.add((first, second))
            return False
        self.of.update(dict.fromkeys(made.nodes, made))
        self.graph.join(made.nodes)
        return True

    def edges(self) -> list[tuple[Node, Node]]:
        """Producers and consumers that kernels can compute, by bytes of the value between them."""
        weighted = []
        for node in self.of:
            for value in self.graph.roots(node):
                if isinstance(value, Result) and value.node in self.of:
                    assert isinstance(value.node, Node)
                    weighted.append((-_bytes(value), self.graph.position[node], value.node, node))
        weighted.sort(key=lambda edge: edge[:2])
        # Among edges of one weight every other one first, then every other of the rest, and so on:
        # a long chain is merged as a balanced tree, in n log n steps of work instead of n squared.
        ranked = [(edge[0], (i + 1) & -(i + 1), edge) for i, edge in enumerate(weighted)]
        ranked.sort(key=lambda item: item[:2])
        return [(producer, consumer) for _, _, (_, _, producer, consumer) in ranked]

    def siblings(self) -> Iterable[tuple[Node, Node]]:
        """Nodes of two clusters that read the same value over all of their axes."""
        readers: dict[Value, list[Node]] = {}
        for cluster in dict.fromkeys(self.of.values()):
            for (piece, at), axes in cluster.space.leaves.items():
                operand = piece.operands[at]
                real = frozenset(cluster.space.loops(axes))
                if operand is not None and real == cluster.space.whole:
                    readers.setdefault(root_of(operand), []).append(cluster.nodes[0])
        for found in readers.values():
            distinct = list(dict.fromkeys(found))
            near = ((a, b) for i, a in enumerate(distinct) for b in distinct[i + 1 : i + NEAR])
            yield from near

    # -- results --------------------------------------------------------------------------------
    def parts(self, config: Config) -> Parts:
        """Kernels and library calls in execution order."""
        made: dict[Node, Group] = {}
        hosts: dict[int, list[Node]] = {}
        names = Names()
        for cluster in dict.fromkeys(self.of.values()):
            group, extra = self.lowered(cluster, names, config)
            made.update(dict.fromkeys(cluster.nodes, group))
            hosts[id(group)] = [n for n in extra if n not in self.graph.position]
        for node in self.graph.nodes:
            if node.op is FOR:
                self.loop(node, names, config, made, hosts)
        return Parts(arranged(self.graph, made, hosts), tuple(self.unfused()))

    def loop(
        self,
        node: Node,
        names: Names,
        config: Config,
        made: dict[Node, Group],
        hosts: dict[int, list[Node]],
    ) -> None:
        """A loop as a kernel of its own, where one runs it."""
        wanted = [r for r in node.results if self.graph.users(r)]
        base = identifier(self.function.name) or "kernel"
        named = [identifier(r.name) for r in wanted if r.name]
        alone = all(is_free(n) or n is node for n in self.graph.nodes)
        try:
            name = base if alone else f"{base}_{named[-1] if named else 'loop'}"
            group, extra = loop_group(node, names.take(name), wanted, self.sizes, config)
        except Unfit as reason:
            self.reasons[node] = str(reason)
            return
        self.reasons[node] = "a loop is a kernel of its own"
        made[node], hosts[id(group)] = group, extra

    def lowered(self, cluster: Cluster, names: Names, config: Config) -> tuple[Group, list[Node]]:
        """The kernel of a cluster, and size nodes that it needs a number from."""
        units, outputs = cluster.units, self.outputs(cluster.units)
        reads = reads_of(units, cluster.space, outputs, self.sizes, self.function.params)
        lowering = Lowering(units, cluster.space, reads, self.sizes, config)
        lowering.run()
        for bound, value in zip(reads.outputs, outputs, strict=True):
            local = lowering.local(value)
            assert local is not None
            if isinstance(local.stored, Result):
                lowering.emit.location = local.stored.location
            where = ",".join(bound.buffer.axes)
            lowering.emit.emit_all("store", bound.param, local.stored, at=where)
        bounds = [*reads.inputs, *reads.outputs]
        numbers = tuple(lowering.numbers)
        for value, param in lowering.numbers.items():
            made = value.node if isinstance(value, Result) else None
            size = isinstance(made, Node) and made.op.kind is Kind.SIZE
            param.name = reads.names.take(value.name, "size" if size else "number")
        lowering.body.params[:] = [*(b.param for b in bounds), *lowering.numbers.values()]
        _name_values(lowering, reads.names)
        kernel = Kernel(
            name=names.take(self.name(cluster, outputs)),
            kind=reads.nest.kind,
            parallel=reads.nest.parallel,
            reduced=reads.nest.reduced,
            buffers=tuple(b.buffer for b in bounds),
            body=lowering.body,
            lines=_lines(cluster.nodes),
        )
        group = Group(
            kernel=kernel,
            extents=reads.nest.extents,
            inputs=tuple(b.memory.value for b in reads.inputs),
            offsets=tuple(b.memory.offset for b in reads.inputs),
            outputs=tuple(b.memory.value for b in reads.outputs),
            numbers=numbers,
            strides=reads.strides,
        )
        return group, lowering.hosts

    def name(self, cluster: Cluster, outputs: Sequence[Value]) -> str:
        """The function's name where the kernel is all of it, else with its last variable or op."""
        base = identifier(self.function.name) or "kernel"
        if all(is_free(node) or self.of.get(node) is cluster for node in self.graph.nodes):
            return base
        named = [identifier(v.name) for v in outputs if v.name]
        return f"{base}_{named[-1] if named else cluster.nodes[-1].op.name}"

    def unfused(self) -> Iterable[Unfused]:
        """Every edge between two parts with its reason."""
        seen = set()
        for node in self.graph.nodes:
            if is_free(node):
                continue
            for value in self.graph.roots(node):
                producer = value.node if isinstance(value, Result) else None
                if not isinstance(producer, Node) or is_free(producer) or (producer, node) in seen:
                    continue
                seen.add((producer, node))
                if self.of.get(producer) is None or self.of.get(producer) is not self.of.get(node):
                    yield Unfused(producer, node, self.why_not(producer, node))

    def why_not(self, producer: Node, consumer: Node) -> str:
        """Why two nodes lie in different parts."""
        for node in (producer, consumer):
            if node not in self.of:
                return self.reasons[node]
        try:
            self.joined(self.of[producer], self.of[consumer])
        except Unfit as reason:
            return str(reason)
        return "other merges were worth more"


def _flows(unit: Unit) -> Iterable[Node]:
    """The nodes of a unit that are not run for each element alike: in regions, and an `if`."""
    yield from (piece for piece in unit.pieces if piece.op is IF)
    yield from (n for piece in unit.pieces for region in piece.regions for n in region.walk())


def _bytes(value: Value) -> int:
    kind = value.type
    assert isinstance(kind, TensorType)
    total = kind.dtype.itemsize
    for dim in kind.dims:
        total *= _size(dim)
    return total


def _size(dim: Dim) -> int:
    try:
        return hint(dim)
    except KeyError:
        return _GUESS


def _lines(nodes: Iterable[Node]) -> tuple[Location, ...]:
    found: dict[tuple[str, int], Location] = {}
    for node in nodes:
        if node.location is not None:
            found.setdefault((node.location.file, node.location.line), node.location)
    return tuple(found[key] for key in sorted(found))


def _name_values(lowering: Lowering, names: Names) -> None:
    """Body values get the user's names, with a trailing underscore where a buffer has it."""
    loads = {value: key[0] for key, value in lowering.loads.items() if key[0] is not None}
    for node in lowering.body.nodes:
        for result in node.results:
            if result in loads:
                result.name = names.take(f"{loads[result].name}_")
            elif result.name:
                result.name = names.take(result.name, also="_")
