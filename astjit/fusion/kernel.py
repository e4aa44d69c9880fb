"""What one fused kernel is: no sizes, no target (decision D9).

    kernel rms_norm row(rows | cols)
      in  x: f32[rows, cols], w: f32[cols]     out y: f32[rows, cols]
      %x_ = load %x ; %sq = mul %x_, %x_ ; %total = reduce %sq {sum} ; ... ; store %y, %out

The body is an ordinary block of rank-0 values. Its parameters are the buffers and then the Python
numbers that the kernel takes. Stages are not stored; `facts` derives for every value the axes it
varies over and the stage at which it is known, and everything about passes follows from those.
"""

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from astjit.ir.function import Block, Node
from astjit.ir.value import Literal as Number
from astjit.ir.value import Param, Result, Value
from astjit.ir.walk import inputs
from astjit.location import Location
from astjit.ops.spec import Kind
from astjit.ops.table import OPS
from astjit.types.dtype import DType
from astjit.types.shape import Dim
from astjit.types.tensor import ScalarType

Role = Literal["in", "out", "inout"]
_FAR = 2**62
_LOAD, _STORE, _REDUCE = OPS["load"], OPS["store"], OPS["reduce"]
_POSITION, _CHECKED, _QUOTIENT = OPS["position"], OPS["checked"], OPS["quotient"]
SPREAD = ("f32", "bf16", "f16")  # elements that are read for many neighbours at once
IF, WHILE, RANGE = OPS["if"], OPS["while"], OPS["range"]


