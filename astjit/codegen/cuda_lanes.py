"""The statements of one pass of a CUDA kernel: vector loads, one lane's arithmetic, stores.

A vector holds what memory holds, so 16-bit values stay packed in registers; a lane is widened where
it is used and narrowed where it is stored.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from astjit.codegen.address import Space, index_name, inner_stride, line_offset, picked
from astjit.codegen.cuda_reductions import Reduction
from astjit.codegen.dialect import CUDA
from astjit.codegen.expression import RANKS, Text, number
from astjit.codegen.values import Writer, count_uses, dtype_of, user_name
from astjit.fusion.kernel import (
    Buffer,
    Kernel,
    access_axes,
    facts,
    indices,
    is_load,
    is_position,
    is_store,
    position_axis,
)
from astjit.fusion.schedule import Schedule
from astjit.fusion.stages import Pass, is_element
from astjit.ir.function import Node, maker
from astjit.ir.value import Result, Value
from astjit.ops.table import OPS
from astjit.types.dtype import I64, DType

WIDE = "static_cast<long long>({0})"  # an index of 64 bits
_ROUND = OPS["round_to"]


@dataclass(frozen=True, slots=True)
class Step:
    """One pass over a row.

    Attributes:
        comments: the source lines it computes.
        lines: per-row statements before it.
        reductions: accumulators.
        loads: vector loads and declarations of vectors to store.
        lanes: statements for one lane.
        stores: vector stores.
        sweeps: whether there is anything to do at elements.
        guarded: whether lanes beyond the row must do nothing, though it writes nothing.
    """

    comments: list[str]
    lines: list[str]
    reductions: list[Reduction]
    loads: list[str]
    lanes: list[str]
    stores: list[str]
    sweeps: bool
    guarded: bool = False


def picked_offset(node: Node, buffer: Buffer, writer: Writer) -> str:
    """The element offset that a load's index values make."""
    return picked(node, buffer, lambda v: writer.text(v, I64)) or "0"


def held_dtype(kernel: Kernel, value: Result) -> DType:
    """The dtype in which registers hold a kept value: 16-bit values stay packed."""
    node = maker(value)
    if node is not None and is_load(node):
        return kernel.buffer(node.operands[0]).dtype
    rounded = node.fields["dtype"] if node is not None and node.op is _ROUND else None
    return rounded if isinstance(rounded, DType) else dtype_of(value.type)


