"""Torch functions without a row: PyTorch's own kernels, typed by its meta functions (D13).

The function is run on meta tensors of two sets of example sizes. A result size that changes is
then named by the form that fits both: a size of the operands, plus or times a constant, or the
product of two. Where none fits, the operands' sizes are pinned.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch

from astjit.frontend import torch_api
from astjit.frontend.capture import Capture
from astjit.frontend.carriers import Float, Int, Number
from astjit.frontend.layouts import dense_order, dtype_of
from astjit.frontend.stops import Failed, Stop
from astjit.frontend.symbolic import SymbolicTensor
from astjit.ops.library import Slot
from astjit.ops.table import OPS
from astjit.types.dtype import BY_TORCH
from astjit.types.shape import Dim, Sym, add, evaluate, floordiv, hint, mul, symbols
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
                if number.dim is None:  # the result's type may depend on it
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
        Stop: if PyTorch cannot say the result's type, or the call writes, or returns a view.
        Failed: if the operands do not fit.
    """
    operands = _Operands()
    template = operands.slot(capture, (tuple(args), dict(kwargs)))
    device = result_device(operands.given, args, kwargs)
    sizes = _symbols(operands.given)
    call = (dotted, func, args, kwargs, operands.given)
    first = {s.name: hint(s) for s in sizes}
    try:
        one = _infer(*call, first)
    except _Unfit as unfit:
        raise Failed(unfit.error) from unfit.error
    if isinstance(one, _Same):
        return one.operand
    for equal in (False, True):
        second = _examples(capture, sizes, equal=equal)
        try:
            types = _types(operands.given, sizes, one, _infer(*call, second), first, second, device)
        except (_Unfit, _NoForm):
            continue
        if equal:
            _assume_equal(capture, sizes)
        break
    else:
        for sym in sizes:
            capture.pin(_number(capture, sym), f"{dotted} gives no rule for its result's size")
        types = _types(operands.given, (), one, one, first, first, device)
    fields = {"target": dotted, "template": template, "types": tuple(types)}
    node = capture.node(OPS["library"], operands.values, fields)
    results = iter(node.results)
    return _rebuild(one, lambda: capture.wrap(next(results)))


@dataclass(frozen=True, slots=True)
class _Same:
    """The function returned its operand itself."""

    operand: object


