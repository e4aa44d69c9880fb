"""What capture found out besides the SSA: what was read from outside, and how results return.

A path is a Python expression over the function's own parameter names and the names in `constants`,
such as `x`, `state['w']`, `fn_globals['scale']`. Tensors reached by path are parameters of the SSA
function; their own guards (type, dtype, device, rank, ones, layout) follow from their types.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields

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


@dataclass(frozen=True, slots=True)
class Shared:
    """Something made once that stands at several places.

    Attributes:
        index: which of Reads.shared.
    """

    index: int


Template = Leaf | Fetched | Container | Shared


@dataclass(frozen=True, slots=True)
class Store:
    """A write to an object that was there before, once all results are there (decision D18).

    Attributes:
        owner: path of the object.
        place: what of it is written: ".h", "['k']"; or a method, ".append".
        how: "set", "delete", "call" with the value, "do" for a place that is the whole call.
        value: what is stored.
    """

    owner: str
    place: str
    how: str
    value: Template | None = None


def shared_once(
    output: Template, stores: Sequence[Store], shared: Sequence[Template]
) -> tuple[Template, list[Store], list[Template]]:
    """The same templates, with what stands at one place only written there."""
    roots = [output, *(s.value for s in stores if s.value is not None), *shared]
    uses = Counter(index for root in roots for index in _shared_in(root))
    kept = [at for at in range(len(shared)) if uses[at] > 1]

    def shown(template: Template) -> Template:
        match template:
            case Shared(index) if index in kept:
                return Shared(kept.index(index))
            case Shared(index):
                return shown(shared[index])
            case Container(kind, items, keys):
                return Container(kind, tuple(map(shown, items)), keys)
        return template

    written = [
        Store(s.owner, s.place, s.how, None if s.value is None else shown(s.value)) for s in stores
    ]
    return shown(output), written, [shown(shared[at]) for at in kept]


def _shared_in(template: Template) -> list[int]:
    match template:
        case Shared(index):
            return [index]
        case Container(items=items):
            return [index for item in items for index in _shared_in(item)]
    return []


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
        pins: why sizes were needed as numbers, by path, such as `x.shape[0]`.
        copies: inputs that are written, in the order of the writes.
        stores: what is written to objects, in order.
        shared: what `output` and `stores` have in common, parts first.
    """

    parameters: tuple[str, ...] = ()
    guards: list[Guard] = field(default_factory=list)
    constants: dict[str, object] = field(default_factory=dict)
    output: Template = Fetched("None")
    pins: dict[str, str] = field(default_factory=dict)
    copies: list[CopyBack] = field(default_factory=list)
    stores: list[Store] = field(default_factory=list)
    shared: list[Template] = field(default_factory=list)

    def take(self, other: "Reads") -> None:
        """Hold what another holds instead."""
        for each in fields(self):
            setattr(self, each.name, getattr(other, each.name))

    def written(self, function: Function) -> dict[Value, Param]:
        """The values that inputs hold at the end, and which are given out in no other way."""
        inputs = {param.path: param for param in function.params}
        stored = (store.value for store in self.stores if store.value is not None)
        given = set[int]().union(*map(leaves, (self.output, *stored, *self.shared)))
        found = ((c.index, function.results[c.index], inputs[c.path]) for c in self.copies)
        return {value: param for index, value, param in found if index not in given}


_SILENT = ("fn_globals", "self", "_modules", "_parameters", "_buffers")


def readable(path: str) -> str:
    """A name for what lies at a path: the last readable parts."""
    shorter = path.replace(".cell_contents", "").replace("__defaults__", "default")
    words = re.findall(r"[A-Za-z_]\w*", shorter)
    shown = [w.removeprefix("cell_") for w in words if w not in _SILENT]
    return "_".join(shown[-2:] if len(shown) > 3 else shown) or "input"
