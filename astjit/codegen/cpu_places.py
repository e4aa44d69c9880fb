"""Where a CPU kernel's elements lie: expressions of places in rows, in scratch, at index values."""

from collections.abc import Mapping, Sequence

from astjit.codegen.address import Space, inner_stride, line_offset, picked
from astjit.codegen.dialect import CPU
from astjit.codegen.expression import RANKS, Text
from astjit.codegen.values import Writer, dtype_of
from astjit.fusion.kernel import (
    Buffer,
    Kernel,
    access_axes,
    facts,
    indices,
    is_checked,
    is_store,
    slice_back,
    spread_indices,
    spread_loads,
)
from astjit.fusion.schedule import Place
from astjit.ir.function import Node
from astjit.ir.value import Literal, Result
from astjit.types.dtype import I64

_TRUTH = "unsigned char"


class Places:
    """Places of one kernel.

    Attributes:
        kernel: whose buffers they are in.
        space: its loops.
        rows: for each buffer the pointer to its row.
        places: of kept values.
        scratch: for each value kept in scratch its pointer.
        vectors: places are pointers to vectors, else elements.
        spread: loads of one element for many neighbours, and for how many.
        silent: values that have no text, since these loads say them.
    """

    def __init__(
        self,
        kernel: Kernel,
        space: Space,
        rows: Mapping[str, str],
        places: Mapping[Result, Place],
        scratch: Mapping[Result, str],
        *,
        vectors: bool,
    ) -> None:
        self.kernel, self.space, self.rows = kernel, space, rows
        self.places, self.scratch, self.vectors = places, scratch, vectors
        self.spread = spread_loads(kernel) if vectors else {}
        self.silent = spread_indices(kernel) if vectors else set()

    def memory_type(self, buffer: Buffer) -> str:
        """The C type of a buffer's elements."""
        return self.loaded(CPU.memory_types[buffer.dtype.name])

    def loaded(self, kind: str) -> str:
        """The type of an element as it comes from memory.

        Truth taken element by element is bytes of 0 or 1: of loops over C's bool in which it is
        negated, chosen by or beside a comparison of floats, g++ makes no vectors.
        """
        return _TRUTH if kind == "bool" and not self.vectors else kind

    def scalar(self, buffer: Buffer) -> str:
        """An element of a buffer that does not vary along a row."""
        return f"{buffer.name}[{line_offset(buffer, self.space, '{0}') or '0'}]"

    def offset(self, node: Node, inner: Writer) -> str:
        """The element offset that a load's index values make."""
        buffer = self.kernel.buffer(node.operands[0])
        return picked(node, buffer, lambda v: inner.text(v, I64)) or "0"

    def guarded(self, node: Node, text: Text, inner: Writer) -> Text:
        """A load that is 0 where there is nothing to read."""
        where = indices(node)[1]
        if where is None:
            return text
        zero = "0.0f" if dtype_of(node.result.type).name == "f32" else "0"
        return Text(f"({inner.text(where).wrapped(RANKS['||'])} ? {text.text} : {zero})")

    def kept_dtype(self, value: Result) -> str:
        """The dtype in which memory holds a kept value."""
        place = self.places[value]
        return next((b.dtype.name for b in self.kernel.buffers if b.name == place), "f32")

    def kept(self, value: Result) -> str:
        """Where a kept value lies."""
        place = self.places[value]
        if place != "scratch":
            return self.element(next(b for b in self.kernel.buffers if b.name == place))
        base = self.scratch[value]
        return f"{base} + {self.space.col}" if self.vectors else f"{base}[{self.space.col}]"

    def load(self, node: Node, inner: Writer) -> str:
        """What a load at an element reads."""
        buffer = self.kernel.buffer(node.operands[0])
        if node in self.spread:
            size = inner.text(self.spread[node], I64).text
            return f"in_runs({self.rows[buffer.name]}, {size}) + {self.space.col}"
        if "*" in access_axes(node):
            return self.picked(node, buffer, inner)
        return self.element(buffer)

    def picked(
        self, node: Node, buffer: Buffer, inner: Writer, *, lanes: bool | None = None
    ) -> str:
        """What a load or store at index values reaches: `lanes`, in vectors, else an element."""
        lanes = self.vectors if lanes is None else lanes
        terms = [self.offset(node, inner)]
        stride = inner_stride(buffer, self.space) if self.space.inner in access_axes(node) else 0
        if stride != 0:
            terms.append(self.space.col if stride == 1 else f"{self.space.col} * {stride}")
        base, index = self.rows.get(buffer.name, buffer.name), " + ".join(terms)
        return f"{base} + {index}" if lanes else f"{base}[{index}]"

    def access(self, node: Node, writer: Writer) -> list[str]:
        """A load or store inside a loop, at the index of an iteration."""
        buffer = self.kernel.buffer(node.operands[0])
        lanes = self.vectors and self.space.inner in access_axes(node)
        place, half = self.picked(node, buffer, writer, lanes=lanes), buffer.dtype.is_half
        if is_store(node):
            value = node.values[1]
            if lanes:
                return [f"store({place}, {writer.vector(value)}, mask);"]
            text = writer.text(value, buffer.dtype.compute).text
            return [f"put({place}, {text});" if half else f"{place} = {text};"]
        (value,) = node.results
        if lanes:
            writer.elements.add(value)
        text = f"load({place}, mask)" if lanes else f"element({place})" if half else place
        name = writer.names.take(f"{buffer.name}_v")
        writer.texts[value] = Text(name)
        return [f"const {writer.type_name(value)} {name} = {text};"]

    def element(self, buffer: Buffer) -> str:
        """What a load or store at an element reaches."""
        stride = inner_stride(buffer, self.space)
        base, col = self.rows[buffer.name], self.space.col
        if stride == 0:
            return f"{base} + 0" if self.vectors else f"{base}[0]"
        index = col if stride == 1 else f"{col} * {stride}"
        return f"{base} + {index}" if self.vectors else f"{base}[{index}]"


