"""What follows from a kernel's body: axes, stages, slices."""

import pytest

from astjit.config import Config
from astjit.fusion.group import groups
from astjit.fusion.kernel import Fact, facts, is_load, is_reduce, is_store, slice_back
from astjit.ir.parser import parse

TEXT = """fn f(%x: f32[rows, cols] strides(s, 1), %w: f32[cols], %k: float):
  %a = mul %x, %w
  %m = amax %a {dim=[1], keepdim=true}
  %d = sub %a, %m
  %t = sum %d {dim=[1], keepdim=true}
  %u = mul %t, %k
  %y = div %d, %u
  return %y
"""


@pytest.fixture
def kernel():
    (group,) = groups(parse(TEXT), "cpu", Config()).parts
    return group.kernel


def named(kernel):
    return {r.name: r for node in kernel.body.nodes for r in node.results}


def test_facts(kernel):
    known, values = facts(kernel), named(kernel)
    row, element = frozenset({"rows"}), frozenset({"rows", "cols"})
    assert known[values["w_"]] == Fact(frozenset({"cols"}), 0)
    assert known[values["a"]] == Fact(element, 0)
    assert known[values["m"]] == Fact(row, 1)
    assert known[values["d"]] == Fact(element, 1)
    assert known[values["u"]] == Fact(row, 2)
    assert known[values["y_"]] == Fact(element, 2)
    assert all(known[p] == Fact(frozenset(), 0) for p in kernel.body.params)


def test_a_slice_stops(kernel):
    values = named(kernel)
    whole = slice_back([values["u"]])
    assert {values["t"], values["d"], values["m"], values["a"], *kernel.numbers} <= whole
    assert values["y_"] not in whole
    short = slice_back([values["u"]], stop=[values["t"]])
    assert values["t"] in short
    assert values["d"] not in short


def test_parts_of_the_record(kernel):
    assert (kernel.axes, kernel.swept) == (("rows", "cols"), ("cols",))
    assert kernel.stride_names == ("x_stride_rows",)
    assert [p.name for p in kernel.numbers] == ["k"]
    assert [kernel.buffer(p).name for p in kernel.body.params[:3]] == ["x", "w", "y"]
    with pytest.raises(ValueError, match="not in list"):
        kernel.buffer(None)
    rows = kernel.body.nodes
    assert [sum(map(test, rows)) for test in (is_load, is_reduce, is_store)] == [2, 2, 1]
