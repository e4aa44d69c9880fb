"""What a loop carries: names, the numbers in what they hold, and in which kinds.

t = (x, 1)   before a loop that assigns t      two numbers, a float32 and an int
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from astjit.frontend.elements.environment import RETURNED, Slot, parts, rebuilt, same
from astjit.frontend.elements.frames import Frame
from astjit.frontend.elements.kinds import Dynamic, Kind, is_number, kind_of
from astjit.ir.function import Block
from astjit.ir.value import Param
from astjit.types.tensor import TensorType


@dataclass(slots=True)
class Carried:
    """A name that a loop carries from one iteration to the next.

    Attributes:
        name: the name.
        start: what it holds before the loop, HOLE if nothing.
        form: its value with slots for the numbers in it.
        starts: those numbers.
        kinds: the kind in which each is carried.
    """

    name: str
    start: object
    form: object = None
    starts: list[object] = field(default_factory=list)
    kinds: list[Kind] = field(default_factory=list)

    def shape(self, value: object) -> None:
        """Take form and numbers from a value."""
        self.starts = []
        self.form = form_of(value, self.starts)
        self.kinds = [kind_of(n) for n in self.starts]


def form_of(value: object, numbers: list[object]) -> object:
    """A value with slots for its numbers, which are added to a list."""
    if is_number(value):
        numbers.append(value)
        return Slot(len(numbers) - 1)
    own = parts(value)
    return value if own is None else rebuilt(value, [form_of(p, numbers) for p in own])


def walk(statements: Sequence[ast.stmt]) -> list[ast.AST]:
    """Every node, but for those of inner functions."""
    found: list[ast.AST] = []
    todo: list[ast.AST] = list(statements)
    while todo:
        node = todo.pop()
        found.append(node)
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            todo += ast.iter_child_nodes(node)
    return found


def params(frame: Frame, block: Block, one: Carried) -> list[Dynamic]:
    """Parameters of a block for the numbers of a name."""
    made = []
    for kind in one.kinds:
        name = one.name if one.name.isidentifier() and one.name != RETURNED else ""
        param = Param(TensorType(kind.dtype, ()), name, "", frame.region.location)
        block.params.append(param)
        made.append(Dynamic(param, kind))
    return made


def alike(one: object, other: object) -> bool:
    """Whether two forms hold numbers at the same places, and else the same values."""
    if isinstance(one, Slot) or isinstance(other, Slot):
        return isinstance(one, Slot) and isinstance(other, Slot)
    own, others = parts(one), parts(other)
    if own is None or others is None:
        return one is other or same(one, other)
    fits = type(one) is type(other) and len(own) == len(others)
    fits = fits and getattr(one, "cls", None) is getattr(other, "cls", None)
    return fits and all(map(alike, own, others))
