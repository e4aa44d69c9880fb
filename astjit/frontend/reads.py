"""What capture found out besides the SSA: what was read from outside, and how results return.

A path is a Python expression over the function's own parameter names and the names in `constants`,
such as `x`, `state['w']`, `fn_globals['scale']`. Tensors reached by path are parameters of the SSA
function; their own guards (type, dtype, device, rank, ones, layout) follow from their types.
"""

from dataclasses import dataclass, field

from astjit.ir.function import Function
from astjit.ir.value import Param, Value
from astjit.location import Location


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition under which the program is valid.

    Attributes:
        test: a Python expression over paths, true while the program is valid.
        reason: as a person would say it, such as "scale is 2.0 (a global)".
        location: the line that read it.
    """

    test: str
    reason: str
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class Leaf:
    """A result of the SSA function.

    Attributes:
        index: which one.
        alias: how another tensor of the same memory is made of it, such as ".detach()".
    """

    index: int
    alias: str = ""


@dataclass(frozen=True, slots=True)
class Fetched:
    """Something returned as the caller gave it, or a constant: a Python expression over paths."""

    text: str


@dataclass(frozen=True, slots=True)
class Container:
    """A container built anew at each call.

    Attributes:
        kind: "tuple", "list", "dict", or the name in `constants` of a namedtuple class.
        items: the parts.
        keys: for a dict, the text of each key.
    """

    kind: str
    items: tuple["Template", ...]
    keys: tuple[str, ...] = ()


Template = Leaf | Fetched | Container


def leaves(template: Template) -> set[int]:
    """The results of the SSA function that a template uses."""
    match template:
        case Leaf(index):
            return {index}
        case Container(items=items):
            return set[int]().union(*map(leaves, items))
    return set()


@dataclass(frozen=True, slots=True)
class CopyBack:
    """An input that was written: at the end of a call it is given a result of the function.

    Attributes:
        path: of the input.
        index: of the result.
    """

    path: str
    index: int


@dataclass(slots=True)
class Reads:
    """Filled by capture.

    Attributes:
        parameters: the function's parameter names in the order the host function takes them.
        guards: in the order of the reads.
        constants: names used by paths and guards, with the objects they stand for.
        output: how the results are put together.
        copies: inputs that are written, in the order of the writes.
    """

    parameters: tuple[str, ...] = ()
    guards: list[Guard] = field(default_factory=list)
    constants: dict[str, object] = field(default_factory=dict)
    output: Template = Fetched("None")
    copies: list[CopyBack] = field(default_factory=list)

    def written(self, function: Function) -> dict[Value, Param]:
        """The values that inputs hold at the end, and which are given out in no other way."""
        inputs = {param.path: param for param in function.params}
        given = leaves(self.output)
        found = ((c.index, function.results[c.index], inputs[c.path]) for c in self.copies)
        return {value: param for index, value, param in found if index not in given}
