import pytest
import torch

from astjit.types.dtype import BF16, F32, Category
from astjit.types.shape import Sym, mul
from astjit.types.tensor import PY_BOOL, PY_FLOAT, PY_INT, ScalarType, TensorType

A, B = Sym("a"), Sym("b")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (TensorType(F32, (A, 4)), "f32[a, 4]"),
        (TensorType(BF16, ()), "bf16[]"),
        (TensorType(F32, (A, B), (1, 0)), "f32[a, b] order(1,0)"),
        (TensorType(F32, (A, B), None, (Sym("s"), 1)), "f32[a, b] strides(s,1)"),
        (TensorType(F32, (A,), device="cuda:0"), "f32[a] @cuda:0"),
        (PY_FLOAT, "float"),
        (PY_INT, "int"),
        (PY_BOOL, "bool"),
    ],
)
def test_text(kind, text):
    assert str(kind) == text


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0)])
def test_strides_of_an_order_are_those_of_the_permuted_tensor(order):
    sizes = (2, 3, 5)
    inverse = sorted(range(3), key=order.__getitem__)
    dense = torch.empty([sizes[a] for a in order]).permute(inverse)
    kind = TensorType(F32, sizes, order)
    assert dense.shape == sizes
    assert kind.element_strides() == dense.stride()
    assert kind.is_contiguous == dense.is_contiguous()


def test_symbolic_strides_are_products_of_sizes():
    assert TensorType(F32, (A, B, 3)).element_strides() == (mul(3, B), 3, 1)
    assert TensorType(F32, (A, B, 3)).numel == mul(3, A, B)


def test_an_axis_of_size_one_does_not_spoil_contiguity():
    assert TensorType(F32, (A, 1, B), (1, 0, 2)).is_contiguous
    assert not TensorType(F32, (A, 2, B), (1, 0, 2)).is_contiguous
    assert not TensorType(F32, (A,), None, (2,)).is_contiguous


def test_dense_in_axis_order_is_the_default():
    assert TensorType(F32, (A, B)) == TensorType(F32, (A, B), (0, 1))
    assert TensorType(F32, (A, B)) != TensorType(F32, (A, B), (1, 0))


def test_with_keeps_layout_and_device_unless_sizes_change():
    kind = TensorType(F32, (A, B), (1, 0), device="cuda:0")
    assert str(kind.with_(dtype=BF16)) == "bf16[a, b] order(1,0) @cuda:0"
    assert str(kind.with_(dims=(B, 2))) == "f32[b, 2] @cuda:0"


def test_scalar_types_are_their_category():
    assert [ScalarType(c) for c in Category] == [PY_BOOL, PY_INT, PY_FLOAT]
