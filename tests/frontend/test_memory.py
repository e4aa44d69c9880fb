"""Storages seen through views: what a write does to the SSA, and what overlaps."""

import pytest
import torch

from astjit.config import Config
from astjit.frontend.capture import Capture
from astjit.frontend.memory import disjoint, refuse_overlap, same_view
from astjit.frontend.operations import Operations
from astjit.frontend.reads import Reads
from astjit.frontend.segments import _capturing
from astjit.frontend.stops import Stop
from astjit.ir.printer import function_text
from astjit.types.dtype import F32
from astjit.types.tensor import TensorType
from tests.frontend.replay import Captured


def text(function, *args):
    return Captured(function, *args).text


def test_a_view_is_derived_again_after_a_write():
    def function(x):
        v = x[0]
        x.mul_(2)
        return v + 1

    assert text(function, torch.ones(2, 3)) == (
        "fn function(%x: f32[x0, x1]) where 0 < x0:\n"
        "  %v = select %x {dim=0, index=0} : f32[x1]\n"
        "  %x.1 = mul %x, 2 : f32[x0, x1]\n"
        "  %0 = select %x.1 {dim=0, index=0} : f32[x1]\n"
        "  %1 = add %0, 1 : f32[x1]\n"
        "  return %1, %x.1"
    )


def test_a_write_through_a_view_is_an_update():
    def function(x):
        x[0].zero_()

    shown = text(function, torch.ones(2, 3))
    assert "select_update %x, " in shown


def test_a_write_to_memory_of_the_call_is_not_copied_back():
    def function(x):
        y = x + 1
        y.mul_(2)
        return y

    captured = Captured(function, torch.ones(3))
    assert captured.reads.copies == []
    assert function_text(captured.function).count("mul") == 1


@pytest.fixture
def operations():
    made = Operations(Capture("f", Reads(), Config()))
    with _capturing(made):
        yield made


REAL = torch.zeros(4, 4)


def places(operations, *views):
    x = operations.capture.lift(REAL, "x")
    return [view(x).place for view in views]


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        (lambda x: x[0], lambda x: x[1], True),
        (lambda x: x[0], lambda x: x[-1], False),  # the size is a symbol
        (lambda x: x[:2], lambda x: x[2:], True),
        (lambda x: x[:3], lambda x: x[2:], False),
        (lambda x: x[:, :2], lambda x: x[:, 2], True),
        (lambda x: x[0], lambda x: x[:, 1], False),
        (lambda x: x[0][1], lambda x: x[0][2], True),
        (lambda x: x.t(), lambda x: x, False),
        (lambda x: x.t()[0], lambda x: x.t()[1], True),
    ],
)
def test_parts_of_one_axis_are_apart(operations, one, other, apart):
    a, b = places(operations, one, other)
    assert disjoint(a, b) is apart
    assert disjoint(b, a) is apart


def test_equal_views_show_the_same_elements(operations):
    a, b, c = places(operations, lambda x: x[0], lambda x: x[0], lambda x: x[1])
    assert same_view(a, b)
    assert not same_view(a, c)


@pytest.mark.parametrize(
    ("strides", "reason"), [((0, 1), "expanded"), ((1, 1), "may share"), ((2, 1), "may share")]
)
def test_memory_with_several_elements_in_one_place_is_not_written(strides, reason):
    with pytest.raises(Stop, match=reason):
        refuse_overlap(TensorType(F32, (4, 3), None, strides))
    refuse_overlap(TensorType(F32, (4, 3), None, (6, 2)))
    refuse_overlap(TensorType(F32, (4, 3), (1, 0)))
