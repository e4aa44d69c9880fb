"""A loop's body while it is captured once for all iterations: what it does, and may not know."""

import operator
from collections.abc import Callable
from dataclasses import dataclass, field

from astjit.frontend.carriers import Number, Plain
from astjit.frontend.loop_sizes import LoopSizes, Unlooped
from astjit.frontend.memory import Storage
from astjit.frontend.symbolic import SymbolicTensor
from astjit.ir.value import Value

COMPARE: dict[str, Callable[[Plain, Plain], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
}


@dataclass(eq=False, slots=True)
class Trace:
    """What the body does besides computing.

    Attributes:
        own: memory that is made in it.
        writes: tensors made before it, and what an iteration writes to them.
        appends: lists, and what an iteration appends to them.
    """

    own: set[Storage] = field(default_factory=set)
    writes: list[tuple[SymbolicTensor, Value]] = field(default_factory=list)
    appends: list[tuple[object, object]] = field(default_factory=list)


def same_throughout(sizes: LoopSizes, *numbers: Number) -> None:
    """Check that numbers, whose values are needed, are the same in all iterations.

    Raises:
        Unlooped: if one is made of the number of the iteration.
    """
    if any(_counts(sizes, number) for number in numbers):
        raise Unlooped("the number of an iteration is needed as a number", again=True)


def _counts(sizes: LoopSizes, number: Number) -> bool:
    if number.dim is not None:
        return sizes.varies(number.dim)
    return any(isinstance(part, Number) and _counts(sizes, part) for part in number.operands)
