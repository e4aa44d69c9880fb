"""Variables that branches and loops change: what they hold, and when they may take the next.

A variable takes a value where that is made, instead of at the end of the block, if nothing reads
any more what it held: neither by name nor inside an expression that is written later.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from astjit.codegen.values import Writer, count_uses
from astjit.fusion.kernel import is_loop
from astjit.ir.function import Node
from astjit.ir.value import Result, Value
from astjit.ir.walk import outer_values
from astjit.types.dtype import DType

_WORD = re.compile(r"\w+")


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
        guard: the lanes in which the variable may change, "" for all.
    """

    value: Value
    slot: str
    kind: str
    dtype: DType
    holds: Value | None = None
    same: Value | None = None
    wanted: bool = True
    guard: str = ""


def words(text: str) -> set[str]:
    """The names in a text."""
    return set(_WORD.findall(text))


def uses_of(nodes: Iterable[Node], ends: Iterable[End], stop: Value | None) -> Counter[Value]:
    """How often each value is read in a block."""
    found = count_uses(nodes)
    found.update(end.value for end in ends)
    if stop is not None:
        found[stop] += 1
    return found


def free_slots(node: Node, ends: Sequence[End], live: set[Value]) -> dict[Result, End]:
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


def settle(writer: Writer, slots: set[str], live: set[Value]) -> list[str]:
    """Names for values whose text reads a variable that is about to change."""
    lines = []
    for value in [v for v in writer.texts if v in live and isinstance(v, Result)]:
        if slots & words(writer.texts[value].text):
            lines.append(writer.declare(value, writer.texts[value]))
    return lines
