"""Tensors put together, padded and turned; their values are checked in test_table.py."""

import pytest

from astjit.ops.table import OPS
from astjit.types.dtype import BF16, F32, I64
from astjit.types.shape import Sym
from astjit.types.tensor import TensorType
from tests.ops import rows

N = Sym("n")
X = TensorType(F32, (N, 4))


def test_sizes_add_up():
    assert (
        str(rows.infer(OPS["cat"], [X, TensorType(BF16, (3, 4))], {"dim": 0})[0]) == "f32[n + 3, 4]"
    )
    assert str(rows.infer(OPS["stack"], [X, X], {"dim": 1})[0]) == "f32[n, 2, 4]"
    padded = rows.infer(OPS["pad"], [X, TensorType(F32, ())], {"pad": (1, 2, N, 0)})
    assert str(padded[0]) == "f32[2*n, 7]"
    assert str(rows.infer(OPS["flip"], [X], {"dims": (0, -1)})[0]) == "f32[n, 4]"


@pytest.mark.parametrize(
    ("name", "kinds", "fields"),
    [
        ("pad", [X, TensorType(F32, ())], {"pad": (1,)}),
        ("pad", [X, TensorType(F32, ())], {"pad": (-1, 0)}),
        ("pad", [TensorType(I64, (2, 3), (1, 0)), TensorType(I64, ())], {"pad": (1, 0)}),
        ("flip", [X], {"dims": (0, -2)}),
    ],
)
def test_what_is_left_to_pytorch(name, kinds, fields):
    with pytest.raises((TypeError, ValueError)):
        rows.infer(OPS[name], kinds, fields)
