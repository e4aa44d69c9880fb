"""Layouts that only PyTorch's own kernel tells, by running it on zeros (decision D13).

The meta function of attention says that its result lies in the order of its axes; the kernels of
CPUs and GPUs lay it as the query lies. Meta functions of convolutions, norms and `roll` miss
channels_last likewise. Which kernel runs depends on the device and the operands, so every call with
an operand that does not lie in the order of its axes is tried.
"""

from collections.abc import Mapping, Sequence

import torch

from astjit.frontend import torch_api
from astjit.frontend.layouts import dense_order
from astjit.frontend.metas import Call, example, leaves
from astjit.frontend.symbolic import SymbolicTensor
from astjit.types.shape import evaluate
from astjit.types.tensor import TensorType

_BY_DEVICE = frozenset({"scaled_dot_product_attention"})


def real_layouts(
    call: Call, types: Sequence[TensorType], sizes: Mapping[str, int]
) -> list[TensorType]:
    """The types of a call's results, laid as the kernel of these sizes lays them."""
    operands = [v for v in call.given if isinstance(v, SymbolicTensor)]
    by_device = call.dotted.rpartition(".")[2] in _BY_DEVICE
    if not by_device and all(_in_order(v.kind) for v in operands):
        return list(types)
    with torch_api.plain_calls():
        given = {id(v): _zeros(v, sizes) for v in operands}
        args = [example(a, given) for a in call.args]
        state = torch.get_rng_state()
        try:
            made = call.func(*args, **{k: example(v, given) for k, v in call.kwargs.items()})
        except (RuntimeError, ValueError, TypeError, IndexError):  # as the call itself will say
            return list(types)
        finally:
            torch.set_rng_state(state)
        known = {tensor.untyped_storage().data_ptr() for tensor in given.values()}
    new = [t for _, t in leaves(made) if isinstance(t, torch.Tensor) and not _in(t, given)]
    if len(new) != len(types):
        return list(types)
    return [
        kind if tensor.untyped_storage().data_ptr() in known else _laid(kind, tensor, sizes)
        for kind, tensor in zip(types, new, strict=True)
    ]


def _in_order(kind: TensorType) -> bool:
    return kind.rank < 2 or kind.order == tuple(range(kind.rank))


def _in(tensor: torch.Tensor, given: Mapping[int, torch.Tensor]) -> bool:
    return any(tensor is other for other in given.values())


def _laid(kind: TensorType, tensor: torch.Tensor, sizes: Mapping[str, int]) -> TensorType:
    """The type with the layout of a real result, where that differs from what the type says."""
    promised = [evaluate(s, sizes) for s in kind.element_strides()]
    places = zip(tensor.shape, promised, tensor.stride(), strict=True)
    if not tensor.numel() or all(size == 1 or one == other for size, one, other in places):
        return kind
    order = dense_order(tuple(tensor.shape), tensor.stride())
    if order is None:
        return kind
    return TensorType(kind.dtype, kind.dims, order, None, kind.device)


def _zeros(value: SymbolicTensor, sizes: Mapping[str, int]) -> torch.Tensor:
    kind = value.kind
    dims = [evaluate(d, sizes) for d in kind.dims]
    strides = [evaluate(s, sizes) for s in kind.element_strides()]
    last = 0 if 0 in dims else 1 + sum((d - 1) * s for d, s in zip(dims, strides, strict=True))
    made = torch.zeros(last, dtype=value.dtype, device=kind.device)
    return made.as_strided(dims, strides)
