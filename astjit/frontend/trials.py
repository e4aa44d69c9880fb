"""Layouts that only PyTorch's own kernel tells, by running it on zeros (decision D13).

The meta function of attention says that its result lies in the order of its axes; the kernels of
CPUs and GPUs lay it as the query lies. Which kernel runs depends on the device and the operands.
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
    if call.dotted.rpartition(".")[2] not in _BY_DEVICE:
        return list(types)
    with torch_api.plain_calls():
        given = {id(v): _zeros(v, sizes) for v in call.given if isinstance(v, SymbolicTensor)}
        args = [example(a, given) for a in call.args]
        try:
            made = call.func(*args, **{k: example(v, given) for k, v in call.kwargs.items()})
        except RuntimeError:  # as the call itself will say
            return list(types)
    tensors = [leaf for _, leaf in leaves(made) if isinstance(leaf, torch.Tensor)]
    orders = [dense_order(tuple(t.shape), t.stride()) for t in tensors]
    return [
        kind if order is None else TensorType(kind.dtype, kind.dims, order, None, kind.device)
        for kind, order in zip(types, orders, strict=True)
    ]


def _zeros(value: SymbolicTensor, sizes: Mapping[str, int]) -> torch.Tensor:
    kind = value.kind
    dims = [evaluate(d, sizes) for d in kind.dims]
    strides = [evaluate(s, sizes) for s in kind.element_strides()]
    made = torch.empty_strided(dims, strides, dtype=value.dtype, device=kind.device)
    return made.zero_() if made.numel() and 0 not in strides else made
