"""Functions made of other rows: which calls they are, and what stays PyTorch's."""

import pytest
import torch

from astjit.ops.table import OPS
from tests.ops import rows
from tests.ops.calls import BRAIN, DOUBLE, FLOATS, SINGLE, assert_same, captured, eager, values


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(
    "name", ["isposinf", "isneginf", "nan_to_num", "deg2rad", "rad2deg", "fix", "signbit"]
)
def test_of_one_operand(name, dtype):
    assert_same(f"torch.{name}", values(dtype))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_nan_to_num_with_numbers(dtype):
    assert_same("torch.nan_to_num", values(dtype), 1.0, posinf=2.5, neginf=-2.5)
    assert_same("torch.nan_to_num", values(dtype), neginf=-1.0)
    assert_same("torch.nan_to_num", torch.arange(4))


@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE], ids=str)
def test_logits(dtype):
    x = torch.rand(400, dtype=DOUBLE).to(dtype)
    for eps in (None, 1e-3):
        (found,) = captured("torch.logit", x, eps)
        torch.testing.assert_close(found, torch.logit(x, eps))
    assert captured("torch.logit", x.bfloat16()) is None


def test_powers_in_float64():
    x = values(SINGLE).abs()
    assert_same("torch.float_power", x, 2.7)
    assert_same("torch.float_power", x, x)
    assert captured("torch.float_power", x, 2) is None  # eager multiplies
    assert_same("torch.ldexp", x, torch.tensor(3))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_nearness(dtype):
    x = values(dtype)
    y = torch.where(torch.arange(len(x)) % 2 == 0, x, x * 1.001 + 0.001)
    for given in ({}, {"rtol": 0.01}, {"atol": 0.1, "equal_nan": True}, {"rtol": 0.0, "atol": 0.0}):
        assert_same("torch.isclose", x, y, **given)
    assert captured("torch.isclose", x, x.double()) is None or dtype is DOUBLE


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_decimals(dtype):
    x = values(dtype)
    for decimals in (0, 2, -1):
        assert_same("torch.round", x, decimals=decimals)


def test_truth_of_a_wider_number_is_that_of_the_common_dtype():
    x, tiny = torch.ones(3), torch.tensor(1e-60, dtype=DOUBLE)
    for name in ("logical_and", "logical_or", "logical_xor"):
        assert_same(f"torch.{name}", x, tiny)
        assert_same(f"torch.{name}", x, torch.tensor([0, 1, 2]))
    assert not captured("torch.logical_and", x, tiny)[0].any()


def test_heaviside_wants_one_dtype():
    x = values(BRAIN)
    (found,) = captured("torch.heaviside", x, x)
    assert torch.equal(found[3:7], eager("torch.heaviside", x, x)[0][3:7])
    with pytest.raises(TypeError):
        rows.infer(OPS["heaviside"], [rows.parse("f32[3]"), rows.parse("i64[3]")], {})
