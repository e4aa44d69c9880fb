from astjit.frontend.elements.kinds import (
    BOOL,
    FLOAT,
    INT,
    Kind,
    arithmetic,
    holds,
    kind_of,
    kind_of_element,
    promoted,
    result_dtype,
)
from astjit.types import dtype as dt

HALF, SINGLE = Kind(dt.F16), Kind(dt.F32)


def test_a_python_float_takes_the_width_of_what_it_meets():
    assert promoted(FLOAT, HALF) == HALF
    assert promoted(FLOAT, INT) == FLOAT
    assert promoted(INT, BOOL) == INT
    assert promoted(Kind(dt.BF16), HALF) == SINGLE
    assert promoted(SINGLE, Kind(dt.F64)) == Kind(dt.F64)
    assert arithmetic(BOOL, BOOL) == INT


def test_integers_of_all_widths_are_ints():
    assert [kind_of_element(d) for d in (dt.U8, dt.I32, dt.BOOL)] == [INT, INT, BOOL]
    assert [kind_of(v) for v in (True, 1, 1.0)] == [BOOL, INT, FLOAT]


def test_a_returned_python_float_has_the_dtype_of_the_floats_beside_it():
    assert result_dtype(FLOAT, dt.BF16) is dt.BF16
    assert result_dtype(INT, dt.BF16) is dt.I64


def test_ints_have_64_bits():
    assert holds(dt.I64, 2**63 - 1)
    assert not holds(dt.I64, 2**63)
    assert holds(dt.F64, 2**70)
