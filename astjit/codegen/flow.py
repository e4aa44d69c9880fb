"""Control flow of a body as C statements: branches, loops, and variables that they change.

    %z = while %a { test(%z): ... } { body(%z): %0 = mul %z, %z ; yield %0 }   =>

    float z = a;
    while (z < 4.0f) {
      z = z * z;
    }

Every carried value of a loop and every result of a branch is a variable. One whose old value is not
needed any more takes the next in its place; the rest is assigned at a block's end, all at once, in
an order in which nothing is overwritten that another still reads.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from astjit.codegen.expression import UNARY, Text, compose
from astjit.codegen.slots import End, free_slots, settle, uses_of, words
from astjit.codegen.source import Comments
from astjit.codegen.values import LONGEST, Writer, Writing, dtype_of, user_name
from astjit.fusion.kernel import IF, RANGE, counts_plainly, is_access, is_loop, is_store
from astjit.ir.function import Node
from astjit.ir.value import Literal, Result, Value
from astjit.ir.walk import inputs
from astjit.types.dtype import BOOL, I64


class Flow:
    """Writes nodes that have regions.

    Attributes:
        comments: gives the source lines inside regions.
        failing: the statements that end a call whose loop ran too often.
        watch: the statement that leaves a loop of a call that ended or was interrupted, or "".
        status: what helpers that may fail are given last.
    """

    def __init__(
        self, comments: Comments, failing: Sequence[str], watch: str = "", status: str = ""
    ) -> None:
        self.comments, self.failing, self.watch, self.status = comments, failing, watch, status

    def write(self, node: Node, writer: Writer, uses: Counter[Value]) -> list[str]:
        """The statements of a node; its results that are used are named variables after them."""
        wanted = {r for r in node.results if uses[r]}
        return self._flow(node, writer, wanted, {})

    # -- blocks ---------------------------------------------------------------------------------
    def _block(
        self, nodes: Sequence[Node], writer: Writer, ends: Sequence[End], stop: Value | None = None
    ) -> list[str]:
        """The statements of a block; `stop` says whether they leave the loop around it."""
        last = nodes[-1] if nodes else None
        if last is None or last.op is not IF or stop not in last.results:
            lines, left = self._nodes(nodes, writer, ends, uses_of(nodes, ends, stop), stop=stop)
            return lines + self._close(writer, left, stop)
        assert isinstance(stop, Result)
        lines, left = self._nodes(nodes[:-1], writer, ends, uses_of(nodes, ends, stop), [last])
        return [*lines, *self.comments.of([last]), *self._last(last, writer, left, stop)]

    def _nodes(
        self,
        nodes: Sequence[Node],
        writer: Writer,
        ends: Sequence[End],
        uses: Counter[Value],
        after: Sequence[Node] = (),
        stop: Value | None = None,
    ) -> tuple[list[str], list[End]]:
        """The statements of nodes, and the variables that they do not assign yet."""
        lines: list[str] = []
        left = list(ends)
        for at, node in enumerate(nodes):
            if not is_store(node) and not any(uses[r] for r in node.results):
                continue
            lines += self.comments.of([node])
            if is_access(node):
                lines += writer.access(node, writer)
                continue
            live = {v for n in (*nodes[at + 1 :], *after) for v in inputs(n)}
            live |= set() if stop is None else {stop}
            writer.note(node)
            slots = free_slots(node, left, live)
            slots = {r: end for r, end in slots.items() if self._fits(writer, r, end)}
            live |= {end.value for end in left}
            if not node.regions and uses[node.results[0]] < 2:
                slots = {}  # part of the expression that is assigned
            if slots:
                changed = {end.slot for end in slots.values()}
                lines += settle(writer, changed, live | set(inputs(node) if is_loop(node) else ()))
            if node.regions:
                wanted = {r for r in node.results if uses[r]}
                lines += self._flow(node, writer, wanted, slots)
            elif slots:
                (end,) = slots.values()
                lines.append(f"{end.slot} = {self._put(end, writer.expression(node).text)};")
                writer.texts[node.result] = Text(end.slot)
            else:
                lines += writer.write([node], uses, lambda n: None)
            left = [end for end in left if end not in slots.values()]
        return lines, left

    def _close(self, writer: Writer, ends: Sequence[End], stop: Value | None) -> list[str]:
        """The assignments at a block's end, and whether it leaves the loop."""
        if stop is None or isinstance(stop, Literal):
            leaves = stop is not None and bool(stop.value)
            lines = self._assign(writer, [e for e in ends if e.wanted or not leaves])
            return [*lines, "break;"] if leaves else lines
        text, lines = writer.text(stop), []
        if {end.slot for end in ends} & words(text.text):
            name = writer.names.take("stop")
            lines, text = [f"const bool {name} = {text.text};"], Text(name)
        return [*lines, *self._assign(writer, ends), f"if ({text.text}) break;"]

    def _assign(self, writer: Writer, ends: Iterable[End]) -> list[str]:
        """Assigns variables all at once: none before the others have read what it held."""
        wanted = {e.slot: e for e in ends if e.value not in (e.holds, e.same)}
        texts = {slot: self._given(writer, end).text for slot, end in wanted.items()}
        return self._assign_texts(writer, wanted, texts)

    def _assign_texts(
        self, writer: Writer, wanted: Mapping[str, End], texts: Mapping[str, str]
    ) -> list[str]:
        """The same for texts by variable."""
        left = {slot: text for slot, text in texts.items() if slot != text}
        lines = []
        while left:
            read = {s: words(text) for s, text in left.items()}
            slot = next((s for s in left if not any(s in read[o] for o in left if o != s)), None)
            if slot is None:
                slot = next(iter(left))
                name = writer.names.take(f"{slot}_next")
                lines.append(f"const {wanted[slot].kind} {name} = {left[slot]};")
                left[slot] = name
                continue
            lines.append(f"{slot} = {self._put(wanted[slot], left.pop(slot))};")
        return lines

    def _given(self, writer: Writer, end: End) -> Text:
        """The text of what a variable is to hold."""
        return writer.text(end.value, end.dtype)

    def _fits(self, writer: Writer, result: Result, end: End) -> bool:
        """Whether a variable has the type of a result."""
        return True

    def _put(self, end: End, text: str) -> str:
        """What is assigned to a variable so that it holds a text where the block runs."""
        return text

    def _last(self, node: Node, writer: Writer, ends: Sequence[End], stop: Result) -> list[str]:
        """An `if` at the end of a loop's body, an arm of which may leave the loop."""
        condition = writer.text(node.values[0], BOOL)
        arms = self._sides(node, ends, stop)
        for at, test in ((0, condition.text), (1, _not(condition))):
            nodes, own, leaves = arms[at]
            if leaves == Literal(True):
                lines = braced(f"if ({test})", self._block(nodes, writer.inner(), own, leaves))
                nodes, own, leaves = arms[1 - at]
                return [*lines, *self._block(nodes, writer, own, leaves)]
        return _branch(condition, *(self._block(n, writer.inner(), o, s) for n, o, s in arms))

    def _sides(
        self, node: Node, ends: Sequence[End], stop: Result
    ) -> list[tuple[list[Node], list[End], Value]]:
        """For each arm: its nodes, what variables are to hold after it, and whether it leaves."""
        arms = []
        for arm in node.regions:
            given: dict[Value, Value] = dict(zip(node.results, arm.results, strict=True))
            own = [replace(end, value=given.get(end.value, end.value)) for end in ends]
            arms.append((arm.nodes, own, arm.results[stop.index]))
        return arms

    # -- nodes ----------------------------------------------------------------------------------
    def _flow(
        self, node: Node, writer: Writer, wanted: set[Result], slots: Mapping[Result, End]
    ) -> list[str]:
        return (self._loop if is_loop(node) else self._if)(node, writer, wanted, slots)

    def _if(
        self, node: Node, writer: Writer, wanted: set[Result], slots: Mapping[Result, End]
    ) -> list[str]:
        condition = writer.text(node.values[0], BOOL)
        if (text := self._choice(node, writer, wanted, condition)) is not None:
            (result,) = wanted
            if result not in slots:
                return [writer.declare(result, text)]
            writer.texts[result] = Text(slots[result].slot)
            return [f"{slots[result].slot} = {self._put(slots[result], text.text)};"]
        plain = next((arm for arm in reversed(node.regions) if not arm.nodes), None)
        lines: list[str] = []
        own: list[list[End]] = [[], []]
        for result in (r for r in node.results if r in wanted):
            values = [arm.results[result.index] for arm in node.regions]
            end = slots.get(result)
            start = None if end is not None or plain is None else plain.results[result.index]
            if end is None:
                kind, dtype = writer.type_name(result), dtype_of(result.type)
                end = End(result, writer.names.take(wish(result, values)), kind, dtype, same=start)
                if start is not None:
                    first = self._given(writer, replace(end, value=start))
                    lines.append(f"{kind} {end.slot} = {first.text};")
                else:
                    lines.append(f"{kind} {end.slot};")
            for ends, value in zip(own, values, strict=True):
                ends.append(replace(end, value=value))
        arms = zip(node.regions, own, strict=True)
        texts = [self._block(arm.nodes, writer.inner(), ends) for arm, ends in arms]
        used = (r for r in node.results if r in wanted)
        writer.texts.update((r, Text(e.slot)) for r, e in zip(used, own[0], strict=True))
        return lines + _branch(condition, *texts)

    def _choice(
        self, node: Node, writer: Writer, wanted: set[Result], condition: Text
    ) -> Text | None:
        """One value chosen on one line, as an expression."""
        inside = [n for arm in node.regions for n in arm.nodes]
        if len(wanted) != 1 or any(n.regions or not _beside(n, node) for n in inside):
            return None
        (result,) = wanted
        texts = [condition]
        for arm in node.regions:
            inner, value = writer.inner(), arm.results[result.index]
            if inner.write(arm.nodes, uses_of(arm.nodes, [], value), lambda n: None):
                return None
            end = End(value, "", writer.type_name(result), dtype_of(result.type))
            texts.append(self._given(inner, end))
        text = compose("{0} ? {1} : {2}", texts, {})
        return text if len(text.text) <= LONGEST else None

    def _loop(
        self, node: Node, writer: Writer, wanted: set[Result], slots: Mapping[Result, End]
    ) -> list[str]:
        body, counts = node.regions[-1], node.op is RANGE
        starts = node.values[len(node.values) - len(node.results) :]
        params = body.params[counts:]
        yields = body.results[len(body.results) - len(node.results) :]
        lines: list[str] = []
        given: list[End] = []
        ends: list[End] = []
        for result, start, param, value in zip(node.results, starts, params, yields, strict=True):
            kind, dtype = writer.type_name(result), dtype_of(result.type)
            if (end := slots.get(result)) is None:
                name = writer.names.take(wish(result, [param, value]))
                first = self._given(writer, End(start, name, kind, dtype))
                lines.append(f"{kind} {name} = {first.text};")
            else:
                name = end.slot
                given.append(replace(end, value=start))
            guard = "" if end is None else end.guard
            made = End(value, name, kind, dtype, param, None, result in wanted, guard)
            ends.append(made)
        lines += self._assign(writer, given)
        inner = writer.inner()
        inner.again = "_next"
        names = [Text(end.slot) for end in ends]
        inner.texts.update(zip(params, names, strict=True))
        texts = zip(node.results, names, strict=True)
        writer.texts.update((r, name) for r, name in texts if r in wanted)
        return lines + self._around(node, writer, inner, ends)

    def _around(self, node: Node, writer: Writer, inner: Writer, ends: Sequence[End]) -> list[str]:
        """A loop's head and body, its variables being declared."""
        lines: list[str] = []
        body = node.regions[-1]
        stop = body.results[0] if node.fields["breaks"] else None
        head, opening = (self._range if node.op is RANGE else self._while)(
            node, writer, inner, lines
        )
        return [*lines, *braced(head, [*opening, *self._block(body.nodes, inner, ends, stop)])]

    def _range(
        self, node: Node, writer: Writer, inner: Writer, lines: list[str]
    ) -> tuple[str, list[str]]:
        """The head of a loop that counts as Python's range does."""
        index, step = node.regions[0].params[0], node.values[2]
        name = inner.names.take(user_name(index) or "i")
        inner.texts[index] = Text(name)
        first, bound, by = (writer.text(v, I64).text for v in node.values[:3])
        kind = writer.dialect.value_types["i64"]
        if not isinstance(step, Literal) or not counts_plainly(node):
            left = writer.names.take("trips")
            if not isinstance(step, Literal):
                lines.append(f"check_step({by}{self.status});")
            lines.append(f"{kind} {left} = range_length({first}, {bound}, {by});")
            return f"for ({kind} {name} = {first}; {left} > 0; --{left}, {name} += {by})", []
        by = str(abs(int(step.value)))
        sign, test = ("+", "<") if step.value > 0 else ("-", ">")
        on = f"{sign}{sign}{name}" if by == "1" else f"{name} {sign}= {by}"
        return f"for ({kind} {name} = {first}; {name} {test} {bound}; {on})", []

    def _while(
        self, node: Node, writer: Writer, inner: Writer, lines: list[str]
    ) -> tuple[str, list[str]]:
        """The head of a loop, and what its body begins with."""
        test, body = node.regions
        (asked,) = test.results
        given = zip(test.params, body.params, strict=True)
        inner.texts.update({a: inner.texts[b] for a, b in given})
        tester = inner.inner()
        tester.names = inner.names  # its statements stand in the body
        opening, _ = self._nodes(test.nodes, tester, [], uses_of(test.nodes, [], asked), stop=asked)
        condition = tester.text(asked, BOOL)
        head, opening = self._tested(condition, opening)
        opening += [self.watch] if self.watch else []
        if (limit := node.fields["limit"]) is not None:
            trips = inner.names.reserve(writer.names.take("trips"))
            lines.append(f"{writer.dialect.value_types['i64']} {trips} = 0;")
            often = f"if (++{trips} > {limit})"
            one = len(self.failing) == 1
            opening += [f"{often} {self.failing[0]}"] if one else braced(often, self.failing)
        return head, opening

    def _tested(self, condition: Text, opening: list[str]) -> tuple[str, list[str]]:
        """A loop's head and what its body begins with, where its test needs statements before."""
        if not opening:
            return f"while ({condition.text})", []
        return "while (true)", [*opening, f"if ({_not(condition)}) break;"]


CPU_FLOW = (("give_up(status);", "break;"), "if (stopped(status)) break;", ", status")


def cuda_flow(comments: Comments) -> Writing:
    """How CUDA's texts write control flow."""
    return Flow(comments, ("__trap();",)).write


# -- text ---------------------------------------------------------------------------------------
def wish(result: Result, values: Sequence[Value]) -> str:
    """A name for the variable of a result: the user's, or that of what it is made of."""
    named = (user_name(v) for v in (result, *values))
    return next((name for name in named if name), "value")


def _not(condition: Text) -> str:
    return f"!{condition.wrapped(UNARY)}"


def braced(head: str, lines: Iterable[str]) -> list[str]:
    """Statements in braces after a head."""
    return [f"{head} {{", *(f"  {line}" for line in lines), "}"]


def _branch(condition: Text, then: list[str], other: list[str]) -> list[str]:
    """An `if` whose arms may be empty."""
    if not then:
        return braced(f"if ({_not(condition)})", other) if other else []
    lines = braced(f"if ({condition.text})", then)
    return lines if not other else [*lines[:-1], *braced("} else", other)]


def _beside(node: Node, other: Node) -> bool:
    """Whether a node is of the same source line."""
    return node.location is None or node.location == other.location
