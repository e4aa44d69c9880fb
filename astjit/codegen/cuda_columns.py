"""What templates/cuda/column.cu.j2 may read: values of a column are vectors of V lanes.

A thread owns V columns beside each other. What varies over columns only, such as a mean, is a
vector that it keeps, computed lane by lane between the sweeps over rows.
"""

from dataclasses import replace

from astjit.codegen.address import Space as Loops
from astjit.codegen.address import index_name, split_line
from astjit.codegen.cuda_lanes import WIDE, Step
from astjit.codegen.cuda_reductions import Reduction, Total, initial
from astjit.codegen.cuda_view import FIXED as ROW_NAMES
from astjit.codegen.cuda_view import CudaView
from astjit.codegen.dialect import CUDA
from astjit.codegen.expression import Text
from astjit.codegen.names import Names
from astjit.codegen.rename import Renamed
from astjit.codegen.source import SourceLine, block, prune
from astjit.codegen.values import Writer, count_uses, dtype_of
from astjit.fusion.columns import ColumnValues
from astjit.fusion.kernel import is_load, is_position
from astjit.fusion.stages import Pass
from astjit.ir.function import Node
from astjit.ir.value import Value
from astjit.ops.reduce import COMBINES
from astjit.types.dtype import DType

FIXED = (*ROW_NAMES, "at", "vectors", "inside", "end", "tile", "tile_double")