class Lanes:
    """Writes the element statements of passes.

    Attributes:
        kernel: whose passes they are.
        schedule: the variant.
        space: the kernel's loops.
        vectors: the vector variable of each buffer.
        stored: the one that is stored, which is another where a buffer is read and written.
        arrays: the register arrays of kept values.
        starts: the variable that holds where a row starts in a buffer.
        pieces: helper pieces that the statements use, added to.
        reaching: whether a lane of the last pass loads by itself: none beyond the row may.
    """

    def __init__(
        self,
        kernel: Kernel,
        schedule: Schedule,
        space: Space,
        vectors: Mapping[str, str],
        stored: Mapping[str, str],
        arrays: Mapping[Result, str],
        starts: Mapping[str, str],
    ) -> None:
        self.kernel, self.schedule, self.space = kernel, schedule, space
        self.vectors, self.stored = vectors, stored
        self.arrays, self.starts = arrays, starts
        self.kept = schedule.kept(kernel)
        self.pieces: set[str] = set()
        self.elements = {v for v, f in facts(kernel).items() if is_element(kernel, f.axes)}
        self.reaching = False

    def write(self, here: Pass, inner: Writer) -> tuple[list[str], list[str], list[str]]:
        """Loads and declarations, one lane's statements, and stores of a pass."""
        loads: list[str] = []
        stores: list[str] = []
        reads = set(here.reads)
        for kept in here.reads:
            if self.kept[kept] == "registers":
                self._lane(inner, kept, f"{self.arrays[kept]}[j][v]", self._held(kept))
            else:
                buffer = next(b for b in self.kernel.buffers if b.name == self.kept[kept])
                loads.append(self.vector_load(buffer))
                self._lane(inner, kept, f"{self.vectors[buffer.name]}[v]", buffer.dtype)
        self.reaching = False
        targets, declared = self._targets(here, stores)
        used = count_uses([*here.nodes, *here.reductions, *here.stores])

        def special(node: Node) -> list[str] | None:
            value = node.results[0]
            if value in reads:
                return []
            if node.regions:
                return self._flow(node, inner, used, targets)
            if is_position(node):
                return self._position(node, inner)
            if is_load(node) and "*" in access_axes(node):
                return self._picked(node, inner, loads, used[value])
            if is_load(node):
                buffer = self.kernel.buffer(node.operands[0])
                if self.space.inner not in buffer.axes:
                    loads.append(self._line_load(inner, value, buffer))
                    return []
                if value in self.arrays:
                    loads.append(f"{self.arrays[value]}[j] = {self._load(buffer)};")
                    lane = f"{self.arrays[value]}[j][v]"
                else:
                    loads.append(self.vector_load(buffer))
                    lane = f"{self.vectors[buffer.name]}[v]"
                self._lane(inner, value, lane, buffer.dtype)
                return self._widened(inner, value, buffer.dtype, used[value])
            if value not in targets:
                return None
            place, dtype = targets[value]
            line = f"{place} = {self._narrowed(inner, node, dtype)};"
            self._lane(inner, value, place, dtype)
            return [line, *self._widened(inner, value, dtype, used[value] - 1)]

        nodes = [n for n in here.nodes if not any(r in reads for r in n.results)]
        lanes = [
            line for v in here.reads for line in self._widened(inner, v, self._held(v), used[v])
        ]
        lanes += inner.write(nodes, used, special)
        for node in here.stores:
            buffer, value = self.kernel.buffer(node.operands[0]), node.values[1]
            vector = self.stored[buffer.name]
            if value in targets and targets[value][0] in (f"{vector}[v]", f"{vector}[j][v]"):
                continue
            text = inner.text(value, buffer.dtype.compute).text
            lanes.append(f"{vector}[v] = {_narrow(text, buffer.dtype)};")
        return [*loads, *declared], lanes, [*stores, *self._packs(here)]

    def _flow(
        self,
        node: Node,
        inner: Writer,
        used: Counter[Value],
        targets: Mapping[Value, tuple[str, DType]],
    ) -> list[str]:
        """Branches and loops; a result that is kept is put where it is."""
        self.reaching = True  # a loop may not end for what lies beyond the row
        lines, value = inner.flow(node, inner, used), node.results[0]
        if value in targets:
            place, dtype = targets[value]
            lines.append(f"{place} = {_narrow(inner.text(value).text, dtype)};")
            self._lane(inner, value, place, dtype)
        return lines

    def _line_load(self, inner: Writer, value: Result, buffer: Buffer) -> str:
        """One element for all lanes: it varies along the rows of a column kernel only."""
        name = inner.names.take(f"{buffer.name}_{self.space.line or 'row'}")
        inner.texts[value] = Text(name)
        at = f"{buffer.name}[{line_offset(buffer, self.space, WIDE)}]"
        text = f"widen_{buffer.dtype.name}({at})" if buffer.dtype.is_half else at
        return f"const {CUDA.value_types[dtype_of(value.type).name]} {name} = {text};"

    def _position(self, node: Node, inner: Writer) -> list[str]:
        """The index of the axis along which lanes run, or of the rows of a column kernel."""
        if (axis := position_axis(node)) != self.space.inner:
            inner.texts[node.result] = Text(WIDE.format(index_name(axis)))
            return []
        name = inner.names.take(f"{self.space.col}_at")
        inner.texts[node.result] = Text(name)
        return [f"const long long {name} = {self.space.col} + v;"]

    def _picked(self, node: Node, inner: Writer, loads: list[str], uses: int) -> list[str]:
        """A load at index values: a vector where they are one for the whole row, else by lane."""
        buffer, value = self.kernel.buffer(node.operands[0]), node.result
        given, where = indices(node)
        offset = picked_offset(node, buffer, inner)
        array = self.arrays.get(value)
        within = self.space.inner in access_axes(node)
        alone = any(v in self.elements for v in (*given, *([where] if where else [])))
        steps = (buffer.strides or ())[: len(given)]
        if within and where is None and not alone and 1 not in steps:
            text = self._load(buffer, offset)
            if array is not None:
                loads.append(f"{array}[j] = {text};")
                lane = f"{array}[j][v]"
            else:
                kind = CUDA.memory_types[buffer.dtype.name]
                name = inner.names.take(f"{buffer.name}_v")
                loads.append(f"const Vec<{kind}, {self.schedule.vector}> {name} = {text};")
                lane = f"{name}[v]"
            self._lane(inner, value, lane, buffer.dtype)
            return self._widened(inner, value, buffer.dtype, uses)
        self.reaching = True
        terms = [self.starts[buffer.name]] if buffer.name in self.starts else []
        terms.append(offset)
        if within and (stride := inner_stride(buffer, self.space)) != 0:
            col = f"{self.space.col} + v"
            terms.append(col if stride == 1 else f"({col}) * {stride}")
        text = f"{buffer.name}[{' + '.join(terms)}]"
        if array is not None:
            if where is not None:
                none = f"{CUDA.memory_types[buffer.dtype.name]}()"
                text = f"{inner.text(where).wrapped(RANKS['||'])} ? {text} : {none}"
            self._lane(inner, value, f"{array}[j][v]", buffer.dtype)
            return [f"{array}[j][v] = {text};", *self._widened(inner, value, buffer.dtype, uses)]
        if buffer.dtype.is_half:
            text = f"widen_{buffer.dtype.name}({text})"
        if where is not None:
            zero = number(0, dtype_of(value.type), "", "").text
            text = f"{inner.text(where).wrapped(RANKS['||'])} ? {text} : {zero}"
        kind = CUDA.value_types[dtype_of(value.type).name]
        name = inner.names.take(self._lane_name(value))
        inner.texts[value] = Text(name)
        return [f"const {kind} {name} = {text};"]

    def access(self, node: Node, inner: Writer) -> list[str]:
        """A load or store inside a loop, at the index of an iteration."""
        buffer = self.kernel.buffer(node.operands[0])
        terms = [self.starts[buffer.name]] if buffer.name in self.starts else []
        terms.append(picked_offset(node, buffer, inner))
        if self.space.inner in access_axes(node):
            stride = inner_stride(buffer, self.space)
            terms.append(self.space.col if stride == 1 else f"{self.space.col} * {stride}")
        place = f"{buffer.name}[{' + '.join(terms)}]"
        if is_store(node):
            value = node.values[1]
            text = inner.text(value, buffer.dtype.compute).text
            return [f"{place} = {_narrow(text, buffer.dtype)};"]
        (value,) = node.results
        text = f"widen_{buffer.dtype.name}({place})" if buffer.dtype.is_half else place
        name = inner.names.take(f"{buffer.name}_i")
        inner.texts[value] = Text(name)
        return [f"const {inner.type_name(value)} {name} = {text};"]

    def _lane(self, inner: Writer, value: Value, place: str, dtype: DType) -> None:
        inner.texts[value] = Text(f"widen_{dtype.name}({place})" if dtype.is_half else place)

    def _widened(self, inner: Writer, value: Result, dtype: DType, uses: int) -> list[str]:
        """A name for a 16-bit lane that is used more than once."""
        if not dtype.is_half or uses < 2:
            return []
        text, given = inner.texts[value], user_name(value)
        free = given and given not in inner.names
        name = inner.names.take(given if free else self._lane_name(value))
        inner.texts[value] = Text(name)
        return [f"const float {name} = {text.text};"]

    def _lane_name(self, value: Result) -> str:
        node = maker(value)
        if node is not None and is_load(node):
            return f"{self.kernel.buffer(node.operands[0]).name}_i"
        return f"{user_name(value) or 'lane'}_i"

    def _narrowed(self, inner: Writer, node: Node, dtype: DType) -> str:
        """The text of a value on its way to memory of `dtype`: rounding happens there."""
        if dtype.is_half and node.op is _ROUND:
            return _narrow(inner.text(node.values[0]).text, dtype)
        return _narrow(inner.expression(node).text, dtype)

    def _held(self, value: Result) -> DType:
        return held_dtype(self.kernel, value)

    def _packs(self, here: Pass) -> list[str]:
        """Stops the compiler from keeping the floats made of packed lanes beside them."""
        values = [*here.keeps, *here.reads]
        packed = [
            v
            for v in values
            if v in self.arrays
            and self._held(v).is_half
            and isinstance(v.node, Node)
            and is_load(v.node)
        ]
        return [f"keep_packed({self.arrays[v]}[j]);" for v in packed] if here.reductions else []

    def _targets(
        self, here: Pass, stores: list[str]
    ) -> tuple[dict[Value, tuple[str, DType]], list[str]]:
        """Where values that are stored or kept go lane by lane, and the vectors declared for it."""
        targets: dict[Value, tuple[str, DType]] = {
            v: (f"{self.arrays[v]}[j][v]", self._held(v)) for v in here.keeps if v in self.arrays
        }
        declared = []
        for node in here.stores:
            buffer, value = self.kernel.buffer(node.operands[0]), node.values[1]
            vector = self.stored[buffer.name]
            if isinstance(value, Result) and self.arrays.get(value) == vector:
                stores.append(self.store(buffer, f"{vector}[j]"))
                continue
            kind = CUDA.memory_types[buffer.dtype.name]
            declared.append(f"Vec<{kind}, {self.schedule.vector}> {vector};")
            stores.append(self.store(buffer, vector))
            node_of = maker(value)
            if node_of is None or node_of not in here.nodes or is_load(node_of) or node_of.regions:
                continue
            if not buffer.dtype.is_half or node_of.op is _ROUND:
                targets.setdefault(value, (f"{vector}[v]", buffer.dtype))
        return targets, declared

    def _at(self, buffer: Buffer, offset: str = "") -> tuple[str, str]:
        stride = inner_stride(buffer, self.space)
        start = f" + {self.starts[buffer.name]}" if buffer.name in self.starts else ""
        start += f" + {offset}" if offset else ""
        if stride == 1:
            return f"{buffer.name}{start} + {self.space.col}", ""
        return f"{buffer.name}{start} + {self.space.col} * {stride}", str(stride)

    def _left(self) -> str:
        return "" if self.schedule.aligned else f", {self.space.inner} - {self.space.col}"

    def vector_load(self, buffer: Buffer) -> str:
        """The declaration of a buffer's vector, loaded."""
        kind = CUDA.memory_types[buffer.dtype.name]
        vector = self.vectors[buffer.name]
        return f"const Vec<{kind}, {self.schedule.vector}> {vector} = {self._load(buffer)};"

    def _load(self, buffer: Buffer, offset: str = "") -> str:
        at, stride = self._at(buffer, offset)
        lanes = self.schedule.vector
        if stride:
            self.pieces.add("load_strided")
            return f"load_strided<{lanes}>({at}, {stride}, {self.space.inner} - {self.space.col})"
        self._move("load")
        return f"load<{lanes}>({at}{self._left()})"

    def store(self, buffer: Buffer, vector: str) -> str:
        """The statement that stores a vector where this thread's lanes lie."""
        at, stride = self._at(buffer)
        if stride:
            self.pieces.add("store_strided")
            return (
                f"store_strided({at}, {stride}, {vector}, {self.space.inner} - {self.space.col});"
            )
        self._move("store")
        return f"store<{self.schedule.vector}>({at}, {vector}{self._left()});"

    def _move(self, what: str) -> None:
        self.pieces.add(what if self.schedule.aligned else f"{what}_left")


def _narrow(text: str, dtype: DType) -> str:
    """A value on its way to memory of a dtype."""
    return f"narrow_{dtype.name}({text})" if dtype.is_half else text
