"""Execution order of parts."""

from hypothesis import given
from hypothesis import strategies as st

from astjit.config import Config
from astjit.fusion.group import groups
from astjit.fusion.kernel import Group
from astjit.ir.parser import parse
from tests.fusion.programs import Programs


def before(part):
    values = part.inputs + part.numbers if isinstance(part, Group) else part.node.values
    return [v for v in values if hasattr(v, "node")]


def after(part):
    return part.outputs if isinstance(part, Group) else part.node.results


@given(st.randoms(use_true_random=False), st.integers(5, 16))
def test_a_part_runs_after_what_it_needs(random, steps):
    parts = groups(Programs(random).draw(steps), "cpu", Config()).parts
    made = set()
    for part in parts:
        assert made.issuperset(before(part))
        assert made.isdisjoint(after(part))
        made.update(after(part))


def test_the_functions_order_where_there_is_a_choice():
    parts = groups(
        parse("""fn f(%x: f32[n, n], %y: f32[m]):
  %a = matmul %x, %x
  %b = neg %y
  %c = matmul %a, %x
  return %c, %b
"""),
        "cpu",
        Config(),
    ).parts
    assert [getattr(p, "node", None) and p.node.op.name for p in parts] == [
        "matmul",
        None,
        "matmul",
    ]
