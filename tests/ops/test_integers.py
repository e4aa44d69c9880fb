"""Shifts by any count, and which divisions of integers are rows."""

import pytest
import torch

from astjit.ops.integers import divisible
from astjit.ops.table import OPS
from astjit.types.dtype import BOOL, F32, I8, U8
from astjit.types.tensor import TensorType
from tests.ops import rows
from tests.ops.calls import assert_same


@pytest.mark.parametrize("dtype", [torch.int64, torch.int16, torch.uint8], ids=str)
def test_shifts(dtype):
    x = torch.arange(0, 20).to(dtype)
    for name in ("bitwise_left_shift", "bitwise_right_shift", "__lshift__", "__rshift__"):
        assert_same(f"Tensor.{name}", x, 3)
        assert_same(f"Tensor.{name}", x, x)
    assert_same("Tensor.__rlshift__", x % 4, 3)


@pytest.mark.parametrize("name", ["bitwise_left_shift", "bitwise_right_shift"])
def test_only_integers_are_shifted(name):
    for kind in ("f32[3]", "bool[3]"):
        with pytest.raises(TypeError):
            rows.infer(OPS[name], [rows.parse(kind), rows.parse(kind)], {})


def test_what_divides_without_a_check():
    x = rows.TorchValue(None, TensorType(I8, (3,)))
    assert [n for n in (-129, -128, -1, 0, 1, 2, 127, 128, True, 2.0) if divisible(x, n)] == [
        -128, 1, 2, 127
    ]  # fmt: skip
    for dtype, fine in ((U8, True), (F32, False), (BOOL, False)):
        assert divisible(rows.TorchValue(None, TensorType(dtype, (3,))), 2) == fine
    assert not divisible(x, x)
