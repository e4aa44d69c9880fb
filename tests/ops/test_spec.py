"""The records: what a row answers about itself, and what a call answers to its rule."""

import pytest

from astjit.ops.spec import Call, Field, FieldKind, Kind, Op, Operand, tensor_of, type_of
from astjit.ops.table import OPS
from astjit.types.dtype import F16, F32
from astjit.types.shape import Sizes
from astjit.types.tensor import PY_BOOL, PY_FLOAT, PY_INT, TensorType

X = TensorType(F32, (3,))


class Ref:
    type = X


def test_a_spelling_is_that_of_the_first_language_and_of_the_dtype_first():
    spell = {"c": "c", "cuda": "cuda", "cuda.f64": "double", "c.f64": "never"}
    op = Op(name="x", kind=Kind.ELEMENTWISE, rule=OPS["add"].rule, spell=spell)
    assert op.spelling(("cuda", "c"), "f32") == "cuda"
    assert op.spelling(("cuda", "c"), "f64") == "double"
    assert op.spelling(("cpu", "c"), "f32") == "c"
    assert op.spelling(("py",), "f32") is None


def test_fields_by_name():
    assert OPS["sum"].field("keepdim") == Field("keepdim", FieldKind.BOOL, False)
    assert not OPS["sum"].field("keepdim").required
    assert OPS["softmax"].field("dim").required
    with pytest.raises(KeyError, match="no field 'axis'"):
        OPS["sum"].field("axis")
    assert str(OPS["sum"]) == "sum"


def test_types_of_operands():
    assert [type_of(v) for v in (True, 2, 2.5, None, Ref())] == [
        PY_BOOL,
        PY_INT,
        PY_FLOAT,
        None,
        X,
    ]
    assert tensor_of(Ref()) is X
    for value in (2, None):
        with pytest.raises(TypeError, match="expected a tensor"):
            tensor_of(value)


def test_a_call_reads_its_fields():
    fields = {"n": 3, "b": True, "a": (1, 0), "none": None, "s": (4, 5), "d": F16}
    call = Call((X, PY_INT), fields, Sizes())
    assert call.tensor(0) is X
    assert (call.integer("n"), call.flag("b"), call.axes("a")) == (3, True, (1, 0))
    assert (call.axes("none"), call.dims("s"), call.dtype("d")) == (None, (4, 5), F16)
    assert call.dtype("none") is None
    with pytest.raises(TypeError, match="operand 1 must be a tensor"):
        call.tensor(1)


def test_operands_are_required_unless_they_say_so():
    assert Operand("x") == Operand("x", optional=False, variadic=False)
