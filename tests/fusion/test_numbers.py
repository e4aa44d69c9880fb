"""Python numbers as an element type holds them, against PyTorch's conversions."""

import math

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from astjit.fusion.numbers import converted
from astjit.ir.value import Literal
from astjit.types.dtype import BF16, BOOL, F16, F32, F64, I8, I32, U8


@given(st.floats())
@example(1 + 2.0**-24)
@example(1 + 2.0**-8)
@example(0.044715)
@example(65519.99)
@example(1e39)
@example(-1e-46)
@pytest.mark.parametrize("dtype", [F16, BF16, F32, F64])
def test_a_float_means_what_it_means_to_torch(dtype, value):
    wanted = torch.tensor(value, dtype=torch.float64).to(getattr(torch, dtype.torch))
    found = converted(value, dtype).value
    made = torch.tensor(found, dtype=torch.float64).to(wanted.dtype)
    assert torch.equal(made, wanted) or (math.isnan(found) and math.isnan(wanted))
    if dtype is not F64 and found:
        assert math.isnan(found) or torch.tensor(found, dtype=torch.float32) == wanted
        assert math.copysign(1, found) == math.copysign(1, value)


def test_the_shortest_decimal_is_kept():
    assert repr(converted(0.044715, F32).value) == "0.044715"
    assert repr(converted(0.1, F32).value) == "0.1"
    assert repr(converted(1 / 3, F32).value) == "0.33333334"


@pytest.mark.parametrize(
    ("value", "dtype", "wanted"),
    [(300, I8, 44), (200, U8, 200), (-1, U8, 255), (2**31, I32, -(2**31)), (2, F32, 2.0)],
)
def test_integers_wrap(value, dtype, wanted):
    assert converted(value, dtype) == Literal(wanted)


def test_bools():
    assert converted(2, BOOL) == Literal(True)
    assert converted(True, I32) == Literal(1)
