"""What templates/cpu may read: one kernel as finished lines of C++ for each pass."""

from collections import Counter
from dataclasses import dataclass

from astjit.codegen.address import index_name, line_offset, space_of, split_line
from astjit.codegen.cpu_places import Places, initial, of_nothing, sizes_first
from astjit.codegen.dialect import CPU
from astjit.codegen.expression import Text
from astjit.codegen.flow import CPU_FLOW
from astjit.codegen.lanes import LaneFlow
from astjit.codegen.names import Names
from astjit.codegen.rename import Renamed
from astjit.codegen.signature import Argument, Entry
from astjit.codegen.source import Comments, SourceLine, block, parameters, prune
from astjit.codegen.values import Writer, count_uses, dtype_of, number_ctype, user_name
from astjit.fusion.kernel import (
    Buffer,
    access_axes,
    is_load,
    is_position,
    is_reduce,
    is_store,
    may_fail,
    may_hang,
    position_axis,
)
from astjit.fusion.stages import Pass, cut
from astjit.ir.function import Node
from astjit.ir.value import Result, Value
from astjit.ir.walk import inputs
from astjit.ops.reduce import COMBINES
from astjit.types.dtype import F32

FIXED = ("threads", "team", "status", "mask", "u", "work", "tile", "tiles", "begin", "end", "line")
TOGETHER = 4  # reductions in one walk
TILE = 4096  # elements of a row that one thread takes at a time, where rows are cut


@dataclass(frozen=True, slots=True)
class Sweep:
    """One walk along a row.

    Attributes:
        result: `const float total = ` of a reduction, "" when only stores happen.
        combine: the struct that combines, "" when only stores happen.
        init: the value to start from (lane by lane only).
        kind: the C type of the result (lane by lane only).
        body: the statements at each element, indented.
    """

    result: str
    combine: str
    init: str
    kind: str
    body: str


@dataclass(frozen=True, slots=True)
class Step:
    """The lines before a walk, and the walk."""

    lines: str
    sweep: Sweep | None


