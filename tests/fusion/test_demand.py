"""What is computed at the kernel's own index, and what is loaded at others."""

import pytest

from astjit.config import Config
from astjit.fusion.demand import Demand, picked_axis, walks_of
from astjit.fusion.describe import describe
from astjit.fusion.group import groups
from astjit.fusion.kernel import Group
from astjit.fusion.pieces import Unfit
from astjit.ir.parser import parse
from astjit.ops.table import OPS
from astjit.types.shape import Sizes


def kernels(text):
    parts = groups(parse(text), "cpu", Config())
    return [describe(p.kernel) for p in parts.parts if isinstance(p, Group)], parts.unfused


HALVES = """fn f(%x: f32[n, 8], %w: f32[8]):
  %a = slice %x {dim=1, stop=4}
  %b = slice %x {dim=1, start=4}
  %m = neg %b
  %c = cat %m, %a {dim=1}
  %y = mul %c, %w
  return %y
"""


def test_a_joined_value_is_computed_where_it_is_read():
    (text,), unfused = kernels(HALVES)
    assert not unfused
    assert "in b: f32[*, rows] strides(1, b_stride_rows)" in text
    assert text.count("= neg ") == 1
    assert text.count("] where ") == 2  # of loads
    assert "%0 = position {cols}" in text


def test_a_slice_of_what_is_computed_is_computed_again():
    (text,), unfused = kernels("""fn f(%x: f32[n, 9]):
  %h = exp %x
  %a = slice %h {dim=1, stop=8}
  %b = slice %h {dim=1, start=1}
  %y = sub %b, %a
  return %y
""")
    assert not unfused
    assert text.count("= exp ") == 2


def test_a_reduction_is_read_where_it_is():
    texts, unfused = kernels("""fn f(%x: f32[n, 8], %i: i64[k]):
  %m = mean %x {dim=[1]}
  %s = index_select %m, %i {dim=0}
  %y = exp %s
  return %y
""")
    assert len(texts) == 2
    assert [u.reason for u in unfused] == ["sum is read at an index that is computed"]


def test_what_is_needed_outside_too_is_apart():
    texts, _ = kernels(HALVES.replace("return %y", "return %y, %m"))
    assert len(texts) == 2


def test_too_much_is_not_computed_again():
    steps = "\n".join(
        f"""  %a{i} = slice %h{i} {{dim=0, stop={99 - i}}}
  %b{i} = slice %h{i} {{dim=0, start=1}}
  %h{i + 1} = add %a{i}, %b{i}"""
        for i in range(12)
    )
    texts, unfused = kernels(f"fn f(%x: f32[100]):\n  %h0 = exp %x\n{steps}\n  return %h12\n")
    assert 1 < len(texts) < 6
    assert {u.reason for u in unfused} == {"too much would be computed again at other indices"}


def test_division_by_a_run_time_size_is_not_worth_it():
    function = parse("""fn f(%x: f32[a, b, c]):
  %h = exp %x
  %v = view %h {shape=[a, b*c]}
  return %v
""")
    with pytest.raises(Unfit, match="more than a choice of axes"):
        walks_of(function.results[0], Sizes())


def test_axes_that_stand_elsewhere_reach_the_leaves():
    function = parse("""fn f(%x: f32[4], %i: i64[3]):
  %h = exp %x
  %y = pick %h, %i, none {dim=0}
  return %y
""")
    exp, pick = function.body.nodes
    assert pick.op is OPS["pick"]
    assert picked_axis(pick) == 0
    axes = {exp.result: (0,), pick.result: (1,)}
    demand = Demand(axes, {(exp, 0): (0,), (pick, 1): (1,)}, {}, {}, {})
    demand.want([pick.result])
    assert demand.needed == {pick.result}
    assert demand.reads == {(exp, 0): [frozenset({0})], (pick, 1): [frozenset()]}
    assert demand.indexed == set()