def sizes_first(kernel: Kernel, nodes: Sequence[Node]) -> tuple[list[Node], list[Node]]:
    """Of uniform nodes those that make sizes which indices are checked against, and the rest."""
    sizes = slice_back(n.values[1] for n in kernel.body.nodes if is_checked(n))
    return [n for n in nodes if n.results[0] in sizes], [
        n for n in nodes if n.results[0] not in sizes
    ]


def of_nothing(kernel: Kernel, writer: Writer) -> list[str]:
    """Statements that fail the call where an index is checked against a size of 0.

    They come before all reads: what has no elements may have no memory either. An axis of size 0
    along which the indices vary means that there are none, and none is out of range.
    """
    known, tests = facts(kernel), dict[str, None]()
    for node in filter(is_checked, kernel.body.nodes):
        size, axes = node.values[1], known[node.result].axes
        if isinstance(size, Literal) and size.value != 0:
            continue
        some = "".join(f" && {axis} != 0" for axis in kernel.axes if axis in axes)
        tests[f"{writer.text(size, I64).wrapped(RANKS['=='])} == 0{some}"] = None
    return [f"if ({test}) return void(*status = 1);" for test in tests]


def initial(combine: str, dtype: str) -> str:
    """The value that a combine starts from."""
    if combine in ("sum", "prod"):
        return "0" if combine == "sum" else "1"
    if combine in ("any", "all"):
        return "false" if combine == "any" else "true"
    sign = "-" if combine == "max" else ""
    if dtype.startswith(("f", "bf")):
        return f"{sign}__builtin_inff()" if dtype != "f64" else f"{sign}__builtin_inf()"
    bits = {"bool": 1, "u8": 8}.get(dtype) or int(dtype[1:])
    if dtype in ("bool", "u8"):
        return "0" if combine == "max" else str(2**bits - 1)
    top = 2 ** (bits - 1) - 1
    suffix = "l" if bits == 64 else ""
    return f"(-{top}{suffix} - 1)" if combine == "max" else f"{top}{suffix}"
