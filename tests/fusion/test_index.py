"""Over which axes the values of a group vary."""

import pytest

from astjit.fusion.index import space_of
from astjit.fusion.pieces import Unfit, unit_of
from astjit.ir.parser import parse
from astjit.ops.spec import Kind
from astjit.types.shape import Sizes


def space(text):
    function = parse(text)
    sizes = Sizes(function.assumed)
    nodes = [n for n in function.body.nodes if n.op.kind is not Kind.VIEW]
    return space_of([unit_of(n, sizes, "cpu") for n in nodes], sizes), function


def sizes_of(found, axes):
    return [None if a is None else str(found.sizes[a]) for a in axes]


def test_a_reduction_and_what_follows_share_the_loop():
    found, function = space("""fn f(%x: f32[rows, cols]):
  %m = amax %x {dim=[1], keepdim=true}
  %d = sub %x, %m
  return %d
""")
    m, d = (n.result for n in function.body.nodes)
    assert sizes_of(found, found.axes[d]) == ["rows", "cols"]
    assert sizes_of(found, found.axes[m]) == ["rows", None]
    assert found.reduced == {found.axes[d][1]}
    assert found.varies[m] == {found.axes[d][0]}
    assert len(found.whole) == 2
    assert set(found.leaves.values()) == {found.axes[d]}


def test_views_of_computed_values_map_axes():
    found, function = space("""fn f(%x: f32[a, b], %y: f32[b, a]):
  %p = neg %x
  %t = permute %p {dims=[1, 0]}
  %z = add %t, %y
  return %z
""")
    p, _, z = (n.result for n in function.body.nodes)
    assert found.axes[p] == tuple(reversed(found.axes[z]))


def test_axes_of_a_reshape_are_made_of_one_another():
    found, function = space("""fn f(%x: f32[a, b, c], %w: f32[a]):
  %h = neg %x
  %v = view %h {shape=[a, b*c]}
  %s = sum %v {dim=[1], keepdim=true}
  %d = sub %v, %s
  %r = view %d {shape=[a, b, c]}
  %u = unsqueeze %w {dim=1}
  %t = unsqueeze %u {dim=2}
  %z = mul %r, %t
  return %z
""")
    h, _, s, d, _, _, _, z = (n.result for n in function.body.nodes)
    assert sizes_of(found, found.loops(found.axes[d])) == ["a", "b", "c"]
    assert found.loops(found.axes[d]) == found.loops(found.axes[h]) == found.axes[z]
    assert found.reduced == set(found.axes[z][1:])
    assert found.varies[s] == {found.axes[z][0]}


def test_reads_beside_a_reshape_run_over_its_loops():
    found, function = space("""fn f(%x: f32[a, b, c]):
  %v = view %x {shape=[a, b*c]}
  %s = sum %v {dim=[1], keepdim=true}
  %d = sub %v, %s
  %r = view %d {shape=[a, b, c]}
  %z = neg %r
  return %z
""")
    whole = found.axes[function.body.nodes[-1].result]
    assert {found.loops(axes) for axes in found.leaves.values()} == {whole}


def test_an_expanded_operand_does_not_vary():
    found, function = space("""fn f(%x: f32[1, b]):
  %e = expand %x {size=[7, b]}
  %z = neg %e
  return %z
""")
    z = function.body.nodes[-1].result
    assert len(found.axes[z]) == 2
    assert found.varies[z] == {found.axes[z][1]}


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("%a = neg %x\n  %b = neg %y", "their shapes differ"),
        ("%a = softmax %x {dim=2}\n  %b = sum %a {dim=[1, 2]}", "they reduce over different axes"),
        ("%b = sum %w {dim=[1]}", "a reduction's operand does not vary over all axes"),
        ("%a = neg %v\n  %b = neg %x", "no value runs over all of their axes"),
    ],
)
def test_what_one_loop_nest_does_not_hold(lines, reason):
    params = "%x: f32[a, b, c], %y: f32[b, d, c], %v: f32[e], %w: f32[b, c] strides(1, 0)"
    with pytest.raises(Unfit, match=reason):
        space(f"fn f({params}):\n  {lines}\n  return %b\n")
