"""Which loops one kernel runs."""

import pytest

from astjit.fusion.looping import fits, leaves
from astjit.fusion.pieces import Unfit
from astjit.ir.parser import parse
from astjit.types.shape import Sizes
from tests.frontend.replay import Captured
from tests.loop_functions import R

LOOP = """
fn f(%x: f32[n, m], %h: f32[m], %w: f32[m, m], %g: f32[k, m]):
  %r = for %h {trip=n, index='t'} : f32[m] {
    body(%t: int, %c: f32[m]):
      %0 = select_at %x {dim=0, index=t} : f32[m]
      STEP
      yield %1
  }
  return %r
"""


def problem(step):
    function = parse(LOOP.replace("STEP", step))
    (loop,) = function.body.nodes
    fits(loop, Sizes(function.assumed))


def test_elementwise_steps_fit():
    problem("%1 = add %c, %0 : f32[m]")
    function = parse(LOOP.replace("STEP", "%1 = add %c, %0 : f32[m]"))
    (loop,) = function.body.nodes
    assert [v.node.op.name for v in leaves(loop)] == ["select_at"]


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ("%1 = softmax %0 {dim=0} : f32[m]", "not elementwise"),
        ("%s = sum %w {dim=[0]} : f32[m]\n %1 = add %c, %s : f32[m]", "not elementwise"),
        ("%2 = add %g, %c : f32[k, m]\n %1 = select %2 {dim=0, index=0} : f32[m]", "view|carries"),
        (
            "%2 = neg %c : f32[m]\n %1 = slice %2 {start=0} : f32[m]",
            "of what an iteration computes",
        ),
    ],
)
def test_what_does_not(step, reason):
    with pytest.raises(Unfit, match=reason):
        problem(step)


def test_what_does_not_fit_is_unrolled():
    def multiplied(x, w):
        h = x[0]
        for t in range(x.shape[0]):
            h = h @ w + x[t]
        return h

    def wider(x, h):
        total = h * 0
        for t in range(x.shape[0]):
            total = total + x[t]
            h = h + 1
        return total, h

    for function, args in ((multiplied, (R(9, 2, 4), R(4, 4))), (wider, (R(9, 3, 4), R(4)))):
        nodes = Captured(function, *args).function.body.nodes
        assert "for" not in [n.op.name for n in nodes]
