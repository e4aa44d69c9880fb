"""Rows whose walks can also be those of many short rows, side by side in the lanes of vectors.

    const auto x_row = team.in(0, x + row * cols, cols);     // one row, or a tile of W rows
    const auto row_max = reduce<Max>(team, cols, ...);       // a float, or a vector of W of them

The text says it once and C++ builds it twice: for one row, and for W rows that lie column by column
in tiles, so that a row of 8 elements costs no more than 8 elements of a long one.
"""

from astjit.codegen.address import line_offset, space_of
from astjit.codegen.cpu_view import CpuView
from astjit.codegen.dialect import CPU
from astjit.codegen.expression import Text
from astjit.codegen.names import Names
from astjit.codegen.rename import Renamed
from astjit.codegen.source import SourceLine, block, prune
from astjit.codegen.values import dtype_of
from astjit.fusion.kernel import (
    Buffer,
    Kernel,
    facts,
    is_final,
    is_load,
    is_position,
    is_reduce,
    is_store,
)
from astjit.fusion.schedule import Schedule
from astjit.fusion.stages import is_element
from astjit.ir.function import Node
from astjit.ir.value import Literal, Result, Value
from astjit.ops.table import OPS
from astjit.types.dtype import BOOL, F32

_HELD = ("f32", "bf16", "f16", "bool")
_MIXED = (OPS["maximum"], OPS["minimum"])  # take a vector and a number


def rows_are_lanes(kernel: Kernel, schedule: Schedule) -> bool:
    """Whether the walks of a kernel can be those of many rows: vectors, dense or regular rows."""
    if kernel.kind != "row" or schedule.vector == 1 or not kernel.parallel:
        return False
    if any(node.regions for node in kernel.body.nodes):
        return False
    space = space_of(kernel)
    for buffer in kernel.buffers:
        if buffer.dtype.name not in _HELD or row_stride(buffer, kernel) is None:
            return False
        inside = space.inner in buffer.axes
        if not inside and buffer.axes and line_offset(buffer, space, "{0}") != space.line:
            return False
    if not any(row_stride(b, kernel) for b in kernel.buffers if space.inner in b.axes):
        return False
    lanes = row_values(kernel)
    return all(_speaks_of_rows(n, kernel, lanes) for n in kernel.body.nodes)


def row_stride(buffer: Buffer, kernel: Kernel) -> str | None:
    """The distance of a buffer's rows, "" where all are the same; None where there is no such."""
    space = space_of(kernel)
    outer = tuple(a for a in buffer.axes if a != space.inner)
    if not outer:
        return ""
    if buffer.strides is None:
        return space.inner if outer == space.lines else None
    if len(space.lines) > 1:
        return None
    stride = buffer.strides[buffer.axes.index(outer[0])]
    return "" if stride == 0 else str(stride)


def row_values(kernel: Kernel) -> frozenset[Value]:
    """The values that are one number a row."""
    return frozenset(
        value
        for value, fact in facts(kernel).items()
        if isinstance(value, Result)
        and (fact.axes or fact.stage)
        and not fact.final
        and not is_element(kernel, fact.axes)
    )


def _speaks_of_rows(node: Node, kernel: Kernel, lanes: frozenset[Value]) -> bool:
    """Whether the text of a node means the same of a number a row and of a vector of them."""
    if is_position(node) or (is_load(node) and len(node.values) > 1):
        return False
    if is_store(node):
        buffer, value = kernel.buffer(node.operands[0]), node.values[1]
        return kernel.inner in buffer.axes or (value in lanes) == bool(buffer.axes)
    if is_final(node):
        return node.values[0] in lanes
    if not any(r in lanes for r in node.results):
        return True
    if any(dtype_of(r.type) not in (F32, BOOL) for r in node.results):
        return False
    return is_load(node) or is_reduce(node) or _is_spelled_alike(node, lanes)


