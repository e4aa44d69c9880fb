"""Norms and normalizations by other rows give eager's results."""

import math

import pytest
import torch

from tests.ops.calls import BRAIN, DOUBLE, HALF, SINGLE, as_list, captured, eager, values

F = "torch.nn.functional."


def assert_near(name, *args, **kwargs):
    found, wanted = captured(name, *args, **kwargs), eager(name, *args, **kwargs)
    assert found is not None, "a library call"
    for a, b in zip(found, as_list(wanted), strict=True):
        assert (a.dtype, a.shape, a.stride()) == (b.dtype, b.shape, b.stride())
        tight = {"rtol": 1e-12, "atol": 1e-13} if a.dtype is DOUBLE else {}
        torch.testing.assert_close(a, b, equal_nan=True, **tight)


@pytest.mark.parametrize("dtype", [DOUBLE, SINGLE, BRAIN], ids=str)
@pytest.mark.parametrize("order", [2, 1, 0, 3, 0.5, math.inf, -math.inf])
def test_norms(order, dtype):
    x = values(dtype)[10:].reshape(4, 5, 25)
    for given in ({"dim": 1}, {"dim": (0, 2), "keepdim": True}, {}):
        assert_near("torch.linalg.vector_norm", x, order, **given)
    assert_near("Tensor.norm", x, order, 1)
    assert_near("torch.norm", x, dim=-1, keepdim=True)
    assert captured("torch.norm", x, "nuc") is None
    with pytest.raises(TypeError):
        captured("torch.linalg.vector_norm", torch.arange(4))


@pytest.mark.parametrize("dtype", [DOUBLE, SINGLE, BRAIN, HALF], ids=str)
def test_to_unit_length(dtype):
    x, y = (values(dtype, seed=i)[10:].reshape(20, 25) for i in range(2))
    assert_near(f"{F}normalize", x)
    assert_near(f"{F}normalize", x, p=1.0, dim=0)
    assert_near(f"{F}cosine_similarity", x, y)
    assert_near("torch.cosine_similarity", x, y, 0, 1e-3)


@pytest.mark.parametrize("dtype", [DOUBLE, SINGLE, BRAIN], ids=str)
@pytest.mark.parametrize("shape", [(25, 20), (5, 4, 25), (5, 4, 5, 5)])
def test_channels(shape, dtype):
    x = values(dtype)[10:].reshape(shape)
    w = torch.linspace(0.5, 2, shape[1], dtype=dtype)
    for weight, bias in ((w, w), (None, None), (w, None)):
        assert_near(f"{F}batch_norm", x, w, w, weight, bias)
        assert_near(f"{F}group_norm", x, 2, weight, bias)
    if len(shape) > 2 and dtype is not BRAIN:
        assert_near(f"{F}instance_norm", x, weight=w, bias=w)
        assert_near(f"{F}instance_norm", x, None, None, eps=0.1)
    elif len(shape) > 2:  # eager rounds the mean: here the result is nearer to float64's
        (found,), wide = captured(f"{F}instance_norm", x, None, None, w, w), w.double()
        exact = torch.nn.functional.instance_norm(x.double(), None, None, wide, wide)
        torch.testing.assert_close(found, exact.to(BRAIN))
    assert captured(f"{F}instance_norm", x, w, w, use_input_stats=False) is None
    assert captured(f"{F}instance_norm", x, weight=w) is None
    assert captured(f"{F}batch_norm", x, w, w, training=True) is None
    with_dims = x.transpose(0, 1)
    assert captured(f"{F}batch_norm", with_dims, w, w) is None
    assert captured(f"{F}group_norm", x, 3, w, w) is None


def test_reductions_that_pass_over_nan_or_zero():
    x = values(SINGLE)[:400].reshape(20, 20)
    x[x.isinf()] = 0.0
    for given in ({}, {"dim": 0}, {"dim": 1, "keepdim": True}):
        assert_near("torch.nansum", x, **given)
        assert_near("torch.nanmean", x, **given)
    for given in ({}, {"dim": 0}, {"dim": (0, 1)}):
        assert_near("torch.count_nonzero", x, **given)
        assert_near("torch.count_nonzero", x > 0, **given)
    assert captured("torch.nansum", torch.arange(4)) is None
