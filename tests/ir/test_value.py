import math

import pytest

from astjit.ir.value import Literal, Param, tensor_type
from astjit.types.dtype import F32
from astjit.types.tensor import PY_BOOL, PY_FLOAT, PY_INT, TensorType


def test_a_literal_is_its_number_and_its_type():
    assert Literal(2.5) == Literal(2.5)
    assert Literal(math.nan) == Literal(float("nan"))
    different = [Literal(v) for v in (0, 0.0, -0.0, False, 1, 1.0, True)]
    assert len(set(different)) == len(different)


def test_the_type_of_a_literal():
    assert [Literal(v).type for v in (True, 1, 1.0)] == [PY_BOOL, PY_INT, PY_FLOAT]


def test_params_are_told_apart_by_identity():
    kind = TensorType(F32, (4,))
    assert Param(kind, "x") != Param(kind, "x")


def test_tensor_type_of_a_number_is_refused():
    assert tensor_type(Param(TensorType(F32, (4,)))).dims == (4,)
    with pytest.raises(TypeError, match="expected a tensor, not a Python float"):
        tensor_type(Literal(1.0))
