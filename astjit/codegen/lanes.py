"""Control flow of vectors of lanes (CPU): each lane its own way, all in the same statements.

    %z = while %a { test(%z): lt %z, 4 } { body(%z): mul %z, %z }   =>

    vf z = a_v;
    vi live = active(mask);
    while (true) {
      live &= z < 4.0f;
      if (!any_lane(live)) break;
      z = live ? z * z : z;
    }

What is the same for all lanes (a counter, a test of run-time numbers) stays plain C. A lane that
has left a loop goes on with values that nothing reads; a variable that is read after the loop
changes in live lanes only. Both arms of a cheap branch are computed and one is chosen; an arm that
has a loop or a function runs if a lane takes it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from astjit.codegen.expression import RANKS, UNARY, Text, compose
from astjit.codegen.flow import Flow, braced, wish
from astjit.codegen.slots import End, uses_of, words
from astjit.codegen.source import Comments
from astjit.codegen.values import Writer, dtype_of, user_name
from astjit.fusion.kernel import IF, RANGE, access_axes, is_load, is_loop
from astjit.ir.function import Block, Node
from astjit.ir.value import Literal, Result, Value
from astjit.types.dtype import BOOL, I64


class Varying:
    """Which values of a node's regions differ between lanes, and where lanes part.

    Args:
        node: a branch or loop.
        elements: the values before it that differ.
        inner: the axis along which lanes run.

    Attributes:
        values: those that differ.
        masked: loops that lanes leave one by one.
    """

    def __init__(self, node: Node, elements: Iterable[Value], inner: str = "") -> None:
        self.inner = inner
        self.values, self.masked = set(elements), set[Node]()
        self.visit(node)

    def visit(self, node: Node) -> None:
        """Follow a node whose operands are known."""
        if is_loop(node):
            self._loop(node)
            return
        for region in node.regions:
            self._block(region)
        parts = any(v in self.values for v in node.values)
        parts |= is_load(node) and self.inner in access_axes(node)
        for result in node.results:
            if parts or any(arm.results[result.index] in self.values for arm in node.regions):
                self.values.add(result)

    def _block(self, block: Block) -> None:
        for node in block.nodes:
            self.visit(node)

    def _loop(self, node: Node) -> None:
        body, count = node.regions[-1], len(node.results)
        params = body.params[len(body.params) - count :]
        yields = body.results[len(body.results) - count :]
        starts = node.values[len(node.values) - count :]
        if any(v in self.values for v in node.values[: len(node.values) - count]):
            self.masked.add(node)
            self.values.add(body.params[0])
        while True:
            before = len(self.values), len(self.masked)
            for at, param in enumerate(params):
                given = (starts[at], yields[at], *node.results[at : at + 1])
                if node in self.masked or any(v in self.values for v in given):
                    self.values |= {param, node.results[at]}
                    self.values |= {r.params[at] for r in node.regions[:-1]}
            for region in node.regions:
                self._block(region)
            ends = [r.results[0] for r in node.regions[:-1]]
            ends += body.results[:1] if node.fields["breaks"] else []
            if any(v in self.values for v in ends):
                self.masked.add(node)
            if before == (len(self.values), len(self.masked)):
                return


_VECTORS = ("vf", "vi", "vl")


class LaneFlow(Flow):
    """Writes nodes with regions where values may be vectors."""

    def __init__(
        self, comments: Comments, failing: Sequence[str], watch: str = "", status: str = ""
    ) -> None:
        super().__init__(comments, failing, watch, status)
        self.live = "active(mask)"  # the lanes that are here
        self.loop = ""  # the variable of those that are in the loop around this
        self.asked = False  # whether the loop around this ends lane by lane at its test
        self.late: list[tuple[End, str]] = []  # variables of the loop, and what is kept for them
        self.masked: set[Node] = set()

    def write(self, node: Node, writer: Writer, uses: Counter[Value]) -> list[str]:
        """The statements of a node; its results that are used are named variables after them."""
        if writer.vectors:
            varying = Varying(node, writer.elements, writer.kernel.inner)
            writer.elements |= varying.values
            self.masked |= varying.masked
        return super().write(node, writer, uses)

    @contextmanager
    def _within(self, live: str, loop: str | None = None) -> Iterator[None]:
        """What is written meanwhile runs for these lanes."""
        before = self.live, self.loop
        self.live, self.loop = live, self.loop if loop is None else loop
        try:
            yield
        finally:
            self.live, self.loop = before

    # -- variables ------------------------------------------------------------------------------
    def _given(self, writer: Writer, end: End) -> Text:
        text = super()._given(writer, end)
        if end.kind not in _VECTORS or end.value in writer.elements:
            return text
        return Text(f"{writer.spreads[end.kind]}({text.text})")

    def _fits(self, writer: Writer, result: Result, end: End) -> bool:
        return writer.type_name(result) == end.kind

    def _put(self, end: End, text: str) -> str:
        if not end.guard:
            return text
        if end.kind == "vl":
            return f"choose({end.guard}, {text}, {end.slot})"
        return f"{end.guard} ? {f'({text})' if ' ? ' in text else text} : {end.slot}"

    # -- branches -------------------------------------------------------------------------------
    def _if(
        self, node: Node, writer: Writer, wanted: set[Result], slots: Mapping[Result, End]
    ) -> list[str]:
        if node.values[0] not in writer.elements:
            return super()._if(node, writer, wanted, slots)
        results = [r for r in node.results if r in wanted]
        if any(map(_is_dear, (n for arm in node.regions for n in arm.walk()))):
            return self._arms(node, writer, results, slots)
        lines: list[str] = []
        for arm in node.regions:
            uses = uses_of(arm.nodes, [], None) + Counter(arm.results)
            for value in arm.results:
                uses[value] += len(results) > 1  # an arm of a choice is no place for long text
            lines += self._nodes(arm.nodes, writer, [], uses)[0]
        condition = writer.text(node.values[0], BOOL)
        if len(results) > 1 and not condition.text.isidentifier():
            name = writer.names.take("chosen")
            lines.append(f"const vi {name} = {condition.text};")
            condition = Text(name)
        texts = {r: self._chosen(node, writer, r, condition) for r in results}
        for result in (r for r in results if r not in slots):
            lines.append(writer.declare(result, texts[result]))
        taken = {r: slots[r] for r in results if r in slots}
        given = {end.slot: texts[r].text for r, end in taken.items()}
        lines += self._assign_texts(writer, {e.slot: e for e in taken.values()}, given)
        writer.texts.update((r, Text(end.slot)) for r, end in taken.items())
        return lines

    def _chosen(self, node: Node, writer: Writer, result: Result, condition: Text) -> Text:
        """What a cheap branch gives: one of two values that are both there."""
        kind, dtype = writer.type_name(result), dtype_of(result.type)
        ends = (End(arm.results[result.index], "", kind, dtype) for arm in node.regions)
        spelling = "choose({0}, {1}, {2})" if kind == "vl" else "{0} ? {1} : {2}"
        return compose(spelling, [condition, *(self._given(writer, e) for e in ends)], {})

    def _arms(
        self, node: Node, writer: Writer, results: list[Result], slots: Mapping[Result, End]
    ) -> list[str]:
        """Arms that run if a lane takes them."""
        condition = writer.text(node.values[0], BOOL).wrapped(UNARY)
        masks = [writer.names.take(name) for name in ("taken", "others")]
        lines = [
            f"const vi {masks[0]} = {self.live} & {condition};",
            f"const vi {masks[1]} = {self.live} & ~{condition};",
        ]
        ends: list[list[End]] = [[], []]
        for result in results:
            values = [arm.results[result.index] for arm in node.regions]
            if (end := slots.get(result)) is None:
                kind, dtype = writer.type_name(result), dtype_of(result.type)
                end = End(result, writer.names.take(wish(result, values)), kind, dtype)
                lines.append(f"{kind} {end.slot} = {{}};")
            for own, value, mask in zip(ends, values, masks, strict=True):
                own.append(replace(end, value=value, guard=mask))
        for arm, own, mask in zip(node.regions, ends, masks, strict=True):
            with self._within(mask):
                inside = self._block(arm.nodes, writer.inner(), own)
            lines += braced(f"if (any_lane({mask}))", inside) if inside else []
        slot_texts = zip(results, ends[0], strict=True)
        writer.texts.update((r, Text(end.slot)) for r, end in slot_texts)
        return lines

    # -- loops ----------------------------------------------------------------------------------
    def _around(self, node: Node, writer: Writer, inner: Writer, ends: Sequence[End]) -> list[str]:
        if node not in self.masked:
            return super()._around(node, writer, inner, ends)
        live = inner.names.reserve(writer.names.take("live"))
        lines = [f"vi {live} = {self.live};"]
        guarded = [replace(e, guard=live if e.wanted or e.guard else "") for e in ends]
        late = self._late(node, writer, guarded)
        before, self.late = self.late, [(end, own.slot) for end, own in late.items()]
        for end, own in late.items():
            start = node.values[len(node.values) - len(ends) + guarded.index(end)]
            lines.append(f"{own.kind} {own.slot} = {writer.text(start, end.dtype).text};")
        given = [late.get(end, end) for end in guarded]
        with self._within(live, live):
            lines += super()._around(node, writer, inner, given)
        lines += self._caught(live, writer)
        self.late = before
        return lines

    def _late(self, node: Node, writer: Writer, ends: Sequence[End]) -> dict[End, End]:
        """Variables that get what is one value for all lanes, and that the loop does not read.

        Such a value is kept once, and given to a lane when it leaves.
        """
        body, starts = node.regions[-1], node.values[len(node.values) - len(ends) :]
        last = body.nodes[-1] if body.nodes else None
        stop = body.results[0] if node.fields["breaks"] else None
        by_branch = last is not None and last.op is IF and stop in last.results
        if node.op is not RANGE or body.params[0] in writer.elements or by_branch:
            return {}
        if stop not in writer.elements:
            return {}
        read = {v for inner in body.walk() for v in inner.values} | set(body.results)
        read |= {v for n in body.walk() for region in n.regions for v in region.results}
        found = {}
        for end, start in zip(ends, starts, strict=True):
            varies = end.value in writer.elements or start in writer.elements
            if end.guard and end.kind in _VECTORS and not varies and end.holds not in read:
                kind = writer.dialect.value_types[end.dtype.name]
                slot = writer.names.take(f"{end.slot}_last")
                found[end] = End(end.value, slot, kind, end.dtype)
        return found

    def _caught(self, lanes: str, writer: Writer) -> list[str]:
        """Gives lanes what is kept for them."""
        return [
            f"{end.slot} = {self._put(replace(end, guard=lanes), spread)};"
            for end, kept in self.late
            for spread in [f"{writer.spreads[end.kind]}({kept})"]
        ]

    def _range(
        self, node: Node, writer: Writer, inner: Writer, lines: list[str]
    ) -> tuple[str, list[str]]:
        index = node.regions[0].params[0]
        if index not in writer.elements:
            return super()._range(node, writer, inner, lines)
        first, bound, step = node.values[:3]
        assert isinstance(step, Literal)
        name = writer.names.take(user_name(index) or "i")
        inner.names.reserve(name)
        inner.texts[index] = Text(name)
        start = self._given(writer, End(first, name, "vl", I64)).text
        test = f"{name} {'<' if step.value > 0 else '>'} {writer.text(bound, I64).text}"
        lines.append(f"vl {name} = {start};")
        return f"for (;; {name} += {int(step.value)})", self._leave(f"truth({test})")

    def _tested(self, condition: Text, opening: list[str]) -> tuple[str, list[str]]:
        if self.loop and self.asked:
            return "while (true)", [*opening, *self._leave(condition.wrapped(RANKS["=="]))]
        return super()._tested(condition, opening)

    def _while(
        self, node: Node, writer: Writer, inner: Writer, lines: list[str]
    ) -> tuple[str, list[str]]:
        self.asked = node.regions[0].results[0] in writer.elements
        return super()._while(node, writer, inner, lines)

    def _leave(self, stays: str) -> list[str]:
        """Lanes leave the loop; the loop ends when none is left."""
        return [f"{self.loop} &= {stays};", f"if (!any_lane({self.loop})) break;"]

    def _close(self, writer: Writer, ends: Sequence[End], stop: Value | None) -> list[str]:
        if stop not in writer.elements:
            return super()._close(writer, ends, stop)
        text, lines = writer.text(stop, BOOL), []
        if {end.slot for end in ends} & words(text.text):
            name = writer.names.take("stop")
            lines, text = [f"const vi {name} = {text.text};"], Text(name)
        lines += self._assign(writer, ends)
        if not self.late:
            return lines + self._leave(f"~{text.wrapped(UNARY)}")
        mask = writer.names.take("leaves")
        lines.append(f"const vi {mask} = {self.live} & {text.wrapped(RANKS['=='])};")
        caught = [*self._caught(mask, writer), *self._leave(f"~{mask}")]
        return [*lines, *braced(f"if (any_lane({mask}))", caught)]

    def _last(self, node: Node, writer: Writer, ends: Sequence[End], stop: Result) -> list[str]:
        if node.values[0] not in writer.elements:
            return super()._last(node, writer, ends, stop)
        condition = writer.text(node.values[0], BOOL).wrapped(UNARY)
        arms = self._sides(node, ends, stop)
        for at, test in ((0, condition), (1, f"~{condition}")):
            nodes, own, leaves = arms[at]
            if leaves != Literal(True):
                continue
            mask = writer.names.take("leaves")
            lines = [f"const vi {mask} = {self.live} & {test};"]
            with self._within(mask):
                given = [replace(end, guard=mask) for end in own if end.wanted]
                inside = self._block(nodes, writer.inner(), given)
            inside += self._leave(f"~{mask}")
            nodes, own, leaves = arms[1 - at]
            lines += braced(f"if (any_lane({mask}))", inside)
            return [*lines, *self._block(nodes, writer, own, leaves)]
        uses = uses_of([node], ends, stop)
        lines, left = self._nodes([node], writer, ends, uses, stop=stop)
        return lines + self._close(writer, left, stop)


def _is_dear(node: Node) -> bool:
    """Whether a node costs more than to run it for lanes that do not need it."""
    text = node.op.spelling(("cpu", "c"), "f32") or ""
    return is_loop(node) or text[:1].isalpha()
