"""Factories: the dtype of a fill value, and which `*_like` calls are rows."""

import pytest
import torch

from astjit.ops.binding import bind
from astjit.ops.spec import Call
from astjit.ops.table import OPS
from astjit.types.dtype import BOOL, F16, F32, F64, I64
from astjit.types.shape import Sizes, Sym
from astjit.types.tensor import PY_BOOL, PY_FLOAT, PY_INT, TensorType
from tests.ops import rows

FULL = OPS["full"]


def test_the_dtype_follows_the_value_unless_given():
    fields = {"size": (2, Sym("n")), "dtype": None, "device": "cpu"}
    for value, default, wanted in (
        (PY_BOOL, F32, BOOL),
        (PY_INT, F32, I64),
        (PY_FLOAT, F32, F32),
        (PY_FLOAT, F64, F64),
    ):
        call = Call((value,), fields, Sizes(), default)
        assert str(FULL.rule.infer(call)[0]) == f"{wanted}[2, n]"
    call = Call((PY_INT,), {**fields, "dtype": F16}, Sizes())
    assert str(FULL.rule.infer(call)[0]) == "f16[2, n]"
    assert FULL.rule.computes(call) == (F32,)
    with pytest.raises(TypeError, match="fill value"):
        FULL.rule.infer(Call((TensorType(F32, ()),), fields, Sizes()))


@pytest.mark.parametrize(
    ("name", "args"), [("zeros_like", ()), ("ones_like", ()), ("full_like", (2.5,))]
)
def test_like_a_tensor(name, args):
    for x in (torch.ones(2, 3), torch.ones(2, 0, dtype=torch.int64), torch.tensor(True)):
        bound = bind(f"torch.{name}", (x, *args), {}, lambda v: True)
        emit = rows.TorchEmitter()
        made = bound.build(emit, emit.value).data
        wanted = getattr(torch, name)(x, *args)
        assert made.dtype == wanted.dtype
        assert torch.equal(made, wanted)
    turned = torch.ones(2, 3).t()
    bound = bind(f"torch.{name}", (turned, *args), {}, lambda v: True)
    emit = rows.TorchEmitter()
    assert bound.build(emit, emit.value) is NotImplemented  # keeps the layout: torch's own
    assert bind(f"torch.{name}", (turned, *args), {"device": "meta"}, lambda v: True) is None
