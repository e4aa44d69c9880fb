"""Who needs what, with views seen through."""

from astjit.fusion.graph import Graph, operands
from astjit.ir.parser import parse

TEXT = """fn f(%x: f32[n, n], %c: bool[]):
  %a = abs %x
  %t = permute %a {dims=[1, 0]}
  %b = matmul %a, %t
  %dead = neg %a
  %y = add %b, %t
  return %y, %t
"""


def test_live_nodes_and_users():
    function = parse(TEXT)
    graph = Graph(function)
    assert [n.op.name for n in graph.nodes] == ["abs", "permute", "matmul", "add"]
    a, _, matmul, add = graph.nodes
    assert graph.users(a.result) == {matmul, add, None}
    assert graph.users(matmul.result) == {add}
    assert graph.roots(add) == [matmul.result, a.result]


def test_between():
    graph = Graph(parse(TEXT))
    a, _, matmul, add = graph.nodes
    alone = lambda node: (node,)  # noqa: E731
    assert graph.between({a, add}, alone) is matmul
    assert graph.between({a, matmul}, alone) is None
    assert graph.between({a, matmul, add}, alone) is None


def test_between_sees_what_runs_together():
    """b and c are apart, but the group {b, d} depends on a and feeds c: {a, c} would be a cycle."""
    graph = Graph(
        parse("""fn f(%x: f32[n]):
  %a = abs %x
  %b = neg %a
  %c = exp %x
  %d = tanh %x
  %e = add %c, %d
  return %e, %b
""")
    )
    a, b, _, d, e = graph.nodes
    together = lambda node: (b, d) if node in (b, d) else (node,)  # noqa: E731
    assert graph.between({a, e}, together) is b
    assert graph.between({a, e}, lambda node: (node,)) is None


def test_between_sees_what_runs_together_with_something_earlier():
    """%c feeds the group {a, b}, the group feeds %e, and %c and %e are one kernel."""
    graph = Graph(
        parse("""fn f(%x: f32[n]):
  %c = neg %x
  %a = exp %x
  %b = add %a, %c
  %d = sin %a
  %e = cos %d
  %y = sum %e
  return %b, %y
""")
    )
    c, a, b, d, e, last = graph.nodes
    together = lambda node: (c, e) if node in (c, e) else (node,)  # noqa: E731
    assert graph.between({a, b}, together) is None  # nobody said so yet: behind b nothing matters
    graph.join((c, e))
    assert graph.between({a, b}, together) in (d, e)
    assert graph.between({e, last}, lambda node: (node,)) is None


def test_a_region_captures():
    function = parse("""fn f(%c: bool[], %x: f32[n], %w: f32[n]):
  %r = if %c : f32[n] {
    then():
      %a = add %x, %w
      yield %a
    else():
      yield %x
  }
  return %r
""")
    c, x, w = function.params
    assert set(operands(function.body.nodes[0])) == {c, x, w}
