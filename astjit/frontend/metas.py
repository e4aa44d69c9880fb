"""What a torch function does, found by running it on meta tensors (decision D13).

The types of its results; which of them are its operands, or lie in an operand's memory: views; and
which operands' versions went up: those it wrote to.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import torch

from astjit.frontend import meta_rules, torch_api
from astjit.frontend.carriers import Float, Int
from astjit.frontend.stops import Stop
from astjit.frontend.symbolic import SymbolicTensor
from astjit.types.shape import Dim, Sym, evaluate, symbols
from astjit.types.tensor import TensorType


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a torch function.

    Attributes:
        given: the tensors and sizes among its arguments.
    """

    dotted: str
    func: Callable[..., object]
    args: Sequence[object]
    kwargs: Mapping[str, object]
    given: Sequence[object]


@dataclass(frozen=True, slots=True)
class Facts:
    """What a call did with meta tensors.

    Attributes:
        made: what it returned.
        same: by identity of a part of it, the operand that it is.
        views: by identity of a part, the operand in whose memory it lies.
        written: the operands that were written to.
        new: path and meta tensor of each part that is no operand.
        flat: whether the result is one new tensor, or a tuple of nothing else.
    """

    made: object
    same: Mapping[int, int]
    views: Mapping[int, int]
    written: tuple[int, ...]
    new: tuple[tuple[tuple[int, ...], torch.Tensor], ...]
    flat: bool


