"""Where extremes are: types, the order of floats, and keys."""

import pytest
import torch

from astjit.ops.table import OPS
from astjit.types.dtype import BOOL, F32, F64, I64
from astjit.types.shape import Sym
from astjit.types.tensor import TensorType
from tests.ops import rows
from tests.ops.calls import captured

X = TensorType(F32, (Sym("n"), 4))


def test_types():
    assert str(rows.infer(OPS["argmax"], [X], {"dim": None})[0]) == "i64[]"
    assert str(rows.infer(OPS["argmin"], [X], {"dim": 1, "keepdim": True})[0]) == "i64[n, 1]"
    kinds = rows.infer(OPS["max_along"], [X], {"dim": 0, "keepdim": False})
    assert [str(k) for k in kinds] == ["f32[4]", "i64[4]"]


def test_what_is_refused():
    for kind, error in (
        (TensorType(BOOL, (3,)), TypeError),
        (TensorType(F32, (3, 0)), IndexError),
    ):
        with pytest.raises(error):
            rows.infer(OPS["argmax"], [kind], {"dim": -1})
    with pytest.raises(TypeError):
        rows.infer(OPS["order"], [TensorType(F64, (3,))], {})
    with pytest.raises(TypeError):
        rows.infer(OPS["float_of"], [X], {})
    assert str(rows.infer(OPS["float_of"], [TensorType(I64, (3,))], {})[0]) == "f32[3]"


def test_the_order_of_floats():
    x = torch.tensor([-torch.inf, -3e38, -1.0, -1e-45, -0.0, 1e-45, 1.0, torch.inf])
    (order,) = rows.run(OPS["order"], [x], {})
    assert (order.diff() > 0).all()
    assert rows.run(OPS["order"], [torch.tensor(0.0)], {})[0] == order[4] == 0
    assert torch.equal(rows.run(OPS["float_of"], [order], {})[0], x)


def test_calls_that_are_rows():
    x = torch.tensor([[1.0, 2.0], [2.0, -0.0]])
    (found,) = captured("torch.argmax", x, 0)
    assert found.tolist() == [1, 0]
    values, places = captured("Tensor.min", x, dim=1, keepdim=True)
    assert values.tolist() == [[1.0], [0.0]]
    assert places.tolist() == [[0], [1]]
    assert captured("torch.argmax", torch.tensor(1.0)) is None
