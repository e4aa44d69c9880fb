"""Torch functions without a row: PyTorch's own kernels, typed by its meta functions (D13).

The function is run on meta tensors of two sets of example sizes. A result size that changes is
then named by the form that fits both: a size of the operands, plus or times a constant, or the
product of two. Where none fits, the operands' sizes are pinned.

Meta tensors also say what the function does to memory: a result in the memory of an operand is a
view of it, an operand whose version went up was written to. A function that writes is given copies.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch

from astjit.frontend.capture import Capture
from astjit.frontend.carriers import Float, Int
from astjit.frontend.forms import result_types
from astjit.frontend.memory import Step, disjoint, refuse_overlap
from astjit.frontend.metas import Call, Facts, Unfit, infer, symbols_of
from astjit.frontend.stops import Failed, Stop, words
from astjit.frontend.symbolic import SymbolicTensor
from astjit.ops.library import Slot
from astjit.ops.table import OPS
from astjit.types.dtype import BY_TORCH
from astjit.types.shape import hint

_OF_STORAGES = words("as_strided as_strided_ as_strided_copy as_strided_scatter")
_CONSTANTS = (int, float, str, type(Ellipsis))
_SIZED = words(
    "arange zeros ones full empty eye linspace pad repeat tile roll topk repeat_interleave "
    "tril triu new_zeros new_ones new_full new_empty unflatten broadcast_to"
)
"""Functions whose ints are sizes, counts and positions; an axis among them is found by trying."""


@dataclass(slots=True)
class _Operands:
    """The operands of a call, taken out of its arguments.

    Attributes:
        values: as SSA values.
        given: as the caller gave them.
        sized: ints are sizes, and may vary.
    """

    sized: bool = False
    values: list[object] = field(default_factory=list)
    given: list[object] = field(default_factory=list)

    def slot(self, capture: Capture, value: object) -> object:
        """The argument with a Slot in place of everything that is a value."""
        match value:
            case SymbolicTensor():
                return self._add(value, value.value)
            case Int() | Float():
                number = value.node.number
                dim = capture.size_of(number) if self.sized else number.dim
                if isinstance(dim, int):
                    return dim
                if dim is None and isinstance(number.hint, int):
                    return capture.pin(number, "given to PyTorch's own kernel")
                return self._add(value, capture.number_value(number))
            case torch.Tensor():
                raise Stop("a tensor was reached without a path")
            case torch.Size():
                return tuple(self.slot(capture, part) for part in value)
            case tuple() | list():
                parts = [self.slot(capture, part) for part in value]
                return type(value)(parts) if type(value) in (tuple, list) else tuple(parts)
            case dict():
                return {key: self.slot(capture, part) for key, part in value.items()}
            case slice():
                ends = (value.start, value.stop, value.step)
                return slice(*(self.slot(capture, part) for part in ends))
            case torch.device():
                return device_text(value)
            case torch.dtype() if dtype := BY_TORCH.get(str(value).removeprefix("torch.")):
                return dtype
        if value is not None and not isinstance(value, _CONSTANTS):
            raise Stop(f"a {type(value).__name__} is given to a torch function")
        return value

    def _add(self, given: object, value: object) -> Slot:
        for index, known in enumerate(self.given):
            if known is given:
                return Slot(index)
        self.given.append(given)
        self.values.append(value)
        return Slot(len(self.values) - 1)


def library_call(
    capture: Capture,
    dotted: str,
    func: Callable[..., object],
    args: Sequence[object],
    kwargs: Mapping[str, object],
) -> object:
    """Append a call of a torch function; its results as user code gets them.

    Raises:
        Stop: if PyTorch cannot say the result's type, or what it does to memory is not known.
        Failed: if the operands do not fit.
    """
    if (name := dotted.rpartition(".")[2]) in _OF_STORAGES:
        raise Stop(f"{name}() may reach memory that its tensor does not show")
    operands = _Operands(name in _SIZED)
    template = operands.slot(capture, (tuple(args), dict(kwargs)))
    call = Call(dotted, func, args, kwargs, operands.given)
    device = result_device(operands.given, args, kwargs)
    sizes = symbols_of(operands.given)
    first = {s.name: hint(s) for s in sizes}
    try:
        one = infer(call, first)
    except Unfit as unfit:
        raise Failed(unfit.error) from unfit.error
    for slot in one.written:
        _check_written(operands.given, slot)
    if not one.written and not one.new:
        return _rebuild(one.made, one, operands.given, {})
    types = result_types(capture, call, one, sizes, first, device)
    picks = None if one.flat else tuple(path for path, _ in one.new)
    fields: dict[str, object] = {"target": dotted, "template": template, "picks": picks}
    name = "library"
    if one.written:
        name = "mutate"
        fields["written"] = one.written
        targets = (operands.given[slot] for slot in one.written)
        types = [*(t.kind for t in targets if isinstance(t, SymbolicTensor)), *types]
        if not one.new:
            fields["picks"] = ()
    node = capture.node(OPS[name], operands.values, {**fields, "types": tuple(types)})
    for slot, result in zip(one.written, node.results, strict=False):
        tensor = operands.given[slot]
        assert isinstance(tensor, SymbolicTensor)
        capture.write(tensor, result)
    wrapped: dict[int, SymbolicTensor] = {}
    for at, (_, leaf) in enumerate(one.new):
        result = node.results[len(one.written) + at]
        source = one.views.get(id(leaf))
        if source is None:
            wrapped[id(leaf)] = capture.fresh_tensor(result)
        else:
            base = operands.given[source]
            assert isinstance(base, SymbolicTensor)
            wrapped[id(leaf)] = capture.view_of(base, (Step(node, source, at),), result)
    return _rebuild(one.made, one, operands.given, wrapped)


def _check_written(given: Sequence[object], slot: int) -> None:
    """Stop where a write to one operand could reach another."""
    target = given[slot]
    assert isinstance(target, SymbolicTensor)
    refuse_overlap(target.kind)
    for other in given:
        if isinstance(other, SymbolicTensor) and other is not target:
            same = other.place.storage is target.place.storage
            if same and not disjoint(other.place, target.place):
                raise Stop("an operand of an in-place operation overlaps what is written")


def _rebuild(
    value: object,
    facts: Facts,
    given: Sequence[object],
    wrapped: Mapping[int, SymbolicTensor],
) -> object:
    """The result's own structure around the symbolic tensors."""
    if value is None:
        return None
    if not isinstance(value, (tuple, list)):
        return wrapped[id(value)] if id(value) in wrapped else given[facts.same[id(value)]]
    parts = [_rebuild(part, facts, given, wrapped) for part in value]
    make: Callable[..., object] = type(value)
    if hasattr(make, "_fields"):
        return make(*parts)
    return make(parts)  # torch.return_types take one sequence as well


def result_device(
    given: Sequence[object], args: Sequence[object], kwargs: Mapping[str, object]
) -> str:
    """The device of a call's results: the one it names, else that of its operands."""
    named_device = kwargs.get("device")
    for value in (*args, named_device):
        if isinstance(value, torch.device) or (value is named_device and value is not None):
            return device_text(value)
    kinds = [v.kind for v in given if isinstance(v, SymbolicTensor)]
    full = [k.device for k in kinds if k.rank] or [k.device for k in kinds]
    return full[0] if full else "cpu"


def device_text(value: object) -> str:
    """A device as types name it: CUDA with its index.

    Raises:
        Stop: for a device that astjit has no types for.
    """
    assert isinstance(value, torch.device | str)
    device = torch.device(value)
    if device.type == "cuda" and device.index is None and torch.cuda.is_available():
        return f"cuda:{torch.cuda.current_device()}"
    if device.type not in ("cpu", "cuda") or (device.type == "cuda" and device.index is None):
        raise Stop(f"a tensor on device {device}")
    return str(device)
