"""A compiled function raises what eager raises, and keeps the dtypes that eager keeps."""

import warnings

import pytest
import torch
from torch.nn import functional

import astjit


def minus(x, y):
    return x - y


def plus(x):
    return +x


def limited(x):
    return functional.hardtanh(x), functional.relu6(x)


TRUTH = torch.tensor([True, False])


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (TRUTH, TRUTH),
        (TRUTH, torch.ones(2)),
        (torch.ones(2), TRUTH),
        (torch.arange(2), True),
        (1, TRUTH),
    ],
)
def test_subtracting_a_bool_raises_as_in_eager(x, y):
    with pytest.raises(RuntimeError) as wanted:
        minus(x, y)
    compiled = astjit.compile(minus)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", astjit.AstjitWarning)
        with pytest.raises(RuntimeError) as got:
            compiled(x, y)
    assert str(got.value) == str(wanted.value)


def test_plus_of_a_bool_raises_as_in_eager():
    with pytest.raises(RuntimeError, match="bool tensor is not supported"):
        astjit.compile(plus)(TRUTH)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8, torch.float32])
def test_limits_keep_the_dtype(dtype):
    x = torch.arange(-3, 9).to(dtype)
    for got, wanted in zip(astjit.compile(limited)(x), limited(x), strict=True):
        assert got.dtype is wanted.dtype
        assert torch.equal(got, wanted)
