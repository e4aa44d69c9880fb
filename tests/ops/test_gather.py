"""Reads at an index that is a value."""

import pytest

from astjit.ops.table import OPS
from astjit.types.dtype import F32, I32, I64
from astjit.types.shape import Sym
from astjit.types.tensor import TensorType
from tests.ops import rows

SELECT = OPS["index_select"]
X = TensorType(F32, (Sym("n"), 4))


def test_the_axis_has_as_many_elements_as_there_are_indices():
    for index, wanted in (
        (TensorType(I64, (Sym("k"),)), "f32[k, 4]"),
        (TensorType(I32, (3,)), "f32[3, 4]"),
        (TensorType(I64, ()), "f32[1, 4]"),
    ):
        assert str(rows.infer(SELECT, [X, index], {"dim": 0})[0]) == wanted
    index = TensorType(I64, (7,))
    assert str(rows.infer(SELECT, [X, index], {"dim": -1})[0]) == "f32[n, 7]"


@pytest.mark.parametrize(
    ("index", "dim"),
    [(TensorType(F32, (3,)), 0), (TensorType(I64, (3, 2)), 0), (TensorType(I64, (3,)), 2)],
)
def test_other_indices_are_refused(index, dim):
    with pytest.raises(IndexError):
        rows.infer(SELECT, [X, index], {"dim": dim})
