"""Buffers: strides, offsets, names."""

import pytest

from astjit.config import Config
from astjit.fusion.group import groups
from astjit.fusion.index import space_of
from astjit.fusion.kernel import spread_indices, spread_loads
from astjit.fusion.pieces import Unfit, unit_of
from astjit.fusion.reads import offset_of, reads_of
from astjit.ir.parser import parse
from astjit.types.shape import Sizes


def buffers(text):
    (group,) = groups(parse(text), "cpu", Config()).parts
    return {b.name: b for b in group.kernel.buffers}, group


def test_offsets_of_chained_views_add_up():
    function = parse("""fn f(%x: f32[8, 6]):
  %a = slice %x {dim=0, start=2}
  %b = slice %a {dim=1, start=3}
  %y = neg %b
  return %y
""")
    assert offset_of(function.body.nodes[1].result, Sizes()) == 2 * 6 + 3


def test_one_memory_at_one_index_is_one_buffer():
    found, _ = buffers("""fn f(%x: f32[a, b]):
  %t = permute %x {dims=[1, 0]}
  %u = permute %t {dims=[1, 0]}
  %y = add %x, %u
  return %y
""")
    assert list(found) == ["x", "y"]


def test_one_memory_at_two_indices_is_two():
    found, group = buffers("""fn f(%x: f32[a]):
  %r = unsqueeze %x {dim=1}
  %y = sub %r, %x
  return %y
""")
    assert {name: b.axes for name, b in found.items()} == {
        "r": ("rows",),
        "x": ("cols",),
        "y": ("rows", "cols"),
    }
    assert group.inputs[0] is group.inputs[1]


def test_the_outputs_lie_as_the_type_says():
    found, group = buffers("fn f(%x: f32[a, b] order(1,0)):\n  %y = neg %x\n  return %y\n")
    assert found["y"].strides is None
    assert str(group.extents["n"]) == "a*b"


def test_the_parameters_come_in_the_functions_order():
    found, _ = buffers("""fn f(%a: f32[n], %b: f32[n], %c: f32[n]):
  %0 = add %c, %b
  %y = add %0, %a
  return %y
""")
    assert list(found) == ["a", "b", "c", "y"]


def test_one_row_has_one_axis():
    found, group = buffers("fn f(%x: f32[n]):\n  %y = softmax %x {dim=0}\n  return %y\n")
    assert (found["x"].axes, found["y"].axes) == (("n",), ("n",))
    assert group.kernel.parallel == ()


def test_all_axes_that_do_not_lie_as_one_are_rows_and_what_is_left():
    found, group = buffers("""fn f(%x: f32[a, b, c], %w: f32[b, c]):
  %0 = mul %x, %w
  %y = sum %0
  return %y
""")
    assert (group.kernel.parallel, group.kernel.reduced) == (("rows",), ("cols",))
    assert (found["w"].axes, found["y"].axes) == (("cols",), ())


def test_reduced_axes_that_do_not_lie_as_one():
    function = parse("""fn f(%x: f64[a, b, c], %w: f64[b, 1]):
  %0 = mul %x, %w
  %y = sum %0 {dim=[1, 2]}
  return %y
""")
    units = [unit_of(n, Sizes(), "cpu") for n in function.body.nodes]
    with pytest.raises(Unfit, match="do not lie as one"):
        reads_of(units, space_of(units, Sizes()), function.results, Sizes(), function.params)


GROUPS = """fn f(%x: DTYPE[a, 8, h, w], %s: DTYPE[8], %k: DTYPE[8]):
  %v = view %x {shape=[a, 2, 4*h*w]}
  %n = layer_norm %v, none, none, 1e-05 {normalized_shape=[4*h*w]}
  %r = view %n {shape=[a, 8, h, w]}
  %1 = unsqueeze %s {dim=1}
  %2 = unsqueeze %1 {dim=2}
  %y = mul %r, %2
  return %y
"""


def test_weights_of_channels_are_read_at_an_index_of_the_row():
    size, group = groups(parse(GROUPS.replace("DTYPE", "f32")), "cpu", Config()).parts
    found = {b.name: b for b in group.kernel.buffers}
    assert str(size.node.fields["value"]) == "h*w"
    assert (found["s"].axes, found["s"].strides) == (("*", "rows"), (1, "s_stride_rows"))
    assert {n: str(d) for n, d in group.strides.items()} == {"s_stride_rows": "4"}
    assert [str(group.extents[a]) for a in group.kernel.axes] == ["a", "2", "4*h*w"]
    (load,) = spread_loads(group.kernel)
    assert load.result.name == "s_"
    assert {v.node.op.name for v in spread_indices(group.kernel)} == {"position", "quotient"}


def test_what_the_cpu_reads_element_by_element_is_apart():
    parts = groups(parse(GROUPS.replace("DTYPE", "f64")), "cpu", Config())
    assert len(parts.parts) == 2
    assert parts.unfused[0].reason == "the reduced axes do not lie as one in every buffer"
