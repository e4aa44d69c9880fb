"""What templates/cuda may read: one kernel variant as finished lines of CUDA C++ for each pass."""

import re
from collections import Counter
from dataclasses import replace

from astjit.codegen.address import index_name, line_offset, space_of, split_line
from astjit.codegen.cuda_head import half_pieces, head
from astjit.codegen.cuda_lanes import WIDE, Lanes, Step, held_dtype, picked_offset
from astjit.codegen.cuda_reductions import Reduction, Total, combined, initial, slots_of
from astjit.codegen.dialect import CUDA
from astjit.codegen.expression import RANKS, Text, number
from astjit.codegen.flow import cuda_flow
from astjit.codegen.names import Names
from astjit.codegen.rename import Renamed
from astjit.codegen.signature import Argument, Entry
from astjit.codegen.source import Comments, SourceLine, block, prune
from astjit.codegen.values import Writer, count_uses, dtype_of, number_ctype, user_name
from astjit.fusion.kernel import (
    Buffer,
    access_axes,
    indices,
    is_checked,
    is_load,
    is_position,
    is_reduce,
    is_store,
    position_axis,
)
from astjit.fusion.split import Share, share
from astjit.fusion.stages import Pass, cut
from astjit.ir.function import Node
from astjit.ir.value import Result, Value
from astjit.ops.reduce import COMBINES
from astjit.types.dtype import I64

FIXED = ("j", "v", "slots", "line", "row_start", "status", "inside", "part", "arrived")


