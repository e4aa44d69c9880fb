import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astjit.ir import notation
from astjit.ops.library import Slot
from astjit.ops.spec import FieldKind
from astjit.types.dtype import BF16, F32
from astjit.types.shape import Predicate, Sym, add, mul
from astjit.types.tensor import PY_INT, TensorType

A, B = Sym("a"), Sym("b")


@given(st.one_of(st.floats(), st.integers(), st.booleans()))
def test_numbers_read_back(number):
    read = notation.parse_number(notation.number_text(number))
    assert type(read) is type(number)
    assert repr(read) == repr(number)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (True, "true"),
        (-0.0, "-0.0"),
        (1e-6, "1e-06"),
        (-math.inf, "-inf"),
        (math.nan, "nan"),
        (7, "7"),
    ],
)
def test_number_text(number, text):
    assert notation.number_text(number) == text


@pytest.mark.parametrize("text", ["", "none", "'x'", "[1]", "a b"])
def test_not_a_number(text):
    with pytest.raises(ValueError, match=r"not a"):
        notation.parse_number(text)


def test_dims_are_brought_to_normal_form():
    assert notation.parse_dim("1 + a*(b + 1)") == add(mul(A, B), A, 1)
    assert notation.parse_dim("min(a, a + 2)") == A
    for text in ("a / 2", "a.b", "f(a)", "2.5", "a <", "min(a)", "True"):
        with pytest.raises(ValueError, match="not a"):
            notation.parse_dim(text)


@pytest.mark.parametrize("op", ["==", "!=", "<", "<="])
def test_facts_read_back(op):
    fact = Predicate(op, add(A, 1), mul(2, B))
    assert notation.parse_predicate(str(fact)) == fact


@pytest.mark.parametrize("text", ["a > b", "a < b < 3", "a", "a is b"])
def test_not_a_fact(text):
    with pytest.raises(ValueError, match="not a comparison"):
        notation.parse_predicate(text)


@pytest.mark.parametrize(
    "text",
    [
        "f32[]",
        "bf16[rows, 2*cols + 1]",
        "i64[a, b, 4] order(2,0,1)",
        "f32[a, b] strides(s0,1) @cuda:0",
        "f32[min(a, b), 3] @cuda:1",
        "bool",
        "int",
        "float",
    ],
)
def test_types_read_back(text):
    assert str(notation.parse_type(text)) == text


@pytest.mark.parametrize(
    "text",
    ["f33[4]", "f32", "f32[4] order(1,0)", "f32[4] strides(1,2)", "f32[4", "f32[4] cuda:0", "none"],
)
def test_not_a_type(text):
    with pytest.raises(ValueError, match=r"not a type|order|strides"):
        notation.parse_type(text)


FIELDS = [
    (FieldKind.INT, -3, "-3"),
    (FieldKind.BOOL, True, "true"),
    (FieldKind.FLOAT, 1e-05, "1e-05"),
    (FieldKind.NUMBER, 2, "2"),
    (FieldKind.NUMBER, False, "false"),
    (FieldKind.TEXT, "it's, {so}", '"it\'s, {so}"'),
    (FieldKind.DTYPE, BF16, "bf16"),
    (FieldKind.AXES, (0, -1), "[0, -1]"),
    (FieldKind.AXES, (), "[]"),
    (FieldKind.SIZE, add(mul(2, A), B), "2*a + b"),
    (FieldKind.SIZES, (A, 4), "[a, 4]"),
    (FieldKind.TYPES, (TensorType(F32, (A, 2)), PY_INT), "[f32[a, 2], int]"),
    (
        FieldKind.ANY,
        ((Slot(0), [1, 2.5], "$1"), {"dim": None, "dtype": BF16, "at": (Slot(1),), "n": mul(2, A)}),
        "(($0, [1, 2.5], '$1'), {'dim': none, 'dtype': bf16, 'at': ($1,), 'n': 2*a})",
    ),
    (FieldKind.ANY, (..., slice(None, 3, None), -math.inf), "(..., slice(none, 3, none), -inf)"),
]


@pytest.mark.parametrize(("kind", "value", "text"), FIELDS)
def test_fields_print_and_read_back(kind, value, text):
    assert notation.fits(kind, value)
    assert notation.field_text(kind, value) == text
    read = notation.parse_field(kind, text)
    assert repr(read) == repr(value)


@pytest.mark.parametrize("kind", list(FieldKind))
def test_none_is_written_and_read_but_fits_no_kind_but_any(kind):
    assert notation.field_text(kind, None) == "none"
    assert notation.parse_field(kind, "none") is None
    assert notation.fits(kind, None) == (kind is FieldKind.ANY)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (FieldKind.INT, True),
        (FieldKind.FLOAT, 1),
        (FieldKind.AXES, [0]),
        (FieldKind.AXES, (A,)),
        (FieldKind.SIZE, 2.0),
        (FieldKind.SIZES, (1, True)),
        (FieldKind.ANY, object()),
        (FieldKind.TYPES, (F32,)),
    ],
)
def test_a_value_of_another_kind_does_not_fit(kind, value):
    assert not notation.fits(kind, value)
    assert notation.field_text(kind, value) == repr(value)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (FieldKind.INT, "1.5"),
        (FieldKind.AXES, "1"),
        (FieldKind.DTYPE, "f33"),
        (FieldKind.TEXT, "x"),
    ],
)
def test_text_of_another_kind_is_refused(kind, text):
    with pytest.raises(ValueError, match=f"not of kind {kind.value}"):
        notation.parse_field(kind, text)


def test_split_minds_brackets():
    assert notation.split("min(a, b), [1, 2], c") == ["min(a, b)", "[1, 2]", "c"]
    assert notation.split(" ") == []
