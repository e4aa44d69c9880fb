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
from astjit.frontend.carriers import Float, Int, Number
from astjit.frontend.layouts import dense_order, dtype_of
from astjit.frontend.memory import Step, disjoint, refuse_overlap
from astjit.frontend.metas import Call, Facts, Unfit, infer, symbols_of
from astjit.frontend.stops import Failed, Stop
from astjit.frontend.symbolic import SymbolicTensor
from astjit.frontend.windows import window_dims, window_sizes
from astjit.ops.library import Slot
from astjit.ops.table import OPS
from astjit.types.dtype import BY_TORCH
from astjit.types.shape import Dim, Sym, add, evaluate, floordiv, hint, mul
from astjit.types.tensor import TensorType

Pair = tuple[int, int]
_CONSTANTS = (int, float, str, type(Ellipsis))


@dataclass(slots=True)
class _Operands:
    """The operands of a call, taken out of its arguments."""

    values: list[object] = field(default_factory=list)
    given: list[object] = field(default_factory=list)

    def slot(self, capture: Capture, value: object) -> object:
        """The argument with a Slot in place of everything that is a value."""
        match value:
            case SymbolicTensor():
                return self._add(value, value.value)
            case Int() | Float():
                number = value.node.number
                if number.dim is None and isinstance(number.hint, int):
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
    operands = _Operands()
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
    types = _result_types(capture, call, one, sizes, first, device)
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


def _result_types(
    capture: Capture,
    call: Call,
    one: Facts,
    sizes: Sequence[Sym],
    first: Mapping[str, int],
    device: str,
) -> list[TensorType]:
    """The types of the new tensors, over the sizes of the operands."""
    if not one.new:
        return []
    for dim in window_dims(call.dotted, call.args, call.kwargs):
        capture.pin(Number(hint(dim), capture.dim_text(dim), dim), "the size of a window")
    floats = [v for v in call.given if isinstance(v, Float) and v.node.number.dim is None]
    for other in (True, False) if floats else (True,):
        found = _symbolic_types(capture, call, one, sizes, first, device, other=other)
        if found is not None:
            break
    if found is None or not other:
        for value in floats:
            capture.pin(value.node.number, f"the result of {call.dotted} may depend on it")
    if found is not None:
        return found
    for sym in sizes:
        capture.pin(_number(capture, sym), f"{call.dotted} gives no rule for its result's size")
    return _types(call, (), one, one, first, first, device)


def _symbolic_types(
    capture: Capture,
    call: Call,
    one: Facts,
    sizes: Sequence[Sym],
    first: Mapping[str, int],
    device: str,
    *,
    other: bool,
) -> list[TensorType] | None:
    """The types by other sizes (`other`: and floats) of all symbols, else of those that may change.

    None where no form fits.
    """

    def attempt(second: Mapping[str, int], free: Sequence[Sym]) -> list[TensorType] | None:
        try:
            two = infer(call, second, other=other)
            types = _types(call, free, one, two, first, second, device)
            _confirm(call, types, second, free, other=other)
        except (Unfit, _NoForm):
            return None
        return types

    if (types := attempt(_examples(capture, sizes), sizes)) is not None:
        return types
    second, alike = _free_examples(capture, call, sizes, first)
    free = [sym for sym in sizes if second[sym.name] != first[sym.name]]
    types = attempt(second, free) if free else None
    for sym in sizes if types is not None else ():
        if sym not in free:
            capture.pin(_number(capture, sym), f"{call.dotted} gives no rule for its result's size")
    for one_sym, other_sym in alike if types is not None else ():
        capture.sizes.holds("==", one_sym, other_sym)
    return types


def _free_examples(
    capture: Capture, call: Call, sizes: Sequence[Sym], first: Mapping[str, int]
) -> tuple[dict[str, int], list[tuple[Sym, Sym]]]:
    """Other sizes, for those that may change alone or with those that they equal in this call.

    Returns:
        A size for each symbol, and the pairs of symbols that must stay equal.
    """
    other, made = _examples(capture, sizes), dict(first)
    alike: list[tuple[Sym, Sym]] = []

    def fits(group: Sequence[Sym]) -> bool:
        changed = {sym.name: other[group[0].name] for sym in group}
        try:
            infer(call, {**first, **changed})
        except Unfit:
            return False
        made.update(changed)
        return True

    groups = _grouped(sizes, capture.root_of)
    stuck = [sym for group in groups if not fits(group) for sym in group]
    for group in _grouped(stuck, hint):
        if len(group) > 1 and fits(group):
            alike += [(group[0], sym) for sym in group[1:]]
    return made, alike