class _Unfit(Exception):
    """The function does not take operands of these sizes."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class _NoForm(Exception):
    """No expression of the operands' sizes fits a result's size."""


def _number(capture: Capture, sym: Sym) -> Number:
    return Number(hint(sym), capture.dim_text(sym), sym)


def _symbols(given: Sequence[object]) -> tuple[Sym, ...]:
    dims: list[Dim] = []
    for value in given:
        if isinstance(value, SymbolicTensor):
            dims += [*value.kind.dims, *value.kind.element_strides()]
        elif isinstance(value, Int) and value.node.number.dim is not None:
            dims.append(value.node.number.dim)
    return tuple(dict.fromkeys(s for d in dims for s in symbols(d)))


def _examples(capture: Capture, sizes: Sequence[Sym], *, equal: bool) -> dict[str, int]:
    """Other sizes than those of this call, which keep what was assumed to be equal.

    A multiple of each size keeps most divisibility; primes make different sizes stay different.

    Args:
        capture: knows what was assumed.
        sizes: the symbols.
        equal: also keep equal what is equal in this call.
    """
    primes = (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
    factors: dict[object, int] = {}
    made: dict[str, int] = {}
    for sym in sizes:
        root = capture.root_of(sym)
        if isinstance(root, int):
            made[sym.name] = root
            continue
        same = hint(sym) if equal else root
        factor = factors.setdefault(same, primes[len(factors) % len(primes)])
        made[sym.name] = max(hint(sym), 1) * factor
    return made


def _assume_equal(capture: Capture, sizes: Sequence[Sym]) -> None:
    """Guard that the sizes which are equal in this call are equal."""
    known: dict[int, Sym] = {}
    for sym in sizes:
        first = known.setdefault(hint(sym), sym)
        if first is not sym:
            capture.sizes.holds("==", first, sym)


def _infer(
    dotted: str,
    func: Callable[..., object],
    args: Sequence[object],
    kwargs: Mapping[str, object],
    given: Sequence[object],
    sizes: Mapping[str, int],
) -> object:
    """The result on meta tensors of these sizes.

    Raises:
        Stop: if PyTorch cannot say it, or the call writes, or returns a view.
        _Unfit: if the function refuses operands of these sizes.
    """
    with torch_api.plain_calls():
        metas = {id(v): _meta(v, sizes) for v in given}
        tensors = [m for m in metas.values() if isinstance(m, torch.Tensor)]
        versions = [m._version for m in tensors]
        new_args = [_example(a, metas) for a in args]
        new_kwargs = {k: _example(v, metas) for k, v in kwargs.items()}
        if not tensors:
            new_kwargs["device"] = torch.device("meta")
        try:
            made = func(*new_args, **new_kwargs)
        except (NotImplementedError, TypeError) as error:
            raise Stop(f"no shape rule for {dotted}: {_short(error)}") from None
        except (RuntimeError, ValueError, IndexError) as error:
            if "meta" in str(error).lower() or "data-dependent" in str(error):
                raise Stop(f"the result of {dotted} depends on data") from None
            raise _Unfit(error) from error
        if [m._version for m in tensors] != versions:
            raise Stop(f"{dotted} writes to a tensor")
        memory = {m.untyped_storage()._cdata for m in tensors}
        for value in given:
            if metas[id(value)] is made and tensors:
                return _Same(value)
        for leaf in _leaves(made):
            if not isinstance(leaf, torch.Tensor):
                raise Stop(f"{dotted} returns a {type(leaf).__name__}")
            if leaf.untyped_storage()._cdata in memory:
                raise Stop(f"{dotted} returns a view of its operand")
        return made


def _short(error: Exception) -> str:
    return str(error).split("\n")[0][:100]


def _meta(value: object, sizes: Mapping[str, int]) -> object:
    if isinstance(value, SymbolicTensor):
        dims = [evaluate(d, sizes) for d in value.kind.dims]
        strides = [evaluate(s, sizes) for s in value.kind.element_strides()]
        dtype = getattr(torch, value.kind.dtype.torch)
        return torch.empty_strided(dims, strides, dtype=dtype, device="meta")
    assert isinstance(value, Int | Float)
    dim = value.node.number.dim
    assert dim is not None
    return evaluate(dim, sizes)


def _example(value: object, metas: Mapping[int, object]) -> object:
    """An argument with meta tensors and example numbers in it."""
    if id(value) in metas:
        return metas[id(value)]
    match value:
        case Int() | Float():
            return value.node.number.hint  # pinned
        case tuple() | list():
            parts = [_example(part, metas) for part in value]
            return parts if isinstance(value, list) else tuple(parts)
        case dict():
            return {key: _example(part, metas) for key, part in value.items()}
        case slice():
            return slice(*(_example(p, metas) for p in (value.start, value.stop, value.step)))
        case torch.device():
            return torch.device("meta")
    return value


def _leaves(value: object) -> list[object]:
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in _leaves(part)]
    return [value]


def _rebuild(value: object, take: Callable[[], object]) -> object:
    """The result's own structure around the symbolic tensors."""
    if not isinstance(value, (tuple, list)):
        return take()
    parts = [_rebuild(part, take) for part in value]
    if type(value) in (tuple, list):
        return type(value)(parts)
    return type(value)(parts)  # torch.return_types take one sequence


def _types(
    given: Sequence[object],
    sizes: Sequence[Sym],
    one: object,
    two: object,
    first: Mapping[str, int],
    second: Mapping[str, int],
    device: str,
) -> list[TensorType]:
    known: list[tuple[Pair, Dim]] = []
    for value in given:
        for dim in value.kind.dims if isinstance(value, SymbolicTensor) else ():
            known.append(((evaluate(dim, first), evaluate(dim, second)), dim))
    known += [((first[s.name], second[s.name]), s) for s in sizes]
    made: list[TensorType] = []
    for a, b in zip(_leaves(one), _leaves(two), strict=True):
        assert isinstance(a, torch.Tensor)
        if not isinstance(b, torch.Tensor):
            raise _NoForm  # the operand itself
        dtype = dtype_of(a)
        if dtype is None:
            raise Stop(f"a result of dtype {a.dtype}")
        if a.dim() != b.dim():
            raise _NoForm
        order = dense_order(tuple(b.shape), b.stride()) or dense_order(tuple(a.shape), a.stride())
        if order is None:
            raise Stop("a library call whose result is not dense")
        dims = tuple(named(pair, known) for pair in zip(a.shape, b.shape, strict=True))
        made.append(TensorType(dtype, dims, order, None, device))
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
