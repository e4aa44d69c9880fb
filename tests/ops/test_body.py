"""Rows of kernel bodies: values have rank 0 and the dtype that arithmetic is done in."""

import pytest

from astjit.ops.spec import Call, Kind, Trait
from astjit.ops.table import OPS
from astjit.types.dtype import BF16, F16, F32, F64, I32, I64
from astjit.types.shape import Sizes, Sym
from astjit.types.tensor import PY_INT, TensorType

BODY = {op.name for op in OPS.values() if op.kind is Kind.BODY}


def infer(name, *types, **fields):
    return OPS[name].rule.infer(Call(types, fields, Sizes()))


@pytest.mark.parametrize(
    ("dtype", "wide"), [(F16, F32), (BF16, F32), (F32, F32), (F64, F64), (I32, I32)]
)
def test_a_load_widens_halves(dtype, wide):
    assert infer("load", TensorType(dtype, (3, 4)), at="rows,cols") == (TensorType(wide, ()),)


def test_a_store_gives_nothing_and_is_never_removed():
    x = TensorType(F32, ())
    assert infer("store", TensorType(BF16, (3,)), x, at="rows") == ()
    assert Trait.EFFECT in OPS["store"].traits
    assert [n for n in BODY if Trait.EFFECT in OPS[n].traits] == ["store"]


def test_reduce_and_rounding_keep_the_type():
    x = TensorType(F32, ())
    assert infer("reduce", x, combine="sum") == (x,)
    assert infer("round_to", x, dtype=BF16) == (x,)


def test_a_size_is_a_python_int():
    assert infer("size", value=Sym("rows")) == (PY_INT,)


def test_an_element_has_no_device_and_its_table_s_dtype():
    table, at = TensorType(BF16, (3, 4), device="cuda:0"), TensorType(I64, ())
    assert infer("element", table, at, PY_INT) == (TensorType(BF16, ()),)
    with pytest.raises(TypeError, match="1 indices for a tensor of rank 2"):
        infer("element", table, at)
    with pytest.raises(TypeError, match="an index must be i64"):
        infer("element", table, at, TensorType(F32, ()))


def test_divisions_that_may_fail():
    assert infer("floordiv", TensorType(I64, ()), PY_INT) == (TensorType(I64, ()),)
    with pytest.raises(TypeError, match="must be i64"):
        infer("modulo", TensorType(I32, ()), PY_INT)
