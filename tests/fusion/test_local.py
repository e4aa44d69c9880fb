"""What a store writes of a value in a body."""

from astjit.fusion.local import Local, Place
from astjit.ir.value import Param
from astjit.types.dtype import BF16, F32, I64
from astjit.types.tensor import TensorType

RAW, ROUNDED = Param(TensorType(F32, ())), Param(TensorType(F32, ()))


def test_a_store_writes_the_rounded_value_where_there_is_one():
    assert Local(RAW).stored is Local(RAW).rounded is RAW
    half = Local(RAW, BF16)
    assert (half.rounded, half.stored) == (None, RAW)
    half.rounded = ROUNDED
    assert half.stored is ROUNDED


def test_places_compare_by_index_and_condition():
    index = Param(TensorType(I64, ()))
    assert Place(index) == Place(index)
    assert Place(index) != Place(index, RAW)