def _grouped(sizes: Sequence[Sym], by: Callable[[Sym], object]) -> list[list[Sym]]:
    groups: dict[object, list[Sym]] = {}
    for sym in sizes:
        groups.setdefault(by(sym), []).append(sym)
    return [*groups.values()]


def _confirm(
    call: Call,
    types: Sequence[TensorType],
    second: Mapping[str, int],
    free: Sequence[Sym],
    *,
    other: bool,
) -> None:
    """Try a third set of sizes: 16 of 32 may be half, or half of one more.

    Raises:
        _NoForm: if the types do not fit.
    """
    names = {sym.name for sym in free}
    third = {n: 2 * size + 1 if size > 1 and n in names else size for n, size in second.items()}
    try:
        found = infer(call, third, other=other)
    except Unfit:
        return
    for kind, (_, meta) in zip(types, found.new, strict=True):
        if tuple(evaluate(dim, third) for dim in kind.dims) != tuple(meta.shape):
            raise _NoForm


class _NoForm(Exception):
    """No expression of the operands' sizes fits a result's size."""


def _number(capture: Capture, sym: Sym) -> Number:
    return Number(hint(sym), capture.dim_text(sym), sym)


def _examples(capture: Capture, sizes: Sequence[Sym]) -> dict[str, int]:
    """Other sizes than those of this call, which keep what was assumed to be equal.

    A multiple of each size keeps most divisibility; primes make different sizes stay different.
    """
    primes = (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
    factors: dict[object, int] = {}
    made: dict[str, int] = {}
    for sym in sizes:
        root = capture.root_of(sym)
        if isinstance(root, int):
            made[sym.name] = root
            continue
        factor = factors.setdefault(root, primes[len(factors) % len(primes)])
        made[sym.name] = max(hint(sym), 1) * factor
    return made


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


def _types(
    call: Call,
    sizes: Sequence[Sym],
    one: Facts,
    two: Facts,
    first: Mapping[str, int],
    second: Mapping[str, int],
    device: str,
) -> list[TensorType]:
    windows = window_sizes(call.dotted, call.args, call.kwargs)
    known = [((evaluate(dim, first), evaluate(dim, second)), dim) for dim in windows]
    for value in call.given:
        kind = value.kind if isinstance(value, SymbolicTensor) else None
        for dim in (*kind.dims, *kind.element_strides()) if kind is not None else ():
            known.append(((evaluate(dim, first), evaluate(dim, second)), dim))
    known += [((first[s.name], second[s.name]), s) for s in sizes]
    made: list[TensorType] = []
    if len(one.new) != len(two.new) or one.written != two.written:
        raise _NoForm
    for (_, a), (_, b) in zip(one.new, two.new, strict=True):
        if (one.views.get(id(a)) is None) != (two.views.get(id(b)) is None):
            raise _NoForm
        dtype = dtype_of(a)
        if dtype is None:
            raise Stop(f"a result of dtype {a.dtype}")
        if a.dim() != b.dim():
            raise _NoForm
        dims = tuple(named(pair, known) for pair in zip(a.shape, b.shape, strict=True))
        orders = [dense_order(tuple(t.shape), t.stride()) for t in (b, a)]
        if None not in orders or (0 in a.shape and orders[0] is not None):
            made.append(TensorType(dtype, dims, orders[0], None, device))
            continue
        if orders[0] is not None or id(a) not in one.views:
            raise Stop("a library call whose result is not dense")
        strides = tuple(named(pair, known) for pair in zip(a.stride(), b.stride(), strict=True))
        made.append(TensorType(dtype, dims, None, strides, device))
    return made


def named(pair: Pair, known: Sequence[tuple[Pair, Dim]]) -> Dim:
    """The size that is `pair[0]` for the first example sizes and `pair[1]` for the second.

    Raises:
        _NoForm: if no form that is tried fits.
    """
    a, b = pair
    if a == b:
        return a
    for other, dim in known:
        if other == pair:
            return dim
    for (x, y), dim in known:
        if x != y and (b - y) == (a - x):
            return add(dim, a - x)
        if x and a * y == b * x and a % x == 0:
            return mul(dim, a // x)
        if a and a * y == b * x and x % a == 0:
            return floordiv(dim, x // a)
    for i, ((x, y), left) in enumerate(known):
        for (u, v), right in known[i:]:
            if (x * u, y * v) == pair:
                return mul(left, right)
            if (x + u, y + v) == pair:
                return add(left, right)
    raise _NoForm


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