class CudaColumns(CudaView):
    """A variant of a column kernel as its template sees it."""

    def __init__(self, renamed: Renamed, source: SourceLine) -> None:
        self.columns = ColumnValues(renamed.kernel)
        self.tiles: dict[str, str] = {}
        self.loop_lines: list[str] = []
        self.held: dict[Value, tuple[str, DType]] = {}
        super().__init__(renamed, source)

    def values(self) -> dict[str, object]:
        """The names a template may read."""
        s, kernel = self.schedule, self.kernel
        reductions = [r for step in self.steps for r in step.reductions]
        alone = len(reductions) == 1 and not any(step.sweeps for step in self.steps[1:])
        used = "\n".join(x for t in self.steps for x in (*t.lines, *t.loads, *t.stores))
        used = "\n".join([used, *(self.tail or [])])
        outer = kernel.parallel[:-1]
        slab = index_name(outer[0]) if len(outer) == 1 else "line"
        setup = split_line(Loops(outer, self.space.inner, "line"), self.index)
        setup = setup if len(outer) > 1 else []
        setup = prune(setup + self.start_lines, used + "\n".join(self.loop_lines + self.uniforms))
        return {
            "head": self.head,
            "space": self.space,
            "s": s,
            "index": self.index,
            "wide": "static_cast<long long>(blockIdx.x)" if s.wide else "blockIdx.x",
            "outer": " * ".join(outer),
            "slab": slab,
            "rows": kernel.reduced[0],
            "row": index_name(kernel.reduced[0]),
            "uniforms": self.uniforms,
            "setup": setup,
            "arrays": [f"{self._array(v)} {n}[{s.per_thread}];" for v, n in self.arrays.items()],
            "steps": [(t, self._starts_of(t)) for t in self.steps],
            "tiles": list(self.tiles.items()),
            "combine": "column_reduce" if alone else "column_reduce_all",
            "left": self.left,
            "tail": self.tail,
            "block": block,
        }

    def _starts_of(self, step: Step) -> list[str]:
        """Where a row starts in each buffer that a sweep touches."""
        return prune(self.loop_lines, "\n".join([*step.loads, *step.lanes, *step.stores]))

    def _sizes(self) -> list[str]:
        return list(self.kernel.axes)

    def _row_starts(self, scope: Names) -> tuple[dict[str, str], list[str]]:
        """As for rows; the start in a buffer of columns is known before the rows are walked."""
        starts, lines = super()._row_starts(scope)
        moving = {
            starts[b.name]
            for b in self.kernel.buffers
            if b.name in starts and set(b.axes) & set(self.kernel.reduced)
        }
        named = [(line.split(" = ")[0].rsplit(" ", 1)[-1], line) for line in lines]
        self.loop_lines = [line for name, line in named if name in moving]
        return starts, [line for name, line in named if name not in moving]

    # -- columns -------------------------------------------------------------------------------
    def _before(self, here: Pass) -> list[str]:
        column = [n for n in here.scalars if self.columns.holds(n.results[0])]
        slab = [n for n in here.scalars if n not in column]
        return self._scalar_lines(slab) + self._column_lines(column, here.scalar_stores)

    def _step(self, here: Pass) -> Step | None:
        lines = self._before(here)
        if not here.sweeps:
            return Step([], lines, [], [], [], [], False) if lines else None
        comments = self.comments.of([*here.nodes, *here.reductions, *here.stores])
        inner = self.writer.inner()
        loads, lanes, stores = self.lanes.write(here, inner)
        reductions = []
        for node in here.reductions:
            reductions.append(self._reduction(node))
            lanes.append(self._accumulate(node, inner, reductions[-1]))
        return Step(comments, lines, reductions, loads, lanes, stores, True)

    def _column_lines(self, nodes: list[Node], stores: list[Node]) -> list[str]:
        """Loads of columns, what follows from them lane by lane, and stores."""
        if not nodes and not stores:
            return []
        lines = self.comments.of([*nodes, *stores])
        lines += [self._column_load(n) for n in nodes if is_load(n)]
        for node in filter(is_position, nodes):
            self.writer.texts[node.results[0]] = Text(WIDE.format(f"{self.space.col} + v"))
        arithmetic = [n for n in nodes if not (is_load(n) or is_position(n))]
        inner, declared = self.writer.inner(), list[str]()

        def special(node: Node) -> list[str] | None:
            (value,) = node.results
            if value not in self.columns.kept:
                return None
            vector = inner.names.reserve(self.writer.names.take(f"{self.writer.wish(value)}_v"))
            declared.append(self._declared(dtype_of(value.type), vector))
            line = f"{vector}[v] = {inner.expression(node).text};"
            self._hold(value, vector)
            inner.texts[value] = self.writer.texts[value]
            return [line]

        lanes = inner.write(arithmetic, count_uses([*arithmetic, *stores]), special)
        last = []
        for node in stores:
            buffer, vector = self.kernel.buffer(node.operands[0]), self._whole(node)
            if not vector:
                vector = self.stored[buffer.name]
                declared.append(self._declared(buffer.dtype, vector))
                text = inner.text(node.values[1], buffer.dtype.compute).text
                text = f"narrow_{buffer.dtype.name}({text})" if buffer.dtype.is_half else text
                lanes.append(f"{vector}[v] = {text};")
            last.append(self.lanes.store(buffer, vector))
        each = _each_lane(lanes, self.schedule.vector)
        return [*lines, *declared, *each, *self._first_group(last)]

    def _column_load(self, node: Node) -> str:
        buffer = self.kernel.buffer(node.operands[0])
        self._hold(node.results[0], self.vectors[buffer.name], buffer.dtype)
        return self.lanes.vector_load(buffer)

    def _hold(self, value: Value, vector: str, dtype: DType | None = None) -> None:
        """From here on `value` is a lane of `vector`, as memory holds it where `dtype` is given."""
        text = f"{vector}[v]"
        half = dtype is not None and dtype.is_half
        self.writer.texts[value] = Text(f"widen_{dtype}({text})" if half else text)
        self.held[value] = vector, dtype or dtype_of(value.type)

    def _declared(self, dtype: DType, vector: str) -> str:
        return f"Vec<{CUDA.memory_types[dtype.name]}, {self.schedule.vector}> {vector};"

    def _whole(self, node: Node) -> str:
        """The vector that holds what a store writes just as memory will, "" if none does."""
        buffer, value = self.kernel.buffer(node.operands[0]), node.values[1]
        vector, dtype = self.held.get(value, ("", None))
        return vector if dtype is buffer.dtype else ""

    def _first_group(self, stores: list[str]) -> list[str]:
        """Stores of columns, by one of the threads that know them."""
        condition = f"if ({self.first}threadIdx.y == 0 && inside)"
        if len(stores) < 2:
            return [f"{condition} {store}" for store in stores]
        return [f"{condition} {{", *(f"  {store}" for store in stores), "}"]

    def _gathered(self, total: Total) -> str:
        s, given = self.schedule, f"{total.init}, {total.part}, {total.slot}"
        return f"column_parts_reduce<{total.struct}, {s.threads}, {s.rows}>({given})"

    def _reduction(self, node: Node) -> Reduction:
        (result,) = node.results
        combine = COMBINES[str(node.fields["combine"])]
        dtype = dtype_of(result.type)
        vector = self.writer.names.take(f"{self.writer.wish(result)}_v")
        self._hold(result, vector)
        struct = combine.struct
        if struct in ("Max", "Min") and dtype.name != "f32":
            struct += "Any"
        kind, lanes = CUDA.value_types[dtype.name], self.schedule.vector
        tile = self.tiles.setdefault(kind, f"tile_{kind}".replace(" ", "_"))
        if kind == "float":
            tile = self.tiles[kind] = "tile"
        given = f"{lanes}" if kind == "float" else f"{lanes}, {kind}"  # infinity is a float
        init = f"splat<{given}>({initial(combine.name, dtype)})"
        return Reduction(vector, f"Vec<{kind}, {lanes}>", init, struct, tile, kind)

    def _accumulate(self, node: Node, inner: Writer, reduction: Reduction) -> str:
        return super()._accumulate(node, inner, replace(reduction, name=f"{reduction.name}[v]"))


def _each_lane(lines: list[str], lanes: int) -> list[str]:
    """A loop over the lanes, empty where it would do nothing."""
    if not lines:
        return []
    head = f"for (int v = 0; v < {lanes}; ++v) {{"
    return ["#pragma unroll", head, *(f"  {line}" for line in lines), "}"]