def _is_spelled_alike(node: Node, lanes: frozenset[Value]) -> bool:
    """Whether C++ takes the expression of a node with vectors where it takes numbers."""
    others = [v for v in node.values if v not in lanes]
    if any(dtype_of(v.type) is BOOL for v in others):
        return False
    if node.op is OPS["to"]:
        target = dtype_of(node.results[0].type)
        return target is BOOL or dtype_of(node.values[0].type) is target
    spelling = node.op.spelling(CPU.languages, "f32") or ""
    if "?" in spelling:  # one arm may be a number beside a vector, not a variable
        arms = any(v in lanes for v in node.values[1:])
        return arms and all(isinstance(v, Literal) for v in others)
    return not others or spelling.startswith("{0}") or node.op in _MIXED


class CpuRows(CpuView):
    """A row kernel whose text is built for one row and for many."""

    def __init__(self, renamed: Renamed, source: SourceLine) -> None:
        self.either = row_values(renamed.kernel)
        super().__init__(renamed, source)

    def values(self) -> dict[str, object]:
        """The names a template may read."""
        return super().values() | {"tiles": len(self._tiles), "ends": self._ends}

    @property
    def _tiles(self) -> list[str]:
        """What lies in tiles, by the name of its rows: elements that differ from row to row."""
        inside = [b for b in self.kernel.buffers if self.space.inner in b.axes]
        names = [self.rows[b.name] for b in inside if row_stride(b, self.kernel)]
        return names + [self.scratch_names[v] for v in self.scratch]

    def _row_name(self, buffer: Buffer, scope: Names) -> str:
        inside = self.space.inner in buffer.axes
        return scope.take(f"{buffer.name}_row") if inside else buffer.name

    def _row_lines(self, indent: int) -> str:
        lines = []
        for b in self.kernel.buffers:
            name = self.rows[b.name]
            if name == b.name:
                continue
            given = f"team.every({b.name})"
            if stride := row_stride(b, self.kernel):
                call = "team.out" if b.role == "out" else "team.in"
                place = f"{b.name} + {line_offset(b, self.space, '{0}')}"
                given = f"{call}({self._tiles.index(name)}, {place}, {stride})"
            lines.append(f"const auto {name} = {given};")
        for position, value in enumerate(self.scratch):
            count, name = len(self.scratch), self.scratch_names[value]
            which = "team.place()" if count == 1 else f"(team.place() * {count} + {position})"
            tile, place = self._tiles.index(name), f"work + {which} * {self.space.inner}"
            lines.append(f"const auto {name} = team.scratch({tile}, {place});")
        rest = "\n".join(s.lines + (s.sweep.body if s.sweep else "") for s in self.steps)
        return block(prune(lines, rest), indent)

    @property
    def _ends(self) -> str:
        """What takes rows from their tiles to memory."""
        out = [b for b in self.kernel.buffers if b.role != "in" and self.space.inner in b.axes]
        return block([f"team.write({self.rows[b.name]});" for b in out], 4)

    def _led(self, line: str) -> str:
        return line if line.startswith("team.") else super()._led(line)

    def _scalar_store(self, node: Node) -> str:
        buffer, value = self.kernel.buffer(node.operands[0]), node.values[1]
        if not buffer.axes:
            return super()._scalar_store(node)
        return self._set(buffer.name, self.writer.text(value).text)

    def _part_store(self, part: str, text: str) -> str:
        return self._set(part, text)

    def _set(self, base: str, text: str) -> str:
        return f"team.set({base} + {self.space.line}, {text});"

    def _scalar_load(self, node: Node) -> list[str] | None:
        if not is_load(node) or not (buffer := self.kernel.buffer(node.operands[0])).axes:
            return super()._scalar_load(node)
        value, text = node.result, f"team.value({buffer.name} + {self.space.line})"
        if self.uses[value] == 1:
            self.writer.texts[value] = Text(text)
            return []
        name = self.writer.names.take(f"{buffer.name}_{self.space.line}")
        self.writer.texts[value] = Text(name)
        return [f"const auto {name} = {text};"]