@dataclass(frozen=True, slots=True)
class Buffer:
    """Memory a kernel reads or writes.

    Attributes:
        name: in the generated text, after the user's variable where there is one.
        dtype: of its elements in memory.
        axes: the kernel's axes it varies over, outermost in memory first; () is one element. For a
            gathered buffer the axis that is indexed by a value is called "*" and has a size of its
            own.
        role: whether it is read, written or both.
        strides: None: dense, the last axis innermost. Otherwise one entry an axis: an int, or the
            name of a run-time parameter that holds an element stride.
    """

    name: str
    dtype: DType
    axes: tuple[str, ...]
    role: Role = "in"
    strides: tuple[int | str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Kernel:
    """One loop nest: parallel axes, reduced axes, buffers and a body in SSA.

    Attributes:
        name: in the generated text.
        kind: a row of codegen/kinds.py, such as "pointwise" or "row".
        parallel: axes computed independently, outermost first.
        reduced: axes combined by `reduce` nodes; innermost, but for a column kernel, where the last
            parallel axis is.
        buffers: in the order of the body's first parameters.
        body: load, store, reduce, round and elementwise rows on rank-0 values.
        lines: the user's source lines that it computes.
    """

    name: str
    kind: str
    parallel: tuple[str, ...]
    reduced: tuple[str, ...]
    buffers: tuple[Buffer, ...]
    body: Block
    lines: tuple[Location, ...] = ()

    @property
    def axes(self) -> tuple[str, ...]:
        """All axes, outermost first."""
        return self.parallel + self.reduced

    @property
    def swept(self) -> tuple[str, ...]:
        """The axes a pass runs over: the reduced ones, or the innermost when nothing is reduced."""
        return self.reduced or self.parallel[-1:]

    @property
    def inner(self) -> str:
        """The axis along which lanes run: the innermost in memory; "" where there is no axis."""
        along = self.parallel if self.kind == "column" else self.swept
        return along[-1] if along else ""

    @property
    def numbers(self) -> tuple[Param, ...]:
        """The body's parameters that are Python numbers."""
        return tuple(self.body.params[len(self.buffers) :])

    def buffer(self, param: Value | None) -> Buffer:
        """The buffer that a load or store names.

        Raises:
            ValueError: if the value is not one of the body's buffer parameters.
        """
        return self.buffers[self.body.params.index(param)]  # type: ignore[arg-type]

    @property
    def stride_names(self) -> tuple[str, ...]:
        """Names of the run-time stride parameters, in order."""
        names = (s for b in self.buffers for s in b.strides or () if isinstance(s, str))
        return tuple(dict.fromkeys(names))


@dataclass(frozen=True, slots=True)
class Fact:
    """What is derived for a body value.

    Attributes:
        axes: the kernel's axes it varies over.
        stage: how many reductions lie before it on the longest way.
        final: whether it is made of a reduction over all rows.
    """

    axes: frozenset[str]
    stage: int
    final: bool = False


@functools.lru_cache(8)  # the schedule and the text ask again and again
def facts(kernel: Kernel) -> Mapping[Value, Fact]:
    """The axes and the stage of every value of the body, which is complete."""
    known: dict[Value, Fact] = {p: Fact(frozenset(), 0) for p in kernel.body.params}
    for node in kernel.body.nodes:
        operands = [known[v] for v in inputs(node) if not isinstance(v, Number)]
        axes = frozenset[str]().union(*(f.axes for f in operands))
        stage = max((f.stage for f in operands), default=0)
        if is_load(node):
            axes |= {a for a in access_axes(node) if a != "*"}
        if is_position(node):
            axes = frozenset({position_axis(node)})
        final = any(f.final for f in operands) or is_final(node)
        if is_reduce(node):
            gone = kernel.parallel if is_final(node) else kernel.reduced
            axes, stage = axes - set(gone), stage + 1
        for region in node.regions:
            axes |= {a for n in region.walk() if is_access(n) for a in access_axes(n) if a != "*"}
        for result in node.results:
            known[result] = Fact(axes, stage, final)
    return known


def access_axes(node: Node) -> tuple[str, ...]:
    """The axes at which a load or store reaches its buffer, "*" for an index that is a value."""
    at = node.fields["at"]
    assert isinstance(at, str)
    return tuple(at.split(",")) if at else ()


def is_load(node: Node) -> bool:
    """True for a load from a buffer."""
    return node.op is _LOAD


def is_position(node: Node) -> bool:
    """True for the index of an axis as a value."""
    return node.op is _POSITION


def position_axis(node: Node) -> str:
    """The axis whose index a node is."""
    return str(node.fields["axis"])


def indices(node: Node) -> tuple[tuple[Value, ...], Value | None]:
    """The index values of an access, one for each "*", and whether there is anything to read."""
    given = node.values[2 if is_store(node) else 1 :]
    count = access_axes(node).count("*")
    return given[:count], given[count] if len(given) > count else None


def spread_loads(kernel: Kernel) -> dict[Node, Value]:
    """Loads of an element for a run of neighbours of a row, at `col // size`, and these sizes."""
    found = {}
    for node in filter(is_load, kernel.body.nodes if kernel.kind == "row" else ()):
        (buffer, given, where) = (kernel.buffer(node.operands[0]), *indices(node))
        made = given[0].node if given and isinstance(given[0], Result) else None
        if len(given) != 1 or where is not None or not isinstance(made, Node):
            continue
        step = buffer.strides and buffer.strides[buffer.axes.index("*")]
        fits = step == 1 and buffer.dtype.name in SPREAD and kernel.inner not in buffer.axes
        if fits and made.op is _QUOTIENT and made.values[0] in _own_positions(kernel):
            found[node] = made.values[1]
    return found


def spread_indices(kernel: Kernel) -> set[Value]:
    """The values that nothing but the indices of such loads is made of."""
    loads = spread_loads(kernel)
    wanted = {indices(load)[0][0] for load in loads}
    for node in kernel.body.walk():
        wanted -= set() if node in loads else {*inputs(node)}
    own = _own_positions(kernel) if wanted else set()
    for node in kernel.body.walk():
        own -= set() if wanted & {*node.results} else {*inputs(node)}
    return wanted | own


def _own_positions(kernel: Kernel) -> set[Value]:
    """The indices of elements in their row."""
    nodes = (n for n in kernel.body.nodes if is_position(n) and position_axis(n) == kernel.inner)
    return {node.results[0] for node in nodes}


def is_checked(node: Node) -> bool:
    """True for an index that may be out of range."""
    return node.op is _CHECKED


def is_loop(node: Node) -> bool:
    """True for a loop in a body."""
    return node.op in (WHILE, RANGE)


def counts_plainly(node: Node) -> bool:
    """Whether a `range` steps by a number known beforehand, and never beyond what 64 bits hold."""
    bound, step = node.values[1:3]
    if not isinstance(step, Number) or abs(step.value) == 1:
        return isinstance(step, Number)
    near = isinstance(bound, Number) and abs(bound.value) < _FAR
    return near and 0 < abs(step.value) < _FAR


def may_hang(node: Node) -> bool:
    """True for a loop of which nobody knows beforehand how often it runs, or that it may run."""
    return node.op is WHILE or (node.op is RANGE and not isinstance(node.operands[2], Number))


def may_fail(kernel: Kernel) -> bool:
    """Whether a call may end before its results are right: an index out of range, a loop."""
    return any(is_checked(node) or may_hang(node) for node in kernel.body.walk())


def is_store(node: Node) -> bool:
    """True for a store to a buffer."""
    return node.op is _STORE


def is_access(node: Node) -> bool:
    """True for a load or a store."""
    return node.op in (_LOAD, _STORE)


def reaches(kernel: Kernel) -> bool:
    """Whether a loop loads or stores: what lies at the index of an iteration."""
    return any(map(is_access, _inside(kernel)))


def computed(kernel: Kernel) -> list[Node]:
    """The nodes of a body, and those of its regions that compute."""
    return [*kernel.body.nodes, *(n for n in _inside(kernel) if not is_access(n))]


def _inside(kernel: Kernel) -> list[Node]:
    return [n for node in kernel.body.nodes for region in node.regions for n in region.walk()]


def is_reduce(node: Node) -> bool:
    """True for a combine over the reduced axes."""
    return node.op is _REDUCE


def is_final(node: Node) -> bool:
    """True for a combine of one value a row over all rows."""
    return is_reduce(node) and bool(node.fields["over"])


def slice_back(wanted: Iterable[Value], stop: Iterable[Value] = ()) -> set[Value]:
    """Every value that the wanted ones are made of, themselves included, not beyond `stop`."""
    found: set[Value] = set()
    stopped = set(stop)
    todo = list(wanted)
    while todo:
        value = todo.pop()
        if value in found or isinstance(value, Number):
            continue
        found.add(value)
        if isinstance(value, Result) and value not in stopped and isinstance(value.node, Node):
            todo += inputs(value.node)
    return found


@dataclass(frozen=True, slots=True)
class Group:
    """A kernel and what it is run on: the part of a Program that fusion made.

    Attributes:
        kernel: what is computed.
        extents: the size of each of the kernel's axes, in sizes of the function.
        inputs: the function's value read through each "in" or "inout" buffer, in buffer order.
        offsets: element offset of each "in" buffer into the memory of its value's base.
        outputs: the function's value written through each "out" buffer, in buffer order.
        numbers: the Python number given for each of the kernel's number parameters.
        strides: the value of each run-time stride parameter.
        held: values that are written to the memory of an input, in a buffer of role "inout" or,
            where the kernel does not read that input, "out".
    """

    kernel: Kernel
    extents: dict[str, Dim]
    inputs: tuple[Value, ...]
    offsets: tuple[Dim, ...]
    outputs: tuple[Value, ...]
    numbers: tuple[Value, ...]
    strides: dict[str, Dim]
    held: dict[Value, Param] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """An op given to PyTorch's own kernels, or a view or a host number."""

    node: Node


Part = Group | LibraryCall


def is_free(node: Node) -> bool:
    """Views and host numbers, which are no work for the device."""
    return node.op.kind is Kind.VIEW or all(isinstance(r.type, ScalarType) for r in node.results)


@dataclass(frozen=True, slots=True)
class Unfused:
    """Why a producer and a consumer do not share a kernel."""

    producer: Node
    consumer: Node
    reason: str


@dataclass(frozen=True, slots=True)
class Parts:
    """A function cut into what a Program runs, in order, with the reasons of the cuts."""

    parts: tuple[Part, ...]
    unfused: tuple[Unfused, ...]