class Unfit(Exception):
    """The function does not take operands of these sizes."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def infer(
    call: Call, sizes: Mapping[str, int], *, other: bool = False, guess: bool = False
) -> Facts:
    """What the call does on meta tensors of these sizes.

    Args:
        call: of a torch function.
        sizes: the value of every size symbol.
        other: give it other floats than those of this call.
        guess: these are other sizes than those of this call, which need not fit.

    Raises:
        Stop: if PyTorch cannot say it.
        Unfit: if the function refuses operands of these sizes.
    """
    counted = torch.inference_mode(False) if torch.is_inference_mode_enabled() else nullcontext()
    with counted, torch_api.plain_calls():  # tensors of inference count no versions
        try:
            metas = _metas(call.given, sizes, other=other)
        except RuntimeError as error:  # no tensor has these sizes
            raise Unfit(error) from error
        tensors = [m for m in metas.values() if isinstance(m, torch.Tensor)]
        new_args = [example(a, metas) for a in call.args]
        new_kwargs = {k: example(v, metas) for k, v in call.kwargs.items()}
        if not tensors:
            new_kwargs["device"] = torch.device("meta")
        versions = [m._version for m in tensors]
        try:
            made = meta_rules.run(call.dotted, call.func, new_args, new_kwargs, guess=guess)
        except (NotImplementedError, TypeError) as error:
            raise Stop(f"no shape rule for {call.dotted}: {_short(error)}") from None
        except (RuntimeError, ValueError, IndexError, AssertionError) as error:
            if "meta" in str(error).lower() or "data-dependent" in str(error):
                raise Stop(f"the result of {call.dotted} depends on data") from None
            raise Unfit(error) from error
        risen = {
            id(m) for m, version in zip(tensors, versions, strict=True) if m._version != version
        }
        return _facts(call, made, metas, risen)


def accepts(
    func: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object]
) -> bool:
    """Whether PyTorch's CPU kernel takes operands of these dtypes: tried on ones of one element.

    Meta functions look at shapes more than at dtypes. False as well where it cannot be tried.
    """

    def made(value: object) -> object:
        match value:
            case SymbolicTensor():
                if value.kind.device != "cpu":
                    raise NotImplementedError
                return torch.ones([1] * value.kind.rank, dtype=value.dtype)
            case Int() | Float():
                return value.node.number.hint
            case tuple() | list():
                parts = [made(part) for part in value]
                return parts if isinstance(value, list) else tuple(parts)
        return value

    with torch_api.plain_calls():
        try:
            func(*map(made, args), **{key: made(value) for key, value in kwargs.items()})
        except (NotImplementedError, RuntimeError, TypeError, ValueError, IndexError):
            return False
        return True


def _facts(call: Call, made: object, metas: Mapping[int, object], risen: set[int]) -> Facts:
    slots = {id(metas[id(value)]): at for at, value in enumerate(call.given)}
    hidden = hidden_writes(call.dotted, call.args, call.kwargs)
    written = tuple(
        at
        for at, value in enumerate(call.given)
        if id(metas[id(value)]) in risen or any(value is other for other in hidden)
    )
    homes = {
        meta.untyped_storage()._cdata: at
        for at, value in reversed(list(enumerate(call.given)))
        if isinstance(meta := metas[id(value)], torch.Tensor)
    }
    same: dict[int, int] = {}
    views: dict[int, int] = {}
    new: list[tuple[tuple[int, ...], torch.Tensor]] = []
    others = False
    for path, leaf in leaves(made):
        if leaf is None:
            others = True
        elif not isinstance(leaf, torch.Tensor):
            raise Stop(f"{call.dotted} returns a {type(leaf).__name__}")
        elif id(leaf) in slots:
            same[id(leaf)] = slots[id(leaf)]
            others = True
        else:
            new.append((path, leaf))
            home = homes.get(leaf.untyped_storage()._cdata)
            if home is not None:
                views[id(leaf)] = home
                if home in written:
                    raise Stop(f"{call.dotted} writes to a tensor and returns a view of it")
    flat = not others and (new[0][0] == () if len(new) == 1 else all(len(p) == 1 for p, _ in new))
    return Facts(made, same, views, written, tuple(new), flat)


def hidden_writes(
    dotted: str, args: Sequence[object], kwargs: Mapping[str, object]
) -> list[object]:
    """The operands that a function writes to though its schema does not say so."""
    name = dotted.rpartition(".")[2]
    if name not in ("batch_norm", "instance_norm"):
        return []
    own = dotted.startswith("torch.nn.functional.")
    first = 1 if own else 3
    training = {"batch_norm": "training", "instance_norm": "use_input_stats"}[name]
    on = argument(args, kwargs, training, 5, default=name == "instance_norm")
    kept = [
        argument(args, kwargs, "running_mean", first),
        argument(args, kwargs, "running_var", first + 1),
    ]
    return [value for value in kept if value is not None] if on else []


def argument(
    args: Sequence[object],
    kwargs: Mapping[str, object],
    name: str,
    position: int,
    default: object = None,
) -> object:
    """An argument that may be given by position or by name."""
    if name in kwargs:
        return kwargs[name]
    return args[position] if len(args) > position else default


def _metas(
    given: Sequence[object], sizes: Mapping[str, int], *, other: bool = False
) -> dict[int, object]:
    """Meta tensors and numbers by identity of what they stand for; views share memory."""
    bases: dict[int, torch.Tensor] = {}
    storages = [v.place.storage for v in given if isinstance(v, SymbolicTensor)]
    made: dict[int, object] = {}
    for value in given:
        if not isinstance(value, SymbolicTensor):
            assert isinstance(value, Int | Float)
            dim, number = value.node.number.dim, value.node.number.hint
            own = number * 0.75 if other else number
            made[id(value)] = own if dim is None else evaluate(dim, sizes)
            continue
        storage = value.place.storage
        if storages.count(storage) == 1:
            made[id(value)] = _meta(value.kind, sizes)
            continue
        if id(storage) not in bases:
            bases[id(storage)] = _meta(storage.kind, sizes)
        base = bases[id(storage)]
        made[id(value)] = value.place.meta(sizes, base) if value.place.steps else base.view_as(base)
    return made


def _short(error: Exception) -> str:
    return str(error).split("\n")[0][:100]


def _meta(kind: TensorType, sizes: Mapping[str, int]) -> torch.Tensor:
    dims = [evaluate(d, sizes) for d in kind.dims]
    strides = [evaluate(s, sizes) for s in kind.element_strides()]
    return torch.empty_strided(dims, strides, dtype=getattr(torch, kind.dtype.torch), device="meta")


def example(value: object, metas: Mapping[int, object]) -> object:
    """An argument with meta tensors and example numbers in it."""
    if id(value) in metas:
        return metas[id(value)]
    match value:
        case Int() | Float():
            return value.node.number.hint  # pinned
        case tuple() | list():
            parts = [example(part, metas) for part in value]
            return parts if isinstance(value, list) else tuple(parts)
        case dict():
            return {key: example(part, metas) for key, part in value.items()}
        case slice():
            return slice(*(example(p, metas) for p in (value.start, value.stop, value.step)))
        case torch.device():
            return torch.device("meta")
    return value


def leaves(value: object, path: tuple[int, ...] = ()) -> list[tuple[tuple[int, ...], object]]:
    """The parts of a result that are no tuple or list, each with where it is."""
    if isinstance(value, (tuple, list)):
        return [leaf for at, part in enumerate(value) for leaf in leaves(part, (*path, at))]
    return [(path, value)]


def symbols_of(given: Sequence[object]) -> tuple[Sym, ...]:
    """The size symbols in the types of tensors and in numbers."""
    dims: list[Dim] = []
    for value in given:
        if isinstance(value, SymbolicTensor):
            dims += value.place.dims(value.kind)
        elif isinstance(value, Int) and value.node.number.dim is not None:
            dims.append(value.node.number.dim)
    return tuple(dict.fromkeys(s for d in dims for s in symbols(d)))
