"""Torch calls as rows: captured, run through torch, and compared with eager bit for bit."""

import torch
import torch.nn.functional as F

from astjit.ops.binding import bind
from astjit.types.dtype import BY_TORCH
from tests.ops import rows

HALF, BRAIN, SINGLE, DOUBLE = torch.float16, torch.bfloat16, torch.float32, torch.float64
FLOATS = (SINGLE, HALF, BRAIN, DOUBLE)
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, float("inf"), float("-inf"), float("nan"), 3.0, -7.25]


def convert(kind, value):
    if isinstance(value, torch.dtype):
        return BY_TORCH[str(value).removeprefix("torch.")]
    return value


def is_operand(value):
    return isinstance(value, torch.Tensor | int | float)


def captured(name, *args, **kwargs):
    """What the rows give for a torch call, run through torch; None for a library call."""
    bound = bind(name, args, kwargs, is_operand, convert)
    if bound is None:
        return None
    emit = rows.TorchEmitter()
    made = bound.build(emit, emit.value)
    return None if made is NotImplemented else [v.data for v in as_list(made)]


def as_list(value):
    return list(value) if isinstance(value, tuple | list) else [value]


def eager(name, *args, **kwargs):
    homes = {"functional": F, "Tensor": torch.Tensor, "linalg": torch.linalg, "torch": torch}
    scope = homes.get(name.split(".")[-2], torch)
    return as_list(getattr(scope, name.rsplit(".", 1)[1])(*args, **kwargs))


def assert_same(name, *args, **kwargs):
    found, wanted = captured(name, *args, **kwargs), eager(name, *args, **kwargs)
    assert found is not None, "a library call"
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        assert rows.layout(a.shape, a.stride()) == rows.layout(b.shape, b.stride())
        torch.testing.assert_close(a, b, rtol=0, atol=0, equal_nan=True)


def values(dtype, count=500, seed=0):
    x = torch.randn(count, generator=torch.Generator().manual_seed(seed), dtype=DOUBLE) * 3
    return torch.cat([torch.tensor(SPECIAL, dtype=DOUBLE), x]).to(dtype)
