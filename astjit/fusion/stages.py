"""Cuts a kernel's body into passes over a row, from the two facts of every value.

    softmax: pass 0 loads x, reduces max; pass 1 loads x, computes e, reduces sum, keeps e in y;
             pass 2 reads e from y, stores e / s

Pass k holds the reductions whose operand is known at stage k and the element stores of stage k,
with their backward slice, which stops at per-row scalars and at kept values. Re-reading,
recomputing and keeping are one mechanism: a kept value is stored where first computed and read
later; any other value is computed again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from astjit.fusion.kernel import (
    Fact,
    Kernel,
    facts,
    is_final,
    is_load,
    is_loop,
    is_reduce,
    is_store,
    slice_back,
)
from astjit.ir.function import Node
from astjit.ir.value import Literal, Param, Result, Value


@dataclass(slots=True)
class Pass:
    """One sweep over a row, and the scalars known before it.

    Attributes:
        scalars: nodes of per-row values computed before the sweep.
        scalar_stores: stores of per-row values.
        totals: reductions over all rows of values known here.
        nodes: element nodes computed in the sweep, in order.
        reads: kept values read back.
        keeps: values kept here for later passes.
        reductions: reduce nodes that this sweep performs.
        stores: stores of element values.
    """

    scalars: list[Node] = field(default_factory=list)
    scalar_stores: list[Node] = field(default_factory=list)
    totals: list[Node] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    reads: list[Result] = field(default_factory=list)
    keeps: list[Result] = field(default_factory=list)
    reductions: list[Node] = field(default_factory=list)
    stores: list[Node] = field(default_factory=list)

    @property
    def sweeps(self) -> bool:
        """Whether there is anything to do at elements."""
        return bool(self.reductions or self.stores)


@dataclass(frozen=True, slots=True)
class Cut:
    """A kernel's passes.

    Attributes:
        uniforms: nodes that vary over no axis, once per kernel.
        passes: in order.
        finals: reductions over all rows, what is computed of them, and the stores of that.
    """

    uniforms: tuple[Node, ...]
    passes: tuple[Pass, ...]
    finals: tuple[Node, ...] = ()


def is_element(kernel: Kernel, axes: frozenset[str]) -> bool:
    """Whether a value that varies over `axes` changes during a sweep."""
    return bool(axes & set(kernel.swept))


def cut(kernel: Kernel, keep: Mapping[Result, str]) -> Cut:
    """The passes of `kernel` when the values in `keep` are kept."""
    known = facts(kernel)
    stages = (f.stage for f in known.values() if not f.final)
    passes = [Pass() for _ in range(1 + max(stages, default=0))]
    uniforms: list[Node] = []
    last = [n for n in kernel.body.nodes if _is_last(n, known) or _is_alone(n, kernel)]
    finals = dict.fromkeys(last if any(map(is_final, last)) else ())
    for node in kernel.body.nodes:
        if node in finals:
            if is_final(node):
                given = node.values[0]
                passes[0 if isinstance(given, Literal) else known[given].stage].totals.append(node)
        elif is_store(node):
            value = node.operands[1]
            assert value is not None
            if isinstance(value, Literal):  # a constant fills the buffer
                passes[0].stores.append(node)
                continue
            fact = known[value]
            here = passes[fact.stage]
            buffer_axes = frozenset(kernel.buffer(node.operands[0]).axes)
            element = is_element(kernel, fact.axes) or is_element(kernel, buffer_axes)
            (here.stores if element else here.scalar_stores).append(node)
        elif is_reduce(node):
            value = node.values[0]
            stage = 0 if isinstance(value, Literal) else known[value].stage
            passes[stage].reductions.append(node)
        else:
            fact = known[node.results[0]]
            if is_element(kernel, fact.axes):
                continue
            if not fact.axes and fact.stage == 0:
                uniforms.append(node)
            else:
                passes[fact.stage].scalars.append(node)
    kept: set[Value] = set()
    for here in passes:
        _fill(kernel, here, {v for v, f in known.items() if is_element(kernel, f.axes)}, keep, kept)
    return Cut(tuple(uniforms), tuple(passes), tuple(finals))


def _is_last(node: Node, known: Mapping[Value, Fact]) -> bool:
    """Whether a node comes after all rows."""
    values = node.values[1:] if is_store(node) else node.results
    return any(v in known and known[v].final for v in values)


def _is_alone(node: Node, kernel: Kernel) -> bool:
    """Whether a node stores one element: after all rows, since there may be none."""
    return is_store(node) and bool(kernel.parallel) and not kernel.buffer(node.operands[0]).axes


def wanted(here: Pass) -> list[Value]:
    """What a sweep must have at each element."""
    return [n.values[0] for n in here.reductions] + [n.values[1] for n in here.stores]


def _fill(
    kernel: Kernel, here: Pass, elements: set[Value], keep: Mapping[Result, str], kept: set[Value]
) -> None:
    needed = _element_slice(wanted(here), elements, kept)
    for node in kernel.body.nodes:
        for result in node.results:
            if result not in needed:
                continue
            if result in kept:
                here.reads.append(result)
                continue
            if not here.nodes or here.nodes[-1] is not node:
                here.nodes.append(node)
            if result in keep:
                here.keeps.append(result)
    kept |= {v for v in needed if isinstance(v, Result) and v in keep}


def _element_slice(todo: list[Value], elements: set[Value], kept: set[Value]) -> set[Value]:
    scalars = {v for v in slice_back(todo) if v not in elements}
    return {
        v for v in slice_back(todo, kept | scalars) if v in elements and not isinstance(v, Param)
    }


def later_uses(kernel: Kernel) -> dict[Result, list[int]]:
    """Element values computed in one pass and wanted again: the passes after the first.

    Only the last value on each way is named: what a kept value is made of need not be kept.
    """
    plain = cut(kernel, {}).passes
    known = facts(kernel)
    elements = {v for v, f in known.items() if is_element(kernel, f.axes)}
    seen: dict[Value, int] = {}
    result: dict[Result, list[int]] = {}
    for index, here in enumerate(plain):
        for value in _element_slice(wanted(here), elements, set(seen)):
            if value in seen and isinstance(value, Result) and _keepable(value):
                result.setdefault(value, []).append(index)
        for node in here.nodes:
            for made in node.results:
                seen.setdefault(made, index)
    return result


def recompute_cost(kernel: Kernel, value: Result) -> float:
    """Elementary operations to compute an element value again: its loads, arithmetic, functions."""
    known = facts(kernel)
    cost = 0.0
    scalars = [v for v in known if not is_element(kernel, known[v].axes)]
    for part in slice_back([value], scalars):
        if isinstance(part, Result) and isinstance(part.node, Node) and part not in scalars:
            cost += 1.0 if is_load(part.node) else _cost(part.node)
    return cost


def _keepable(value: Result) -> bool:
    """Whether a place can be given to it: by the node that makes it, and nothing else."""
    return isinstance(value.node, Node) and len(value.node.results) == 1


def _cost(node: Node) -> float:
    if node.regions:
        return 10.0 * sum(_cost(inner) for region in node.regions for inner in region.nodes)
    text = node.op.spelling(("cuda", "c"), "f32") or ""
    return 10.0 if "(" in text else 1.0  # a function, as exp or tanh, against an instruction


def loops_by_row(kernel: Kernel) -> bool:
    """Whether a loop runs once a row: one of threads that have no row might never end."""
    known = facts(kernel)
    by_row = [
        node
        for node in kernel.body.nodes
        if node.regions and not is_element(kernel, known[node.results[0]].axes)
    ]
    inside = (n for node in by_row for region in node.regions for n in region.walk())
    return any(map(is_loop, (*by_row, *inside)))
