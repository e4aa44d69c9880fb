"""-0.0 at a bound stays -0.0, and NaN stays NaN, as in eager."""

import pytest
import torch
import torch.nn.functional as F

import astjit


def relu6(x):
    return F.relu6(x)


def clamp(x):
    return torch.clamp(x, 0, 2.5)


def clamp_by_tensors(x):
    return torch.clamp(x, x * 0, x * 0 + 1)


@pytest.mark.parametrize("function", [relu6, clamp, clamp_by_tensors])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_clamp(function, dtype):
    special = [-0.0, 0.0, 2.5, 6.0, float("nan"), float("inf"), -float("inf"), 1e-40, -3.0]
    x = torch.tensor(special * 9, dtype=dtype)
    got, want = astjit.compile(function, fullgraph=True)(x), function(x)
    assert torch.equal(got.isnan(), want.isnan())
    assert torch.equal(got.nan_to_num(7.0), want.nan_to_num(7.0))
    numbers = ~want.isnan()
    assert torch.equal(got[numbers].signbit(), want[numbers].signbit())