class CudaView:
    """A kernel variant as the CUDA templates see it."""

    def __init__(self, renamed: Renamed, source: SourceLine) -> None:
        kernel, schedule, scope = renamed.kernel, renamed.schedule, renamed.scope
        self.renamed, self.kernel, self.schedule = renamed, kernel, schedule
        self.space, self.comments = space_of(kernel), Comments(source)
        self.pieces: set[str] = set()
        self.kept = schedule.kept(kernel)
        self.resident = [v for v, place in self.kept.items() if place == "registers"]
        self.index = "long long" if schedule.wide else CUDA.size
        self.warps = schedule.variant == "warp"  # several rows a block; the last may have fewer
        self.vectors = {b.name: scope.take(f"{b.name}_v") for b in kernel.buffers}
        both = [b.name for b in kernel.buffers if b.role == "inout"]
        self.stored = {**self.vectors, **{name: scope.take(f"{name}_out") for name in both}}
        self.writer = Writer(kernel, CUDA, scope, vectors=False)
        self.writer.flow = cuda_flow(self.comments)
        for param, name in zip(kernel.numbers, renamed.numbers, strict=True):
            self.writer.texts[param] = Text(name)
        self.starts, self.start_lines = self._row_starts(scope)
        self.arrays = {v: self._array_name(v, scope) for v in self.resident}
        names = (self.vectors, self.stored, self.arrays, self.starts)
        self.lanes = Lanes(kernel, schedule, self.space, *names)
        self.writer.access = self.lanes.access
        self.slots: Counter[str] = Counter()
        cuts = cut(kernel, self.kept)
        self.elements = {r for p in cut(kernel, {}).passes for n in p.nodes for r in n.results}
        self.uniforms = self._scalar_lines(list(cuts.uniforms))
        self.grid = kernel.kind == "full" and schedule.variant == "plain"
        self.totals: list[Total] = []
        self.left: list[Total] = []  # what blocks that share a row leave, in this launch
        self.found: list[Total] = []  # and in those before
        self.tail: list[str] | None = None
        self.first = ""  # a condition for what one of these blocks does
        if schedule.variant == "split":
            self.steps = [self._share(share(kernel, cuts, schedule.phase))]
            self.uniforms = prune(self.uniforms, "\n".join(self._texts()))
            self.finals: list[str] = []
            return
        self.sums = self._totals(list(cuts.finals))
        self.steps = [s for p in cuts.passes if (s := self._step(p)) is not None]
        self.finals = self._final_lines(list(cuts.finals))

    def values(self) -> dict[str, object]:
        """The names a template may read."""
        s = self.schedule
        lines = [*self._texts(), *(["inside"] if self.warps else [])]
        setup = prune(self._line_setup(), "\n".join([*lines, *self.uniforms]))
        return {
            "head": self.head,
            "space": self.space,
            "s": s,
            "index": self.index,
            "uniforms": self.uniforms,
            "setup": setup,
            "arrays": [f"{self._array(v)} {n}[{s.per_thread}];" for v, n in self.arrays.items()],
            "steps": self.steps,
            "slot_arrays": [(k, slots_of(k), n) for k, n in self.slots.items() if not self.warps],
            "totals": self.totals,
            "finals": self.finals,
            "left": self.left,
            "tail": self.tail,
            "block": block,
        }

    def _texts(self) -> list[str]:
        """The statements of all passes."""
        lines = [x for t in self.steps for x in (*t.lines, *t.loads, *t.lanes, *t.stores)]
        return lines + (self.tail or [])

    # -- entry point ---------------------------------------------------------------------------
    def arguments(self) -> list[Argument]:
        """What the entry point takes, in the text's names."""
        kernel, numbers = self.kernel, zip(self.kernel.numbers, self.renamed.numbers, strict=True)
        size = "long" if self.schedule.wide else "int"
        arguments = [Argument("buffer", b.name, "pointer") for b in kernel.buffers]
        arguments += [Argument("size", a, size) for a in self._sizes()]
        arguments += [Argument("stride", s, "long") for s in kernel.stride_names]
        arguments += [Argument("number", name, number_ctype(kernel, p)) for p, name in numbers]
        if self.schedule.variant == "split":  # a launch of its own takes what it touches
            words = set(re.findall(r"\w+", "\n".join(self._texts() + self.uniforms)))
            arguments = [
                a for a in arguments if a.role not in ("buffer", "number") or a.name in words
            ]
        arguments += [Argument("part", t.part, "pointer", t.array) for t in self._parts()]
        meet = bool(self.totals) or self.tail is not None
        return arguments + [Argument("arrived", "arrived", "pointer")] * meet

    def _parts(self) -> list[Total]:
        """The reductions whose shares are arguments."""
        return [*self.totals, *self.found, *self.left]

    def entry(self) -> Entry:
        """What the entry point takes, in the user's names."""
        return self.renamed.entry(self.arguments())

    def _sizes(self) -> list[str]:
        """The axes whose extents the text mentions; a row kernel's rows are its grid."""
        if self.warps or self.totals:
            return list(self.kernel.axes)
        if self.kernel.kind == "row" and len(self.space.lines) == 1:
            used = self._mentions(self.space.lines[0])
            return [a for a in self.kernel.axes if a == self.space.inner or used]
        if self.kernel.kind == "row" and len(self.space.lines) > 1:
            needed = self._splits_lines()
            return [
                a
                for a in self.kernel.axes
                if a == self.space.inner
                or (needed and a != self.space.lines[0])
                or self._mentions(a)
            ]
        return list(self.kernel.axes)

    @property
    def body(self) -> list[Node]:
        """The kernel's nodes."""
        return self.kernel.body.nodes

    def _mentions(self, axis: str) -> bool:
        return any(str(n.fields.get("value", "")) == axis for n in self.kernel.body.nodes)

    @property
    def head(self) -> str:
        """The kernel's head up to the opening brace."""
        parts = {t.part: t.element for t in self._parts()}
        self.pieces |= half_pieces(self.kernel)
        return head(self.kernel, self.schedule, self.resident, self.arguments(), parts)

    # -- rows ----------------------------------------------------------------------------------
    def _row_starts(self, scope: Names) -> tuple[dict[str, str], list[str]]:
        """The start of a row in each buffer that has one; buffers of one layout share it."""
        starts: dict[str, str] = {}
        names: dict[str, str] = {}
        lines = []
        for b in self.kernel.buffers:
            offset = line_offset(b, self.space, WIDE)
            if not offset or not {self.space.inner, "*"} & set(b.axes):
                continue
            if offset not in names:
                full = b.strides is None and b.axes == (*self.space.lines, self.space.inner)
                names[offset] = (
                    scope.reserve("row_start") if full else scope.take(f"{b.name}_start")
                )
                lines.append(f"const long long {names[offset]} = {offset};")
            starts[b.name] = names[offset]
        return starts, lines

    def _line_setup(self) -> list[str]:
        row = self.kernel.kind == "row" and bool(self.space.line)
        line, count = self.space.line, self.space.count
        first = [f"const int {line} = blockIdx.x;"] if row and not self.totals else []
        if self.warps:
            first = [
                f"const int {line} = blockIdx.x * {self.schedule.rows} + threadIdx.y;",
                f"const bool inside = {line} < {count};",
            ]
        split = split_line(self.space, "int") if len(self.space.lines) > 1 else []
        return first + split + self.start_lines

    def _splits_lines(self) -> bool:
        if any(is_position(n) and position_axis(n) in self.space.lines for n in self.body):
            return True
        text = "\n".join(self.start_lines)
        return any(index_name(a) in text for a in self.space.lines) or any(
            set(b.axes) & set(self.space.lines) and set(b.axes) != set(self.kernel.axes)
            for b in self.kernel.buffers
        )

    def _array(self, value: Result) -> str:
        kind = CUDA.memory_types[held_dtype(self.kernel, value).name]
        return f"Vec<{kind}, {self.schedule.vector}>"

    def _array_name(self, value: Result, scope: Names) -> str:
        node = value.node
        if isinstance(node, Node) and is_load(node) and "*" not in access_axes(node):
            return self.vectors[self.kernel.buffer(node.operands[0]).name]
        stored = self._stored_buffer(value)
        if stored is not None:
            return self.stored[stored.name]
        if isinstance(node, Node) and is_load(node):
            return scope.take(f"{self.kernel.buffer(node.operands[0]).name}_v")
        wish = user_name(value) or (node.op.name if isinstance(node, Node) else "kept")
        return scope.take(f"{wish}_v")

    def _stored_buffer(self, value: Value) -> Buffer | None:
        for node in self.kernel.body.nodes:
            if not node.results and node.values[1] is value:
                buffer = self.kernel.buffer(node.operands[0])
                if self.space.inner in buffer.axes:
                    return buffer
        return None

    # -- scalars -------------------------------------------------------------------------------
    def _scalar_lines(self, nodes: list[Node]) -> list[str]:
        uses: Counter[Value] = Counter()
        for node in self.kernel.body.nodes:
            inside = any(r in self.elements for r in node.results) or not node.results
            for value, times in count_uses([node]).items():
                uses[value] += 2 * times if inside else times
        lines = []
        for node in nodes:
            made = self.writer.write([node], uses, self._scalar_load)
            lines += [*self.comments.of([node]), *made] if made else []
        return lines

    def _scalar_load(self, node: Node) -> list[str] | None:
        if node.regions:
            return None
        if is_position(node):
            where = index_name(position_axis(node))
            name = self.writer.names.take(f"{where}_at")
            self.writer.texts[node.result] = Text(name)
            return [f"const long long {name} = {where};"]
        if self.warps and is_checked(node):  # threads of no row must not end the launch
            index, size = (self.writer.text(v, I64) for v in node.values)
            name = self.writer.names.take("checked_value")
            self.writer.texts[node.result] = Text(name)
            text = f"inside ? in_range({index.text}, {size.text}) : 0"
            return [f"const long long {name} = {text};"]
        if not is_load(node):
            return None
        (value,) = node.results
        buffer = self.kernel.buffer(node.operands[0])
        text = self._widen(buffer, node)
        if (given := indices(node)[1]) is not None:
            zero = number(0, dtype_of(value.type), "", "").text
            text = f"{self.writer.text(given).wrapped(RANKS['||'])} ? ({text}) : {zero}"
        name = self.writer.names.take(f"{buffer.name}_{self.space.line or 'v'}")
        kind = CUDA.value_types[dtype_of(value.type).name]
        self.writer.texts[value] = Text(name)
        return [f"const {kind} {name} = {text};"]

    def _widen(self, buffer: Buffer, node: Node) -> str:
        line = line_offset(buffer, self.space, WIDE)
        terms = [line] if line else []
        if "*" in access_axes(node):
            terms.append(picked_offset(node, buffer, self.writer))
        at = f"{buffer.name}[{' + '.join(terms) or '0'}]"
        text = f"widen_{buffer.dtype.name}({at})" if buffer.dtype.is_half else at
        return f"inside ? {text} : 0" if self.warps and terms else text

    # -- passes --------------------------------------------------------------------------------
    def _before(self, here: Pass) -> list[str]:
        """What is known of a row before a sweep."""
        lines = self._scalar_lines(here.scalars)
        for node in here.scalar_stores:
            lines += [*self.comments.of([node]), self._scalar_store(node)]
        for node in here.totals:
            self.writer.texts[node.result] = Text(self.sums[node].name)
            lines.append(self._accumulate(node, self.writer, self.sums[node]))
        return lines

    def _step(self, here: Pass) -> Step | None:
        lines = self._before(here)
        if not here.sweeps:
            return Step([], lines, [], [], [], [], False) if lines else None
        comments = self.comments.of([*here.nodes, *here.reductions, *here.stores])
        inner = self.writer.inner()
        loads, lanes, stores = self.lanes.write(here, inner)
        guarded = bool(here.reductions) or self.lanes.reaching
        reductions = []
        for node in here.reductions:
            reductions.append(self._reduction(node))
            lanes.append(self._accumulate(node, inner, reductions[-1]))
        return Step(comments, lines, reductions, loads, lanes, stores, True, guarded)

    def _scalar_store(self, node: Node) -> str:
        buffer, value = self.kernel.buffer(node.operands[0]), node.values[1]
        text = self.writer.text(value, buffer.dtype.compute).text
        at = f"{buffer.name}[{line_offset(buffer, self.space, WIDE) or '0'}]"
        text = f"narrow_{buffer.dtype.name}({text})" if buffer.dtype.is_half else text
        guard = f"if ({self.first}threadIdx.x == 0) " if self.kernel.reduced else ""
        guard = "if (inside && threadIdx.x == 0) " if self.warps else guard
        return f"{guard}{at} = {text};"

    def _reduction(self, node: Node) -> Reduction:
        (result,) = node.results
        combine = COMBINES[str(node.fields["combine"])]
        dtype = dtype_of(result.type)
        name = self.writer.names.take(self.writer.wish(result))
        self.writer.texts[result] = Text(name)
        struct = combine.struct
        if combine.struct in ("Max", "Min") and dtype.name != "f32":
            struct += "Any"
        kind = CUDA.value_types[dtype.name]
        slot = f"{slots_of(kind)}[{self.slots[kind]}]"
        self.slots[kind] += 1
        return Reduction(name, kind, initial(combine.name, dtype), struct, slot, kind)

    def _accumulate(self, node: Node, inner: Writer, reduction: Reduction) -> str:
        value = inner.text(node.values[0], dtype_of(node.results[0].type))
        return combined(reduction, value.text)

    # -- blocks that share a row ---------------------------------------------------------------
    def _share(self, given: Share) -> Step:
        """The pass of this launch, after what those before have left is combined."""
        number = {n: at for at, n in enumerate(filter(is_reduce, self.body))}
        lines: list[str] = []
        for known in given.known:
            lines += self._before(known)
            for node in known.reductions:
                total = self._total(self._reduction(node), number[node])
                self.found.append(total)
                lines.append(f"const {total.kind} {total.name} = {self._gathered(total)};")
        self.first = "blockIdx.y == 0 && "
        step = self._step(given.here)
        assert step is not None
        made = zip(step.reductions, given.here.reductions, strict=True)
        self.left = [self._total(r, number[node]) for r, node in made]
        self.first = ""
        if given.tail is not None:
            self.tail = self._before(given.tail)
        return replace(step, lines=[*lines, *step.lines])

    def _gathered(self, total: Total) -> str:
        """What all blocks of a row have left, combined."""
        given = f"{total.init}, {total.part}, {total.slot}"
        kind = "" if total.kind == "float" else f", {total.kind}"  # infinities are floats
        return f"parts_reduce<{total.struct}, {self.schedule.threads}{kind}>({given})"

    # -- all blocks ----------------------------------------------------------------------------
    def _totals(self, finals: list[Node]) -> dict[Node, Reduction]:
        """The reductions over all rows."""
        found = {node: self._reduction(node) for node in finals if is_reduce(node)}
        self.totals += [self._total(r, at) for at, r in enumerate(found.values())]
        return found

    def _total(self, r: Reduction, array: int) -> Total:
        part = self.writer.names.take(f"{r.name}_part")
        add = combined(r, f"{part}[part]")
        return Total(r.name, r.kind, r.init, r.struct, r.slot, r.element, part, add, array)

    def _final_lines(self, nodes: list[Node]) -> list[str]:
        """What the last block does with the results."""
        if self.grid:
            first, *rest = self.steps
            self.steps[:] = [first]
            self.totals = [self._total(r, at) for at, r in enumerate(first.reductions)]
            return [*first.lines, *(line for step in rest for line in step.lines)]
        lines = []
        for node in nodes:
            if is_store(node):
                lines += [*self.comments.of([node]), self._scalar_store(node)]
            elif not is_reduce(node):
                lines += self._scalar_lines([node])
        return lines