class CpuView:
    """A kernel as the CPU templates see it."""

    places = Places
    either: frozenset[Value] = frozenset()

    def __init__(self, renamed: Renamed, source: SourceLine) -> None:
        kernel, schedule, scope = renamed.kernel, renamed.schedule, renamed.scope
        self.renamed, self.kernel, self.space = renamed, kernel, space_of(kernel)
        self.vectors = schedule.vector != 1
        self.comments = Comments(source)
        self.kept = schedule.kept(kernel)
        self.scratch = [v for v, place in self.kept.items() if place == "scratch"]
        self.writer = Writer(kernel, CPU, scope, vectors=self.vectors)
        self.writer.flow = LaneFlow(self.comments, *CPU_FLOW).write
        self.writer.either = self.either
        for param, name in zip(kernel.numbers, renamed.numbers, strict=True):
            self.writer.texts[param] = Text(name)
        cuts = cut(kernel, self.kept)
        self.elements = {r for p in cut(kernel, {}).passes for n in p.nodes for r in n.results}
        self.uses = self._scalar_uses()
        self.rows: dict[str, str] = {}
        self.scratch_names: dict[Result, str] = {}
        at = (self.rows, self.kept, self.scratch_names)
        self.at = self.places(kernel, self.space, *at, vectors=self.vectors)
        self.writer.access = self.at.access
        self.uniforms = block(self._uniform_lines(list(cuts.uniforms)), 2)
        self.rows |= {b.name: self._row_name(b, scope) for b in kernel.buffers}
        self.scratch_names |= {v: scope.take(f"{v.name or 'kept'}_scratch") for v in self.scratch}
        indent = 4 if self.space.line or kernel.kind == "full" else 2
        indent += 2 if kernel.kind == "pointwise" and self.space.inner else 0  # the loop over tiles
        self.parts = self._parts(list(cuts.finals), scope)
        self.steps = [s for p in cuts.passes for s in self._steps(p, indent)]
        self.row_lines = self._row_lines(indent)
        self.finals = block(self._final_lines(list(cuts.finals)), 2)

    def values(self) -> dict[str, object]:
        """The names a template may read."""
        return {
            "head": self.head,
            "space": self.space,
            "vectors": self.vectors,
            "uniforms": self.uniforms,
            "row_lines": self.row_lines,
            "shared": self.shared,
            "finals": self.finals,
            "steps": self.steps,
            "tile": TILE,
        }

    # -- entry point ---------------------------------------------------------------------------
    def arguments(self) -> list[Argument]:
        """What the entry point takes, in the text's names."""
        kernel, numbers = self.kernel, zip(self.kernel.numbers, self.renamed.numbers, strict=True)
        arguments = [Argument("buffer", b.name, "pointer") for b in kernel.buffers]
        arguments += [Argument("size", a, "long") for a in kernel.axes]
        arguments += [Argument("stride", s, "long") for s in kernel.stride_names]
        arguments += [Argument("number", name, number_ctype(kernel, p)) for p, name in numbers]
        if self.scratch:
            arguments.append(Argument("work", "work", "pointer"))
        arguments += [Argument("part", name, "pointer") for name in self.parts.values()]
        if may_fail(kernel):
            watched = any(map(may_hang, kernel.body.walk()))
            arguments.append(Argument("status", "status", "watched" if watched else "status"))
        arguments.append(Argument("threads", "threads", "int"))
        return arguments

    def entry(self) -> Entry:
        """What the entry point takes, in the user's names."""
        return self.renamed.entry(self.arguments(), len(self.scratch))

    @property
    def head(self) -> str:
        """The function's head up to the opening brace."""
        buffers = {b.name: b for b in self.kernel.buffers}
        declarations = []
        for argument in self.arguments():
            if argument.role == "buffer":
                buffer = buffers[argument.name]
                const = "const " if buffer.role == "in" else ""
                declarations.append(f"{const}{self.at.memory_type(buffer)}* {buffer.name}")
            elif argument.role == "work":
                declarations.append("float* work")
            elif argument.role == "part":
                declarations.append(f"{self._part_kinds[argument.name]}* {argument.name}")
            elif argument.role == "status":
                declarations.append("int* status")
            else:
                declarations.append(f"{argument.ctype} {argument.name}")
        return parameters(f'extern "C" void {self.kernel.name}(', declarations, ") {")

    # -- rows ----------------------------------------------------------------------------------
    def _row_name(self, buffer: Buffer, scope: Names) -> str:
        moves = line_offset(buffer, self.space, "{0}")
        varies = self.space.inner in buffer.axes or "*" in buffer.axes
        return scope.take(f"{buffer.name}_row") if moves and varies else buffer.name

    def _row_lines(self, indent: int) -> str:
        space, pointers = self.space, []
        for b in self.kernel.buffers:
            if self.rows[b.name] != b.name:
                const = "const " if b.role == "in" else ""
                kind = f"{const}{self.at.memory_type(b)}*"
                offset = line_offset(b, space, "{0}")
                pointers.append(f"{kind} {self.rows[b.name]} = {b.name} + {offset};")
        for position, value in enumerate(self.scratch):
            thread = "team.place()" if self.kernel.reduced else "omp_get_thread_num()"
            count = len(self.scratch)
            which = thread if count == 1 else f"({thread} * {count} + {position})"
            pointers.append(f"float* {self.scratch_names[value]} = work + {which} * {space.inner};")
        rest = "\n".join(s.lines + (s.sweep.body if s.sweep else "") for s in self.steps)
        split = split_line(space, "long") if len(space.lines) > 1 else []
        return block(prune(split + pointers, rest), indent)

    @property
    def shared(self) -> bool:
        """Whether threads may share a row: not where one could store what another still loads."""
        inner = self.space.inner
        return all(b.role != "inout" or inner in b.axes for b in self.kernel.buffers)

    # -- all rows ------------------------------------------------------------------------------
    def _parts(self, finals: list[Node], scope: Names) -> dict[Node, str]:
        """The array of one value a row for each reduction over all rows."""
        reductions = [n for n in finals if is_reduce(n)]
        names = {n: scope.take(f"{self.writer.wish(n.result)}_part") for n in reductions}
        kinds = {n: CPU.value_types[dtype_of(n.result.type).name] for n in reductions}
        self._part_kinds = {names[n]: kinds[n] for n in reductions}
        return names

    def _final_lines(self, nodes: list[Node]) -> list[str]:
        """Combines the rows' values and computes what is made of them."""
        lines: list[str] = []
        for node in nodes:
            lines += self.comments.of([node])
            if is_reduce(node):
                lines += self._total(node)
            elif is_store(node):
                lines.append(self._scalar_store(node))
            else:
                lines += self.writer.write([node], self.uses, lambda n: None)
        return lines

    def _total(self, node: Node) -> list[str]:
        """The lines of one reduction over all rows."""
        combine, part = COMBINES[str(node.fields["combine"])], self.parts[node]
        dtype = dtype_of(node.result.type)
        declared = self.writer.declare(node.result, Text("")).removesuffix(";")
        count, line = self.space.count, self.space.line
        if combine.vectors and dtype is F32:
            head = f"{declared}reduce<{combine.struct}>(0, {count}, [=](long {line}, auto mask)"
            return [f"{head} INLINE {{", f"  return load({part} + {line}, mask);", "});"]
        kind, init = CPU.value_types[dtype.name], initial(combine.name, dtype.name)
        head = f"{declared}reduce_each<{combine.struct}, {kind}>(0, {count}, {init},"
        return [f"{head} [=](long {line}) {{", f"  return {part}[{line}];", "});"]

    def _scalar_store(self, node: Node) -> str:
        buffer, value = self.kernel.buffer(node.operands[0]), node.values[1]
        text, at = self.writer.text(value, buffer.dtype.compute).text, self.at.scalar(buffer)
        return f"put({at}, {text});" if buffer.dtype.is_half else f"{at} = {text};"

    # -- statements ----------------------------------------------------------------------------
    def _uniform_lines(self, nodes: list[Node]) -> list[str]:
        """Sizes that indices are checked against come first."""
        first, rest = sizes_first(self.kernel, nodes)
        lines = self._scalar_lines(first) + of_nothing(self.kernel, self.writer)
        return lines + self._scalar_lines(rest)

    def _scalar_lines(self, nodes: list[Node]) -> list[str]:
        lines: list[str] = []
        for node in nodes:
            if made := self.writer.write([node], self.uses, self._scalar_load):
                lines += [*self.comments.of([node]), *made]
        return lines

    def _scalar_uses(self) -> Counter[Value]:
        """Uses of values; a scalar used inside a sweep counts twice, so that it has a name."""
        uses: Counter[Value] = Counter()
        for node in self.kernel.body.nodes:
            element = any(r in self.elements for r in node.results) or not node.results
            for value, times in count_uses([node]).items():
                uses[value] += 2 * times if element else times
        return uses

    def _scalar_load(self, node: Node) -> list[str] | None:
        if is_position(node):
            self.writer.texts[node.result] = Text(index_name(position_axis(node)))
            return []
        if node.regions or not is_load(node):
            return None
        (value,) = node.results
        buffer = self.kernel.buffer(node.operands[0])
        text = Text(self.at.scalar(buffer))
        if "*" in access_axes(node):
            base = self.rows.get(buffer.name, buffer.name)
            text = Text(f"{base}[{self.at.offset(node, self.writer)}]")
        if buffer.dtype.is_half:
            text = Text(f"element({text.text})")
        text = self.at.guarded(node, text, self.writer)
        if self.uses[value] == 1:
            self.writer.texts[value] = text
            return []
        wish = f"{buffer.name}_{self.space.line or 'v'}"
        kind, name = CPU.value_types[dtype_of(value.type).name], self.writer.names.take(wish)
        self.writer.texts[value] = Text(name)
        return [f"const {kind} {name} = {text.text};"]

    def _steps(self, here: Pass, indent: int) -> list[Step]:
        lines = self._scalar_lines(here.scalars)
        for node in here.scalar_stores:
            lines += [*self.comments.of([node]), self._led(self._scalar_store(node))]
        for node in here.totals:
            text = self.writer.text(node.values[0], dtype_of(node.result.type)).text
            lines.append(self._led(self._part_store(self.parts[node], text)))
        if not here.sweeps:
            return [Step(block(lines, indent), None)] if lines else []
        steps: list[Step] = []
        most = TOGETHER if self.vectors else 1
        groups = [here.reductions[i : i + most] for i in range(0, len(here.reductions), most)]
        for at, reductions in enumerate(groups or [[]]):
            stores = at == 0
            wants = [r.values[0] for r in reductions]
            wants += [n.values[1] for n in here.stores] if stores else []
            wants += list(here.keeps) if stores else []
            nodes = self._needed(here, wants)
            comments = self.comments.of([*nodes, *reductions, *here.stores])
            sweep = self._sweep(here, nodes, reductions, stores, indent + 2)
            steps.append(Step(block([*lines, *comments], indent), sweep))
            lines = self._found(reductions) if len(reductions) > 1 else []
        return [*steps, Step(block(lines, indent), None)] if lines else steps

    def _part_store(self, part: str, text: str) -> str:
        return f"{part}[{self.space.line}] = {text};"

    def _led(self, line: str) -> str:
        """A line for one of the threads that share a row."""
        return f"if (team.leads()) {line}" if self.kernel.reduced else line

    def _found(self, reductions: list[Node]) -> list[str]:
        """Names for the results of a sweep with several reductions."""
        found = self._last_found
        return [
            self.writer.declare(r.result, Text(f"{found}[{at}]")) for at, r in enumerate(reductions)
        ]

    def _needed(self, here: Pass, wants: list[Value]) -> list[Node]:
        """The nodes of a pass that these values need, kept values being read."""
        found, todo = set[Value](), list(wants)
        reads = set(here.reads)
        while todo:
            value = todo.pop()
            if value in found or not isinstance(value, Result):
                continue
            found.add(value)
            if value not in reads and isinstance(value.node, Node):
                todo += inputs(value.node)
        here_nodes = [n for n in self.kernel.body.nodes if any(r in found for r in n.results)]
        inside = set(here.nodes) | {r.node for r in reads}
        return [n for n in here_nodes if n in inside]

    def _sweep(
        self, here: Pass, nodes: list[Node], reductions: list[Node], stores: bool, indent: int
    ) -> Sweep:
        inner = self.writer.inner()
        used = count_uses([*nodes, *reductions, *(here.stores if stores else [])])
        for value in here.keeps if stores else []:
            used[value] += 1
        reads = set(here.reads)
        lines = inner.write(nodes, used, lambda n: self._element(n, inner, reads))
        if stores:
            for value in here.keeps:
                at, held = self.at.kept(value), self.at.kept_dtype(value)
                lines.append(self._store_text(at, inner, value, held))
            kept_in = {(v, self.kept[v]) for v in here.keeps}
            for node in here.stores:
                buffer = self.kernel.buffer(node.operands[0])
                if (node.values[1], buffer.name) in kept_in:
                    continue  # keeping it there was the store
                at = self.at.element(buffer)
                lines.append(self._store_text(at, inner, node.values[1], buffer.dtype.name))
        if not reductions:
            return Sweep("", "", "", "", block(lines, indent))
        combines = [COMBINES[str(r.fields["combine"])] for r in reductions]
        structs = [c.struct for c in combines]
        values = [self._as_element(inner, r.values[0]) for r in reductions]
        if len(reductions) > 1:
            lines.append(f"return lanes_of({', '.join(values)});")
            self._last_found = self.writer.names.take("found")
            declared = f"const auto {self._last_found} = "
            return Sweep(declared, f"Each<{', '.join(structs)}>", "", "", block(lines, indent))
        lines.append(f"return {values[0]};")
        made = dtype_of(reductions[0].result.type)
        declared = self.writer.declare(reductions[0].result, Text("")).removesuffix(";")
        init, kind = initial(combines[0].name, made.name), CPU.value_types[made.name]
        return Sweep(declared, structs[0], init, kind, block(lines, indent))

    def _as_element(self, inner: Writer, value: Value) -> str:
        return inner.vector(value)

    def _element(self, node: Node, inner: Writer, reads: set[Result]) -> list[str] | None:
        value = node.results[0]
        if node.regions and value not in reads:
            return None
        if value in self.at.silent:
            return []
        if is_position(node):
            return inner.place(value, index_name(position_axis(node)))
        if value in reads:
            address, dtype = self.at.kept(value), self.at.kept_dtype(value)
        elif is_load(node):
            buffer = self.kernel.buffer(node.operands[0])
            address, dtype = self.at.load(node, inner), buffer.dtype.name
        else:
            return None
        wish = self._load_wish(node, value)
        inner.elements.add(value)
        kind, name = self.at.loaded(inner.type_name(value)), inner.names.take(wish)
        inner.texts[value] = Text(name)
        if self.vectors:
            return [f"const {kind} {name} = load({address}, mask);"]
        text = f"element({address})" if dtype in ("bf16", "f16") else address
        if is_load(node) and value not in reads:
            text = self.at.guarded(node, Text(text), inner).text
        return [f"const {kind} {name} = {text};"]

    def _load_wish(self, node: Node, value: Result) -> str:
        if is_load(node):
            return f"{self.kernel.buffer(node.operands[0]).name}_v"
        return f"{user_name(value) or node.op.name}_v"

    def _store_text(self, at: str, inner: Writer, value: Value, dtype: str) -> str:
        if self.vectors:
            return f"store({at}, {self._as_element(inner, value)}, mask);"
        text = inner.text(value).text
        return f"put({at}, {text});" if dtype in ("bf16", "f16") else f"{at} = {text};"
