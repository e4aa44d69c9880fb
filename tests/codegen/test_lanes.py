"""Vectors of lanes with control flow: what differs between lanes, and the text it becomes."""

from astjit.codegen.emit import cpu_unit
from astjit.codegen.lanes import Varying
from astjit.config import Config
from astjit.fusion.group import groups
from astjit.fusion.schedule import schedule
from astjit.ir.parser import parse
from tests.kernels import no_source

ESCAPE = """fn escape(%x: f32[n]):
  %y = map %x : i64[n] {
    body(%c: f32[]):
      %z, %count = range 0, LIMIT, 1, 0.0, 9 {breaks=True} : f32[], i64[] {
        body(%i: i64[], %z.1: f32[], %count.1: i64[]):
          %0 = mul %z.1, %z.1
          %next = add %0, %c
          %1 = gt %next, 4.0
          %2, %3, %4 = if %1 : bool[], f32[], i64[] {
            then():
              yield True, %next, %i
            else():
              yield False, %next, %count.1
          }
          yield %2, %3, %4
      }
      yield %count
  }
  return %y
"""
UNIFORM = """fn horner(%x: f32[n]):
  %y = map %x : f32[n] {
    body(%v: f32[]):
      %p, %w = range 0, 5, 1, 0.0, 1.0 : f32[], f32[] {
        body(%i: i64[], %p.1: f32[], %w.1: f32[]):
          %0 = mul %p.1, %v
          %1 = add %0, %w.1
          %2 = mul %w.1, 0.5
          yield %1, %2
      }
      yield %p
  }
  return %y
"""
BRANCH = """fn branch(%x: f32[n]):
  %y = map %x : f32[n] {
    body(%v: f32[]):
      %0 = gt %v, 0.0
      %w = if %0 : f32[] {
        then():
          %1 = COSTLY %v
          yield %1
        else():
          %2 = mul %v, 0.25
          yield %2
      }
      yield %w
  }
  return %y
"""


def kernel(text):
    (group,) = groups(parse(text), "cpu", Config()).parts
    return group.kernel


def lines(text):
    made = kernel(text)
    unit = cpu_unit([(made, schedule(made, "cpu", {}, 64))], no_source, "g++")
    return [line.strip() for line in unit.kernels.splitlines()]


def test_lanes_leave_a_loop_one_by_one():
    text = lines(ESCAPE.replace("LIMIT", "50"))
    start = text.index("for (long i2 = 0; i2 < 50; ++i2) {")
    assert text[start + 1 : start + 10] == [
        "const vf next = z * z + x_v;",
        "const vi leaves = live & (next > 4.0f);",
        "if (any_lane(leaves)) {",
        "count = choose(leaves, spread(i2), count);",
        "live &= ~leaves;",
        "if (!any_lane(live)) break;",
        "}",
        "z = next;",
        "}",
    ]


def test_what_is_the_same_for_all_lanes_stays_plain():
    text = lines(UNIFORM)
    assert "float w = 1.0f;" in text
    assert "vf p = fill(0.0f);" in text
    assert not any("live" in line for line in text)


def test_both_arms_of_a_cheap_branch_are_computed():
    text = lines(BRANCH.replace("COSTLY", "neg"))
    assert "const vf w = (x_v > 0.0f) ? -x_v : (x_v * 0.25f);" in text


def test_a_function_is_computed_if_a_lane_takes_its_arm():
    text = lines(BRANCH.replace("COSTLY", "exp"))
    start = text.index("if (any_lane(taken)) {")
    assert text[start + 1] == "w = taken ? exp(x_v) : w;"
    assert text[start + 4] == "w = others ? x_v * 0.25f : w;"


def test_a_value_varies_if_what_it_is_carried_from_does():
    made = kernel(UNIFORM)
    (loop,) = [n for n in made.body.nodes if n.regions]
    found = Varying(loop, {made.body.nodes[0].result})
    assert [r in found.values for r in loop.results] == [True, False]
    assert not found.masked
    made = kernel(ESCAPE.replace("LIMIT", "50"))
    (loop,) = [n for n in made.body.nodes if n.regions]
    assert Varying(loop, {made.body.nodes[0].result}).masked == {loop}
