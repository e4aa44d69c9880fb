"""Where a buffer's elements are: offsets from axis indices, dense or strided."""

from collections.abc import Callable
from dataclasses import dataclass

from astjit.codegen.expression import RANKS, Text
from astjit.fusion.kernel import Buffer, Kernel, access_axes, indices
from astjit.ir.function import Node
from astjit.ir.value import Value

_INDEX = {"rows": "row", "cols": "col", "n": "i", "outer": "slab"}


def index_name(axis: str) -> str:
    """The loop variable of an axis."""
    if axis in _INDEX:
        return _INDEX[axis]
    return f"i{axis[1:]}" if axis[:1] == "d" and axis[1:].isdigit() else f"{axis}_i"


@dataclass(frozen=True, slots=True)
class Space:
    """How a kernel's axes become loops.

    Attributes:
        lines: the axes walked one row at a time.
        inner: the axis along which lanes run, "" when there is none.
        line: the variable that counts rows over all of `lines`, "" when there are none.
    """

    lines: tuple[str, ...]
    inner: str
    line: str

    @property
    def col(self) -> str:
        """The variable of the inner axis."""
        return index_name(self.inner)

    @property
    def count(self) -> str:
        """The number of rows."""
        return " * ".join(self.lines) or "1"


def space_of(kernel: Kernel) -> Space:
    """The loops of a kernel."""
    inner = kernel.inner
    lines = tuple(a for a in kernel.axes if a != inner)
    line = "" if not lines else index_name(lines[0]) if len(lines) == 1 else "line"
    if kernel.kind == "column" and len(lines) > 1:
        line = ""  # rows are walked, the axes outside them are not
    return Space(lines, inner, line)


def line_offset(buffer: Buffer, space: Space, wide: str) -> str:
    """The element offset of a buffer's row: "" where it does not depend on the row.

    Args:
        buffer: the buffer.
        space: the loops.
        wide: text that makes an index 64 bits wide, with {0}; "{0}" where it is already.
    """
    outer = [a for a in buffer.axes if a not in (space.inner, "*")]
    if not outer:
        return ""
    if buffer.strides is None:
        if tuple(outer) == space.lines and space.line:
            index = space.line
        else:
            index = index_name(outer[0])
            for axis in outer[1:]:
                index = f"({index} * {axis} + {index_name(axis)})"
        index = wide.format(index.removeprefix("(").removesuffix(")") if wide != "{0}" else index)
        return f"{index} * {space.inner}" if space.inner in buffer.axes else index
    terms = []
    for axis, stride in zip(buffer.axes, buffer.strides, strict=True):
        if axis not in (space.inner, "*") and stride != 0:
            index = wide.format(index_name(axis))
            terms.append(index if stride == 1 else f"{index} * {stride}")
    return " + ".join(terms)


def picked(node: Node, buffer: Buffer, index: Callable[[Value], Text]) -> str:
    """The element offset that the index values of a load make, "" where there are none.

    Args:
        node: the load.
        buffer: what it reads.
        index: the text of an index value.
    """
    terms = []
    values = iter(indices(node)[0])
    for at, axis in enumerate(access_axes(node)):
        if axis != "*":
            continue
        text, after = index(next(values)), buffer.axes[at + 1 :]
        stride = " * ".join(after) or 1 if buffer.strides is None else buffer.strides[at]
        if stride == 1:
            terms.append(text.wrapped(RANKS["+"]))
        elif stride != 0:
            terms.append(f"{text.wrapped(RANKS['*'])} * {stride}")
    return " + ".join(terms)


def inner_stride(buffer: Buffer, space: Space) -> int | str:
    """The stride along a row: 1, a number or the name of a parameter; 0 where it does not vary."""
    if space.inner not in buffer.axes:
        return 0
    if buffer.strides is None:
        return 1 if buffer.axes[-1] == space.inner else _dense_stride(buffer, space)
    return buffer.strides[buffer.axes.index(space.inner)]


def _dense_stride(buffer: Buffer, space: Space) -> str:
    after = buffer.axes[buffer.axes.index(space.inner) + 1 :]
    return " * ".join(after)


def split_line(space: Space, kind: str) -> list[str]:
    """Statements that take the row counter apart: `slab = line / rows`, `row = line % rows`."""
    lines, rest = [], space.line
    for position, axis in enumerate(space.lines):
        after = space.lines[position + 1 :]
        if not after:
            lines.append(f"const {kind} {index_name(axis)} = {rest};")
            break
        below = " * ".join(after)
        divisor = below if len(after) == 1 else f"({below})"
        lines.append(f"const {kind} {index_name(axis)} = {rest} / {divisor};")
        rest = f"{rest} % {divisor}"
    return lines


def axis_stride(buffer: Buffer, axis: str) -> str:
    """The element stride of a buffer along an axis, as text; "0" where it does not vary over it."""
    if axis not in buffer.axes:
        return "0"
    at = buffer.axes.index(axis)
    if buffer.strides is None:
        return " * ".join(buffer.axes[at + 1 :]) or "1"
    return str(buffer.strides[at])
