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

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from astjit.codegen.expression import UNARY, Text, compose
from astjit.codegen.source import Comments
from astjit.codegen.values import LONGEST, Writer, Writing, count_uses, dtype_of, user_name
from astjit.fusion.kernel import IF, RANGE, is_loop
from astjit.ir.function import Node
from astjit.ir.value import Literal, Result, Value
from astjit.ir.walk import inputs, outer_values
from astjit.types.dtype import BOOL, I64, DType

_WORD = re.compile(r"\w+")
_FAR = 2**62  # below this a counter of small steps does not overflow


@dataclass(frozen=True, slots=True)
class End:
    """What a variable is to hold at the end of a block.

    Attributes:
        value: the value.
        slot: the variable.
        kind: its C type.
        dtype: of its values.
        holds: whose text the variable is until then, None where nothing's is.
        same: a value that it has been given already.
        wanted: whether anything reads the variable after a loop that the block leaves.
    """

    value: Value
    slot: str
    kind: str
    dtype: DType
    holds: Value | None = None
    same: Value | None = None
    wanted: bool = True


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
            lines, left = self._nodes(nodes, writer, ends, _uses(nodes, ends, stop))
            return lines + self._close(writer, left, stop)
        assert isinstance(stop, Result)
        lines, left = self._nodes(nodes[:-1], writer, ends, _uses(nodes, ends, stop), [last])
        return [*lines, *self.comments.of([last]), *self._last(last, writer, left, stop)]

    def _nodes(
        self,
        nodes: Sequence[Node],
        writer: Writer,
        ends: Sequence[End],
        uses: Counter[Value],
        after: Sequence[Node] = (),
    ) -> tuple[list[str], list[End]]:
        """The statements of nodes, and the variables that they do not assign yet."""
        lines: list[str] = []
        left = list(ends)
        for at, node in enumerate(nodes):
            if not any(uses[r] for r in node.results):
                continue
            lines += self.comments.of([node])
            live = {v for n in (*nodes[at + 1 :], *after) for v in inputs(n)}
            slots = _free_slots(node, left, live)
            live |= {end.value for end in left}
            if not node.regions and uses[node.results[0]] < 2:
                slots = {}  # part of the expression that is assigned
            if slots:
                changed = {end.slot for end in slots.values()}
                lines += _settle(writer, changed, live | set(inputs(node) if is_loop(node) else ()))
            if node.regions:
                wanted = {r for r in node.results if uses[r]}
                lines += self._flow(node, writer, wanted, slots)
            elif slots:
                (slot,) = changed
                lines.append(f"{slot} = {writer.expression(node).text};")
                writer.texts[node.result] = Text(slot)
            else:
                lines += writer.write([node], uses, lambda n: None)
            left = [end for end in left if end not in slots.values()]
        return lines, left

    def _close(self, writer: Writer, ends: Sequence[End], stop: Value | None) -> list[str]:
        """The assignments at a block's end, and whether it leaves the loop."""
        if stop is None or isinstance(stop, Literal):
            leaves = stop is not None and bool(stop.value)
            lines = _assign(writer, [e for e in ends if e.wanted or not leaves])
            return [*lines, "break;"] if leaves else lines
        text, lines = writer.text(stop), []
        if {end.slot for end in ends} & set(_WORD.findall(text.text)):
            name = writer.names.take("stop")
            lines, text = [f"const bool {name} = {text.text};"], Text(name)
        return [*lines, *_assign(writer, ends), f"if ({text.text}) break;"]

    def _last(self, node: Node, writer: Writer, ends: Sequence[End], stop: Result) -> list[str]:
        """An `if` at the end of a loop's body, an arm of which may leave the loop."""
        condition = writer.text(node.values[0], BOOL)
        arms = []
        for arm in node.regions:
            given: dict[Value, Value] = dict(zip(node.results, arm.results, strict=True))
            own = [replace(end, value=given.get(end.value, end.value)) for end in ends]
            arms.append((arm.nodes, own, arm.results[stop.index]))
        for at, test in ((0, condition.text), (1, _not(condition))):
            nodes, own, leaves = arms[at]
            if leaves == Literal(True):
                lines = _braced(f"if ({test})", self._block(nodes, writer.inner(), own, leaves))
                nodes, own, leaves = arms[1 - at]
                return [*lines, *self._block(nodes, writer, own, leaves)]
        return _branch(condition, *(self._block(n, writer.inner(), o, s) for n, o, s in arms))

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
            return [f"{slots[result].slot} = {text.text};"]
        plain = next((arm for arm in reversed(node.regions) if not arm.nodes), None)
        lines: list[str] = []
        own: list[list[End]] = [[], []]
        for result in (r for r in node.results if r in wanted):
            values = [arm.results[result.index] for arm in node.regions]
            end = slots.get(result)
            start = None if end is not None or plain is None else plain.results[result.index]
            if end is None:
                kind, dtype = writer.type_name(result), dtype_of(result.type)
                end = End(result, writer.names.take(_wish(result, values)), kind, dtype, same=start)
                first = "" if start is None else f" = {writer.text(start, dtype).text}"
                lines.append(f"{kind} {end.slot}{first};")
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
            if inner.write(arm.nodes, _uses(arm.nodes, [], value), lambda n: None):
                return None
            texts.append(inner.text(value, dtype_of(result.type)))
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
                name = writer.names.take(_wish(result, [param, value]))
                lines.append(f"{kind} {name} = {writer.text(start, dtype).text};")
            else:
                name = end.slot
                given.append(replace(end, value=start))
            ends.append(End(value, name, kind, dtype, param, wanted=result in wanted))
        lines += _assign(writer, given)
        inner = writer.inner()
        inner.again = "_next"
        names = [Text(end.slot) for end in ends]
        inner.texts.update(zip(params, names, strict=True))
        texts = zip(node.results, names, strict=True)
        writer.texts.update((r, name) for r, name in texts if r in wanted)
        stop = body.results[0] if node.fields["breaks"] else None
        head, opening = (self._range if counts else self._while)(node, writer, inner, lines)
        return [*lines, *_braced(head, [*opening, *self._block(body.nodes, inner, ends, stop)])]

    def _range(
        self, node: Node, writer: Writer, inner: Writer, lines: list[str]
    ) -> tuple[str, list[str]]:
        """The head of a loop that counts as Python's range does."""
        index, step = node.regions[0].params[0], node.values[2]
        name = inner.names.take(user_name(index) or "i")
        inner.texts[index] = Text(name)
        first, bound, by = (writer.text(v, I64).text for v in node.values[:3])
        kind = writer.dialect.value_types["i64"]
        if not isinstance(step, Literal) or not _counts_plainly(node.values[1], int(step.value)):
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
        opening, _ = self._nodes(test.nodes, tester, [], _uses(test.nodes, [], asked))
        condition = tester.text(asked, BOOL)
        head = f"while ({condition.text})"
        if opening:
            head, opening = "while (true)", [*opening, f"if ({_not(condition)}) break;"]
        opening += [self.watch] if self.watch else []
        if (limit := node.fields["limit"]) is not None:
            trips = inner.names.reserve(writer.names.take("trips"))
            lines.append(f"{writer.dialect.value_types['i64']} {trips} = 0;")
            often = f"if (++{trips} > {limit})"
            one = len(self.failing) == 1
            opening += [f"{often} {self.failing[0]}"] if one else _braced(often, self.failing)
        return head, opening


