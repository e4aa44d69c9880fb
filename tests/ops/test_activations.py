"""Activations: which calls they are, at the edges, and what stays PyTorch's."""

import math

import pytest
import torch

from tests.ops.calls import BRAIN, DOUBLE, FLOATS, HALF, SINGLE, assert_same, captured, values

F = "torch.nn.functional."


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_calls_that_are_rows(dtype):
    x = values(dtype)
    for name, args in (
        ("elu", (0.5,)),
        ("celu", (0.5,)),
        ("selu", ()),
        ("hardsigmoid", ()),
        ("hardswish", ()),
        ("hardshrink", (0.7,)),
        ("softshrink", (0.7,)),
        ("_threshold", (0.1, 5.0)),
        ("softsign", ()),
        ("tanhshrink", ()),
        ("rrelu", ()),
    ):
        assert_same(f"{F}{name}", x, *args)


def test_bounds_that_raise_in_eager_are_left_to_it():
    half = values(HALF)
    assert captured(f"{F}hardshrink", half, 1e5) is None
    assert captured(f"{F}_threshold", half, 1e5, 0.0) is None
    for bound in (-1.0, math.inf, 1e5):
        assert captured(f"{F}softshrink", half, bound) is None
    assert captured(f"{F}celu", half, 0.0) is None
    for name in ("hardtanh",):
        assert captured(f"{F}{name}", half, -1e5, 1e5) is None
    assert captured("torch.clamp", torch.ones(3, dtype=torch.uint8), max=300) is None
    assert captured("torch.full_like", half, 1e5) is None
    assert captured("Tensor.masked_fill", half, half > 0, 1e5) is None


@pytest.mark.parametrize("dtype", [SINGLE, BRAIN], ids=str)
def test_a_weight_for_each_channel(dtype):
    x = values(dtype)[10:].reshape(5, 4, 25)
    assert_same(f"{F}prelu", x, torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=dtype))
    assert_same(f"{F}prelu", x, torch.tensor([0.1], dtype=dtype))
    assert captured(f"{F}prelu", x, torch.ones(5, dtype=dtype)) is None
    assert captured(f"{F}prelu", x, torch.ones(4, dtype=DOUBLE)) is None


def test_nothing_is_dropped_but_in_training():
    x = values(SINGLE)
    assert captured(f"{F}dropout", x, 0.5, False)[0] is x
    assert captured(f"{F}dropout", x, 0.5, True) is None
    assert captured(f"{F}rrelu", x, training=True) is None


def test_only_an_even_size_is_halved():
    with pytest.raises(RuntimeError, match="must be even"):
        captured(f"{F}glu", torch.ones(3, 4), 0)
