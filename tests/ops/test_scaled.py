"""Scaled terms: which calls they are, their types, and what is left to PyTorch."""

import pytest
import torch

from astjit.ops.binding import bind
from astjit.ops.scaled import common_dtype
from astjit.ops.table import OPS
from astjit.types.dtype import BF16, F32, F64
from astjit.types.tensor import TensorType
from tests.ops import rows
from tests.ops.calls import BRAIN, DOUBLE, HALF, captured, convert, eager, is_operand, values


def row_of(name, *args, **kwargs):
    return bind(name, args, kwargs, is_operand, convert).row


def test_alpha_chooses_the_row():
    x = torch.ones(3)
    assert row_of("torch.add", x, x).name == "add"
    assert row_of("torch.add", x, x, alpha=1).name == "add"
    assert row_of("Tensor.add", x, x, alpha=2).name == "add_scaled"
    assert row_of("torch.subtract", x, 1.0, alpha=0.5).name == "sub_scaled"


@pytest.mark.parametrize("dtype", [DOUBLE, torch.int64, torch.int16], ids=str)
def test_terms_are_those_of_eager(dtype):
    x, y = values(torch.float32)[10:].to(dtype), values(torch.float32, seed=1)[10:].to(dtype)
    for name, args, named in (
        ("torch.add", (x, y), {"alpha": 3}),
        ("torch.sub", (x, y), {"alpha": 3}),
        ("torch.rsub", (x, y), {"alpha": 3}),
        ("torch.rsub", (x, 4), {"alpha": 3}),
        ("torch.addcmul", (x, y, y), {"value": 2}),
    ):
        (found,), (wanted,) = captured(name, *args, **named), eager(name, *args, **named)
        torch.testing.assert_close(found, wanted, rtol=1e-14, atol=0)


def test_an_expansion_brings_its_operands_to_the_common_dtype_first():
    """A 0-d operand that is wider than the result is rounded to it, as eager does."""
    x, wide = torch.ones(3), torch.tensor(1 + 2.0**-40, dtype=DOUBLE)
    for name in ("addcmul", "addcdiv"):
        emit = rows.TorchEmitter()
        made = OPS[name].expand(emit, *map(emit.value, (x, x, wide)), 1.0)
        assert made[0].data.dtype is torch.float32
        assert "to" in emit.names
    kinds = [TensorType(BF16, (2,)), TensorType(F64, ())]
    assert common_dtype(*[rows.TorchValue(None, k) for k in kinds]) is BF16
    assert common_dtype(rows.TorchValue(None, TensorType(F32, ())), 2.5) is F32


def test_halves_of_addcmul_are_rounded_once():
    for dtype in (HALF, BRAIN):
        x, y, z = (values(dtype, seed=i)[10:] for i in range(3))
        emit = rows.TorchEmitter()
        (made,) = OPS["addcmul"].expand(emit, *map(emit.value, (x, y, z)), 0.3)
        torch.testing.assert_close(made.data, torch.addcmul(x, y, z, value=0.3), rtol=0, atol=0)


@pytest.mark.parametrize(
    ("name", "types"),
    [
        ("add_scaled", ("i64[3]", "i64[3]", "float")),
        ("addcdiv", ("i64[3]", "i64[3]", "i64[3]", "int")),
        ("lerp", ("f32[3]", "f64[3]", "float")),
        ("lerp", ("i64[3]", "i64[3]", "float")),
    ],
)
def test_what_torch_refuses_is_refused(name, types):
    kinds = [rows.parse(t) for t in types]
    with pytest.raises((TypeError, ValueError)):
        rows.infer(OPS[name], kinds, {})
    with pytest.raises(RuntimeError):
        rows.run(OPS[name], rows.operands_of(OPS[name], kinds), {})