def cpu_flow(comments: Comments) -> Writing:
    """How the CPU's texts write control flow."""
    failing = ("give_up(status);", "break;")
    return Flow(comments, failing, "if (stopped(status)) break;", ", status").write


def cuda_flow(comments: Comments) -> Writing:
    """How CUDA's texts write control flow."""
    return Flow(comments, ("__trap();",)).write


# -- what is read when --------------------------------------------------------------------------
def _uses(nodes: Iterable[Node], ends: Iterable[End], stop: Value | None) -> Counter[Value]:
    """How often each value is read in a block."""
    found = count_uses(nodes)
    found.update(end.value for end in ends)
    if stop is not None:
        found[stop] += 1
    return found


def _free_slots(node: Node, ends: Sequence[End], live: set[Value]) -> dict[Result, End]:
    """The variables that may take a node's results at once: nothing reads what they held."""
    kept = live | set(node.values[: len(node.values) - len(node.results)] if is_loop(node) else ())
    kept |= {v for region in node.regions for v in outer_values(region)} if is_loop(node) else set()
    found: dict[Result, End] = {}
    for result in node.results:
        for end in ends:
            others = {e.value for e in ends if e is not end}
            free = end.holds is None or end.holds not in kept | others
            if end.value is result and free and end not in found.values():
                found[result] = end
                break
    return found


def _settle(writer: Writer, slots: set[str], live: set[Value]) -> list[str]:
    """Names for values whose text reads a variable that is about to change."""
    lines = []
    for value in [v for v in writer.texts if v in live and isinstance(v, Result)]:
        if slots & set(_WORD.findall(writer.texts[value].text)):
            lines.append(writer.declare(value, writer.texts[value]))
    return lines


def _assign(writer: Writer, ends: Iterable[End]) -> list[str]:
    """Assigns variables all at once: none before the others have read what it held."""
    left: dict[str, str] = {}
    kinds: dict[str, str] = {}
    for end in ends:
        if end.value in (end.holds, end.same):
            continue
        kinds[end.slot] = end.kind
        left[end.slot] = writer.text(end.value, end.dtype).text
    left = {slot: text for slot, text in left.items() if slot != text}
    lines = []
    while left:
        read = {s: set(_WORD.findall(text)) for s, text in left.items()}
        slot = next((s for s in left if not any(s in read[o] for o in left if o != s)), None)
        if slot is None:
            slot = next(iter(left))
            name = writer.names.take(f"{slot}_next")
            lines.append(f"const {kinds[slot]} {name} = {left[slot]};")
            left[slot] = name
            continue
        lines.append(f"{slot} = {left.pop(slot)};")
    return lines


# -- text ---------------------------------------------------------------------------------------
def _wish(result: Result, values: Sequence[Value]) -> str:
    """A name for the variable of a result: the user's, or that of what it is made of."""
    named = (user_name(v) for v in (result, *values))
    return next((name for name in named if name), "value")


def _not(condition: Text) -> str:
    return f"!{condition.wrapped(UNARY)}"


def _braced(head: str, lines: Iterable[str]) -> list[str]:
    return [f"{head} {{", *(f"  {line}" for line in lines), "}"]


def _branch(condition: Text, then: list[str], other: list[str]) -> list[str]:
    """An `if` whose arms may be empty."""
    if not then:
        return _braced(f"if ({_not(condition)})", other) if other else []
    lines = _braced(f"if ({condition.text})", then)
    return lines if not other else [*lines[:-1], *_braced("} else", other)]


def _beside(node: Node, other: Node) -> bool:
    """Whether a node is of the same source line."""
    return node.location is None or node.location == other.location


def _counts_plainly(bound: Value, step: int) -> bool:
    """Whether a counter that steps over the bound does not overflow."""
    if abs(step) == 1:
        return True
    near = isinstance(bound, Literal) and abs(bound.value) < _FAR
    return near and 0 < abs(step) < _FAR
