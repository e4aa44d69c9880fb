"""Rows with regions take their types from the regions' signatures."""

import pytest

from astjit.ops.spec import Call
from astjit.ops.table import OPS
from astjit.types.dtype import BOOL, F16, F32
from astjit.types.shape import Sizes, Sym
from astjit.types.tensor import PY_INT, TensorType

X, Y, FLAG = TensorType(F32, (3,)), TensorType(F32, (4,)), TensorType(BOOL, ())
ELEMENT, HALF = TensorType(F32, ()), TensorType(F16, ())


def infer(name, types, regions, **fields):
    return OPS[name].rule.infer(Call(types, fields, Sizes(), regions=regions))


def test_both_arms_of_an_if_yield_the_result():
    assert infer("if", (FLAG,), (((), (X, Y)), ((), (X, Y)))) == (X, Y)
    with pytest.raises(TypeError, match=r"the arms yield \(f32\[3\]\) and \(f32\[4\]\)"):
        infer("if", (FLAG,), (((), (X,)), ((), (Y,))))
    with pytest.raises(TypeError, match="the condition must be bool"):
        infer("if", (X,), (((), (X,)), ((), (X,))))


def test_a_loop_carries_and_stacks():
    n = Sym("n")
    made = infer("for", (X,), (((PY_INT, X), (X, Y)),), trip=n)
    assert [str(t) for t in made] == ["f32[3]", "f32[n, 4]"]
    with pytest.raises(TypeError, match="the body takes"):
        infer("for", (X,), (((PY_INT, Y), (X,)),), trip=n)
    with pytest.raises(TypeError, match="the body yields"):
        infer("for", (X,), (((PY_INT, X), (Y,)),), trip=n)
    with pytest.raises(TypeError, match="only tensors"):
        infer("for", (X,), (((PY_INT, X), (X, PY_INT)),), trip=n)


def test_a_map_has_the_shape_of_its_operands_and_the_dtype_of_its_body():
    (made,) = infer("map", (X, X), (((ELEMENT, ELEMENT), (HALF,)),))
    assert str(made) == "f16[3]"
    with pytest.raises(TypeError, match="the body takes 1 values, there are 2"):
        infer("map", (X, X), (((ELEMENT,), (HALF,)),))
