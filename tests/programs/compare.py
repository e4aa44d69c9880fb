"""What a program left behind, and where two runs of it differ.

`observed` walks over everything that can be reached from some roots and notes what can be told
about each place; identity and shared memory are noted as numbers given in the order of the walk.
"""

import enum
import math
import types
from collections.abc import Mapping
from dataclasses import dataclass, field

import torch

_ATOMS = int | float | str | bytes | complex | None | enum.Enum | torch.dtype | torch.device | slice
_DATA = _ATOMS | torch.Tensor | list | dict | tuple
_SKIPPED = (types.ModuleType, types.BuiltinFunctionType)


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two runs differ.

    Attributes:
        kind: values, dtype, shape, strides, sharing, identity, type, gradient, number, exception.
        place: what differs, such as "result[0]" or "argument x".
        eager: how it is without compilation.
        compiled: how it is with it.
    """

    kind: str
    place: str
    eager: object
    compiled: object

    def __str__(self) -> str:
        shown = f"eager {self.eager}\n    compiled {self.compiled}"
        return f"{self.kind} of {self.place}:\n    {shown}"


@dataclass(slots=True)
class Observed:
    """What a walk noted.

    Attributes:
        facts: by place, the kinds of facts and what was found.
    """

    facts: dict[str, dict[str, object]] = field(default_factory=dict)
    _objects: dict[int, int] = field(default_factory=dict)
    _storages: dict[int, tuple[int, int]] = field(default_factory=dict)
    _kept: list[object] = field(default_factory=list)

    def look(self, place: str, value: object) -> None:
        """Note what can be told about a value and all that it holds."""
        if isinstance(value, _SKIPPED):
            return
        facts = self.facts.setdefault(place, {})
        facts["type"] = type(value).__name__
        if isinstance(value, _ATOMS):
            facts["number"] = _atom(value)
            return
        self._kept.append(value)  # ids stay taken
        if not _is_constant(value):
            known = id(value) in self._objects
            facts["identity"] = self._objects.setdefault(id(value), len(self._objects))
            if known and not isinstance(value, torch.Tensor):
                return
        if isinstance(value, torch.Tensor):
            self._tensor(facts, value)
        elif isinstance(value, types.FunctionType):
            for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
                self.look(f"{place}.{name}", _content(cell))
            self.look(f"{place}.__defaults__", value.__defaults__)
        elif isinstance(value, type):
            for name, part in vars(value).items():
                if not name.startswith("_") and isinstance(part, _DATA):
                    self.look(f"{place}.{name}", part)
        else:
            self._parts(facts, place, value)

    def _parts(self, facts: dict[str, object], place: str, value: object) -> None:
        if isinstance(value, Mapping):
            facts["number"] = [repr(key) for key in value]
            for key, part in value.items():
                self.look(f"{place}[{key!r}]", part)
        elif isinstance(value, tuple | list):
            facts["number"] = len(value)
            for index, part in enumerate(value):
                self.look(f"{place}[{index}]", part)
        elif isinstance(value, set | frozenset | range):
            facts["number"] = repr(sorted(value, key=repr))
        elif hasattr(value, "__dict__"):
            self._parts_of_object(facts, place, value)

    def _parts_of_object(self, facts: dict[str, object], place: str, value: object) -> None:
        facts["number"] = list(vars(value))
        for name, part in vars(value).items():
            self.look(f"{place}.{name}", part)

    def _tensor(self, facts: dict[str, object], tensor: torch.Tensor) -> None:
        facts["dtype"], facts["shape"] = tensor.dtype, tuple(tensor.shape)
        facts["strides"] = tuple(
            step if size != 1 and tensor.numel() else "any"
            for size, step in zip(tensor.shape, tensor.stride(), strict=True)
        )
        facts["gradient"] = tensor.requires_grad, tensor.grad_fn is not None
        facts["values"] = tensor
        if tensor.numel():
            start = tensor.untyped_storage().data_ptr()
            first = (len(self._storages), tensor.data_ptr() - start)
            number, offset = self._storages.setdefault(start, first)
            facts["sharing"] = number, tensor.data_ptr() - start - offset


def _is_constant(value: object) -> bool:
    """Whether Python may keep one object for each such value that is written in the source."""
    kinds = tuple | frozenset | torch.Size | range
    return isinstance(value, kinds) and all(
        isinstance(part, _ATOMS) or _is_constant(part) for part in value
    )


def _content(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return "empty cell"


def _atom(value: object) -> object:
    if isinstance(value, float):
        return "nan" if math.isnan(value) else repr(value)
    return repr(value)


def raised(error: BaseException, file: str) -> dict[str, object]:
    """The facts of an exception: type, message, and its line in the program.

    The line of an UnboundLocalError is left out: once Python 3.11 has run a loop a few times, it
    joins the store to `i` in `for i in y:` and a read after it, and tells the line of the store.
    """
    told = str(error).partition("\nException raised from ")[0]  # the frames of C++ differ
    if isinstance(error, UnboundLocalError):
        return {"exception": (type(error).__name__, told)}
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return {"exception": (type(error).__name__, told, f"line {line}")}


def difference(eager: Observed, compiled: Observed) -> Difference | None:
    """The first difference between two runs."""
    for place, facts in eager.facts.items():
        others = compiled.facts.get(place)
        if others is None:
            return Difference("type", place, facts.get("type", facts), "nothing there")
        for kind, one in facts.items():
            other = others.get(kind, "nothing")
            if not _same(one, other):
                return Difference(kind, place, _shown(one), _shown(other))
        if more := others.keys() - facts.keys():
            kind = min(more)
            return Difference(kind, place, "nothing", _shown(others[kind]))
    for place, facts in compiled.facts.items():
        if place not in eager.facts:
            return Difference("type", place, "nothing there", facts.get("type", facts))
    return None


def _same(one: object, other: object) -> bool:
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return same_values(one, other)
    return type(one) is type(other) and one == other


def _shown(fact: object) -> object:
    return fact.tolist() if isinstance(fact, torch.Tensor) else fact


def same_values(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Equal bit for bit, where any NaN equals any NaN."""
    one, other = one.detach(), other.detach()
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if not one.is_floating_point():
        return torch.equal(one, other)
    unequal = one != other
    if bool(unequal.any()) and not torch.equal(unequal, one.isnan() & other.isnan()):
        return False
    zero = one == 0
    return torch.equal(torch.signbit(one)[zero], torch.signbit(other)[zero])
