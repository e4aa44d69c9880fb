"""Arithmetic by torch's other names: bit for bit what eager gives, or left to it."""

import pytest
import torch

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
    is_operand,
    values,
)

REVERSED = ["__radd__", "__rsub__", "__rmul__", "__rtruediv__", "__rfloordiv__", "__rmod__"]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", REVERSED)
def test_reversed_operators(name, dtype):
    if name == "__rfloordiv__" and dtype in (HALF, BRAIN):
        assert captured(f"Tensor.{name}", values(dtype), 2.7) is None
    else:
        assert_same(f"Tensor.{name}", values(dtype), 2.7)


def test_a_number_by_a_tensor_has_two_roundings():
    """As torch's own operator; run by torch the two ways to write it cannot be told apart."""
    emit = rows.TorchEmitter()
    bind("Tensor.__rtruediv__", (values(SINGLE), 2.7), {}, is_operand).build(emit, emit.value)
    assert emit.names == ["reciprocal", "mul"]


@pytest.mark.parametrize("name", ["__rand__", "__ror__", "__rxor__"])
def test_reversed_bit_operators(name):
    assert_same(f"Tensor.{name}", torch.arange(-5, 9), 6)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("exponent", [0.5, -0.5, 1, 2, 3, -1, -2, 1.7, 2.0, 4])
def test_powers_by_a_number(exponent, dtype):
    assert_same("Tensor.__pow__", values(dtype), exponent)


def test_powers_of_integers_are_products_or_left_to_torch():
    for exponent in (2, 3, 5, 16):
        assert_same("torch.pow", torch.arange(-4, 5), exponent)
        assert_same("torch.pow", torch.arange(-4, 5, dtype=torch.int8), exponent)
    assert captured("torch.pow", torch.arange(-4, 5), 17) is None
    assert captured("torch.pow", torch.arange(-4, 5), 0) is None
    assert captured("torch.pow", torch.arange(1, 5), 0.5) is None
    assert captured("torch.pow", torch.tensor([True]), 2) is None
    assert captured("torch.pow", values(SINGLE), 0) is None


def test_powers_by_tensors_and_of_numbers():
    x = values(SINGLE).abs()
    assert_same("torch.pow", x, x.flip(0))
    assert_same("Tensor.__rpow__", x, 2.5)
    assert captured("Tensor.__rpow__", torch.arange(4), 2) is None


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", ["remainder", "fmod", "floor_divide"])
def test_division_of_floats(name, dtype):
    x, y = values(dtype, 5000), values(dtype, 5000, seed=1).flip(0)
    for other in (y, 2.5, -0.75, 0.1, torch.tensor(0.1), torch.tensor(0.1, dtype=DOUBLE)):
        assert_same(f"torch.{name}", x, other)


@pytest.mark.parametrize("name", ["remainder", "fmod", "floor_divide"])
def test_division_of_integers_is_by_a_number_or_can_fail_and_is_left_to_torch(name):
    for dtype in (torch.int64, torch.int8, torch.uint8):
        assert_same(f"torch.{name}", torch.arange(5).to(dtype), 2)
    assert_same(f"torch.{name}", torch.arange(-9, 9), -4)
    for number in (0, -1, True, 300):
        assert captured(f"torch.{name}", torch.arange(5, dtype=torch.int8), number) is None
    assert captured(f"torch.{name}", torch.arange(5), torch.arange(5)) is None


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("mode", ["floor", "trunc"])
def test_rounding_modes_of_division(mode, dtype):
    x, y = values(dtype, 5000), values(dtype, 5000, seed=1)
    for other in (y, 0.1, torch.tensor(0.1)):
        assert_same("torch.div", x, other, rounding_mode=mode)
    assert_same("torch.div", torch.arange(-5, 5), 3, rounding_mode=mode)
    assert captured("torch.div", torch.arange(5), torch.arange(5), rounding_mode=mode) is None


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_squares(dtype):
    assert_same("torch.square", values(dtype))
    assert_same("Tensor.__pos__", values(dtype))
