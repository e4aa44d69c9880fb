import pytest

from astjit.frontend.elements.kinds import BOOL, FLOAT, INT, Dynamic, Kind
from astjit.frontend.elements.region import Region
from astjit.ir.function import Block
from astjit.ir.printer import block_text
from astjit.ir.value import Literal, Param
from astjit.types import dtype as dt
from astjit.types.shape import Sizes
from astjit.types.tensor import PY_FLOAT, TensorType


def region():
    return Region(Sizes(), dt.F32)


def test_numbers_are_converted_where_they_are_used():
    made = region()
    x = made.input(Param(TensorType(dt.F32, (3,), device="cuda:0"), "x"))
    total = made.op("add", Kind(dt.F32), Dynamic(x, Kind(dt.F32)), 1)
    made.block.results.append(made.converted(total, FLOAT).value)
    assert block_text(made.whole) == (
        "body(%x: f32[]):\n  %0 = add %x, 1.0 : f32[]\n  %1 = to %0 {dtype=f64} : f64[]\n"
        "  yield %1\n"
    )


def test_an_outer_value_is_one_input():
    made = region()
    number = Param(PY_FLOAT, "k")
    with made.inside(Block()):
        assert made.input(number) is made.input(number)
    assert [str(p.type) for p in made.whole.params] == ["f64[]"]


def test_literals_have_the_kind_that_is_wanted():
    made = region()
    assert made.value(1, FLOAT) == Literal(1.0)
    assert made.value(True, INT) == Literal(1)
    assert made.value(0, BOOL) == Literal(False)
    assert made.real(1, INT).type == TensorType(dt.I64, ())
    with pytest.raises(OverflowError):
        made.value(2**63, INT)
