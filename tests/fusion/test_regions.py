"""Bodies of maps inside kernels: neighbours share the kernel, regions stay, 16-bit values round."""

import pytest

from astjit.config import Config
from astjit.fusion.group import groups
from astjit.fusion.kernel import facts, may_fail
from astjit.ir.parser import parse

CLIP = """fn clip(%x: FLOAT[rows, cols], %b: FLOAT[cols]):
  %h = mul %x, 2.0
  %y = map %h, %b : FLOAT[rows, cols] {
    body(%v: FLOAT[], %w: FLOAT[]):
      %0 = gt %v, %w
      %c = if %0 : FLOAT[] {
        then():
          %1 = sub %v, %w
          yield %1
        else():
          yield 0.1
      }
      yield %c
  }
  %m = amax %y {dim=(1,), keepdim=True}
  %z = sub %y, %m
  return %z
"""
LOOP = """fn loop(%x: f32[n]):
  %a, %b = map %x : f32[n], i64[n] {
    body(%v: f32[]):
      %s, %k = while %v, 0 {limit=9} : f32[], i64[] {
        test(%t: f32[], %j: i64[]):
          %0 = gt %t, 1.0
          yield %0
        body(%t.1: f32[], %j.1: i64[]):
          %1 = mul %t.1, 0.5
          %2 = add %j.1, 1
          yield %1, %2
      }
      yield %s, %k
  }
  return %a, %b
"""


def kernel(text, dtype="f32", target="cpu"):
    (group,) = groups(parse(text.replace("FLOAT", dtype)), target, Config()).parts
    return group.kernel


def names(block):
    return [node.op.name for node in block.nodes]


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_a_map_shares_a_kernel_with_its_neighbours(target):
    made = kernel(CLIP, target=target)
    assert (made.kind, made.parallel, made.reduced) == ("row", ("rows",), ("cols",))
    assert names(made.body) == ["load", "mul", "load", "gt", "if", "reduce", "sub", "store"]
    branch = made.body.nodes[4]
    assert [names(arm) for arm in branch.regions] == [["sub"], []]
    assert branch.regions[1].results[0].value == 0.1


def test_what_a_region_reads_decides_where_it_varies():
    made = kernel(CLIP)
    known = facts(made)
    (branch,) = [n for n in made.body.nodes if n.op.name == "if"]
    assert known[branch.results[0]].axes == {"rows", "cols"}
    assert known[made.body.nodes[-2].results[0]].stage == 1


def test_values_of_16_bits_are_rounded_where_they_are_made():
    made = kernel(CLIP, "bf16")
    (branch,) = [n for n in made.body.nodes if n.op.name == "if"]
    assert names(branch.regions[0]) == ["sub", "round_to"]
    assert str(branch.results[0].type) == "f32[]"
    assert branch.regions[1].results[0].value == pytest.approx(0.1, rel=1e-3)
    assert branch.regions[1].results[0].value != 0.1  # the nearest bfloat16


def test_a_loop_has_its_limit_and_may_fail():
    made = kernel(LOOP)
    (loop,) = [n for n in made.body.nodes if n.regions]
    assert loop.fields["limit"] == 9
    assert [str(r.type) for r in loop.results] == ["f32[]", "i64[]"]
    assert [[str(p.type) for p in r.params] for r in loop.regions] == [["f32[]", "i64[]"]] * 2
    assert may_fail(made)
    assert not may_fail(kernel(CLIP))


def test_a_body_that_is_not_elementwise_is_no_kernel():
    text = """fn f(%x: f32[n]):
  %y = map %x : f32[n] {
    body(%v: f32[]):
      %0 = sum %v
      yield %0
  }
  return %y
"""
    (call,) = groups(parse(text), "cpu", Config()).parts
    assert call.node.op.name == "map"


def test_branches_are_not_combined_along_columns():
    text = CLIP.replace("dim=(1,)", "dim=(0,)")
    parts = groups(parse(text.replace("FLOAT", "f32")), "cpu", Config())
    assert [p.kernel.kind for p in parts.parts] == ["pointwise", "column"]
    reasons = [edge.reason for edge in parts.unfused]
    assert "branches and loops are not combined along columns" in reasons
