import itertools

import pytest
import torch

from astjit.frontend.layouts import dense_order, dtype_of, input_type
from astjit.types.dtype import BF16, F32


def kind(tensor, prefix="x"):
    return str(input_type(tensor, F32, prefix, lambda name: name))


@pytest.mark.parametrize(
    ("tensor", "shown"),
    [
        (torch.empty(3, 4), "f32[x0, x1]"),
        (torch.empty(1, 4), "f32[1, x1]"),
        (torch.empty(()), "f32[]"),
        (torch.empty(0, 4), "f32[x0, x1]"),
        (torch.empty(4, 0), "f32[x0, x1]"),
        (torch.empty(3, 4).t(), "f32[x0, x1] order(1,0)"),
        (torch.empty(2, 3, 4).permute(2, 0, 1), "f32[x0, x1, x2] order(1,2,0)"),
        (torch.empty(3, 8)[:, ::2], "f32[x0, x1] strides(x_stride0,x_stride1)"),
        (torch.empty(3, 8)[:, :4], "f32[x0, x1] strides(x_stride0,1)"),
        (torch.empty(3, 1).expand(3, 4), "f32[x0, x1] strides(1,0)"),
        (torch.empty(2, 8)[:1, :4], "f32[1, x1]"),
    ],
)
def test_the_type_of_an_input(tensor, shown):
    assert kind(tensor) == shown


def test_symbols_carry_the_sizes_of_this_call():
    made = input_type(torch.empty(3, 8)[:, ::2], F32, "w", lambda name: f"{name}_")
    assert [(s.name, s.hint) for s in made.dims] == [("w0_", 3), ("w1_", 4)]
    assert [(s.name, s.hint) for s in made.strides] == [("w_stride0_", 8), ("w_stride1_", 2)]


def test_the_order_is_found_for_every_permutation():
    for axes in itertools.permutations(range(4)):
        dense = torch.empty(2, 3, 4, 5).permute(axes)
        order = dense_order(dense.shape, dense.stride())
        assert dense.permute(order).is_contiguous()


def test_a_gap_is_not_dense():
    assert dense_order((3, 4), (5, 1)) is None
    assert dense_order((3, 4), (0, 1)) is None


def test_element_types():
    assert dtype_of(torch.empty(1, dtype=torch.bfloat16)) is BF16
    assert dtype_of(torch.empty(1, dtype=torch.complex64)) is None
