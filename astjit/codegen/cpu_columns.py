"""What templates/cpu/column.cpp.j2 may read: sweeps over the rows of a strip, and over its columns.

A value of a column, such as a mean, lies in an array as long as a strip: a loop over columns
between two sweeps fills it, and the sweeps after it read it.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from astjit.codegen.address import Space, axis_stride, index_name, split_line
from astjit.codegen.cpu_places import Places, initial
from astjit.codegen.cpu_view import FIXED as ROW_NAMES
from astjit.codegen.cpu_view import CpuView, Step
from astjit.codegen.dialect import CPU
from astjit.codegen.expression import Text
from astjit.codegen.names import Names
from astjit.codegen.rename import Renamed
from astjit.codegen.source import SourceLine, block, prune
from astjit.codegen.values import Writer, count_uses, dtype_of
from astjit.fusion.columns import ColumnValues
from astjit.fusion.kernel import Buffer, is_load, is_position
from astjit.fusion.stages import Pass, recompute_cost
from astjit.ir.function import Node
from astjit.ir.value import Literal, Result, Value
from astjit.ops.reduce import COMBINES
from astjit.types.dtype import BOOL

FIXED = (*ROW_NAMES, "strip", "all")
_INDENT = 4
_VECTORS = 8  # that one walk over the rows combines, as many as registers hold
_DEAR = 8.0  # operations of an element, from which on one vector at a time keeps a core busy


@dataclass(frozen=True, slots=True)
class ColumnSweep:
    """One walk over a strip, as finished text.

    Attributes:
        before: arrays that it fills, and the lines it computes.
        opening: its head, up to the brace.
        body: the statements at each element or column.
        closing: its end.
    """

    before: str
    opening: str
    body: str
    closing: str


class ColumnPlaces(Places):
    """Places of a kernel whose reduced axes are not the innermost."""

    def element(self, buffer: Buffer) -> str:
        """What a load or store at an element reaches."""
        terms = [(index_name(a), a) for a in (*self.kernel.reduced, self.space.inner)]
        offset, base = _offset(buffer, terms), self.rows[buffer.name]
        if self.vectors and self.space.inner in buffer.axes:
            return f"{base} + {offset}"
        return f"{base}[{offset or '0'}]"

    def scalar(self, buffer: Buffer) -> str:
        """Where an element is that varies over neither rows nor columns."""
        return f"{self.rows.get(buffer.name, buffer.name)}[0]"

    def kept(self, value: Result) -> str:
        """Where a kept value lies."""
        return self.element(next(b for b in self.kernel.buffers if b.name == self.places[value]))


class CpuColumns(CpuView):
    """A column kernel as its template sees it."""

    places = ColumnPlaces

    def __init__(self, renamed: Renamed, source: SourceLine) -> None:
        self.columns = ColumnValues(renamed.kernel)
        self.sweeps: list[ColumnSweep] = []
        self.arrays: dict[Value, str] = {}
        self.most = 1
        super().__init__(renamed, source)

    def values(self) -> dict[str, object]:
        """The names a template may read."""
        return {
            "head": self.head,
            "space": self.space,
            "vectors": self.vectors,
            "uniforms": self.uniforms,
            "work": f"float, {self.most}" if self.vectors else "double, 1",
            "slabs": " * ".join(self.kernel.parallel[:-1]) or "1",
            "rows": self.kernel.reduced[0],
            "strip_lines": self.row_lines,
            "sweeps": self.sweeps,
        }

    # -- where elements are --------------------------------------------------------------------
    def _row_name(self, buffer: Buffer, scope: Names) -> str:
        return scope.take(f"{buffer.name}_strip") if self._start(buffer) else buffer.name

    def _start(self, buffer: Buffer) -> str:
        """The offset of a strip in a buffer, "" where it is none."""
        terms = [(index_name(a), a) for a in self.kernel.parallel[:-1]]
        terms.append(("strip.first", self.space.inner))
        return _offset(buffer, terms)

    def _row_lines(self, indent: int) -> str:
        lines = []
        for b in self.kernel.buffers:
            if self.rows[b.name] != b.name:
                const = "const " if b.role == "in" else ""
                kind = f"{const}{self.at.memory_type(b)}*"
                lines.append(f"{kind} {self.rows[b.name]} = {b.name} + {self._start(b)};")
        outer = self.kernel.parallel[:-1]
        if len(outer) == 1:
            lines.insert(0, f"const long {index_name(outer[0])} = strip.slab;")
        elif outer:
            split = split_line(Space(outer, self.space.inner, "strip.slab"), "long")
            lines[:0] = split
        rest = "\n".join(s.before + s.opening + s.body for s in self.sweeps)
        return block(prune(lines, rest), _INDENT)

    # -- passes --------------------------------------------------------------------------------
    def _steps(self, here: Pass, indent: int) -> list[Step]:
        column = [n for n in here.scalars if self.columns.holds(n.results[0])]
        slab = [n for n in here.scalars if n not in column]
        lines = self._scalar_lines(slab)
        for node in filter(is_position, column):  # the loops' own index starts with the strip
            self.writer.texts[node.results[0]] = Text(f"(strip.first + {self.space.col})")
        arithmetic = [n for n in column if not (is_load(n) or is_position(n))]
        if arithmetic or here.scalar_stores:
            self.sweeps.append(self._column_sweep(lines, arithmetic, here.scalar_stores))
            lines = []
        if self.vectors or not here.reductions:
            groups = [here.reductions] if here.sweeps else []
        else:
            groups = [[r] for r in here.reductions]
        for position, reductions in enumerate(groups):
            self.sweeps.append(self._row_sweep(lines, here, reductions, stores=position == 0))
            lines = []
        return []

    def _column_sweep(self, lines: list[str], nodes: list[Node], stores: list[Node]) -> ColumnSweep:
        """Values of columns computed from others, kept in arrays or stored."""
        before = [*lines, *self.comments.of([*nodes, *stores])]
        kept = [n.results[0] for n in nodes if n.results[0] in self.columns.kept]
        before += [self._array(value) for value in kept]
        inner, used = self.writer.inner(), count_uses([*nodes, *stores])
        used.update(kept)
        made = {r for n in nodes for r in n.results}
        body = self._demanded(inner, nodes, stores, used, made)
        body += inner.write(nodes, used, lambda _: None)
        body += [self._store_text(self._array_at(v), inner, v, "") for v in kept]
        for node in stores:
            buffer = self.kernel.buffer(node.operands[0])
            at, dtype = self.at.element(buffer), buffer.dtype.name
            body.append(f"if (strip.leads) {self._store_text(at, inner, node.values[1], dtype)}")
        col = self.space.col
        opening = f"each_col(strip.width, [&](long {col}, auto mask) INLINE {{"
        if not self.vectors:
            opening = f"for (long {col} = 0; {col} < strip.width; ++{col}) {{"
        return self._finished(before, opening, body)

    def _row_sweep(
        self, lines: list[str], here: Pass, reductions: list[Node], *, stores: bool
    ) -> ColumnSweep:
        """One walk over the rows."""
        wants = [r.values[0] for r in reductions]
        wants += [n.values[1] for n in here.stores] if stores else []
        wants += list(here.keeps) if stores else []
        nodes = self._needed(here, wants)
        stored = here.stores if stores else []
        before = [*lines, *self.comments.of([*nodes, *reductions, *stored])]
        used = count_uses([*nodes, *reductions, *stored])
        used.update(here.keeps if stores else [])
        inner, reads = self.writer.inner(), set(here.reads)
        body = self._demanded(inner, nodes, [*reductions, *stored], used, set())
        body += inner.write(nodes, used, lambda n: self._element(n, inner, reads))
        if stores:
            body += self._stores(here, inner)
        if not reductions:
            return self._finished(before, self._row_opening(), body)
        before += [self._array(r.results[0]) for r in reductions]
        made = [self._as_element(inner, r.values[0]) for r in reductions]
        many = f"Values<{len(made)}>{{{', '.join(made)}}}"
        body.append(f"return {made[0] if len(made) == 1 else many};")
        return self._finished(before, self._reduction_opening(reductions), body)

    def _stores(self, here: Pass, inner: Writer) -> list[str]:
        lines = []
        kept_in = {(v, self.kept[v]) for v in here.keeps}
        for value in here.keeps:
            at, dtype = self.at.kept(value), self.at.kept_dtype(value)
            lines.append(self._store_text(at, inner, value, dtype))
        for node in here.stores:
            buffer = self.kernel.buffer(node.operands[0])
            if (node.values[1], buffer.name) not in kept_in:
                at = self.at.element(buffer)
                lines.append(self._store_text(at, inner, node.values[1], buffer.dtype.name))
        return lines

    def _row_opening(self) -> str:
        row, col = index_name(self.kernel.reduced[0]), self.space.col
        if self.vectors:
            return f"each_row(strip, [&](long {row}, long {col}, auto mask) INLINE {{"
        head = f"for (long {row} = strip.begin; {row} < strip.end; ++{row})"
        return f"{head}\n      for (long {col} = 0; {col} < strip.width; ++{col}) {{"

    def _reduction_opening(self, reductions: list[Node]) -> str:
        row, col = index_name(self.kernel.reduced[0]), self.space.col
        combines = [COMBINES[str(r.fields["combine"])] for r in reductions]
        arrays = ", ".join(self.arrays[r.results[0]] for r in reductions)
        if self.vectors:
            self.most = max(self.most, len(reductions))
            structs = ", ".join(c.struct for c in combines)
            dear = any(recompute_cost(self.kernel, r) > _DEAR for r in _results(reductions))
            side = 1 if dear else max(1, _VECTORS // len(combines))
            head = f"columns<{side}, {structs}>(strip, {{{arrays}}},"
            return f"{head} [&](long {row}, long {col}, auto mask) INLINE {{"
        dtype = dtype_of(reductions[0].results[0].type)
        kind, init = CPU.value_types[dtype.name], initial(combines[0].name, dtype.name)
        head = f"columns_each<{combines[0].struct}, {kind}>(strip, {init}, {arrays},"
        return f"{head} [&](long {row}, long {col}) INLINE {{"

    def _finished(self, before: list[str], opening: str, body: list[str]) -> ColumnSweep:
        closing = "});" if "[&]" in opening else "}"
        inside = block(body, _INDENT + (4 if "\n" in opening else 2))
        closing = f"  {closing}" if "\n" in opening else closing
        if len(opening) + _INDENT > 100:
            opening = opening.replace(", [&]", ",\n        [&]", 1)
        return ColumnSweep(block(before, _INDENT), opening, inside, closing)

    # -- values of columns ---------------------------------------------------------------------
    def _array(self, value: Result) -> str:
        """Declares the array that holds a value of every column of a strip."""
        name = self.writer.names.take(self.writer.wish(value))
        self.arrays[value] = name
        return f"{self._kind(value)} {name}[strip_columns];"

    def _kind(self, value: Value) -> str:
        dtype = dtype_of(value.type)
        return "int" if self.vectors and dtype is BOOL else CPU.value_types[dtype.name]

    def _array_at(self, value: Value) -> str:
        col = self.space.col
        return f"{self.arrays[value]} + {col}" if self.vectors else f"{self.arrays[value]}[{col}]"

    def _demanded(
        self,
        inner: Writer,
        nodes: Iterable[Node],
        ends: Iterable[Node],
        used: Counter[Value],
        made: set[Result],
    ) -> list[str]:
        """Loads of the values of columns that these nodes use and do not make."""
        lines: list[str] = []
        operands = dict.fromkeys(v for n in (*nodes, *ends) for v in n.values)
        for value in operands:
            if isinstance(value, Literal) or value in made or not self.columns.holds(value):
                continue
            assert isinstance(value, Result)
            node, half = value.node, False
            if isinstance(node, Node) and is_position(node):
                continue
            if isinstance(node, Node) and is_load(node):
                buffer = self.kernel.buffer(node.operands[0])
                at, wish = self.at.element(buffer), f"{buffer.name}_v"
                half = buffer.dtype.is_half
            else:
                at, wish = self._array_at(value), f"{self.arrays[value]}_v"
            text = f"load({at}, mask)" if self.vectors else f"element({at})" if half else at
            inner.elements.add(value)
            inner.texts[value] = Text(text)
            if used[value] > 1 and (self.vectors or half):
                name = inner.names.take(wish)
                lines.append(f"const {inner.type_name(value)} {name} = {text};")
                inner.texts[value] = Text(name)
        return lines

    def _element(self, node: Node, inner: Writer, reads: set[Result]) -> list[str] | None:
        (value,) = node.results
        if value not in reads and is_load(node):
            buffer = self.kernel.buffer(node.operands[0])
            if self.space.inner not in buffer.axes:
                at = self.at.element(buffer)
                text = f"element({at})" if buffer.dtype.is_half else at
                name = inner.names.take(f"{buffer.name}_{index_name(self.kernel.reduced[0])}")
                inner.texts[value] = Text(name)
                kind = CPU.value_types[dtype_of(value.type).name]
                return [f"const {kind} {name} = {text};"]
        return super()._element(node, inner, reads)


def _results(reductions: list[Node]) -> list[Result]:
    """The values that reductions combine."""
    return [v for r in reductions if isinstance(v := r.values[0], Result)]


def _offset(buffer: Buffer, terms: list[tuple[str, str]]) -> str:
    """The sum of index times stride over these axes, "" where the buffer varies over none."""
    found = []
    for index, axis in terms:
        stride = axis_stride(buffer, axis)
        if stride != "0":
            found.append(index if stride == "1" else f"{index} * {stride}")
    return " + ".join(found)
