"""Regions run lane by lane: as Python's own loops do, and nothing for lanes that take no part."""

import pytest
import torch

from astjit.errors import InternalError, TripLimit
from astjit.ir.parser import parse
from astjit.ir.verifier import verify
from astjit.runtime.interpret import interpret

TEXT = """\
fn f(%x: f32[x0], %t: f32[n]):
  %y, %left = map %x : f32[x0], i64[x0] {
    body(%e: f32[]):
      %i, %z = while 0, %e {breaks=true, limit=100} : i64[], f32[] {
        test(%i.1: i64[], %z.1: f32[]):
          %0 = lt %i.1, 50 : bool[]
          yield %0
        body(%i.2: i64[], %z.2: f32[]):
          %z.3 = mul %z.2, %z.2 : f32[]
          %1 = gt %z.3, 4.0 : bool[]
          %i.3 = add %i.2, 1 : i64[]
          yield %1, %i.3, %z.3
      }
      %s = range 0, %i, 2, 0.5 : f32[] {
        body(%j: i64[], %s.1: f32[]):
          %q = integer_remainder %j, 3 : i64[]
          %w = element %t, %q : f32[]
          %s.2 = add %s.1, %w : f32[]
          yield %s.2
      }
      %c = gt %s, 5.0 : bool[]
      %r = if %c : f32[] {
        then():
          %v = neg %s : f32[]
          yield %v
        else():
          yield 1.0
      }
      yield %r, %i
  }
  return %y, %left
"""


def run(text, *arguments):
    function = parse(text)
    verify(function)
    return interpret(function, arguments, check=True)


def python(element, table):
    i, z = 0, element
    while i < 50:
        z = z * z
        i += 1
        if z > 4.0:
            break
    s = 0.5
    for j in range(0, i, 2):
        s = s + table[j % 3]
    return (-s if s > 5 else 1.0), i


def test_loops_and_branches():
    x, table = torch.tensor([0.5, 1.5, 3.0, 1.01, -1.2]), torch.tensor([1.0, 2.0, 4.0])
    y, left = run(TEXT, x, table)
    want = [python(e, table.tolist()) for e in x.tolist()]
    assert y.tolist() == [w[0] for w in want]
    assert left.tolist() == [w[1] for w in want]
    assert run(TEXT, torch.empty(0), table)[1].shape == (0,)


def test_a_limit_is_an_error_where_it_is_passed():
    with pytest.raises(TripLimit, match="max_trips=3"):
        run(TEXT.replace("limit=100", "limit=3"), torch.tensor([0.5]), torch.ones(3))
    y, _ = run(TEXT.replace("limit=100", "limit=3"), torch.tensor([3.0]), torch.ones(3))
    assert y.tolist() == [1.0]


def test_a_table_is_read_within_its_bounds():
    with pytest.raises(IndexError, match="index 2 is out of range for an axis of size 2"):
        run(TEXT, torch.tensor([0.5]), torch.ones(2))


GUARDED = """\
fn f(%a: i64[x0], %b: i64[x0]):
  %y = map %a, %b : i64[x0] {
    body(%p: i64[], %q: i64[]):
      %c = ne %q, 0 : bool[]
      %r = if %c : i64[] {
        then():
          %d = floordiv %p, %q : i64[]
          %m = modulo %p, %q : i64[]
          %s = mul %d, 100 : i64[]
          %t = add %s, %m : i64[]
          yield %t
        else():
          yield -1
      }
      yield %r
  }
  return %y
"""


def test_lanes_that_take_no_part_cannot_fail():
    a, b = torch.tensor([7, -7, 7, 5, -(2**63)]), torch.tensor([2, 2, -2, 0, -1])
    (y,) = run(GUARDED, a, b)
    want = [
        p // q * 100 + p % q if q else -1 for p, q in zip([7, -7, 7, 5], [2, 2, -2, 0], strict=True)
    ]
    assert y.tolist()[:4] == want
    with pytest.raises(ZeroDivisionError):
        run(GUARDED.replace("ne %q, 0", "ne %q, 9"), a, b)


def test_a_row_that_gives_another_dtype_than_it_infers_is_a_bug():
    text = """
    fn f(%a: f32[x0]):
      %y = map %a : f32[x0] {
        body(%p: f32[]):
          %q = mul %p, 2 : f32[]
          yield %q
      }
      return %y
    """
    function = parse(text)
    function.body.nodes[0].regions[0].nodes[0].op = (
        parse("fn g(%a: f32[]):\n  %b = lt %a, 2 : bool[]\n  return %b").body.nodes[0].op
    )
    with pytest.raises(InternalError, match="lt gave"):
        interpret(function, [torch.ones(2)])
