"""Arrangements of rows give eager's results bit for bit, in eager's layout."""

import pytest
import torch
import torch.nn.functional as F

from astjit.ops.binding import bind
from tests.ops import rows
from tests.ops.calls import (
    BRAIN,
    DOUBLE,
    FLOATS,
    HALF,
    SINGLE,
    assert_same,
    captured,
    convert,
    eager,
    is_operand,
    values,
)


@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes_by_their_overloads(name):
    x, y = values(SINGLE), values(SINGLE, seed=1)
    assert_same(f"torch.{name}", x)
    assert_same(f"torch.{name}", torch.arange(6).reshape(2, 3))
    assert_same(f"Tensor.{name}", x, y)
    assert_same(f"Tensor.{name}", x, 0)  # values and indices along dim 0
    assert_same(f"Tensor.{name}", x, dim=0)
    assert_same(f"Tensor.{name}", x.double(), 0)


@pytest.mark.parametrize("name", ["any", "all"])
@pytest.mark.parametrize("kwargs", [{}, {"dim": 0}, {"dim": (0, 1)}, {"dim": 1, "keepdim": True}])
def test_truth_of_any_dtype(name, kwargs):
    for x in (torch.eye(3), torch.eye(3, dtype=torch.bool), torch.ones(2, 3, dtype=torch.int32)):
        assert_same(f"torch.{name}", x, **kwargs)
    assert captured(f"torch.{name}", torch.ones(2, 3, dtype=torch.uint8), **kwargs) is None


def test_products():
    x = values(SINGLE, 12)[10:].reshape(3, 4)
    assert_same("torch.prod", x, 1)
    assert_same("torch.prod", x, 0, keepdim=True, dtype=DOUBLE)
    assert_same("torch.prod", x.to(torch.int32))
    assert captured("torch.prod", x.t()) is None


@pytest.mark.parametrize("name", ["var", "std"])
def test_variances_by_their_older_signatures(name):
    x = values(DOUBLE)[10:].reshape(50, 10)
    for args, kwargs in [
        ((False,), {}),
        ((1, False), {}),
        ((), {"unbiased": False}),
        ((), {"dim": 1, "unbiased": True, "keepdim": True}),
        ((0,), {"correction": 0}),
    ]:
        (found,), (wanted,) = (
            captured(f"torch.{name}", x, *args, **kwargs),
            eager(f"torch.{name}", x, *args, **kwargs),
        )
        torch.testing.assert_close(found, wanted, rtol=1e-13, atol=0)
    assert captured(f"torch.{name}", x, 1, correction=1.5) is None


CASTS = ["float", "double", "half", "bfloat16", "long", "int", "short", "char", "byte", "bool"]


@pytest.mark.parametrize("name", CASTS)
def test_casts_by_name(name):
    x = torch.tensor([[0.0, 1.5, 2.75], [3.0, 100.25, 7.0]]).t()
    assert_same(f"Tensor.{name}", x)
    same = getattr(x, name)()
    assert captured(f"Tensor.{name}", same)[0] is same


def test_casts_to_a_dtype_or_like_a_tensor():
    x = torch.tensor([1.5, -2.25])
    assert_same("Tensor.to", x, HALF)
    assert_same("Tensor.to", x, dtype=torch.int64)
    assert_same("Tensor.to", x, torch.ones(2, dtype=DOUBLE))
    assert_same("Tensor.type_as", x, torch.ones(2, dtype=BRAIN))
    assert captured("Tensor.to", x, "cpu") is None
    assert captured("Tensor.to", x, HALF, copy=True) is None


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_selections(dtype):
    x = values(dtype)
    mask = x > 0
    assert_same("Tensor.where", x, mask, 0.1)
    assert_same("Tensor.masked_fill", x, mask, 0.1)
    assert_same("torch.masked_fill", x, mask, torch.tensor(0.1).to(dtype))
    assert_same("torch.clamp_min", x, 0.1)
    assert_same("Tensor.clamp_max", x, 0.1)
    assert_same("torch.nn.functional.relu6", x)
    assert_same("torch.nn.functional.hardtanh", x, -0.3, 0.3)


def test_a_fill_value_of_a_higher_category_is_left_to_torch():
    x = torch.arange(4)
    assert captured("Tensor.masked_fill", x, x > 1, 0.5) is None


def test_a_fill_value_that_may_not_fit_is_left_to_torch():
    x = torch.arange(4).half()
    assert captured("Tensor.masked_fill", x, x > 1, torch.tensor(0.5)) is None
    assert_same("Tensor.masked_fill", x.double(), x > 1, torch.tensor(0.5))


@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE], ids=str)
@pytest.mark.parametrize("eps", [None, 1e-5])
def test_rms_norm(dtype, eps):
    x = values(dtype)[10:].reshape(2, 5, 50)
    (found,) = captured("torch.nn.functional.rms_norm", x, (50,), torch.ones(50, dtype=dtype), eps)
    wanted = F.rms_norm(x, (50,), torch.ones(50, dtype=dtype), eps)
    torch.testing.assert_close(found, wanted, rtol=0, atol=0)


def test_rms_norm_takes_the_eps_of_the_type_it_computes_in():
    x = torch.full((1, 4), 2e-4)
    for dtype, eps in ((HALF, 2.0**-23), (BRAIN, 2.0**-23), (SINGLE, 2.0**-23), (DOUBLE, 2.0**-52)):
        bound = bind("torch.rms_norm", (x.to(dtype), (4,)), {}, is_operand, convert)
        emit = rows.TorchEmitter()
        given = []
        emit.emit = lambda name, *operands, **fields: given.append(operands)  # noqa: B023
        bound.build(emit, emit.value)
        assert given[0][2] == eps


def test_softmax_of_the_functional_module():
    x = values(SINGLE)[10:].reshape(20, 25)
    for name in ("softmax", "log_softmax", "softmin"):
        assert_same(f"torch.nn.functional.{name}", x, -1)
        assert_same(f"torch.nn.functional.{name}", x, dim=0, dtype=DOUBLE)
        assert captured(f"torch.nn.functional.{name}", x) is None  # an implicit dim warns
